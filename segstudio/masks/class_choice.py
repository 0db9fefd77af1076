"""From class scores at the network's resolution to one class index a pixel."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from segstudio.core.geometry import Rect, split_axis

_PIECE = 256
"""Cell columns upsampled at once, so that the float32 pixels of a wide image are never all in memory."""


def choose_classes(
    scores: npt.NDArray[np.float32], stride: int, origin: tuple[int, int], rect: Rect
) -> npt.NDArray[np.uint8]:
    """Upsample bilinearly (half-pixel centres) and take the best class at each pixel of `rect`.

    Args:
        scores: (classes, rows, columns) float32, contiguous; cell (0, 0) covers the pixels from `origin` on.
        stride: pixels a cell.
        origin: (x, y) of the top left pixel of the first cell.
        rect: pixels wanted, inside the cells.

    Returns:
        uint8 (height, width) class indices; ties go to the lower index. One class after another with a running maximum: a
        full-size stack of all classes would cost more than the network.
    """
    left = origin[0] + (rect.x - origin[0]) // stride * stride
    pieces = [
        Rect(start, rect.y, stop - start, rect.height).intersect(rect)
        for start, stop in ((left + low, left + high) for low, high in split_axis(rect.right - left, _PIECE * stride))
    ]
    chosen = np.empty((rect.height, rect.width), np.uint8)
    for piece in pieces:
        first = (piece.x - origin[0]) // stride - 1
        last = -(-(piece.right - origin[0]) // stride) + 1
        cells = np.ascontiguousarray(scores[..., max(0, first) : last])
        place = (origin[0] + max(0, first) * stride, origin[1])
        chosen[piece.slices_from(rect.x, rect.y)] = _choose(cells, stride, place, piece)
    return chosen


def _choose(scores: npt.NDArray[np.float32], stride: int, origin: tuple[int, int], rect: Rect) -> npt.NDArray[np.uint8]:
    x, y = origin
    rows, columns = rect.slices_from(x, y)
    classes, height, width = scores.shape
    full = (width * stride, height * stride)
    best = cv2.resize(scores[0], full, interpolation=cv2.INTER_LINEAR)[rows, columns].copy()
    chosen = np.zeros(best.shape, np.uint8)
    for index in range(1, classes):
        value = cv2.resize(scores[index], full, interpolation=cv2.INTER_LINEAR)[rows, columns]
        better = value > best
        chosen[better] = index
        np.maximum(best, value, out=best)
    return chosen
