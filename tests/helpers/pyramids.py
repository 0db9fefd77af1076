"""Pictures, their files and the oracle of the pyramid tests."""

from __future__ import annotations

import cv2
import numpy as np
import tifffile

from segstudio.core.geometry import Rect
from segstudio.imaging.pyramid_source import with_pyramid
from segstudio.imaging.source import open_source


def waves(height, width, bands, dtype=np.uint8, top=255):
    """A smooth picture whose places can be told apart, so that JPEG changes little."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    planes = [np.sin(x / (40 + 9 * band)) + np.cos(y / (33 + 7 * band)) + x / width for band in range(bands)]
    stack = np.stack(planes, axis=2)
    return ((stack - stack.min()) / (stack.max() - stack.min()) * top).astype(dtype)


def half(pixels):
    """The oracle: both sides made even by repeating the edge, then OpenCV."""
    height, width, bands = pixels.shape
    even = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    out = (even.shape[1] // 2, even.shape[0] // 2)
    planes = [cv2.resize(np.ascontiguousarray(even[..., b]), out, interpolation=cv2.INTER_AREA) for b in range(bands)]
    return np.stack(planes, axis=2)


def write_png(path, pixels):
    cv2.imwrite(str(path), pixels[..., ::-1] if pixels.shape[2] == 3 else pixels)
    return path


def write_tiff(path, pixels, **options):
    photometric = "rgb" if pixels.shape[2] == 3 else "minisblack"
    tifffile.imwrite(
        path, pixels.squeeze() if pixels.shape[2] == 1 else pixels, photometric=photometric, planarconfig="contig",
        metadata=None, **options,
    )  # fmt: skip
    return path


def opened(path, folder):
    return with_pyramid(open_source(path), folder)


def whole(source, level):
    return Rect.of_size(source.info.levels[level].size)


class Counted:
    """A source that counts what is asked of it."""

    def __init__(self, source):
        self._source, self.reads, self.calls = source, [], 0
        self.info = source.info

    def read(self, rect, *, level=0):
        self.calls += 1
        self.reads.append(rect)
        return self._source.read(rect, level=level)

    def validity(self, rect, *, level=0):
        self.calls += 1
        return self._source.validity(rect, level=level)

    def close(self):
        self._source.close()
