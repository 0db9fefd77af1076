from __future__ import annotations

from pathlib import Path

import pytest

from segstudio.app.models import find_model, list_models
from segstudio.core.classes import ClassTable, LabelClass
from segstudio.core.errors import ModelError
from segstudio.core.files import write_json
from segstudio.networks.registry import NETWORKS, check_network
from segstudio.networks.spec import ModelCard, Normalisation


def write_card(path: Path) -> Path:
    card = ModelCard(
        name=path.stem, title="A title", network="light-nano", classes=ClassTable((LabelClass(0, "road", (1, 2, 3)),)),
        normalisation=Normalisation((0.0,), (1.0,)), bands=("grey",), dtype="uint8", patch=64, overlap=16, stride=4,
    )  # fmt: skip
    write_json(path, card.to_json())
    return path


def test_a_model_of_the_user_is_found_by_name(own_home: Path) -> None:
    card = write_card(own_home / "models" / "roads.json")
    assert find_model("roads") == card


def test_a_model_is_found_by_its_card_or_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = write_card(tmp_path / "roads.json")
    assert find_model(card) == card
    assert find_model(tmp_path / "roads.safetensors") == card
    monkeypatch.chdir(tmp_path)
    assert find_model("roads.json") == Path("roads.json")


@pytest.mark.parametrize("name", ["roads.json", "folder/roads", "roads.safetensors"])
def test_a_path_that_leads_nowhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"model\.missing_file"):
        find_model(name)


def test_an_unknown_name_gets_the_nearest_known_one(own_home: Path) -> None:
    write_card(own_home / "models" / "roads-of-somewhere.json")
    with pytest.raises(ModelError) as caught:
        find_model("roads-of-somwhere")
    assert caught.value.code == "model.unknown"
    assert caught.value.values["nearest"] == "roads-of-somewhere"
    assert "roads-of-somewhere" in caught.value.values["known"]


def test_the_list_tells_what_is_wrong_with_a_card(own_home: Path) -> None:
    write_card(own_home / "models" / "good.json")
    (own_home / "models" / "wrong.json").write_text("[]", encoding="utf-8")
    models = dict(list_models())
    assert isinstance(models["good"], ModelCard)
    assert isinstance(models["wrong"], ModelError)


def test_networks_are_checked_by_name() -> None:
    check_network("light-nano")
    with pytest.raises(ModelError) as caught:
        check_network("lite-nano")
    assert caught.value.values == {"nearest": "light-nano", "known": NETWORKS.names()}
