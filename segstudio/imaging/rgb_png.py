"""Colour pictures for people, small enough to hold in memory."""

from __future__ import annotations

from pathlib import Path

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from segstudio.core.files import written_aside


def write_rgb_png(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write uint8 (height, width, 3), red, green, blue. Raises `OutputError`; then no file is left."""
    with written_aside(path) as part:
        part.write_bytes(imagecodecs.png_encode(pixels))
