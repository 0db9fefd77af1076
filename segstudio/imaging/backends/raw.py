"""What a file library gives before the program's rules are applied: stored samples on the stored grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from segstudio.core.geometry import Rect
from segstudio.imaging.info import Level, PixelSize, Transform

Lut = tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Header:
    """Facts of the stored grid (before orientation).

    Attributes:
        samples: values per stored pixel, alpha included.
        lut: (red, green, blue, alpha) by stored value, where the file has a palette.
        alpha: index of the alpha sample.
        bits: stored bits of a sample where they are fewer than those of `dtype`.
        has_mask: the file has a mask of its own (`Backend.mask`).
    """

    width: int
    height: int
    samples: int
    dtype: str
    levels: tuple[Level, ...]
    lut: Lut | None
    alpha: int | None
    bits: int | None
    has_mask: bool
    nodata: float | None
    orientation: int
    crs: str | None
    transform: Transform | None
    pixel_size: PixelSize | None
    reader: str


class Backend(Protocol):
    """Region reads on the stored grid, callable from any thread at the same time."""

    @property
    def header(self) -> Header: ...

    def read(self, rect: Rect, level: int) -> NDArray[Any]:
        """(height, width, samples) of a rectangle inside `level`; the array may be read-only."""
        ...

    def mask(self, rect: Rect, level: int) -> NDArray[np.bool_]:
        """(height, width) of the file's own mask; only where the header says that there is one."""
        ...

    def close(self) -> None: ...
