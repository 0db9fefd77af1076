"""ONNX files of a network's graphs, checked against the network before they count."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from segstudio.core import telemetry
from segstudio.core.errors import ModelError, ModelProblem
from segstudio.networks.build import Network
from segstudio.networks.zoo.patch_context import PatchContext

OPSET = 17
TOLERANCE = 1e-3
"""Largest difference of a score, relative to the largest score of the check, that an export may show."""

_NAMES = {
    "segment": (("pixels",), ("scores",)),
    "encode": (("pixels",), ("features",)),
    "fuse": (("patch_features", "context_features"), ("scores", "coarse_scores")),
}


class _Graph(nn.Module):
    """One method of a network as a module of its own, which the exporter needs."""

    def __init__(self, network: Network, graph: str) -> None:
        super().__init__()
        self.network = network
        self.graph = graph

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        result: Tensor | tuple[Tensor, ...] = getattr(self.network, self.graph)(*inputs)
        return result


def export(network: Network, graph: str, path: Path, *, patch: int) -> None:
    """Write one graph (float32 NCHW, batch and sides free) and run it at two sizes against the network.

    Raises `ModelError` EXPORT_DIFFERS when the file does not give the network's numbers; the file is then removed.
    """
    network.eval()
    inputs, outputs = _NAMES[graph]
    free = {name: {0: "batch", 2: f"{name}_h", 3: f"{name}_w"} for name in inputs + outputs}
    if graph == "fuse":
        free["context_features"] = free["patch_features"]
    with warnings.catch_warnings():
        # The successor of this exporter needs onnxscript and writes larger graphs; the self-check guards this one.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            _Graph(network, graph).eval(),
            _example(network, graph, patch, batch=1),
            path,
            opset_version=OPSET,
            dynamo=False,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=free,
        )
    try:
        for side, batch in ((patch, 1), (patch + 2 * network.encoder.side_multiple, 2)):
            _check(network, graph, path, _example(network, graph, side, batch=batch))
    except ModelError:
        path.unlink(missing_ok=True)
        raise


def _example(network: Network, graph: str, side: int, *, batch: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(side)
    mean, std = network.normalise.mean, network.normalise.std
    pixels = mean + std * torch.randn(batch, mean.shape[1], side, side, generator=generator)
    if not isinstance(network, PatchContext) or graph != "fuse":
        return (pixels,)
    with torch.no_grad():
        features = network.encode(pixels)
    return features, features.flip(2)


def _check(network: Network, graph: str, path: Path, inputs: tuple[Tensor, ...]) -> None:
    with torch.no_grad():
        expected = getattr(network, graph)(*inputs)
    wanted = [part.numpy() for part in (expected if isinstance(expected, tuple) else (expected,))]
    found = _run_openvino(path, [part.numpy() for part in inputs])
    worst = max(
        float(np.abs(a - b).max()) / max(1.0, float(np.abs(a).max())) for a, b in zip(wanted, found, strict=True)
    )
    if not worst <= TOLERANCE:
        raise ModelError(ModelProblem.EXPORT_DIFFERS, path, difference=worst, limit=TOLERANCE)


def _run_openvino(path: Path, inputs: list[npt.NDArray[np.float32]]) -> list[npt.NDArray[np.float32]]:
    telemetry.forbid()
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(inputs)
    return [np.asarray(results[output]) for output in compiled.outputs]
