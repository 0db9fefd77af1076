"""The door to image files: `open_source` gives region reads of any file the program knows."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from segstudio.core.geometry import Rect
from segstudio.imaging.backends.gdal import GdalBackend
from segstudio.imaging.backends.tiff import with_tiff_blocks
from segstudio.imaging.info import Level, PixelSize, SourceInfo
from segstudio.imaging.normalise import NormalisedSource
from segstudio.imaging.probe import Format, probe

__all__ = ["ImageSource", "Level", "PixelSize", "SourceInfo", "open_source"]


class ImageSource(Protocol):
    """An open image. Every method may be called from any thread, at the same time."""

    @property
    def info(self) -> SourceInfo: ...

    def read(self, rect: Rect, *, level: int = 0) -> NDArray[Any]:
        """Pixels (height, width, bands) of `rect`, which is in pixels of `level` and must lie inside it.

        Raises `ImageError`: OUTSIDE for a rectangle that leaves the level, TRUNCATED or BROKEN for damaged data.
        """
        ...

    def validity(self, rect: Rect, *, level: int = 0) -> NDArray[np.bool_] | None:
        """Where pixels of `rect` mean something, (height, width); None where all of them do.

        Nodata (a pixel whose bands all have that value), NaN and infinity in any band, the file's mask, alpha 0.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_source(path: Path, *, indexed: bool = False) -> ImageSource:
    """Open an image file for region reads; nothing is decoded yet.

    `indexed` is for label masks: the stored whole numbers of one band, no palette applied. Otherwise palettes become
    RGB, 1-bit images 0/255, CMYK and Lab RGB, and alpha moves to `validity`.

    Raises `ImageError` with the reason a person can act on.
    """
    kind = probe(path)
    gdal = GdalBackend(path, kind)
    backend = with_tiff_blocks(path, gdal) if kind is Format.TIFF else gdal
    try:
        return NormalisedSource(path, backend, indexed=indexed)
    except BaseException:
        backend.close()
        raise
