"""Reading samples: labels of a rectangle, and image and labels of a patch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable
from segstudio.core.errors import DataError, DataProblem
from segstudio.core.geometry import Rect
from segstudio.datasets.ingest import Sample
from segstudio.datasets.splits import Part
from segstudio.imaging.source import ImageSource, open_source
from segstudio.imaging.windows import read_mirrored, without_gaps

Labels = npt.NDArray[np.uint8]


def read_labels(mask: ImageSource, rect: Rect, classes: ClassTable) -> Labels:
    """Labels (h, w) of a rectangle inside the mask: slots of `classes`, 254 and 255.

    Raises `DataError` (`data.unknown_value`) with `value` and the classes' `slots` for a mask that holds anything else.
    """
    stored = mask.read(rect)[..., 0]
    with np.errstate(invalid="ignore"):  # NaN differs from what it becomes, and is reported
        labels = stored.astype(np.uint8, copy=False)
    if labels is not stored and not np.array_equal(labels, stored):
        raise _unknown(mask, stored[labels != stored][0], classes)
    known = np.zeros(256, np.bool_)
    known[[*classes.slots, IGNORE, UNTOUCHED]] = True
    fits = known[labels]
    if not fits.all():
        raise _unknown(mask, labels[~fits][0], classes)
    return labels


def _unknown(mask: ImageSource, value: np.generic, classes: ClassTable) -> DataError:
    return DataError(DataProblem.UNKNOWN_VALUE, mask.info.path, value=value.item(), slots=classes.slots)


class PatchReader:
    """Reads patches of samples and keeps the last used files open. Each thread needs its own.

    `mean` has the value of each band for pixels without data.
    """

    def __init__(self, classes: ClassTable, *, mean: Sequence[float], open_samples: int = 16) -> None:
        self._classes, self._mean = classes, mean
        self._limit = open_samples
        self._open: OrderedDict[str, tuple[ImageSource, ImageSource]] = OrderedDict()

    def image(self, sample: Sample) -> ImageSource:
        """The open image of a sample, for reading its surroundings; valid until the next call for another sample."""
        return self._sources(sample)[0]

    def read(self, sample: Sample, window: Rect, part: Part) -> tuple[npt.NDArray[Any], Labels]:
        """Image (h, w, bands) in its stored dtype and labels (h, w) of a window that may reach beyond the image.

        Beyond the image, pixels are mirrored and labels are 255. Labels outside the regions of `part` are 254, so that
        no part ever learns from another's; so are those of pixels without data, which become the mean. Raises
        `ImageError`, and `DataError` for a mask value of no class.
        """
        image, mask = self._sources(sample)
        pixels, valid = read_mirrored(image, window)
        labels = self._read_labels(sample, mask, window, part)
        if valid is not None:
            labels[~valid & (labels != UNTOUCHED)] = IGNORE
        return without_gaps(pixels, valid, self._mean), labels

    def close(self) -> None:
        while self._open:
            self._close_oldest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_labels(self, sample: Sample, mask: ImageSource, window: Rect, part: Part) -> Labels:
        out = np.full((window.height, window.width), UNTOUCHED, np.uint8)
        visible = window.intersect(Rect.of_size(sample.size))
        out[visible.slices_from(window.x, window.y)] = IGNORE
        for region in sample.regions.get(part, ()):
            rect = window.intersect(region)
            if not rect.empty:
                out[rect.slices_from(window.x, window.y)] = read_labels(mask, rect, self._classes)
        return out

    def _sources(self, sample: Sample) -> tuple[ImageSource, ImageSource]:
        key = str(sample.image)
        if key not in self._open:
            if len(self._open) >= self._limit:
                self._close_oldest()
            image = open_source(sample.image)
            try:
                mask = open_source(sample.mask, indexed=True)
            except BaseException:
                image.close()
                raise
            self._open[key] = image, mask
        self._open.move_to_end(key)
        return self._open[key]

    def _close_oldest(self) -> None:
        _, (image, mask) = self._open.popitem(last=False)
        image.close()
        mask.close()
