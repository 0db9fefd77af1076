"""Every layout that the block reader claims gives what tifffile and rasterio give for the whole array."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect
from segstudio.imaging.source import open_source

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

WIDTH, HEIGHT = 333, 257

LAYOUTS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "tiled": ("uint8", 3, {"tile": (64, 48)}),
    "tiled-deflate-predictor": ("uint16", 4, {"tile": (128, 128), "compression": "deflate", "predictor": True}),
    "tiled-zstd": ("int16", 1, {"tile": (64, 64), "compression": "zstd"}),
    "tiled-lzw-float-predictor": ("float32", 2, {"tile": (64, 64), "compression": "lzw", "predictor": True}),
    "tiled-float64": ("float64", 1, {"tile": (32, 32), "compression": "deflate"}),
    "tiled-float16": ("float16", 1, {"tile": (32, 32)}),
    "tiled-separate": ("uint8", 5, {"tile": (64, 64), "planarconfig": "separate", "compression": "deflate"}),
    "tiled-13-bands": ("uint16", 13, {"tile": (64, 64)}),
    "striped": ("uint8", 3, {"rowsperstrip": 7}),
    "striped-lzw": ("uint8", 3, {"rowsperstrip": 16, "compression": "lzw", "predictor": True}),
    "striped-separate": ("uint16", 3, {"rowsperstrip": 5, "planarconfig": "separate", "compression": "packbits"}),
    "one-strip": ("uint32", 1, {"rowsperstrip": HEIGHT}),
    "big": ("uint8", 3, {"tile": (64, 64), "bigtiff": True}),
    "big-endian": ("uint16", 2, {"tile": (64, 64), "byteorder": ">"}),
}


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request, tmp_path_factory):
    dtype, bands, options = LAYOUTS[request.param]
    shape = (HEIGHT, WIDTH, bands)
    values = np.random.default_rng(3).integers(0, 1 << 15, shape).astype(dtype)
    path = tmp_path_factory.mktemp("tiff") / f"{request.param}.tif"
    separate = options.get("planarconfig") == "separate"
    stored = np.moveaxis(values, -1, 0) if separate else values
    options = {
        "photometric": "rgb" if bands == 3 else "minisblack",
        "planarconfig": "contig" if bands > 1 else None,
        "extrasamples": ["unspecified"] * (bands - 1) if bands not in {1, 3} else None,
        **options,
    }
    layout = {"bigtiff": options.pop("bigtiff", False), "byteorder": options.pop("byteorder", "<")}
    with tifffile.TiffWriter(path, **layout) as out:
        out.write(stored[..., 0] if bands == 1 else stored, metadata=None, **options)
    with open_source(path) as source:
        yield source, values, path


def _same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_is_read_by_the_block_reader_and_not_by_the_fallback(layout):
    source, values, _ = layout
    assert source.info.reader == f"tifffile {tifffile.__version__}"
    assert (source.info.height, source.info.width, source.info.bands) == values.shape
    assert source.info.dtype == values.dtype


def test_equals_rasterio(layout):
    source, values, path = layout
    if values.dtype == np.float16:
        pytest.skip("GDAL widens float16")
    with rasterio.open(path) as dataset:
        whole = dataset.read().transpose(1, 2, 0)
    _same(source.read(Rect(0, 0, WIDTH, HEIGHT)), whole)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_rectangle_is_the_slice_of_the_whole(layout, data):
    source, values, _ = layout
    x, y = data.draw(st.integers(0, WIDTH - 1)), data.draw(st.integers(0, HEIGHT - 1))
    rect = Rect(x, y, data.draw(st.integers(1, WIDTH - x)), data.draw(st.integers(1, HEIGHT - y)))
    _same(source.read(rect), values[y : rect.bottom, x : rect.right])


def test_many_threads_read_the_same_pixels(layout):
    source, values, _ = layout
    failures: list[BaseException] = []

    def sweep(seed: int) -> None:
        generator = np.random.default_rng(seed)
        try:
            for _ in range(25):
                x, y = int(generator.integers(WIDTH - 1)), int(generator.integers(HEIGHT - 1))
                rect = Rect(x, y, min(90, WIDTH - x), min(90, HEIGHT - y))
                _same(source.read(rect), values[y : rect.bottom, x : rect.right])
        except (ImageError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=sweep, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_jpeg_tiles_give_rgb_close_to_gdal(tmp_path):
    ramp = np.linspace(0, 255, 256, dtype=np.uint8)
    pixels = np.stack(
        [np.tile(ramp, (256, 1)), np.tile(ramp[:, None], (1, 256)), np.full((256, 256), 90, np.uint8)], -1
    )
    path = tmp_path / "jpeg.tif"
    options = {"compress": "jpeg", "photometric": "ycbcr", "tiled": True, "blockxsize": 128, "blockysize": 128}
    with rasterio.open(path, "w", driver="GTiff", width=256, height=256, count=3, dtype="uint8", **options) as dataset:
        dataset.write(pixels.transpose(2, 0, 1))
    with open_source(path) as source, rasterio.open(path) as dataset:
        got = source.read(Rect(0, 0, 256, 256)).astype(int)
        assert source.info.reader.startswith("tifffile")
        assert np.abs(got - dataset.read().transpose(1, 2, 0)).max() <= 6
        assert np.abs(got - pixels).mean() < 2


@pytest.mark.parametrize("sub_ifds", [True, False])
def test_stored_levels_are_read_as_stored(tmp_path, sub_ifds):
    full = np.random.default_rng(1).integers(0, 255, (300, 431, 3), dtype=np.uint8)
    parts = [np.ascontiguousarray(full[::step, ::step]) for step in (2, 4, 8)]
    path = tmp_path / "levels.ome.tif"
    with tifffile.TiffWriter(path) as out:
        out.write(full, tile=(64, 64), photometric="rgb", subifds=3 if sub_ifds else None, metadata=None)
        for part in parts:
            out.write(part, tile=(64, 64), photometric="rgb", subfiletype=1, metadata=None)
    with open_source(path) as source:
        assert [level.downsample for level in source.info.levels] == [1, 2, 4, 8]
        for number, want in enumerate([full, *parts]):
            level = source.info.levels[number]
            assert (level.height, level.width) == want.shape[:2] == (-(-300 // 2**number), -(-431 // 2**number))
            _same(source.read(Rect(0, 0, level.width, level.height), level=number), want)
            _same(source.read(Rect(7, 3, 11, 13), level=number), want[3:16, 7:18])


def test_a_huge_sparse_file_reads_as_nodata(tmp_path):
    path = tmp_path / "sparse.tif"
    options = {
        "tiled": True,
        "blockxsize": 512,
        "blockysize": 512,
        "SPARSE_OK": True,
        "nodata": 7,
        "compress": "deflate",
    }
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=100_000,
        height=100_000,
        count=1,
        dtype="uint8",
        transform=rasterio.Affine(1, 0, 10, 0, -1, 10),
        **options,
    ) as dataset:
        dataset.write(np.full((1, 512, 512), 3, np.uint8), window=rasterio.windows.Window(51200, 51200, 512, 512))
    assert path.stat().st_size < 2 << 20
    with open_source(path) as source:
        part = source.read(Rect(51700, 51200, 100, 2))
        assert (part[:, :12] == 3).all()
        assert (part[:, 12:] == 7).all()
        valid = source.validity(Rect(51700, 51200, 100, 2))
        assert valid is not None
        np.testing.assert_array_equal(valid, part[..., 0] == 3)


@pytest.mark.parametrize("compression", [None, "deflate", "lzw", "zstd", "jpeg"])
def test_damage_in_a_block_is_an_error_that_names_the_file(tmp_path, compression):
    pixels = np.random.default_rng(0).integers(0, 255, (256, 256, 3), dtype=np.uint8)
    path = tmp_path / "cut.tif"
    tifffile.imwrite(path, pixels, tile=(128, 128), photometric="rgb", compression=compression, metadata=None)
    with tifffile.TiffFile(path) as file:
        last = file.pages.first.dataoffsets[-1]
    with path.open("r+b") as file:
        file.truncate(last + 500)
    with open_source(path) as source:
        _same(source.read(Rect(0, 0, 10, 10)), source.read(Rect(0, 0, 10, 10)))
        with pytest.raises(ImageError) as caught:
            source.read(Rect(200, 200, 10, 10))
    assert caught.value.problem is ImageProblem.TRUNCATED
    assert caught.value.subject == str(path)


@pytest.mark.parametrize("compression", ["deflate", "lzw", "zstd", "jpeg"])
def test_a_block_that_is_overwritten_is_an_error(tmp_path, compression):
    pixels = (np.add.outer(np.arange(256), np.arange(256 * 3)) // 7 % 251).astype(np.uint8).reshape(256, 256, 3)
    path = tmp_path / "zeros.tif"
    tifffile.imwrite(path, pixels, tile=(128, 128), photometric="rgb", compression=compression, metadata=None)
    with tifffile.TiffFile(path) as file:
        offset, count = file.pages.first.dataoffsets[-1], file.pages.first.databytecounts[-1]
    with path.open("r+b") as file:
        file.seek(offset + count // 2)
        file.write(bytes(count - count // 2))
    with open_source(path) as source, pytest.raises(ImageError) as caught:
        source.read(Rect(200, 200, 56, 56))
    assert caught.value.problem in {ImageProblem.BROKEN, ImageProblem.TRUNCATED}


def test_georeference_is_kept(tmp_path):
    path = tmp_path / "geo.tif"
    transform = rasterio.Affine(0.5, 0, 1000, 0, -0.25, 2000)
    with rasterio.open(
        path, "w", driver="GTiff", width=64, height=64, count=1, dtype="uint8", crs="EPSG:32618", transform=transform
    ) as dataset:
        dataset.write(np.zeros((1, 64, 64), np.uint8))
    with open_source(path) as source:
        info = source.info
    assert info.crs == "EPSG:32618"
    assert info.transform == (0.5, 0, 1000, 0, -0.25, 2000)
    assert info.pixel_size is not None
    assert (info.pixel_size.x, info.pixel_size.y, info.pixel_size.unit) == (0.5, 0.25, "m")
    assert Path(info.path) == path
