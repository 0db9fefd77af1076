"""Scoring of two files: tile by tile the same numbers as from whole arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable
from segstudio.core.errors import DataError
from segstudio.core.geometry import Rect
from segstudio.core.jobs import Cancelled, JobContext
from segstudio.datasets.boundary import BoundaryCounts
from segstudio.datasets.scores import Confusion, score_files

WIDTH, HEIGHT = 1100, 700


def blobs(seed: int, values: list[int]) -> np.ndarray:
    coarse = np.random.default_rng(seed).choice(values, (-(-HEIGHT // 9), -(-WIDTH // 9)))
    return np.kron(coarse, np.ones((9, 9), np.uint16))[:HEIGHT, :WIDTH].astype(np.uint16)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    Image.fromarray(blobs(0, [0, 3, 7, IGNORE, UNTOUCHED]).astype(np.uint8)).save(tmp_path / "truth.png")
    return tmp_path / "truth.png"


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_files_score_like_whole_arrays(tmp_path: Path, truth: Path, table: ClassTable, dtype) -> None:
    wrong = 9 if dtype is np.uint8 else 65535
    prediction = np.where(
        np.indices((HEIGHT, WIDTH))[1] % 300 < 250, blobs(0, [0, 3, 7, 3, 3]), blobs(1, [0, 7, wrong])
    )
    tifffile.imwrite(tmp_path / "prediction.tif", prediction.astype(dtype), tile=(256, 256), compression="deflate")
    scores = score_files(tmp_path / "prediction.tif", truth, table, JobContext())

    with Image.open(truth) as image:
        true = np.asarray(image)
    narrow = np.where(prediction > 255, 200, prediction).astype(np.uint8)
    confusion, boundary = Confusion(table), BoundaryCounts(table)
    confusion.add(true, narrow)
    boundary.add(true, narrow, Rect(0, 0, WIDTH, HEIGHT))
    assert np.array_equal(scores.confusion.matrix, confusion.matrix)
    assert np.array_equal(scores.boundary.counts, boundary.counts)
    assert 0.5 < scores.confusion.miou < 1


def test_masks_of_different_sizes_are_refused(tmp_path: Path, truth: Path, table: ClassTable) -> None:
    tifffile.imwrite(tmp_path / "small.tif", np.zeros((HEIGHT, WIDTH - 1), np.uint8))
    with pytest.raises(DataError) as caught:
        score_files(tmp_path / "small.tif", truth, table, JobContext())
    assert (caught.value.code, caught.value.subject) == ("data.size_mismatch", str(tmp_path / "small.tif"))


def test_a_true_value_of_no_class_is_refused_and_a_predicted_one_is_not(
    tmp_path: Path, truth: Path, table: ClassTable
) -> None:
    tifffile.imwrite(tmp_path / "odd.tif", np.full((HEIGHT, WIDTH), 100, np.uint8))
    assert score_files(tmp_path / "odd.tif", truth, table, JobContext()).confusion.accuracy == 0
    with pytest.raises(DataError, match=r"data\.unknown_value"):
        score_files(truth, tmp_path / "odd.tif", table, JobContext())


def test_scoring_stops_when_asked(truth: Path, table: ClassTable) -> None:
    ctx = JobContext()
    ctx.cancel()
    with pytest.raises(Cancelled):
        score_files(truth, truth, table, ctx)


def test_only_the_regions_count(tmp_path: Path, truth: Path, table: ClassTable) -> None:
    prediction = blobs(1, [0, 3, 7]).astype(np.uint8)
    tifffile.imwrite(tmp_path / "prediction.tif", prediction)
    regions = [Rect(30, 20, 600, 130), Rect(700, 300, 400, 400)]
    scores = score_files(tmp_path / "prediction.tif", truth, table, JobContext(), regions=regions)
    with Image.open(truth) as image:
        true = np.asarray(image)
    expected = Confusion(table)
    for region in regions:
        expected.add(true[region.slices_from(0, 0)], prediction[region.slices_from(0, 0)])
    assert np.array_equal(scores.confusion.matrix, expected.matrix)


def test_the_majority_answer_scores_its_share_of_the_classes(table: ClassTable) -> None:
    true = np.array([[0, 0, 0, 3, 3, 7, IGNORE, UNTOUCHED]], np.uint8)
    confusion = Confusion(table)
    confusion.add(true, np.zeros_like(true))
    assert confusion.majority_miou == pytest.approx(confusion.miou)
    assert confusion.majority_miou == pytest.approx(3 / 6 / 3)
