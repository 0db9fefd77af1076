"""Scores of predicted masks against true ones: a file against a file, or folders whose files have the same stems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from segstudio.app.images import is_image_name
from segstudio.core.classes import ClassTable
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.datasets.boundary import BoundaryCounts
from segstudio.datasets.ingest import read_classes
from segstudio.datasets.scores import Confusion, Scores, score_files
from segstudio.datasets.splits import Part, read_splits

_SUFFIX_OF_MASKS = "_mask"


def evaluate(
    prediction: Path, truth: Path, classes_file: Path | None, ctx: JobContext, *, part: tuple[Path, Part] | None = None
) -> dict[str, object]:
    """Counts of all pairs of files summed in one confusion matrix, and what follows from them, as a JSON value.

    `part` is a `splits.json` and one of its parts: only the images that have regions of it count, and only inside them.

    Without `classes_file` the table is the `classes.json` beside the truth or one folder above. Scores that do
    not exist (a class that is in neither mask) are None. Raises `DataError`, `ImageError`, `Cancelled`.
    """
    classes = read_classes(classes_file or _classes_near(truth))
    regions = _regions(*part) if part else None
    pairs = _pairs(prediction, truth, regions)
    total = Scores(Confusion(classes), BoundaryCounts(classes))
    for predicted, true in pairs:
        scores = score_files(predicted, true, classes, ctx, regions=regions[_stem(true)] if regions else None)
        total.confusion.matrix += scores.confusion.matrix
        total.boundary.counts += scores.boundary.counts
    return {"files": len(pairs)} | summary(total, classes)


def summary(scores: Scores, classes: ClassTable) -> dict[str, object]:
    """What was counted, as a JSON value: rows of `confusion` are true classes, its last column is "no class"."""
    confusion = scores.confusion
    return {
        "miou": _number(confusion.miou),
        "accuracy": _number(confusion.accuracy),
        "majority_miou": _number(confusion.majority_miou),
        "mean_f1": _number(confusion.mean_f1),
        "mean_boundary_f1": _number(scores.boundary.mean_f1),
        "iou": _by_name(classes, confusion.iou.tolist()),
        "f1": _by_name(classes, confusion.f1.tolist()),
        "boundary_f1": _by_name(classes, scores.boundary.f1.tolist()),
        "pixels": dict(zip(classes.names, confusion.pixels.tolist(), strict=True)),
        "confusion": confusion.matrix.tolist(),
    }


def _regions(file: Path, part: Part) -> dict[str, tuple[Rect, ...]]:
    """Rectangles of a part by image stem, of the images that have any."""
    found = {name: tuple(regions.get(part, ())) for name, regions in read_splits(file).items()}
    found = {name: rects for name, rects in found.items() if rects}
    if not found:
        raise DataError(DataProblem.SPLITS, file, detail=f"no image has a region of {part}")
    return found


def _pairs(prediction: Path, truth: Path, wanted: Mapping[str, object] | None = None) -> list[tuple[Path, Path]]:
    """(predicted, true) of every true mask, or of the stems `wanted`; a folder of predictions must have one for each."""
    if not truth.is_dir():
        if wanted is not None and _stem(truth) not in wanted:
            raise DataError(DataProblem.SPLITS, truth, detail=f"the splits name no regions for {_stem(truth)!r}")
        return [(prediction, truth)]
    if not prediction.is_dir():
        raise DataError(DataProblem.MISSING, prediction)
    predicted, true = _by_stem(prediction), _by_stem(truth)
    if wanted is not None:
        true = {stem: path for stem, path in true.items() if stem in wanted}
    missing = sorted(set(true) - set(predicted))
    if missing:
        raise DataError(DataProblem.NO_PREDICTION, true[missing[0]], folder=prediction)
    return [(predicted[stem], true[stem]) for stem in sorted(true)]


def _by_stem(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(item for item in folder.iterdir() if is_image_name(item)):
        stem = _stem(path)
        if stem in found:
            raise DataError(DataProblem.AMBIGUOUS, path, other=found[stem].name)
        found[stem] = path
    if not found:
        raise DataError(DataProblem.EMPTY, folder)
    return found


def _stem(path: Path) -> str:
    """The image's stem by its mask's name."""
    return path.stem.removesuffix(_SUFFIX_OF_MASKS)


def _classes_near(truth: Path) -> Path:
    folder = truth if truth.is_dir() else truth.parent
    beside = folder / "classes.json"
    above = folder.absolute().parent / "classes.json"
    return above if above.is_file() and not beside.is_file() else beside


def _by_name(classes: ClassTable, values: list[float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(classes.names, values, strict=True)}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
