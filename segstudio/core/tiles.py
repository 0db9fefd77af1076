"""The tile grid for display, masks and caches."""

from __future__ import annotations

from collections.abc import Iterator

from segstudio.core.geometry import Rect, Size, split_axis

TILE_SIDE = 512
"""Side of a tile in pixels (measured: `docs/adr/0001-house.md`)."""


def tiles_of(size: Size, side: int = TILE_SIDE) -> Iterator[Rect]:
    """The tiles of an image in row-major order; those at the right and bottom border are cut to the image."""
    for top, bottom in split_axis(size.height, side):
        for left, right in split_axis(size.width, side):
            yield Rect(left, top, right - left, bottom - top)
