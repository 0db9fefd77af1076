"""What a training run was told: a value, written into its run folder and its model's card."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

from segstudio.core.errors import DataError, DataProblem
from segstudio.training.losses import LossOptions


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Recipe of one run.

    Attributes:
        network: name in `networks.registry`.
        steps: optimiser steps.
        batch: patches a step.
        group: patches that share a context window, for networks with context; cut to a divisor of the batch.
        patch: patch side in training and default in use.
        learning_rate: peak of the one-cycle schedule of AdamW.
        context_dropout: share of patches that see no context (their context features are zeros).
        coarse_weight: weight of the cross-entropy of the context alone.
        ema: decay of the weight average that is validated and saved.
        validate_every: steps between validations; the best mIoU on `val` is kept.
    """

    network: str
    steps: int = 1500
    batch: int = 8
    group: int = 2
    patch: int = 256
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    warm_share: float = 0.1
    clip: float = 1.0
    ema: float = 0.995
    context_dropout: float = 0.15
    coarse_weight: float = 0.4
    validate_every: int = 200
    seed: int = 0
    losses: LossOptions = field(default_factory=LossOptions)

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "group", "patch", "validate_every"):
            if getattr(self, name) < 1:
                raise DataError(DataProblem.OPTION, name, detail=f"{getattr(self, name)} is less than 1")
        if not 0 < self.learning_rate < 1:
            raise DataError(DataProblem.OPTION, "learning rate", detail=f"{self.learning_rate} is not between 0 and 1")

    @property
    def shared(self) -> int:
        """Patches of one context window: the largest common divisor of `group` and `batch`."""
        return math.gcd(self.group, self.batch)

    def to_json(self) -> dict[str, object]:
        return dataclasses.asdict(self)
