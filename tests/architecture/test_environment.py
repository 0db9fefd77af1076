"""The script behind `make`: when it works, when it may skip the work, and what it tells a person."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the script, its lists, and an environment without anything in it."""
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging", ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    return tmp_path


@pytest.fixture
def setup(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(checkout / "packaging"))
    for name in ("setup_environment", "system_packages"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("setup_environment")


def test_environment_is_recognised_with_its_version(setup: ModuleType) -> None:
    assert setup.venv_version()[:2] == sys.version_info[:2]


def test_stamp_follows_content_not_time(setup: ModuleType, checkout: Path) -> None:
    assert not setup.is_installed("run")
    setup._stamp("run").write_text(setup._key())
    os.utime(checkout / "pyproject.toml", (0, 0))
    assert setup.is_installed("run")
    assert not setup.is_installed("dev")
    with (checkout / "packaging" / "constraints.txt").open("a") as file:
        file.write("one-more==1\n")
    assert not setup.is_installed("run")


def test_environment_with_test_tools_serves_for_running(setup: ModuleType) -> None:
    setup._stamp("dev").write_text(setup._key())
    assert setup.is_installed("run")


def test_failed_installation_leaves_no_stamp_and_its_exit_code(checkout: Path) -> None:
    script = checkout / "packaging" / "setup_environment.py"
    child = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert child.returncode != 0  # the environment has no pip
    assert "Traceback" not in child.stderr
    assert list((checkout / ".venv").glob("*.stamp")) == []


def test_old_interpreter_is_told_in_words(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert setup._interpreter_problem() == ""
    monkeypatch.setattr(setup, "OLDEST", (9, 9))
    assert "needs Python 9.9 or newer" in setup._interpreter_problem()


def test_every_system_package_has_a_probe_and_a_reason(setup: ModuleType) -> None:
    text = setup.system_packages.LIST.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(line.partition("#")[2].strip() for line in lines)
    assert len(setup.system_packages.parse(text)) == len(lines)


def test_probes_tell_present_from_missing(setup: ModuleType) -> None:
    present = setup.system_packages.is_present
    assert present("/")
    assert not present("/no/such/path")
    assert present("python3")
    assert not present("no-such-command")
    assert not present("libnothing.so.1")


def test_without_root_the_command_is_printed(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup.system_packages.os, "geteuid", lambda: 1000)
    assert not setup.system_packages.install(["libegl1", "xvfb"])
    assert (
        "sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1 xvfb" in capsys.readouterr().out
    )
