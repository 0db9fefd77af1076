"""Model cards: what a model is, needs and was made from, as a value with an explicit JSON form. No torch here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from segstudio.core.classes import ClassTable
from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.files import sha256_of
from segstudio.networks.registry import check_network

CARD_FORMAT = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Mean and standard deviation of each band, in the image's own units, fixed by the training set."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.mean or len(self.mean) != len(self.std):
            raise ValueError(f"{len(self.mean)} means for {len(self.std)} standard deviations")
        if min(self.std) <= 0:
            raise ValueError(f"standard deviations must be positive: {self.std}")

    @property
    def bands(self) -> int:
        return len(self.mean)


@dataclass(frozen=True, slots=True)
class ContextCard:
    """How a patch + coarse network wants its context: window side over patch side (None: whole image up to 16, else 8)."""

    ratio: float | None
    cell_offset: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model. `network` names its architecture in `networks.registry`; `files` maps graph or weights to (name, sha256).

    `training` and `scores` are free facts for people; nothing is computed from them.
    """

    name: str
    title: str
    network: str
    classes: ClassTable
    normalisation: Normalisation
    bands: tuple[str, ...]
    dtype: str
    patch: int
    overlap: int
    stride: int
    context: ContextCard | None = None
    pixel_size_m: float | None = None
    licence: str = ""
    parameters: int = 0
    training: Mapping[str, object] = field(default_factory=dict)
    scores: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        context = None
        if self.context:
            context = {"ratio": self.context.ratio, "cell_offset": list(self.context.cell_offset)}
        return {
            "format": CARD_FORMAT,
            "name": self.name,
            "title": self.title,
            "network": self.network,
            "classes": self.classes.to_json(),
            "normalisation": {"mean": list(self.normalisation.mean), "std": list(self.normalisation.std)},
            "bands": list(self.bands),
            "dtype": self.dtype,
            "patch": self.patch,
            "overlap": self.overlap,
            "stride": self.stride,
            "context": context,
            "pixel_size_m": self.pixel_size_m,
            "licence": self.licence,
            "parameters": self.parameters,
            "training": dict(self.training),
            "scores": dict(self.scores),
            "files": {key: {"name": name, "sha256": digest} for key, (name, digest) in self.files.items()},
        }


def read_card(path: Path) -> ModelCard:
    """Read a card. Raises `ModelError` naming the field that is missing or wrong; `path` may come from anybody.

    A network that this program does not know is UNKNOWN.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(ModelProblem.MISSING_FILE, path) from error
    except (OSError, ValueError) as error:
        raise ModelError(ModelProblem.CARD_INVALID, path, detail=str(error)) from error
    try:
        card = card_from_json(value)
    except _TooNewError as error:
        raise ModelError(ModelProblem.CARD_TOO_NEW, path, detail=str(error)) from error
    except ValueError as error:
        raise ModelError(ModelProblem.CARD_INVALID, path, detail=str(error)) from error
    check_network(card.network, named_in=str(path))
    return card


def checked_file(card: ModelCard, key: str, folder: Path) -> Path:
    """The file of a graph or of the weights, after its hash was compared with the card's."""
    if key not in card.files:
        raise ModelError(ModelProblem.MISSING_FILE, folder / card.name, detail=f"the card names no file for {key}")
    name, digest = card.files[key]
    path = folder / name
    if not path.is_file():
        raise ModelError(ModelProblem.MISSING_FILE, path)
    if sha256_of(path) != digest:
        raise ModelError(ModelProblem.HASH_MISMATCH, path)
    return path


class _TooNewError(ValueError):
    pass


def card_from_json(value: object) -> ModelCard:
    """The card that `ModelCard.to_json` gave. Raises ValueError naming the field."""
    row = _mapping(value, "card")
    version = _get(row, "format", _integer)
    if version > CARD_FORMAT:
        raise _TooNewError(f"format {version}, this program reads up to {CARD_FORMAT}")
    normalisation = _get(row, "normalisation", _mapping)
    card = ModelCard(
        name=_get(row, "name", _text),
        title=_get(row, "title", _text),
        network=_get(row, "network", _text),
        classes=ClassTable.from_json(row.get("classes")),
        normalisation=Normalisation(_get(normalisation, "mean", _numbers), _get(normalisation, "std", _numbers)),
        bands=_get(row, "bands", _texts),
        dtype=_get(row, "dtype", _text),
        patch=_get(row, "patch", _integer),
        overlap=_get(row, "overlap", _integer),
        stride=_get(row, "stride", _integer),
        context=_context(row.get("context")),
        pixel_size_m=_optional(row.get("pixel_size_m"), "pixel_size_m", _number),
        licence=_get(row, "licence", _text),
        parameters=_get(row, "parameters", _integer),
        training=_get(row, "training", _mapping),
        scores=_get(row, "scores", _mapping),
        files=_files(_get(row, "files", _mapping)),
    )
    if len(card.bands) != card.normalisation.bands:
        raise ValueError(f"bands: {len(card.bands)} names for {card.normalisation.bands} normalised bands")
    if min(card.patch, card.stride) <= 0 or card.overlap < 0 or card.patch % card.stride:
        raise ValueError(f"patch {card.patch}, overlap {card.overlap}, stride {card.stride} do not fit together")
    return card


def _context(value: object) -> ContextCard | None:
    if value is None:
        return None
    row = _mapping(value, "context")
    offset = _get(row, "cell_offset", _numbers)
    if len(offset) != 2:
        raise ValueError("cell_offset has two numbers, x and y")
    return ContextCard(_optional(row.get("ratio"), "ratio", _number), (offset[0], offset[1]))


def _files(rows: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    files = {}
    for key, value in rows.items():
        row = _mapping(value, f"files.{key}")
        name = _get(row, "name", _text)
        if Path(name).name != name or name in {"", ".", ".."}:
            raise ValueError(f"files.{key}: {name!r} is not a plain file name")
        files[key] = (name, _get(row, "sha256", _text))
    return files


def _get(row: Mapping[str, object], key: str, read: Callable[[object, str], T]) -> T:
    if key not in row:
        raise ValueError(f"{key} is missing")
    return read(row[key], key)


def _optional(value: object, key: str, read: Callable[[object, str], T]) -> T | None:
    return None if value is None else read(value, key)


def _mapping(value: object, key: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not an object")
    return value


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}, not a text")
    return value


def _integer(value: object, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{key} is {value!r}, not a whole number")
    return value


def _number(value: object, key: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is {value!r}, not a number")
    return float(value)


def _numbers(value: object, key: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{key} is not a list of numbers")
    return tuple(_number(item, key) for item in value)


def _texts(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{key} is not a list of texts")
    return tuple(_text(item, key) for item in value)
