"""One meaning for all files: upright, palette and 1-bit expanded, alpha and masks as validity."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect, Size
from segstudio.imaging.backends.raw import Backend, Header, Lut
from segstudio.imaging.info import Level, Palette, SourceInfo
from segstudio.imaging.orientation import Orientation


class NormalisedSource:
    """An `ImageSource` over any backend."""

    def __init__(self, path: Path, backend: Backend, *, indexed: bool) -> None:
        header = backend.header
        if np.dtype(header.dtype).kind not in "uif":
            raise ImageError(ImageProblem.UNSUPPORTED, path, detail=f"values of type {header.dtype}")
        self._path, self._backend, self._header = path, backend, header
        self._orientation = Orientation.of_tag(header.orientation)
        self._colour = tuple(sample for sample in range(header.samples) if sample != header.alpha)
        if indexed and len(self._colour) != 1:
            raise ImageError(ImageProblem.UNSUPPORTED, path, detail=f"{len(self._colour)} bands in a label mask")
        self._lut = None if indexed else _expansion(header)
        self._gain = 255 if header.bits == 1 and header.lut is None and not indexed else 1
        self._info = self._describe()
        self._closed = False

    @property
    def info(self) -> SourceInfo:
        return self._info

    def read(self, rect: Rect, *, level: int = 0) -> NDArray[Any]:
        """See `ImageSource.read`."""
        pixels = self._orientation.upright(self._backend.read(self._stored(rect, level), level))
        if self._header.alpha is not None:
            pixels = np.ascontiguousarray(pixels[..., self._colour])
        if self._lut is not None:
            return np.take(self._lut, pixels[..., 0], axis=0, mode="clip")
        return pixels * np.uint8(self._gain) if self._gain != 1 else pixels

    def validity(self, rect: Rect, *, level: int = 0) -> NDArray[np.bool_] | None:
        """See `ImageSource.validity`."""
        stored = self._stored(rect, level)
        header = self._header
        valid = np.ones((stored.height, stored.width), np.bool_)
        transparent = _transparent(header.lut)
        floating = np.dtype(header.dtype).kind == "f"
        if header.nodata is not None or header.alpha is not None or floating or transparent.any():
            pixels = self._backend.read(stored, level)
            colours = pixels[..., self._colour]
            if header.alpha is not None:
                valid &= pixels[..., header.alpha] != 0
            if floating:
                valid &= np.isfinite(colours).all(axis=2)
            if header.nodata is not None:
                valid &= (colours != _as_stored(header.nodata, colours.dtype)).any(axis=2)
            if transparent.any():
                valid &= ~transparent[np.minimum(pixels[..., 0], len(transparent) - 1)]
        if header.has_mask:
            valid &= self._backend.mask(stored, level)
        return None if valid.all() else self._orientation.upright(valid)

    def close(self) -> None:
        self._closed = True
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stored(self, rect: Rect, level: int) -> Rect:
        if self._closed:
            raise ValueError(f"{self._path} was closed")
        if not 0 <= level < len(self._info.levels):
            raise ValueError(f"{self._path} has no level {level}")
        size = self._info.levels[level].size
        if rect.empty or not Rect.of_size(size).contains(rect):
            raise ImageError(ImageProblem.OUTSIDE, self._path, rect=rect, size=size)
        return self._orientation.stored_rect(rect, self._header.levels[level].size)

    def _describe(self) -> SourceInfo:
        header, turn = self._header, self._orientation
        stored = Size(header.width, header.height)
        size = turn.upright_size(stored)
        levels = tuple(
            Level(upright.width, upright.height, level.downsample)
            for level in header.levels
            for upright in [turn.upright_size(level.size)]
        )
        transform = None if header.transform is None else turn.upright_transform(header.transform, stored)
        bands = len(self._colour) if self._lut is None else self._lut.shape[1]
        return SourceInfo(
            path=self._path,
            width=size.width,
            height=size.height,
            bands=bands,
            dtype=header.dtype if self._lut is None else "uint8",
            levels=levels,
            crs=header.crs,
            transform=transform,
            nodata=header.nodata,
            orientation=header.orientation,
            pixel_size=header.pixel_size,
            reader=header.reader,
            palette=_palette(header.lut),
        )


def _expansion(header: Header) -> NDArray[np.uint8] | None:
    """Colours by stored value: (n, 3), or (n, 1) where a two-colour table of a 1-bit image holds only greys."""
    if header.lut is None:
        return None
    table = np.array(header.lut, np.uint8)[:, :3]
    if header.bits == 1 and (table == table[:, :1]).all():
        return table[:, :1]
    return table


def _palette(lut: Lut | None) -> Palette | None:
    return None if lut is None else tuple((red, green, blue) for red, green, blue, _ in lut)


def _transparent(lut: Lut | None) -> NDArray[np.bool_]:
    return np.array([alpha == 0 for *_, alpha in lut or ()], np.bool_)


def _as_stored(nodata: float, dtype: np.dtype[Any]) -> float:
    """Nodata in the file's own precision, since float32 pixels never equal a float64 tag such as -3.4e38."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(dtype.type(nodata))
    return nodata
