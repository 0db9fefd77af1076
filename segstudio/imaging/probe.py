"""Look at a file before any library does: is it there, what is it, and does its header tell the truth?"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.imaging import guard


class Format(StrEnum):
    """The file formats that open; values are names of GDAL drivers."""

    TIFF = "GTiff"
    PNG = "PNG"
    JPEG = "JPEG"
    WEBP = "WEBP"
    BMP = "BMP"
    JPEG2000 = "JP2OpenJPEG"


_MAGIC = (
    (b"II*\0", Format.TIFF),
    (b"MM\0*", Format.TIFF),
    (b"II+\0", Format.TIFF),
    (b"MM\0+", Format.TIFF),
    (b"\x89PNG\r\n\x1a\n", Format.PNG),
    (b"\xff\xd8\xff", Format.JPEG),
    (b"BM", Format.BMP),
    (b"\0\0\0\x0cjP  \r\n\x87\n", Format.JPEG2000),
    (b"\xff\x4f\xff\x51", Format.JPEG2000),
)
_HEAD = 132


def probe(path: Path) -> Format:
    """The format of a file by its first bytes, after a check of its header against its size.

    Raises `ImageError`: MISSING, IS_FOLDER, NO_PERMISSION, EMPTY, UNKNOWN_FORMAT, UNSUPPORTED (known, but not
    read), and what `guard` finds.
    """
    head = _head(path)
    kind = _format(head)
    if kind is None:
        if head[128:132] == b"DICM":
            raise ImageError(ImageProblem.UNSUPPORTED, path, detail="DICOM")
        raise ImageError(ImageProblem.UNKNOWN_FORMAT, path)
    if kind is Format.TIFF:
        guard.check_tiff(path)
    elif kind is Format.PNG:
        guard.check_png(path)
    elif kind is Format.JPEG:
        guard.check_jpeg(path)
    return kind


def _head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ImageError(ImageProblem.IS_FOLDER, path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError as error:
        raise ImageError(ImageProblem.MISSING, path) from error
    except PermissionError as error:
        raise ImageError(ImageProblem.NO_PERMISSION, path, detail=os.strerror(error.errno or 0)) from error
    except OSError as error:
        raise ImageError(ImageProblem.BROKEN, path, detail=error.strerror or str(error)) from error
    if not head:
        raise ImageError(ImageProblem.EMPTY, path)
    return head


def _format(head: bytes) -> Format | None:
    if head[128:132] == b"DICM":
        return None
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Format.WEBP
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
