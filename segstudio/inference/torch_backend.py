"""The backend for CUDA, MPS, and the CPU where OpenVINO is not wanted."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.inference.backend import Pixels, Scores
from segstudio.networks.arithmetic import denormals_flushed
from segstudio.networks.build import Network
from segstudio.networks.spec import ModelCard
from segstudio.networks.zoo.patch_context import PatchContext


class TorchBackend:
    """The network itself in float32, channels last on CUDA. It is moved to the device, not copied."""

    def __init__(self, network: Network, card: ModelCard, device: Literal["cpu", "cuda", "mps"]) -> None:
        self.card = card
        self.name = f"torch {torch.__version__}"
        self._device = torch.device(device)
        self.device = torch.cuda.get_device_name() if device == "cuda" else device
        self._network = network.to(self._device)
        if device == "cuda":
            self._network = self._network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @torch.inference_mode()
    def pixels(self, graph: str, pixels: Pixels) -> Scores:
        tensor = torch.from_numpy(np.ascontiguousarray(pixels)).to(self._device).permute(0, 3, 1, 2).float()
        with denormals_flushed(), _memory_named(self.card.name):
            return _array(getattr(self._network, graph)(tensor))

    @torch.inference_mode()
    def fuse(self, patch_features: Scores, context_features: Scores) -> tuple[Scores, Scores]:
        if not isinstance(self._network, PatchContext):
            raise TypeError(f"{self.card.network} has no graph to fuse")
        first, second = (torch.from_numpy(value).to(self._device) for value in (patch_features, context_features))
        with denormals_flushed(), _memory_named(self.card.name):
            scores, coarse = self._network.fuse(first, second)
            return _array(scores), _array(coarse)


class _memory_named:  # noqa: N801  (a context manager, read like a function)
    """Turn torch's out-of-memory error into one that names the model."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, torch.OutOfMemoryError):
            raise ModelError(ModelProblem.OUT_OF_MEMORY, self._name, detail=str(error).splitlines()[0]) from error


def _array(tensor: torch.Tensor) -> Scores:
    return np.ascontiguousarray(tensor.float().cpu().numpy())
