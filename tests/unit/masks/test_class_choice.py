"""Class choice against torch's bilinear upsampling and argmax; and gathering rows into tiles."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.geometry import Rect
from segstudio.masks import class_choice
from segstudio.masks.class_choice import choose_classes
from segstudio.masks.tile_rows import TileRows


def by_torch(scores: np.ndarray, stride: int) -> np.ndarray:
    full = torch.nn.functional.interpolate(
        torch.from_numpy(scores)[None].double(), scale_factor=stride, mode="bilinear", align_corners=False
    )
    return full[0].argmax(0).numpy().astype(np.uint8)


@settings(max_examples=40, deadline=None)
@given(
    classes=st.integers(1, 9), rows=st.integers(1, 12), columns=st.integers(1, 12), stride=st.sampled_from([1, 2, 4, 8])
)
def test_equals_upsampling_and_argmax(classes: int, rows: int, columns: int, stride: int) -> None:
    scores = np.random.default_rng(rows * 13 + columns).standard_normal((classes, rows, columns)).astype(np.float32)
    rect = Rect(40, 80, columns * stride, rows * stride)
    found = choose_classes(scores, stride, (40, 80), rect)
    assert (found == by_torch(scores, stride)).mean() >= 0.9999


def test_part_of_the_cells() -> None:
    scores = np.random.default_rng(0).standard_normal((4, 10, 12)).astype(np.float32)
    found = choose_classes(scores, 4, (8, 4), Rect(13, 9, 21, 17))
    np.testing.assert_array_equal(found, by_torch(scores, 4)[5:22, 5:26])


@settings(max_examples=30, deadline=None)
@given(left=st.integers(0, 60), width=st.integers(1, 60), stride=st.sampled_from([1, 2, 4]), piece=st.integers(1, 9))
def test_pieces_of_a_wide_band_equal_the_whole(left: int, width: int, stride: int, piece: int) -> None:
    scores = np.random.default_rng(left).standard_normal((3, 5, -(-(left + width) // stride) + 1)).astype(np.float32)
    rect = Rect(left, 0, width, 5 * stride)
    whole = class_choice.choose_classes(scores, stride, (0, 0), rect)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_choice, "_PIECE", piece)
        np.testing.assert_array_equal(choose_classes(scores, stride, (0, 0), rect), whole)


def test_ties_go_to_the_lower_class() -> None:
    assert not choose_classes(np.zeros((3, 4, 4), np.float32), 4, (0, 0), Rect(0, 0, 16, 16)).any()


@settings(max_examples=50, deadline=None)
@given(heights=st.lists(st.integers(1, 900), min_size=1, max_size=8), stripes=st.integers(1, 2))
def test_rows_leave_in_whole_tiles_and_once(heights: list[int], stripes: int) -> None:
    total = sum(heights)
    rows = TileRows(total)
    written = np.zeros((total, 5 * stripes), np.uint8)
    for stripe in range(stripes):
        truth = np.random.default_rng(stripe).integers(1, 9, (total, 5), np.uint8)
        top = 0
        for height in heights:
            rect = Rect(5 * stripe, top, 5, height)
            for piece, values in rows.add(rect, truth[top : top + height]):
                assert piece.y % 512 == 0
                assert piece.bottom % 512 == 0 or piece.bottom == total
                assert not written[piece.slices_from(0, 0)].any()
                written[piece.slices_from(0, 0)] = values
            top += height
        np.testing.assert_array_equal(written[:, 5 * stripe : 5 * stripe + 5], truth)
