"""What a file says about itself, as one JSON value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from segstudio.core.geometry import Rect
from segstudio.imaging.source import ImageSource, SourceInfo, open_source


def inspect(path: Path, pixels: Iterable[tuple[int, int]] = ()) -> dict[str, object]:
    """Facts about an image and, for each (x, y) in level-0 pixels of the upright image, its stored values.

    The value fits JSON, which knows no NaN: values of pixels that are NaN or infinite become None, and a nodata value
    that is NaN becomes the text "NaN". Raises `ImageError`, OUTSIDE for a pixel beyond the border.
    """
    with open_source(path) as source:
        facts = _facts(source.info)
        points = [{"x": x, "y": y, "values": _values(source, x, y)} for x, y in pixels]
    return facts | {"pixels": points} if points else facts


def _facts(info: SourceInfo) -> dict[str, object]:
    size = info.pixel_size
    return {
        "path": str(info.path),
        "width": info.width,
        "height": info.height,
        "bands": info.bands,
        "dtype": info.dtype,
        "levels": [
            {"width": level.width, "height": level.height, "downsample": level.downsample} for level in info.levels
        ],
        "crs": info.crs,
        "transform": list(info.transform) if info.transform else None,
        "nodata": "NaN" if info.nodata is not None and math.isnan(info.nodata) else info.nodata,
        "orientation": info.orientation,
        "pixel_size": {"x": size.x, "y": size.y, "unit": size.unit} if size else None,
        "reader": info.reader,
    }


def _values(source: ImageSource, x: int, y: int) -> list[int | float | None]:
    stored = source.read(Rect(x, y, 1, 1))[0, 0].tolist()
    return [value if math.isfinite(value) else None for value in stored]
