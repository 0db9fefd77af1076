"""Models by name or by file: those that come with the program and those in the user's data folder."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from segstudio.app.places import data_folder
from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.resources import resource_root
from segstudio.networks.spec import ModelCard, read_card

_CARD, _WEIGHTS = ".json", ".safetensors"


def model_folders() -> tuple[Path, Path]:
    """Where models are looked for by name; one in the user's folder, which is first, hides a shipped one."""
    return data_folder() / "models", resource_root() / "models"


def find_model(name_or_path: str | Path) -> Path:
    """The card of a model, named or given as the path of its card or of its weights.

    Raises `ModelError`: UNKNOWN (with `nearest` and `known` names) for a name, MISSING_FILE for a path.
    """
    path = Path(name_or_path)
    if path.suffix in {_CARD, _WEIGHTS} or len(path.parts) > 1:
        card = path.with_suffix(_CARD)
        if path.suffix not in {_CARD, _WEIGHTS} or not card.is_file():
            raise ModelError(ModelProblem.MISSING_FILE, card)
        return card
    cards = _cards()
    name = str(name_or_path)
    if name not in cards:
        known = tuple(sorted(cards))
        nearest = next(iter(difflib.get_close_matches(name, known, n=1)), "")
        raise ModelError(ModelProblem.UNKNOWN, name, nearest=nearest, known=known)
    return cards[name]


def list_models() -> Iterator[tuple[str, ModelCard | ModelError]]:
    """Every model that `find_model` knows, by name: its card, or why its card cannot be read."""
    for name, path in sorted(_cards().items()):
        try:
            yield name, read_card(path)
        except ModelError as error:
            yield name, error


def export_onnx(name_or_path: str | Path, folder: Path) -> list[Path]:
    """Write the ONNX graphs of a model into a folder, checked against its network. Returns their paths."""
    from segstudio.networks.checkpoint import export_graphs

    return export_graphs(find_model(name_or_path), folder)


def _cards() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in reversed(model_folders()):
        found |= {path.stem: path for path in folder.glob(f"*{_CARD}")}
    return found
