"""The training loop: steps, validation, the best weights, and a run that can stop at any time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save
from torch import Tensor

from segstudio.core.errors import DataError, DataProblem
from segstudio.core.files import write_json, written_aside
from segstudio.core.jobs import JobContext
from segstudio.networks.build import Network
from segstudio.networks.zoo.patch_context import PatchContext
from segstudio.training import state as run_state
from segstudio.training.batches import Batch, BatchMaker, batches
from segstudio.training.config import TrainConfig
from segstudio.training.losses import cross_entropy, total_loss
from segstudio.training.state import RunState

BEST = "best.safetensors"
LOG = "log.json"

Report = Callable[[Mapping[str, object]], None]
Validate = Callable[[Network], dict[str, object]]
"""Scores of a network in evaluation mode; `miou` among them."""


def fit(
    network: Network,
    maker: BatchMaker,
    config: TrainConfig,
    folder: Path,
    validate: Validate | None,
    ctx: JobContext,
    report: Report,
) -> RunState:
    """Train until `config.steps`, going on from `folder` if it holds a state of the same recipe.

    The weight average is validated every `validate_every` steps and the best is kept in `folder`; without a validation part
    the last one counts. On return `network` holds those weights. Stops with `DataError` LOSS_NOT_FINITE, naming the patches,
    as soon as a loss is not finite, and with `Cancelled` at the next step; the last state stays in `folder` either way.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state = run_state.start(network, config)
    run_state.resume(state, config, folder)
    ctx.start("train", config.steps)
    ctx.advance(state.step)
    losses: list[float] = []
    began = time.monotonic()
    for step, batch in batches(maker, state.step, config.steps):
        losses.append(_step(state, batch, config, step))
        state.step = step + 1
        if state.step % config.validate_every == 0 or state.step == config.steps:
            row: dict[str, object] = {
                "step": state.step,
                "loss": sum(losses) / len(losses),
                "seconds_per_step": (time.monotonic() - began) / len(losses),
            }
            row |= _validated(state, folder, validate)
            state.history.append(row)
            run_state.save(state, config, folder)
            write_json(folder / LOG, state.history)
            report(row)
            losses, began = [], time.monotonic()
        ctx.advance()
    network.load_state_dict(load_file(folder / BEST))
    network.eval()
    return state


def _step(state: RunState, batch: Batch, config: TrainConfig, step: int) -> float:
    for group in state.optimiser.param_groups:
        group["lr"] = config.learning_rate * one_cycle(step / config.steps, config.warm_share)
    state.network.train()
    warm = min(1.0, step / max(1.0, config.warm_share * config.steps))
    loss = batch_loss(state.network, batch, config, warm)
    value = loss.item()
    if not math.isfinite(value):
        raise DataError(DataProblem.LOSS_NOT_FINITE, "; ".join(batch.places), step=step, value=value)
    state.optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(state.network.parameters(), config.clip)
    state.optimiser.step()
    _average(state, min(config.ema, (1 + step) / (10 + step)))
    return value


def batch_loss(network: Network, batch: Batch, config: TrainConfig, warm: float) -> Tensor:
    """Loss of one batch, scores upsampled bilinearly to the labels' size."""
    labels = torch.from_numpy(batch.labels)
    pixels = torch.from_numpy(batch.pixels)
    if batch.context is None or not isinstance(network, PatchContext):
        scores = network(pixels) if not isinstance(network, PatchContext) else _without_context(network, pixels)
        return total_loss(scores, labels, config.losses, warm=warm)
    context = batch.context
    count = len(pixels)
    features = network.encode(torch.cat((pixels, torch.from_numpy(context.pixels))))
    coarse = features[count:][torch.from_numpy(context.owner)]
    rows, columns = torch.from_numpy(context.rows), torch.from_numpy(context.columns)
    second = rows[:, None] @ coarse @ columns[:, None].transpose(2, 3)
    second = second * torch.from_numpy(context.kept)[:, None, None, None]
    scores, coarse_scores = network.fuse(features[:count], second)
    loss = total_loss(_upsampled(scores, network.stride), labels, config.losses, warm=warm)
    seen = torch.where(torch.from_numpy(context.kept)[:, None, None] > 0, labels, 255)
    return loss + config.coarse_weight * cross_entropy(
        _upsampled(coarse_scores, network.stride), seen, config.losses.class_weights
    )


def _without_context(network: PatchContext, pixels: Tensor) -> Tensor:
    features = network.encode(pixels)
    return _upsampled(network.fuse(features, torch.zeros_like(features))[0], network.stride)


def _upsampled(scores: Tensor, stride: int) -> Tensor:
    return F.interpolate(scores, scale_factor=float(stride), mode="bilinear", align_corners=False)


def one_cycle(progress: float, warm_share: float) -> float:
    """Factor on the learning rate: a linear rise over `warm_share` of the run, then half a cosine down to 0."""
    if progress < warm_share:
        return 0.04 + 0.96 * progress / warm_share
    return 0.5 * (1 + math.cos(math.pi * (progress - warm_share) / (1 - warm_share)))


def _average(state: RunState, decay: float) -> None:
    with torch.no_grad():
        for key, value in state.network.state_dict().items():
            kept = state.average[key]
            if kept.is_floating_point():
                kept.lerp_(value, 1 - decay)
            else:
                kept.copy_(value)


def _validated(state: RunState, folder: Path, validate: Validate | None) -> dict[str, object]:
    """Scores of the weight average; it becomes `best.safetensors` where it is the best so far."""
    own = {key: value.clone() for key, value in state.network.state_dict().items()}
    state.network.load_state_dict(state.average)
    state.network.eval()
    try:
        row = validate(state.network) if validate else {}
        miou = row.get("miou")
        if not isinstance(miou, float) or miou >= state.best[0]:
            state.best = (miou if isinstance(miou, float) else -1.0, state.step)
            with written_aside(folder / BEST) as part:
                part.write_bytes(save({key: value.contiguous() for key, value in state.average.items()}))
    finally:
        state.network.load_state_dict(own)
    return row


def seeded(seed: int) -> None:
    """Fix torch's random state for building a network."""
    torch.manual_seed(seed)
