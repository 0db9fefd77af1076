"""Windows for training: inside their part, rare classes seen, the same for the same seed and step."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from segstudio.core.classes import IGNORE
from segstudio.core.errors import DataError
from segstudio.core.geometry import Rect
from segstudio.core.jobs import Cancelled, JobContext
from segstudio.datasets.ingest import Dataset, open_dataset
from segstudio.datasets.sample import PatchReader
from segstudio.datasets.sampling import CELL, LabelIndex, Sampler, index_labels
from segstudio.datasets.splits import Part

SIZE = 700
MEAN = (1.0, 2.0, 3.0)
TRAIN = (Rect(0, 0, 300, 650), Rect(390, 37, 290, 100))
RARE = Rect(250, 600, 7, 5)


def rows(rects: tuple[Rect, ...]) -> list[dict[str, int]]:
    return [{"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height} for rect in rects]


@pytest.fixture
def labels() -> np.ndarray:
    """Class 0 with a stripe of ignore, 7 only where nothing is for training, 3 in a few pixels."""
    out = np.zeros((SIZE, SIZE), np.uint8)
    out[:, 330:380] = 7
    out[100:110] = IGNORE
    out[RARE.slices_from(0, 0)] = 3
    return out


@pytest.fixture
def dataset(write_set, noise, labels) -> Dataset:
    splits = {"version": 1, "images": {"big": {"train": rows(TRAIN)}, "other": {"test": rows((Rect(0, 0, 64, 64),))}}}
    other = np.zeros((64, 64), np.uint8)
    return open_dataset(write_set({"big": (noise(SIZE, SIZE), labels), "other": (noise(64, 64), other)}, splits))


@pytest.fixture
def index(dataset: Dataset) -> LabelIndex:
    return index_labels(dataset, Part.TRAIN, JobContext())


def test_the_index_counts_the_labelled_pixels_of_its_part(index: LabelIndex, labels: np.ndarray) -> None:
    counted = [sum(int((labels[rect.slices_from(0, 0)] == slot).sum()) for rect in TRAIN) for slot in (0, 3, 7)]
    assert index.class_pixels == tuple(counted)
    assert counted[2] == 0
    assert sum(index.class_shares) == pytest.approx(1)


@pytest.mark.parametrize("patch", [32, 64, 96, 256])
def test_windows_stay_inside_regions_that_are_large_enough(index: LabelIndex, patch: int) -> None:
    for number, window in Sampler(index, patch, seed=1).draw(200, step=0):
        assert number == 0
        assert (window.width, window.height) == (patch, patch)
        meeting = [rect for rect in TRAIN if not rect.intersect(window).empty]
        assert len(meeting) == 1
        region = meeting[0]
        for start, stop, low, high in (
            (window.x, window.right, region.x, region.right),
            (window.y, window.bottom, region.y, region.bottom),
        ):
            assert (low <= start and stop <= high) or (start <= low and high <= stop)


@pytest.mark.parametrize("patch", [CELL, 200])
def test_classes_are_drawn_by_the_root_of_their_share_and_shown(write_set, noise, patch: int) -> None:
    """Each class lies alone in its own image, so that the image tells which class was drawn."""
    rare = np.full((300, 300), IGNORE, np.uint8)
    rare[230:235, 120:140] = 3
    common = np.zeros((100, 100), np.uint8)
    dataset = open_dataset(write_set({"common": (noise(100, 100), common), "rare": (noise(300, 300), rare)}))
    sampler = Sampler(index_labels(dataset, Part.TRAIN, JobContext()), patch, seed=2)
    drawn = sampler.draw(2000, step=0)
    chance = 0.01**0.5 / (0.01**0.5 + 1)  # 100 pixels against 10,000
    assert sum(number for number, _ in drawn) == pytest.approx(2000 * chance, abs=4 * (2000 * chance) ** 0.5)
    with PatchReader(dataset.classes, mean=MEAN) as reader:
        for number, window in drawn[:300]:
            labels = reader.read(dataset.samples[number], window, Part.TRAIN)[1]
            assert (labels == dataset.classes.slots[number]).any()


def test_cells_are_drawn_by_their_pixels(write_set, noise) -> None:
    labels = np.full((128, 128), IGNORE, np.uint8)
    labels[:64, :64] = 0
    labels[64:, 64:80] = 0
    dataset = open_dataset(write_set({"a": (noise(128, 128), labels)}))
    sampler = Sampler(index_labels(dataset, Part.TRAIN, JobContext()), CELL, seed=3)
    corners = Counter((window.x, window.y) for _, window in sampler.draw(1000, step=0))
    assert set(corners) == {(0, 0), (64, 64)}
    assert corners[0, 0] == pytest.approx(800, abs=60)


def test_the_place_in_the_window_varies(index: LabelIndex) -> None:
    places = {(window.x, window.y) for _, window in Sampler(index, 200, seed=4).draw(100, step=0)}
    assert len(places) > 90


def test_seed_and_step_alone_decide(index: LabelIndex) -> None:
    sampler = Sampler(index, 96, seed=5)
    before = [sampler.draw(4, step) for step in range(5)]
    assert before[3:] == [Sampler(index, 96, seed=5).draw(4, step) for step in (3, 4)]
    assert before[0] != before[1]
    assert before[0] != Sampler(index, 96, seed=6).draw(4, 0)


def test_a_part_without_labels_is_refused(dataset: Dataset) -> None:
    with pytest.raises(DataError, match=r"data\.no_labels"):
        index_labels(dataset, Part.VAL, JobContext())


def test_indexing_can_be_cancelled(dataset: Dataset) -> None:
    ctx = JobContext()
    ctx.cancel()
    with pytest.raises(Cancelled):
        index_labels(dataset, Part.TRAIN, ctx)
