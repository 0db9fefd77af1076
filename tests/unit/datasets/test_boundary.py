"""Boundary F1 against distances of all pairs, whole and in tiles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable, LabelClass
from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import tiles_of
from segstudio.datasets.boundary import BoundaryCounts

TABLE = ClassTable(tuple(LabelClass(slot, f"class {slot}", (slot, 0, 0)) for slot in (0, 1, 5)))


def edge_points(labels: np.ndarray, slot: int, unlabelled: np.ndarray) -> np.ndarray:
    height, width = labels.shape
    return np.array(
        [
            (y, x)
            for y, x in zip(*np.nonzero((labels == slot) & ~unlabelled), strict=True)
            if any(
                0 <= v < height and 0 <= u < width and not unlabelled[v, u] and labels[v, u] != slot
                for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1))
            )
        ]
    ).reshape(-1, 2)


def near(points: np.ndarray, others: np.ndarray, tolerance: int) -> int:
    """How many points have another one within the tolerance, from the distances of all pairs."""
    squares = ((points[:, None] - others[None]) ** 2).sum(axis=2)
    return int((squares <= tolerance**2).any(axis=1).sum()) if len(others) else 0


def brute_force(truth: np.ndarray, prediction: np.ndarray, tolerance: int) -> list[list[int]]:
    unlabelled = truth >= IGNORE
    columns = []
    for slot in TABLE.slots:
        true = edge_points(truth, slot, unlabelled)
        found = edge_points(prediction, slot, unlabelled)
        columns.append([len(true), near(true, found, tolerance), len(found), near(found, true, tolerance)])
    return np.array(columns).T.tolist()


def blobs(seed: int, height: int, width: int) -> np.ndarray:
    """Labels with areas of a few pixels, some unlabelled."""
    rng = np.random.default_rng(seed)
    coarse = rng.choice([0, 0, 1, 1, 5, IGNORE, UNTOUCHED, 77], (-(-height // 4), -(-width // 4)))
    return np.kron(coarse, np.ones((4, 4), np.uint8))[:height, :width].astype(np.uint8)


@given(
    seed=st.integers(0, 2**31),
    height=st.integers(1, 30),
    width=st.integers(1, 30),
    tolerance=st.integers(0, 4),
    side=st.integers(3, 12),
)
@settings(max_examples=60, deadline=None)
def test_tiles_with_a_halo_count_what_all_pairs_say(
    seed: int, height: int, width: int, tolerance: int, side: int
) -> None:
    truth, prediction = blobs(seed, height, width), blobs(seed + 1, height, width)
    counts = BoundaryCounts(TABLE, tolerance)
    whole = Rect(0, 0, width, height)
    halo = counts.halo
    for tile in tiles_of(Size(width, height), side):
        window = Rect(tile.x - halo, tile.y - halo, tile.width + 2 * halo, tile.height + 2 * halo).intersect(whole)
        inside = window.slices_from(0, 0)
        counts.add(truth[inside], prediction[inside], tile.moved(-window.x, -window.y))
    assert counts.counts.tolist() == brute_force(truth, prediction, tolerance)


def halves(width: int, border: int) -> np.ndarray:
    labels = np.zeros((10, width), np.uint8)
    labels[:, border:] = 1
    return labels


@pytest.mark.parametrize(("shift", "f1"), [(0, 1.0), (3, 1.0), (4, 0.0)])
def test_a_shifted_border_is_right_up_to_the_tolerance(shift: int, f1: float) -> None:
    counts = BoundaryCounts(TABLE, 3)
    counts.add(halves(40, 20), halves(40, 20 + shift), Rect(0, 0, 40, 10))
    assert counts.f1[:2].tolist() == [f1, f1]
    assert counts.mean_f1 == f1
    assert math.isnan(counts.f1[2])


def test_without_any_boundary_there_is_no_score() -> None:
    counts = BoundaryCounts(TABLE)
    counts.add(np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8), Rect(0, 0, 9, 9))
    assert math.isnan(counts.mean_f1)


def test_a_missed_boundary_scores_zero() -> None:
    counts = BoundaryCounts(TABLE)
    counts.add(halves(20, 10), np.zeros((10, 20), np.uint8), Rect(0, 0, 20, 10))
    assert counts.mean_f1 == 0
