"""Budgets as ratios of CPU time against a reference operation measured in the same run: `make bench`.

Walls are printed nowhere: cores are shared. Each figure is the median of alternating rounds on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import imagecodecs
import numpy as np
import pytest
import tifffile
import torch

from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.core.resources import resource_root
from segstudio.imaging.source import open_source
from segstudio.imaging.tile_cache import BLOCKS
from segstudio.inference import openvino_backend
from segstudio.inference.backend import Backend
from segstudio.inference.devices import load_backend
from segstudio.inference.engine import EngineOptions, sweep
from segstudio.masks.class_choice import choose_classes

pytestmark = pytest.mark.slow

SAMPLE = resource_root() / "sample" / "dubai-tile8.tif"
MODEL = resource_root() / "models" / "default.json"
REGION = Rect(1024, 1024, 2048, 2048)


def medians(*operations: Callable[[], object], rounds: int = 7) -> list[float]:
    """Median CPU seconds of each operation, rounds interleaved."""
    for operation in operations:
        operation()
    spent: list[list[float]] = [[] for _ in operations]
    for _ in range(rounds):
        for times, operation in zip(spent, operations, strict=True):
            began = time.process_time()
            operation()
            times.append(time.process_time() - began)
    return [median(times) for times in spent]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> tuple[Backend, Backend]:
    monkeypatch.setitem(openvino_backend._CONFIG, "INFERENCE_NUM_THREADS", "1")
    torch.set_num_threads(1)
    return load_backend(MODEL, device="cpu", engine="openvino"), load_backend(MODEL, device="cpu", engine="torch")


def test_openvino_is_faster_than_eager_with_the_same_classes(engines: tuple[Backend, Backend]) -> None:
    """At least 1.5 times as fast, equal classes on at least 99.99 % of the pixels of a real picture."""
    side = engines[0].card.patch
    with open_source(SAMPLE) as source:
        pixels = source.read(Rect(2000, 2000, side, side))[None]
        maps = []
        for engine in engines:
            classes = np.empty((REGION.height, REGION.width), np.uint8)
            for block in sweep(source, engine, EngineOptions(region=REGION), JobContext()):
                classes[block.rect.slices_from(0, 0)] = block.classes
            maps.append(classes)
    agreement = float((maps[0] == maps[1]).mean())

    def run(engine: Backend) -> object:
        features = engine.pixels("encode", pixels)
        return engine.fuse(features, features)

    fast, eager = medians(lambda: run(engines[0]), lambda: run(engines[1]))
    print(
        f"\nOpenVINO {fast * 1e3:.1f} ms, eager {eager * 1e3:.1f} ms: {eager / fast:.2f} x; agreement {agreement:.6f}"
    )
    assert agreement >= 0.9999
    assert eager >= 1.5 * fast


def test_everything_round_the_network_is_cheap(engines: tuple[Backend, Backend]) -> None:
    """The whole pipeline over a picture against the bare network on as many patches: at most 1.25 times its CPU time."""
    engine = engines[0]
    side, step = engine.card.patch, engine.card.patch - engine.card.overlap
    patches = (-(-(REGION.width - engine.card.overlap) // step)) ** 2
    with open_source(SAMPLE) as source:
        pixels = source.read(Rect(2000, 2000, side, side))[None]

        def bare() -> None:
            for _ in range(patches):
                features = engine.pixels("encode", pixels)
                engine.fuse(features, features)

        def whole() -> None:
            for _ in sweep(source, engine, EngineOptions(region=REGION), JobContext()):
                pass

        bare_time, whole_time = medians(bare, whole, rounds=3)
    print(f"\n{patches} patches: bare {bare_time:.2f} s, pipeline {whole_time:.2f} s: {whole_time / bare_time:.3f} x")
    assert whole_time <= 1.25 * bare_time


def test_choosing_classes_beats_upsampling_and_argmax() -> None:
    scores = np.random.default_rng(0).standard_normal((8, 128, 128)).astype(np.float32)
    tensor = torch.from_numpy(scores)[None]
    torch.set_num_threads(1)

    def reference() -> object:
        return torch.nn.functional.interpolate(tensor, scale_factor=4, mode="bilinear").argmax(1)

    ours, theirs = medians(lambda: choose_classes(scores, 4, (0, 0), Rect(0, 0, 512, 512)), reference, rounds=15)
    print(f"\nchoice {ours * 1e3:.2f} ms, upsampling + argmax {theirs * 1e3:.2f} ms: {theirs / ours:.1f} x")
    assert theirs >= 4 * ours


def test_a_tile_costs_little_more_than_its_decoding(tmp_path: Path) -> None:
    """Aligned 512 tile of a JPEG TIFF: at most 1.3 times reading its bytes, decoding them and pasting them into an array."""
    picture = np.kron(np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8), np.ones((64, 64, 1), np.uint8))
    path = tmp_path / "tiles.tif"
    tifffile.imwrite(path, picture, tile=(512, 512), compression="jpeg", photometric="rgb")
    with tifffile.TiffFile(path) as file:
        page = file.pages.first
        offset, count, tables = page.dataoffsets[5], page.databytecounts[5], page.jpegtables
    with open_source(path) as source:

        def ours() -> object:
            BLOCKS.clear()
            return source.read(Rect(512, 512, 512, 512))

        def reference() -> object:
            out = np.empty((512, 512, 3), np.uint8)
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read(count)
            out[:] = imagecodecs.jpeg8_decode(data, tables=tables, colorspace="rgb", outcolorspace="rgb")
            return out

        mine, bare = medians(ours, reference, rounds=31)
    print(f"\ntile {mine * 1e3:.2f} ms, bare {bare * 1e3:.2f} ms: {mine / bare:.2f} x")
    assert mine <= 1.3 * bare
