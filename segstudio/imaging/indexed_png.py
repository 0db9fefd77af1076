"""Palette PNG written row by row (PNG third edition: signature, IHDR, PLTE, IDAT, IEND)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from segstudio.core.classes import Colour
from segstudio.core.files import written_aside
from segstudio.core.geometry import Size

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE_TYPE = 3
_LEVEL = 6


def write_indexed_png(path: Path, rows: Iterable[NDArray[np.uint8]], size: Size, palette: Mapping[int, Colour]) -> None:
    """Write blocks of rows, each (n, width) uint8, top to bottom; memory follows one block.

    Values without a colour in `palette` are black. A ValueError for rows that do not add up to `size`, `OutputError`
    for a disk or folder that refuses; then no file is left.
    """
    with written_aside(path) as part, part.open("wb") as file:
        file.write(_SIGNATURE)
        _chunk(file, b"IHDR", struct.pack(">IIBBBBB", size.width, size.height, 8, _PALETTE_TYPE, 0, 0, 0))
        colours = (palette.get(value, (0, 0, 0)) for value in range(256))
        _chunk(file, b"PLTE", bytes(part for colour in colours for part in colour))
        _write_rows(file, rows, size)
        _chunk(file, b"IEND", b"")


def _write_rows(file: BinaryIO, rows: Iterable[NDArray[np.uint8]], size: Size) -> None:
    deflate = zlib.compressobj(_LEVEL)
    written = 0
    for block in rows:
        if block.dtype != np.uint8 or block.ndim != 2 or block.shape[1] != size.width:
            raise ValueError(f"rows of {block.dtype} {block.shape} for an image {size.width} wide")
        unfiltered = np.zeros((block.shape[0], size.width + 1), np.uint8)
        unfiltered[:, 1:] = block
        _chunk(file, b"IDAT", deflate.compress(unfiltered.tobytes()))
        written += block.shape[0]
    if written != size.height:
        raise ValueError(f"{written} rows for an image {size.height} high")
    _chunk(file, b"IDAT", deflate.flush())


def _chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    if kind == b"IDAT" and not data:
        return
    file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
