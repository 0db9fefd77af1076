"""The eight EXIF orientations as index transforms between the upright and the stored grid (EXIF 2.32, tag 0x0112)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segstudio.core.geometry import Rect, Size
from segstudio.imaging.info import Transform

_FLAGS = {
    1: (False, False, False),
    2: (False, True, False),
    3: (False, True, True),
    4: (False, False, True),
    5: (True, False, False),
    6: (True, True, False),
    7: (True, True, True),
    8: (True, False, True),
}


@dataclass(frozen=True, slots=True)
class Orientation:
    """Upright = stored, transposed if `transpose`, then mirrored along x and y."""

    transpose: bool
    flip_x: bool
    flip_y: bool

    @classmethod
    def of_tag(cls, tag: int) -> Orientation:
        """Values that the standard does not know count as upright."""
        return cls(*_FLAGS.get(tag, _FLAGS[1]))

    @property
    def is_identity(self) -> bool:
        return not (self.transpose or self.flip_x or self.flip_y)

    def upright_size(self, stored: Size) -> Size:
        return Size(stored.height, stored.width) if self.transpose else stored

    def stored_rect(self, rect: Rect, stored: Size) -> Rect:
        """Where the pixels of an upright rectangle are stored."""
        size = self.upright_size(stored)
        x = size.width - rect.right if self.flip_x else rect.x
        y = size.height - rect.bottom if self.flip_y else rect.y
        if self.transpose:
            return Rect(y, x, rect.height, rect.width)
        return Rect(x, y, rect.width, rect.height)

    def upright(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Turn stored pixels [y, x, ...] upright (a copy unless nothing is to do)."""
        if self.is_identity:
            return stored
        pixels = stored.swapaxes(0, 1) if self.transpose else stored
        return np.ascontiguousarray(pixels[:: -1 if self.flip_y else 1, :: -1 if self.flip_x else 1])

    def upright_transform(self, transform: Transform, stored: Size) -> Transform:
        """The affine transform of the stored grid for upright pixel coordinates."""
        size = self.upright_size(stored)
        width, height = size.width, size.height
        flip = np.array(
            [
                [-1 if self.flip_x else 1, 0, width if self.flip_x else 0],
                [0, -1 if self.flip_y else 1, height if self.flip_y else 0],
                [0, 0, 1],
            ],
            np.float64,
        )
        to_stored = flip[[1, 0, 2]] if self.transpose else flip
        a, b, c, d, e, f = (np.array(transform).reshape(2, 3) @ to_stored).ravel().tolist()
        return (a, b, c, d, e, f)
