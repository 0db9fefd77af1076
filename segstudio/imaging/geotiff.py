"""Class masks of any size streamed into a tiled GeoTIFF."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.errors import RasterioError
from rasterio.io import DatasetWriter
from rasterio.windows import Window
from tifffile import TiffFile, TiffFileError

from segstudio.core.classes import UNTOUCHED, Colour
from segstudio.core.errors import OutputError, OutputProblem
from segstudio.core.files import written_aside
from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.backends.gdal_open import open_dataset
from segstudio.imaging.info import Transform

_CACHE_BYTES = 256 << 20
_HELD_BYTES = 8 << 20
"""Mask bytes after which the file is closed and opened again: GDAL lets go of written tiles at closing only."""
_FULL_BELOW = 1 << 20
"""Free bytes below which a failed write is taken for a full disk: GDAL does not keep the system's error number."""


class MaskWriter:
    """Writes a uint8 mask tile by tile: deflate, palette, nodata 255, BigTIFF where it gets large.

    A context manager: the file appears under its name only when the block ends without an error and all of it is found
    on disk. Use from one thread at a time.
    """

    def __init__(
        self, path: Path, size: Size, *, colours: Mapping[int, Colour], crs: str | None, transform: Transform | None
    ) -> None:
        self._path, self._size, self._colours = path, size, dict(colours)
        self._crs, self._transform = crs, transform
        self._stack = ExitStack()
        self._held = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._part = stack.enter_context(written_aside(self._path))
            with self._gdal():
                self._dataset = self._create()
            stack.push(self._finish)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, rect: Rect, classes: NDArray[np.uint8]) -> None:
        """Write (height, width) uint8 at `rect`, whose sides are multiples of 512 or the border of the image.

        Each tile is compressed once, so a rectangle that cuts a tile is a ValueError. Raises `OutputError`.
        """
        if not self._whole_tiles(rect) or classes.shape != (rect.height, rect.width):
            raise ValueError(f"{rect} with an array {classes.shape} is not made of whole tiles of {self._size}")
        with self._gdal():
            self._dataset.write(classes, 1, window=Window(rect.x, rect.y, rect.width, rect.height))
            self._held += classes.nbytes
            if self._held >= _HELD_BYTES:
                self._dataset.close()
                self._dataset = open_dataset(self._part, "r+")
                self._held = 0

    def _whole_tiles(self, rect: Rect) -> bool:
        starts = rect.x % TILE_SIDE == 0 and rect.y % TILE_SIDE == 0
        right = rect.right % TILE_SIDE == 0 or rect.right == self._size.width
        bottom = rect.bottom % TILE_SIDE == 0 or rect.bottom == self._size.height
        return starts and right and bottom and Rect.of_size(self._size).contains(rect)

    def _create(self) -> DatasetWriter:
        dataset = open_dataset(
            self._part,
            "w",
            driver="GTiff",
            width=self._size.width,
            height=self._size.height,
            count=1,
            dtype="uint8",
            nodata=UNTOUCHED,
            tiled=True,
            blockxsize=TILE_SIDE,
            blockysize=TILE_SIDE,
            compress="deflate",
            photometric="palette",
            bigtiff="IF_SAFER",
            crs=self._crs,
            transform=None if self._transform is None else rasterio.Affine(*self._transform),
        )
        dataset.write_colormap(1, self._colours)
        return dataset

    def _finish(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close; GDAL may lose what goes wrong in it, so look at the file afterwards."""
        try:
            with self._gdal():
                self._dataset.close()
        except OutputError:
            if kind is None:
                raise
        if kind is None:
            self._verify()

    def _verify(self) -> None:
        length = self._part.stat().st_size
        with self._gdal(), TiffFile(self._part) as file:
            page = file.pages.first
            stored = zip(page.dataoffsets, page.databytecounts, strict=True)
            if any(offset == 0 or count == 0 or offset + count > length for offset, count in stored):
                raise self._failure("the file ends before its last tile")
        with self._gdal(), open_dataset(self._part) as dataset:
            dataset.read(1, window=Window(self._size.width - 1, self._size.height - 1, 1, 1))

    @contextmanager
    def _gdal(self) -> Iterator[None]:
        try:
            with rasterio.Env(GDAL_CACHEMAX=_CACHE_BYTES):
                yield
        except (RasterioError, TiffFileError, OSError) as error:
            raise self._failure(str(error.__cause__ or error)) from error

    def _failure(self, detail: str) -> OutputError:
        lower = detail.lower()
        if "no space left" in lower or shutil.disk_usage(self._path.parent).free < _FULL_BELOW:
            problem = OutputProblem.DISK_FULL
        elif "permission denied" in lower or "read-only" in lower:
            problem = OutputProblem.NOT_WRITABLE
        else:
            problem = OutputProblem.FAILED
        return OutputError(problem, self._path, detail=detail)
