"""The built wheel brings its resources and finds them from any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

REPORT = """
import json, sys
import segstudio
from segstudio.core.resources import resource_root
root = resource_root()
files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
print(json.dumps({"package": segstudio.__file__, "root": str(root), "files": files}))
"""


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it from the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(ROOT), cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    site = folder / "site"
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    run(*pip, "--target", str(site), str(wheel), cwd=folder)
    return site


def test_installed_package_finds_every_shipped_file(installed: Path, tmp_path: Path) -> None:
    report = json.loads(run("-c", REPORT, cwd=tmp_path, PYTHONPATH=str(installed)))
    assert Path(report["package"]).is_relative_to(installed)
    assert Path(report["root"]).is_relative_to(installed)
    shipped = ROOT / "resources"
    assert report["files"] == sorted(p.relative_to(shipped).as_posix() for p in shipped.rglob("*") if p.is_file())
    assert "sample/dubai-tile8.tif" in report["files"]


def test_wheel_carries_licence_and_notice(installed: Path) -> None:
    (licences,) = installed.glob("segstudio-*.dist-info/licenses")
    assert {path.name for path in licences.iterdir()} == {"LICENSE", "NOTICE"}
