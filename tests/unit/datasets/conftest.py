"""Training sets on disk, written by other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from segstudio.core.classes import ClassTable, LabelClass

SetWriter = Callable[..., Path]


@pytest.fixture
def table() -> ClassTable:
    return ClassTable(
        (LabelClass(0, "a", (255, 0, 0)), LabelClass(3, "b", (0, 255, 0)), LabelClass(7, "c", (0, 0, 255)))
    )


@pytest.fixture
def write_set(tmp_path: Path, table: ClassTable) -> SetWriter:
    """Write `images` (name to (picture, labels)) as a training set and give its folder."""

    def write(images: Mapping[str, tuple[np.ndarray, np.ndarray]], splits: object = None) -> Path:
        (tmp_path / "images").mkdir()
        (tmp_path / "masks").mkdir()
        for name, (picture, labels) in images.items():
            tifffile.imwrite(tmp_path / "images" / f"{name}.tif", picture, photometric="rgb")
            Image.fromarray(labels).save(tmp_path / "masks" / f"{name}.png")
        (tmp_path / "classes.json").write_text(json.dumps({"classes": table.to_json()}))
        if splits is not None:
            (tmp_path / "splits.json").write_text(json.dumps(splits))
        return tmp_path

    return write


@pytest.fixture
def noise() -> Callable[[int, int], np.ndarray]:
    def make(width: int, height: int) -> np.ndarray:
        return np.random.default_rng(width * 7919 + height).integers(0, 256, (height, width, 3), np.uint8)

    return make
