"""Where the files that ship with the program lie: models, the sample picture, icons, catalogues."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def resource_root() -> Path:
    """The folder of shipped files: packed inside an installed package, beside the package in a checkout."""
    packed = _PACKAGE / "_resources"
    return packed if packed.is_dir() else _PACKAGE.parent / "resources"
