"""Reading what reaches beyond the image: mirrored for patches, padded for coarse views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segstudio.core.geometry import Rect, Size, mirrored
from segstudio.imaging.pyramid import read_scaled
from segstudio.imaging.source import ImageSource

Picture = tuple[NDArray[Any], NDArray[np.bool_] | None]
"""Pixels (height, width, bands) in the stored dtype, and where they mean something (None: everywhere)."""


def read_mirrored(source: ImageSource, window: Rect) -> Picture:
    """Level-0 pixels of a window anywhere; beyond the image they are reflected without repeating the edge."""
    whole = Rect.of_size(source.info.size)
    if whole.contains(window):
        return source.read(window), source.validity(window)
    columns = mirrored(window.x, window.right, whole.width)
    rows = mirrored(window.y, window.bottom, whole.height)
    left, top = int(columns.min()), int(rows.min())
    needed = Rect(left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1)
    index = np.ix_(rows - top, columns - left)
    valid = source.validity(needed)
    return source.read(needed)[index], None if valid is None else valid[index]


def without_gaps(pixels: NDArray[Any], valid: NDArray[np.bool_] | None, mean: Sequence[float]) -> NDArray[Any]:
    """Pixels (height, width, bands) in their dtype; where they are not valid, the mean of each band (rounded)."""
    if valid is None:
        return pixels
    fill = np.rint(mean) if pixels.dtype.kind in "iu" else np.array(mean)
    filled = pixels.copy()
    filled[~valid] = fill.astype(pixels.dtype)
    return filled


def read_square(source: ImageSource, square: Rect, side: int) -> Picture:
    """A square of the image plane, shrunk by area averages to side x side pixels; what lies beyond the image is not valid.

    One scale for both axes; the visible part's edges are rounded to pixels of the result, at least one pixel each way.
    Invalid pixels inside the image get the mean of the valid ones and count as valid.
    """
    visible = square.intersect(Rect.of_size(source.info.size))
    place = _place(visible.moved(-square.x, -square.y), side / square.width)
    shown = read_scaled(source, visible, place.size)
    if place.size == Size(side, side):
        return shown, None
    picture = np.zeros((side, side, shown.shape[2]), shown.dtype)
    valid = np.zeros((side, side), np.bool_)
    picture[place.slices_from(0, 0)] = shown
    valid[place.slices_from(0, 0)] = True
    return picture, valid


def _place(shown: Rect, scale: float) -> Rect:
    left, top = round(shown.x * scale), round(shown.y * scale)
    right, bottom = max(left + 1, round(shown.right * scale)), max(top + 1, round(shown.bottom * scale))
    return Rect(left, top, right - left, bottom - top)
