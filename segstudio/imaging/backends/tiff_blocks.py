"""Tiles and strips of one TIFF page: own reads at an offset, decoded by imagecodecs, kept in the shared cache."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tifffile import COMPRESSION, PHOTOMETRIC, PLANARCONFIG, TiffPage

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect
from segstudio.imaging.tile_cache import BLOCKS

_COMPRESSIONS = {
    COMPRESSION.NONE,
    COMPRESSION.LZW,
    COMPRESSION.JPEG,
    COMPRESSION.ADOBE_DEFLATE,
    COMPRESSION.DEFLATE,
    COMPRESSION.PACKBITS,
    COMPRESSION.LZMA,
    COMPRESSION.ZSTD,
    COMPRESSION.LERC,
    COMPRESSION.WEBP,
}
_PHOTOMETRICS = {PHOTOMETRIC.MINISBLACK, PHOTOMETRIC.RGB, PHOTOMETRIC.PALETTE}
_MAX_BLOCK_BYTES = 32 << 20
_JPEG_END = b"\xff\xd9"


def readable(page: TiffPage, samples: int) -> bool:
    """Whether the page has a layout that `BlockReader` knows, with `samples` samples a pixel.

    Huge blocks (a whole picture in one strip) are left to GDAL, which can read a part of them.
    """
    colour = page.photometric in _PHOTOMETRICS or (
        page.photometric == PHOTOMETRIC.YCBCR and page.compression == COMPRESSION.JPEG
    )
    return bool(
        colour
        and page.compression in _COMPRESSIONS
        and page.bitspersample in {8, 16, 32, 64}
        and page.dtype is not None
        and page.dtype.kind in "uif"
        and page.imagedepth == 1
        and page.fillorder == 1
        and page.samplesperpixel == samples
        and _block_shape(page)[0] * _block_shape(page)[1] * samples * page.dtype.itemsize <= _MAX_BLOCK_BYTES
    )


def _block_shape(page: TiffPage) -> tuple[int, int]:
    """(height, width) of a tile, or of a strip."""
    if page.is_tiled:
        return page.tilelength, page.tilewidth
    return max(min(page.rowsperstrip, page.imagelength), 1), page.imagewidth


class BlockReader:
    """Reads rectangles of one page from any thread."""

    def __init__(self, path: Path, page: TiffPage, nodata: float | None, key: tuple[int, int]) -> None:
        self._path, self._page, self._key = path, page, key
        self._decode, self._offsets, self._counts = page.decode, page.dataoffsets, page.databytecounts
        self._tables = {"jpegtables": page.jpegtables, "jpegheader": page.jpegheader} if page.compression == 7 else {}
        self._dtype = page.dtype.newbyteorder("=")
        self._block_height, self._block_width = _block_shape(page)
        self._separate = page.planarconfig == PLANARCONFIG.SEPARATE and page.samplesperpixel > 1
        self._across = -(-page.imagewidth // self._block_width)
        self._down = -(-page.imagelength // self._block_height)
        self._fill = _fill_value(nodata, self._dtype)
        self._file = path.open("rb", buffering=0)
        self._seek = threading.Lock()

    def sweep_bytes(self, rows: int) -> int:
        """Bytes that strips covering `rows` rows take when decoded; 0 for tiles, which need no sweep."""
        if self._across > 1:
            return 0
        blocks = -(-rows // self._block_height) + 1
        return int(blocks * self._block_height * self._block_width * self._page.samplesperpixel * self._dtype.itemsize)

    def read(self, rect: Rect) -> NDArray[Any]:
        """(height, width, samples) of a rectangle inside the page."""
        samples = self._page.samplesperpixel
        out = np.empty((rect.height, rect.width, samples), self._dtype)
        for row in range(rect.y // self._block_height, -(-rect.bottom // self._block_height)):
            for column in range(rect.x // self._block_width, -(-rect.right // self._block_width)):
                place = self._place(row, column)
                part = rect.intersect(place)
                target, source = part.slices_from(rect.x, rect.y), part.slices_from(place.x, place.y)
                index = row * self._across + column
                if not self._separate:
                    out[target] = self._block(index, place, samples)[source]
                    continue
                for plane in range(samples):
                    block = self._block(plane * self._across * self._down + index, place, 1)
                    out[*target, plane] = block[*source, 0]
        return out

    def close(self) -> None:
        self._file.close()

    def _place(self, row: int, column: int) -> Rect:
        x, y = column * self._block_width, row * self._block_height
        width = min(self._block_width, self._page.imagewidth - x)
        return Rect(x, y, width, min(self._block_height, self._page.imagelength - y))

    def _block(self, index: int, place: Rect, samples: int) -> NDArray[Any]:
        key = (*self._key, index)
        block = BLOCKS.get(key)
        if block is None:
            block = self._decoded(index, place, samples)
            BLOCKS.put(key, block)
        return block

    def _decoded(self, index: int, place: Rect, samples: int) -> NDArray[Any]:
        shape = (place.height, place.width, samples)
        if self._offsets[index] == 0 or self._counts[index] == 0:
            return np.full(shape, self._fill, self._dtype)
        block = self._decode(self._stored(index), index, **self._tables)[0]
        block = block.reshape(-1, *block.shape[-2:])[: place.height, : place.width]
        if block.shape != shape:
            raise ImageError(ImageProblem.TRUNCATED, self._path, detail=f"block {index} holds {block.shape}")
        return np.ascontiguousarray(block, self._dtype)

    def _stored(self, index: int) -> bytes:
        offset, count = self._offsets[index], self._counts[index]
        if hasattr(os, "pread"):
            data = os.pread(self._file.fileno(), count, offset)
        else:
            with self._seek:
                self._file.seek(offset)
                data = self._file.read(count)
        if len(data) < count:
            raise ImageError(ImageProblem.TRUNCATED, self._path, detail=f"block {index} ends after {len(data)} bytes")
        # libjpeg fills what is missing with grey and only warns, which imagecodecs does not pass on.
        if self._tables and not data.rstrip(b"\0").endswith(_JPEG_END):
            raise ImageError(ImageProblem.TRUNCATED, self._path, detail=f"block {index} has no end of image marker")
        return data


def _fill_value(nodata: float | None, dtype: np.dtype[Any]) -> float:
    """What an absent block holds: nodata where the type can hold it, else 0."""
    if nodata is None:
        return 0
    if dtype.kind == "f":
        return nodata
    limits = np.iinfo(dtype)
    return int(nodata) if nodata == nodata and limits.min <= nodata <= limits.max else 0
