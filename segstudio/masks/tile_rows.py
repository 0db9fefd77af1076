"""Gathering finished rows into whole rows of tiles, so that each tile of a mask is written once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from segstudio.core.geometry import Rect
from segstudio.core.tiles import TILE_SIDE

Classes = npt.NDArray[np.uint8]


class TileRows:
    """Takes rows of one stripe from the top down, gives rectangles whose edges are tile edges or the stripe's end.

    Holds less than one row of tiles. The next stripe may begin as soon as the last row of one has been added.
    """

    def __init__(self, height: int) -> None:
        self._height = height
        self._waiting: list[Classes] = []
        self._top = 0

    def add(self, rect: Rect, classes: Classes) -> Iterator[tuple[Rect, Classes]]:
        """Take the rows `rect` (directly below those before); give what has become whole."""
        self._waiting.append(classes)
        bottom = rect.bottom
        cut = bottom if bottom == self._height else bottom - bottom % TILE_SIDE
        if cut <= self._top:
            return
        rows = np.concatenate(self._waiting)
        ready, rest = rows[: cut - self._top], rows[cut - self._top :]
        self._waiting = [rest.copy()] if len(rest) else []
        whole = Rect(rect.x, self._top, rect.width, cut - self._top)
        self._top = 0 if cut == self._height else cut
        yield whole, ready
