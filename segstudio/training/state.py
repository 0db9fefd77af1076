"""Exact state of a run, so that it can go on where it stopped: tensors as safetensors, the rest as JSON. No pickle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as serialise
from torch import Tensor

from segstudio.core.errors import DataError, DataProblem
from segstudio.core.files import write_json, written_aside
from segstudio.networks.build import Network
from segstudio.training.config import TrainConfig

TENSORS = "state.safetensors"
FACTS = "state.json"


@dataclass(slots=True)
class RunState:
    """What changes from step to step.

    Attributes:
        network: the weights being trained.
        average: their exponential moving average, by name; this is what is validated and saved.
        optimiser: AdamW over `network.parameters()`.
        step: steps done.
        best: best mIoU on the validation part so far, with its step; best weights are `best.safetensors`.
        history: one row for each report.
    """

    network: Network
    average: dict[str, Tensor]
    optimiser: torch.optim.AdamW
    step: int
    best: tuple[float, int]
    history: list[dict[str, object]]


def start(network: Network, config: TrainConfig) -> RunState:
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, foreach=True
    )
    average = {key: value.detach().clone() for key, value in network.state_dict().items()}
    return RunState(network, average, optimiser, 0, (-1.0, 0), [])


def save(state: RunState, config: TrainConfig, folder: Path) -> None:
    """Write the state into the run folder; an interruption leaves the former state."""
    tensors = {f"network.{key}": value.contiguous() for key, value in state.network.state_dict().items()}
    tensors |= {f"average.{key}": value.contiguous() for key, value in state.average.items()}
    for index, values in state.optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{key}": value.contiguous() for key, value in values.items()}
    tensors["step"] = torch.tensor(state.step)
    with written_aside(folder / TENSORS) as part:
        part.write_bytes(serialise(tensors))
    facts = {"step": state.step, "best": list(state.best), "history": state.history, "config": config.to_json()}
    write_json(folder / FACTS, facts)


def resume(state: RunState, config: TrainConfig, folder: Path) -> bool:
    """Continue from a run folder if it holds a state.

    Raises `DataError`: RESUME_MISMATCH for another recipe's folder, RUN_DAMAGED for a state that cannot be read.
    """
    if not (folder / TENSORS).is_file() or not (folder / FACTS).is_file():
        return False
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        wanted = json.loads(json.dumps(config.to_json()))
        if facts["config"] != wanted:
            changed = sorted(key for key in wanted if facts["config"].get(key) != wanted[key])
            raise DataError(DataProblem.RESUME_MISMATCH, folder, detail=", ".join(changed))
        _restore(state, facts, load_file(folder / TENSORS))
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise DataError(DataProblem.RUN_DAMAGED, folder, detail=str(error).splitlines()[0]) from error
    return True


def _restore(state: RunState, facts: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    state.step = int(tensors.pop("step"))
    state.network.load_state_dict(_under(tensors, "network."))
    state.average = _under(tensors, "average.")
    state.optimiser.load_state_dict(_optimiser_state(state.optimiser, _under(tensors, "optimiser.")))
    state.history = [row for row in facts["history"] if row["step"] <= state.step]
    state.best = (float(facts["best"][0]), int(facts["best"][1]))


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key[len(prefix) :]: value for key, value in tensors.items() if key.startswith(prefix)}


def _optimiser_state(optimiser: torch.optim.AdamW, tensors: dict[str, Tensor]) -> dict[str, object]:
    values: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        values.setdefault(int(index), {})[name] = tensor
    return {"state": values, "param_groups": optimiser.state_dict()["param_groups"]}
