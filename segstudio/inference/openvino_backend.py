"""The CPU backend: OpenVINO with the precision fixed to float32, so that masks do not differ from machine to machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from segstudio.core import telemetry
from segstudio.core.errors import ModelError, ModelProblem
from segstudio.inference.backend import Pixels, Scores
from segstudio.networks.spec import ModelCard, checked_file

telemetry.forbid()
import openvino as ov  # noqa: E402  (only after telemetry is out)
from openvino import opset13 as opset  # noqa: E402

_CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}


class OpenVinoBackend:
    """Graphs compiled on first use for batch 1 and one patch side; the pixel graphs take uint8 or float32 in NHWC."""

    def __init__(self, card: ModelCard, folder: Path, patch: int) -> None:
        self.card = card
        self.name = f"openvino {ov.__version__.split('-')[0]}"
        self.device = "cpu"
        self._folder = folder
        self._patch = patch
        self._core = ov.Core()
        self._requests: dict[tuple[str, str], Any] = {}

    def pixels(self, graph: str, pixels: Pixels) -> Scores:
        kind = "u8" if pixels.dtype == np.uint8 else "f32"
        request = self._request(graph, kind)
        return np.concatenate([self._infer(request, picture[None])[0] for picture in pixels])

    def fuse(self, patch_features: Scores, context_features: Scores) -> tuple[Scores, Scores]:
        request = self._request("fuse", "f32")
        pairs = [
            self._infer(request, first[None], second[None])
            for first, second in zip(patch_features, context_features, strict=True)
        ]
        return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])

    @staticmethod
    def _infer(request: Any, *inputs: Pixels) -> list[Scores]:  # noqa: ANN401  (openvino has no types)
        request.infer([np.ascontiguousarray(value) for value in inputs], share_inputs=True)
        return [np.array(tensor.data) for tensor in request.output_tensors]

    def _request(self, graph: str, kind: str) -> Any:  # noqa: ANN401
        if (graph, kind) not in self._requests:
            path = checked_file(self.card, graph, self._folder)
            try:
                self._requests[graph, kind] = self._compile(path, graph, kind).create_infer_request()
            except RuntimeError as error:
                raise ModelError(ModelProblem.WEIGHTS_MISMATCH, path, detail=str(error).splitlines()[0]) from error
        return self._requests[graph, kind]

    def _compile(self, path: Path, graph: str, kind: str) -> Any:  # noqa: ANN401
        model = self._core.read_model(path)
        classes = model.outputs[0].partial_shape[1]
        if graph != "encode" and classes.is_static and classes.get_length() != len(self.card.classes):
            detail = f"{classes.get_length()} classes, the card has {len(self.card.classes)}"
            raise ModelError(ModelProblem.WEIGHTS_MISMATCH, path, detail=detail)
        _flatten_slopes(model)
        side = self._patch
        if graph == "fuse":
            cells = side // self.card.stride
            shapes = {port: [1, int(port.partial_shape[1].get_length()), cells, cells] for port in model.inputs}
            model.reshape(shapes)
            return self._core.compile_model(model, "CPU", _CONFIG)
        model.reshape([1, self.card.normalisation.bands, side, side])
        steps = ov.preprocess.PrePostProcessor(model)
        steps.input().tensor().set_element_type(ov.Type.u8 if kind == "u8" else ov.Type.f32).set_layout(
            ov.Layout("NHWC")
        )
        steps.input().model().set_layout(ov.Layout("NCHW"))
        return self._core.compile_model(steps.build(), "CPU", _CONFIG)


def _flatten_slopes(model: Any) -> None:  # noqa: ANN401
    """Give every PReLU its slopes as one number a channel.

    torch exports them as (C, 1, 1); in that form OpenVINO does not fuse them into the convolution before, which took more
    than half of the time of a light network. The numbers do not change.
    """
    for node in model.get_ordered_ops():
        if node.get_type_name() != "PRelu":
            continue
        slopes = node.input_value(1).get_node()
        while slopes.get_type_name() in {"Convert", "Reshape", "Unsqueeze"}:
            slopes = slopes.input_value(0).get_node()
        if slopes.get_type_name() == "Constant" and slopes.get_data().size > 1:
            flat = opset.prelu(node.input_value(0), opset.constant(slopes.get_data().ravel()))
            for target in node.output(0).get_target_inputs():
                target.replace_source_output(flat.output(0))
