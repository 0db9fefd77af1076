"""Rectangles and sizes in level-0 pixels: the one place that owns the rule.

(x, y) = (column, row), origin at the top left corner of the top left pixel, half-open integer rectangles, pixel centres at
+0.5. Arrays are indexed [y, x]; names and values are always (x, y).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    def __post_init__(self) -> None:
        if self.width < 0 or self.height < 0:
            raise ValueError(f"negative size {self}")

    def __str__(self) -> str:
        return f"{self.width} x {self.height}"

    @property
    def area(self) -> int:
        return self.width * self.height

    @property
    def longer(self) -> int:
        return max(self.width, self.height)


@dataclass(frozen=True, slots=True)
class Rect:
    """Half-open rectangle [x, x + width) x [y, y + height); it may lie partly outside an image."""

    x: int
    y: int
    width: int
    height: int

    def __post_init__(self) -> None:
        if self.width < 0 or self.height < 0:
            raise ValueError(f"negative rectangle {self}")

    def __str__(self) -> str:
        """As on the command line: X,Y,WIDTH,HEIGHT."""
        return f"{self.x},{self.y},{self.width},{self.height}"

    @classmethod
    def of_size(cls, size: Size) -> Rect:
        return cls(0, 0, size.width, size.height)

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def size(self) -> Size:
        return Size(self.width, self.height)

    @property
    def empty(self) -> bool:
        return self.width == 0 or self.height == 0

    @property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """The four vertices (x, y), clockwise from the top left (seed 000, claim 6)."""
        return ((self.x, self.y), (self.right, self.y), (self.right, self.bottom), (self.x, self.bottom))

    @classmethod
    def from_corners(cls, corners: tuple[tuple[int, int], ...]) -> Rect:
        """The rectangle spanned by four vertices in any order."""
        xs = [x for x, _ in corners]
        ys = [y for _, y in corners]
        return cls(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))

    def intersect(self, other: Rect) -> Rect:
        """The common part; empty (zero width and height) where there is none."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        if right <= x or bottom <= y:
            return Rect(x, y, 0, 0)
        return Rect(x, y, right - x, bottom - y)

    def contains(self, other: Rect) -> bool:
        return self.x <= other.x and self.y <= other.y and other.right <= self.right and other.bottom <= self.bottom

    def moved(self, dx: int, dy: int) -> Rect:
        return Rect(self.x + dx, self.y + dy, self.width, self.height)

    def slices_from(self, x: int, y: int) -> tuple[slice, slice]:
        """Index [y, x] of this rectangle in an array whose element [0, 0] is the pixel (x, y)."""
        return slice(self.y - y, self.bottom - y), slice(self.x - x, self.right - x)


def level_size(size: Size, level: int) -> Size:
    """Size of pyramid level `level`: ceil(side / 2^level), the rule for every pyramid of the program."""
    scale = 1 << level
    return Size(-(-size.width // scale), -(-size.height // scale))


def split_axis(length: int, step: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of consecutive pieces of at most `step` that cover [0, length) exactly once."""
    for start in range(0, length, step):
        yield start, min(start + step, length)


def mirrored(start: int, stop: int, length: int) -> npt.NDArray[np.int64]:
    """Where the pixels [start, stop) of an axis come from: int64 indices in [0, length).

    Beyond the ends the axis is reflected without repeating the edge pixel, as often as needed; an axis of one pixel
    repeats it.
    """
    if length == 1:
        return np.zeros(stop - start, np.int64)
    period = 2 * (length - 1)
    places = np.arange(start, stop, dtype=np.int64) % period
    return np.minimum(places, period - places)
