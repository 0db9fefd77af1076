"""A picture of an image with the classes of its mask laid over it: tinted areas, full colour along their borders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segstudio.core.classes import ClassTable
from segstudio.core.geometry import Rect, Size, split_axis
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.pyramid import read_scaled
from segstudio.imaging.rgb_png import write_rgb_png
from segstudio.imaging.source import ImageSource, open_source

LONGEST_SIDE = 4096
_TINT = 0.4
_ROWS = 256


def write_overlay(image: Path, mask: Path, classes: ClassTable, target: Path) -> Size:
    """Write a PNG of half the image's size, or smaller so that no side exceeds 4096, and return that size.

    The image has uint8 bands of which the first three (or the only one) are shown; the mask has its size. Raises
    `ImageError`, `OutputError`.
    """
    with open_source(image) as source, open_source(mask, indexed=True) as labels:
        full = source.info.size
        scale = max(2.0, full.longer / LONGEST_SIDE)
        size = Size(max(1, round(full.width / scale)), max(1, round(full.height / scale)))
        colours, known = _colours(classes)
        chosen = _sampled(labels, size)
        tint = _TINT + (1 - _TINT) * _borders(chosen)
        tint[~known[chosen]] = 0
        picture = np.empty((size.height, size.width, 3), np.uint8)
        for top, bottom in split_axis(size.height, _ROWS):
            pixels = _scaled_rows(source, size, top, bottom)
            weight = tint[top:bottom, :, None]
            picture[top:bottom] = np.rint(pixels * (1 - weight) + colours[chosen[top:bottom]] * weight)
    write_rgb_png(target, picture)
    return size


def _colours(classes: ClassTable) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Colour by stored value, and which values are classes."""
    colours, known = np.zeros((256, 3), np.float32), np.zeros(256, np.bool_)
    for item in classes.classes:
        colours[item.slot], known[item.slot] = item.colour, True
    return colours, known


def _sampled(labels: ImageSource, size: Size) -> NDArray[np.uint8]:
    """The label at the centre of each pixel of the picture, read stripe by stripe."""
    full = labels.info.size
    rows = ((np.arange(size.height) + 0.5) * full.height / size.height).astype(np.intp)
    columns = ((np.arange(size.width) + 0.5) * full.width / size.width).astype(np.intp)
    chosen = np.empty((size.height, size.width), np.uint8)
    for top, bottom in split_axis(size.height, max(1, TILE_SIDE * size.height // full.height)):
        first, last = int(rows[top]), int(rows[bottom - 1])
        stripe = labels.read(Rect(0, first, full.width, last - first + 1))[..., 0]
        chosen[top:bottom] = stripe[np.ix_(rows[top:bottom] - first, columns)]
    return chosen


def _borders(labels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """1 where the neighbour to the right or below has another label, else 0."""
    borders = np.zeros(labels.shape, np.float32)
    borders[:, :-1] = labels[:, :-1] != labels[:, 1:]
    borders[:-1] = np.maximum(borders[:-1], labels[:-1] != labels[1:])
    return borders


def _scaled_rows(source: ImageSource, size: Size, top: int, bottom: int) -> NDArray[np.uint8]:
    """Rows [top, bottom) of the picture; the rows of the image under them are rounded to whole pixels."""
    full = source.info.size
    first, last = round(top * full.height / size.height), round(bottom * full.height / size.height)
    rect = Rect(0, first, full.width, last - first)
    pixels: NDArray[np.uint8] = read_scaled(source, rect, Size(size.width, bottom - top))[..., :3]
    return pixels
