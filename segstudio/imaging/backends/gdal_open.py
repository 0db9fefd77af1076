"""Opening GDAL datasets without the warning that plain pictures have no georeference."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import rasterio
from rasterio.errors import NotGeoreferencedWarning

_filters = threading.Lock()


def open_dataset(path: Path, mode: str = "r", **options: Any) -> Any:  # noqa: ANN401
    """`rasterio.open` with a handle of its own (not shared between threads), to read or, by `mode`, to write."""
    # The filter list belongs to the process, so two threads must not swap it at the same time.
    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        return rasterio.open(path, mode, sharing=False, **options)
