"""Opening training sets: what is found, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from segstudio.core.errors import DataError, ImageError
from segstudio.core.geometry import Rect, Size
from segstudio.datasets.ingest import open_dataset
from segstudio.datasets.splits import Part

LABELS = np.zeros((30, 40), np.uint8)
VAL = {"version": 1, "images": {"b": {"val": [{"x": 0, "y": 0, "width": 40, "height": 30}]}}}


@pytest.fixture
def folder(write_set, noise) -> Path:
    return write_set({"b": (noise(40, 30), LABELS), "a": (noise(40, 30), LABELS)}, VAL)


def refused(folder: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        open_dataset(folder)
    return caught.value


def test_samples_are_sorted_and_know_their_parts(folder: Path, table) -> None:
    dataset = open_dataset(folder)
    assert dataset.classes == table
    assert [sample.name for sample in dataset.samples] == ["a", "b"]
    assert [sample.regions for sample in dataset.samples] == [
        {Part.TRAIN: (Rect(0, 0, 40, 30),)},
        {Part.VAL: (Rect(0, 0, 40, 30),)},
    ]
    first = dataset.samples[0]
    assert (first.size, first.bands, first.dtype) == (Size(40, 30), 3, "uint8")
    assert (first.image, first.mask) == (folder / "images" / "a.tif", folder / "masks" / "a.png")


def test_what_lies_beside_images_is_no_image(folder: Path) -> None:
    for name in (".DS_Store", "Thumbs.db", "a.tif.aux.xml", "a.tfw"):
        (folder / "images" / name).write_bytes(b"beside")
    (folder / "images" / "older").mkdir()
    assert len(open_dataset(folder).samples) == 2


def test_without_splits_everything_is_for_training(folder: Path) -> None:
    (folder / "splits.json").unlink()
    assert all(list(sample.regions) == [Part.TRAIN] for sample in open_dataset(folder).samples)


def test_a_missing_folder(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").code == "data.missing"


@pytest.mark.parametrize("name", ["images", "masks"])
def test_a_missing_or_empty_subfolder(folder: Path, name: str) -> None:
    for path in (folder / name).iterdir():
        path.unlink()
    error = refused(folder)
    assert (error.code, error.subject) == ("data.empty", str(folder / name))
    (folder / name).rmdir()
    error = refused(folder)
    assert (error.code, error.subject) == ("data.missing", str(folder / name))


def test_an_image_without_mask(folder: Path) -> None:
    (folder / "masks" / "b.png").unlink()
    error = refused(folder)
    assert (error.code, error.subject) == ("data.no_mask", str(folder / "images" / "b.tif"))


def test_two_images_of_one_name(folder: Path) -> None:
    Image.fromarray(LABELS).save(folder / "images" / "a.png")
    error = refused(folder)
    assert (error.code, {Path(error.subject).name, error.values["other"]}) == ("data.ambiguous", {"a.png", "a.tif"})


def test_a_mask_of_another_size(folder: Path) -> None:
    Image.fromarray(LABELS[:-1]).save(folder / "masks" / "b.png")
    error = refused(folder)
    assert (error.code, error.subject) == ("data.size_mismatch", str(folder / "masks" / "b.png"))
    assert (error.values["size"], error.values["expected"]) == (Size(40, 29), Size(40, 30))


def test_a_damaged_image_keeps_its_own_error(folder: Path) -> None:
    (folder / "images" / "b.tif").write_bytes(b"")
    with pytest.raises(ImageError, match="empty"):
        open_dataset(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff",
        b"[]",
        b'{"classes": []}',
        b'{"classes": [{"slot": 254, "name": "x", "colour": "#000000"}]}',
        json.dumps({"classes": [{"slot": 1, "name": "x", "colour": "#000000"}] * 2}).encode(),
    ],
)
def test_a_wrong_class_table(folder: Path, content: bytes) -> None:
    (folder / "classes.json").write_bytes(content)
    error = refused(folder)
    assert (error.code, error.subject) == ("data.class_table", str(folder / "classes.json"))
    assert error.detail


def test_a_missing_class_table(folder: Path) -> None:
    (folder / "classes.json").unlink()
    assert refused(folder).code == "data.class_table"


@pytest.mark.parametrize(
    ("images", "said"),
    [
        ({"z": {}}, "'z'"),
        ({"a": {"train": [{"x": 1, "y": 0, "width": 40, "height": 30}]}}, "not inside"),
    ],
)
def test_splits_that_do_not_fit_the_images(folder: Path, images: object, said: str) -> None:
    (folder / "splits.json").write_text(json.dumps({"version": 1, "images": images}))
    error = refused(folder)
    assert error.code == "data.splits"
    assert said in error.detail
