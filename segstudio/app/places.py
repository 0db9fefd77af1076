"""Where the program keeps its own files: `SEGSTUDIO_HOME`, else the folders that the system sets aside for programs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_NAME = "segstudio"


def data_folder() -> Path:
    """The user's models and projects; it may not exist yet."""
    home = _home()
    return home or Path(platformdirs.user_data_dir(_NAME, appauthor=False))


def log_folder() -> Path:
    """Logs of unexpected failures; it may not exist yet."""
    home = _home()
    return home / "logs" if home else Path(platformdirs.user_log_dir(_NAME, appauthor=False))


def _home() -> Path | None:
    value = os.environ.get("SEGSTUDIO_HOME")
    return Path(value).expanduser() if value else None
