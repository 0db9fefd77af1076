"""Any raster file through GDAL (rasterio): one native handle per thread at work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.io import DatasetReader
from rasterio.windows import Window

from segstudio.core.geometry import Rect
from segstudio.imaging.backends.gdal_header import read_header, usable_overviews
from segstudio.imaging.backends.gdal_open import open_dataset
from segstudio.imaging.backends.raw import Header
from segstudio.imaging.failures import library_errors
from segstudio.imaging.guard import check_size
from segstudio.imaging.probe import Format

_OPTIONS = {
    # Bytes. PNG and JPEG decode from the top: the 512 rows of a sweep must fit, so that each is decoded once.
    "GDAL_CACHEMAX": 256 << 20,
    # The shortcut for whole images decodes damaged files without a word.
    "GDAL_PNG_WHOLE_IMAGE_OPTIM": "NO",
}
_SEQUENTIAL = {Format.PNG, Format.JPEG, Format.WEBP}


class GdalBackend:
    """Region reads through GDAL. Formats that decode from the top share one handle, whose cache all threads use."""

    def __init__(self, path: Path, kind: Format) -> None:
        self._path, self._kind = path, kind
        self._lock = threading.Lock()
        self._idle: list[list[DatasetReader]] = [[]]
        self._overview: tuple[int | None, ...] = (None,)
        self._turns: list[threading.Lock] = []
        self._closed = False
        with library_errors(path), rasterio.Env(**_OPTIONS):
            dataset = self._open(0)
            self._idle[0].append(dataset)
            check_size(path, dataset.width, dataset.height)
            self._list_levels(dataset)
            self.header: Header = read_header(path, kind, dataset, [idle[0] for idle in self._idle[1:]])

    def read(self, rect: Rect, level: int) -> NDArray[Any]:
        """See `Backend.read`."""
        with self._handle(level) as dataset:
            planes = dataset.read(window=_window(rect))
        return np.ascontiguousarray(planes.transpose(1, 2, 0))

    def mask(self, rect: Rect, level: int) -> NDArray[np.bool_]:
        """See `Backend.mask`."""
        with self._handle(level) as dataset:
            mask: NDArray[np.bool_] = dataset.read_masks(1, window=_window(rect)) != 0
        return mask

    def close(self) -> None:
        with self._lock:
            self._closed = True
            datasets = [dataset for idle in self._idle for dataset in idle]
            self._idle = [[] for _ in self._idle]
        for dataset in datasets:
            dataset.close()

    def _list_levels(self, dataset: DatasetReader) -> None:
        kept = usable_overviews(dataset, self._open_overview)
        self._overview = (None, *(index for index, _ in kept))
        self._idle.extend([opened] for _, opened in kept)
        self._turns = [threading.Lock() for _ in self._idle]

    @contextmanager
    def _handle(self, level: int) -> Iterator[DatasetReader]:
        with library_errors(self._path), rasterio.Env(**_OPTIONS):
            if self._kind in _SEQUENTIAL:
                with self._turns[level], self._borrowed(level) as dataset:
                    yield dataset
            else:
                with self._borrowed(level) as dataset:
                    yield dataset

    @contextmanager
    def _borrowed(self, level: int) -> Iterator[DatasetReader]:
        with self._lock:
            dataset = self._idle[level].pop() if self._idle[level] else None
        dataset = dataset or self._open(level)
        try:
            yield dataset
        finally:
            self._give_back(level, dataset)

    def _give_back(self, level: int, dataset: DatasetReader) -> None:
        with self._lock:
            if not self._closed:
                self._idle[level].append(dataset)
                return
        dataset.close()

    def _open(self, level: int) -> DatasetReader:
        return self._open_overview(self._overview[level])

    def _open_overview(self, overview: int | None) -> DatasetReader:
        options: dict[str, Any] = {} if overview is None else {"overview_level": overview}
        return open_dataset(self._path, driver=self._kind.value, **options)


def _window(rect: Rect) -> Window:
    return Window(rect.x, rect.y, rect.width, rect.height)
