"""Memory of `predict` follows the row of patches, not the height of the image."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rasterio
import torch

from segstudio.networks.build import build
from segstudio.networks.checkpoint import save_model
from segstudio.networks.spec import ContextCard, ModelCard, Normalisation
from tests.helpers.command_line import CLASSES, in_process

WIDTH = 4096


def write_image(path: Path, height: int) -> Path:
    """A tiled RGB picture with structure, written block by block."""
    profile = {"driver": "GTiff", "width": WIDTH, "height": height, "count": 3, "dtype": "uint8", "photometric": "rgb"}
    block = np.random.default_rng(0).integers(0, 256, (3, 512, WIDTH), np.uint8)
    transform = rasterio.Affine(0.5, 0, 0, 0, -0.5, 0)
    with rasterio.open(
        path, "w", **profile, tiled=True, blockxsize=512, blockysize=512, compress="deflate", transform=transform
    ) as dataset:
        for top in range(0, height, 512):
            dataset.write(np.roll(block, top, 2), window=rasterio.windows.Window(0, top, WIDTH, 512))
    return path


def write_model(folder: Path, network: str, patch: int) -> Path:
    normalisation = Normalisation((127.0,) * 3, (60.0,) * 3)
    torch.manual_seed(0)
    built = build(network, CLASSES, normalisation)
    card = ModelCard(
        name=network, title="test", network=network, classes=CLASSES, normalisation=normalisation,
        bands=("red", "green", "blue"), dtype="uint8", patch=patch, overlap=patch // 4, stride=4,
        context=ContextCard(None, (1.5, 1.5)) if network.startswith("context") else None,
    )  # fmt: skip
    save_model(built, card, folder)
    return folder / f"{network}.json"


def peak(image: Path, model: Path, out: Path) -> float:
    process = in_process("predict", image, "--model", model, "--out", out, "--device", "cpu", "--json")
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    (row,) = json.loads(stdout)["results"]
    return float(row["peak_rss_mb"])


@pytest.mark.parametrize(("network", "patch"), [("light-nano", 512), ("context-light", 256)])
def test_four_times_the_height_takes_the_same_memory(tmp_path: Path, network: str, patch: int) -> None:
    model = write_model(tmp_path / "model", network, patch)
    low = peak(write_image(tmp_path / "low.tif", 4096), model, tmp_path / "out")
    high = peak(write_image(tmp_path / "high.tif", 16384), model, tmp_path / "out")
    print(f"{network}: {low:.0f} MB at 4096 x 4096, {high:.0f} MB at 4096 x 16384")
    assert high <= 1.07 * low
