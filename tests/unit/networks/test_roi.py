"""ROIAlign by two matrix products, against bilinear sampling by torch and by scipy; and where the cells of both maps look."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates

from segstudio.core.geometry import Rect
from segstudio.networks.cells import measure_offset
from segstudio.networks.roi import align
from segstudio.networks.zoo.light_fusion import LightEncoder
from segstudio.patches.context import roi_box


def by_scipy(features: np.ndarray, box: tuple[float, float, float, float], cells: int) -> np.ndarray:
    x0, y0, x1, y1 = box
    _, height, width = features.shape
    ys = np.clip(y0 - 0.5 + (np.arange(cells) + 0.5) * (y1 - y0) / cells, 0, height - 1)
    xs = np.clip(x0 - 0.5 + (np.arange(cells) + 0.5) * (x1 - x0) / cells, 0, width - 1)
    grid = np.meshgrid(ys, xs, indexing="ij")
    return np.stack([map_coordinates(plane.astype(np.float64), grid, order=1, mode="nearest") for plane in features])


@settings(max_examples=60, deadline=None)
@given(
    left=st.floats(0, 20),
    top=st.floats(0, 12),
    width=st.floats(0.5, 12),
    height=st.floats(0.5, 12),
    cells=st.integers(1, 40),
)
def test_equals_bilinear_sampling_at_the_bin_centres(
    left: float, top: float, width: float, height: float, cells: int
) -> None:
    features = np.random.default_rng(0).standard_normal((3, 24, 32)).astype(np.float32)
    box = (left, top, left + width, top + height)
    np.testing.assert_allclose(align(features, box, cells), by_scipy(features, box, cells), atol=2e-5)


@pytest.mark.parametrize("corner", [(0, 0), (24, 0), (0, 24), (24, 24)])
def test_equals_grid_sample_at_the_corners(corner: tuple[int, int]) -> None:
    features = np.random.default_rng(1).standard_normal((4, 32, 32)).astype(np.float32)
    x, y = corner
    cells = 64
    steps = (torch.arange(cells, dtype=torch.float64) + 0.5) * (8 / cells)
    gx, gy = (2 * (start + steps) / 32 - 1 for start in (x, y))
    grid = torch.stack((gx[None, :].expand(cells, cells), gy[:, None].expand(cells, cells)), -1)[None]
    expected = torch.nn.functional.grid_sample(
        torch.from_numpy(features)[None].double(), grid, padding_mode="border", align_corners=False
    )[0]
    np.testing.assert_allclose(align(features, (x, y, x + 8, y + 8), cells), expected.numpy(), atol=1e-5)


def test_whole_map_at_its_own_resolution_is_the_map() -> None:
    features = np.random.default_rng(2).standard_normal((2, 16, 16)).astype(np.float32)
    np.testing.assert_array_equal(align(features, (0, 0, 16, 16), 16), features)


def test_light_encoder_looks_up_and_to_the_left_as_its_constant_says() -> None:
    torch.manual_seed(0)
    measured = [measure_offset(LightEncoder(3, 32), 3, seed=seed) for seed in range(3)]
    assert np.mean(measured, axis=0) == pytest.approx(LightEncoder.cell_offset, abs=0.35)


class Smoothing(torch.nn.Module):
    """A linear encoder whose cells are known to look 1.5 pixels up and to the left: two strided 3x3 binomial filters."""

    channels, stride, side_multiple, cell_offset = 1, 4, 4, (1.5, 1.5)

    def __init__(self) -> None:
        super().__init__()
        line = torch.tensor([1.0, 2.0, 1.0]) / 4
        self.register_buffer("kernel", torch.outer(line, line)[None, None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = torch.nn.functional.conv2d(x, self.kernel, stride=2, padding=1)
        return x


def test_offset_of_a_known_encoder_is_measured_right() -> None:
    assert measure_offset(Smoothing(), 1) == pytest.approx((1.5, 1.5), abs=0.15)


@pytest.mark.parametrize("ratio", [4, 8, 16])
def test_a_dot_lands_on_the_same_cell_in_both_maps(ratio: int) -> None:
    """Second geometry trap of context windows: without the correction F2 drifts 1.5 (r - 1) pixels from F1."""
    encoder, patch = Smoothing(), 256
    context, window = Rect(0, 0, patch * ratio, patch * ratio), Rect(patch, patch, patch, patch)
    place = patch / 2 + 3.5
    first = _response(encoder, patch, place)
    coarse = _response(encoder, patch, (patch + place) / ratio)

    def drift(offset: tuple[float, float]) -> np.ndarray:
        box = roi_box(window, context, patch=patch, stride=4, offset=offset)
        return np.subtract(_centroid(align(coarse, box, patch // 4)), _centroid(first))

    np.testing.assert_allclose(drift((0.0, 0.0)), 1.5 * (ratio - 1) / 4, rtol=0.15)
    assert np.abs(drift(encoder.cell_offset)).max() < 0.5


def _response(encoder: torch.nn.Module, side: int, at: float) -> np.ndarray:
    """The map (1, cells, cells) of a soft dot whose centre is at (at, at), in pixels."""
    ys, xs = np.mgrid[:side, :side] + 0.5
    dot = np.exp(-((xs - at) ** 2 + (ys - at) ** 2) / 2).astype(np.float32)
    with torch.no_grad():
        return encoder(torch.from_numpy(dot)[None, None])[0].numpy()


def _centroid(weights: np.ndarray) -> tuple[float, float]:
    ys, xs = np.mgrid[: weights.shape[1], : weights.shape[2]]
    return float((weights[0] * xs).sum() / weights.sum()), float((weights[0] * ys).sum() / weights.sum())
