"""Where a cell of an encoder's map really looks: measured, since strided 3x3 convolutions look up and to the left."""

from __future__ import annotations

import torch
from torch import nn

from segstudio.networks.contracts import Encoder

SIDE = 128


def measure_offset(encoder: Encoder, bands: int, *, seed: int = 0) -> tuple[float, float]:
    """Shift (x, y) in pixels towards the top left: cell j looks at pixel `stride * j + stride / 2 - offset`.

    A dot is put on every pixel of one block of stride x stride pixels in turn; the centroid of the squared change of the
    map, compared with the pixel's centre and averaged over the block, is the offset. Runs in evaluation mode on noise.
    """
    if not isinstance(encoder, nn.Module):
        raise TypeError("an encoder is a torch module")
    training = encoder.training
    encoder.eval()
    generator = torch.Generator().manual_seed(seed)
    picture = 0.5 * torch.randn(1, bands, SIDE, SIDE, generator=generator)
    stride, middle = encoder.stride, SIDE // 2
    shifts = []
    with torch.no_grad():
        base = encoder(picture)
        for y in range(middle, middle + stride):
            for x in range(middle, middle + stride):
                dotted = picture.clone()
                dotted[:, :, y, x] += 4
                shifts.append(_centroid(encoder(dotted) - base, stride) - torch.tensor([x + 0.5, y + 0.5]))
    encoder.train(training)
    x, y = torch.stack(shifts).mean(0).tolist()
    return round(x, 3), round(y, 3)


def _centroid(change: torch.Tensor, stride: int, radius: int = 3) -> torch.Tensor:
    """Centroid (x, y) of a change (1, C, H, W) near its peak, in pixels if cells lay in the middle of their blocks."""
    energy = change.square().sum((0, 1))
    peak = int(energy.argmax())
    row, column = divmod(peak, energy.shape[1])
    top, left = max(0, row - radius), max(0, column - radius)
    near = energy[top : row + radius + 1, left : column + radius + 1]
    total = near.sum()
    ys = torch.arange(near.shape[0]) + top + 0.5
    xs = torch.arange(near.shape[1]) + left + 0.5
    return torch.stack(((near.sum(0) * xs).sum() / total, (near.sum(1) * ys).sum() / total)) * stride
