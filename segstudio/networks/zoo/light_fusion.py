"""Seed 002: initial block, two spatial branches, two semantic branches, multi-scale fusion decoder with spatial attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from segstudio.networks.blocks import (
    ConvNormAct,
    DepthwiseAsymmetricBottleneck,
    Downsample,
    FeatureEnhancement,
    Normalise,
    Residual,
    SeparableConv,
)
from segstudio.networks.spec import Normalisation

LAYERS: dict[str, type[nn.Module]] = {
    "feb": FeatureEnhancement,
    "dab": DepthwiseAsymmetricBottleneck,
    "residual": Residual,
}
DILATIONS = ((2, 2, 2), (4, 4, 8, 8, 16, 16, 32, 32))


class SpatialBranch(nn.Module):
    """Strided convolution to a spatial map, and its compression to one channel (claim 2). The latter starts at zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.extract = ConvNormAct(channels, channels, 3, stride=2)
        self.compress = nn.Conv2d(channels, 1, 3, 1, 1)
        nn.init.zeros_(self.compress.weight)
        nn.init.zeros_(self.compress.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        extracted = self.extract(x)
        return extracted, self.compress(extracted)


class SemanticBranch(nn.Module):
    """Down-sampling, enhancement layers, concatenation with the down-sampled map, point convolution (claims 3 to 5)."""

    def __init__(self, inputs: int, layers: tuple[str, ...], dilations: tuple[int, ...]) -> None:
        super().__init__()
        channels = 2 * inputs
        self.down = Downsample(inputs)
        pairs = zip(layers, dilations, strict=True)
        self.enhance = nn.Sequential(*(LAYERS[name](channels, dilation) for name, dilation in pairs))
        self.merge = ConvNormAct(2 * channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        down = self.down(x)
        return self.merge(torch.cat((down, self.enhance(down)), 1))


class SpatialAttention(nn.Module):
    """Point convolution, dense 3x3 to one channel, sigmoid, product with the input (claim 7)."""

    def __init__(self, channels: int, squeezed: int = 8) -> None:
        super().__init__()
        self.squeeze = ConvNormAct(channels, squeezed, 1)
        self.mask = nn.Conv2d(squeezed, 1, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.mask(self.squeeze(x)))


class FusionDecoder(nn.Module):
    """First map, first and second enhanced map to one map of 2C channels at stride 4 (claims 1, 6, 7)."""

    def __init__(self, base: int) -> None:
        super().__init__()
        self.first = SeparableConv(base, 2 * base, stride=2)
        self.second = SeparableConv(2 * base, 2 * base)
        self.third = ConvNormAct(4 * base, 2 * base, 1)
        self.attention = SpatialAttention(2 * base)

    def forward(self, first_map: Tensor, enhanced1: Tensor, enhanced2: Tensor) -> Tensor:
        a = self.first(first_map)
        b = self.second(enhanced1)
        c = F.interpolate(self.third(enhanced2), scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.attention(a) + a + b + c


class LightEncoder(nn.Module):
    """Everything of seed 002 up to the final fused map: (B, bands, H, W) to (B, 2 * base, H/4, W/4); sides divisible by 8.

    `layers` names the enhancement layers of the two semantic branches; their numbers must differ (claim 5).
    """

    stride = 4
    side_multiple = 8
    cell_offset = (1.5, 1.5)
    """How far towards the top left of its 4x4 block a cell looks, (x, y) in pixels: `networks.cells.measure_offset`."""

    def __init__(self, bands: int, base: int, layers: tuple[tuple[str, ...], tuple[str, ...]] | None = None) -> None:
        super().__init__()
        first, second = layers or (("feb",) * 3, ("feb",) * 8)
        if len(first) == len(second):
            raise ValueError(
                "the two semantic branches need different numbers of enhancement layers (seed 002, claim 5)"
            )
        self.channels = 2 * base
        self.initial = nn.Sequential(
            ConvNormAct(bands, base, 3, stride=2), ConvNormAct(base, base, 3), ConvNormAct(base, base, 3)
        )
        self.spatial1 = SpatialBranch(base)
        self.spatial2 = SpatialBranch(base)
        self.semantic1 = SemanticBranch(base, first, DILATIONS[0][-len(first) :])
        self.semantic2 = SemanticBranch(2 * base, second, DILATIONS[1][-len(second) :])
        self.decoder = FusionDecoder(base)

    def forward(self, x: Tensor) -> Tensor:
        first_map = self.initial(x)
        spatial1, compressed1 = self.spatial1(first_map)
        _, compressed2 = self.spatial2(spatial1)
        enhanced1 = self.semantic1(first_map) + compressed1
        enhanced2 = self.semantic2(enhanced1) + compressed2
        return self.decoder(first_map, enhanced1, enhanced2)


class LightFusion(nn.Module):
    """Seed 002 whole: raw pixels to class scores at stride 4 (`segment`), or at full size (`forward`, bilinear x4)."""

    graphs = ("segment",)

    def __init__(self, *, classes: int, normalisation: Normalisation, base: int) -> None:
        super().__init__()
        self.normalise = Normalise(normalisation.mean, normalisation.std)
        self.encoder = LightEncoder(len(normalisation.mean), base)
        self.classify = nn.Conv2d(self.encoder.channels, classes, 1)

    @property
    def stride(self) -> int:
        return self.encoder.stride

    def segment(self, x: Tensor) -> Tensor:
        """Raw pixels float32 (B, bands, P, P) to scores (B, classes, P/4, P/4)."""
        return self.classify(self.encoder(self.normalise(x)))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.segment(x)
        return F.interpolate(scores, scale_factor=float(self.stride), mode="bilinear", align_corners=False)
