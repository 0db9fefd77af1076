from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from segstudio.app import overlay
from segstudio.app.overlay import write_overlay
from segstudio.core.classes import IGNORE, ClassTable, LabelClass
from segstudio.core.geometry import Size
from segstudio.imaging.source import open_source

CLASSES = ClassTable((LabelClass(0, "left", (255, 0, 0)), LabelClass(3, "right", (0, 0, 255))))


def save(path: Path, pixels: np.ndarray) -> Path:
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return path


def draw(folder: Path, labels: np.ndarray) -> np.ndarray:
    height, width = labels.shape
    image = save(folder / "image.png", np.full((height, width, 3), 100))
    mask = save(folder / "mask.png", labels)
    size = write_overlay(image, mask, CLASSES, folder / "overlay.png")
    with Image.open(folder / "overlay.png") as picture:
        assert picture.size == (size.width, size.height)
        return np.asarray(picture)


def test_areas_are_tinted_borders_are_full_and_ignored_pixels_stay(tmp_path: Path) -> None:
    labels = np.zeros((600, 40), np.uint8)
    labels[:, 20:] = 3
    labels[590:, :] = IGNORE
    picture = draw(tmp_path, labels)
    assert picture.shape == (300, 20, 3)
    assert picture[5, 2].tolist() == [162, 60, 60]
    assert picture[5, 15].tolist() == [60, 60, 162]
    assert picture[270, 9].tolist() == [255, 0, 0]
    assert picture[298, 9].tolist() == [100, 100, 100]


def test_the_picture_does_not_grow_with_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay, "LONGEST_SIDE", 50)
    assert draw(tmp_path, np.zeros((33, 333), np.uint8)).shape == (5, 50, 3)


def test_an_image_of_one_pixel(tmp_path: Path) -> None:
    image, mask = save(tmp_path / "i.png", np.zeros((1, 1, 3))), save(tmp_path / "m.png", np.zeros((1, 1)))
    assert write_overlay(image, mask, CLASSES, tmp_path / "o.png") == Size(1, 1)


def test_the_mask_of_a_large_image_is_read_in_strips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(0).integers(0, 4, (3000, 60), np.uint8)
    mask = save(tmp_path / "mask.png", labels)
    asked = []
    with open_source(mask, indexed=True) as source:
        read = source.read
        monkeypatch.setattr(source, "read", lambda rect: (asked.append(rect.height), read(rect))[1])
        sampled = overlay._sampled(source, Size(6, 300))
    assert max(asked) <= 512
    assert np.array_equal(sampled, labels[5::10, 5::10])
