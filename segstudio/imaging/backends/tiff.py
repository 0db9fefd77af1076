"""TIFF blocks by tifffile and imagecodecs: the pixels of common layouts, about twice as fast as GDAL gives them.

GDAL says what the file means (levels, nodata, palette, mask, georeference) and reads whatever is not listed here.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from tifffile import TiffFile, TiffPage

from segstudio.core.geometry import Rect
from segstudio.imaging.backends.gdal import GdalBackend
from segstudio.imaging.backends.raw import Backend, Header
from segstudio.imaging.backends.tiff_blocks import BlockReader, readable
from segstudio.imaging.failures import library_errors
from segstudio.imaging.tile_cache import BLOCKS

# Without a handler Python prints a library's warnings to stderr; what matters of them comes as an error.
logging.getLogger("tifffile").addHandler(logging.NullHandler())

_sources = itertools.count()
_SWEEP_ROWS = 512


class TiffBackend:
    """Levels whose layout is known come from `blocks`, the rest from GDAL."""

    def __init__(self, path: Path, gdal: GdalBackend, header: Header, blocks: dict[int, BlockReader], key: int) -> None:
        self._path, self._gdal, self._blocks, self._key = path, gdal, blocks, key
        self.header = header

    def read(self, rect: Rect, level: int) -> NDArray[Any]:
        """See `Backend.read`."""
        reader = self._blocks.get(level)
        if reader is None:
            return self._gdal.read(rect, level).astype(self.header.dtype, copy=False)
        with library_errors(self._path):
            return reader.read(rect)

    def mask(self, rect: Rect, level: int) -> NDArray[np.bool_]:
        """See `Backend.mask`."""
        return self._gdal.mask(rect, level)

    def close(self) -> None:
        for reader in self._blocks.values():
            reader.close()
        BLOCKS.forget(self._key)
        self._gdal.close()


def with_tiff_blocks(path: Path, gdal: GdalBackend) -> Backend:
    """The fast reader over `gdal` where tifffile knows the layout; orientation comes from the TIFF tag either way."""
    try:
        with library_errors(path), TiffFile(path) as file:
            return _with_pages(path, gdal, file)
    except BaseException:
        gdal.close()
        raise


def _with_pages(path: Path, gdal: GdalBackend, file: TiffFile) -> Backend:
    page = file.pages.first
    header = replace(gdal.header, orientation=_orientation(page))
    key, blocks = next(_sources), dict[int, BlockReader]()
    if readable(page, header.samples):
        header = replace(header, dtype=str(page.dtype), reader=f"tifffile {tifffile.__version__}")
        for level, found in _pages_of_levels(file, header).items():
            blocks[level] = BlockReader(path, found, header.nodata, (key, level))
            BLOCKS.reserve(blocks[level].sweep_bytes(_SWEEP_ROWS))
    return TiffBackend(path, gdal, header, blocks, key)


def _orientation(page: TiffPage) -> int:
    tag = page.tags.get(274)
    value = tag.value if tag is not None else 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _pages_of_levels(file: TiffFile, header: Header) -> dict[int, TiffPage]:
    """Page by level number, for levels stored with the layout of level 0 or another readable one of the same kind."""
    first = file.pages.first
    reduced = [page for page in [*(first.pages or ()), *_followers(file)] if page.subfiletype == 1]
    by_size = {(page.imagewidth, page.imagelength): page for page in reduced}
    pages = {0: first}
    for number, level in enumerate(header.levels[1:], start=1):
        page = by_size.get((level.width, level.height))
        if page is not None and page.dtype == first.dtype and readable(page, header.samples):
            pages[number] = page
    return pages


def _followers(file: TiffFile) -> list[TiffPage]:
    """The pages after the first up to the next full picture: a stack of thousands of pages is not walked."""
    found: list[TiffPage] = []
    for index in itertools.count(1):
        try:
            page = file.pages[index]
        except IndexError:
            return found
        page = page if isinstance(page, TiffPage) else page.aspage()
        if not page.subfiletype & 0b101:
            return found
        found.append(page)
    return found
