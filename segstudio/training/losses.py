"""Losses over class scores and label masks; pixels that are no class (254 ignore, 255 untouched) never count.

Scores are float (B, K, H, W); labels are int64 (B, H, W) with class indices 0..K-1, everything else unlabelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

EPS = 1e-8
MIN_PIXELS = 32
"""A class with fewer labelled pixels in the batch has no centre worth a distance."""

UNLABELLED = 255

SeparationForm = Literal["off", "conditional", "literal"]


@dataclass(frozen=True, slots=True)
class LossOptions:
    """Weights of the parts: cross-entropy 1, Dice, within-class and between-class distances (seed 001, claims 7 and 8)."""

    dice: float = 0.5
    separation: SeparationForm = "conditional"
    within: float = 0.1
    between: float = 0.1
    class_weights: tuple[float, ...] | None = None


def total_loss(scores: Tensor, labels: Tensor, options: LossOptions, *, warm: float = 1.0) -> Tensor:
    """Cross-entropy + Dice + seed 001's distances. `warm` in [0, 1] scales the distances in the first steps.

    A batch without a labelled pixel gives zero with a gradient of zero.
    """
    scores = scores.float()
    loss = cross_entropy(scores, labels, options.class_weights)
    probabilities = scores.softmax(1)
    if options.dice:
        loss = loss + options.dice * dice_loss(probabilities, labels)
    if options.separation == "conditional":
        within, between = class_distances(probabilities, labels)
        loss = loss + warm * (options.within * within + options.between * (1 - between))
    elif options.separation == "literal":
        within, between = literal_distances(probabilities)
        most = 2 * (scores.shape[1] - 1)
        loss = loss + warm * 0.01 * (within + 1 - between / most)
    return loss


def cross_entropy(scores: Tensor, labels: Tensor, class_weights: tuple[float, ...] | None = None) -> Tensor:
    """Mean cross-entropy over labelled pixels, weighted by class."""
    weight = None if class_weights is None else scores.new_tensor(class_weights)
    target = torch.where(labels < scores.shape[1], labels, UNLABELLED)
    per_pixel = F.cross_entropy(scores, target, weight, ignore_index=UNLABELLED, reduction="none")
    valid = target != UNLABELLED
    norm = valid.sum() if weight is None else weight[target[valid]].sum()
    return per_pixel.sum() / norm.clamp(min=1e-6)


def dice_loss(probabilities: Tensor, labels: Tensor) -> Tensor:
    """1 - mean soft Dice over the classes present in the labels of the batch. Source: Milletari et al., V-Net, 2016."""
    classes = probabilities.shape[1]
    valid = (labels < classes).unsqueeze(1)
    truth = _one_hot(labels, classes)
    overlap = (probabilities * truth).sum((0, 2, 3))
    sizes = (probabilities * valid).sum((0, 2, 3)) + truth.sum((0, 2, 3))
    present = truth.sum((0, 2, 3)) > 0
    if not present.any():
        return probabilities.sum() * 0
    return 1 - (2 * overlap[present] / sizes[present].clamp(min=EPS)).mean()


def class_distances(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Within-class and between-class distance, both in [0, 1], over labelled pixels only (seed 001, claims 7 and 8).

    The centre of a class is the mean probability vector over its labelled pixels. Within: mean distance of those vectors to
    their centre. Between: mean distance of the centres of different classes; 1 where fewer than two classes are present,
    so that it then adds nothing to the loss. Best values: within 0, between 1, reached by confident correct answers only.
    """
    classes = probabilities.shape[1]
    vectors = probabilities.float().movedim(1, -1).reshape(-1, classes)
    flat = labels.reshape(-1)
    centres, withins = [], []
    for index in range(classes):
        members = vectors[flat == index]
        if len(members) < MIN_PIXELS:
            continue
        centre = members.mean(0)
        centres.append(centre)
        withins.append(((members - centre).square().sum(1) + EPS).sqrt().mean())
    if not centres:
        zero = probabilities.sum() * 0
        return zero, zero + 1
    within = torch.stack(withins).mean() / 2**0.5
    if len(centres) < 2:
        return within, torch.ones_like(within)
    stacked = torch.stack(centres)
    first, second = torch.triu_indices(len(centres), len(centres), 1)
    between = ((stacked[first] - stacked[second]).square().sum(1) + EPS).sqrt().mean() / 2**0.5
    return within, between


def literal_distances(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Claim 8 of seed 001 word for word: C_i is the scalar mean of class map i over the whole picture.

    Within: sum over classes of the mean |p_i - C_i|; between: sum over ordered pairs of |C_i - C_j|. Experimental: minimised
    and maximised as written, it prefers a picture of one class (`tests/unit/training/test_losses.py` has the table).
    """
    means = probabilities.float().mean((2, 3))
    within = (probabilities - means[:, :, None, None]).abs().mean((2, 3)).sum(1).mean()
    between = (means[:, :, None] - means[:, None, :]).abs().sum((1, 2)).mean()
    return within, between


def _one_hot(labels: Tensor, classes: int) -> Tensor:
    valid = labels < classes
    hot = F.one_hot(torch.where(valid, labels, 0), classes).movedim(-1, 1)
    return (hot * valid.unsqueeze(1)).float()
