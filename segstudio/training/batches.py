"""Batches of one step: patches, labels, and for networks with context the coarse views and boxes that go with them.

A step's batch depends on the seed and the step's number alone, so that a resumed run sees what an uninterrupted one sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from segstudio.core.geometry import Rect
from segstudio.datasets.augment import ColourChange, GeometricChange
from segstudio.datasets.ingest import Dataset, Sample
from segstudio.datasets.sample import PatchReader
from segstudio.datasets.sampling import LabelIndex, Sampler
from segstudio.datasets.splits import Part
from segstudio.networks.roi import axis_weights
from segstudio.networks.spec import ContextCard, Normalisation
from segstudio.patches.context import ContextOptions, ContextWindow, context_windows, roi_box
from segstudio.training.coarse import CoarseViews
from segstudio.training.config import TrainConfig

Array = npt.NDArray[np.float32]

AHEAD = 2
"""Batches prepared while the optimiser works."""


@dataclass(frozen=True, slots=True)
class ContextBatch:
    """The coarse side of a batch.

    Attributes:
        pixels: float32 (G, bands, P, P), raw values.
        owner: (B,) which of the G each patch belongs to.
        rows, columns: ROI weights (B, cells, cells) of each patch in the map of its coarse view.
        kept: (B,) float32; 0 where a patch sees no context.
    """

    pixels: Array
    owner: npt.NDArray[np.int64]
    rows: Array
    columns: Array
    kept: Array


@dataclass(frozen=True, slots=True)
class Batch:
    """One step: raw pixels float32 (B, bands, P, P), class indices int64 (B, P, P) with 254 and 255, and the context.

    `places` says where each patch comes from, for messages.
    """

    pixels: Array
    labels: npt.NDArray[np.int64]
    context: ContextBatch | None
    places: tuple[str, ...]


class BatchMaker:
    """Makes the batch of a step. One thread uses it at a time."""

    def __init__(
        self,
        index: LabelIndex,
        config: TrainConfig,
        normalisation: Normalisation,
        context: ContextCard | None,
        stride: int,
    ) -> None:
        self._dataset: Dataset = index.dataset
        self._config = config
        self._context = context
        self._stride = stride
        self._normalisation = normalisation
        self._sampler = Sampler(index, config.patch, config.seed)
        self._reader = PatchReader(index.dataset.classes, mean=normalisation.mean)
        self._views = CoarseViews(normalisation, config.patch)
        self._indices = class_indices(index.dataset)

    def close(self) -> None:
        self._reader.close()

    def make(self, step: int) -> Batch:
        rng = np.random.default_rng((self._config.seed, step, 1))
        if self._context is None:
            drawn = self._sampler.draw(self._config.batch, step)
            return self._batch([(number, window, None) for number, window in drawn], [], rng)
        groups = self._config.batch // self._config.shared
        items: list[tuple[int, Rect, int | None]] = []
        windows: list[tuple[int, ContextWindow]] = []
        for number, anchor in self._sampler.draw(groups, step):
            sample = self._dataset.samples[number]
            options = ContextOptions(self._context.ratio)
            found = context_windows(sample.size, self._config.patch, options).window_for(anchor)
            owner = None
            if found is not None:
                owner = len(windows)
                windows.append((number, found))
            area = _training_area(sample, anchor, found)
            items += [(number, window, owner) for window in self._companions(anchor, area, rng)]
        return self._batch(items, windows, rng)

    def _companions(self, anchor: Rect, area: Rect, rng: np.random.Generator) -> list[Rect]:
        """The anchor and the further windows of its group, in the same area."""
        side = self._config.patch
        windows = [anchor]
        for _ in range(self._config.shared - 1):
            x = int(rng.integers(area.x, max(area.x, area.right - side), endpoint=True))
            y = int(rng.integers(area.y, max(area.y, area.bottom - side), endpoint=True))
            windows.append(Rect(x, y, side, side))
        return windows

    def _batch(
        self,
        items: list[tuple[int, Rect, int | None]],
        windows: list[tuple[int, ContextWindow]],
        rng: np.random.Generator,
    ) -> Batch:
        """Read, change alike what belongs together, and stack. Patches without context are changed each for itself."""
        changes = [_Change.random(rng) for _ in range(len(windows) + len(items))]
        spread, centre = 4 * float(np.mean(self._normalisation.std)), float(np.mean(self._normalisation.mean))
        pixels, labels, places = [], [], []
        for position, (number, window, owner) in enumerate(items):
            sample = self._dataset.samples[number]
            change = changes[len(windows) + position if owner is None else owner]
            image, mask = self._reader.read(sample, window, Part.TRAIN)
            pixels.append(change.apply(image, centre, spread))
            labels.append(change.geometry.apply(self._indices[mask]))
            places.append(f"{sample.name} at {window.x}, {window.y}")
        context = self._context_batch(items, windows, changes, rng, (centre, spread)) if windows else None
        return Batch(_stack(pixels), np.stack(labels).astype(np.int64), context, tuple(places))

    def _context_batch(
        self,
        items: list[tuple[int, Rect, int | None]],
        windows: list[tuple[int, ContextWindow]],
        changes: list[_Change],
        rng: np.random.Generator,
        scale: tuple[float, float],
    ) -> ContextBatch:
        assert self._context is not None
        side, cells = self._config.patch, self._config.patch // self._stride
        pictures = []
        for (number, window), change in zip(windows, changes, strict=False):
            sample = self._dataset.samples[number]
            pictures.append(change.apply(self._views.view(self._reader.image(sample), window.rect), *scale))
        rows, columns, owners, kept = [], [], [], []
        for _, patch, owner in items:
            frame = windows[owner or 0][1].rect
            box = changes[owner or 0].geometry.apply_to_box(
                (patch.x - frame.x, patch.y - frame.y, patch.right - frame.x, patch.bottom - frame.y), frame.width
            )
            turned = Rect(round(box[0]), round(box[1]), patch.width, patch.height)
            x0, y0, x1, y1 = roi_box(
                turned,
                Rect(0, 0, frame.width, frame.height),
                patch=side,
                stride=self._stride,
                offset=self._context.cell_offset,
            )
            rows.append(axis_weights(y0, y1, cells, cells))
            columns.append(axis_weights(x0, x1, cells, cells))
            owners.append(owner or 0)
            kept.append(float(owner is not None and rng.random() >= self._config.context_dropout))
        return ContextBatch(
            _stack(pictures), np.array(owners), np.stack(rows), np.stack(columns), np.array(kept, np.float32)
        )


@dataclass(frozen=True, slots=True)
class _Change:
    geometry: GeometricChange
    colour: ColourChange

    @classmethod
    def random(cls, rng: np.random.Generator) -> _Change:
        return cls(GeometricChange.random(rng), ColourChange.random(rng))

    def apply(self, picture: npt.NDArray[np.generic], centre: float, spread: float) -> Array:
        changed = self.colour.apply(picture, centre=centre, spread=spread)
        return self.geometry.apply(changed).astype(np.float32)


def class_indices(dataset: Dataset) -> npt.NDArray[np.uint8]:
    """(256,) table from slots to class indices; 254 and 255 stay."""
    table = np.full(256, 255, np.uint8)
    table[254] = 254
    for index, slot in enumerate(dataset.classes.slots):
        table[slot] = index
    return table


def batches(maker: BatchMaker, first: int, last: int) -> Iterator[tuple[int, Batch]]:
    """(step, batch) for steps first..last-1, prepared ahead in one thread."""
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as pool:
        waiting: list[tuple[int, Future[Batch]]] = []
        try:
            for step in range(first, last):
                waiting.append((step, pool.submit(maker.make, step)))
                if len(waiting) > AHEAD:
                    ready, future = waiting.pop(0)
                    yield ready, future.result()
            for ready, future in waiting:
                yield ready, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def _training_area(sample: Sample, anchor: Rect, context: ContextWindow | None) -> Rect:
    """Where further patches of a group may lie: the anchor's region, as far as the context window shows it."""
    regions = sample.regions[Part.TRAIN]
    region = max(regions, key=lambda rect: rect.intersect(anchor).size.area)
    return region if context is None else region.intersect(context.visible)


def _stack(pictures: list[Array]) -> Array:
    return np.ascontiguousarray(np.stack(pictures).transpose(0, 3, 1, 2))
