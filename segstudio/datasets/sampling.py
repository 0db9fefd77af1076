"""Choosing training windows so that rare classes are seen: an index of where each class lies, and draws from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from segstudio.core.errors import DataError, DataProblem
from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.core.tiles import TILE_SIDE, tiles_of
from segstudio.datasets.ingest import Dataset
from segstudio.datasets.sample import Labels, read_labels
from segstudio.datasets.splits import Part
from segstudio.imaging.source import open_source

CELL = 64
"""Side of an index cell in pixels; a divisor of the tile side, so that no cell lies in two tiles."""

BALANCE = 0.5
"""A class is drawn in proportion to its share to this power: 1 follows the pixels, 0 treats all classes alike."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where one class lies: places as rows (sample, region, x, y), and the running sum of its pixels over them."""

    cells: npt.NDArray[np.int32]
    sums: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelIndex:
    """Labelled pixels of each class by cells of 64 pixels, over the regions of one part.

    Only cells that have a class take memory: 24 bytes for each class in each.
    """

    dataset: Dataset
    part: Part
    places: tuple[Places, ...]

    @property
    def class_pixels(self) -> tuple[int, ...]:
        """Labelled pixels of each class, in the order of the class table."""
        return tuple(int(places.sums[-1]) if places.sums.size else 0 for places in self.places)

    @property
    def class_shares(self) -> tuple[float, ...]:
        """Share of each class in the labelled pixels, in the order of the class table; the sum is 1."""
        total = sum(self.class_pixels)
        return tuple(pixels / total for pixels in self.class_pixels)


def index_labels(dataset: Dataset, part: Part, ctx: JobContext) -> LabelIndex:
    """Read the masks of all regions of a part once, tile by tile. Raises `DataError` (`data.no_labels`) for none."""
    todo = [
        (number, region_number)
        for number, sample in enumerate(dataset.samples)
        for region_number in range(len(sample.regions.get(part, ())))
    ]
    ctx.start("index labels", len(todo))
    found: list[list[npt.NDArray[np.int32]]] = [[] for _ in dataset.classes.classes]
    for number, region_number in todo:
        for rows in _region_counts(dataset, number, part, region_number, ctx):
            for class_number, slot in enumerate(dataset.classes.slots):
                of_class = rows[rows[:, 4] == slot]
                if of_class.size:
                    found[class_number].append(of_class)
        ctx.advance()
    index = LabelIndex(dataset, part, tuple(_places_of(rows) for rows in found))
    if not any(index.class_pixels):
        raise DataError(DataProblem.NO_LABELS, part.value)
    return index


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws square windows of side `patch`; the same seed and step always give the same windows."""

    index: LabelIndex
    patch: int
    seed: int

    def draw(self, count: int, step: int) -> list[tuple[int, Rect]]:
        """`count` windows for one training step, as (sample number, window in level-0 pixels).

        A class is drawn by its share to the power 1/2, then a cell by its pixels of that class, then a window that
        holds the cell (or, for patches smaller than a cell, lies in it). It stays inside the region of the cell where
        that is large enough, else it covers the whole side of the region.
        """
        rng = np.random.default_rng((self.seed, step))
        chances = np.power(self.index.class_shares, BALANCE)
        classes = rng.choice(len(chances), size=count, p=chances / chances.sum())
        return [self._window(int(number), rng) for number in classes]

    def _window(self, class_number: int, rng: np.random.Generator) -> tuple[int, Rect]:
        places = self.index.places[class_number]
        pixel = rng.integers(places.sums[-1])
        row = places.cells[np.searchsorted(places.sums, pixel, side="right")]
        number, region_number, x, y = (int(value) for value in row)
        region = self.index.dataset.samples[number].regions[self.index.part][region_number]
        cell = Rect(x, y, CELL, CELL).intersect(region)
        left = _start((cell.x, cell.right), (region.x, region.right), self.patch, rng)
        top = _start((cell.y, cell.bottom), (region.y, region.bottom), self.patch, rng)
        return number, Rect(left, top, self.patch, self.patch)


def _start(cell: tuple[int, int], region: tuple[int, int], patch: int, rng: np.random.Generator) -> int:
    """Start of a stretch of length `patch` along one axis.

    The two bounds change places where the patch is smaller than the cell (the stretch then lies in the cell) and where
    it is larger than the region (the stretch then covers the region).
    """
    bounds = max(cell[1] - patch, region[0]), min(cell[0], region[1] - patch)
    return int(rng.integers(min(bounds), max(bounds), endpoint=True))


def _region_counts(
    dataset: Dataset, number: int, part: Part, region_number: int, ctx: JobContext
) -> Iterator[npt.NDArray[np.int32]]:
    """Rows (sample, region, x, y, slot, pixels) of each tile of a region."""
    sample = dataset.samples[number]
    region = sample.regions[part][region_number]
    with open_source(sample.mask, indexed=True) as mask:
        for tile in tiles_of(region.size):
            ctx.checkpoint()
            rect = tile.moved(region.x, region.y)
            cell, slot, pixels = _cell_counts(read_labels(mask, rect, dataset.classes))
            rows = np.empty((cell.size, 6), np.int32)
            rows[:, 0], rows[:, 1], rows[:, 4], rows[:, 5] = number, region_number, slot, pixels
            rows[:, 2] = rect.x + cell % _CELLS * CELL
            rows[:, 3] = rect.y + cell // _CELLS * CELL
            yield rows


_CELLS = TILE_SIDE // CELL


def _cell_counts(labels: Labels) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(cell, value, pixels) of every value in every cell of one tile, cells numbered row by row."""
    height, width = labels.shape
    cells = (np.arange(height) // CELL * _CELLS)[:, None] + np.arange(width) // CELL
    counts = np.bincount((cells * 256 + labels).ravel(), minlength=1)
    (present,) = np.nonzero(counts)
    return present // 256, present % 256, counts[present]


def _places_of(found: list[npt.NDArray[np.int32]]) -> Places:
    rows = np.concatenate(found) if found else np.empty((0, 6), np.int32)
    return Places(rows[:, :4].copy(), np.cumsum(rows[:, 5], dtype=np.int64))
