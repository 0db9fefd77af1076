"""What GDAL knows of a file, as a `Header`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import rasterio
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.io import DatasetReader

from segstudio.imaging.backends.raw import Header, Lut
from segstudio.imaging.exif import jpeg_orientation, png_orientation, webp_orientation
from segstudio.imaging.info import Level, PixelSize, Transform
from segstudio.imaging.probe import Format

_ORIENTATION = {Format.JPEG: jpeg_orientation, Format.PNG: png_orientation, Format.WEBP: webp_orientation}


def usable_overviews(
    dataset: DatasetReader, open_overview: Callable[[int], DatasetReader]
) -> list[tuple[int, DatasetReader]]:
    """(index, open handle) of overviews that show the whole picture, finest first.

    Slides list their label and macro pictures as overviews too: their proportions give them away.
    """
    kept: list[tuple[int, DatasetReader]] = []
    for index in range(len(dataset.overviews(1))):
        opened = open_overview(index)
        expected = dataset.height * opened.width / dataset.width
        if opened.width < dataset.width and abs(opened.height - expected) <= 1:
            kept.append((index, opened))
        else:
            opened.close()
    return sorted(kept, key=lambda item: -int(item[1].width))


def level_of(width: int, height: int, part_width: int, part_height: int) -> Level:
    """A level with the factor that it was made with: whole where the sizes follow the rounding-up rule."""
    factor = max(round(width / part_width), 1)
    exact = -(-width // factor) == part_width and -(-height // factor) == part_height
    return Level(part_width, part_height, float(factor) if exact else width / part_width)


def read_header(path: Path, kind: Format, dataset: DatasetReader, overviews: list[DatasetReader]) -> Header:
    """Header of an open dataset; `overviews` are its usable levels, finest first."""
    width, height = dataset.width, dataset.height
    bits = dataset.tags(1, ns="IMAGE_STRUCTURE").get("NBITS")
    flags = dataset.mask_flag_enums[0]
    orientation = _ORIENTATION[kind](path) if kind in _ORIENTATION else 1
    return Header(
        width=width,
        height=height,
        samples=dataset.count,
        dtype=dataset.dtypes[0],
        levels=(
            Level(width, height, 1.0),
            *(level_of(width, height, part.width, part.height) for part in overviews),
        ),
        lut=_lut(dataset),
        alpha=_alpha(dataset),
        bits=None if bits is None else int(bits),
        has_mask=MaskFlags.per_dataset in flags and MaskFlags.alpha not in flags,
        nodata=dataset.nodata,
        orientation=orientation,
        crs=_crs(dataset),
        transform=_transform(dataset),
        pixel_size=_pixel_size(dataset),
        reader=f"rasterio {rasterio.__version__}",
    )


def _lut(dataset: DatasetReader) -> Lut | None:
    if dataset.count != 1 or dataset.colorinterp[0] is not ColorInterp.palette:
        return None
    colours = dataset.colormap(1)
    return tuple(colours.get(index, (0, 0, 0, 255)) for index in range(max(colours) + 1))


def _alpha(dataset: DatasetReader) -> int | None:
    if dataset.count == 1:
        return None
    return next((index for index, use in enumerate(dataset.colorinterp) if use is ColorInterp.alpha), None)


def _crs(dataset: DatasetReader) -> str | None:
    if not dataset.crs:
        return None
    authority = dataset.crs.to_authority()
    return ":".join(authority) if authority else str(dataset.crs.to_wkt())


def _transform(dataset: DatasetReader) -> Transform | None:
    affine = dataset.transform
    if affine.is_identity:
        return None
    return (affine.a, affine.b, affine.c, affine.d, affine.e, affine.f)


def _pixel_size(dataset: DatasetReader) -> PixelSize | None:
    affine = dataset.transform
    if affine.is_identity or not dataset.crs:
        return None
    x, y = (affine.a**2 + affine.d**2) ** 0.5, (affine.b**2 + affine.e**2) ** 0.5
    if dataset.crs.is_geographic:
        return PixelSize(x, y, "degree")
    _, factor = dataset.crs.linear_units_factor
    return PixelSize(x * factor, y * factor, "m")
