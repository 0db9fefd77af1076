"""Debian packages that the program needs and this machine lacks."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

LIST = Path(__file__).with_name("system-packages.txt")


def parse(text: str) -> dict[str, str]:
    """Package to the thing that shows its presence, from lines `package probe  # reason`."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {fields[0]: fields[1] for fields in lines if fields}


def is_present(probe: str) -> bool:
    """Whether a path exists, a library loads, or a command is found."""
    if probe.startswith("/"):
        return Path(probe).exists()
    if ".so." not in probe:
        return shutil.which(probe) is not None
    try:
        ctypes.CDLL(probe)
    except OSError:
        return False
    return True


def missing() -> list[str]:
    """Names of the packages whose probe finds nothing; none on systems without apt."""
    if shutil.which("apt-get") is None:
        return []
    return [package for package, probe in parse(LIST.read_text(encoding="utf-8")).items() if not is_present(probe)]


def install(packages: list[str]) -> bool:
    """Install as root; for others, and on failure, print the commands and go on. True when installed."""
    install_command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], env=quiet, check=False)
        if subprocess.run(install_command, env=quiet, check=False).returncode == 0:
            return True
    print("Some system packages are missing; windows may not open without them. Install them with:")
    print("  sudo apt-get update && sudo " + " ".join(install_command))
    return False
