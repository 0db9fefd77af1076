"""Scoring, the list of models, training and the demonstration, from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tifffile
import torch
from PIL import Image
from torchmetrics.functional.classification import multiclass_jaccard_index

from segstudio.cli.main import FAILED, FINE
from segstudio.core.classes import IGNORE
from segstudio.core.resources import resource_root
from tests.helpers.command_line import CLASSES, HEIGHT, WIDTH, Segstudio, is_sentence, write_mask


def test_eval_agrees_with_torchmetrics_over_folders(segstudio: Segstudio, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 5, (2, 60, 50))
    predicted = np.where(rng.random(truth.shape) < 0.6, truth, rng.integers(0, 5, truth.shape))
    for name, true, found in zip("ab", truth, predicted, strict=True):
        write_mask(tmp_path / "truth" / f"{name}.png", true)
        write_mask(tmp_path / "predicted" / f"{name}_mask.png", found)
    (tmp_path / "classes.json").write_text(json.dumps({"classes": CLASSES.to_json()}), encoding="utf-8")
    code, out, _ = segstudio("eval", tmp_path / "predicted", tmp_path / "truth", "--json")
    result = json.loads(out)
    expected = multiclass_jaccard_index(
        torch.from_numpy(predicted), torch.from_numpy(truth), num_classes=5, average="none"
    )
    assert code == FINE
    assert list(result["iou"].values()) == pytest.approx(expected.tolist(), abs=1e-6)
    assert result["miou"] == pytest.approx(expected.mean().item(), abs=1e-6)
    assert result["accuracy"] == pytest.approx((truth == predicted).mean())
    assert result["pixels"] == {f"kind {slot}": int((truth == slot).sum()) for slot in range(5)}
    assert [row[:5] for row in result["confusion"]] == [
        [int(((truth == true) & (predicted == found)).sum()) for found in range(5)] for true in range(5)
    ]


def test_eval_of_what_does_not_match(segstudio: Segstudio, tmp_path: Path) -> None:
    table = tmp_path / "classes.json"
    table.write_text(json.dumps({"classes": CLASSES.to_json()}), encoding="utf-8")
    write_mask(tmp_path / "small.png", np.zeros((5, 6)))
    write_mask(tmp_path / "large.png", np.zeros((50, 60)))
    write_mask(tmp_path / "odd.png", np.full((50, 60), 77))
    for arguments, words in [
        (("small.png", "large.png"), ("6 x 5", "60 x 50")),
        (("large.png", "odd.png"), ("77", "0, 1, 2, 3, 4")),
        (("large.png", "absent.png"), ("absent.png",)),
        (("large.png", "large.png", "--classes", tmp_path / "odd.png"), ("odd.png",)),
    ]:
        code, out, err = segstudio(
            "eval", *(tmp_path / argument if ".png" in str(argument) else argument for argument in arguments)
        )
        assert (code, out) == (FAILED, "")
        assert all(word in err for word in words), err
        assert "Traceback" not in err


def test_models(segstudio: Segstudio, model: Path, own_home: Path, tmp_path: Path) -> None:
    shutil.copytree(model.parent, own_home / "models")
    (own_home / "models" / "wrong.json").write_text("{", encoding="utf-8")
    code, out, err = segstudio("models", "list", "--json")
    assert code == FINE
    assert "nano" in [row["name"] for row in json.loads(out)["models"]]
    assert "wrong.json" in err
    _, out, _ = segstudio("models", "show", "nano", "--json")
    assert json.loads(out)["classes"] == CLASSES.to_json()
    code, out, _ = segstudio("models", "export-onnx", "nano", "--out", tmp_path / "graphs", "--json")
    assert code == FINE
    assert [Path(path).is_file() for path in json.loads(out)["files"]] == [True]


def test_train_writes_a_model_that_predicts(segstudio: Segstudio, image: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "images").mkdir(parents=True)
    shutil.copyfile(image, data / "images" / "photo.tif")
    write_mask(data / "masks" / "photo.png", np.indices((HEIGHT, WIDTH)).sum(0) // 40 % 5)
    (data / "classes.json").write_text(json.dumps({"classes": CLASSES.to_json()}), encoding="utf-8")
    command = ("train", data, "--model", "light-nano", "--out", tmp_path / "mine.json", "--steps", 2, "--batch", 4,
               "--patch", 64)  # fmt: skip
    code, out, err = segstudio(*command, "--json")
    assert code == FINE, err
    assert json.loads(out)["model"] == str(tmp_path / "mine.json")
    code, _, err = segstudio(*command)
    assert code == FAILED
    assert "--resume" in err
    assert segstudio(*command, "--resume").code == FINE
    assert segstudio("predict", image, "-m", tmp_path / "mine.json", "-o", tmp_path / "out").code == FINE


def test_train_refuses_what_it_cannot_use(segstudio: Segstudio, tmp_path: Path) -> None:
    code, _, err = segstudio("train", tmp_path / "none", "-m", "light-nano", "-o", tmp_path / "out")
    assert code == FAILED
    assert is_sentence(err)
    code, _, err = segstudio("train", tmp_path, "-m", "lite-nano", "-o", tmp_path / "out")
    assert code == FAILED
    assert "light-nano" in err
    assert not (tmp_path / "out").exists()


def test_demo(segstudio: Segstudio, model: Path, own_home: Path, tmp_path: Path) -> None:
    shutil.copytree(model.parent, own_home / "models")
    card = json.loads(model.read_text(encoding="utf-8")) | {"patch": 512, "overlap": 64}
    (own_home / "models" / "default.json").write_text(json.dumps(card), encoding="utf-8")
    code, out, err = segstudio("demo", "--out", tmp_path / "demo")
    assert code == FINE, err
    assert "Training scores" in out
    report = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    labels = tifffile.imread(report["mask"])
    with Image.open(report["indexed"]) as indexed:
        assert np.array_equal(np.asarray(indexed), labels)
    with Image.open(report["overlay"]) as overlay:
        assert overlay.size == (round(labels.shape[1] / 2), round(labels.shape[0] / 2))
    truth = tifffile.imread(resource_root() / "sample" / "dubai-tile8-mask.tif")
    assert report["scores"]["accuracy"] == pytest.approx((labels == truth)[truth < IGNORE].mean())
    assert report["trained_on_this_image"] is True
