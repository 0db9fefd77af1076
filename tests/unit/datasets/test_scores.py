"""Confusion matrix and what follows from it, against torchmetrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.classification import multiclass_accuracy, multiclass_f1_score, multiclass_jaccard_index

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable, LabelClass
from segstudio.datasets.scores import Confusion

TABLE = ClassTable(tuple(LabelClass(slot, f"class {slot}", (slot, 0, 0)) for slot in (0, 2, 9, 253)))
SLOTS = np.array(TABLE.slots)


def label_maps(seed: int, height: int, width: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth with ignored and untouched pixels and a prediction right in about half of the pixels; class numbers."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, kinds, (height, width))
    prediction = np.where(rng.random((height, width)) < 0.5, truth, rng.integers(0, len(TABLE), (height, width)))
    return np.where(rng.random((height, width)) < 0.1, -1, truth), prediction


@given(seed=st.integers(0, 2**32), height=st.integers(1, 40), width=st.integers(1, 40), kinds=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_scores_are_those_of_torchmetrics(seed: int, height: int, width: int, kinds: int) -> None:
    truth, prediction = label_maps(seed, height, width, kinds)
    confusion = Confusion(TABLE)
    confusion.add(
        np.where(truth < 0, np.where(np.indices(truth.shape)[0] % 2, IGNORE, UNTOUCHED), SLOTS[truth]).astype(np.uint8),
        SLOTS[prediction].astype(np.uint8),
    )
    present = np.unique(truth[truth >= 0])
    if not present.size:
        assert math.isnan(confusion.miou)
        assert math.isnan(confusion.accuracy)
        return
    arguments = torch.from_numpy(prediction), torch.from_numpy(truth)
    options = {"num_classes": len(TABLE), "ignore_index": -1}
    iou = multiclass_jaccard_index(*arguments, average="none", **options).numpy()
    f1 = multiclass_f1_score(*arguments, average="none", **options).numpy()
    assert confusion.iou[present] == pytest.approx(iou[present])
    assert confusion.f1[present] == pytest.approx(f1[present])
    assert confusion.miou == pytest.approx(iou[present].mean())
    assert confusion.mean_f1 == pytest.approx(f1[present].mean())
    assert confusion.accuracy == pytest.approx(float(multiclass_accuracy(*arguments, average="micro", **options)))


@given(seed=st.integers(0, 2**32), cut=st.integers(1, 29))
@settings(max_examples=20, deadline=None)
def test_parts_add_up_to_the_whole(seed: int, cut: int) -> None:
    truth, prediction = (SLOTS[item].astype(np.uint8) for item in label_maps(seed, 30, 20, 4))
    whole, parts = Confusion(TABLE), Confusion(TABLE)
    whole.add(truth, prediction)
    parts.add(truth[:cut], prediction[:cut])
    parts.add(truth[cut:], prediction[cut:])
    assert np.array_equal(whole.matrix, parts.matrix)
    assert whole.matrix.sum() == truth.size


def test_a_prediction_of_no_class_is_wrong() -> None:
    confusion = Confusion(TABLE)
    confusion.add(np.array([[0, 0, 2, 2]], np.uint8), np.array([[0, UNTOUCHED, 2, 77]], np.uint8))
    assert confusion.accuracy == 0.5
    assert confusion.iou[:2].tolist() == [0.5, 0.5]
    assert confusion.matrix[:, -1].tolist() == [1, 1, 0, 0]


def test_a_class_only_predicted_has_no_place_in_the_mean() -> None:
    confusion = Confusion(TABLE)
    confusion.add(np.array([[0, 0, 0, 0]], np.uint8), np.array([[0, 0, 0, 9]], np.uint8))
    assert confusion.miou == 0.75
    assert confusion.iou[2] == 0
    assert math.isnan(confusion.iou[1])


def test_a_large_map_is_counted_in_pieces_to_the_same_sum() -> None:
    rng = np.random.default_rng(0)
    truth, prediction = (SLOTS[rng.integers(0, 4, (1500, 1501))].astype(np.uint8) for _ in range(2))
    confusion = Confusion(TABLE)
    confusion.add(truth, prediction)
    pairs = [[np.count_nonzero((truth == a) & (prediction == b)) for b in SLOTS] for a in SLOTS]
    assert np.array_equal(confusion.matrix[:, :-1], pairs)


def test_maps_of_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        Confusion(TABLE).add(np.zeros((2, 3), np.uint8), np.zeros((3, 2), np.uint8))
