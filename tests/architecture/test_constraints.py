"""What the project needs, and what that needs in turn, is pinned."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins() -> dict[str, Version]:
    lines = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): Version(number) for name, number in pairs}


def applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def installed_closure() -> set[str]:
    """Names of everything that the dependencies and the tools of the tests bring along."""
    extras = PROJECT["optional-dependencies"]
    roots = [*PROJECT["dependencies"], *extras["dev"], *extras["onnx"]]
    waiting = [requirement for requirement in map(Requirement, roots) if applies(requirement, ())]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), ",".join(sorted(requirement.extras)))
        if key in seen or key[0] == "segstudio":
            continue
        seen.add(key)
        needs = map(Requirement, distribution(requirement.name).requires or ())
        waiting += [need for need in needs if applies(need, requirement.extras)]
    return {name for name, _ in seen}


def test_everything_installed_is_pinned_to_its_version() -> None:
    installed = {name: Version(version(name)).public for name in installed_closure()}
    assert len(installed) > len(PROJECT["dependencies"])
    assert {name: pins()[name].public for name in installed if name in pins()} == installed


def test_one_opencv_and_no_second_qt() -> None:
    names = pins().keys()
    assert [name for name in names if re.match(r"opencv", name)] == ["opencv-python-headless"]
    assert "pyside6" not in names
    assert "pyside6-addons" not in names


def test_constraints_are_sorted_once_each_and_name_no_index() -> None:
    text = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    names = [line.split("==")[0].lower() for line in text.splitlines() if not line.startswith("#")]
    assert names == sorted(set(names))
    assert "://" not in text
    assert "--hash" not in text
