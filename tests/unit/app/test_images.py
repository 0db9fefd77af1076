from __future__ import annotations

from pathlib import Path

import pytest

from segstudio.app.images import find_images
from segstudio.core.errors import DataError, ImageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.TIF", "a.png", "notes.txt", ".hidden.png", "odd[1].png", "deep/c.jpg"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "folder.png").mkdir()
    return tmp_path


def test_a_folder_gives_its_images_but_not_those_further_down(folder: Path) -> None:
    assert find_images([str(folder)]) == [folder / "a.png", folder / "b.TIF", folder / "odd[1].png"]


def test_patterns_are_expanded(folder: Path) -> None:
    assert find_images(["[ab].*"]) == [Path("a.png"), Path("b.TIF")]
    assert find_images([str(folder / "**" / "*.jpg")]) == [folder / "deep" / "c.jpg"]


def test_a_file_whose_name_looks_like_a_pattern(folder: Path) -> None:
    assert find_images(["odd[1].png"]) == [Path("odd[1].png")]


def test_each_image_comes_once_in_the_order_named(folder: Path) -> None:
    assert find_images(["b.TIF", "*.png", "a.png", "missing.tif"]) == [
        Path("b.TIF"), Path("a.png"), Path("odd[1].png"), Path("missing.tif"),
    ]  # fmt: skip


def test_nothing_found_is_an_error(folder: Path) -> None:
    with pytest.raises(ImageError, match=r"image\.missing: \*\.bmp"):
        find_images(["*.bmp"])
    (folder / "hollow").mkdir()
    with pytest.raises(DataError, match=r"data\.empty: hollow"):
        find_images(["hollow"])
