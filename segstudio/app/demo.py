"""The shipped sample through the shipped model: masks, a picture, scores, and what it cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from segstudio.app.diagnostics import peak_rss_mb
from segstudio.app.evaluation import evaluate
from segstudio.app.models import find_model
from segstudio.app.overlay import write_overlay
from segstudio.app.prediction import PredictOptions, predict_images
from segstudio.core.classes import ClassTable
from segstudio.core.errors import SegStudioError
from segstudio.core.files import write_json
from segstudio.core.geometry import Rect
from segstudio.core.jobs import JobContext
from segstudio.core.resources import resource_root
from segstudio.core.tiles import TILE_SIDE
from segstudio.imaging.indexed_png import write_indexed_png
from segstudio.imaging.source import ImageSource, open_source
from segstudio.networks.spec import read_card

MODEL = "default"
SAMPLE = "dubai-tile8"


def run_demo(out: Path, ctx: JobContext) -> dict[str, Any]:
    """Predict the sample and write the mask (GeoTIFF and indexed PNG), an overlay picture and `report.json` into `out`.

    Returns the report: files, speed, memory, device, and the scores against the sample's own mask, which the model has
    mostly been trained on. Raises `SegStudioError`, `Cancelled`.
    """
    sample = resource_root() / "sample"
    image, truth = sample / f"{SAMPLE}.tif", sample / f"{SAMPLE}-mask.tif"
    card_path = find_model(MODEL)
    card = read_card(card_path)
    (run,) = predict_images([image], card_path, out, PredictOptions(), ctx, failed=_raise)
    scores = evaluate(run.mask, truth, sample / "classes.json", ctx)
    indexed, overlay = out / f"{SAMPLE}_mask.png", out / f"{SAMPLE}_overlay.png"
    _write_indexed(run.mask, card.classes, indexed)
    write_overlay(image, run.mask, card.classes, overlay)
    facts = {name: value for name, value in dataclasses.asdict(run).items() if name not in {"image", "mask"}}
    report = {
        "image": image.name,
        "model": card.name,
        "mask": str(run.mask),
        "indexed": str(indexed),
        "overlay": str(overlay),
        **facts,
        "peak_rss_mb": peak_rss_mb(),
        "trained_on_this_image": True,
        "scores": scores,
    }
    write_json(out / "report.json", report)
    return report


def _raise(_image: Path, error: SegStudioError) -> NoReturn:
    raise error


def _write_indexed(mask: Path, classes: ClassTable, target: Path) -> None:
    palette = {item.slot: item.colour for item in classes.classes}
    with open_source(mask, indexed=True) as source:
        write_indexed_png(target, _rows(source), source.info.size, palette)


def _rows(source: ImageSource) -> Iterator[NDArray[np.uint8]]:
    size = source.info.size
    for top in range(0, size.height, TILE_SIDE):
        yield source.read(Rect(0, top, size.width, min(TILE_SIDE, size.height - top)))[..., 0]
