"""What runs a network: a backend runs the graphs of one model on arrays."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from segstudio.networks.spec import ModelCard

Pixels = npt.NDArray[np.uint8] | npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]


class Backend(Protocol):
    """One model ready to run. Not thread-safe: one thread calls it at a time.

    Attributes:
        card: the model.
        name: engine and version, for reports.
        device: what it really runs on.
    """

    card: ModelCard
    name: str
    device: str

    def pixels(self, graph: str, pixels: Pixels) -> Scores:
        """Run `segment` or `encode` on raw pixels (B, P, P, bands), uint8 or float32, to float32 (B, C, P/q, P/q)."""
        ...

    def fuse(self, patch_features: Scores, context_features: Scores) -> tuple[Scores, Scores]:
        """Run `fuse` on two float32 (B, C, P/q, P/q): (scores, scores of the context alone)."""
        ...
