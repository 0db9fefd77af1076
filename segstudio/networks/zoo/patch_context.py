"""Seed 000: a patch and the coarse image round it, fused by a pooling branch and a spatial branch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from segstudio.networks.blocks import Normalise
from segstudio.networks.contracts import Encoder
from segstudio.networks.spec import Normalisation

KERNELS = (3, 5, 7)


def _conv_bn_relu(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, 1, kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


class PoolingBranch(nn.Module):
    """Claim 2: means over the rows and over the columns of a map, multiplied as matrices: (B, C, H, W) to the same size.

    The matrix product of an H x 1 column with a 1 x W row is their product with broadcasting, which keeps every runtime in
    the layout of its convolutions.
    """

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(3, keepdim=True) * x.mean(2, keepdim=True)


class SpatialBranch(nn.Module):
    """Claim 3: channel means and maxima of both maps, n convolutions of different kernel sizes, one merging convolution.

    Gives the third map as a gate in (0, 1), (B, 1, H, W), shared by both maps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scales = nn.ModuleList(nn.Sequential(nn.Conv2d(4, 4, k, 1, k // 2), nn.ReLU()) for k in KERNELS)
        self.merge = nn.Conv2d(4 * len(KERNELS), 1, 3, 1, 1)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        pooled = torch.cat(
            [part for x in (first, second) for part in (x.mean(1, keepdim=True), x.amax(1, keepdim=True))], 1
        )
        return torch.sigmoid(self.merge(torch.cat([scale(pooled) for scale in self.scales], 1)))


class Fusion(nn.Module):
    """Claims 1 to 3, 5 and 8: first and second map (B, C, H, W) each to class scores (B, classes, H, W)."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.pooling = PoolingBranch()
        self.spatial = SpatialBranch()
        self.equal = nn.Sequential(_conv_bn_relu(6 * channels, channels, 3), _conv_bn_relu(channels, channels, 3))
        self.unequal = nn.ModuleList(
            [_conv_bn_relu(channels, channels // 2, 3), _conv_bn_relu(channels, channels // 2, 1)]
        )
        self.classify = nn.Conv2d(channels // 2 * 2, classes, 1)

    def sixth_map(self, first: Tensor, second: Tensor) -> Tensor:
        """The six maps of claim 1 side by side: (B, 6C, H, W)."""
        gate = self.spatial(first, second)
        return torch.cat((first, second, self.pooling(first), self.pooling(second), first * gate, second * gate), 1)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        preliminary = self.equal(self.sixth_map(first, second))
        seventh = torch.cat([conv(preliminary) for conv in self.unequal], 1)
        return self.classify(seventh)


class PatchContext(nn.Module):
    """Seed 000 round any encoder: two graphs, with the ROI crop of the coarse map between them (`networks.roi`).

    `encode`: raw pixels (B, bands, P, P) to features (B, C, P/q, P/q), for the patch and for the coarse image alike.
    `fuse`: patch features and context features, the coarse map resampled to the patch's cells (zeros = no context), to
    (class scores, scores of the context alone), both (B, classes, P/q, P/q).
    """

    graphs = ("encode", "fuse")

    def __init__(self, encoder: Encoder, *, classes: int, normalisation: Normalisation, width: int = 64) -> None:
        super().__init__()
        self.normalise = Normalise(normalisation.mean, normalisation.std)
        self.encoder = encoder
        self.reduce: nn.Module = (
            nn.Identity() if encoder.channels == width else _conv_bn_relu(encoder.channels, width, 1)
        )
        self.adapt = _conv_bn_relu(width, width, 1)
        self.fusion = Fusion(width, classes)
        self.coarse_classify = nn.Conv2d(width, classes, 1)

    @property
    def stride(self) -> int:
        return self.encoder.stride

    def encode(self, x: Tensor) -> Tensor:
        features: Tensor = self.reduce(self.encoder(self.normalise(x)))
        return features

    def fuse(self, patch_features: Tensor, context_features: Tensor) -> tuple[Tensor, Tensor]:
        second = self.adapt(context_features)
        return self.fusion(patch_features, second), self.coarse_classify(second)
