"""Mask files: read back with rasterio, complete or not there at all."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import rasterio
import tifffile

from segstudio.core.errors import OutputError, OutputProblem
from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import tiles_of
from segstudio.imaging.geotiff import MaskWriter
from segstudio.imaging.source import open_source

COLOURS = {0: (255, 0, 0), 1: (0, 128, 0), 7: (10, 20, 30), 255: (0, 0, 0)}
TRANSFORM = (0.5, 0.0, 1000.0, 0.0, -0.5, 2000.0)


def _write(path, classes, **options):
    size = Size(classes.shape[1], classes.shape[0])
    options = {"crs": "EPSG:32618", "transform": TRANSFORM, **options}
    with MaskWriter(path, size, colours=COLOURS, **options) as writer:
        for rect in tiles_of(size):
            writer.write(rect, classes[rect.y : rect.bottom, rect.x : rect.right])


def test_reads_back_with_palette_and_georeference(tmp_path):
    classes = np.random.default_rng(0).choice(np.array([0, 1, 7, 255], np.uint8), (1100, 1300))
    path = tmp_path / "deep" / "mask.tif"
    _write(path, classes)
    with rasterio.open(path) as dataset:
        np.testing.assert_array_equal(dataset.read(1), classes)
        assert dataset.crs.to_string() == "EPSG:32618"
        assert tuple(dataset.transform)[:6] == TRANSFORM
        assert dataset.nodata == 255
        assert dataset.profile["compress"] == "deflate"
        assert dataset.block_shapes == [(512, 512)]
        colours = dataset.colormap(1)
        assert {slot: colours[slot][:3] for slot in COLOURS} == COLOURS
    with open_source(path, indexed=True) as source:
        np.testing.assert_array_equal(source.read(Rect(0, 0, 1300, 1100))[..., 0], classes)
    assert [item.name for item in path.parent.iterdir()] == ["mask.tif"]


def test_without_georeference(tmp_path):
    classes = np.zeros((5, 3), np.uint8)
    _write(tmp_path / "plain.tif", classes, crs=None, transform=None)
    with open_source(tmp_path / "plain.tif", indexed=True) as source:
        assert (source.info.crs, source.info.transform) == (None, None)


def test_a_mask_of_many_tiles_is_written_once_and_without_warnings(tmp_path):
    """Larger than what is held before the file is closed and opened again."""
    classes = np.random.default_rng(1).integers(0, 2, (6000, 3000), np.uint8)
    _write(tmp_path / "large.tif", classes, crs=None, transform=None)
    with tifffile.TiffFile(tmp_path / "large.tif") as file:
        np.testing.assert_array_equal(file.asarray(), classes)
        packed = sum(file.pages.first.databytecounts)
    assert (tmp_path / "large.tif").stat().st_size < 1.02 * packed + 8000


@pytest.mark.parametrize(
    "rect", [Rect(0, 0, 100, 512), Rect(256, 0, 512, 512), Rect(0, 0, 512, 700), Rect(512, 512, 512, 512)]
)
def test_a_cut_tile_is_a_programming_error_and_leaves_nothing(tmp_path, rect):
    with (
        pytest.raises(ValueError, match="whole tiles"),
        MaskWriter(tmp_path / "mask.tif", Size(1000, 800), colours=COLOURS, crs=None, transform=None) as writer,
    ):
        writer.write(rect, np.zeros((rect.height, rect.width), np.uint8))
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_keeps_the_earlier_file(tmp_path):
    path = tmp_path / "mask.tif"
    _write(path, np.full((600, 600), 1, np.uint8))
    before = path.read_bytes()
    with (
        pytest.raises(KeyError),
        MaskWriter(path, Size(600, 600), colours=COLOURS, crs=None, transform=None),
    ):
        raise KeyError
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["mask.tif"]


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "busy").write_text("")
    with pytest.raises(OutputError) as caught:
        _write(tmp_path / "busy" / "mask.tif", np.zeros((4, 4), np.uint8))
    assert caught.value.problem is OutputProblem.IS_FILE


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
@pytest.mark.parametrize("limit", [100, 20_000, 300_000])
def test_a_disk_that_takes_no_more_is_reported_and_leaves_nothing(tmp_path, limit):
    script = textwrap.dedent(
        """
        import resource
        import sys
        from pathlib import Path
        import numpy as np
        from segstudio.core.errors import OutputError
        from segstudio.core.geometry import Size
        from segstudio.core.tiles import tiles_of
        from segstudio.imaging.geotiff import MaskWriter

        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        size, noise = Size(1024, 1024), np.random.default_rng(0)
        try:
            with MaskWriter(Path(sys.argv[1]), size, colours={0: (1, 2, 3)}, crs=None, transform=None) as writer:
                for rect in tiles_of(size):
                    writer.write(rect, noise.integers(0, 200, (rect.height, rect.width), dtype=np.uint8))
        except OutputError as error:
            print(error.code)
        else:
            print("written")
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path / "mask.tif"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() in {"output.failed", "output.disk_full"}
    assert list(tmp_path.iterdir()) == []
