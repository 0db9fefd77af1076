"""Real odd files against what reference readers say of them. Skipped where the shared cases are not checked out."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from segstudio.core.errors import ImageError
from segstudio.core.geometry import Rect
from segstudio.imaging.source import ImageSource, open_source

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "open"
EXPECTED: dict[str, dict[str, Any]] = (
    json.loads((CASES / "expected.json").read_text(encoding="utf-8")) if (CASES / "expected.json").exists() else {}
)
pytestmark = pytest.mark.skipif(not EXPECTED, reason="the shared cases are not here")

LEFT = {
    "CT_small.dcm": "image.unsupported",
    "MR_truncated.dcm": "image.unsupported",
    "SC_rgb_jpeg_dcmtk.dcm": "image.unsupported",
    "SC_rgb_rle_2frame.dcm": "image.unsupported",
    "dubai_t7p1_v04.ome.zarr": "image.is_folder",
    "ome_zarr_py_v1.zarr": "image.is_folder",
    "gray.c8.tif": "image.unsupported",
}
"""Sound files that this version refuses, with the reason it gives: DICOM, OME-Zarr, complex numbers."""

DAMAGED = {
    "broken_data_stream.png": "image.broken",
    "corrupt.tif": "image.truncated",
    "crash-338516dbd2f0e83caddb8ce256c22db3bd6dc40f.tif": "image.truncated",
    "oom-225817ca0f8c663be7ab4b9e717b02c661e66834.tif": "image.truncated",
    "seek_too_large.tif": "image.truncated",
    "truncated.jpg": "image.truncated",
    "truncated_image.png": "image.truncated",
}
"""Damaged files, refused when opened or at the latest when their pixels are read."""

ALPHA = {"alpha.tif", "rgba.separate.tiled.u1.tif", "tiff_strip_cmyk_jpeg.tif", "tiff_tiled_cmyk_jpeg.tif"}
"""The reference counts alpha as a band; here it is validity."""

PALETTE = {"cog_cmap.tif", "palette-1c-4b.tiff"}
"""The reference gives indices; here `indexed=True` does."""

OTHER_DECODER = {"cogeo.tif": 5, "tiff_tiled_ycbcr_jpeg_2x2_sampling.tif": 6}
"""Subsampled JPEG chroma, where decoders differ: largest difference from GDAL's pixels."""

NOT_FINITE = {"cog_nodata_nan.tif": 4}
"""Pixels that are NaN although nodata is 0: the reference calls them valid."""

NAMES = sorted(path.name for path in CASES.glob("*") if path.name not in {"MANIFEST.md", "expected.json"})
SOUND = [name for name in NAMES if name not in LEFT and name not in DAMAGED]
_WHOLE_UP_TO = 20_000_000


def _whole(source: ImageSource, level: int = 0) -> np.ndarray[Any, Any]:
    return source.read(Rect.of_size(source.info.levels[level].size), level=level)


def _read_everything(path: Path) -> None:
    with open_source(path) as source:
        for number in range(len(source.info.levels)):
            _whole(source, number)


@pytest.mark.parametrize("name", SOUND)
def test_size_type_and_pixels(name):
    expected = EXPECTED.get(name, {})
    with open_source(CASES / name, indexed=name in PALETTE) as source:
        info = source.info
        found = {"width": info.width, "height": info.height, "dtype": info.dtype}
        found["bands"] = info.bands + (name in ALPHA)
        assert found == {key: expected.get(key, found[key]) for key in found}
        for pixel in expected.get("pixels", ()):
            got = source.read(Rect(pixel["x"], pixel["y"], 1, 1))[0, 0].astype(float)
            want = np.array(pixel["values"], float)[: info.bands]
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=OTHER_DECODER.get(name, 0), equal_nan=True)


@pytest.mark.parametrize("name", SOUND)
def test_every_level_reads_whole_and_in_part(name):
    with open_source(CASES / name) as source:
        for number, level in enumerate(source.info.levels):
            if level.size.area <= _WHOLE_UP_TO:
                whole = _whole(source, number)
                assert whole.shape == (level.height, level.width, source.info.bands)
                assert whole.dtype == source.info.dtype
                rect = Rect(level.width // 3, level.height // 3, -(-level.width // 3), -(-level.height // 3))
                part = source.read(rect, level=number)
                np.testing.assert_array_equal(part, whole[rect.y : rect.bottom, rect.x : rect.right])


@pytest.mark.parametrize("name", [name for name in SOUND if "valid_pixels" in EXPECTED.get(name, {})])
def test_valid_pixels(name):
    with open_source(CASES / name) as source:
        valid = source.validity(Rect.of_size(source.info.size))
        count = source.info.size.area if valid is None else int(valid.sum())
    assert count == EXPECTED[name]["valid_pixels"] - NOT_FINITE.get(name, 0)


@pytest.mark.parametrize("name", [name for name in SOUND if "transform" in EXPECTED.get(name, {})])
def test_georeference(name):
    identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    with open_source(CASES / name) as source:
        assert list(source.info.transform or identity) == pytest.approx(EXPECTED[name]["transform"])


@pytest.mark.parametrize("name", [*LEFT, *DAMAGED])
def test_what_is_refused_is_refused_with_its_reason_and_soon(name):
    start = time.process_time()
    with pytest.raises(ImageError) as caught:
        _read_everything(CASES / name)
    assert caught.value.code == {**LEFT, **DAMAGED}[name]
    assert caught.value.subject == str(CASES / name)
    assert time.process_time() - start < 5


def test_the_tables_name_files_that_exist():
    assert {*LEFT, *DAMAGED, *ALPHA, *PALETTE, *OTHER_DECODER, *NOT_FINITE} <= set(NAMES)
