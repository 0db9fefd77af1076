"""Reading beyond the image: mirrored windows and padded squares, against numpy and OpenCV."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.geometry import Rect
from segstudio.imaging.source import open_source
from segstudio.imaging.windows import read_mirrored, read_square

SHAPE = (37, 53, 3)


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, SHAPE, np.uint8)


@pytest.fixture(scope="module")
def path(picture: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("windows") / "picture.tif", picture)


def write(path: Path, picture: np.ndarray, **options: object) -> Path:
    height, width, bands = picture.shape
    profile = {"driver": "GTiff", "width": width, "height": height, "count": bands, "dtype": picture.dtype.name}
    transform = rasterio.Affine(2, 0, 0, 0, -2, 0)
    with rasterio.open(path, "w", **profile, transform=transform, **options) as dataset:
        dataset.write(picture.transpose(2, 0, 1))
    return path


@settings(max_examples=60, deadline=None)
@given(x=st.integers(-20, 50), y=st.integers(-20, 30), width=st.integers(1, 90), height=st.integers(1, 90))
def test_mirrored_window_is_a_window_of_the_reflected_picture(
    path: Path, picture: np.ndarray, x: int, y: int, width: int, height: int
) -> None:
    pad = 150
    reflected = np.pad(picture, ((pad, pad), (pad, pad), (0, 0)), "reflect")
    with open_source(path) as source:
        pixels, valid = read_mirrored(source, Rect(x, y, width, height))
    np.testing.assert_array_equal(pixels, reflected[pad + y : pad + y + height, pad + x : pad + x + width])
    assert valid is None


def test_mirrored_validity_follows_the_pixels(tmp_path: Path, picture: np.ndarray) -> None:
    holed = picture.copy()
    holed[:, :4] = 0
    with open_source(write(tmp_path / "holed.tif", holed, nodata=0)) as source:
        pixels, valid = read_mirrored(source, Rect(-3, 0, 20, 10))
    assert valid is not None
    np.testing.assert_array_equal(valid, (pixels != 0).any(2))


def test_whole_picture_fills_the_longer_side_and_pads_the_rest(path: Path, picture: np.ndarray) -> None:
    with open_source(path) as source:
        pixels, valid = read_square(source, Rect(0, 0, 53, 53), 20)
    height = round(37 * 20 / 53)
    assert valid is not None
    assert valid[:height].all()
    assert not valid[height:].any()
    expected = cv2.resize(picture, (20, height), interpolation=cv2.INTER_AREA)
    assert np.abs(pixels[:height].astype(int) - expected).max() <= 1


def test_square_inside_needs_no_padding(path: Path, picture: np.ndarray) -> None:
    with open_source(path) as source:
        pixels, valid = read_square(source, Rect(4, 2, 32, 32), 16)
    assert valid is None
    expected = cv2.resize(picture[2:34, 4:36], (16, 16), interpolation=cv2.INTER_AREA)
    assert np.abs(pixels.astype(int) - expected).max() <= 1


def test_a_strip_keeps_at_least_one_pixel(tmp_path: Path) -> None:
    strip = np.full((2000, 1, 1), 9, np.uint8)
    with open_source(write(tmp_path / "strip.tif", strip)) as source:
        pixels, valid = read_square(source, Rect(0, 0, 2000, 2000), 64)
    assert valid is not None
    assert valid.sum() == 64
    assert (pixels[valid] == 9).all()


def test_square_that_begins_before_the_picture(path: Path, picture: np.ndarray) -> None:
    with open_source(path) as source:
        pixels, valid = read_square(source, Rect(-16, -16, 64, 64), 32)
    assert valid is not None
    assert not valid[:8].any()
    assert valid[8:26, 8:].all()
    expected = cv2.resize(picture[:37, :48], (24, 18), interpolation=cv2.INTER_AREA)
    assert np.abs(pixels[8:26, 8:].astype(int) - expected).max() <= 1
