"""The shipped models, whole: their files, their worth on the sample, and the engines' agreement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from segstudio.cli.main import main
from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.core.resources import resource_root
from segstudio.datasets.ingest import read_classes
from segstudio.datasets.sample import read_labels
from segstudio.datasets.scores import Confusion
from segstudio.imaging.source import open_source
from segstudio.inference.devices import Engine, load_backend
from segstudio.inference.engine import ContextMode, EngineOptions, sweep
from segstudio.networks.checkpoint import load_network
from segstudio.networks.spec import checked_file, read_card

MODELS = sorted((resource_root() / "models").glob("*.json"))
DEFAULT = resource_root() / "models" / "default.json"
SAMPLE = resource_root() / "sample"
REGION = Rect(2100, 1500, 1024, 768)


def classes_of(engine: Engine, mode: ContextMode = "on") -> np.ndarray:
    backend = load_backend(DEFAULT, device="cpu", engine=engine)
    slots = np.array(backend.card.classes.slots, np.uint8)
    result = np.empty((REGION.height, REGION.width), np.uint8)
    with open_source(SAMPLE / "dubai-tile8.tif") as source:
        for block in sweep(source, backend, EngineOptions(region=REGION, context=mode), JobContext()):
            result[block.rect.slices_from(0, 0)] = slots[block.classes]
    return result


def test_there_is_a_default_model() -> None:
    assert DEFAULT in MODELS


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_shipped_model_is_complete(path: Path) -> None:
    card = read_card(path)
    assert path.stem == card.name
    for key in card.files:
        checked_file(card, key, path.parent)
    network, _ = load_network(path)
    assert set(card.files) == {"weights", *network.graphs}
    assert card.licence
    assert card.training["images"]
    for arm in card.scores.values():
        assert isinstance(arm, dict)
        assert set(arm["iou"]) == set(card.classes.names)


def test_card_of_the_default_model_beats_the_majority_and_its_context_alone() -> None:
    """Figures of the card, measured by the commands in docs/models.md on the validation part."""
    scores = read_card(DEFAULT).scores
    fused, alone = scores["val"], scores["val, context only"]
    assert isinstance(fused, dict)
    assert isinstance(alone, dict)
    assert fused["miou"] >= fused["majority_miou"] + 0.10
    assert fused["miou"] > alone["miou"]


@pytest.fixture(scope="module")
def by_openvino() -> np.ndarray:
    return classes_of("openvino")


def test_its_card_is_shown_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "show", "default"]) == 0
    shown = capsys.readouterr().out
    assert "{" not in shown
    row = next(line for line in shown.splitlines() if line.startswith("val, context off"))
    assert len(row.split()) == 3 + 6


def test_it_finds_the_classes_of_the_sample(by_openvino: np.ndarray) -> None:
    """A training picture: this guards against a broken pipeline and is no measure of quality."""
    classes = read_classes(SAMPLE / "classes.json")
    confusion = Confusion(classes)
    with open_source(SAMPLE / "dubai-tile8-mask.tif", indexed=True) as mask:
        confusion.add(read_labels(mask, REGION, classes), by_openvino)
    assert confusion.miou > confusion.majority_miou + 0.2


def test_both_engines_choose_the_same_classes(by_openvino: np.ndarray) -> None:
    assert (by_openvino == classes_of("torch")).mean() >= 0.9999


def test_context_has_a_say(by_openvino: np.ndarray) -> None:
    without, alone = classes_of("openvino", "off"), classes_of("openvino", "only")
    assert (without != by_openvino).any()
    assert (alone != by_openvino).mean() > 0.01
