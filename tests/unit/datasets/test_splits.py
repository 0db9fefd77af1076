"""`splits.json`: what is written is read back, and wrong files are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segstudio.core.errors import DataError
from segstudio.core.geometry import Rect
from segstudio.datasets.splits import Part, read_splits, write_splits


@st.composite
def disjoint_regions(draw):
    """Cells of a coarse lattice, each given to a part or to none."""
    side = draw(st.integers(1, 5000))
    parts = draw(st.lists(st.sampled_from([None, *Part]), min_size=9, max_size=9))
    regions: dict[Part, tuple[Rect, ...]] = {}
    for number, part in enumerate(parts):
        if part is not None:
            regions[part] = (*regions.get(part, ()), Rect(number % 3 * side, number // 3 * side, side, side))
    return regions


@given(images=st.dictionaries(st.text(min_size=1), disjoint_regions(), max_size=3))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_splits_are_read_back(tmp_path: Path, images) -> None:
    write_splits(tmp_path / "splits.json", images)
    assert read_splits(tmp_path / "splits.json") == images


def test_touching_regions_are_no_overlap_but_one_shared_pixel_is(tmp_path: Path) -> None:
    write_splits(tmp_path / "s.json", {"a": {Part.TRAIN: (Rect(0, 0, 10, 10),), Part.VAL: (Rect(10, 0, 10, 10),)}})
    with pytest.raises(ValueError, match="train and val overlap"):
        write_splits(tmp_path / "s.json", {"a": {Part.TRAIN: (Rect(0, 0, 10, 10),), Part.VAL: (Rect(9, 9, 10, 10),)}})


RECT = {"x": 0, "y": 0, "width": 8, "height": 8}


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ([], "version"),
        ({"version": 2, "images": {}}, "version"),
        ({"version": 1, "images": []}, "images"),
        ({"version": 1, "images": {"a": []}}, "a is not"),
        ({"version": 1, "images": {"a": {"training": []}}}, "'training'"),
        ({"version": 1, "images": {"a": {"train": RECT}}}, "a.train"),
        ({"version": 1, "images": {"a": {"val": [RECT, 5]}}}, "a.val[1]"),
        ({"version": 1, "images": {"a": {"val": [RECT | {"x": 1.5}]}}}, "a.val[0]"),
        ({"version": 1, "images": {"a": {"val": [RECT | {"x": True}]}}}, "a.val[0]"),
        ({"version": 1, "images": {"a": {"val": [RECT | {"width": 0}]}}}, "empty"),
        ({"version": 1, "images": {"a": {"val": [RECT | {"width": -1}]}}}, "negative"),
        ({"version": 1, "images": {"a": {"train": [RECT], "test": [RECT]}}}, "overlap"),
    ],
)
def test_a_wrong_file_is_refused_saying_where(tmp_path: Path, root: object, said: str) -> None:
    path = tmp_path / "splits.json"
    path.write_text(json.dumps(root))
    with pytest.raises(DataError) as caught:
        read_splits(path)
    assert caught.value.code == "data.splits"
    assert caught.value.subject == str(path)
    assert said in caught.value.detail


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "splits.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"data\.splits"):
        read_splits(path)
