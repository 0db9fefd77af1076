"""From the scores of overlapping patches to finished bands of the image (seed 000, claim 6), in bounded memory.

The sum of weighted scores is kept at the resolution of the network and only for the rows that patches still to come can
touch. Images too wide for the memory are swept in vertical stripes; patches on a seam are computed for both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import TILE_SIDE
from segstudio.patches.blend import axis_core, axis_weights
from segstudio.patches.grid import Grid, Patch

Scores = npt.NDArray[np.float32]

_WIDEST = 64 * TILE_SIDE
"""Pixels: a wider image is swept in stripes even where its scores would fit, since pixels, features and masks follow too."""

_SPARE_ROWS = 2
"""Cell rows kept beside those of a patch: the last finished one, and the one above it that its upsampling reads."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """A part of the image from top to bottom, of whole tile columns, and the patch columns that it needs."""

    rect: Rect
    columns: range


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBand:
    """Finished rows of a stripe.

    Attributes:
        rect: the finished pixels.
        scores: float32 (classes, cell rows, cell columns), contiguous: the cells of `rect`, and one more on each side
            where the image goes on: a bilinear upsampling (half-pixel centres) cut to `rect` equals that of the whole.
        origin: (x, y) of the top left pixel of the first cell.
    """

    rect: Rect
    scores: Scores
    origin: tuple[int, int]


class Stitcher:
    """Blends ("hann") or pastes ("crop") the scores of a grid's patches. One sweep, one thread.

    Besides the bands handed out it holds classes x (patch / stride + 2) x stripe cells float32, at most `cap_bytes`
    unless a single tile column is larger, and one patch.
    """

    def __init__(
        self,
        grid: Grid,
        classes: int,
        stride: int,
        *,
        blend: Literal["hann", "crop"] = "hann",
        cap_bytes: int = 256 << 20,
    ) -> None:
        options = grid.options
        if options.patch % stride or options.overlap % stride:
            raise ValueError(f"patch {options.patch} or overlap {options.overlap} is not a multiple of stride {stride}")
        self._grid, self._classes, self._stride = grid, classes, stride
        self._side, self._overlap = options.patch // stride, options.overlap // stride
        self._paste = blend == "crop" or options.overlap == 0
        self._cells = Size(-(-grid.size.width // stride), -(-grid.size.height // stride))
        self._rows = min(self._side + _SPARE_ROWS, self._cells.height)
        self.stripes = self._plan_stripes(cap_bytes)
        self._sweep = self.order()
        self._weights: dict[tuple[bool, ...], Scores] = {}
        self._weighted = np.empty((classes, self._side, self._side), np.float32)
        self._open(self.stripes[0])

    def __len__(self) -> int:
        """Patches of the sweep; those needed by two stripes count twice."""
        return self._grid.rows * sum(len(stripe.columns) for stripe in self.stripes)

    def order(self) -> Iterator[tuple[Stripe, Patch]]:
        """The sweep: stripe by stripe, rows from the top, columns from the left."""
        for stripe in self.stripes:
            for row in range(self._grid.rows):
                for column in stripe.columns:
                    yield stripe, self._grid.patch(row, column)

    def add(self, stripe: Stripe, patch: Patch, scores: Scores) -> ScoreBand | None:
        """Take the scores (classes, patch / stride, patch / stride) of the next patch; hand out rows now final.

        The scores are neither kept nor changed; the band is the caller's. Raises ValueError for a patch out of order or
        scores of another shape.
        """
        if next(self._sweep, None) != (stripe, patch):
            raise ValueError(f"patch ({patch.row}, {patch.column}) of the stripe at {stripe.rect.x} is out of order")
        if scores.shape != self._weighted.shape:
            raise ValueError(f"scores of shape {scores.shape}, expected {self._weighted.shape}")
        if patch.row == 0 and patch.column == stripe.columns[0]:
            self._open(stripe)
        self._place(patch, scores)
        return self._finish(stripe, patch.row) if patch.column == stripe.columns[-1] else None

    def _plan_stripes(self, cap_bytes: int) -> tuple[Stripe, ...]:
        width, height = self._grid.size.width, self._grid.size.height
        cells = cap_bytes // (self._classes * self._rows * 4)
        tiles = max(
            1, min((cells - 3) * self._stride, _WIDEST) // TILE_SIDE
        )  # a neighbour on each side, a cell cut by the seam
        rects = [Rect(x, 0, min(tiles * TILE_SIDE, width - x), height) for x in range(0, width, tiles * TILE_SIDE)]
        return tuple(Stripe(rect, self._grid.columns_meeting(self._pixels_read(rect))) for rect in rects)

    def _pixels_read(self, rect: Rect) -> Rect:
        columns = self._columns_read(rect)
        return Rect(columns.start * self._stride, 0, len(columns) * self._stride, rect.height)

    def _columns_read(self, rect: Rect) -> range:
        """Cell columns that the upsampling of a stripe reads: its own and a neighbour on each side within the image."""
        low, high = rect.x // self._stride - 1, -(-rect.right // self._stride) + 1
        return range(max(0, low), min(self._cells.width, high))

    def _open(self, stripe: Stripe) -> None:
        columns = self._columns_read(stripe.rect)
        self._held = Rect(columns.start, 0, len(columns), self._rows)
        self._sums = np.zeros((self._classes, self._rows, len(columns)), np.float32)
        self._done = 0

    def _place(self, patch: Patch, scores: Scores) -> None:
        """Add the scores to the sums at the cells that the patch's four vertices give."""
        corners = tuple((x // self._stride, y // self._stride) for x, y in patch.window.corners)
        window = Rect.from_corners(corners)
        wanted = self._core(patch, window) if self._paste else window
        shared = wanted.intersect(self._held)
        to, of = (..., *shared.slices_from(self._held.x, self._held.y)), (..., *shared.slices_from(window.x, window.y))
        if self._paste:
            self._sums[to] = scores[of]
        else:
            weighted = np.multiply(scores[of], self._weight(patch)[of], out=self._weighted[of])
            self._sums[to] += weighted

    def _core(self, patch: Patch, window: Rect) -> Rect:
        left, right = axis_core(patch.column, self._grid.columns, self._side, self._overlap)
        top, bottom = axis_core(patch.row, self._grid.rows, self._side, self._overlap)
        return Rect(window.x + left, window.y + top, right - left, bottom - top)

    def _weight(self, patch: Patch) -> Scores:
        rows, columns = self._grid.rows, self._grid.columns
        kind = (patch.row == 0, patch.row == rows - 1, patch.column == 0, patch.column == columns - 1)
        if kind not in self._weights:
            down = axis_weights(patch.row, rows, self._side, self._overlap)
            across = axis_weights(patch.column, columns, self._side, self._overlap)
            self._weights[kind] = np.outer(down, across)
        return self._weights[kind]

    def _finish(self, stripe: Stripe, row: int) -> ScoreBand | None:
        """Hand out the rows that the next patch row cannot touch, but for one: its upsampling reads the row below."""
        last = row == self._grid.rows - 1
        bottom = self._cells.height if last else (row + 1) * (self._side - self._overlap) - 1
        if bottom <= self._done:
            return None
        top, self._done = self._done, bottom
        first, stop = max(0, top - 1), min(self._cells.height, bottom + 1)
        scores = self._sums[:, first - self._held.y : stop - self._held.y].copy()
        end = min(bottom * self._stride, self._grid.size.height)
        rect = Rect(stripe.rect.x, top * self._stride, stripe.rect.width, end - top * self._stride)
        self._drop_above(bottom - 1)
        return ScoreBand(rect, scores, (self._held.x * self._stride, first * self._stride))

    def _drop_above(self, row: int) -> None:
        gone = max(0, row) - self._held.y
        if gone == 0:
            return
        kept = max(0, self._rows - gone)
        for plane in self._sums:  # class by class: an overlapping move makes a copy of what it moves
            plane[:kept] = plane[gone:]
            plane[kept:] = 0
        self._held = self._held.moved(0, gone)
