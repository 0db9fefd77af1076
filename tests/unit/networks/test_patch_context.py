"""Seed 000: the fusion of a patch with its coarse image, claim by claim."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from segstudio.networks.build import build, parameter_count
from segstudio.networks.spec import Normalisation
from segstudio.networks.zoo.patch_context import KERNELS, Fusion, PatchContext, PoolingBranch, SpatialBranch

RGB = Normalisation((127.0,) * 3, (50.0,) * 3)


def network(classes: int = 7) -> PatchContext:
    torch.manual_seed(0)
    net = build("context-light", classes, RGB)
    assert isinstance(net, PatchContext)
    return net.eval()


def test_cost_is_encoder_plus_fusion() -> None:
    net = network()
    assert parameter_count(net.fusion) == pytest.approx(280_000, rel=0.02)
    assert parameter_count(net) == pytest.approx(930_000, rel=0.02)
    features = torch.zeros(1, 64, 256, 256)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net.fusion(features, features)
    assert counter.get_total_flops() / 2e9 == pytest.approx(18.4, rel=0.02)


@pytest.mark.parametrize("side", [256, 512, 1024])
def test_shapes(side: int) -> None:
    net = network()
    with torch.no_grad():
        features = net.encode(torch.rand(1, 3, side, side) * 255)
        scores, coarse = net.fuse(features, features)
    cells = side // 4
    assert features.shape == (1, 64, cells, cells)
    assert scores.shape == coarse.shape == (1, 7, cells, cells)


def test_pooling_branch_is_the_product_of_row_and_column_means() -> None:
    x = torch.rand(2, 3, 5, 7)
    expected = torch.einsum("bch,bcw->bchw", x.mean(3), x.mean(2))
    torch.testing.assert_close(PoolingBranch()(x), expected)


def test_spatial_branch_uses_kernels_of_different_sizes_on_four_pooled_maps() -> None:
    branch = SpatialBranch()
    assert len(set(KERNELS)) == len(KERNELS) >= 2
    assert [scale[0].kernel_size[0] for scale in branch.scales] == list(KERNELS)
    assert all(scale[0].in_channels == 4 for scale in branch.scales)
    gate = branch(torch.randn(1, 8, 6, 6), torch.randn(1, 8, 6, 6))
    assert gate.shape == (1, 1, 6, 6)
    assert 0 < gate.min() < gate.max() < 1


def test_sixth_map_holds_the_six_maps_in_the_claims_order() -> None:
    fusion = Fusion(8, 3).eval()
    first, second = torch.randn(1, 8, 6, 6), torch.randn(1, 8, 6, 6)
    with torch.no_grad():
        gate, sixth = fusion.spatial(first, second), fusion.sixth_map(first, second)
    parts = sixth.split(8, 1)
    expected = (first, second, fusion.pooling(first), fusion.pooling(second), first * gate, second * gate)
    assert len(parts) == len(expected)
    for part, wanted in zip(parts, expected, strict=True):
        torch.testing.assert_close(part, wanted)


def test_equal_then_unequal_kernels() -> None:
    fusion = Fusion(8, 3)
    assert [block[0].kernel_size for block in fusion.equal] == [(3, 3), (3, 3)]
    assert [block[0].kernel_size for block in fusion.unequal] == [(3, 3), (1, 1)]


def test_patch_and_coarse_image_share_the_encoder() -> None:
    names = {name for name, _ in network().named_modules() if name.endswith("encoder")}
    assert names == {"encoder"}


def test_no_context_is_accepted() -> None:
    net = network()
    with torch.no_grad():
        features = net.encode(torch.rand(1, 3, 64, 64) * 255)
        scores, _ = net.fuse(features, torch.zeros_like(features))
    assert torch.isfinite(scores).all()


def test_constant_coarse_image_gives_a_constant_second_map_away_from_its_border() -> None:
    net = network()
    with torch.no_grad():
        features = net.encode(torch.full((1, 3, 512, 512), 127.0))
    inner = features[..., 56:72, 56:72]
    assert (inner.amax((2, 3)) - inner.amin((2, 3))).max() < 1e-3


def test_result_of_a_patch_does_not_depend_on_its_neighbours_in_the_batch() -> None:
    net = network()
    pixels = torch.rand(3, 3, 64, 64) * 255
    order = [2, 0, 1]
    with torch.no_grad():
        straight = net.fuse(net.encode(pixels), net.encode(pixels))[0]
        shuffled = net.fuse(net.encode(pixels[order]), net.encode(pixels[order]))[0]
    torch.testing.assert_close(straight[order], shuffled, atol=1e-5, rtol=1e-4)


def test_training_step_reaches_encoder_through_both_maps() -> None:
    net = network().train()
    pixels = torch.rand(2, 3, 64, 64) * 255
    features = net.encode(pixels)
    features.retain_grad()
    scores, coarse = net.fuse(features[:1], features[1:])
    (scores.square().mean() + coarse.square().mean()).backward()
    assert features.grad is not None
    assert features.grad[0].abs().sum() > 0
    assert features.grad[1].abs().sum() > 0
