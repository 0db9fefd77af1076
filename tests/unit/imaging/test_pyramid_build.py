"""A pyramid is built in one pass and bounded memory, in a process that may be killed at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import active_children

import cv2
import numpy as np
import pytest
import rasterio

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Size
from segstudio.core.jobs import Cancelled, JobContext
from segstudio.imaging.orientation import Orientation
from segstudio.imaging.pyramid_build import build
from segstudio.imaging.pyramid_child import build_in_child
from segstudio.imaging.source import open_source
from segstudio.imaging.tile_cache import BLOCKS
from tests.helpers.pyramids import Counted, half, opened, waves, whole, write_png, write_tiff

WIDTH, HEIGHT = 1301, 1117


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_files_are_upright_at_every_level(tmp_path, orientation):
    path = write_tiff(tmp_path / "a.tif", waves(1030, 700, 1, np.uint16, 9999), rowsperstrip=64,
                      extratags=[(274, 3, 1, orientation, True)])  # fmt: skip
    with open_source(path) as source:
        want = source.read(whole(source, 0))
        counted = Counted(source)
        build(counted, tmp_path, JobContext())
    turn = Orientation.of_tag(orientation)
    rows = [turn.stored_rect(rect, Size(700, 1030)) for rect in counted.reads]
    assert all(row.width == 700 for row in rows)
    assert [row.y for row in rows] == sorted({row.y for row in rows}), "one pass from the first stored row to the last"
    assert sum(row.height for row in rows) == 1030
    with opened(path, tmp_path) as source:
        for level in range(3):
            np.testing.assert_array_equal(source.read(whole(source, level), level=level), want)
            want = half(want)


class CancelAt(JobContext):
    def advance(self, steps=1):
        super().advance(steps)
        if self.snapshot().done == 2:
            self.cancel()


@pytest.mark.parametrize("in_child", [False, True])
def test_cancel_leaves_nothing(tmp_path, in_child):
    path = write_png(tmp_path / "a.png", waves(4000, 700, 3))
    cache = tmp_path / "cache"
    with open_source(path) as source:
        work = partial(build_in_child, path) if in_child else partial(build, source)
        with pytest.raises(Cancelled):
            work(cache, CancelAt())
    assert list(cache.iterdir()) == []
    assert active_children() == []


def test_child_reports_progress_and_the_result_is_the_same(tmp_path):
    path = write_png(tmp_path / "a.png", waves(HEIGHT, WIDTH, 3))
    ctx = JobContext()
    build_in_child(path, tmp_path / "child", ctx)
    assert (ctx.snapshot().stage, ctx.snapshot().done, ctx.snapshot().total) == ("pyramid", 3, 3)
    with open_source(path) as source:
        build(source, tmp_path / "here", JobContext())
    (one,), (other,) = (tmp_path / "child").iterdir(), (tmp_path / "here").iterdir()
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()


def test_child_passes_the_reason_of_a_failure_on(tmp_path):
    path = write_png(tmp_path / "a.png", np.random.default_rng(0).integers(0, 256, (900, 700, 3), dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:900_000])
    with pytest.raises(ImageError) as caught:
        build_in_child(path, tmp_path / "cache", JobContext())
    assert caught.value.problem is ImageProblem.TRUNCATED
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_killed_child_is_an_error_and_the_next_build_works(tmp_path):
    path = write_png(tmp_path / "a.png", np.random.default_rng(0).integers(0, 256, (9000, 1400, 3), dtype=np.uint8))
    ctx = JobContext()

    def kill():
        while ctx.snapshot().done < 2:
            time.sleep(0.005)
        for child in active_children():
            os.kill(child.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with pytest.raises(ImageError) as caught:
        build_in_child(path, tmp_path / "cache", ctx)
    killer.join()
    assert caught.value.problem is ImageProblem.BROKEN
    assert list((tmp_path / "cache").iterdir()) == []
    build_in_child(path, tmp_path / "cache", JobContext())
    with opened(path, tmp_path / "cache") as source:
        assert len(source.info.levels) == 6


def test_two_builds_of_the_same_at_once(tmp_path):
    path = write_png(tmp_path / "a.png", waves(3000, 1400, 3))
    with ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(build_in_child, path, tmp_path / "cache", JobContext()) for _ in range(2)]:
            job.result()
    assert len(list((tmp_path / "cache").iterdir())) == 1
    with opened(path, tmp_path / "cache") as source:
        np.testing.assert_array_equal(source.read(whole(source, 0)), waves(3000, 1400, 3))


def peak_of_building(path, folder):
    """MB of Python's and numpy's memory; the rows of GDAL's cache come on top, and are bounded by its own limit."""
    tracemalloc.start()
    try:
        with open_source(path) as source:
            build(source, folder, JobContext())
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def test_memory_follows_the_width_only(tmp_path, monkeypatch):
    monkeypatch.setattr(BLOCKS, "_budget", BLOCKS._budget)  # the wide picture raises it for the whole process
    peaks = {}
    for name, width, height in [("short", 1000, 20_000), ("long", 1000, 60_000), ("wide", 60_000, 600)]:
        path = tmp_path / f"{name}.tif"
        row = np.arange(width * 3, dtype=np.uint8).reshape(1, width, 3)
        with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=3, dtype="uint8",
                           interleave="pixel", compress="deflate", blockysize=16, photometric="rgb",
                           crs="EPSG:32618", transform=rasterio.Affine(1, 0, 5, 0, -1, 5)) as out:  # fmt: skip
            for top in range(0, height, 200):
                block = np.broadcast_to(row, (200, width, 3)).transpose(2, 0, 1)
                out.write(block, window=rasterio.windows.Window(0, top, width, 200))
        peaks[name] = peak_of_building(path, tmp_path / "cache")
    strips = 60_000 * 512 * 3 / 1e6
    print({name: round(peak, 1) for name, peak in peaks.items()}, "MB; one wide strip", strips)
    assert peaks["long"] < 1.05 * peaks["short"]
    assert peaks["wide"] < 5 * strips


_COST = """
import sys, time
from pathlib import Path
from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.imaging.orientation import Orientation
from segstudio.imaging.pyramid import read_scaled
from segstudio.imaging.pyramid_build import build
from segstudio.imaging.source import open_source
path, folder = Path(sys.argv[1]), Path(sys.argv[2])
def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
before = peak()
with open_source(path) as source:
    start = time.process_time()
    if sys.argv[3] == "scan":
        for top in range(0, source.info.height, 512):
            source.read(Rect(0, top, source.info.width, min(512, source.info.height - top)))
    else:
        build(source, folder, JobContext())
    print(time.process_time() - start, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_cost_against_a_plain_scan(tmp_path, kind):
    side = 8192
    rng = np.random.default_rng(0)
    rough = cv2.resize(rng.integers(0, 256, (side // 8, side // 8, 3), dtype=np.uint8), (side, side))
    path = tmp_path / f"a.{kind}"
    cv2.imwrite(str(path), cv2.add(rough, rng.integers(0, 6, (side, side, 3), dtype=np.uint8)))
    costs, memories = {}, {}
    for work in ("scan", "build"):
        command = [sys.executable, "-c", _COST, str(path), str(tmp_path / "cache"), work]
        seconds, memory = map(float, subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())
        costs[work], memories[work] = seconds, memory
        print(f"{kind} {work}: {side * side / 1e6 / seconds:.1f} MP per CPU second, +{memory:.0f} MB")
    stored = sum(file.stat().st_size for file in (tmp_path / "cache").iterdir())
    print(
        f"{kind}: {path.stat().st_size / 1e6:.0f} MB become {stored / 1e6:.0f} MB, {costs['build'] / costs['scan']:.2f} x"
    )
    assert costs["build"] <= 2.5 * costs["scan"]
    assert memories["build"] <= 300
