"""Make the virtual environment `.venv` of this checkout, or find that it is already right (then: milliseconds).

    python3 packaging/setup_environment.py [--dev]

Needs only the standard library. `--dev` adds the tools of the tests.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import system_packages

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
OLDEST = (3, 11)
PROFILES = {"run": ".", "dev": ".[dev]"}


def main(arguments: list[str]) -> int:
    profile = "dev" if "--dev" in arguments else "run"
    if not _usable(venv_version()):
        problem = _interpreter_problem()
        if problem:
            print(problem, file=sys.stderr)
            return 1
        print(f"Making {VENV.name} with Python {sys.version.split()[0]}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    if not is_installed(profile):
        _install(profile)
    lacking = system_packages.missing()
    if lacking:
        system_packages.install(lacking)
    return 0


def venv_python() -> Path:
    return VENV / "Scripts" / "python.exe" if os.name == "nt" else VENV / "bin" / "python"


def venv_version() -> tuple[int, ...]:
    """Version of the interpreter that `.venv` was made with; empty when there is none that still exists."""
    settings = VENV / "pyvenv.cfg"
    if not (settings.is_file() and venv_python().exists()):
        return ()
    pairs = dict(line.split(" = ", 1) for line in settings.read_text(encoding="utf-8").splitlines() if " = " in line)
    return tuple(int(part) for part in pairs.get("version", "0").split(".") if part.isdigit())


def is_installed(profile: str) -> bool:
    """Whether this profile, or the larger one, was installed from the same lists by the same interpreter."""
    key = _key()
    stamps = [_stamp(name) for name in PROFILES if name in {profile, "dev"}]
    return any(stamp.is_file() and stamp.read_text(encoding="utf-8") == key for stamp in stamps)


def _usable(version: tuple[int, ...]) -> bool:
    return version >= OLDEST


def _interpreter_problem() -> str:
    wanted = ".".join(map(str, OLDEST))
    if sys.version_info < OLDEST:
        return (
            f"SegStudio needs Python {wanted} or newer; {sys.executable} is {sys.version.split()[0]}.\n"
            f"Name a newer one: make PYTHON=python{wanted} ..."
        )
    if importlib.util.find_spec("ensurepip") is None:
        return f"{sys.executable} cannot make virtual environments. On Debian: sudo apt-get install python3-venv"
    return ""


def _install(profile: str) -> None:
    for name in PROFILES:
        _stamp(name).unlink(missing_ok=True)
    print(f"Installing SegStudio into {VENV.name}; the first time takes some minutes", flush=True)
    pip = [str(venv_python()), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "-c", str(CONSTRAINTS), "-e", PROFILES[profile]], cwd=ROOT, check=True)
    _stamp(profile).write_text(_key(), encoding="utf-8")


def _key() -> str:
    """Content, not times, so that switching branches back and forth costs nothing."""
    digest = hashlib.sha256(repr(venv_version()).encode())
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    digest.update(str(ROOT).encode())
    return digest.hexdigest()


def _stamp(profile: str) -> Path:
    return VENV / f"segstudio-{profile}.stamp"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
