"""What can go wrong, as codes and values; the words a person reads live in `cli.reporting` and `gui.messages`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import ClassVar


class Problem(StrEnum):
    """Base of the problem lists of the rooms; a member's value is the second half of the error code."""


class SegStudioError(Exception):
    """A failure that a person can understand and act on.

    Attributes:
        code: stable identifier, `<area>.<problem>`, the key of the message catalogue.
        subject: the file, model or option it happened to.
        detail: the words of the library or system below, kept for the log and shown as the reason.
        values: further facts for the message (sizes, limits, names), by field name.
    """

    area: ClassVar[str] = "program"

    def __init__(self, problem: Problem, subject: Path | str, *, detail: str = "", **values: object) -> None:
        self.problem = problem
        self.subject = str(subject)
        self.detail = detail
        self.values = values
        super().__init__(f"{self.code}: {self.subject}" + (f" ({detail})" if detail else ""))

    @property
    def code(self) -> str:
        return f"{self.area}.{self.problem.value}"


class ImageProblem(Problem):
    MISSING = "missing"
    IS_FOLDER = "is_folder"
    NO_PERMISSION = "no_permission"
    EMPTY = "empty"
    UNKNOWN_FORMAT = "unknown_format"
    TRUNCATED = "truncated"
    BROKEN = "broken"
    CODEC_MISSING = "codec_missing"
    UNSUPPORTED = "unsupported"
    IMPLAUSIBLE = "implausible"
    TOO_LARGE = "too_large"
    OUTSIDE = "outside"


class ImageError(SegStudioError):
    """An image file that cannot be opened or read. `subject` is its path."""

    area = "image"


class OutputProblem(Problem):
    NOT_WRITABLE = "not_writable"
    DISK_FULL = "disk_full"
    IS_FILE = "is_file"
    FAILED = "failed"


class OutputError(SegStudioError):
    """A result that cannot be written. `subject` is the file or folder."""

    area = "output"


class ModelProblem(Problem):
    UNKNOWN = "unknown"
    MISSING_FILE = "missing_file"
    CARD_INVALID = "card_invalid"
    CARD_TOO_NEW = "card_too_new"
    HASH_MISMATCH = "hash_mismatch"
    WEIGHTS_MISMATCH = "weights_mismatch"
    BANDS_MISMATCH = "bands_mismatch"
    DEPTH_MISMATCH = "depth_mismatch"
    PATCH_SIDE = "patch_side"
    OVERLAP = "overlap"
    CONTEXT = "context"
    NO_CONTEXT = "no_context"
    DEVICE_MISSING = "device_missing"
    EXPORT_DIFFERS = "export_differs"
    OUT_OF_MEMORY = "out_of_memory"


class ModelError(SegStudioError):
    """A model that is missing, damaged, or does not fit the image or the machine. `subject` is its name or file."""

    area = "model"


class DataProblem(Problem):
    MISSING = "missing"
    EMPTY = "empty"
    NO_MASK = "no_mask"
    NO_PREDICTION = "no_prediction"
    AMBIGUOUS = "ambiguous"
    SIZE_MISMATCH = "size_mismatch"
    CLASS_TABLE = "class_table"
    UNKNOWN_VALUE = "unknown_value"
    SPLITS = "splits"
    NO_LABELS = "no_labels"
    MIXED_IMAGES = "mixed_images"
    LOSS_NOT_FINITE = "loss_not_finite"
    RUN_EXISTS = "run_exists"
    RESUME_MISMATCH = "resume_mismatch"
    RUN_DAMAGED = "run_damaged"
    OPTION = "option"


class DataError(SegStudioError):
    """Labels or a training set that cannot be used. `subject` is the file, folder or option."""

    area = "data"
