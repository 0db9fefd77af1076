"""Cards, weights and ONNX graphs: what is written is what is read, and what is damaged is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.networks import onnx
from segstudio.networks.build import Network, build
from segstudio.networks.checkpoint import load_encoder, load_network, save_model
from segstudio.networks.registry import NETWORKS
from segstudio.networks.spec import ContextCard, ModelCard, Normalisation, card_from_json, read_card
from tests.helpers.command_line import CLASSES

RGB = Normalisation((101.5, 99.0, 88.0), (55.0, 51.0, 49.0))


def card_for(name: str, network: str) -> ModelCard:
    context = ContextCard(None, (1.5, 1.5)) if NETWORKS.get(network).context else None
    return ModelCard(
        name=name, title="A test", network=network, classes=CLASSES, normalisation=RGB, bands=("red", "green", "blue"),
        dtype="uint8", patch=64, overlap=16, stride=4, context=context, training={"steps": 3}, scores={"val": {}},
    )  # fmt: skip


def trained(network: str) -> Network:
    """A network whose statistics are not those of a fresh one."""
    torch.manual_seed(0)
    built = build(network, CLASSES, RGB)
    pixels = torch.rand(2, 3, 64, 64) * 255
    for _ in range(3):
        if "encode" in built.graphs:
            built.fuse(built.encode(pixels), built.encode(pixels))  # type: ignore[operator, union-attr]
        else:
            built(pixels)
    return built.eval()


@pytest.fixture(scope="module", params=["light-nano", "context-light"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, ModelCard, Path]:
    folder = tmp_path_factory.mktemp("models")
    network = trained(request.param)
    card = save_model(network, card_for("probe", request.param), folder)
    return network, card, folder / "probe.json"


def test_weights_come_back_as_they_were_written(saved: tuple[Network, ModelCard, Path]) -> None:
    network, card, path = saved
    found, read = load_network(path)
    assert read == card
    assert card.parameters == sum(parameter.numel() for parameter in found.parameters())
    for (name, mine), theirs in zip(network.state_dict().items(), found.state_dict().values(), strict=True):
        assert torch.equal(mine, theirs), name


def test_graphs_give_the_networks_numbers_in_another_runtime(saved: tuple[Network, ModelCard, Path]) -> None:
    network, card, path = saved
    pixels = torch.rand(2, 3, 96, 96) * 255
    with torch.no_grad():
        first = getattr(network, network.graphs[0])(pixels)
    graph = onnxruntime.InferenceSession(path.parent / card.files[network.graphs[0]][0])
    (found,) = graph.run(None, {"pixels": pixels.numpy()})
    np.testing.assert_allclose(found, first.numpy(), atol=1e-4)
    if "fuse" in network.graphs:
        second = first.flip(3)
        with torch.no_grad():
            expected = network.fuse(first, second)  # type: ignore[operator, union-attr]
        session = onnxruntime.InferenceSession(path.parent / card.files["fuse"][0])
        results = session.run(None, {"patch_features": first.numpy(), "context_features": second.numpy()})
        for wanted, got in zip(expected, results, strict=True):
            np.testing.assert_allclose(got, wanted.numpy(), atol=1e-4)


def test_an_export_that_differs_is_refused_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = trained("light-nano")
    exporter = torch.onnx.export

    def shifted(module: torch.nn.Module, *arguments: object, **options: object) -> None:
        with torch.no_grad():
            network.classify.bias.add_(1)  # type: ignore[union-attr]
        exporter(module, *arguments, **options)  # type: ignore[arg-type]
        with torch.no_grad():
            network.classify.bias.sub_(1)  # type: ignore[union-attr]

    monkeypatch.setattr(torch.onnx, "export", shifted)
    with pytest.raises(ModelError) as caught:
        onnx.export(network, "segment", tmp_path / "a.onnx", patch=64)
    assert caught.value.problem is ModelProblem.EXPORT_DIFFERS
    assert not list(tmp_path.iterdir())


def test_other_users_may_read_it(saved: tuple[Network, ModelCard, Path]) -> None:
    """The library's own writer makes files that only their owner may read."""
    _, card, path = saved
    (path.parent / "plain").touch()
    usual = (path.parent / "plain").stat().st_mode
    assert all((path.parent / name).stat().st_mode == usual for name, _ in card.files.values())


def test_damage_is_noticed(saved: tuple[Network, ModelCard, Path], tmp_path: Path) -> None:
    _, card, path = saved
    for name, _ in card.files.values():
        (tmp_path / name).write_bytes((path.parent / name).read_bytes())
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    weights = tmp_path / card.files["weights"][0]
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        load_network(copy)
    assert caught.value.problem is ModelProblem.HASH_MISMATCH
    weights.unlink()
    with pytest.raises(ModelError) as caught:
        load_network(copy)
    assert caught.value.problem is ModelProblem.MISSING_FILE


def test_an_encoder_can_be_taken_over_by_another_network(tmp_path: Path) -> None:
    light = trained("light-base")
    save_model(light, card_for("light", "light-base"), tmp_path)
    torch.manual_seed(5)
    own = Normalisation((10.0, 20.0, 30.0), (4.0, 5.0, 6.0))
    context = build("context-light", CLASSES, own)
    fusion = {key: value.clone() for key, value in context.state_dict().items() if key.startswith("fusion.")}
    load_encoder(context, tmp_path / "light.json")
    for key, value in light.encoder.state_dict().items():
        assert torch.equal(context.state_dict()[f"encoder.{key}"], value), key
    assert all(torch.equal(context.state_dict()[key], value) for key, value in fusion.items())
    assert context.normalise.mean.flatten().tolist() == list(own.mean)


def test_an_encoder_of_another_width_is_refused(tmp_path: Path) -> None:
    save_model(trained("light-nano"), card_for("nano", "light-nano"), tmp_path)
    with pytest.raises(ModelError) as caught:
        load_encoder(build("context-light", CLASSES, RGB), tmp_path / "nano.json")
    assert caught.value.problem is ModelProblem.WEIGHTS_MISMATCH


def test_card_round_trip() -> None:
    card = dataclasses.replace(card_for("a", "context-light"), files={"weights": ("a.safetensors", "00")})
    assert card_from_json(json.loads(json.dumps(card.to_json()))) == card


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("patch", "512", "patch is '512'"),
        ("bands", ["red"], "1 names for 3"),
        ("normalisation", {"mean": [1.0], "std": [0.0]}, "positive"),
        ("files", {"weights": {"name": "../../etc/passwd", "sha256": "0"}}, "not a plain file name"),
        ("classes", [{"slot": 300, "name": "x", "colour": "#000000"}], "slots are 0 to 253"),
        ("context", {"ratio": 8, "cell_offset": [1]}, "two numbers"),
        ("stride", 5, "do not fit"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, field: str, value: object, words: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_for("a", "context-light").to_json() | {field: value}))
    with pytest.raises(ModelError) as caught:
        read_card(path)
    assert caught.value.problem is ModelProblem.CARD_INVALID
    assert words in caught.value.detail


def test_a_card_of_a_newer_program_says_so(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_for("a", "light-base").to_json() | {"format": 99}))
    with pytest.raises(ModelError) as caught:
        read_card(path)
    assert caught.value.problem is ModelProblem.CARD_TOO_NEW


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_is_a_card_or_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        card_from_json(value)
