"""What an image file says about itself, as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from segstudio.core.geometry import Size

Transform = tuple[float, float, float, float, float, float]
Palette = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Level:
    """One resolution of the file: its size, and how many level-0 pixels one of its pixels is wide."""

    width: int
    height: int
    downsample: float

    @property
    def size(self) -> Size:
        return Size(self.width, self.height)


@dataclass(frozen=True, slots=True)
class PixelSize:
    """Extent of one pixel on the ground, in `unit` ("m", "um", "degree")."""

    x: float
    y: float
    unit: str


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """An image as `ImageSource.read` gives it.

    Attributes:
        width, height: pixels of level 0, after orientation.
        bands: bands that `read` returns; an alpha channel is not among them.
        dtype: numpy name of the values that `read` returns.
        levels: level 0 first, then coarser ones.
        crs: authority string ("EPSG:32618") or WKT.
        transform: (a, b, c, d, e, f): map x = a * column + b * row + c, map y = d * column + e * row + f.
        nodata: the stored value that means "no data"; for a palette image it is an index.
        orientation: what the file says, 1 to 8 as in EXIF; pixels are already upright.
        reader: name and version of the library that decodes the pixels.
        palette: colours (red, green, blue) by stored index, where the file has them.
    """

    path: Path
    width: int
    height: int
    bands: int
    dtype: str
    levels: tuple[Level, ...]
    crs: str | None
    transform: Transform | None
    nodata: float | None
    orientation: int
    pixel_size: PixelSize | None
    reader: str
    palette: Palette | None

    @property
    def size(self) -> Size:
        return Size(self.width, self.height)
