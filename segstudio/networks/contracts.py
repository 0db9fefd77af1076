"""What the parts of a network owe each other."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Encoder(Protocol):
    """A module from normalised pixels (B, bands, H, W) to features (B, channels, H/stride, W/stride)."""

    channels: int
    stride: int
    side_multiple: int
    cell_offset: tuple[float, float]

    def __call__(self, x: Tensor) -> Tensor: ...
