"""Streamed palette PNG: read back with OpenCV and with the program's own reader."""

from __future__ import annotations

import tracemalloc

import cv2
import numpy as np
import pytest

from segstudio.core.geometry import Rect, Size
from segstudio.imaging.indexed_png import write_indexed_png
from segstudio.imaging.source import open_source

PALETTE = {0: (200, 10, 0), 1: (0, 99, 0), 254: (1, 1, 1), 255: (255, 255, 255)}


def test_reads_back(tmp_path):
    classes = np.random.default_rng(0).choice(np.array([0, 1, 254, 255], np.uint8), (333, 211))
    path = tmp_path / "mask.png"
    write_indexed_png(path, (classes[top : top + 50] for top in range(0, 333, 50)), Size(211, 333), PALETTE)
    with open_source(path, indexed=True) as source:
        np.testing.assert_array_equal(source.read(Rect(0, 0, 211, 333))[..., 0], classes)
    table = np.zeros((256, 3), np.uint8)
    for value, colour in PALETTE.items():
        table[value] = colour
    np.testing.assert_array_equal(cv2.imread(str(path))[..., ::-1], table[classes])


@pytest.mark.parametrize("blocks", [[(3, 9)], [(4, 10), (1, 10)], [(2, 10)]])
def test_rows_that_do_not_fit_leave_no_file(tmp_path, blocks):
    with pytest.raises(ValueError, match="for an image"):
        write_indexed_png(tmp_path / "mask.png", (np.zeros(shape, np.uint8) for shape in blocks), Size(10, 4), PALETTE)
    assert list(tmp_path.iterdir()) == []


def test_memory_follows_one_block(tmp_path):
    size = Size(20_000, 4_000)
    tracemalloc.start()
    try:
        rows = (np.full((64, size.width), top % 250, np.uint8) for top in range(0, 3968, 64))
        last = iter([np.zeros((32, size.width), np.uint8)])
        write_indexed_png(tmp_path / "big.png", (block for part in (rows, last) for block in part), size, PALETTE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20
