from __future__ import annotations

from pathlib import Path

from segstudio.core.resources import resource_root

ROOT = Path(__file__).parents[3]


def test_checkout_reads_its_own_folder() -> None:
    assert resource_root() == ROOT / "resources"
    assert (resource_root() / "sample" / "classes.json").is_file()
