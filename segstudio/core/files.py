"""Writing files so that a failure leaves the last good state: aside, then rename."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from segstudio.core.errors import OutputError, OutputProblem


@contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """Give a path beside `target` to write to; on success it is synced and renamed over `target`, else removed.

    The path keeps the suffix of `target`, since file libraries choose the format by it. Raises `OutputError` for a folder
    that cannot be written or a full disk.
    """
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:8]}.part{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        _sync(part)
        os.replace(part, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise output_error(error, target) from error
    finally:
        with suppress(NotADirectoryError):
            part.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """Write UTF-8 text aside, then rename."""
    with written_aside(target) as part:
        part.write_text(text, encoding="utf-8")


def write_json(target: Path, value: object) -> None:
    """Write readable JSON aside, then rename."""
    write_text(target, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def sha256_of(path: Path) -> str:
    """Hex digest of a file's content, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def output_error(error: OSError, target: Path) -> OutputError:
    """The system's refusal to write as an error with a code."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        problem = OutputProblem.DISK_FULL
    elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        problem = OutputProblem.NOT_WRITABLE
    elif error.errno in {errno.ENOTDIR, errno.EEXIST}:
        problem = OutputProblem.IS_FILE
    else:
        problem = OutputProblem.FAILED
    return OutputError(problem, target, detail=error.strerror or str(error))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
