from __future__ import annotations

import math

import pytest

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect, Size
from segstudio.patches.context import ContextOptions, ContextWindow, context_windows, roi_box


@pytest.mark.parametrize("ratio", [0.0, -3.0, 1.99, 16.01, 60.0, math.nan, -math.inf])
def test_ratios_that_say_nothing_are_refused(ratio):
    with pytest.raises(ModelError) as caught:
        ContextOptions(ratio)
    assert caught.value.problem is ModelProblem.CONTEXT
    assert caught.value.values == {"low": 2.0, "high": 16.0}


@pytest.mark.parametrize("ratio", [None, 4.0, math.inf])
def test_an_image_of_one_patch_needs_no_context(ratio):
    lattice = context_windows(Size(512, 300), 512, ContextOptions(ratio))
    assert lattice.window_for(Rect(0, 0, 512, 512)) is None
    assert list(lattice.windows()) == []


@pytest.mark.parametrize(
    ("ratio", "longer", "side"),
    [
        (None, 513, 513),
        (None, 16 * 512, 16 * 512),
        (None, 16 * 512 + 1, 8 * 512),
        (math.inf, 60 * 512, 60 * 512),
        (5.3, 60 * 512, 2714),
        (16.0, 60 * 512, 16 * 512),
        (8.0, 3 * 512, 3 * 512),
    ],
)
def test_side_of_the_windows(ratio, longer, side):
    lattice = context_windows(Size(300, longer), 512, ContextOptions(ratio))
    windows = list(lattice.windows())
    assert {window.rect.size for window in windows} == {Size(side, side)}
    assert windows[0].ratio(512) == side / 512
    assert (len(windows) == 1) == (side == longer)


def test_the_whole_image_lies_at_the_upper_left_of_its_square():
    window = context_windows(Size(3000, 1000), 512, ContextOptions(math.inf)).window_for(Rect(2688, 448, 512, 512))
    assert window == ContextWindow(Rect(0, 0, 3000, 3000), Rect(0, 0, 3000, 1000))


def test_windows_lie_half_a_side_apart_and_end_with_the_image():
    windows = list(context_windows(Size(2500, 100), 64, ContextOptions(8.0)).windows())
    starts = [0, 256, 512, 768, 1024, 1280, 1536, 1792, 1988]
    assert [window.rect for window in windows] == [Rect(x, 0, 512, 512) for x in starts]
    assert all(window.visible == Rect(window.rect.x, 0, 512, 100) for window in windows)


def test_a_tie_goes_to_the_upper_left_window():
    lattice = context_windows(Size(2048, 2048), 64, ContextOptions(8.0))
    # centres of windows are at 256, 512, ...: a patch centred at 384 lies between two of them
    window = lattice.window_for(Rect(352, 352, 64, 64))
    assert window is not None
    assert window.rect == Rect(0, 0, 512, 512)


def test_context_costs_about_four_by_the_square_of_the_ratio():
    size, patch, ratio = Size(100_000, 100_000), 512, 8.0
    windows = sum(1 for _ in context_windows(size, patch, ContextOptions(ratio)).windows())
    assert windows == pytest.approx(4 / ratio**2 * size.area / patch**2, rel=0.05)


def test_box_without_offset_is_the_plain_scale():
    box = roi_box(Rect(1024, 2048, 512, 512), Rect(0, 1024, 4096, 4096), patch=512, stride=4)
    assert box == (32.0, 32.0, 48.0, 48.0)


def test_box_with_offset():
    box = roi_box(Rect(1024, 512, 512, 512), Rect(0, 0, 4096, 4096), patch=512, stride=4, offset=(1.5, 0.0))
    assert box == (((1024 - 1.5) / 8 + 1.5) / 4, 16.0, ((1536 - 1.5) / 8 + 1.5) / 4, 32.0)
