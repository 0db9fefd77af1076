"""Seed 002: structure, size and behaviour of the light two-branch network."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from segstudio.networks.blocks import FeatureEnhancement
from segstudio.networks.build import build, parameter_count
from segstudio.networks.spec import Normalisation
from segstudio.networks.zoo.light_fusion import LightEncoder, LightFusion

RGB = Normalisation((127.0,) * 3, (50.0,) * 3)


def network(base: int = 32, classes: int = 7) -> LightFusion:
    torch.manual_seed(0)
    return LightFusion(classes=classes, normalisation=RGB, base=base).eval()


def test_parameters_and_multiply_adds_are_those_of_the_design() -> None:
    net = network()
    assert parameter_count(net) == pytest.approx(647_000, rel=0.01)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net(torch.zeros(1, 3, 1024, 1024))
    assert counter.get_total_flops() / 2e9 == pytest.approx(18.9, rel=0.01)


@pytest.mark.parametrize("side", [64, 136, 256])
def test_scores_have_a_quarter_of_the_side_and_the_result_the_whole(side: int) -> None:
    net = network()
    pixels = torch.rand(2, 3, side, side) * 255
    with torch.no_grad():
        assert net.segment(pixels).shape == (2, 7, side // 4, side // 4)
        assert net(pixels).shape == (2, 7, side, side)


def test_final_map_is_a_ready_first_map_for_the_fusion() -> None:
    with torch.no_grad():
        assert LightEncoder(3, 32).eval()(torch.zeros(1, 3, 128, 128)).shape == (1, 64, 32, 32)


def test_enhancement_layer_without_its_last_convolution_passes_its_input_on() -> None:
    layer = FeatureEnhancement(32, 4).eval()
    torch.nn.init.zeros_(layer.expand.weight)
    x = torch.randn(1, 32, 16, 16)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), layer.out(x))


def test_single_channel_maps_add_nothing_at_the_start() -> None:
    encoder = network().encoder
    x = torch.randn(1, 32, 32, 32)
    with torch.no_grad():
        for branch in (encoder.spatial1, encoder.spatial2):
            assert not branch(x)[1].any()


def test_second_spatial_branch_reads_the_first_ones_map_before_compression() -> None:
    encoder = network().encoder
    seen: list[torch.Tensor] = []
    encoder.spatial2.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    made: list[torch.Tensor] = []
    encoder.spatial1.register_forward_hook(lambda _module, _inputs, outputs: made.append(outputs[0]))
    with torch.no_grad():
        encoder(torch.randn(1, 3, 64, 64))
    assert seen[0] is made[0]
    assert seen[0].shape == (1, 32, 16, 16)


def test_enhanced_map_is_semantic_map_plus_broadcast_compressed_map() -> None:
    encoder = network().encoder
    torch.nn.init.constant_(encoder.spatial1.compress.bias, 3.0)
    parts: dict[str, torch.Tensor] = {}
    encoder.semantic1.register_forward_hook(lambda _m, _i, out: parts.update(semantic=out))
    encoder.semantic2.register_forward_pre_hook(lambda _m, inputs: parts.update(enhanced=inputs[0]))
    with torch.no_grad():
        encoder(torch.randn(1, 3, 64, 64))
    torch.testing.assert_close(parts["enhanced"], parts["semantic"] + 3.0)


def test_attention_is_added_to_the_three_maps() -> None:
    decoder = network().encoder.decoder
    first, second, third = torch.randn(1, 32, 32, 32), torch.randn(1, 64, 16, 16), torch.randn(1, 128, 8, 8)
    with torch.no_grad():
        a, b = decoder.first(first), decoder.second(second)
        c = torch.nn.functional.interpolate(decoder.third(third), scale_factor=2, mode="bilinear")
        mask = torch.sigmoid(decoder.attention.mask(decoder.attention.squeeze(a)))
        assert mask.shape == (1, 1, 16, 16)
        torch.testing.assert_close(decoder(first, second, third), a * mask + a + b + c)


def test_branches_need_different_numbers_of_layers() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        LightEncoder(3, 16, (("feb",) * 3, ("feb",) * 3))


def test_any_mixture_of_enhancement_layers_works() -> None:
    encoder = LightEncoder(3, 16, (("dab", "feb"), ("residual", "feb", "dab", "feb"))).eval()
    with torch.no_grad():
        assert encoder(torch.randn(1, 3, 64, 64)).shape == (1, 32, 16, 16)


def test_shifting_the_picture_shifts_the_result_away_from_the_borders() -> None:
    net = network(base=16)
    side, shift = 640, 8
    torch.manual_seed(1)
    picture = torch.rand(1, 3, side, side + shift) * 255
    with torch.no_grad():
        here, there = net.segment(picture[..., :side]), net.segment(picture[..., shift:])
    cells, middle = shift // 4, slice(70, 90)
    torch.testing.assert_close(
        here[..., middle, 70 + cells : 90 + cells], there[..., middle, 70:90], atol=2e-4, rtol=1e-3
    )


@pytest.mark.parametrize("name", ["light-nano", "light-base", "light-large"])
def test_sizes_are_registered(name: str) -> None:
    assert isinstance(build(name, 5, RGB), LightFusion)
