"""Random changes of training pictures as values, so that a patch, its labels and its surroundings change alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeVar

import cv2
import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)
Box = tuple[float, float, float, float]

BRIGHTNESS = 0.08
CONTRAST = 0.2
SATURATION = 0.2
BLUR_CHANCE, BLUR_SIGMA = 0.2, 1.0
NOISE_CHANCE, NOISE_SIGMA = 0.2, 0.02


@dataclass(frozen=True, slots=True)
class GeometricChange:
    """A symmetry of the square: bit 2 of `code` exchanges x and y, then bit 0 mirrors x and bit 1 mirrors y."""

    code: int

    def __post_init__(self) -> None:
        if not 0 <= self.code < 8:
            raise ValueError(f"the square has symmetries 0 to 7, not {self.code}")

    @classmethod
    def random(cls, rng: np.random.Generator) -> Self:
        return cls(int(rng.integers(8)))

    @property
    def _steps(self) -> tuple[bool, bool, bool]:
        return bool(self.code & 4), bool(self.code & 1), bool(self.code & 2)

    def apply(self, array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """The changed picture or labels (h, w) or (h, w, bands), contiguous."""
        exchange, mirror_x, mirror_y = self._steps
        if exchange:
            array = array.swapaxes(0, 1)
        if mirror_x:
            array = array[:, ::-1]
        if mirror_y:
            array = array[::-1]
        return np.ascontiguousarray(array)

    def apply_to_box(self, box: Box, side: float) -> Box:
        """Where a box (x0, y0, x1, y1) of a square picture lies after the change; box and side in the same unit."""
        exchange, mirror_x, mirror_y = self._steps
        x0, y0, x1, y1 = box
        if exchange:
            x0, y0, x1, y1 = y0, x0, y1, x1
        if mirror_x:
            x0, x1 = side - x1, side - x0
        if mirror_y:
            y0, y1 = side - y1, side - y0
        return x0, y0, x1, y1


@dataclass(frozen=True, slots=True)
class ColourChange:
    """Brightness, contrast, saturation, blur and noise; the same value changes several pictures alike.

    Attributes:
        brightness: added, in units of `spread`.
        contrast, saturation: factors; 1 changes nothing.
        blur: standard deviation of a Gaussian in pixels, 0 for none.
        noise: standard deviation of Gaussian noise in units of `spread`, 0 for none.
        seed: of the noise.
    """

    brightness: float = 0.0
    contrast: float = 1.0
    saturation: float = 1.0
    blur: float = 0.0
    noise: float = 0.0
    seed: int = 0

    @classmethod
    def random(cls, rng: np.random.Generator) -> Self:
        return cls(
            brightness=rng.uniform(-BRIGHTNESS, BRIGHTNESS),
            contrast=rng.uniform(1 - CONTRAST, 1 + CONTRAST),
            saturation=rng.uniform(1 - SATURATION, 1 + SATURATION),
            blur=rng.uniform(0.0, BLUR_SIGMA) if rng.random() < BLUR_CHANCE else 0.0,
            noise=rng.uniform(0.0, NOISE_SIGMA) if rng.random() < NOISE_CHANCE else 0.0,
            seed=int(rng.integers(2**32)),
        )

    def apply(self, picture: npt.NDArray[Any], *, centre: float = 127.5, spread: float = 255.0) -> npt.NDArray[Any]:
        """The changed picture (h, w, bands) in its dtype, integers rounded and clipped.

        `centre` is the value that contrast leaves alone and `spread` the usual range of values; the defaults are for
        8-bit pictures. Saturation applies to three bands only: elsewhere bands are no colours.
        """
        values = picture.astype(np.float32)
        if picture.shape[2] == 3:
            grey = values.mean(axis=2, keepdims=True)
            values = grey + (values - grey) * np.float32(self.saturation)
        values = values * np.float32(self.contrast)
        values += np.float32(centre * (1 - self.contrast) + self.brightness * spread)
        if self.blur > 0:
            values = cv2.GaussianBlur(values, (0, 0), self.blur).reshape(picture.shape)
        if self.noise > 0:
            noise = np.random.default_rng(self.seed).standard_normal(picture.shape, np.float32)
            values += noise * np.float32(self.noise * spread)
        return _as_stored(values, picture.dtype)


def _as_stored(values: npt.NDArray[np.float32], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(dtype)
