"""A training set on disk: `images/` and `masks/` with the same stems, `classes.json`, and maybe `splits.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from segstudio.core.classes import ClassTable
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.geometry import Rect, Size
from segstudio.datasets.splits import Part, Regions, read_splits
from segstudio.imaging.source import open_source

_BESIDE_IMAGES = frozenset(
    {".xml", ".json", ".txt", ".csv", ".md", ".db", ".ini", ".prj", ".tfw", ".jgw", ".pgw", ".wld", ".ovr", ".msk"}
)
"""Suffixes of what programs leave beside images: geographic sidecars, overviews, notes."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled image and what its regions are for.

    Attributes:
        name: stem of both files.
        size, bands, dtype: of the image as stored; the mask has the same size.
        regions: rectangles in level-0 pixels inside the image, disjoint, by part.
    """

    name: str
    image: Path
    mask: Path
    size: Size
    bands: int
    dtype: str
    regions: Regions


@dataclass(frozen=True, slots=True)
class Dataset:
    """Labelled images, sorted by name, and the classes of their masks."""

    samples: tuple[Sample, ...]
    classes: ClassTable


def open_dataset(folder: Path) -> Dataset:
    """Read the tables and the headers of all files; mask values are checked when they are read.

    An image that `splits.json` does not name is for training as a whole. Raises `DataError` for a folder, mask or class
    table that is missing or wrong, masks of another size, regions outside their image; `ImageError` for a file that
    cannot be opened.
    """
    if not folder.is_dir():
        raise DataError(DataProblem.MISSING, folder)
    classes = read_classes(folder / "classes.json")
    images, masks = _by_stem(folder / "images"), _by_stem(folder / "masks")
    splits_file = folder / "splits.json"
    splits = read_splits(splits_file) if splits_file.exists() else {}
    unknown = sorted(set(splits) - set(images))
    if unknown:
        raise DataError(DataProblem.SPLITS, splits_file, detail=f"no image is called {unknown[0]!r}")
    samples = tuple(_sample(name, images[name], masks, splits, splits_file) for name in sorted(images))
    return Dataset(samples, classes)


def read_classes(path: Path) -> ClassTable:
    """Read `{"classes": [{slot, name, colour}]}`. Raises `DataError` (`data.class_table`) saying what is wrong."""
    try:
        root = json.loads(path.read_text(encoding="utf-8"))
        table = ClassTable.from_json(root.get("classes") if isinstance(root, dict) else None)
    except (OSError, ValueError) as error:  # decoding errors of text and of JSON are ValueErrors
        raise DataError(DataProblem.CLASS_TABLE, path, detail=str(error)) from error
    if not len(table):
        raise DataError(DataProblem.CLASS_TABLE, path, detail="it has no class")
    return table


def _by_stem(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise DataError(DataProblem.MISSING, folder)
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.suffix.lower() in _BESIDE_IMAGES or not path.is_file():
            continue
        if path.stem in found:
            raise DataError(DataProblem.AMBIGUOUS, path, other=found[path.stem].name)
        found[path.stem] = path
    if not found:
        raise DataError(DataProblem.EMPTY, folder)
    return found


def _sample(
    name: str, image: Path, masks: Mapping[str, Path], splits: Mapping[str, Regions], splits_file: Path
) -> Sample:
    mask = masks.get(name)
    if mask is None:
        raise DataError(DataProblem.NO_MASK, image)
    with open_source(image) as source:
        info = source.info
    with open_source(mask, indexed=True) as source:
        mask_size = source.info.size
    if mask_size != info.size:
        raise DataError(DataProblem.SIZE_MISMATCH, mask, size=mask_size, expected=info.size)
    whole = Rect.of_size(info.size)
    regions = splits.get(name, {Part.TRAIN: (whole,)})
    for rect in (rect for rects in regions.values() for rect in rects):
        if not whole.contains(rect):
            raise DataError(DataProblem.SPLITS, splits_file, detail=f"{name}: {rect} is not inside {info.size}")
    return Sample(name, image, mask, info.size, info.bands, info.dtype, regions)
