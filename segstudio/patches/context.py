"""Context windows: the surroundings of a patch that make its coarse view, and its place in them (seed 000)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect, Size

SMALLEST_RATIO = 2.0
"""Below it the nearest of windows half a side apart may cut its patch."""
LARGEST_RATIO = 16.0
"""Beyond it a patch covers so few cells of the coarse map that they say nothing about it."""
USUAL_RATIO = 8.0


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Side of a context window in patch sides, 2 to 16; `math.inf` is always the whole image (the literal claim).

    None chooses: the whole image while its longer side is at most 16 patches, else windows of 8. Raises `ModelError`
    (CONTEXT) with the limits `low` and `high`.
    """

    ratio: float | None = None

    def __post_init__(self) -> None:
        if self.ratio is None or self.ratio == math.inf:
            return
        if not SMALLEST_RATIO <= self.ratio <= LARGEST_RATIO:
            raise ModelError(ModelProblem.CONTEXT, str(self.ratio), low=SMALLEST_RATIO, high=LARGEST_RATIO)


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A square of the image plane that is shrunk to one coarse view; equal windows share it.

    Attributes:
        rect: the square; what lies beyond the image is padding.
        visible: its part inside the image.
    """

    rect: Rect
    visible: Rect

    def ratio(self, patch: int) -> float:
        """Pixels of the image for one pixel of the coarse view of side `patch`."""
        return self.rect.width / patch


@dataclass(frozen=True, slots=True)
class ContextLattice:
    """The windows of one image, half a side apart; the last of each axis is moved back to end with the image.

    Attributes:
        size: of the image.
        side: of a window in pixels; 0 where the image fits one patch and needs no context.
    """

    size: Size
    side: int

    def window_for(self, patch_window: Rect) -> ContextWindow | None:
        """The window whose centre is nearest to the patch's centre, the upper left one on a tie.

        It holds every pixel that the patch has in the image. None where the image fits one patch.
        """
        if self.side == 0:
            return None
        column = self._nearest(patch_window.x, patch_window.right, self.size.width)
        row = self._nearest(patch_window.y, patch_window.bottom, self.size.height)
        return self._window(column, row)

    @property
    def columns(self) -> int:
        """Windows of one row: as many as a sweep from the top needs at a time; at least 1."""
        return self._count(self.size.width) if self.side else 1

    def windows(self) -> Iterator[ContextWindow]:
        """All windows in row-major order; none where the image fits one patch."""
        if self.side:
            for row in range(self._count(self.size.height)):
                for column in range(self._count(self.size.width)):
                    yield self._window(column, row)

    def _window(self, column: int, row: int) -> ContextWindow:
        x, y = self._start(column, self.size.width), self._start(row, self.size.height)
        rect = Rect(x, y, self.side, self.side)
        return ContextWindow(rect, rect.intersect(Rect.of_size(self.size)))

    def _count(self, length: int) -> int:
        return 1 + max(0, -(-(length - self.side) // (self.side // 2)))

    def _start(self, index: int, length: int) -> int:
        return min(index * (self.side // 2), max(0, length - self.side))

    def _nearest(self, low: int, high: int, length: int) -> int:
        last = self._count(length) - 1
        before = (low + high - self.side) // (2 * (self.side // 2))
        # starts rise, so moving the last one back leaves the nearest among the two around the centre
        candidates = {min(max(index, 0), last) for index in (before, before + 1)}
        return min(candidates, key=lambda index: (abs(2 * self._start(index, length) + self.side - low - high), index))


def context_windows(size: Size, patch: int, options: ContextOptions) -> ContextLattice:
    """The context windows of an image cut into patches of side `patch`; the whole image where no window is smaller."""
    if size.longer <= patch:
        return ContextLattice(size, 0)
    ratio = options.ratio
    if ratio is None:
        ratio = math.inf if size.longer <= LARGEST_RATIO * patch else USUAL_RATIO
    side = size.longer if ratio == math.inf else min(size.longer, round(ratio * patch))
    return ContextLattice(size, side)


def roi_box(
    window_rect: Rect, context: Rect, *, patch: int, stride: int = 4, offset: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float, float, float]:
    """The box (x0, y0, x1, y1) of a patch in cells of the coarse feature map of its context (seed 000, claim 4).

    Args:
        window_rect: the patch in the image.
        context: the square of its context window.
        patch: side of the coarse view in pixels.
        stride: pixels of the coarse view for one cell.
        offset: shift (x, y) in pixels of the encoder's cells towards the top left: cell j looks at pixel
            stride * j + stride / 2 - offset.

    The offset acts on the patch at full scale but on the context shrunk; uncorrected, the coarse cells would look
    offset * (ratio - 1) pixels of the image beside their fine ones.
    """
    ratio = context.width / patch
    dx, dy = offset
    place = window_rect.moved(-context.x, -context.y)
    return (
        _cells(place.x, dx, ratio, stride),
        _cells(place.y, dy, ratio, stride),
        _cells(place.right, dx, ratio, stride),
        _cells(place.bottom, dy, ratio, stride),
    )


def _cells(edge: int, offset: float, ratio: float, stride: int) -> float:
    return ((edge - offset) / ratio + offset) / stride
