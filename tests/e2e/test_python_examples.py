"""The examples of the README in Python run as they are printed there."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest
import tifffile

README = Path(__file__).parents[2] / "README.md"


def examples() -> list[str]:
    """The indented blocks of the section "From Python" that begin with an import."""
    section = README.read_text(encoding="utf-8").partition("From Python:\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", section, re.MULTILINE)
    return [block for block in map(textwrap.dedent, blocks) if block.strip().startswith("from ")]


def test_there_are_examples() -> None:
    assert len(examples()) == 2


@pytest.mark.parametrize("number", [0, 1])
def test_an_example_runs(
    number: int,
    model: Path,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(model.parent, own_home / "models")
    shutil.copyfile(model, own_home / "models" / "default.json")
    pixels = np.random.default_rng(0).integers(0, 256, (520, 600, 3), np.uint8)
    tifffile.imwrite(tmp_path / "ortho.tif", pixels, photometric="rgb", tile=(256, 256))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(examples()[number], names)
    if number == 0:
        assert capsys.readouterr().out == "600 520 3\n"
        assert np.array_equal(names["corner"], pixels[:512, :512])  # type: ignore[arg-type]
    else:
        assert tifffile.imread(tmp_path / "masks" / "ortho_mask.tif").shape == (520, 600)
        assert capsys.readouterr().out.startswith(f"{Path('masks', 'ortho_mask.tif')} ")
