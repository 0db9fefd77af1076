"""Any part of an image at any size: exact area averages, in pieces of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect, Size, split_axis
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.info import Level
from segstudio.imaging.source import ImageSource

Floats = NDArray[np.floating[Any]]

_NOTHING = 1e-6
"""Area in level pixels below which an output pixel holds nothing but rounding."""


def read_scaled(source: ImageSource, rect: Rect, out: Size, *, memory_bytes: int = 16 << 20) -> NDArray[Any]:
    """The part of level 0 covered by `rect`, resampled to `out` (height, width, bands) in the stored dtype.

    Each output pixel is the mean over exactly its area (cv2.INTER_AREA, also at ratios that are not whole), of valid
    pixels where there are any, else the mean of all valid pixels of the part. It is read from the coarsest level that
    is at least as fine as the output. `memory_bytes` bounds the working memory beside the result.

    Raises `ImageError` OUTSIDE for an empty rectangle or one that leaves the image.
    """
    info = source.info
    if rect.empty or out.area == 0 or not Rect.of_size(info.size).contains(rect):
        raise ImageError(ImageProblem.OUTSIDE, info.path, rect=rect, size=info.size)
    level = level_for(info.levels, min(rect.width / out.width, rect.height / out.height))
    part = info.levels[level]
    columns = _Axis.of(rect.x, rect.right, out.width, _scale(info.width, part.width, part.downsample))
    rows = _Axis.of(rect.y, rect.bottom, out.height, _scale(info.height, part.height, part.downsample))
    dtype = np.dtype(info.dtype)
    working = np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)
    total = np.zeros((out.height, out.width, info.bands), np.float64)
    weight = np.zeros((out.height, out.width, 1), np.float64)
    for piece in _pieces(rows, columns, info.bands * (4 * dtype.itemsize + 3 * working.itemsize) + 4, memory_bytes):
        pixels: Floats = source.read(piece, level=level).astype(working)
        place = rows.touched(piece.y, piece.bottom), columns.touched(piece.x, piece.right)
        valid = source.validity(piece, level=level)
        if valid is None:
            heights = rows.sums(np.ones(piece.height), piece.y)
            widths = columns.sums(np.ones(piece.width), piece.x)
            weight[place] += np.outer(heights, widths)[..., None]
        else:
            pixels[~valid] = 0
            weight[place] += _sums(valid[..., None].astype(working), piece, rows, columns)
        total[place] += _sums(pixels, piece, rows, columns)
    return _as_stored(_mean(total, weight), dtype)


def level_for(levels: tuple[Level, ...], scale: float) -> int:
    """Index of the coarsest level whose pixels are at most `scale` level-0 pixels wide."""
    fitting = [index for index, level in enumerate(levels) if level.downsample <= max(scale, 1.0) * (1 + 1e-9)]
    return max(fitting, key=lambda index: levels[index].downsample)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Borders of the output pixels along one axis, in pixels of the level; n + 1 rising values within the level."""

    borders: NDArray[np.float64]

    @classmethod
    def of(cls, start: int, stop: int, count: int, scale: float) -> _Axis:
        return cls(np.linspace(start / scale, stop / scale, count + 1))

    @property
    def span(self) -> tuple[int, int]:
        """The level's pixels that the output touches."""
        return int(self.borders[0]), int(np.ceil(self.borders[-1] - 1e-9))

    def touched(self, start: int, stop: int) -> slice:
        """The output pixels that level pixels [start, stop) touch."""
        first = int(np.searchsorted(self.borders, start, side="right")) - 1
        last = int(np.searchsorted(self.borders, stop, side="left"))
        return slice(max(first, 0), min(last, len(self.borders) - 1))

    def sums(self, values: Floats, start: int) -> Floats:
        """Sums along axis 0 of `values` (level pixels from `start` on) over each output pixel, shares included."""
        touched = self.touched(start, start + len(values))
        flat = values.reshape(len(values), -1)
        sums = np.empty((touched.stop - touched.start, flat.shape[1]), values.dtype)
        borders = np.clip(self.borders[touched.start : touched.stop + 1] - start, 0, len(values)).tolist()
        for row, (low, high) in enumerate(pairwise(borders)):
            begin, end = int(low), max(ceil(high), int(low) + 1)
            weights = np.ones(end - begin, values.dtype)
            weights[0] -= low - begin
            weights[-1] -= end - high
            np.dot(weights, flat[begin:end], out=sums[row])
        return sums.reshape(-1, *values.shape[1:])


def _sums(values: Floats, piece: Rect, rows: _Axis, columns: _Axis) -> Floats:
    narrow = np.ascontiguousarray(rows.sums(values, piece.y).swapaxes(0, 1))
    return columns.sums(narrow, piece.x).swapaxes(0, 1)


def _scale(full: int, part: int, downsample: float) -> float:
    """Level-0 pixels per level pixel along one axis: the factor where the level was rounded up, else the ratio."""
    return downsample if -(-full // downsample) == part else full / part


def _pieces(rows: _Axis, columns: _Axis, pixel_bytes: int, memory_bytes: int) -> Iterator[Rect]:
    """Rectangles that tile the touched part of the level, cut at multiples of a tile's side, row by row."""
    (top, bottom), (left, right) = rows.span, columns.span
    wide = max(memory_bytes // (pixel_bytes * TILE_SIDE) // TILE_SIDE, 1) * TILE_SIDE
    for y, y_end in _cut(top, bottom, TILE_SIDE):
        for x, x_end in _cut(left, right, wide):
            yield Rect(x, y, x_end - x, y_end - y)


def _cut(start: int, stop: int, step: int) -> Iterator[tuple[int, int]]:
    offset = start - start % step
    for low, high in split_axis(stop - offset, step):
        yield max(low + offset, start), high + offset


def _mean(total: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted mean; places without a valid pixel get the mean of the rest, or 0 where there is none at all."""
    unknown = weight[..., 0] <= _NOTHING
    everything = weight.sum()
    rest = total.sum(axis=(0, 1)) / everything if everything > _NOTHING else np.zeros(total.shape[2])
    np.divide(total, weight, out=total, where=weight > _NOTHING)
    total[unknown] = rest
    return total


def _as_stored(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "f":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
