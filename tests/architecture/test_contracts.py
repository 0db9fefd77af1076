"""The import contracts hold, and each of them can fail."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / ".importlinter"

# Contract, file that gets the line, the forbidden line.
INTRUSIONS = [
    ("layers", "core/intruder.py", "import segstudio.patches"),
    ("layers", "imaging/intruder.py", "import segstudio.masks"),
    ("layers", "datasets/intruder.py", "def late() -> None:\n    import segstudio.networks.spec"),
    ("layers", "new_room/__init__.py", ""),
    ("window", "gui/theme.py", "import segstudio.gui.canvas"),
    ("qt", "app/intruder.py", "from PySide6.QtCore import QObject"),
    ("torch", "datasets/intruder.py", "import torch"),
    ("torch", "app/intruder.py", "def late() -> None:\n    import torch.nn"),
    ("cards", "networks/registry.py", "from segstudio.networks import blocks"),
    ("files", "cli/intruder.py", "import cv2"),
    ("files", "inference/intruder.py", "import rasterio.windows"),
    ("networks", "networks/blocks.py", "import segstudio.patches"),
    ("families", "networks/zoo/light_fusion.py", "import segstudio.networks.zoo.patch_context"),
    ("cycles", "core/geometry.py", "import segstudio.core.tiles"),
]


def lint(folder: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the package in `folder`, whatever is installed."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from importlinter.cli import lint_imports_command as c; c()"
    )
    chosen = [argument for name in contracts for argument in ("--contract", name)]
    command = [sys.executable, "-P", "-c", code, "--no-logo", "--no-cache", *chosen, str(CONTRACTS)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def declared() -> dict[str, str]:
    """Contract identifiers to their titles."""
    file = configparser.ConfigParser()
    file.read(CONTRACTS, encoding="utf-8")
    prefix = "importlinter:contract:"
    return {name.removeprefix(prefix): file[name]["name"] for name in file.sections() if name.startswith(prefix)}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, and a window where there is none yet."""
    package = tmp_path / "segstudio"
    shutil.copytree(ROOT / "segstudio", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("gui/__init__.py", "gui/theme.py", "gui/canvas/__init__.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).touch()
    return tmp_path


def test_contracts_hold() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_contract_has_an_intrusion() -> None:
    assert {contract for contract, _, _ in INTRUSIONS} == set(declared())


@pytest.mark.parametrize(("contract", "file", "line"), INTRUSIONS)
def test_intrusion_breaks_the_contract(copied: Path, contract: str, file: str, line: str) -> None:
    target = copied / "segstudio" / file
    target.parent.mkdir(exist_ok=True)
    with target.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}\n")
    result = lint(copied, contract)
    assert result.returncode == 1, result.stdout + result.stderr
    kept_or_broken, _, reasons = result.stdout.partition("Broken contracts")
    assert f"{declared()[contract]} BROKEN" in kept_or_broken
    assert (target.parent.name if target.stem == "__init__" else target.stem) in reasons
