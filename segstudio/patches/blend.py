"""How overlapping patches share an axis, at the resolution of the scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def axis_weights(index: int, count: int, cells: int, overlap_cells: int) -> npt.NDArray[np.float32]:
    """Weights float32 (cells,) of patch `index` of `count` along an axis: raised-cosine (sin^2) ramps over overlaps.

    Ramps lead only towards neighbours that exist, so that the border of the image keeps weight 1. The ramps of two
    neighbours sum to 1: blended scores need no division and no count map.
    """
    weights = np.ones(cells, np.float32)
    if overlap_cells == 0:
        return weights
    rising = (np.sin(np.pi / 2 * (np.arange(overlap_cells) + 0.5) / overlap_cells) ** 2).astype(np.float32)
    if index > 0:
        weights[:overlap_cells] = rising
    if index < count - 1:
        weights[-overlap_cells:] = 1 - rising
    return weights


def axis_core(index: int, count: int, cells: int, overlap_cells: int) -> tuple[int, int]:
    """The cells [low, high) of patch `index` of `count` that are nearer to it than to its neighbours.

    The middle cell of an odd overlap goes to the later patch, so that cores tile the axis.
    """
    before = overlap_cells // 2
    low = 0 if index == 0 else before
    high = cells if index == count - 1 else cells - overlap_cells + before
    return low, high
