"""Running a job for a person at a terminal: progress, Ctrl+C, and results for people or for machines."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from segstudio.cli.reporting import say, tr
from segstudio.core.jobs import JobContext

_REFRESH_SECONDS = 0.2


@contextmanager
def watched() -> Iterator[JobContext]:
    """Give a job its context: progress is shown where stderr is a terminal, and Ctrl+C asks the job to stop.

    The job stops within one of its steps and leaves nothing half done; a second Ctrl+C kills the process at once.
    Main thread only.
    """
    ctx = JobContext()
    before = signal.signal(signal.SIGINT, _canceller(ctx))
    try:
        if sys.stderr.isatty():
            with _shown(ctx):
                yield ctx
        else:
            yield ctx
    finally:
        signal.signal(signal.SIGINT, before)


def print_json(value: object) -> None:
    """The one JSON document on stdout. ASCII only, so that no terminal or pipe can fail to encode it."""
    print(json.dumps(value, indent=2, allow_nan=False))  # noqa: T201


def print_lines(*lines: str) -> None:
    """Results for people, on stdout."""
    print("\n".join(lines))  # noqa: T201


def _canceller(ctx: JobContext) -> Callable[[int, FrameType | None], None]:
    def cancel(_number: int, _frame: FrameType | None) -> None:
        ctx.cancel()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        say(tr("Stopping; press Ctrl+C again to end at once."))

    return cancel


@contextmanager
def _shown(ctx: JobContext) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    stop = threading.Event()
    # Results on the same screen go above the bar; a pipe or file must get them as they are.
    above = sys.stdout.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=above) as progress:
        task = progress.add_task("", total=None)

        def follow() -> None:
            while not stop.wait(_REFRESH_SECONDS):
                state = ctx.snapshot()
                progress.update(task, description=tr(state.stage), completed=state.done, total=state.total or None)

        thread = threading.Thread(target=follow, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
