"""Formats that decode from the top: same pixels from any thread, and each row decoded once per sweep."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import tiles_of
from segstudio.imaging.source import open_source


@pytest.mark.parametrize("suffix", ["png", "bmp", "jpg"])
def test_threads_read_the_slices_of_the_whole(tmp_path, suffix):
    y, x = np.mgrid[:900, :1100]
    pixels = np.stack([x // 5 % 256, y // 4 % 256, (x + y) // 9 % 256], -1).astype(np.uint8)
    path = tmp_path / f"picture.{suffix}"
    cv2.imwrite(str(path), pixels)
    with open_source(path) as source:
        whole = source.read(Rect.of_size(source.info.size))
        if suffix != "jpg":
            np.testing.assert_array_equal(whole, cv2.imread(str(path))[..., ::-1])
        tiles = list(tiles_of(source.info.size, 100))
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(source.read, tiles))
    for tile, part in zip(tiles, parts, strict=True):
        np.testing.assert_array_equal(part, whole[tile.y : tile.bottom, tile.x : tile.right])


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_a_sweep_of_tiles_costs_about_one_decode(tmp_path, suffix):
    size = Size(20_000, 1_536)
    y, x = np.mgrid[: size.height, : size.width]
    path = tmp_path / f"wide.{suffix}"
    cv2.imwrite(str(path), np.stack([x % 251, y % 241, (x + y) % 239], -1).astype(np.uint8))
    with open_source(path) as source:
        start = time.process_time()
        source.read(Rect.of_size(size))
        once = time.process_time() - start
    with open_source(path) as source:
        start = time.process_time()
        for tile in tiles_of(size):
            source.read(tile)
        sweep = time.process_time() - start
    assert sweep < 3 * once


def test_levels_of_a_jpeg_are_the_decoders_own(tmp_path):
    y, x = np.mgrid[:1501, :2003]
    pixels = (127 + 60 * np.sin(x / 90) + 60 * np.cos(y / 70)).astype(np.uint8)
    path = tmp_path / "smooth.jpg"
    cv2.imwrite(str(path), pixels)
    with open_source(path) as source:
        assert [level.downsample for level in source.info.levels] == [1, 2, 4, 8]
        level = source.info.levels[2]
        assert (level.width, level.height) == (501, 376)
        got = source.read(Rect(0, 0, 500, 375), level=2)[..., 0].astype(int)
    want = cv2.resize(pixels[:1500, :2000], (500, 375), interpolation=cv2.INTER_AREA)
    assert np.abs(got - want).mean() < 1


def test_reading_after_closing_is_an_error(tmp_path):
    path = tmp_path / "picture.png"
    cv2.imwrite(str(path), np.zeros((8, 8), np.uint8))
    source = open_source(path)
    source.close()
    source.close()
    with pytest.raises(ValueError, match="closed"):
        source.read(Rect(0, 0, 1, 1))
