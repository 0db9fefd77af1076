"""Turn what image libraries raise into `ImageError`, keeping their words as the detail."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imagecodecs import DelayedImportError
from rasterio.errors import RasterioError
from tifffile import TiffFileError

from segstudio.core.errors import ImageError, ImageProblem

_LIBRARY_ERRORS = (
    RasterioError,
    TiffFileError,
    DelayedImportError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    OSError,
    EOFError,
    MemoryError,
    struct.error,
)

_WORDS = {
    ImageProblem.TRUNCATED: (
        "premature end",
        "truncated",
        "unexpected end",
        "end of file",
        "not enough",
        "png: read error",
    ),
    ImageProblem.CODEC_MISSING: ("codec", "not configured", "missing required", "cannot import"),
    ImageProblem.TOO_LARGE: ("would require", "memory", "too large", "too big"),
    ImageProblem.UNKNOWN_FORMAT: ("not recognized as being in a supported file format",),
}


@contextmanager
def library_errors(path: Path) -> Iterator[None]:
    """Raise `ImageError` naming `path` for anything a library raises inside."""
    try:
        yield
    except ImageError:
        raise
    except _LIBRARY_ERRORS as error:
        detail = _innermost(error)
        raise ImageError(_classify(error, detail), path, detail=detail) from error


def _innermost(error: BaseException) -> str:
    """The first cause: rasterio wraps GDAL's words in "see previous exception"."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return str(cause) or type(cause).__name__


def _classify(error: BaseException, detail: str) -> ImageProblem:
    if isinstance(error, MemoryError):
        return ImageProblem.TOO_LARGE
    if isinstance(error, DelayedImportError):
        return ImageProblem.CODEC_MISSING
    lower = detail.lower()
    for problem, words in _WORDS.items():
        if any(word in lower for word in words):
            return problem
    return ImageProblem.BROKEN
