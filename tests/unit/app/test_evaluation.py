"""Scores of folders, whole and by the regions of a split."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from segstudio.app.evaluation import evaluate
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.jobs import JobContext
from segstudio.datasets.splits import Part
from tests.helpers.command_line import CLASSES, write_mask

SIDE = 60


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Predictions and truths of two images; the splits name the right half of the first for validation."""
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        truth = rng.integers(0, 5, (SIDE, SIDE))
        prediction = truth.copy()
        prediction[:, : SIDE // 2] = (truth[:, : SIDE // 2] + 1) % 5
        write_mask(tmp_path / "truth" / f"{name}.png", truth)
        write_mask(tmp_path / "pred" / f"{name}_mask.png", prediction)
    (tmp_path / "classes.json").write_text(json.dumps({"classes": CLASSES.to_json()}))
    right = {"x": SIDE // 2, "y": 0, "width": SIDE // 2, "height": SIDE}
    splits = tmp_path / "splits.json"
    splits.write_text(json.dumps({"version": 1, "images": {"one": {"val": [right]}}}))
    return tmp_path / "pred", tmp_path / "truth", splits


def test_whole_folders(folders: tuple[Path, Path, Path]) -> None:
    prediction, truth, _ = folders
    result = evaluate(prediction, truth, None, JobContext())
    assert result["files"] == 2
    assert result["accuracy"] == pytest.approx(0.5)


def test_only_the_regions_of_a_part(folders: tuple[Path, Path, Path]) -> None:
    prediction, truth, splits = folders
    result = evaluate(prediction, truth, None, JobContext(), part=(splits, Part.VAL))
    assert result["files"] == 1
    assert result["miou"] == 1.0
    single = evaluate(prediction / "one_mask.png", truth / "one.png", None, JobContext(), part=(splits, Part.VAL))
    assert single == result


@pytest.mark.parametrize("name", ["one", "two"])
def test_no_regions_is_an_error_and_not_an_empty_score(folders: tuple[Path, Path, Path], name: str) -> None:
    prediction, truth, splits = folders
    part = Part.TEST if name == "one" else Part.VAL
    with pytest.raises(DataError) as caught:
        evaluate(prediction / f"{name}_mask.png", truth / f"{name}.png", None, JobContext(), part=(splits, part))
    assert caught.value.problem is DataProblem.SPLITS


def test_truths_named_like_predictions(folders: tuple[Path, Path, Path]) -> None:
    prediction, truth, splits = folders
    for path in list(truth.iterdir()):
        path.rename(path.with_stem(f"{path.stem}_mask"))
    result = evaluate(prediction, truth, None, JobContext(), part=(splits, Part.VAL))
    assert (result["files"], result["miou"]) == (1, 1.0)
    pair = prediction / "one_mask.png", truth / "one_mask.png"
    assert evaluate(*pair, None, JobContext(), part=(splits, Part.VAL)) == result
