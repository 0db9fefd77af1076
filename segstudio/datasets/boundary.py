"""Boundary F1: how many boundary pixels of one label map lie near a boundary of the other, by class.

Csurka et al., "What is a good evaluation measure for semantic segmentation?", BMVC 2013; here one sum over a whole set.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable
from segstudio.core.geometry import Rect

Labels = npt.NDArray[np.uint8]

TOLERANCE = 3


@dataclass(slots=True)
class BoundaryCounts:
    """Sums over tiles: rows are truth's boundary pixels, those found, prediction's boundary pixels, those right.

    A pixel is on the boundary of its class where one of its four neighbours has another label. Pixels without a label
    in the truth take no part, on either side. "Near" is a Euclidean distance between centres of at most `tolerance`
    pixels.
    """

    classes: ClassTable
    tolerance: int = TOLERANCE
    counts: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros((4, len(self.classes)), np.int64)

    @property
    def halo(self) -> int:
        """Pixels needed around a tile for the same counts as from the whole picture."""
        return self.tolerance + 1

    def add(self, truth: Labels, prediction: Labels, core: Rect) -> None:
        """Count the pixels of `core` (x, y in the arrays) of two label maps (h, w) that reach `halo` beyond it.

        At the border of the picture there is no halo.
        """
        unlabelled = truth >= IGNORE
        masked = np.where(unlabelled, UNTOUCHED, prediction)
        disc = _disc(self.tolerance)
        inside = core.slices_from(0, 0)
        for number, slot in enumerate(self.classes.slots):
            true_edge = _edge(truth == slot, unlabelled)
            found_edge = _edge(masked == slot, unlabelled)
            if not (true_edge.any() or found_edge.any()):
                continue
            self.counts[0, number] += np.count_nonzero(true_edge[inside])
            self.counts[1, number] += np.count_nonzero((true_edge & cv2.dilate(found_edge, disc))[inside])
            self.counts[2, number] += np.count_nonzero(found_edge[inside])
            self.counts[3, number] += np.count_nonzero((found_edge & cv2.dilate(true_edge, disc))[inside])

    @property
    def f1(self) -> npt.NDArray[np.float64]:
        """Harmonic mean of precision and recall by class; NaN where neither map has a boundary of the class."""
        true, found, predicted, right = self.counts.astype(np.float64)
        recall = found / np.maximum(true, 1)
        precision = right / np.maximum(predicted, 1)
        both = precision + recall
        f1 = 2 * precision * recall / np.where(both > 0, both, 1)
        return np.where(true + predicted > 0, f1, np.nan)

    @property
    def mean_f1(self) -> float:
        """Mean over the classes that have a boundary in the truth; NaN without any."""
        present = self.counts[0] > 0
        return float(self.f1[present].mean()) if present.any() else float("nan")


def _edge(inside: npt.NDArray[np.bool_], unlabelled: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """1 where a pixel of a class has a labelled neighbour, above, below, left or right, of another label."""
    other = ~(inside | unlabelled)
    beside = np.zeros_like(inside)
    beside[1:] |= other[:-1]
    beside[:-1] |= other[1:]
    beside[:, 1:] |= other[:, :-1]
    beside[:, :-1] |= other[:, 1:]
    return (inside & beside).view(np.uint8)


def _disc(radius: int) -> npt.NDArray[np.uint8]:
    steps = np.arange(-radius, radius + 1)
    return (steps[:, None] ** 2 + steps**2 <= radius**2).astype(np.uint8)
