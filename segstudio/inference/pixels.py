"""What a network gets to see: patches mirrored at the borders, coarse views with padding, in the model's bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect
from segstudio.imaging.source import ImageSource
from segstudio.imaging.windows import read_mirrored, read_square, without_gaps
from segstudio.inference.backend import Pixels
from segstudio.networks.spec import ModelCard


class PixelReader:
    """Reads the input of one model from one image. Thread-safe as its source is.

    Raises `ModelError` on construction when bands or depth of the image are not the model's.
    """

    def __init__(self, source: ImageSource, card: ModelCard, bands: tuple[int, ...] | None = None) -> None:
        info = source.info
        chosen = bands or tuple(range(info.bands))
        if len(chosen) != card.normalisation.bands or max(chosen) >= info.bands:
            raise ModelError(
                ModelProblem.BANDS_MISMATCH,
                card.name,
                image=info.path.name,
                image_bands=info.bands,
                model_bands=", ".join(card.bands),
                chosen=", ".join(str(band + 1) for band in chosen),
            )
        if info.dtype != card.dtype:
            raise ModelError(
                ModelProblem.DEPTH_MISMATCH,
                card.name,
                image=info.path.name,
                image_dtype=info.dtype,
                model_dtype=card.dtype,
            )
        self._source = source
        self._bands = None if chosen == tuple(range(info.bands)) else list(chosen)
        self._mean = card.normalisation.mean
        self._dtype = np.dtype(np.uint8 if card.dtype == "uint8" else np.float32)

    def patch(self, window: Rect) -> Pixels:
        """(height, width, bands) of a window that may reach beyond the image; pixels without data become the mean."""
        pixels, valid = read_mirrored(self._source, window)
        return self._input(pixels, valid)

    def coarse(self, rect: Rect, side: int) -> Pixels:
        """The coarse view (side, side, bands) of a square that may reach beyond the image, padded with the mean."""
        pixels, valid = read_square(self._source, rect, side)
        return self._input(pixels, valid)

    def _input(self, pixels: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None) -> Pixels:
        if self._bands is not None:
            pixels = pixels[..., self._bands]
        return np.ascontiguousarray(without_gaps(pixels.astype(self._dtype), valid, self._mean))
