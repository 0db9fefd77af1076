"""One meaning for all files: orientation, palette, alpha, nodata; oracles are OpenCV and rasterio."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest
import rasterio
import tifffile

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Rect, Size
from segstudio.imaging.orientation import Orientation
from segstudio.imaging.source import open_source

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


def _with_exif(jpeg: bytes, orientation: int) -> bytes:
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    segment = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + jpeg[2:]


@pytest.mark.parametrize("tag", range(1, 9))
def test_jpeg_orientation_is_what_opencv_shows(tmp_path, tag):
    stored = np.zeros((40, 64, 3), np.uint8)
    stored[:20, :16], stored[20:, 40:], stored[:10, 50:] = 250, 120, 60
    path = tmp_path / "turned.jpg"
    path.write_bytes(_with_exif(cv2.imencode(".jpg", stored, [cv2.IMWRITE_JPEG_QUALITY, 98])[1].tobytes(), tag))
    shown = cv2.imread(str(path), cv2.IMREAD_COLOR)[..., ::-1].astype(int)
    with open_source(path) as source:
        info = source.info
        assert (info.height, info.width, info.orientation) == (*shown.shape[:2], tag)
        whole = source.read(Rect(0, 0, info.width, info.height))
        assert np.abs(whole - shown).max() <= 3
        np.testing.assert_array_equal(source.read(Rect(5, 9, 20, 17)), whole[9:26, 5:25])


@pytest.mark.parametrize("tag", range(1, 9))
def test_tiff_orientation_turns_pixels(tmp_path, tag):
    stored = np.random.default_rng(tag).integers(0, 255, (50, 70), dtype=np.uint8)
    path = tmp_path / "turned.tif"
    tifffile.imwrite(path, stored, tile=(16, 16), extratags=[(274, 3, 1, tag, True)], metadata=None)
    turned = {
        1: stored,
        2: stored[:, ::-1],
        3: stored[::-1, ::-1],
        4: stored[::-1],
        5: stored.T,
        6: np.rot90(stored, -1),
        7: stored.T[::-1, ::-1],
        8: np.rot90(stored),
    }[tag]
    with open_source(path) as source:
        np.testing.assert_array_equal(source.read(Rect.of_size(source.info.size))[..., 0], turned)


@pytest.mark.parametrize("tag", range(1, 9))
def test_a_turned_pixel_keeps_its_place_on_the_map(tag):
    turn, stored = Orientation.of_tag(tag), Size(7, 5)
    transform = (2.0, 0.5, 100.0, 0.25, -3.0, 500.0)
    a, b, c, d, e, f = turn.upright_transform(transform, stored)
    for y in range(turn.upright_size(stored).height):
        for x in range(turn.upright_size(stored).width):
            at = turn.stored_rect(Rect(x, y, 1, 1), stored)
            want = (2 * (at.x + 0.5) + 0.5 * (at.y + 0.5) + 100, 0.25 * (at.x + 0.5) - 3 * (at.y + 0.5) + 500)
            assert (a * (x + 0.5) + b * (y + 0.5) + c, d * (x + 0.5) + e * (y + 0.5) + f) == pytest.approx(want)


def test_palette_is_expanded_or_kept(tmp_path):
    index = np.arange(64, dtype=np.uint8).reshape(8, 8) % 5
    colours = {0: (1, 2, 3), 1: (250, 0, 9), 2: (7, 200, 7), 3: (0, 0, 255), 4: (9, 9, 9)}
    path = tmp_path / "palette.png"
    with rasterio.open(path, "w", driver="PNG", width=8, height=8, count=1, dtype="uint8") as dataset:
        dataset.write(index, 1)
        dataset.write_colormap(1, colours)
    with open_source(path) as source:
        assert (source.info.bands, source.info.dtype) == (3, "uint8")
        got = source.read(Rect(0, 0, 8, 8))
    np.testing.assert_array_equal(got, np.array([colours[value] for value in range(5)], np.uint8)[index])
    np.testing.assert_array_equal(got, cv2.imread(str(path))[..., ::-1])
    with open_source(path, indexed=True) as source:
        assert source.info.bands == 1
        assert source.info.palette is not None
        assert source.info.palette[:5] == tuple(colours.values())
        np.testing.assert_array_equal(source.read(Rect(0, 0, 8, 8))[..., 0], index)


def test_one_bit_is_black_and_white_or_indices(tmp_path):
    bits = np.random.default_rng(0).integers(0, 2, (20, 33), dtype=np.uint8)
    path = tmp_path / "bits.tif"
    with rasterio.open(path, "w", driver="GTiff", width=33, height=20, count=1, dtype="uint8", nbits=1) as dataset:
        dataset.write(bits, 1)
    with open_source(path) as source:
        np.testing.assert_array_equal(source.read(Rect(0, 0, 33, 20))[..., 0], bits * 255)
    with open_source(path, indexed=True) as source:
        np.testing.assert_array_equal(source.read(Rect(0, 0, 33, 20))[..., 0], bits)


def test_alpha_is_validity_and_not_a_band(tmp_path):
    pixels = np.random.default_rng(0).integers(1, 255, (30, 40, 4), dtype=np.uint8)
    pixels[:10, :, 3] = 0
    path = tmp_path / "alpha.png"
    cv2.imwrite(str(path), pixels)
    with open_source(path) as source:
        assert source.info.bands == 3
        np.testing.assert_array_equal(source.read(Rect(0, 0, 40, 30)), pixels[..., 2::-1])
        valid = source.validity(Rect(3, 5, 20, 10))
        assert valid is not None
        np.testing.assert_array_equal(valid, pixels[5:15, 3:23, 3] != 0)
        assert source.validity(Rect(0, 15, 40, 15)) is None


def test_nodata_is_compared_in_the_stored_precision(tmp_path):
    nodata = -3.4e38
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    values[0, :2], values[2, 3] = nodata, np.nan
    path = tmp_path / "nodata.tif"
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=4,
        height=3,
        count=1,
        dtype="float32",
        nodata=float(np.float32(nodata)),
        transform=rasterio.Affine(1, 0, 1, 0, 1, 1),
    ) as dataset:
        dataset.write(values, 1)
    with open_source(path) as source:
        valid = source.validity(Rect(0, 0, 4, 3))
    assert valid is not None
    np.testing.assert_array_equal(valid, np.isfinite(values) & (values >= 0))


def test_a_pixel_is_nodata_when_all_its_bands_are(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 2, (3, 16, 16), dtype=np.uint8)
    path = tmp_path / "bands.tif"
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=16,
        height=16,
        count=3,
        dtype="uint8",
        nodata=0,
        transform=rasterio.Affine(1, 0, 1, 0, 1, 1),
    ) as dataset:
        dataset.write(pixels)
    with open_source(path) as source, rasterio.open(path) as dataset:
        np.testing.assert_array_equal(source.validity(Rect(0, 0, 16, 16)), dataset.dataset_mask() != 0)


def test_a_colour_picture_is_no_label_mask(tmp_path):
    path = tmp_path / "colour.png"
    cv2.imwrite(str(path), np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ImageError) as caught:
        open_source(path, indexed=True)
    assert caught.value.problem is ImageProblem.UNSUPPORTED


@pytest.mark.parametrize(
    "rect", [Rect(0, 0, 0, 0), Rect(-1, 0, 5, 5), Rect(0, 0, 11, 5), Rect(0, 8, 5, 3), Rect(50, 50, 1, 1)]
)
def test_a_rectangle_outside_is_refused(tmp_path, rect):
    path = tmp_path / "small.png"
    cv2.imwrite(str(path), np.zeros((10, 10), np.uint8))
    with open_source(path) as source:
        for read in (source.read, source.validity):
            with pytest.raises(ImageError) as caught:
                read(rect)
            assert caught.value.problem is ImageProblem.OUTSIDE
        with pytest.raises(ValueError, match="no level 1"):
            source.read(Rect(0, 0, 1, 1), level=1)
