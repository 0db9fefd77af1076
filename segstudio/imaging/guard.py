"""Headers that lie: sizes and tables are checked against the bytes of the file before a library believes them.

A sparse TIFF is no lie: its tiles are listed, with offset 0, so only stored tiles are weighed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from segstudio.core.errors import ImageError, ImageProblem

MAX_SIDE = 1_000_000
_MAX_BLOCK_BYTES = 1 << 30
_DEFLATE_LIMIT = 1032
"""Bytes that one byte of a deflate stream can become at most (zlib, "Maximum Compression Factor")."""
_JPEG_PIXELS_PER_BYTE = 2000
_TIFF_PIXELS_PER_BYTE = 20_000
_FAR = 1 << 62
"""An offset that every system can seek to."""

_SMALL = 16 << 20
"""Pixels below which a lie does no harm."""

_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 6: 1, 7: 1, 8: 2, 9: 4, 13: 4, 16: 8, 17: 8, 18: 8}
_INTEGERS = {1: "u1", 3: "u2", 4: "u4", 13: "u4", 16: "u8", 18: "u8"}


def check_size(path: Path, width: int, height: int) -> None:
    """Refuse sides of 0 or beyond a million pixels as IMPLAUSIBLE."""
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise _implausible(path, f"{width} x {height} pixels", width=width, height=height)


def check_png(path: Path) -> None:
    """Width, height and depth of IHDR against what deflate can hold in a file of this size."""
    with path.open("rb") as file:
        head = file.read(26)
    if len(head) < 26 or head[12:16] != b"IHDR":
        raise ImageError(ImageProblem.TRUNCATED, path, detail="no IHDR chunk")
    width, height, depth, colour = struct.unpack(">IIBB", head[16:26])
    check_size(path, width, height)
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(colour, 1)
    if height * -(-width * samples * depth // 8) > path.stat().st_size * _DEFLATE_LIMIT:
        raise _implausible(path, f"{width} x {height} pixels in {path.stat().st_size} bytes")


def check_jpeg(path: Path) -> None:
    """Size of the frame header against the size of the file."""
    with path.open("rb") as file:
        frame = _jpeg_frame(file)
    if frame is None:
        raise ImageError(ImageProblem.TRUNCATED, path, detail="no frame header")
    width, height = frame
    check_size(path, width, height)
    _check_density(path, width * height, _JPEG_PIXELS_PER_BYTE)


def check_tiff(path: Path) -> None:
    """Size and block table of the first directory, all tags inside the file."""
    try:
        with path.open("rb") as file:
            directory = _first_directory(path, file)
            width, height = directory.number(file, 256), directory.number(file, 257)
            check_size(path, width, height)
            _check_blocks(path, file, directory, width, height)
    except struct.error as error:
        raise ImageError(ImageProblem.TRUNCATED, path, detail=str(error)) from error


@dataclass(frozen=True, slots=True)
class _Directory:
    order: str
    big: bool
    entries: dict[int, tuple[int, int, int]]

    def number(self, file: BinaryIO, tag: int, default: int = 0) -> int:
        values = self.numbers(file, tag)
        return int(values[0]) if len(values) else default

    def numbers(self, file: BinaryIO, tag: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        kind, count, at = self.entries.get(tag, (1, 0, 0))
        if kind not in _INTEGERS:
            return np.zeros(0, np.uint64)
        if count * _TYPE_BYTES[kind] > (8 if self.big else 4):
            file.seek(at)
            (at,) = struct.unpack(self.order + ("Q" if self.big else "I"), file.read(8 if self.big else 4))
        file.seek(min(at, _FAR))
        stored = file.read(count * _TYPE_BYTES[kind])
        if len(stored) < count * _TYPE_BYTES[kind]:
            raise struct.error(f"values of tag {tag} beyond the end of the file")
        return np.frombuffer(stored, self.order + _INTEGERS[kind]).astype(np.uint64)


def _first_directory(path: Path, file: BinaryIO) -> _Directory:
    size = path.stat().st_size
    head = file.read(16)
    order = "<" if head[:2] == b"II" else ">"
    big = head[2:4] in {b"+\0", b"\0+"}
    (at,) = struct.unpack_from(order + ("Q" if big else "I"), head, 8 if big else 4)
    file.seek(min(at, size))
    (count,) = struct.unpack(order + ("Q" if big else "H"), file.read(8 if big else 2))
    entry = struct.Struct(order + ("HHQ" if big else "HHI"))
    step, start = (20 if big else 12), file.tell()
    if start + count * step > size:
        raise ImageError(ImageProblem.TRUNCATED, path, detail="directory beyond the end of the file")
    entries: dict[int, tuple[int, int, int]] = {}
    for index in range(count):
        file.seek(start + index * step)
        tag, kind, number = entry.unpack(file.read(entry.size))
        if number * _TYPE_BYTES.get(kind, 1) > size:
            raise _implausible(path, f"tag {tag} claims {number} values")
        entries[tag] = (kind, number, start + index * step + entry.size)
    return _Directory(order, big, entries)


def _check_blocks(path: Path, file: BinaryIO, directory: _Directory, width: int, height: int) -> None:
    tiled = 322 in directory.entries
    block_width = directory.number(file, 322) if tiled else width
    block_height = directory.number(file, 323) if tiled else min(directory.number(file, 278, height), height)
    if not (block_width and block_height):
        raise _implausible(path, "blocks of size 0")
    samples, bits = directory.number(file, 277, 1), directory.number(file, 258, 1)
    planes = samples if directory.number(file, 284, 1) == 2 else 1
    if block_width * block_height * samples * bits // (8 * planes) > max(_MAX_BLOCK_BYTES, path.stat().st_size * 2):
        raise _implausible(path, f"blocks of {block_width} x {block_height} pixels")
    offsets = directory.numbers(file, 324 if tiled else 273)
    wanted = -(-width // block_width) * -(-height // block_height) * planes
    if len(offsets) < wanted:
        raise _implausible(path, f"{len(offsets)} of {wanted} blocks listed")
    stored = int(np.count_nonzero(offsets)) // planes
    _check_density(path, stored * block_width * block_height, _TIFF_PIXELS_PER_BYTE)


def _check_density(path: Path, pixels: int, per_byte: int) -> None:
    size = path.stat().st_size
    if pixels > _SMALL and pixels > size * per_byte:
        raise _implausible(path, f"{pixels} pixels in {size} bytes")


def _jpeg_frame(file: BinaryIO) -> tuple[int, int] | None:
    file.seek(2)
    while len(head := file.read(4)) == 4 and head[0] == 0xFF:
        if head[1] == 0xFF:
            file.seek(-3, 1)
            continue
        if 0xC0 <= head[1] <= 0xCF and head[1] not in {0xC4, 0xC8, 0xCC}:
            frame = file.read(5)
            if len(frame) < 5:
                return None
            _, height, width = struct.unpack(">BHH", frame)
            return width, height
        file.seek(int.from_bytes(head[2:], "big") - 2, 1)
    return None


def _implausible(path: Path, detail: str, **values: object) -> ImageError:
    return ImageError(ImageProblem.IMPLAUSIBLE, path, detail=detail, **values)
