"""From what a person names (files, patterns, folders) to image files."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path

from segstudio.core.errors import DataError, DataProblem, ImageError, ImageProblem

IMAGE_SUFFIXES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".webp", ".bmp", ".jp2", ".j2k"})


def find_images(names: Iterable[str]) -> list[Path]:
    """The images meant by file names, patterns and folders (not their subfolders), each once, in the order named.

    Patterns are expanded here because some shells do not. A file named outright is taken as it is, there or not:
    opening it says what is wrong. Raises `ImageError` MISSING for a pattern that fits nothing and `DataError` EMPTY for
    a folder without any image.
    """
    return list(dict.fromkeys(path for name in names for path in _meant(name)))


def _meant(name: str) -> Iterator[Path]:
    path = Path(name)
    try:
        folder, there = path.is_dir(), path.exists()
    except OSError:  # a name that the system refuses: opening it says why
        folder, there = False, True
    if folder:
        found = sorted(item for item in path.iterdir() if is_image_name(item))
        if not found:
            raise DataError(DataProblem.EMPTY, path)
        yield from found
    elif not there and glob.has_magic(name):
        matches = sorted(Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207  (may be absolute)
        files = [match for match in matches if match.is_file()]
        if not files:
            raise ImageError(ImageProblem.MISSING, name)
        yield from files
    else:
        yield path


def is_image_name(path: Path) -> bool:
    """Whether a folder's entry is taken for an image: a file with a known suffix, not hidden."""
    return path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".") and path.is_file()
