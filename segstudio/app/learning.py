"""Training as a use case: from a labelled folder to a model that can be chosen at once."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from segstudio.core.errors import DataError, DataProblem
from segstudio.core.files import output_error
from segstudio.core.geometry import Rect, Size
from segstudio.core.jobs import JobContext
from segstudio.datasets.ingest import Dataset, Sample, open_dataset
from segstudio.datasets.sample import read_labels
from segstudio.datasets.sampling import LabelIndex, index_labels
from segstudio.datasets.scores import Confusion
from segstudio.datasets.splits import Part
from segstudio.imaging.pyramid import read_scaled
from segstudio.imaging.source import open_source
from segstudio.inference.engine import EngineOptions, sweep
from segstudio.inference.torch_backend import TorchBackend
from segstudio.networks.arithmetic import denormals_flushed
from segstudio.networks.build import Network, build
from segstudio.networks.checkpoint import load_encoder, save_model
from segstudio.networks.registry import NETWORKS
from segstudio.networks.spec import ContextCard, ModelCard, Normalisation
from segstudio.patches.grid import GridOptions
from segstudio.training.batches import BatchMaker
from segstudio.training.config import TrainConfig
from segstudio.training.loop import fit, seeded

Report = Callable[[Mapping[str, object]], None]

STATISTICS_SIDE = 1024


def train(
    data: Path,
    config: TrainConfig,
    run_folder: Path,
    out: Path,
    ctx: JobContext,
    report: Report,
    *,
    start_from: Path | None = None,
) -> ModelCard:
    """Train `config.network` on a folder and write the model `out` (its card's path; weights and graphs lie beside it).

    A run folder that holds a state of the same recipe is continued. `start_from` is a card whose encoder is taken over.
    Raises `DataError` for data that cannot be used, `OutputError`, `Cancelled`; the run folder keeps the last state.
    """
    with denormals_flushed():
        return _train(data, config, run_folder, out, ctx, report, start_from)


def _train(
    data: Path,
    config: TrainConfig,
    run_folder: Path,
    out: Path,
    ctx: JobContext,
    report: Report,
    start_from: Path | None,
) -> ModelCard:
    spec = NETWORKS.get(config.network)
    GridOptions(config.patch, 0, spec.side_multiple)  # refuses a side that the network cannot halve often enough
    dataset = open_dataset(data)
    _check_alike(dataset)
    index = index_labels(dataset, Part.TRAIN, ctx)
    try:
        run_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, run_folder) from error
    normalisation = measure_normalisation(dataset)
    seeded(config.seed)
    network = build(config.network, dataset.classes, normalisation)
    if start_from is not None:
        load_encoder(network, start_from)
    context = ContextCard(None, network.encoder.cell_offset) if spec.context else None
    card = _card(out.stem, config, dataset, normalisation, network.stride, context)
    validate = None
    if any(sample.regions.get(Part.VAL) for sample in dataset.samples):
        validate = _Validation(dataset, card)
    maker = BatchMaker(index, config, normalisation, context, network.stride)
    try:
        state = fit(network, maker, config, run_folder, validate, ctx, report)
    finally:
        maker.close()
    facts = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "data": data.name,
        "images": [sample.name for sample in dataset.samples if sample.regions.get(Part.TRAIN)],
        "labelled_pixels": sum(index.class_pixels),
        "class_shares": _named_shares(index),
        "start": start_from.stem if start_from else None,
        "best_step": state.best[1],
        "recipe": config.to_json(),
    }
    scores = validate(network) if validate else {}
    return save_model(network, dataclasses.replace(card, training=facts, scores={"val": scores}), out.parent)


class _Validation:
    """Scores of a network over the regions for validation, by the same engine that predicts."""

    def __init__(self, dataset: Dataset, card: ModelCard) -> None:
        self._dataset = dataset
        self._card = card

    def __call__(self, network: Network) -> dict[str, object]:
        confusion = Confusion(self._dataset.classes)
        backend = TorchBackend(network, self._card, "cpu")
        for sample in self._dataset.samples:
            for region in sample.regions.get(Part.VAL, ()):
                self._add(confusion, backend, sample, region)
        named = zip(self._dataset.classes.names, confusion.iou, strict=True)
        iou = {name: _score(float(value)) for name, value in named}
        return {"miou": _score(confusion.miou), "accuracy": _score(confusion.accuracy), "iou": iou}

    def _add(self, confusion: Confusion, backend: TorchBackend, sample: Sample, region: Rect) -> None:
        slots = np.array(self._dataset.classes.slots, np.uint8)
        with open_source(sample.image) as image, open_source(sample.mask, indexed=True) as mask:
            options = EngineOptions(overlap=0, region=region)
            for block in sweep(image, backend, options, JobContext()):
                truth = read_labels(mask, block.rect.moved(region.x, region.y), self._dataset.classes)
                confusion.add(truth, slots[block.classes])


def _score(value: float) -> float | None:
    """Four digits, and None for what does not exist: JSON has no NaN."""
    return None if np.isnan(value) else round(value, 4)


def measure_normalisation(dataset: Dataset) -> Normalisation:
    """Mean and standard deviation of each band over the training regions, from area averages of at most 1024 pixels a side."""
    total, squares, count = 0.0, 0.0, 0
    for sample in dataset.samples:
        with open_source(sample.image) as source:
            for region in sample.regions.get(Part.TRAIN, ()):
                scale = max(1.0, region.size.longer / STATISTICS_SIDE)
                out = Size(max(1, round(region.width / scale)), max(1, round(region.height / scale)))
                pixels = read_scaled(source, region, out).astype(np.float64)
                pixels = pixels.reshape(-1, pixels.shape[2])
                weight = region.size.area / len(pixels)
                total = total + weight * pixels.sum(0)
                squares = squares + weight * np.square(pixels).sum(0)
                count += region.size.area
    mean = np.asarray(total) / count
    std = np.sqrt(np.maximum(np.asarray(squares) / count - mean**2, 1e-6))
    return Normalisation(tuple(np.round(mean, 4).tolist()), tuple(np.round(std, 4).tolist()))


def _check_alike(dataset: Dataset) -> None:
    first = dataset.samples[0]
    for sample in dataset.samples[1:]:
        if (sample.bands, sample.dtype) != (first.bands, first.dtype):
            raise DataError(
                DataProblem.MIXED_IMAGES,
                sample.image,
                bands=sample.bands,
                dtype=sample.dtype,
                first=first.image.name,
                first_bands=first.bands,
                first_dtype=first.dtype,
            )


def _card(
    name: str,
    config: TrainConfig,
    dataset: Dataset,
    normalisation: Normalisation,
    stride: int,
    context: ContextCard | None,
) -> ModelCard:
    first = dataset.samples[0]
    names = ("red", "green", "blue") if first.bands == 3 else tuple(f"band {n + 1}" for n in range(first.bands))
    return ModelCard(
        name=name,
        title=NETWORKS.get(config.network).title,
        network=config.network,
        classes=dataset.classes,
        normalisation=normalisation,
        bands=names,
        dtype=first.dtype,
        patch=config.patch,
        overlap=config.patch // 4,
        stride=stride,
        context=context,
    )


def _named_shares(index: LabelIndex) -> dict[str, float]:
    names = index.dataset.classes.names
    return {name: round(share, 5) for name, share in zip(names, index.class_shares, strict=True)}
