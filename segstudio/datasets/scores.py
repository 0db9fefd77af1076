"""How well a label map agrees with the truth: the confusion matrix, what follows from it, and the scoring of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from segstudio.core.classes import UNTOUCHED, ClassTable
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.geometry import Rect, split_axis
from segstudio.core.jobs import JobContext
from segstudio.core.tiles import tiles_of
from segstudio.datasets.boundary import BoundaryCounts
from segstudio.datasets.sample import read_labels
from segstudio.imaging.source import ImageSource, open_source

Labels = npt.NDArray[np.uint8]

_COUNTED_AT_ONCE = 1 << 20
"""Pixels; counting takes eight bytes for each."""


class Confusion:
    """Pixels by true and predicted class, summed over as many label maps as wanted.

    `matrix` is int64 (K, K + 1): rows are true classes, columns predicted ones in the order of the table; the last
    column counts predictions that are no class of the table, which are wrong.
    """

    def __init__(self, classes: ClassTable) -> None:
        self.classes = classes
        self.matrix = np.zeros((len(classes), len(classes) + 1), np.int64)

    def add(self, truth: Labels, prediction: Labels) -> None:
        """Count two uint8 label maps of equal shape; true values that are no class of the table do not count."""
        if truth.shape != prediction.shape:
            raise ValueError(f"label maps of different shapes: {truth.shape}, {prediction.shape}")
        pairs = np.zeros(1 << 16, np.int64)
        true, predicted = truth.ravel(), prediction.ravel()
        for start, stop in split_axis(true.size, _COUNTED_AT_ONCE):
            codes = true[start:stop] * np.uint16(256) + predicted[start:stop]
            pairs += np.bincount(codes, minlength=1 << 16)
        slots = list(self.classes.slots)
        of_truth = pairs.reshape(256, 256)[slots]
        known = of_truth[:, slots]
        self.matrix[:, :-1] += known
        self.matrix[:, -1] += of_truth.sum(axis=1) - known.sum(axis=1)

    @property
    def pixels(self) -> npt.NDArray[np.int64]:
        """Labelled pixels of each class in the truth."""
        counts: npt.NDArray[np.int64] = self.matrix.sum(axis=1)
        return counts

    @property
    def iou(self) -> npt.NDArray[np.float64]:
        """Intersection over union by class; NaN where neither map has the class."""
        right, predicted = self._right_and_predicted()
        return _ratio(right, self.pixels + predicted - right)

    @property
    def f1(self) -> npt.NDArray[np.float64]:
        """Dice coefficient by class; NaN where neither map has the class."""
        right, predicted = self._right_and_predicted()
        return _ratio(2 * right, self.pixels + predicted)

    @property
    def miou(self) -> float:
        """Mean IoU over the classes present in the truth; NaN without any."""
        return self._mean_of_present(self.iou)

    @property
    def mean_f1(self) -> float:
        """Mean F1 over the classes present in the truth; NaN without any."""
        return self._mean_of_present(self.f1)

    @property
    def accuracy(self) -> float:
        """Share of the labelled pixels that have the true class; NaN without any."""
        total = int(self.matrix.sum())
        return int(self._right_and_predicted()[0].sum()) / total if total else float("nan")

    @property
    def majority_miou(self) -> float:
        """Mean IoU of the answer "the most frequent true class everywhere": what any useful map must beat."""
        total, present = int(self.pixels.sum()), int((self.pixels > 0).sum())
        return int(self.pixels.max()) / total / present if total else float("nan")

    def _right_and_predicted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        known = self.matrix[:, :-1]
        return known.diagonal(), known.sum(axis=0)

    def _mean_of_present(self, values: npt.NDArray[np.float64]) -> float:
        present = self.pixels > 0
        return float(values[present].mean()) if present.any() else float("nan")


def _ratio(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything counted in one comparison."""

    confusion: Confusion
    boundary: BoundaryCounts


def score_files(
    prediction: Path, truth: Path, classes: ClassTable, ctx: JobContext, *, regions: Sequence[Rect] | None = None
) -> Scores:
    """Compare two label masks of any size, tile by tile; only inside `regions` (disjoint, in the image) where given.

    Raises `DataError` for masks of different sizes and for values of no class in the truth; in the prediction such
    values count as wrong. Raises `ImageError` for a file that cannot be read, `Cancelled` when asked to stop.
    """
    scores = Scores(Confusion(classes), BoundaryCounts(classes))
    with open_source(prediction, indexed=True) as predicted, open_source(truth, indexed=True) as true:
        size = true.info.size
        if predicted.info.size != size:
            raise DataError(DataProblem.SIZE_MISMATCH, prediction, size=predicted.info.size, expected=size)
        whole = Rect.of_size(size)
        places = [whole] if regions is None else regions
        tiles = [tile.moved(place.x, place.y) for place in places for tile in tiles_of(place.size)]
        ctx.start("score", len(tiles))
        for tile in tiles:
            halo = scores.boundary.halo
            window = Rect(tile.x - halo, tile.y - halo, tile.width + 2 * halo, tile.height + 2 * halo).intersect(whole)
            _add_window(scores, predicted, true, window, tile.moved(-window.x, -window.y))
            ctx.advance()
    return scores


def _add_window(scores: Scores, predicted: ImageSource, true: ImageSource, window: Rect, core: Rect) -> None:
    truth = read_labels(true, window, scores.confusion.classes)
    prediction = _narrowed(predicted, window)
    scores.boundary.add(truth, prediction, core)
    scores.confusion.add(truth[core.slices_from(0, 0)], prediction[core.slices_from(0, 0)])


def _narrowed(source: ImageSource, window: Rect) -> Labels:
    """Predicted values as uint8; those that do not fit become "no class"."""
    stored = source.read(window)[..., 0]
    if stored.dtype == np.uint8:
        return stored
    fits = np.isin(stored, np.arange(UNTOUCHED))
    return np.where(fits, stored, UNTOUCHED).astype(np.uint8)
