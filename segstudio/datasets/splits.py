"""Which regions of which image are for training, validation and test: the file `splits.json`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from segstudio.core.errors import DataError, DataProblem
from segstudio.core.files import write_json
from segstudio.core.geometry import Rect

VERSION = 1

_FIELDS = ("x", "y", "width", "height")


class Part(StrEnum):
    """What a region is for."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


Regions = Mapping[Part, tuple[Rect, ...]]
"""Rectangles in level-0 pixels for each part; no two of them share a pixel."""


def read_splits(path: Path) -> dict[str, Regions]:
    """Regions by image stem. Raises `DataError` (`data.splits`) naming image, part and what is wrong."""
    try:
        root = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(DataProblem.SPLITS, path, detail=str(error)) from error
    try:
        return _images_from_json(root)
    except ValueError as error:
        raise DataError(DataProblem.SPLITS, path, detail=str(error)) from error


def write_splits(path: Path, images: Mapping[str, Regions]) -> None:
    """Write what `read_splits` reads. Raises ValueError where regions overlap, `OutputError` where writing fails."""
    for name, regions in images.items():
        _refuse_overlap(name, regions)
    write_json(path, {"version": VERSION, "images": {name: _to_json(regions) for name, regions in images.items()}})


def _to_json(regions: Regions) -> dict[str, list[dict[str, int]]]:
    return {
        part.value: [{field: getattr(rect, field) for field in _FIELDS} for rect in rects]
        for part, rects in regions.items()
    }


def _images_from_json(root: object) -> dict[str, Regions]:
    if not isinstance(root, dict) or root.get("version") != VERSION:
        raise ValueError(f"not an object of version {VERSION}")
    images = root.get("images")
    if not isinstance(images, dict):
        raise ValueError("images is not an object")
    return {name: _regions_from_json(name, parts) for name, parts in images.items()}


def _regions_from_json(name: str, parts: object) -> Regions:
    if not isinstance(parts, dict):
        raise ValueError(f"{name} is not an object")
    unknown = set(parts) - set(Part)
    if unknown:
        raise ValueError(f"{name} has the unknown part {min(unknown)!r}")
    regions = {Part(part): _rects_from_json(f"{name}.{part}", rows) for part, rows in parts.items()}
    _refuse_overlap(name, regions)
    return regions


def _rects_from_json(place: str, rows: object) -> tuple[Rect, ...]:
    if not isinstance(rows, list):
        raise ValueError(f"{place} is not a list")
    return tuple(_rect_from_json(f"{place}[{index}]", row) for index, row in enumerate(rows))


def _rect_from_json(place: str, row: object) -> Rect:
    if not isinstance(row, dict):
        raise ValueError(f"{place} is not an object")
    values = [value for value in map(row.get, _FIELDS) if type(value) is int]
    if len(values) != len(_FIELDS):
        raise ValueError(f"{place} needs whole numbers for {', '.join(_FIELDS)}")
    rect = Rect(*values)
    if rect.empty:
        raise ValueError(f"{place} is empty")
    return rect


def _refuse_overlap(name: str, regions: Regions) -> None:
    flat = [(part, rect) for part, rects in regions.items() for rect in rects]
    for (part, one), (other_part, other) in itertools.combinations(flat, 2):
        if not one.intersect(other).empty:
            raise ValueError(f"{name}: regions of {part} and {other_part} overlap")
