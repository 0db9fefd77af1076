"""Prediction as a use case: from image files to mask files."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from segstudio.app.diagnostics import peak_rss_mb
from segstudio.core.classes import UNTOUCHED, Colour
from segstudio.core.errors import ImageError, ImageProblem, ModelError, ModelProblem, OutputError, SegStudioError
from segstudio.core.files import write_json
from segstudio.core.geometry import Rect, split_axis
from segstudio.core.jobs import JobContext
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.geotiff import MaskWriter
from segstudio.imaging.indexed_png import write_indexed_png
from segstudio.imaging.info import SourceInfo, Transform
from segstudio.imaging.source import ImageSource, open_source
from segstudio.inference.backend import Backend
from segstudio.inference.devices import Device, Engine, load_backend
from segstudio.inference.engine import ContextMode, EngineOptions, grid_for, sweep
from segstudio.masks.tile_rows import TileRows
from segstudio.networks.spec import ModelCard


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """What a person can choose; None takes the model card's value.

    `context`: "auto", "whole", "off" (zeros in its place), "only" (the scores of the context alone), or context side over
    patch side as a number. `region` is in level-0 pixels; `bands` are indices of the image's bands in the model's order.
    """

    patch: int | None = None
    overlap: int | None = None
    blend: Literal["hann", "crop"] = "hann"
    context: str = "auto"
    device: Device = "auto"
    engine: Engine = "auto"
    region: Rect | None = None
    bands: tuple[int, ...] | None = None
    format: Literal["tif", "png"] = "tif"


@dataclass(frozen=True, slots=True)
class Report:
    """One finished image. `seconds` is wall time from opening the image to the finished file."""

    image: Path
    mask: Path
    width: int
    height: int
    patches: int
    seconds: float
    megapixels_per_second: float
    backend: str
    device: str
    peak_rss_mb: float


def predict_images(
    images: Sequence[Path],
    card: Path,
    out: Path,
    options: PredictOptions,
    ctx: JobContext,
    *,
    failed: Callable[[Path, SegStudioError], None],
) -> Iterator[Report]:
    """Predict one image after another into `<stem>_mask.tif` with `<stem>_mask.classes.json` beside it.

    An image that cannot be done is told to `failed` and the next one follows. Images of the same stem get numbers. Raises
    `ModelError` for a model or option that fits no image, `Cancelled`; a file appears only when it is whole.
    """
    backend = load_backend(card, device=options.device, engine=options.engine, patch=options.patch)
    engine_options = _engine_options(options, backend.card)
    for image, stem in zip(images, _stems(images, out), strict=True):
        try:
            yield _predict_image(image, out / f"{stem}_mask.{options.format}", backend, engine_options, ctx)
        except SegStudioError as error:
            failed(image, error)


def _predict_image(image: Path, mask: Path, backend: Backend, options: EngineOptions, ctx: JobContext) -> Report:
    began = time.perf_counter()
    with open_source(image) as source:
        whole = Rect.of_size(source.info.size)
        region = options.region or whole
        if region.empty or not whole.contains(region):
            raise ImageError(ImageProblem.OUTSIDE, image, rect=region, size=whole.size)
        grid = grid_for(backend.card, region, options)
        blocks = _valid_blocks(source, backend, options, region, ctx)
        if mask.suffix == ".png":
            _write_png(mask, blocks, region, backend.card)
        else:
            _write_tiff(mask, blocks, region, backend.card, source.info)
    try:
        write_json(
            mask.with_suffix(".classes.json"),
            {"classes": backend.card.classes.to_json(), "model": backend.card.name, "image": image.name},
        )
    except OutputError:
        mask.unlink()
        raise
    seconds = time.perf_counter() - began
    return Report(
        image=image,
        mask=mask,
        width=region.width,
        height=region.height,
        patches=len(grid),
        seconds=seconds,
        megapixels_per_second=region.size.area / 1e6 / seconds,
        backend=backend.name,
        device=backend.device,
        peak_rss_mb=peak_rss_mb(),
    )


_COLUMNS = 8 * TILE_SIDE
"""Pixels across whose validity is asked for at once: it may take decoding them."""

Blocks = Iterator[tuple[Rect, npt.NDArray[np.uint8]]]


def _valid_blocks(
    source: ImageSource, backend: Backend, options: EngineOptions, region: Rect, ctx: JobContext
) -> Blocks:
    """Slots in whole rows of tiles; 255 where the image has no data."""
    slots = np.array(backend.card.classes.slots, np.uint8)
    rows = TileRows(region.height)
    for block in sweep(source, backend, options, ctx):
        values = slots[block.classes]
        place = block.rect.moved(region.x, region.y)
        for left, right in split_axis(place.width, _COLUMNS):
            valid = source.validity(Rect(place.x + left, place.y, right - left, place.height))
            if valid is not None:
                values[:, left:right][~valid] = UNTOUCHED
        yield from rows.add(block.rect, values)


def _write_tiff(mask: Path, blocks: Blocks, region: Rect, card: ModelCard, info: SourceInfo) -> None:
    transform = _shifted(info.transform, region)
    with MaskWriter(mask, region.size, colours=_colours(card), crs=info.crs, transform=transform) as writer:
        for rect, values in blocks:
            writer.write(rect, values)


def _write_png(mask: Path, blocks: Blocks, region: Rect, card: ModelCard) -> None:
    """A PNG is written from the top down, stripes are not: a TIFF beside it takes them first."""
    between = mask.with_name(f".{mask.stem}.part.tif")
    try:
        with MaskWriter(between, region.size, colours=_colours(card), crs=None, transform=None) as writer:
            for rect, values in blocks:
                writer.write(rect, values)
        with open_source(between, indexed=True) as source:
            strips = split_axis(region.height, TILE_SIDE)
            rows = (source.read(Rect(0, top, region.width, stop - top))[..., 0] for top, stop in strips)
            write_indexed_png(mask, rows, region.size, _colours(card))
    finally:
        with suppress(NotADirectoryError):
            between.unlink(missing_ok=True)


def _colours(card: ModelCard) -> dict[int, Colour]:
    return {item.slot: item.colour for item in card.classes.classes}


def _shifted(transform: Transform | None, region: Rect) -> Transform | None:
    if transform is None:
        return None
    a, b, c, d, e, f = transform
    return (a, b, c + a * region.x + b * region.y, d, e, f + d * region.x + e * region.y)


def _engine_options(options: PredictOptions, card: ModelCard) -> EngineOptions:
    mode: ContextMode = "on"
    ratio = None
    if options.context == "off":
        mode = "off"
    elif options.context == "only":
        mode = "only"
    elif options.context == "whole":
        ratio = math.inf
    elif options.context != "auto":
        try:
            ratio = float(options.context)
        except ValueError as error:
            raise ModelError(ModelProblem.CONTEXT, options.context, low=2, high=16) from error
    if mode == "only" and card.context is None:
        raise ModelError(ModelProblem.NO_CONTEXT, card.name)
    return EngineOptions(
        patch=options.patch,
        overlap=options.overlap,
        blend=options.blend,
        context=mode,
        context_ratio=ratio,
        region=options.region,
        bands=options.bands,
    )


def _stems(images: Sequence[Path], out: Path) -> list[str]:
    """A stem for each image; those that were taken already get a number.

    Some file systems do not tell upper from lower case. No mask may replace an image that is yet to be read.
    """
    taken = {
        image.stem.removesuffix("_mask").casefold()
        for image in images
        if image.stem.endswith("_mask") and image.absolute().parent == out.absolute()
    }
    stems = []
    for image in images:
        stem, number = image.stem, 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{image.stem}_{number}"
        taken.add(stem.casefold())
        stems.append(stem)
    return stems
