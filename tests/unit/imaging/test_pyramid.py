"""Scaled reads are area averages of the whole, whatever the level and the pieces; the oracle is OpenCV's INTER_AREA."""

from __future__ import annotations

import tracemalloc

import cv2
import numpy as np
import pytest
import rasterio
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect, Size
from segstudio.imaging.info import Level
from segstudio.imaging.pyramid import level_for, read_scaled
from segstudio.imaging.source import open_source

WIDTH, HEIGHT = 1301, 1117


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    pixels = np.random.default_rng(2).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    path = tmp_path_factory.mktemp("pyramid") / "noise.tif"
    tifffile.imwrite(path, pixels, tile=(256, 256), photometric="rgb", metadata=None)
    with open_source(path) as source:
        yield source, pixels


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equals_opencv_for_any_part_and_ratio(noise, data):
    source, pixels = noise
    x, y = data.draw(st.integers(0, WIDTH - 1)), data.draw(st.integers(0, HEIGHT - 1))
    rect = Rect(x, y, data.draw(st.integers(1, WIDTH - x)), data.draw(st.integers(1, HEIGHT - y)))
    out = Size(data.draw(st.integers(1, rect.width)), data.draw(st.integers(1, rect.height)))
    got = read_scaled(source, rect, out, memory_bytes=1 << 20)
    part = pixels[y : rect.bottom, x : rect.right]
    want = cv2.resize(part, (out.width, out.height), interpolation=cv2.INTER_AREA)
    assert got.shape == (out.height, out.width, 3)
    assert got.dtype == np.uint8
    assert np.abs(got.astype(int) - want).max() <= 1


def test_pieces_do_not_change_the_result(noise):
    source, _ = noise
    rect, out = Rect(0, 0, WIDTH, HEIGHT), Size(97, 83)
    small = read_scaled(source, rect, out, memory_bytes=1)
    assert np.abs(small.astype(int) - read_scaled(source, rect, out, memory_bytes=1 << 30)).max() <= 1


def test_enlarging_repeats_pixels(noise):
    source, pixels = noise
    got = read_scaled(source, Rect(100, 50, 4, 3), Size(8, 9))
    np.testing.assert_array_equal(got, pixels[50:53, 100:104].repeat(3, axis=0).repeat(2, axis=1))


@pytest.mark.parametrize("side", [(1024, 768), (1001, 777)])
def test_levels_are_used_and_stay_in_register(tmp_path, side):
    width, height = side
    y, x = np.mgrid[:height, :width]
    full = (127 + 60 * np.sin(x / 40) + 60 * np.cos(y / 33)).astype(np.float32)
    path = tmp_path / "levels.tif"
    with tifffile.TiffWriter(path) as out:
        part = full
        out.write(full, tile=(128, 128), metadata=None)
        for _ in range(3):
            padded = np.pad(part, ((0, part.shape[0] % 2), (0, part.shape[1] % 2)), mode="edge")
            part = padded.reshape(padded.shape[0] // 2, 2, -1, 2).mean(axis=(1, 3))
            out.write(part, tile=(128, 128), subfiletype=1, metadata=None)
    with open_source(path) as source:
        assert len(source.info.levels) == 4
        out = Size(width // 9, height // 9)
        want = cv2.resize(full, (out.width, out.height), interpolation=cv2.INTER_AREA)
        got = read_scaled(source, Rect(0, 0, width, height), out)[..., 0]
        assert np.abs(got - want).max() < 1.5
        assert abs((got - want).mean()) < 0.05


def test_the_coarsest_level_that_is_fine_enough():
    levels = (Level(1000, 1000, 1.0), Level(500, 500, 2.0), Level(250, 250, 4.0))
    assert [level_for(levels, scale) for scale in (0.5, 1, 1.99, 2, 3.9, 4, 100)] == [0, 0, 0, 1, 1, 2, 2]


def test_invalid_pixels_do_not_bleed_into_averages(tmp_path):
    values = np.full((64, 64), 10, np.float32)
    values[:, 1::2] = np.nan
    values[32:] = np.nan
    path = tmp_path / "holes.tif"
    tifffile.imwrite(path, values, tile=(16, 16), metadata=None)
    with open_source(path) as source:
        got = read_scaled(source, Rect(0, 0, 64, 64), Size(8, 8))
    np.testing.assert_array_equal(got, np.full((8, 8, 1), 10, np.float32))


def test_nothing_valid_gives_zeros(tmp_path):
    path = tmp_path / "nothing.tif"
    tifffile.imwrite(path, np.full((20, 20), np.nan, np.float32), metadata=None)
    with open_source(path) as source:
        assert not read_scaled(source, Rect(0, 0, 20, 20), Size(3, 3)).any()


@pytest.mark.parametrize("rect", [Rect(0, 0, 0, 5), Rect(-1, 0, 5, 5), Rect(0, 0, WIDTH + 1, 5)])
def test_a_part_outside_is_refused(noise, rect):
    with pytest.raises(ImageError) as caught:
        read_scaled(noise[0], rect, Size(2, 2))
    assert caught.value.problem is ImageProblem.OUTSIDE


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_memory_does_not_follow_the_image(tmp_path):
    path = tmp_path / "long.tif"
    options = {"tiled": True, "blockxsize": 512, "blockysize": 512, "SPARSE_OK": True, "nodata": 9}
    with rasterio.open(path, "w", driver="GTiff", width=40_000, height=3_000, count=1, dtype="uint8", **options):
        pass
    with open_source(path) as source:
        tracemalloc.start()
        try:
            got = read_scaled(source, Rect(0, 0, 40_000, 3_000), Size(400, 30), memory_bytes=8 << 20)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert not got.any()
    assert peak < (8 << 20) + (64 << 20)
