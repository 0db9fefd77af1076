"""Long work is a plain function with a `JobContext`: progress goes out, cancellation comes in.

The context is safe to share between the worker and the thread that watches it: the watcher polls `snapshot()` and calls
`cancel()`; the worker calls the rest.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass


class Cancelled(BaseException):
    """The job stopped because somebody asked for it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a job at one moment. `total` is 0 while unknown; `seconds` counts from the start of the job."""

    stage: str
    done: int
    total: int
    seconds: float


class JobContext:
    """Progress, partial results and cancellation of one job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._started = time.monotonic()
        self._stage, self._done, self._total = "", 0, 0

    def start(self, stage: str, total: int) -> None:
        """Enter a stage (an English constant, translated by whoever shows it) of `total` steps."""
        self.checkpoint()
        with self._lock:
            self._stage, self._done, self._total = stage, 0, total

    def advance(self, steps: int = 1) -> None:
        """Report finished steps. Raises `Cancelled` if asked to stop."""
        with self._lock:
            self._done += steps
        self.checkpoint()

    def checkpoint(self) -> None:
        """Raise `Cancelled` if somebody asked to stop."""
        if self._cancel.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the job to stop at its next checkpoint. Callable from any thread."""
        self._cancel.set()

    @property
    def cancelled(self) -> bool:
        return self._cancel.is_set()

    def snapshot(self) -> Progress:
        with self._lock:
            return Progress(self._stage, self._done, self._total, time.monotonic() - self._started)
