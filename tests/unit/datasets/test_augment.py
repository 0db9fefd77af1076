"""Changes of training pictures keep picture, labels and box together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from segstudio.datasets.augment import ColourChange, GeometricChange

SIDE = 12


def test_the_eight_changes_are_the_turns_and_mirrored_turns() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    turned = {np.rot90(side, k).tobytes() for side in (picture, picture[:, ::-1]) for k in range(4)}
    changed = [GeometricChange(code).apply(picture) for code in range(8)]
    assert {item.tobytes() for item in changed} == turned
    assert all(item.flags.c_contiguous for item in changed)
    assert np.array_equal(changed[0], picture)


@given(
    code=st.integers(0, 7),
    x=st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)),
    y=st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)),
)
def test_a_box_goes_where_its_pixels_go(code: int, x: tuple[int, int], y: tuple[int, int]) -> None:
    (x0, x1), (y0, y1) = sorted(x), sorted(y)
    change = GeometricChange(code)
    painted = np.zeros((SIDE, SIDE), np.uint8)
    painted[y0:y1, x0:x1] = 1
    expected = np.zeros((SIDE, SIDE), np.uint8)
    left, top, right, bottom = (int(value) for value in change.apply_to_box((x0, y0, x1, y1), SIDE))
    expected[top:bottom, left:right] = 1
    assert np.array_equal(change.apply(painted), expected)


@pytest.mark.parametrize("code", [-1, 8])
def test_there_are_no_other_changes(code: int) -> None:
    with pytest.raises(ValueError, match="0 to 7"):
        GeometricChange(code)


@pytest.mark.parametrize(("dtype", "bands"), [(np.uint8, 3), (np.uint16, 4), (np.float32, 1)])
def test_the_neutral_colour_change_changes_nothing(dtype, bands: int) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (20, 30, bands)).astype(dtype)
    changed = ColourChange().apply(picture)
    assert changed.dtype == dtype
    assert np.allclose(changed, picture, atol=1e-4)


def test_brightness_and_contrast_are_linear_and_clipped() -> None:
    picture = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    changed = ColourChange(brightness=0.1, contrast=1.5).apply(picture)
    expected = np.clip(np.rint((picture - 127.5) * 1.5 + 127.5 + 25.5), 0, 255)
    assert np.abs(changed.astype(int) - expected).max() <= 1  # halves may round either way in float32
    assert changed.max() == 255


def test_no_saturation_is_grey_and_four_bands_are_no_colours() -> None:
    picture = np.random.default_rng(2).integers(0, 256, (9, 9, 3), np.uint8)
    grey = ColourChange(saturation=0).apply(picture)
    assert np.array_equal(grey[..., 0], grey[..., 1])
    assert np.array_equal(grey[..., 0], grey[..., 2])
    four = np.concatenate([picture, picture[..., :1]], axis=2)
    assert np.array_equal(ColourChange(saturation=0).apply(four), four)


def test_blur_is_gaussian() -> None:
    picture = np.random.default_rng(3).normal(size=(40, 40, 2)).astype(np.float32)
    blurred = ColourChange(blur=0.9).apply(picture, centre=0, spread=1)
    oracle = gaussian_filter(picture, (0.9, 0.9, 0), mode="mirror", truncate=4)
    assert np.abs(blurred - oracle)[5:-5, 5:-5].max() < 0.01


def test_noise_has_the_asked_strength_and_follows_the_seed() -> None:
    picture = np.zeros((200, 200, 3), np.float32)
    one = ColourChange(noise=0.02, seed=5).apply(picture, centre=0, spread=100)
    assert one.std() == pytest.approx(2.0, rel=0.02)
    assert np.array_equal(one, ColourChange(noise=0.02, seed=5).apply(picture, centre=0, spread=100))
    assert not np.array_equal(one, ColourChange(noise=0.02, seed=6).apply(picture, centre=0, spread=100))


def test_random_changes_follow_the_generator_and_vary() -> None:
    one, again = np.random.default_rng(4), np.random.default_rng(4)
    colours = [ColourChange.random(one) for _ in range(50)]
    assert colours == [ColourChange.random(again) for _ in range(50)]
    assert len(set(colours)) == 50
    assert {GeometricChange.random(one).code for _ in range(200)} == set(range(8))
