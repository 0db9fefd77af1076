"""A model on disk: `NAME.json` (card), `NAME.safetensors`, and ONNX files of its graphs; no pickle anywhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.files import sha256_of, write_json, written_aside
from segstudio.networks.build import Network, build, parameter_count
from segstudio.networks.onnx import export
from segstudio.networks.spec import ModelCard, checked_file, read_card

WEIGHTS = "weights"


def save_model(network: Network, card: ModelCard, folder: Path) -> ModelCard:
    """Write weights, graphs and at last the card, which names every file with its hash. Returns the card as written.

    Parameters are rounded to float16 in `network` itself first, so that every backend starts from the same numbers.
    """
    network.eval()
    _round_parameters(network)
    files = {}
    with written_aside(folder / f"{card.name}.safetensors") as part:
        part.write_bytes(save({key: _storable(key, value) for key, value in network.state_dict().items()}))
    files[WEIGHTS] = _named(folder / f"{card.name}.safetensors")
    for graph in network.graphs:
        files[graph] = _named(_export(network, graph, card, folder))
    card = dataclasses.replace(card, files=files, parameters=parameter_count(network))
    write_json(folder / f"{card.name}.json", card.to_json())
    return card


def load_network(card_path: Path) -> tuple[Network, ModelCard]:
    """The network of a card with its weights, in evaluation mode on the CPU.

    Raises `ModelError`: a file missing, its hash not the card's, tensors that do not fit the architecture.
    """
    card = read_card(card_path)
    path = checked_file(card, WEIGHTS, card_path.parent)
    network = build(card.network, card.classes, card.normalisation)
    load_weights(network, path)
    return network.eval(), card


def load_weights(network: Network, path: Path) -> None:
    """Fill a network from a safetensors file; every tensor must fit."""
    try:
        tensors = {key: value.float() if value.is_floating_point() else value for key, value in load_file(path).items()}
        network.load_state_dict(tensors)
    except (SafetensorError, RuntimeError) as error:
        raise ModelError(ModelProblem.WEIGHTS_MISMATCH, path, detail=str(error).splitlines()[0]) from error
    except OSError as error:
        raise ModelError(ModelProblem.MISSING_FILE, path, detail=str(error)) from error


def load_encoder(network: Network, card_path: Path) -> None:
    """Start a network from another model's encoder (and whatever else has the same name and shape).

    The normalisation stays the network's own: its card names it. Raises `ModelError` WEIGHTS_MISMATCH for another encoder.
    """
    card = read_card(card_path)
    path = checked_file(card, WEIGHTS, card_path.parent)
    own = network.state_dict()
    fitting = {
        key: value.float() if value.is_floating_point() else value
        for key, value in load_file(path).items()
        if key in own and own[key].shape == value.shape and not key.startswith("normalise.")
    }
    if any(key.startswith("encoder.") and key not in fitting for key in own):
        raise ModelError(ModelProblem.WEIGHTS_MISMATCH, path, detail="no encoder of the same shape")
    network.load_state_dict(own | fitting)


def export_graphs(card_path: Path, folder: Path) -> list[Path]:
    """Write the ONNX graphs of a model anew from its weights."""
    network, card = load_network(card_path)
    return [_export(network, graph, card, folder) for graph in network.graphs]


def _export(network: Network, graph: str, card: ModelCard, folder: Path) -> Path:
    target = folder / (f"{card.name}.onnx" if len(network.graphs) == 1 else f"{card.name}-{graph}.onnx")
    with written_aside(target) as part:
        export(network, graph, part, patch=card.patch)
    return target


def _round_parameters(network: Network) -> None:
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(parameter.half().float())


def _storable(key: str, value: torch.Tensor) -> torch.Tensor:
    """Parameters as float16 (they are rounded already); statistics and normalisation keep their float32."""
    exact = key.startswith("normalise.") or "running_" in key or not value.is_floating_point()
    return value.contiguous() if exact else value.half().contiguous()


def _named(path: Path) -> tuple[str, str]:
    return path.name, sha256_of(path)
