"""Images with the levels of their cached pyramid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.halving import halved
from segstudio.imaging.info import SourceInfo
from segstudio.imaging.pyramid_cache import cache_file, discard, finished, levels_of, needs_pyramid
from segstudio.imaging.pyramid_store import DamagedCacheError, Picture, TileStore
from segstudio.imaging.source import ImageSource


def with_pyramid(source: ImageSource, folder: Path) -> ImageSource:
    """The image with the levels of its finished pyramid; `source` itself where it has levels or no pyramid yet.

    Level 0 stays exactly the source's; coarser levels of 8-bit pictures went through JPEG. What is returned owns
    `source`. Not for label masks, whose values have no means.
    """
    if not needs_pyramid(source.info):
        return source
    file = cache_file(source.info, folder)
    store = finished(file)
    return source if store is None else PyramidSource(source, store, file)


class PyramidSource:
    """An `ImageSource` whose levels come from a store, and from `source` where the store has none or is damaged."""

    def __init__(self, source: ImageSource, store: TileStore, file: Path) -> None:
        self._source, self._store, self._file = source, store, file
        self._info = replace(source.info, levels=levels_of(source.info.size))

    @property
    def info(self) -> SourceInfo:
        return self._info

    def read(self, rect: Rect, *, level: int = 0) -> NDArray[Any]:
        """See `ImageSource.read`."""
        if level < self._store.first:
            return self._source.read(rect, level=level)
        self._check(rect, level)
        out = np.empty((rect.height, rect.width, self._info.bands), self._info.dtype)
        for place in self._touched(rect, level):
            part = rect.intersect(place)
            out[part.slices_from(rect.x, rect.y)] = self._tile(level, place).pixels[part.slices_from(place.x, place.y)]
        return out

    def validity(self, rect: Rect, *, level: int = 0) -> NDArray[np.bool_] | None:
        """See `ImageSource.validity`. A pixel of a coarser level is valid where one that it stands for is."""
        if level < self._store.first:
            return self._source.validity(rect, level=level)
        self._check(rect, level)
        if not self._store.gaps:
            return None
        valid = np.ones((rect.height, rect.width), np.bool_)
        for place in self._touched(rect, level):
            known = self._tile(level, place).valid
            if known is not None:
                part = rect.intersect(place)
                valid[part.slices_from(rect.x, rect.y)] = known[part.slices_from(place.x, place.y)]
        return None if valid.all() else valid

    def close(self) -> None:
        self._store.close()
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check(self, rect: Rect, level: int) -> None:
        if not 0 <= level < len(self._info.levels):
            raise ValueError(f"{self._info.path} has no level {level}")
        size = self._info.levels[level].size
        if rect.empty or not Rect.of_size(size).contains(rect):
            raise ImageError(ImageProblem.OUTSIDE, self._info.path, rect=rect, size=size)

    def _touched(self, rect: Rect, level: int) -> list[Rect]:
        whole = Rect.of_size(self._info.levels[level].size)
        return [
            Rect(x * TILE_SIDE, y * TILE_SIDE, TILE_SIDE, TILE_SIDE).intersect(whole)
            for y in range(rect.y // TILE_SIDE, -(-rect.bottom // TILE_SIDE))
            for x in range(rect.x // TILE_SIDE, -(-rect.right // TILE_SIDE))
        ]

    def _tile(self, level: int, place: Rect) -> Picture:
        shape = (place.height, place.width, self._info.bands)
        try:
            return self._store.tile(level, place.y // TILE_SIDE, place.x // TILE_SIDE, shape, self._info.dtype)
        except DamagedCacheError:
            # Gone with the next opening, and built again; until then its finer levels or the image stand in.
            discard(self._file)
            return self._from_finer(level, place)

    def _from_finer(self, level: int, place: Rect) -> Picture:
        if level == 0:
            return Picture(self._source.read(place), self._source.validity(place))
        finer = Rect(2 * place.x, 2 * place.y, 2 * place.width, 2 * place.height)
        finer = finer.intersect(Rect.of_size(self._info.levels[level - 1].size))
        return halved(Picture(self.read(finer, level=level - 1), self.validity(finer, level=level - 1)))
