"""ROIAlign of a coarse map as two small matrix products (seed 000, claim 4). numpy only.

Equal to ROIAlign with `aligned=True` and sampling ratio 1 for boxes inside the map: crop and up-sampling in one resampling.
Source of the operation: He et al., Mask R-CNN, 2017; the separable form is exact because bilinear weights are products.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in cells of the map; cell j spans [j, j + 1)."""


def axis_weights(low: float, high: float, count: int, length: int) -> npt.NDArray[np.float32]:
    """Bilinear weights (count, length) of `count` equal bins of [low, high) on an axis of `length` cells, border clamped."""
    positions = low - 0.5 + (np.arange(count) + 0.5) * ((high - low) / count)
    positions = np.clip(positions, 0, length - 1)
    distance = np.abs(positions[:, None] - np.arange(length)[None, :])
    weights: npt.NDArray[np.float32] = np.maximum(0, 1 - distance).astype(np.float32)
    return weights


def align(features: npt.NDArray[np.float32], box: Box, cells: int) -> npt.NDArray[np.float32]:
    """Resample the part `box` of a map (C, H, W) to (C, cells, cells)."""
    _, height, width = features.shape
    x0, y0, x1, y1 = box
    left, right = _touched(x0, x1, width)
    top, bottom = _touched(y0, y1, height)
    rows = axis_weights(y0, y1, cells, height)[:, top:bottom]
    columns = axis_weights(x0, x1, cells, width)[:, left:right]
    part = features[:, top:bottom, left:right]
    return np.ascontiguousarray(rows @ part @ columns.T)


def _touched(low: float, high: float, length: int) -> tuple[int, int]:
    start = int(np.clip(np.floor(low - 0.5), 0, length - 1))
    stop = int(np.clip(np.ceil(high + 0.5) + 1, start + 1, length))
    return start, stop
