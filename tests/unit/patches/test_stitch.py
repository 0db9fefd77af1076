from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from torch import from_numpy
from torch.nn.functional import interpolate

from segstudio.core.geometry import Rect, Size
from segstudio.patches.grid import Grid, GridOptions, plan
from segstudio.patches.stitch import ScoreBand, Stitcher

PATCH, CLASSES = 32, 3


def network(grid: Grid, stride: int, *, by_patch: bool = False):
    """A stand-in whose scores depend on the place in the image, and by choice on the patch that looks."""
    generator = np.random.default_rng(7)
    step, cells = grid.options.step // stride, grid.options.patch // stride
    shape = (CLASSES, (grid.rows - 1) * step + cells, (grid.columns - 1) * step + cells)
    whole = generator.normal(size=shape).astype(np.float32)

    def scores(patch):
        top, left = patch.row * step, patch.column * step
        part = whole[:, top : top + cells, left : left + cells]
        return part + np.float32(patch.row * 10 + patch.column) if by_patch else part

    height, width = -(-grid.size.height // stride), -(-grid.size.width // stride)
    return scores, whole[:, :height, :width]


def bands_of(stitcher: Stitcher, scores) -> list[ScoreBand]:
    found = [stitcher.add(stripe, patch, scores(patch)) for stripe, patch in stitcher.order()]
    assert found[-1] is not None
    return [band for band in found if band is not None]


def assembled(bands: list[ScoreBand], size: Size, stride: int) -> np.ndarray:
    """The cells of the bands in one map; cells that bands share must agree."""
    shape = (CLASSES, -(-size.height // stride), -(-size.width // stride))
    whole = np.full(shape, np.nan, np.float32)
    for band in bands:
        x, y = band.origin[0] // stride, band.origin[1] // stride
        target = whole[:, y : y + band.scores.shape[1], x : x + band.scores.shape[2]]
        assert target.shape == band.scores.shape
        seen = ~np.isnan(target)
        assert np.array_equal(target[seen], band.scores[seen])
        target[:] = band.scores
    return whole


def assert_tiled_once(rects: list[Rect], size: Size) -> None:
    seen = np.zeros((size.height, size.width), np.uint8)
    for rect in rects:
        assert Rect.of_size(size).contains(rect)
        seen[rect.slices_from(0, 0)] += 1
    assert np.all(seen == 1)


def upsampled(scores: np.ndarray, stride: int) -> np.ndarray:
    return interpolate(from_numpy(scores)[None], scale_factor=stride, mode="bilinear", align_corners=False)[0].numpy()


@pytest.mark.parametrize("blend", ["hann", "crop"])
@pytest.mark.parametrize("overlap", [0, 4, 12, PATCH // 2])
def test_stitching_the_identity_gives_the_identity(overlap, blend):
    lengths = [1, PATCH - 1, PATCH, PATCH + 1, 2 * PATCH - overlap, 2 * PATCH - overlap + 1, 3 * PATCH + 7]
    for size in itertools.starmap(Size, itertools.product(lengths, lengths)):
        grid = plan(size, GridOptions(PATCH, overlap))
        scores, expected = network(grid, 4)
        bands = bands_of(Stitcher(grid, CLASSES, 4, blend=blend), scores)
        np.testing.assert_allclose(assembled(bands, size, 4), expected, atol=1e-6)
        assert_tiled_once([band.rect for band in bands], size)


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16])
def test_smallest_steps(stride):
    size = Size(5 * stride + 1, 7 * stride)
    for patch, overlap in ((stride, 0), (2 * stride, stride)):
        grid = plan(size, GridOptions(patch, overlap, stride))
        scores, expected = network(grid, stride)
        bands = bands_of(Stitcher(grid, CLASSES, stride), scores)
        np.testing.assert_allclose(assembled(bands, size, stride), expected, atol=1e-6)
        assert_tiled_once([band.rect for band in bands], size)


@pytest.mark.parametrize("overlap", [4, 12, 16])
def test_hann_is_the_weighted_mean_over_all_patches(overlap):
    size = Size(117, 90)
    grid = plan(size, GridOptions(PATCH, overlap))
    scores, shape_of = network(grid, 4, by_patch=True)
    total = np.zeros(shape_of.shape)
    weight = np.zeros(shape_of.shape[1:])
    cells, count = PATCH // 4, overlap // 4
    ramp = np.sin(np.pi / 2 * np.minimum(1, (np.arange(cells) + 0.5) / count)) ** 2
    for patch in grid:
        across, down = np.ones(cells), np.ones(cells)
        for axis, index, last in ((across, patch.column, grid.columns - 1), (down, patch.row, grid.rows - 1)):
            axis *= ramp if index > 0 else 1
            axis *= ramp[::-1] if index < last else 1
        y, x = patch.window.y // 4, patch.window.x // 4
        here = total[:, y : y + cells, x : x + cells]
        both = np.outer(down, across)[: here.shape[1], : here.shape[2]]
        here += (scores(patch)[:, : here.shape[1], : here.shape[2]]) * both
        weight[y : y + cells, x : x + cells] += both
    bands = bands_of(Stitcher(grid, CLASSES, 4), scores)
    np.testing.assert_allclose(assembled(bands, size, 4), total / weight, atol=2e-5)


def test_crop_pastes_cores():
    size = Size(117, 90)
    grid = plan(size, GridOptions(PATCH, 16))
    scores, shape_of = network(grid, 4, by_patch=True)
    expected = np.empty_like(shape_of)
    for patch in grid:
        core = Rect(patch.core.x // 4, patch.core.y // 4, -(-patch.core.width // 4), -(-patch.core.height // 4))
        of = core.slices_from(patch.window.x // 4, patch.window.y // 4)
        expected[(..., *core.slices_from(0, 0))] = scores(patch)[(..., *of)]
    bands = bands_of(Stitcher(grid, CLASSES, 4, blend="crop"), scores)
    assert np.array_equal(assembled(bands, size, 4), expected)


@pytest.mark.parametrize("blend", ["hann", "crop"])
@pytest.mark.parametrize(("stride", "overlap"), [(4, 0), (4, 12), (2, 16), (8, 8)])
def test_stripes_change_no_bit(stride, overlap, blend):
    size = Size(1543, 75)
    grid = plan(size, GridOptions(PATCH, overlap, stride))
    scores, _ = network(grid, stride, by_patch=True)
    one = Stitcher(grid, CLASSES, stride, blend=blend)
    many = Stitcher(grid, CLASSES, stride, blend=blend, cap_bytes=1)
    assert [stripe.rect.x for stripe in one.stripes] == [0]
    assert [stripe.rect.x for stripe in many.stripes] == [0, 512, 1024, 1536]
    assert len(one) == len(grid)
    seams, shared_columns = 3, 3
    assert len(grid) < len(many) <= len(grid) + seams * shared_columns * grid.rows
    assert len(many) == sum(1 for _ in many.order())
    whole, parts = bands_of(one, scores), bands_of(many, scores)
    assert np.array_equal(assembled(parts, size, stride), assembled(whole, size, stride))
    assert_tiled_once([band.rect for band in parts], size)


@pytest.mark.parametrize("stride", [1, 2, 4, 8])
@pytest.mark.parametrize("size", [Size(1100, 90), Size(3, 70), Size(515, 1)])
def test_upsampling_band_by_band_equals_upsampling_the_whole(size, stride):
    grid = plan(size, GridOptions(PATCH, 8, stride))
    scores, expected = network(grid, stride)
    expected_pixels = upsampled(np.ascontiguousarray(expected), stride)
    for band in bands_of(Stitcher(grid, CLASSES, stride, cap_bytes=1), scores):
        assert band.scores.flags.c_contiguous
        pixels = upsampled(band.scores, stride)[(..., *band.rect.slices_from(*band.origin))]
        np.testing.assert_allclose(pixels, expected_pixels[(..., *band.rect.slices_from(0, 0))], atol=1e-6)


def test_stripes_respect_the_cap():
    grid = plan(Size(70_001, 70_001), GridOptions(512, 64))
    for classes, cap in ((8, 32 << 20), (200, 256 << 20), (8, 256 << 20)):
        stitcher = Stitcher(grid, classes, 4, cap_bytes=cap)
        rows = 512 // 4 + 2
        for stripe in stitcher.stripes:
            assert classes * rows * (-(-stripe.rect.width // 4) + 2) * 4 <= cap
        widths = [stripe.rect.width for stripe in stitcher.stripes]
        assert sum(widths) == 70_001
        assert all(width % 512 == 0 for width in widths[:-1])
        columns = sum(len(stripe.columns) for stripe in stitcher.stripes)
        assert columns <= grid.columns + 2 * (len(widths) - 1)
    assert [stripe.rect.width for stripe in stitcher.stripes] == [64 * 512, 64 * 512, 70_001 - 128 * 512]


def test_memory_does_not_grow_with_the_height():
    def peak(height: int) -> int:
        stitcher = Stitcher(plan(Size(1024, height), GridOptions(64, 16)), 4, 4)
        scores = np.ones((4, 16, 16), np.float32)
        tracemalloc.start()
        try:
            for stripe, patch in stitcher.order():
                stitcher.add(stripe, patch, scores)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(300)
    low, high = peak(300), peak(6000)
    assert high <= 1.02 * low
    assert high <= 2.2 * 4 * (16 + 2) * 256 * 4


def test_a_patch_out_of_order_is_an_error():
    grid = plan(Size(100, 100), GridOptions(64, 16))
    stitcher = Stitcher(grid, 1, 4)
    scores = np.zeros((1, 16, 16), np.float32)
    with pytest.raises(ValueError, match="out of order"):
        stitcher.add(stitcher.stripes[0], grid.patch(0, 1), scores)


def test_scores_of_another_shape_are_an_error():
    grid = plan(Size(100, 100), GridOptions(64, 16))
    stitcher = Stitcher(grid, 2, 4)
    with pytest.raises(ValueError, match="expected"):
        stitcher.add(stitcher.stripes[0], grid.patch(0, 0), np.zeros((2, 8, 8), np.float32))


def test_a_stride_that_does_not_divide_the_patch_is_an_error():
    grid = plan(Size(100, 100), GridOptions(36, 4))
    with pytest.raises(ValueError, match="stride 8"):
        Stitcher(grid, 2, 8)


def test_scores_are_not_changed_and_bands_are_not_shared():
    grid = plan(Size(100, 200), GridOptions(64, 16))
    scores, _ = network(grid, 4)
    stitcher = Stitcher(grid, CLASSES, 4)
    kept = []
    for stripe, patch in stitcher.order():
        given = np.ascontiguousarray(scores(patch))
        given.flags.writeable = False
        band = stitcher.add(stripe, patch, given)
        if band is not None:
            kept.append((band.scores, band.scores.copy()))
    assert len(kept) == grid.rows
    assert all(np.array_equal(now, then) for now, then in kept)


def test_a_very_wide_image_is_swept_in_stripes_whatever_its_scores_take():
    grid = plan(Size(100_000, 600), GridOptions(512, 128, 8))
    stripes = Stitcher(grid, 1, 4).stripes
    assert max(stripe.rect.width for stripe in stripes) == 64 * 512
    assert sum(stripe.rect.width for stripe in stripes) == 100_000
