"""The cache folder of pyramids, one file an image: which images need one, where it lies, what makes room."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from tifffile import TiffFile

from segstudio.core.errors import ImageError, ImageProblem
from segstudio.core.geometry import Size, level_size
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.failures import library_errors
from segstudio.imaging.info import Level, SourceInfo
from segstudio.imaging.probe import Format, probe
from segstudio.imaging.pyramid_store import DamagedCacheError, TileStore

_LAYOUT = 1
"""Raised with every change of what the files hold."""
_SUFFIX = ".pyramid"
_FROM_THE_TOP = {Format.PNG, Format.JPEG, Format.WEBP}
_LIMIT_BYTES = 10 * 10**9
_SAMPLE_BYTES = 64 << 10
_ABANDONED_SECONDS = 86_400


def needs_pyramid(info: SourceInfo) -> bool:
    """Whether the image is larger than one tile and has no levels, or none that come without decoding from the top.

    GDAL offers halves of JPEG and WebP files, each of which costs a pass over the file.
    """
    return info.size.longer > TILE_SIDE and (len(info.levels) == 1 or probe(info.path) in _FROM_THE_TOP)


def is_sequential(path: Path) -> bool:
    """Whether a region costs the decoding of much beside it, so that full resolution is worth a copy in tiles."""
    kind = probe(path)
    if kind is Format.TIFF:
        with library_errors(path), TiffFile(path) as file:
            return not file.pages.first.is_tiled
    return kind in _FROM_THE_TOP


def levels_of(size: Size) -> tuple[Level, ...]:
    """Level 0 and its halves down to one tile."""
    levels = [Level(size.width, size.height, 1.0)]
    while levels[-1].size.longer > TILE_SIDE:
        part = level_size(size, len(levels))
        levels.append(Level(part.width, part.height, float(1 << len(levels))))
    return tuple(levels)


def cache_file(info: SourceInfo, folder: Path) -> Path:
    """Where the pyramid of an image lies; a changed file, another decoder or another reading of it has another name.

    Raises `ImageError` MISSING where the image is gone.
    """
    try:
        facts = info.path.stat()
        with info.path.open("rb") as file:
            sample = file.read(_SAMPLE_BYTES)
            file.seek(max(facts.st_size - _SAMPLE_BYTES, 0))
            sample += file.read(_SAMPLE_BYTES)
    except OSError as error:
        raise ImageError(ImageProblem.MISSING, info.path, detail=error.strerror or str(error)) from error
    reading = f"{_LAYOUT} {facts.st_size} {facts.st_mtime_ns} {info.reader} {info.bands} {info.dtype} {info.size}"
    return folder / (hashlib.sha256(reading.encode() + sample).hexdigest()[:32] + _SUFFIX)


def finished(file: Path) -> TileStore | None:
    """The store in `file`, marked as just used; None where there is none. A damaged file is removed."""
    if not file.exists():
        return None
    try:
        store = TileStore(file)
    except DamagedCacheError:
        discard(file)
        return None
    with suppress(OSError):
        os.utime(file)
    return store


def is_built(target: Path) -> bool:
    """Whether a finished pyramid lies in `target`; a damaged one is removed."""
    store = finished(target)
    if store is not None:
        store.close()
    return store is not None


def discard(file: Path) -> None:
    """Remove a cache file; where the system keeps files that are in use, it stays until a later try."""
    with suppress(OSError):
        file.unlink(missing_ok=True)


def trim(folder: Path, limit_bytes: int = _LIMIT_BYTES) -> None:
    """Remove the least recently used pyramids beyond `limit_bytes`, and what broken-off builds left a day ago."""
    for part in folder.glob(".*.part*"):
        with suppress(OSError):
            if part.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                shutil.rmtree(part) if part.is_dir() else part.unlink()
    kept = 0
    for _, size, file in sorted(_uses(folder), reverse=True):
        kept += size
        if kept > limit_bytes:
            discard(file)


def _uses(folder: Path) -> list[tuple[int, int, Path]]:
    """(time of last use, bytes, file); another process may remove files meanwhile."""
    found: list[tuple[int, int, Path]] = []
    for file in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            facts = file.stat()
            found.append((facts.st_mtime_ns, facts.st_size, file))
    return found
