"""Reading patches: mirrored beyond the image, and no label from another part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segstudio.core.classes import IGNORE, UNTOUCHED
from segstudio.core.errors import DataError
from segstudio.core.geometry import Rect
from segstudio.datasets.ingest import Dataset, open_dataset
from segstudio.datasets.sample import PatchReader
from segstudio.datasets.splits import Part

WIDTH, HEIGHT = 50, 40
MEAN = (100.4, 90.0, 80.0)
TRAIN, VAL = Rect(0, 0, 20, 40), Rect(30, 5, 20, 30)
SPLITS = {
    "version": 1,
    "images": {
        "a": {
            part: [{"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height}]
            for part, rect in (("train", TRAIN), ("val", VAL))
        }
    },
}
LABELS = np.random.default_rng(0).choice([0, 3, 7, IGNORE, UNTOUCHED], (HEIGHT, WIDTH)).astype(np.uint8)


@pytest.fixture
def picture(noise) -> np.ndarray:
    return noise(WIDTH, HEIGHT)


@pytest.fixture
def dataset(write_set, picture) -> Dataset:
    return open_dataset(write_set({"a": (picture, LABELS)}, SPLITS))


@given(x=st.integers(-60, 60), y=st.integers(-60, 60), side=st.integers(1, 64), part=st.sampled_from(Part))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_patch_is_the_mirrored_picture_and_the_labels_of_its_part(dataset, picture, x, y, side, part) -> None:
    with PatchReader(dataset.classes, mean=MEAN) as reader:
        pixels, labels = reader.read(dataset.samples[0], Rect(x, y, side, side), part)
    margin = 130
    inside = slice(y + margin, y + margin + side), slice(x + margin, x + margin + side)
    assert np.array_equal(pixels, np.pad(picture, ((margin, margin), (margin, margin), (0, 0)), "reflect")[inside])
    allowed = np.full_like(LABELS, IGNORE)
    for rect in {Part.TRAIN: (TRAIN,), Part.VAL: (VAL,), Part.TEST: ()}[part]:
        allowed[rect.slices_from(0, 0)] = LABELS[rect.slices_from(0, 0)]
    assert np.array_equal(labels, np.pad(allowed, margin, constant_values=UNTOUCHED)[inside])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_value_of_no_class_is_named_with_its_file(dataset: Dataset, dtype) -> None:
    sample = dataset.samples[0]
    labels = np.zeros((HEIGHT, WIDTH), dtype)
    labels[30, 10] = 5 if dtype is np.uint8 else 300
    mask = sample.mask.with_suffix(".tif")
    sample.mask.unlink()
    tifffile.imwrite(mask, labels)
    changed = open_dataset(mask.parent.parent)
    with PatchReader(changed.classes, mean=MEAN) as reader:
        reader.read(changed.samples[0], Rect(0, 0, 20, 30), Part.TRAIN)
        with pytest.raises(DataError) as caught:
            reader.read(changed.samples[0], Rect(0, 0, 20, 31), Part.TRAIN)
    assert caught.value.code == "data.unknown_value"
    assert caught.value.subject == str(mask)
    assert caught.value.values == {"value": 5 if dtype is np.uint8 else 300, "slots": (0, 3, 7)}


def test_files_are_kept_open_up_to_the_limit(write_set, noise) -> None:
    images = {name: (noise(20, 20), np.full((20, 20), slot, np.uint8)) for name, slot in (("a", 0), ("b", 3), ("c", 7))}
    dataset = open_dataset(write_set(images))
    with PatchReader(dataset.classes, mean=MEAN, open_samples=2) as reader:
        for number in (0, 1, 2, 0, 2, 1):
            pixels, labels = reader.read(dataset.samples[number], Rect(0, 0, 20, 20), Part.TRAIN)
            assert np.array_equal(pixels, images["abc"[number]][0])
            assert set(labels.ravel()) == {dataset.classes.slots[number]}
            assert open_files_under(dataset.samples[0].image.parent) <= 2


def open_files_under(folder: Path) -> int:
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("open files can be counted on Linux only")
    return len({link.resolve() for link in handles.iterdir() if link.resolve().parent == folder})


def test_pixels_without_data_become_the_mean_and_no_label(write_set, noise) -> None:
    pixels = noise(20, 20).astype(np.float32)
    pixels[5, 7, 1] = np.nan
    dataset = open_dataset(write_set({"a": (pixels, np.full((20, 20), 3, np.uint8))}))
    with PatchReader(dataset.classes, mean=MEAN) as reader:
        found, labels = reader.read(dataset.samples[0], Rect(0, 0, 24, 20), Part.TRAIN)
    assert np.isfinite(found).all()
    assert found[5, 7].tolist() == pytest.approx(MEAN, rel=1e-6)
    assert labels[5, 7] == IGNORE
    assert (labels[:, :20] == 3).sum() == 399
    assert (labels[:, 20:] == UNTOUCHED).all()
