"""OpenVINO against the network itself: the same classes; and no torch, no telemetry on the prediction path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.inference.devices import load_backend
from tests.e2e.test_memory import write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"), "context-light", 128)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_both_engines_give_the_same_classes(model: Path, dtype: type) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 128, 128, 3)).astype(dtype)
    chosen = []
    for engine in ("openvino", "torch"):
        backend = load_backend(model, device="cpu", engine=engine)  # type: ignore[arg-type]
        features = backend.pixels("encode", pixels)
        scores, coarse = backend.fuse(features, np.zeros_like(features))
        assert features.shape == (2, 64, 32, 32)
        assert scores.shape == coarse.shape == (2, 5, 32, 32)
        chosen.append((features, scores))
    (features, scores), (expected_features, expected_scores) = chosen
    np.testing.assert_allclose(features, expected_features, atol=1e-3)
    assert (scores.argmax(1) == expected_scores.argmax(1)).mean() >= 0.9999


def test_results_do_not_change_when_the_backend_runs_again(model: Path) -> None:
    backend = load_backend(model, device="cpu")
    rng = np.random.default_rng(1)
    first = backend.pixels("encode", rng.integers(0, 256, (1, 128, 128, 3)).astype(np.uint8))
    kept = first.copy()
    backend.pixels("encode", rng.integers(0, 256, (1, 128, 128, 3)).astype(np.uint8))
    np.testing.assert_array_equal(first, kept)


def test_prediction_on_the_cpu_imports_neither_torch_nor_telemetry(model: Path) -> None:
    program = (
        "import sys, numpy as np; from pathlib import Path; from segstudio.inference.devices import load_backend;"
        f"b = load_backend(Path({str(model)!r}), device='cpu');"
        "b.pixels('encode', np.zeros((1, 128, 128, 3), np.uint8));"
        "assert 'torch' not in sys.modules; assert sys.modules['openvino_telemetry'] is None"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_a_device_that_is_not_there_is_named(model: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(ModelError) as caught:
        load_backend(model, device="cuda")
    assert caught.value.problem is ModelProblem.DEVICE_MISSING
    assert caught.value.detail
