"""The floor of the house stands on numpy and the standard library alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "segstudio" / "core"
ALLOWED = {"numpy", "segstudio", *sys.stdlib_module_names}


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: path.name)
def test_core_file_imports_only_numpy_and_the_standard_library(path: Path) -> None:
    assert set(imported(path.read_text(encoding="utf-8"))) <= ALLOWED


def test_imports_inside_functions_are_seen() -> None:
    assert set(imported("def late():\n    import scipy.ndimage\n    from cv2 import resize")) == {"scipy", "cv2"}
