"""Names of masks."""

from __future__ import annotations

from pathlib import Path

from segstudio.app.prediction import _stems


def test_clashing_stems_are_numbered_whatever_their_case() -> None:
    assert _stems([Path("a.tif"), Path("x/A.png"), Path("a.jpg")], Path("out")) == ["a", "A_2", "a_3"]


def test_no_mask_replaces_an_image_of_the_run() -> None:
    images = [Path("photo.tif"), Path("photo_mask.tif")]
    assert _stems(images, Path()) == ["photo_2", "photo_mask"]
    assert _stems(images, Path("out")) == ["photo", "photo_mask"]
