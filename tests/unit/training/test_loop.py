"""The training loop on a small real set: it learns, stops on nonsense, and goes on exactly where it stopped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from segstudio.app.learning import measure_normalisation, train
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.jobs import Cancelled, JobContext
from segstudio.datasets.ingest import open_dataset
from segstudio.datasets.sampling import index_labels
from segstudio.datasets.splits import Part
from segstudio.networks.checkpoint import load_network
from segstudio.training.batches import BatchMaker, class_indices
from segstudio.training.config import TrainConfig
from segstudio.training.losses import LossOptions
from tests.helpers.command_line import write_mask

SIDE = 192
QUICK = TrainConfig("light-nano", steps=4, batch=4, group=2, patch=64, validate_every=2, learning_rate=5e-3)


def quiet(_row: Mapping[str, object]) -> None:
    return None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two pictures: dark is class 3, bright is class 7; the left edge is unlabelled; the second is for validation."""
    folder = tmp_path / "data"
    rng = np.random.default_rng(0)
    for number, name in enumerate(("first", "second")):
        labels = np.where(np.add.outer(np.arange(SIDE) // 48, np.arange(SIDE) // 48 + number) % 2, 3, 7)
        pixels = np.where(labels == 7, 180, 70)[..., None] + rng.integers(-40, 40, (SIDE, SIDE, 3))
        labels[:, :8] = 254
        (folder / "images").mkdir(parents=True, exist_ok=True)
        write_mask(folder / "images" / f"{name}.png", pixels)
        write_mask(folder / "masks" / f"{name}.png", labels)
    whole = [{"x": 0, "y": 0, "width": SIDE, "height": SIDE}]
    (folder / "splits.json").write_text(
        json.dumps({"version": 1, "images": {"first": {"train": whole}, "second": {"val": whole}}})
    )
    classes = [{"slot": 3, "name": "dark", "colour": "#000000"}, {"slot": 7, "name": "bright", "colour": "#ffffff"}]
    (folder / "classes.json").write_text(json.dumps({"classes": classes}))
    return folder


@pytest.mark.parametrize("network", ["light-nano", "context-light"])
def test_a_model_comes_out_that_can_be_used(data: Path, tmp_path: Path, network: str) -> None:
    config = dataclasses.replace(QUICK, network=network)
    rows: list[Mapping[str, object]] = []
    card = train(data, config, tmp_path / "run", tmp_path / "out" / "mine.json", JobContext(), rows.append)
    assert [row["step"] for row in rows] == [2, 4]
    assert card.training["images"] == ["first"]
    assert card.normalisation.mean == pytest.approx([125.0] * 3, abs=5)
    found, _ = load_network(tmp_path / "out" / "mine.json")
    assert all(torch.isfinite(parameter).all() for parameter in found.parameters())
    assert (tmp_path / "out" / card.files[found.graphs[0]][0]).is_file()


def test_it_learns(data: Path, tmp_path: Path) -> None:
    config = dataclasses.replace(QUICK, steps=40, validate_every=20)
    card = train(data, config, tmp_path / "run", tmp_path / "mine.json", JobContext(), quiet)
    scores = card.scores["val"]
    assert isinstance(scores, dict)
    assert scores["miou"] > 0.8


@pytest.mark.parametrize("network", ["light-nano", "context-light"])
def test_a_run_that_was_stopped_ends_with_the_same_weights(data: Path, tmp_path: Path, network: str) -> None:
    config = dataclasses.replace(QUICK, network=network)
    train(data, config, tmp_path / "whole", tmp_path / "whole.json", JobContext(), quiet)
    ctx = JobContext()
    with pytest.raises(Cancelled):
        train(data, config, tmp_path / "cut", tmp_path / "cut.json", ctx, lambda _row: ctx.cancel())
    assert not (tmp_path / "cut.json").exists()
    train(data, config, tmp_path / "cut", tmp_path / "cut.json", JobContext(), quiet)
    whole, cut = (load_network(tmp_path / f"{name}.json")[0].state_dict() for name in ("whole", "cut"))
    for key, value in whole.items():
        torch.testing.assert_close(cut[key], value, rtol=1e-4, atol=1e-5)


def test_another_recipe_does_not_continue_a_run(data: Path, tmp_path: Path) -> None:
    train(data, QUICK, tmp_path / "run", tmp_path / "a.json", JobContext(), quiet)
    other = dataclasses.replace(QUICK, learning_rate=1e-3)
    with pytest.raises(DataError) as caught:
        train(data, other, tmp_path / "run", tmp_path / "a.json", JobContext(), quiet)
    assert caught.value.problem is DataProblem.RESUME_MISMATCH
    assert "learning_rate" in caught.value.detail


def test_a_loss_that_is_not_finite_stops_at_once_and_names_the_place(data: Path, tmp_path: Path) -> None:
    config = dataclasses.replace(QUICK, losses=LossOptions(class_weights=(float("inf"), 1.0)))
    with pytest.raises(DataError) as caught:
        train(data, config, tmp_path / "run", tmp_path / "a.json", JobContext(), quiet)
    assert caught.value.problem is DataProblem.LOSS_NOT_FINITE
    assert "first at" in caught.value.subject
    assert not (tmp_path / "a.json").exists()


def maker_of(data: Path, config: TrainConfig) -> BatchMaker:
    from segstudio.networks.spec import ContextCard

    dataset = open_dataset(data)
    index = index_labels(dataset, Part.TRAIN, JobContext())
    return BatchMaker(index, config, measure_normalisation(dataset), ContextCard(None, (1.5, 1.5)), 4)


def test_batches_depend_on_seed_and_step_alone(data: Path) -> None:
    config = dataclasses.replace(QUICK, network="context-light")
    one, two = maker_of(data, config), maker_of(data, config)
    one.make(0)
    first, second, other = one.make(5), two.make(5), two.make(6)
    np.testing.assert_array_equal(first.pixels, second.pixels)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.context is not None
    assert second.context is not None
    np.testing.assert_array_equal(first.context.pixels, second.context.pixels)
    assert not np.array_equal(first.pixels, other.pixels)
    one.close()
    two.close()


def test_the_roi_weights_find_the_patch_in_its_coarse_picture(data: Path) -> None:
    """Whatever symmetry was drawn: the coarse view, cropped by the weights, is the patch shrunk."""
    config = dataclasses.replace(QUICK, network="context-light", batch=16, group=4)
    maker = maker_of(data, config)
    for step in range(4):
        batch = maker.make(step)
        assert batch.context is not None
        cells = batch.pixels.shape[2] // 4
        for patch, owner, rows, columns in zip(
            batch.pixels, batch.context.owner, batch.context.rows, batch.context.columns, strict=True
        ):
            coarse = batch.context.pixels[owner].mean(0).reshape(cells, 4, cells, 4).mean((1, 3))
            seen = rows @ coarse @ columns.T
            fine = patch.mean(0).reshape(cells, 4, cells, 4).mean((1, 3))
            assert np.corrcoef(seen.ravel(), fine.ravel())[0, 1] > 0.6
    maker.close()


@pytest.mark.parametrize(("size", "windows"), [(1, 1), (3, 3), (4, 2)])
def test_any_batch_is_filled(data: Path, size: int, windows: int) -> None:
    maker = maker_of(data, dataclasses.replace(QUICK, network="context-light", batch=size))
    batch = maker.make(0)
    assert batch.context is not None
    assert (len(batch.pixels), len(batch.context.pixels)) == (size, windows)
    maker.close()


def test_a_damaged_state_is_named(data: Path, tmp_path: Path) -> None:
    train(data, QUICK, tmp_path / "run", tmp_path / "a.json", JobContext(), quiet)
    for name, content in (("state.safetensors", b"\xff" * 50), ("state.json", b"{")):
        (tmp_path / "run" / name).write_bytes(content)
        with pytest.raises(DataError) as caught:
            train(data, QUICK, tmp_path / "run", tmp_path / "a.json", JobContext(), quiet)
        assert caught.value.problem is DataProblem.RUN_DAMAGED


def test_labels_are_class_indices(data: Path) -> None:
    dataset = open_dataset(data)
    table = class_indices(dataset)
    assert table[[3, 7, 254, 255, 0]].tolist() == [0, 1, 254, 255, 255]
    maker = maker_of(data, QUICK)
    assert set(np.unique(maker.make(1).labels)) <= {0, 1, 254, 255}
    maker.close()


@pytest.mark.parametrize(("field", "value"), [("steps", 0), ("batch", 0), ("learning_rate", 2.0)])
def test_impossible_recipes_are_refused(field: str, value: float) -> None:
    with pytest.raises(DataError):
        dataclasses.replace(QUICK, **{field: value})


def test_a_validation_part_without_labels_counts_as_none(data: Path, tmp_path: Path) -> None:
    write_mask(data / "masks" / "second.png", np.full((SIDE, SIDE), 255))
    card = train(data, QUICK, tmp_path / "run", tmp_path / "mine.json", JobContext(), quiet)
    scores = card.scores["val"]
    assert isinstance(scores, dict)
    assert scores["miou"] is None
    assert card.training["best_step"] == QUICK.steps
