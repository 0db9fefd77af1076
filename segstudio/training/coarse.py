"""Coarse views for training, kept once made: a training set has few context windows and asks for them often."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy.typing as npt

from segstudio.core.geometry import Rect
from segstudio.imaging.source import ImageSource
from segstudio.imaging.windows import read_square, without_gaps
from segstudio.networks.spec import Normalisation

CACHE_BYTES = 64 << 20


class CoarseViews:
    """(side, side, bands) in the stored dtype, padded with the mean of the training set, as in prediction."""

    def __init__(self, normalisation: Normalisation, side: int) -> None:
        self._mean = normalisation.mean
        self._side = side
        self._kept: OrderedDict[tuple[str, Rect], npt.NDArray[Any]] = OrderedDict()

    def view(self, source: ImageSource, square: Rect) -> npt.NDArray[Any]:
        key = (str(source.info.path), square)
        if key not in self._kept:
            pixels = without_gaps(*read_square(source, square, self._side), self._mean)
            self._kept[key] = pixels
            while len(self._kept) * pixels.nbytes > CACHE_BYTES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
