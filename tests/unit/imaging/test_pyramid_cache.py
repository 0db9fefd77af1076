"""Cached pyramids hold the repeated halves of the image; the oracle is OpenCV's INTER_AREA."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
import rasterio
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect, Size
from segstudio.core.jobs import JobContext
from segstudio.imaging.halving import halved
from segstudio.imaging.pyramid import read_scaled
from segstudio.imaging.pyramid_build import build
from segstudio.imaging.pyramid_cache import cache_file, levels_of, needs_pyramid, trim
from segstudio.imaging.pyramid_source import with_pyramid
from segstudio.imaging.pyramid_store import Picture
from segstudio.imaging.source import open_source
from tests.helpers.pyramids import Counted, half, opened, waves, whole, write_png, write_tiff

WIDTH, HEIGHT = 1301, 1117


@given(width=st.integers(1, 100_000), height=st.integers(1, 100_000))
def test_levels_are_rounded_up_and_end_with_one_tile(width, height):
    levels = levels_of(Size(width, height))
    assert [(level.width, level.height) for level in levels] == [
        (int(np.ceil(width / 2**n)), int(np.ceil(height / 2**n))) for n in range(len(levels))
    ]
    assert levels[-1].size.longer <= 512
    assert all(level.size.longer > 512 for level in levels[:-1])


def test_colour_png_equals_opencv_within_jpeg(tmp_path):
    pixels = waves(HEIGHT, WIDTH, 3)
    path = write_png(tmp_path / "a.png", pixels)
    with open_source(path) as source:
        ctx = JobContext()
        build(source, tmp_path / "cache", ctx)
        assert (ctx.snapshot().done, ctx.snapshot().total) == (3, 3)
    with opened(path, tmp_path / "cache") as source:
        assert [str(level.size) for level in source.info.levels] == ["1301 x 1117", "651 x 559", "326 x 280"]
        np.testing.assert_array_equal(source.read(whole(source, 0)), pixels)
        want = pixels
        for level in (1, 2):
            want = half(want)
            got = source.read(whole(source, level), level=level)
            assert np.abs(got.astype(int) - want).max() <= 8
            assert np.abs(got.astype(int) - want).mean() < 1
            assert source.validity(whole(source, level), level=level) is None


@pytest.mark.parametrize("bands", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["uint16", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("layout", [{}, {"tile": (256, 256)}])
def test_other_depths_equal_opencv_without_loss(tmp_path, bands, dtype, layout):
    top = 60_000 if dtype == "uint16" else 30_000
    pixels = waves(601, 517, bands, np.dtype(dtype), top)
    path = write_tiff(tmp_path / "a.tif", pixels, **layout)
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    with opened(path, tmp_path) as source:
        assert len(source.info.levels) == 2
        np.testing.assert_array_equal(source.read(whole(source, 0)), pixels)
        got = source.read(whole(source, 1), level=1)
        assert got.dtype == dtype
        want = half(pixels.astype(np.float64))
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=0.5 if np.dtype(dtype).kind in "iu" else 0.0)


def test_missing_values_stay_known(tmp_path):
    pixels = waves(HEIGHT, WIDTH, 2, np.float32, 50)
    pixels[:700, 400:901, 1] = np.nan
    path = write_tiff(tmp_path / "a.tif", pixels)
    known = np.isfinite(pixels).all(axis=2)
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    with opened(path, tmp_path) as source:
        total, count = np.where(known[..., None], pixels, 0), known
        for level in (1, 2):
            total = np.pad(total, ((0, total.shape[0] % 2), (0, total.shape[1] % 2), (0, 0)), mode="edge")
            count = np.pad(count, ((0, count.shape[0] % 2), (0, count.shape[1] % 2)), mode="edge")
            shape = (total.shape[0] // 2, 2, total.shape[1] // 2, 2)
            weights = count.reshape(shape).sum(axis=(1, 3))
            sums = total.reshape(*shape, 2).astype(np.float64).sum(axis=(1, 3))
            count = weights > 0
            total = np.where(count[..., None], sums / np.maximum(weights, 1)[..., None], 0)
            np.testing.assert_array_equal(source.validity(whole(source, level), level=level), count)
            got = source.read(whole(source, level), level=level)
            np.testing.assert_allclose(got[count], total[count], rtol=1e-5)
        assert source.validity(Rect(0, 600 // 2 + 100, 100, 50), level=1) is None


def test_nodata_of_8_bit_does_not_bleed(tmp_path):
    pixels = np.full((600, 1000, 3), 200, np.uint8)
    pixels[:, :301] = 0
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=1000, height=600, count=3, dtype="uint8", nodata=0,
                       crs="EPSG:32618", transform=rasterio.Affine(1, 0, 5, 0, -1, 5)) as out:  # fmt: skip
        out.write(pixels.transpose(2, 0, 1))
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    with opened(path, tmp_path) as source:
        valid = source.validity(whole(source, 1), level=1)
        np.testing.assert_array_equal(valid, np.broadcast_to(np.arange(500) >= 150, (300, 500)))
        got = source.read(whole(source, 1), level=1)
        assert np.abs(got[:, 152:].astype(int) - 200).max() <= 6


def test_alpha_is_validity_at_every_level(tmp_path):
    alpha = np.where(np.arange(1301) < 600, 0, 255).astype(np.uint8)
    pixels = np.dstack([waves(HEIGHT, WIDTH, 3), np.broadcast_to(alpha, (HEIGHT, WIDTH))])
    cv2.imwrite(str(tmp_path / "a.png"), pixels)
    with open_source(tmp_path / "a.png") as source:
        build(source, tmp_path, JobContext())
    with opened(tmp_path / "a.png", tmp_path) as source:
        assert source.info.bands == 3
        for level in range(3):
            valid = source.validity(whole(source, level), level=level)
            np.testing.assert_array_equal(valid[0], np.arange(valid.shape[1]) >= 600 >> level)
            assert (valid == valid[0]).all()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_halving_gives_the_mean_of_the_valid(data):
    height, width = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    dtype = data.draw(st.sampled_from(["uint8", "int8", "uint16", "uint32", "uint64", "float16", "float64"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    pixels = rng.integers(0, 100, (height, width, 2)).astype(dtype)
    valid = rng.random((height, width)) < 0.6
    got = halved(Picture(pixels, valid))
    for y in range(-(-height // 2)):
        for x in range(-(-width // 2)):
            # An edge that stands alone counts twice in both directions, which leaves the mean as it is.
            block = (slice(2 * y, 2 * y + 2), slice(2 * x, 2 * x + 2))
            part = pixels[block][valid[block]]
            assert bool(got.valid[y, x]) is (len(part) > 0)
            if len(part):
                tolerance = 0.5 + 1e-3 if np.dtype(dtype).kind != "f" else 0.05
                assert np.abs(got.pixels[y, x].astype(float) - part.astype(float).mean(axis=0)).max() <= tolerance


def test_largest_numbers_of_64_bits_do_not_overflow():
    top = np.full((2, 2, 1), np.iinfo(np.uint64).max, np.uint64)
    assert halved(Picture(top, None)).pixels[0, 0, 0] > 2**63


def test_second_opening_decodes_nothing(tmp_path):
    path = write_png(tmp_path / "a.png", waves(HEIGHT, WIDTH, 3))
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
        again = Counted(source)
        build(again, tmp_path, JobContext())
        shown = with_pyramid(again, tmp_path)
        for level in range(3):
            shown.read(whole(shown, level), level=level)
            shown.validity(whole(shown, level), level=level)
        thumbnail = read_scaled(shown, whole(shown, 0), Size(130, 111))
        assert again.calls == 0
        want = read_scaled(source, whole(source, 0), Size(130, 111))
        assert np.abs(thumbnail.astype(int) - want).max() <= 8
        shown.close()


def test_small_images_need_none(tmp_path):
    small = write_png(tmp_path / "small.png", waves(512, 100, 3))
    with open_source(small) as source:
        assert not needs_pyramid(source.info)
        build(source, tmp_path / "cache", JobContext())
        assert with_pyramid(source, tmp_path / "cache") is source
    assert not (tmp_path / "cache").exists()


def test_threads_see_the_same(tmp_path):
    path = write_png(tmp_path / "a.png", waves(HEIGHT, WIDTH, 3))
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    rects = [Rect(37 * n, 19 * n, 200, 150) for n in range(24)]
    with opened(path, tmp_path) as source, ThreadPoolExecutor(4) as pool:
        full = source.read(whole(source, 0))
        for rect, got in zip(rects, pool.map(source.read, rects), strict=True):
            np.testing.assert_array_equal(got, full[rect.slices_from(0, 0)])


def test_outside_is_an_error(tmp_path):
    path = write_png(tmp_path / "a.png", waves(600, 600, 1))
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    with opened(path, tmp_path) as source:
        with pytest.raises(ImageError) as caught:
            source.read(Rect(0, 0, 301, 10), level=1)
        assert caught.value.problem is ImageProblem.OUTSIDE
        with pytest.raises(ValueError, match="no level 2"):
            source.read(Rect(0, 0, 1, 1), level=2)


def test_a_changed_file_gets_a_new_pyramid(tmp_path):
    path = write_png(tmp_path / "a.png", waves(600, 700, 3))
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
        before = cache_file(source.info, tmp_path)
    write_png(path, 255 - waves(600, 700, 3))
    with opened(path, tmp_path) as source:
        assert len(source.info.levels) == 1
        after = cache_file(source.info, tmp_path)
        assert after != before
        os.utime(path, ns=(1, 1))
        assert cache_file(source.info, tmp_path) not in {before, after}


def damage_tiles(file):
    with sqlite3.connect(file) as connection:
        for row, data in connection.execute("SELECT rowid, data FROM tile").fetchall():
            changed = bytearray(data)
            changed[-9] ^= 1
            connection.execute("UPDATE tile SET data = ? WHERE rowid = ?", (bytes(changed), row))
    connection.close()


def damage_rows(file):
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM tile WHERE level = 1")
    connection.close()


def damage_head(file):
    file.write_bytes(b"no database" + file.read_bytes()[11:])


def damage_end(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("damage", [damage_tiles, damage_rows, damage_head, damage_end])
def test_a_damaged_file_is_never_seen_and_built_again(tmp_path, damage):
    pixels = waves(HEIGHT, WIDTH, 1, np.uint16, 60_000)
    path = write_png(tmp_path / "a.png", pixels)
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
        file = cache_file(source.info, tmp_path)
    damage(file)
    with opened(path, tmp_path) as source:
        for level in range(len(source.info.levels)):
            np.testing.assert_array_equal(source.read(whole(source, level), level=level), pixels)
            assert source.validity(whole(source, level), level=level) is None
            pixels = half(pixels)
    assert not file.exists()
    with open_source(path) as source:
        build(source, tmp_path, JobContext())
    with opened(path, tmp_path) as source:
        assert len(source.info.levels) == 3


def test_trim_removes_the_least_recently_used(tmp_path):
    files = []
    for number in range(3):
        path = write_png(tmp_path / f"{number}.png", waves(600, 700 + number, 1))
        with open_source(path) as source:
            build(source, tmp_path, JobContext())
            files.append(cache_file(source.info, tmp_path))
        os.utime(files[-1], (1000 + number, 1000 + number))
    opened(tmp_path / "0.png", tmp_path).close()
    young, old = tmp_path / ".young.part", tmp_path / ".old.part"
    young.mkdir()
    old.mkdir()
    os.utime(old, (1000, 1000))
    trim(tmp_path)
    assert all(file.exists() for file in files)
    assert (young.exists(), old.exists()) == (True, False)
    trim(tmp_path, files[0].stat().st_size + files[2].stat().st_size)
    assert [file.exists() for file in files] == [True, False, True]
    trim(tmp_path, 0)
    assert not any(file.exists() for file in files)


def test_images_with_levels_need_none_unless_they_are_decoded_from_the_top(tmp_path):
    pixels = waves(600, 1400, 3)
    with tifffile.TiffWriter(tmp_path / "a.tif") as out:
        out.write(pixels, tile=(256, 256), photometric="rgb", metadata=None)
        out.write(half(pixels), tile=(256, 256), photometric="rgb", subfiletype=1, metadata=None)
    cv2.imwrite(str(tmp_path / "a.jpg"), pixels)
    for name, needed in [("a.tif", False), ("a.jpg", True)]:
        with open_source(tmp_path / name) as source:
            assert len(source.info.levels) > 1
            assert needs_pyramid(source.info) is needed
