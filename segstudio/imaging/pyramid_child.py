"""Building a pyramid in a process that can be killed, since no image library is safe with every file."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import uuid
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from segstudio.core.errors import ImageError, ImageProblem, OutputError, SegStudioError
from segstudio.core.files import output_error
from segstudio.core.jobs import JobContext
from segstudio.imaging.pyramid_build import build
from segstudio.imaging.pyramid_cache import cache_file, is_built, needs_pyramid
from segstudio.imaging.source import open_source

_POLL_SECONDS = 0.1


def build_in_child(path: Path, folder: Path, ctx: JobContext) -> None:
    """`build` in a process of its own, which is killed on cancel; this one decodes nothing.

    A reader that crashes is an `ImageError` BROKEN.
    """
    with open_source(path) as source:
        target = cache_file(source.info, folder)
        if not needs_pyramid(source.info) or is_built(target):
            return
    own = folder / f".{uuid.uuid4().hex[:8]}.part"
    try:
        own.mkdir(parents=True)
        _run_child(path, own, ctx)
        for file in own.iterdir():
            os.replace(file, folder / file.name)
    except OSError as error:
        raise output_error(error, target) from error
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _run_child(path: Path, folder: Path, ctx: JobContext) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(path, folder, there), daemon=True)
    with here:
        with there:
            child.start()
        try:
            _follow(here, path, ctx)
        finally:
            child.kill()
            child.join()
            child.close()


def _follow(messages: Connection, path: Path, ctx: JobContext) -> None:
    """Pass progress on until the child has finished."""
    while True:
        ctx.checkpoint()
        if not messages.poll(_POLL_SECONDS):
            continue
        try:
            kind, *values = messages.recv()
        except EOFError:
            raise ImageError(ImageProblem.BROKEN, path, detail="the reader ended early") from None
        if kind == "start":
            ctx.start(*values)
        elif kind == "advance":
            ctx.advance(*values)
        elif kind == "failed":
            raise _revived(*values)
        else:
            return


class _Piped(JobContext):
    """Progress goes to the parent, which cancels by killing."""

    def __init__(self, pipe: Connection) -> None:
        super().__init__()
        self._pipe = pipe

    def start(self, stage: str, total: int) -> None:
        self._pipe.send(("start", stage, total))

    def advance(self, steps: int = 1) -> None:
        self._pipe.send(("advance", steps))


def _child(path: Path, folder: Path, pipe: Connection) -> None:
    # Without a parent nobody wants the result.
    with pipe, suppress(BrokenPipeError):
        try:
            with open_source(path) as source:
                build(source, folder, _Piped(pipe))
            pipe.send(("done",))
        except (ImageError, OutputError) as error:
            pipe.send(("failed", type(error), error.problem, error.subject, error.detail, error.values))


def _revived(kind: type[SegStudioError], problem: Any, subject: str, detail: str, values: Any) -> SegStudioError:  # noqa: ANN401
    return kind(problem, subject, detail=detail, **values)
