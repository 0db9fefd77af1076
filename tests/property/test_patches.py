from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from segstudio.core.geometry import Rect, Size, mirrored
from segstudio.patches.blend import axis_core, axis_weights
from segstudio.patches.context import ContextOptions, context_windows, roi_box
from segstudio.patches.grid import GridOptions, plan

calm = settings(deadline=None, max_examples=80, derandomize=True)


@st.composite
def grid_options(draw, most_quanta=16):
    quantum = draw(st.sampled_from([1, 2, 4, 8, 32]))
    quanta = draw(st.integers(1, most_quanta))
    return GridOptions(quantum * quanta, quantum * draw(st.integers(0, quanta // 2)), quantum)


@st.composite
def lengths(draw, patch):
    return draw(
        st.one_of(st.sampled_from([1, max(1, patch - 1), patch, patch + 1, 3 * patch + 7]), st.integers(1, 9 * patch))
    )


@st.composite
def grids(draw):
    options = draw(grid_options())
    return plan(Size(draw(lengths(options.patch)), draw(lengths(options.patch))), options)


@calm
@given(grids())
def test_cores_tile_the_image_and_lie_in_their_windows(grid):
    image = Rect.of_size(grid.size)
    assert sum(patch.core.size.area for patch in grid) == grid.size.area
    for patch in grid:
        assert not patch.core.empty
        assert image.contains(patch.core)
        assert patch.window.contains(patch.core)
        if patch.column:
            assert grid.patch(patch.row, patch.column - 1).core.right == patch.core.x
        if patch.row:
            assert grid.patch(patch.row - 1, patch.column).core.bottom == patch.core.y


@calm
@given(grids())
def test_windows_are_squares_on_multiples_of_the_step_and_overlap_inside_the_image(grid):
    for patch in grid:
        assert patch.window.size == Size(grid.options.patch, grid.options.patch)
        assert patch.window.x == patch.column * grid.options.step
        assert patch.window.y == patch.row * grid.options.step
        if patch.column:
            assert patch.window.x + grid.options.overlap < grid.size.width
        if patch.row:
            assert patch.window.y + grid.options.overlap < grid.size.height


@pytest.mark.parametrize("overlap", [0, 4, 60, 64, 256])
def test_a_huge_image_is_covered_once_along_each_axis(overlap):
    grid = plan(Size(70_001, 1), GridOptions(512, overlap))
    seen = np.zeros(70_001, np.uint8)
    for patch in grid:
        seen[patch.core.x : patch.core.right] += 1
    assert np.all(seen == 1)
    assert len(list(plan(Size(1, 70_001), GridOptions(512, overlap)))) == len(grid)


@calm
@given(grids(), st.integers(-600, 3000), st.integers(-600, 3000), st.integers(0, 700), st.integers(0, 700))
def test_patches_meeting_a_rectangle_are_those_that_share_pixels(grid, x, y, width, height):
    rect = Rect(x, y, width, height)
    expected = [patch for patch in grid if not patch.window.intersect(rect).empty]
    assert list(grid.patches_meeting(rect)) == expected


@calm
@given(st.integers(1, 40), st.integers(0, 120), st.integers(0, 120))
def test_mirrored_is_what_numpy_calls_reflect(length, before, after):
    expected = np.pad(np.arange(length), (before, after), mode="reflect")
    assert np.array_equal(mirrored(-before, length + after, length), expected)


@calm
@given(grid_options(64), st.integers(1, 12))
def test_weights_of_neighbours_sum_to_one_and_cores_meet(options, count):
    cells, overlap = options.patch // options.quantum, options.overlap // options.quantum
    step = cells - overlap
    total = np.zeros((count - 1) * step + cells, np.float32)
    owned = np.zeros_like(total)
    for index in range(count):
        weights = axis_weights(index, count, cells, overlap)
        assert np.all((weights > 0) & (weights <= 1))
        total[index * step : index * step + cells] += weights
        low, high = axis_core(index, count, cells, overlap)
        owned[index * step + low : index * step + high] += 1
    np.testing.assert_allclose(total, 1, atol=2e-7)
    assert np.all(owned == 1)


@calm
@given(
    grid_options(),
    st.floats(0, 40),
    st.floats(0, 40),
    st.one_of(st.none(), st.just(math.inf), st.floats(2, 16)),
)
@example(GridOptions(33, 1, 1), 9.03, 21.7, 2.0)
@example(GridOptions(7, 3, 1), 16.2, 30.0, 2.07)
def test_a_patch_lies_in_the_window_whose_centre_is_nearest(options, wide, high, ratio):
    size = Size(1 + int(wide * options.patch), 1 + int(high * options.patch))
    lattice = context_windows(size, options.patch, ContextOptions(ratio))
    windows = list(lattice.windows())
    image = Rect.of_size(size)
    assert (not windows) == (size.longer <= options.patch)
    assert all(window.visible == window.rect.intersect(image) and not window.visible.empty for window in windows)
    if not windows:
        return
    xs, ys = (np.unique([getattr(window.rect, axis) for window in windows]) for axis in "xy")
    side = windows[0].rect.width
    assert len(windows) == len(xs) * len(ys)
    grid = plan(size, options)
    places = [grid.patch(row, 0) for row in range(grid.rows)] + [grid.patch(0, col) for col in range(grid.columns)]
    for patch in places:
        found = lattice.window_for(patch.window)
        assert found is not None
        assert found.rect.contains(patch.window.intersect(image))
        middle = options.patch / 2
        nearest_x = xs[np.argmin(np.abs(xs + side / 2 - patch.window.x - middle))]
        nearest_y = ys[np.argmin(np.abs(ys + side / 2 - patch.window.y - middle))]
        assert (found.rect.x, found.rect.y) == (nearest_x, nearest_y)


@calm
@given(
    st.sampled_from([64, 256, 512]),
    st.floats(1, 60),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(0, 1),
    st.sampled_from([2, 4, 8]),
)
def test_coarse_cells_look_at_the_same_spot_as_fine_ones(patch, ratio, dx, dy, place, stride):
    side = round(ratio * patch)
    context = Rect(100, 300, side, side)
    window = Rect(100 + int(place * (side - patch)), 300 + int((1 - place) * (side - patch)), patch, patch)
    box = roi_box(window, context, patch=patch, stride=stride, offset=(dx, dy))
    cells = np.arange(patch // stride)
    for low, high, offset, start, origin in (
        (box[0], box[2], dx, window.x, context.x),
        (box[1], box[3], dy, window.y, context.y),
    ):
        bins = low + (cells + 0.5) * (high - low) / len(cells) - 0.5
        coarse_spot = origin + (stride * bins + stride / 2 - offset) * side / patch
        fine_spot = start + stride * cells + stride / 2 - offset
        np.testing.assert_allclose(coarse_spot, fine_spot, atol=1e-6)
