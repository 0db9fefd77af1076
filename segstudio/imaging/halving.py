"""One step down a pyramid: means of 2 x 2 pixels, of valid ones where there are any."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from segstudio.imaging.pyramid_store import Picture

_BY_OPENCV = {"uint8", "uint16", "int16", "float32", "float64"}


def halved(picture: Picture) -> Picture:
    """Half the size, rounded up; what stands alone at an odd edge counts as doubled.

    A result is valid where one of its four pixels is. One that is not keeps the mean of what the four hold.
    """
    pixels, valid = picture
    plain = _means(pixels)
    if valid is None:
        return Picture(plain, None)
    share = _means(valid[..., None].astype(np.float32))
    known = share > 0
    working = np.float32 if pixels.dtype.itemsize <= 2 else np.float64
    total = _means(np.where(valid[..., None], pixels, 0).astype(working))
    np.divide(total, share, out=total, where=known)
    return Picture(np.where(known, _as_stored(total, pixels.dtype), plain), known[..., 0])


def _means(pixels: NDArray[Any]) -> NDArray[Any]:
    """(ceil(height / 2), ceil(width / 2), bands) in the dtype of `pixels`."""
    height, width, bands = pixels.shape
    if height % 2 or width % 2:
        pixels = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    out = (pixels.shape[1] // 2, pixels.shape[0] // 2)
    if pixels.dtype.name in _BY_OPENCV:
        small: NDArray[Any] = cv2.resize(np.ascontiguousarray(pixels), out, interpolation=cv2.INTER_AREA)
        return small.reshape(out[1], out[0], bands)
    with np.errstate(invalid="ignore"):
        wide = pixels.astype(np.float64).reshape(out[1], 2, out[0], 2, bands).mean(axis=(1, 3))
    return _as_stored(wide, pixels.dtype)


def _as_stored(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind != "f":
        # float64 rounds the largest 64-bit numbers up to one that no longer fits.
        top = np.nextafter(2.0 ** (8 * dtype.itemsize - (dtype.kind == "i")), 0)
        values = np.minimum(np.floor(values + 0.5), top)
    return values.astype(dtype)
