"""The patch grid: overlapping squares that cover an image, with cores that tile it exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect, Size


@dataclass(frozen=True, slots=True)
class GridOptions:
    """Side of a patch and overlap of neighbours in pixels; both are multiples of `quantum`, the overlap at most half.

    Raises `ModelError` (PATCH_SIDE or OVERLAP) with `quantum` and the `nearest` value that would do.
    """

    patch: int
    overlap: int
    quantum: int = 4

    def __post_init__(self) -> None:
        if self.quantum <= 0:
            raise ValueError(f"quantum {self.quantum} is not positive")
        if self.patch <= 0 or self.patch % self.quantum:
            nearest = max(self.quantum, _nearest(self.patch, self.quantum))
            raise ModelError(ModelProblem.PATCH_SIDE, str(self.patch), quantum=self.quantum, nearest=nearest)
        most = self.patch // 2
        if not 0 <= self.overlap <= most or self.overlap % self.quantum:
            nearest = min(max(0, _nearest(self.overlap, self.quantum)), most // self.quantum * self.quantum)
            raise ModelError(ModelProblem.OVERLAP, str(self.overlap), quantum=self.quantum, most=most, nearest=nearest)

    @property
    def step(self) -> int:
        """Pixels from one patch to the next."""
        return self.patch - self.overlap


@dataclass(frozen=True, slots=True)
class Patch:
    """One place of the grid.

    Attributes:
        window: the square that goes through the network; it may reach beyond the right and bottom border.
        core: the part of the image that is nearer to this patch than to its neighbours; cores tile the image.
    """

    row: int
    column: int
    window: Rect
    core: Rect


@dataclass(frozen=True, slots=True)
class Grid:
    """The patches of one image, computed when asked for: a grid of any size takes no memory. Made by `plan`."""

    size: Size
    options: GridOptions
    columns: int
    rows: int

    def __len__(self) -> int:
        return self.columns * self.rows

    def __iter__(self) -> Iterator[Patch]:
        """All patches in row-major order."""
        return (self.patch(row, column) for row in range(self.rows) for column in range(self.columns))

    def patch(self, row: int, column: int) -> Patch:
        """The patch of a place. Raises IndexError outside the grid."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError(f"patch ({row}, {column}) of a grid of {self.rows} x {self.columns}")
        step, side = self.options.step, self.options.patch
        left, right = self._core_edges(column, self.columns, self.size.width)
        top, bottom = self._core_edges(row, self.rows, self.size.height)
        window = Rect(column * step, row * step, side, side)
        return Patch(row, column, window, Rect(left, top, right - left, bottom - top))

    def columns_meeting(self, rect: Rect) -> range:
        """Columns whose windows share pixels with the columns of `rect`."""
        return self._meeting(rect.x, rect.right, self.columns)

    def rows_meeting(self, rect: Rect) -> range:
        """Rows whose windows share pixels with the rows of `rect`."""
        return self._meeting(rect.y, rect.bottom, self.rows)

    def patches_meeting(self, rect: Rect) -> Iterator[Patch]:
        """Patches whose windows share pixels with `rect`, in row-major order."""
        columns = self.columns_meeting(rect)
        return (self.patch(row, column) for row in self.rows_meeting(rect) for column in columns)

    def _core_edges(self, index: int, count: int, length: int) -> tuple[int, int]:
        step, middle = self.options.step, self.options.overlap // 2
        low = 0 if index == 0 else index * step + middle
        high = length if index == count - 1 else (index + 1) * step + middle
        return low, high

    def _meeting(self, low: int, high: int, count: int) -> range:
        if high <= low:
            return range(0)
        step, side = self.options.step, self.options.patch
        return range(max(0, (low - side) // step + 1), max(0, min(count, -(-high // step))))


def plan(size: Size, options: GridOptions) -> Grid:
    """The smallest grid from (0, 0) that covers an image. Raises ValueError for an image without pixels."""
    if size.area == 0:
        raise ValueError(f"no patches in an image of {size.width} x {size.height}")
    return Grid(size, options, _count(size.width, options), _count(size.height, options))


def _count(length: int, options: GridOptions) -> int:
    return max(1, -(-(length - options.overlap) // options.step))


def _nearest(value: int, quantum: int) -> int:
    return (value + quantum // 2) // quantum * quantum
