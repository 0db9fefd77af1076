"""What tests of the command line share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from segstudio.core.classes import ClassTable, LabelClass

CLASSES = ClassTable(
    tuple(LabelClass(slot, f"kind {slot}", (40 * slot, 255 - 40 * slot, 90)) for slot in range(5)),
)


WIDTH, HEIGHT = 300, 170


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Segstudio = Callable[..., Outcome]


def in_process(*arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "segstudio", *map(str, arguments)]
    environment = os.environ | {"SEGSTUDIO_LANG": "en"}
    return subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options
    )  # type: ignore[call-overload]


def is_sentence(text: str) -> bool:
    return text.endswith(".\n") and text.count("\n") == 1 and "Traceback" not in text and "{" not in text


def write_mask(path: Path, labels: np.ndarray) -> None:
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(labels.astype(np.uint8)).save(path)
