from __future__ import annotations

import numpy as np
import pytest

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect, Size, mirrored
from segstudio.patches.grid import GridOptions, plan


@pytest.mark.parametrize(
    ("patch", "quantum", "nearest"), [(500, 32, 512), (0, 4, 4), (-8, 4, 4), (2, 4, 4), (33, 32, 32), (1, 32, 32)]
)
def test_a_wrong_patch_side_names_the_nearest_right_one(patch, quantum, nearest):
    with pytest.raises(ModelError) as caught:
        GridOptions(patch, 0, quantum)
    assert caught.value.problem is ModelProblem.PATCH_SIDE
    assert caught.value.values == {"quantum": quantum, "nearest": nearest}
    GridOptions(nearest, 0, quantum)


@pytest.mark.parametrize(("overlap", "nearest"), [(-4, 0), (30, 32), (65, 64), (260, 256), (512, 256)])
def test_a_wrong_overlap_names_the_nearest_right_one(overlap, nearest):
    with pytest.raises(ModelError) as caught:
        GridOptions(512, overlap, 4)
    assert caught.value.problem is ModelProblem.OVERLAP
    assert caught.value.values == {"quantum": 4, "most": 256, "nearest": nearest}
    GridOptions(512, nearest, 4)


def test_half_of_an_odd_number_of_quanta_is_rounded_down():
    with pytest.raises(ModelError) as caught:
        GridOptions(96, 48, 32)
    assert caught.value.values["nearest"] == 32


def test_places_of_a_small_grid():
    grid = plan(Size(1000, 512), GridOptions(512, 64))
    assert (grid.rows, grid.columns, len(grid)) == (1, 3, 3)
    assert [patch.window for patch in grid] == [Rect(x, 0, 512, 512) for x in (0, 448, 896)]
    assert [patch.core for patch in grid] == [Rect(0, 0, 480, 512), Rect(480, 0, 448, 512), Rect(928, 0, 72, 512)]


def test_no_patch_more_than_needed():
    options = GridOptions(64, 16)
    assert [plan(Size(length, 1), options).columns for length in (1, 64, 65, 112, 113)] == [1, 1, 2, 2, 3]


def test_a_place_outside_the_grid_is_an_error():
    grid = plan(Size(100, 100), GridOptions(64, 0))
    for row, column in ((-1, 0), (0, -1), (2, 0), (0, 2)):
        with pytest.raises(IndexError):
            grid.patch(row, column)


def test_an_image_without_pixels_has_no_grid():
    with pytest.raises(ValueError, match="0 x 5"):
        plan(Size(0, 5), GridOptions(64, 0))


def test_patches_meeting_a_corner_pixel_of_four_windows():
    grid = plan(Size(300, 300), GridOptions(64, 16))
    found = [(patch.row, patch.column) for patch in grid.patches_meeting(Rect(50, 100, 1, 1))]
    assert found == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert list(grid.patches_meeting(Rect(50, 100, 0, 5))) == []
    assert list(grid.patches_meeting(Rect(5000, 0, 5, 5))) == []


def test_a_mirrored_axis_of_one_pixel_repeats_it():
    assert mirrored(-3, 5, 1).tolist() == [0] * 8


def test_mirrored_leaves_the_inside_alone():
    assert np.array_equal(mirrored(2, 7, 10), np.arange(2, 7))
