"""The tool that makes the training set and the sample, on a small set of the same layout, and the sample itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from segstudio.core.classes import IGNORE
from segstudio.core.geometry import Rect, Size, level_size
from segstudio.datasets.ingest import open_dataset, read_classes
from segstudio.datasets.sample import read_labels
from segstudio.datasets.splits import Part
from segstudio.imaging.source import open_source

ROOT = Path(__file__).parents[3]
NAMES = ("building", "land", "road", "vegetation", "water")
COLUMNS, ROWS = (400, 401, 400), (300, 301, 300)
SIZE = Size(sum(COLUMNS), sum(ROWS))


def smooth_picture() -> np.ndarray:
    """Colours that JPEG keeps well and that differ in each channel."""
    y, x = np.indices((SIZE.height, SIZE.width))
    return np.stack([x * 255 // SIZE.width, y * 255 // SIZE.height, np.full_like(x, 40)], axis=2).astype(np.uint8)


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    coarse = np.random.default_rng(0).choice([0, 1, 2, 3, 4, 255], (-(-SIZE.height // 10), -(-SIZE.width // 10)))
    return np.kron(coarse, np.ones((10, 10), int))[: SIZE.height, : SIZE.width].astype(np.uint8)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, labels: np.ndarray) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    for name in ("images", "masks"):
        (folder / name).mkdir()
    mosaics = {f"tile{tile}": write_parts(folder, tile, labels) for tile in (2, 5, 8)}
    (folder / "mosaics.json").write_text(json.dumps(mosaics))
    classes = [{"id": number, "name": name} for number, name in enumerate(NAMES)]
    (folder / "classes.json").write_text(json.dumps({"classes": classes}))
    return folder


def write_parts(folder: Path, tile: int, labels: np.ndarray) -> dict[str, object]:
    picture, parts = smooth_picture(), []
    for row, height in enumerate(ROWS):
        for column, width in enumerate(COLUMNS):
            place = Rect(sum(COLUMNS[:column]), sum(ROWS[:row]), width, height)
            name = f"t{tile}_p{row * 3 + column + 1}"
            inside = place.slices_from(0, 0)
            Image.fromarray(picture[inside]).save(folder / "images" / f"{name}.jpg", quality=95)
            mask = Image.fromarray(labels[inside]).convert("P")
            mask.putdata(labels[inside].ravel().tolist())
            mask.save(folder / "masks" / f"{name}.png")
            parts.append(
                {"image": f"images/{name}.jpg", "mask": f"masks/{name}.png"}
                | {"x": place.x, "y": place.y, "width": width, "height": height}
            )
    return {"width": SIZE.width, "height": SIZE.height, "parts": parts}


def assemble(source: Path, out: Path, *options: str) -> None:
    script = ROOT / "packaging" / "data" / "assemble_dubai.py"
    subprocess.run([sys.executable, script, source, out, *options], check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})


@pytest.mark.parametrize("options", [[], ["--jpeg", "90"]])
def test_parts_become_a_training_set(source: Path, labels: np.ndarray, tmp_path: Path, options: list[str]) -> None:
    assemble(source, tmp_path, "--tiles", "2", "5", "8", *options)
    dataset = open_dataset(tmp_path)
    assert dataset.classes.names == NAMES
    whole = Rect.of_size(SIZE)
    for sample in dataset.samples:
        with open_source(sample.image) as image, open_source(sample.mask, indexed=True) as mask:
            assert np.abs(image.read(whole).astype(int) - smooth_picture()).max() < 12
            assert np.array_equal(read_labels(mask, whole, dataset.classes), np.where(labels == 255, IGNORE, labels))
            assert [level.size for level in image.info.levels] == [level_size(SIZE, level) for level in range(3)]
            half = image.read(Rect.of_size(level_size(SIZE, 1)), level=1)
            assert np.abs(half.astype(int) - smooth_picture()[::2, ::2]).max() < 12


def test_validation_has_its_guard_strip(source: Path, tmp_path: Path) -> None:
    assemble(source, tmp_path, "--tiles", "2", "5", "8")
    regions = {sample.name: sample.regions for sample in open_dataset(tmp_path).samples}
    whole = (Rect.of_size(SIZE),)
    assert regions["tile2"] == {Part.VAL: whole}
    assert regions["tile5"] == {Part.TEST: whole}
    used = np.zeros((SIZE.height, SIZE.width), bool)
    for rect in regions["tile8"][Part.TRAIN]:
        used[rect.slices_from(0, 0)] = True
    expected = np.ones_like(used)
    expected[: 601 + 256, 801 - 256 :] = False
    assert np.array_equal(used, expected)
    assert regions["tile8"][Part.VAL] == (Rect(801, 0, 400, 300), Rect(801, 300, 400, 301))


def test_the_sample_is_complete_and_small() -> None:
    folder = ROOT / "resources" / "sample"
    table = read_classes(folder / "classes.json")
    assert table.names == NAMES
    assert (folder / "dubai-tile8.tif").stat().st_size <= 10_000_000
    with (
        open_source(folder / "dubai-tile8.tif") as image,
        open_source(folder / "dubai-tile8-mask.tif", indexed=True) as mask,
    ):
        assert image.info.size == mask.info.size == Size(6447, 4438)
        assert len(image.info.levels) == 5
        found = read_labels(mask, Rect.of_size(mask.info.size), table)
        assert set(np.unique(found)) == {*table.slots, IGNORE}
        water = np.argwhere(found[::16, ::16] == table.slots[NAMES.index("water")]) * 16
        colours = np.array([image.read(Rect(int(x), int(y), 1, 1))[0, 0] for y, x in water[::20]]).mean(axis=0)
        assert colours[0] < colours[2]  # water is bluer than red: the channels are in order
