"""Which backend a model gets on this machine."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path
from typing import Literal

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.inference.backend import Backend
from segstudio.networks.spec import read_card

Device = Literal["auto", "cpu", "cuda", "mps"]
Engine = Literal["auto", "openvino", "torch"]


def load_backend(card_path: Path, *, device: Device, engine: Engine = "auto", patch: int | None = None) -> Backend:
    """The backend for a model: CUDA or MPS by torch where there is such a device, else the CPU by OpenVINO.

    `patch` is the side the graphs are compiled for (default: the card's). On the CPU with OpenVINO torch is not imported.
    Raises `ModelError` DEVICE_MISSING when a device was asked for by name and is not there.
    """
    card = read_card(card_path)
    side = patch or card.patch
    found = _find_device(device)
    if found == "cpu" and engine != "torch":
        from segstudio.inference.openvino_backend import OpenVinoBackend

        return OpenVinoBackend(card, card_path.parent, side)
    if engine == "openvino":
        raise ModelError(ModelProblem.DEVICE_MISSING, device, detail="OpenVINO runs on the CPU here")
    from segstudio.inference.torch_backend import TorchBackend
    from segstudio.networks.checkpoint import load_network

    return TorchBackend(*load_network(card_path), found)


def _find_device(wanted: Device) -> Literal["cpu", "cuda", "mps"]:
    if wanted == "cpu":
        return "cpu"
    if wanted in {"auto", "cuda"} and _has_cuda():
        return "cuda"
    if wanted in {"auto", "mps"} and _has_mps():
        return "mps"
    if wanted == "auto":
        return "cpu"
    raise ModelError(ModelProblem.DEVICE_MISSING, wanted, detail=_why_missing(wanted))


def _has_cuda() -> bool:
    """Whether torch sees a CUDA device; torch is imported only where a driver is installed."""
    driver = "nvcuda.dll" if platform.system() == "Windows" else "libcuda.so.1"
    try:
        ctypes.CDLL(driver)
    except OSError:
        return False
    import torch

    return torch.cuda.is_available()


def _has_mps() -> bool:
    if platform.system() != "Darwin" or platform.machine() != "arm64":
        return False
    import torch

    return torch.backends.mps.is_available()


def _why_missing(wanted: Device) -> str:
    if wanted == "mps":
        return "no Apple GPU"
    import torch

    return "torch was built without CUDA" if torch.version.cuda is None else "no CUDA device or driver was found"
