"""The networks by name. No torch here: a network's module is imported when it is built (`networks.build`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.registry import Registry, UnknownNameError

Wrapper = Literal["light-fusion", "patch-context"]


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """One architecture.

    Attributes:
        wrapper: the module of the zoo that builds it.
        seed: the patent text it follows.
        graphs: the parts that are exported, in the order they run.
        side_multiple: patch sides must be multiples of it.
        context: whether it takes the coarse image.
        options: what the wrapper is built with (encoder, widths).
    """

    name: str
    title: str
    wrapper: Wrapper
    seed: str
    graphs: tuple[str, ...]
    side_multiple: int
    context: bool
    options: Mapping[str, str | int] = field(default_factory=dict)


NETWORKS: Registry[NetworkSpec] = Registry("network")


def check_network(name: str, *, named_in: str = "") -> None:
    """Raise `ModelError` UNKNOWN (with `nearest` and `known` names) for a network that cannot be built.

    `named_in` is the file that asks for it.
    """
    try:
        NETWORKS.get(name)
    except UnknownNameError as error:
        raise ModelError(
            ModelProblem.UNKNOWN, name, detail=named_in, nearest=error.nearest, known=error.known
        ) from error


def _light(name: str, title: str, base: int) -> None:
    NETWORKS.add(
        name, NetworkSpec(name, title, "light-fusion", "002", ("segment",), 8, context=False, options={"base": base})
    )


_light("light-nano", "Light two-branch network, 16 base channels", 16)
_light("light-base", "Light two-branch network, 32 base channels", 32)
_light("light-large", "Light two-branch network, 64 base channels", 64)
NETWORKS.add(
    "context-light",
    NetworkSpec(
        "context-light",
        "Patch + coarse image fusion round the light encoder",
        "patch-context",
        "000 + 002",
        ("encode", "fuse"),
        8,
        context=True,
        options={"encoder": "light", "base": 32, "width": 64},
    ),
)
