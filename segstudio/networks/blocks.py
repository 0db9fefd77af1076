"""Layers shared by the networks of the zoo. Maps are float32 (B, C, H, W)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class NormAct(nn.Sequential):
    """Batch normalisation, then a PReLU with one slope a channel."""

    def __init__(self, channels: int) -> None:
        super().__init__(nn.BatchNorm2d(channels, eps=1e-3), nn.PReLU(channels))


class ConvNormAct(nn.Sequential):
    """Convolution without bias that keeps the size (at stride 1), batch normalisation, PReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), NormAct(outputs)
        )


class SeparableConv(nn.Sequential):
    """Depthwise 3x3 (as many kernels as input channels), then a point convolution to `outputs` channels."""

    def __init__(self, inputs: int, outputs: int, *, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False),
            nn.BatchNorm2d(inputs, eps=1e-3),
            ConvNormAct(inputs, outputs, 1),
        )


class Downsample(nn.Module):
    """Half the size, twice the channels: a strided 3x3 beside a 2x2 max pool, concatenated. Sides must be even."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, inputs, 3, 2, 1, bias=False)
        self.pool = nn.MaxPool2d(2, 2)
        self.norm_act = NormAct(2 * inputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm_act(torch.cat((self.conv(x), self.pool(x)), 1))


def _depthwise(channels: int, dilation: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, 1, dilation, dilation, groups=channels, bias=False),
        nn.BatchNorm2d(channels, eps=1e-3),
    )


class FeatureEnhancement(nn.Module):
    """FEB (seed 002, claim 4): compress to half the channels, look near and far, mix densely, expand, add the input.

    The claim's "three-dimensional convolution" takes every input channel and gives one output channel a kernel: that is the
    ordinary dense convolution, which `mix` is.
    """

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        half = channels // 2
        self.depthwise = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1, groups=channels, bias=False), NormAct(channels)
        )
        self.compress = ConvNormAct(channels, half, 1)
        self.near = _depthwise(half, 1)
        self.far = _depthwise(half, dilation)
        self.sum_act = nn.PReLU(half)
        self.mix = ConvNormAct(half, half, 3)
        self.expand = nn.Conv2d(half, channels, 1, bias=False)
        self.out = NormAct(channels)

    def forward(self, x: Tensor) -> Tensor:
        compressed = self.compress(self.depthwise(x))
        fused = self.sum_act(compressed + self.near(compressed) + self.far(compressed))
        return self.out(x + self.expand(self.mix(fused)))


class DepthwiseAsymmetricBottleneck(nn.Module):
    """DAB (seed 002, claim 4 allows it beside FEB): a local and a dilated pair of 3x1 and 1x3 depthwise convolutions.

    Source: Li et al., "DABNet", BMVC 2019, section 3.1.
    """

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        half = channels // 2
        self.enter = nn.Sequential(NormAct(channels), ConvNormAct(channels, half, 3))
        self.near = self._pair(half, 1)
        self.far = self._pair(half, dilation)
        self.leave = nn.Sequential(NormAct(half), nn.Conv2d(half, channels, 1, bias=False))

    @staticmethod
    def _pair(channels: int, dilation: int) -> nn.Sequential:
        column = nn.Conv2d(channels, channels, (3, 1), 1, (dilation, 0), (dilation, 1), groups=channels, bias=False)
        row = nn.Conv2d(channels, channels, (1, 3), 1, (0, dilation), (1, dilation), groups=channels, bias=False)
        return nn.Sequential(column, NormAct(channels), row, NormAct(channels))

    def forward(self, x: Tensor) -> Tensor:
        entered = self.enter(x)
        return x + self.leave(self.near(entered) + self.far(entered))


class Residual(nn.Module):
    """Plain residual layer of two 3x3 convolutions (seed 002, claim 4), the first dilated."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, dilation, dilation, bias=False),
            NormAct(channels),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels, eps=1e-3),
        )
        self.act = nn.PReLU(channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x + self.body(x))


class Normalise(nn.Module):
    """(value - mean) / std for each band, in the image's own units; part of the network, so that backends agree."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: tuple[float, ...], std: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32).view(1, -1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.std
