"""Running a model over an image of any size: patch by patch, stitched in a band, memory independent of the height.

Source of the procedure: seed 000, claims 1, 4, 6 and 8.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.imaging.source import ImageSource
from segstudio.inference.backend import Backend, Scores
from segstudio.inference.pixels import PixelReader
from segstudio.masks.class_choice import choose_classes
from segstudio.networks.registry import NETWORKS
from segstudio.networks.roi import align
from segstudio.networks.spec import ModelCard
from segstudio.patches.context import ContextOptions, ContextWindow, context_windows, roi_box
from segstudio.patches.grid import Grid, GridOptions, plan
from segstudio.patches.stitch import Stitcher

ContextMode = Literal["on", "off", "only"]
"""With the context, with zeros in its place (F2 = 0), or the scores of the context alone."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How to run.

    Attributes:
        patch, overlap: pixels; None takes the card's, the overlap in proportion to the patch.
        blend: raised-cosine blending of scores, or hard pasting by corner coordinates.
        context: see `ContextMode`; of no effect for models without context.
        context_ratio: context side over patch side; None takes the card's, infinity the whole image.
        region: part of the image, None for all of it.
        bands: image bands by index in the model's order, None for all.
    """

    patch: int | None = None
    overlap: int | None = None
    blend: Literal["hann", "crop"] = "hann"
    context: ContextMode = "on"
    context_ratio: float | None = None
    region: Rect | None = None
    bands: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ClassBlock:
    """Finished pixels: `rect` in the coordinates of the region (of the image without one), uint8 class indices."""

    rect: Rect
    classes: npt.NDArray[np.uint8]


def grid_for(card: ModelCard, region: Rect, options: EngineOptions) -> Grid:
    """The patch grid of a run. Raises `ModelError` PATCH_SIDE or OVERLAP naming the nearest that fits."""
    patch, overlap = options.patch or card.patch, options.overlap
    multiple = NETWORKS.get(card.network).side_multiple
    if overlap is None:
        overlap = card.overlap * patch // card.patch // multiple * multiple
    return plan(region.size, GridOptions(patch, overlap, multiple))


def sweep(source: ImageSource, backend: Backend, options: EngineOptions, ctx: JobContext) -> Iterator[ClassBlock]:
    """Blocks that cover the region exactly once, as soon as they are final, top to bottom.

    Cancellation takes effect within one patch. Raises `ModelError` for an image that does not fit the model.
    """
    card = backend.card
    region = options.region or Rect.of_size(source.info.size)
    grid = grid_for(card, region, options)
    network = _Runner(source, backend, options, grid.options.patch)
    stitcher = Stitcher(grid, len(card.classes), card.stride, blend=options.blend)
    ctx.start("predict", len(stitcher))
    for stripe, patch in stitcher.order():
        scores = network.scores(patch.window.moved(region.x, region.y))
        band = stitcher.add(stripe, patch, scores)
        if band is not None:
            yield ClassBlock(band.rect, choose_classes(band.scores, card.stride, band.origin, band.rect))
        ctx.advance()


class _Runner:
    """Scores of one window, with the context features of its context window kept while they are of use."""

    def __init__(self, source: ImageSource, backend: Backend, options: EngineOptions, patch: int) -> None:
        self._backend = backend
        self._card = backend.card
        self._mode = options.context
        self._patch = patch
        self._reader = PixelReader(source, backend.card, options.bands)
        self._features: OrderedDict[Rect, Scores] = OrderedDict()
        context = self._card.context
        self._lattice = None
        if context:
            ratio = context.ratio if options.context_ratio is None else options.context_ratio
            self._lattice = context_windows(source.info.size, patch, ContextOptions(ratio))

    def scores(self, window: Rect) -> Scores:
        """Float32 (classes, P/q, P/q) of a window in image coordinates."""
        if self._card.context is None:
            return _only(self._backend.pixels("segment", self._reader.patch(window)[None]))
        features = self._backend.pixels("encode", self._reader.patch(window)[None])
        scores, coarse = self._backend.fuse(features, self._second_map(window, features))
        return _only(coarse if self._mode == "only" else scores)

    def _second_map(self, window: Rect, features: Scores) -> Scores:
        """F2: the coarse map at the patch's cells; zeros where there is no context."""
        assert self._card.context is not None
        assert self._lattice is not None
        context = self._lattice.window_for(window) if self._mode != "off" else None
        if context is None:
            return np.zeros_like(features)
        box = roi_box(
            window, context.rect, patch=self._patch, stride=self._card.stride, offset=self._card.context.cell_offset
        )
        return align(self._context_features(context), box, features.shape[-1])[None]

    def _context_features(self, context: ContextWindow) -> Scores:
        assert self._lattice is not None
        if context.rect not in self._features:
            picture = self._reader.coarse(context.rect, self._patch)
            features = self._backend.pixels("encode", picture[None])[0]
            self._features[context.rect] = features
            if len(self._features) > self._lattice.columns:
                self._features.popitem(last=False)
        self._features.move_to_end(context.rect)
        return self._features[context.rect]


def _only(batch: Scores) -> Scores:
    """The one picture of a batch of one."""
    picture: Scores = batch[0]
    return picture
