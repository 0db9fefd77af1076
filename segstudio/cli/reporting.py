"""How the command line speaks: language, the sentence for an error, the log of what nobody expected."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from segstudio.app.places import log_folder
from segstudio.cli.phrases import CHINESE
from segstudio.cli.words import ERRORS
from segstudio.core.errors import SegStudioError
from segstudio.core.files import write_text

LANGUAGES = ("en", "zh")


def language() -> str:
    """The language of the first of SEGSTUDIO_LANG, LC_ALL, LC_MESSAGES and LANG that is set: "en" or "zh"."""
    for variable in ("SEGSTUDIO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def tr(text: str) -> str:
    """A phrase in the person's language; English where it has no other words."""
    return CHINESE.get(text, text) if language() == "zh" else text


def sentence(error: SegStudioError) -> str:
    """What happened, to what, why, and what to do next, without a line break."""
    chosen = language()
    words = ERRORS[error.code][LANGUAGES.index(chosen)]
    facts = _Facts({name: _plain(value) for name, value in error.values.items()}, subject=error.subject)
    reason = " ".join(error.detail.split()).rstrip(".")
    if chosen == "zh":
        return (
            words.what.format_map(facts) + (f"（{reason}）" if reason else "") + "。" + words.remedy.format_map(facts)
        )
    return words.what.format_map(facts) + (f" ({reason})" if reason else "") + ". " + words.remedy.format_map(facts)


def as_json(error: SegStudioError) -> dict[str, str]:
    """The error for machines: its code is stable, its message is for people."""
    return {"code": error.code, "subject": error.subject, "detail": error.detail, "message": sentence(error)}


def say(text: str) -> None:
    """One line for the person, on stderr."""
    print(text, file=sys.stderr)  # noqa: T201


def log_crash(error: Exception) -> Path:
    """Write the traceback of an unexpected failure to a new file and return its path. Raises `OutputError`."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    path = log_folder() / f"crash-{moment}.log"
    write_text(path, "".join([f"arguments: {sys.argv[1:]}\n\n", *traceback.format_exception(error)]))
    return path


class _Facts(dict[str, str]):
    """Values of an error by name; a message never fails for the lack of one."""

    def __missing__(self, key: str) -> str:
        return "?"


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(_plain(item) for item in value) or tr("none")
    return str(value)
