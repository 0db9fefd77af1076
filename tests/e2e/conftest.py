"""A small model, a small image, and the command line to run on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
import torch

from segstudio.cli.main import main
from segstudio.networks.build import build
from segstudio.networks.checkpoint import save_model
from segstudio.networks.spec import ModelCard, Normalisation
from tests.helpers.command_line import CLASSES, HEIGHT, WIDTH, Outcome, Segstudio


@pytest.fixture
def segstudio(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Segstudio:
    monkeypatch.setenv("SEGSTUDIO_LANG", "en")

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The card of a small network with random weights."""
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(1)
    normalisation = Normalisation((110.0, 110.0, 110.0), (50.0, 50.0, 50.0))
    network = build("light-nano", CLASSES, normalisation)
    card = ModelCard(
        name="nano", title="Small", network="light-nano", classes=CLASSES, normalisation=normalisation,
        bands=("red", "green", "blue"), dtype="uint8", patch=64, overlap=16, stride=network.stride,
    )  # fmt: skip
    save_model(network, card, folder)
    return folder / "nano.json"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "photo.tif"
    pixels = np.random.default_rng(3).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    with rasterio.open(
        path, "w", driver="GTiff", width=WIDTH, height=HEIGHT, count=3, dtype="uint8", crs="EPSG:32640",
        transform=rasterio.Affine(0.5, 0, 320000, 0, -0.5, 2780000), photometric="rgb",
    ) as file:  # fmt: skip
        file.write(pixels.transpose(2, 0, 1))
    return path
