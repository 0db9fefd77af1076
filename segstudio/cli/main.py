"""The command line: verbs, exit codes, and the border where failures become sentences.

Exit codes: 0 fine, 1 failed, 2 usage, 130 cancelled.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer
from typer import Exit, Option

from segstudio.cli.console import print_lines
from segstudio.cli.reporting import log_crash, say, sentence, tr
from segstudio.cli.verbs.demo import demo
from segstudio.cli.verbs.evaluate import evaluate
from segstudio.cli.verbs.info import info
from segstudio.cli.verbs.models import models
from segstudio.cli.verbs.predict import predict
from segstudio.cli.verbs.train import train
from segstudio.core.errors import OutputError, SegStudioError
from segstudio.core.jobs import Cancelled
from segstudio.core.registry import UnknownNameError

FINE, FAILED, USAGE, CANCELLED = 0, 1, 2, 130
VERBS = ("demo", "info", "predict", "train", "eval", "models")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(*, wanted: bool) -> None:
    if wanted:
        print_lines(f"segstudio {importlib.metadata.version('segstudio')}")
        raise Exit


@app.callback(help=tr("Segment, correct and train on very large images."))
def root(
    *,
    _show: Annotated[
        bool,
        Option("--version", callback=lambda value: _version(wanted=value), is_eager=True, help=tr("Show the version.")),
    ] = False,
) -> None:
    """Options before the verb."""


app.command(help=tr("Segment the sample that comes along."))(demo)
app.command(help=tr("Show what is known about an image."))(info)
app.command(help=tr("Write a mask of classes for each image."))(predict)
app.command(help=tr("Train a network on labelled images and write a model."))(train)
app.command("eval", help=tr("Score predicted masks against true ones."))(evaluate)
app.add_typer(models, name="models")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Main thread only."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not given or not (given[0].startswith("-") or given[0] in VERBS):
        say(tr("This version has no window yet; begin with one of: {verbs}.").format(verbs=", ".join(VERBS)))
        return USAGE
    try:
        return _run(given)
    except SegStudioError as error:
        say(sentence(error))
        return FAILED
    except UnknownNameError as error:
        known = ", ".join(error.known)
        say(
            tr("There is no {kind} called {name}; known are: {known}.").format(
                kind=error.kind, name=error.name, known=known
            )
        )
        return FAILED
    except (Cancelled, KeyboardInterrupt):
        say(tr("Cancelled."))
        return CANCELLED
    except BrokenPipeError:
        # Whoever read our output has left: nothing to say, and Python must not try to flush at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:  # noqa: BLE001  (the outermost border: nobody sees a traceback)
        _say_crash(error)
        return FAILED


def _run(arguments: list[str]) -> int:
    try:
        typer.main.get_command(app)(args=arguments, prog_name="segstudio")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    return FINE


def _say_crash(error: Exception) -> None:
    try:
        path = log_crash(error)
    except OutputError:
        say(tr("Something unexpected went wrong ({kind}), and no log could be written.").format(kind=_kind(error)))
    else:
        say(
            tr("Something unexpected went wrong ({kind}). Please send the log: {path}").format(
                kind=_kind(error), path=path
            )
        )


def _kind(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
