"""The engine with an identity network: whatever the size, overlap and blending, the result is the picture itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio

from segstudio.core.errors import ModelError, ModelProblem
from segstudio.core.geometry import Rect, Size
from segstudio.core.jobs import Cancelled, JobContext
from segstudio.imaging.source import open_source
from segstudio.inference.backend import Pixels, Scores
from segstudio.inference.engine import EngineOptions, sweep
from segstudio.networks.spec import ContextCard, ModelCard, Normalisation
from segstudio.patches.context import ContextOptions, context_windows
from tests.helpers.command_line import CLASSES

P, OVERLAP = 64, 16
BANDS = ("only",)


class Identity:
    """A device whose network sees class k where the picture holds k; its context scores are the context's features."""

    name, device = "identity", "test"

    def __init__(self, *, context: bool = False) -> None:
        self.card = ModelCard(
            name="identity", title="identity", network="context-light" if context else "light-base", classes=CLASSES,
            normalisation=Normalisation((0.0,), (1.0,)), bands=BANDS, dtype="uint8", patch=P, overlap=OVERLAP, stride=1,
            context=ContextCard(None, (0.0, 0.0)) if context else None,
        )  # fmt: skip
        self.encoded: list[Pixels] = []

    def pixels(self, graph: str, pixels: Pixels) -> Scores:
        if graph == "encode":
            self.encoded.append(pixels)
        return (pixels[..., 0][:, None] == np.arange(len(CLASSES))[None, :, None, None]).astype(np.float32)

    def fuse(self, patch_features: Scores, context_features: Scores) -> tuple[Scores, Scores]:
        return patch_features, context_features


def write(path: Path, picture: np.ndarray, **options: object) -> Path:
    height, width = picture.shape
    profile = {"driver": "GTiff", "width": width, "height": height, "count": 1, "dtype": picture.dtype.name}
    with rasterio.open(path, "w", **profile, transform=rasterio.Affine(2, 0, 0, 0, -2, 0), **options) as dataset:
        dataset.write(picture, 1)
    return path


def classes_of(path: Path, backend: Identity, options: EngineOptions) -> np.ndarray:
    with open_source(path) as source:
        region = options.region or Rect.of_size(source.info.size)
        result = np.full((region.height, region.width), 255, np.uint8)
        for block in sweep(source, backend, options, JobContext()):
            place = block.rect.slices_from(0, 0)
            assert (result[place] == 255).all()
            result[place] = block.classes
    assert (result != 255).all()
    return result


def picture_of(width: int, height: int) -> np.ndarray:
    return np.random.default_rng(width * 1000 + height).integers(0, len(CLASSES), (height, width), np.uint8)


SIDES = (1, P - 1, P, P + 1, 2 * P - OVERLAP, 2 * P - OVERLAP + 1, 3 * P + 7)


@pytest.mark.parametrize("blend", ["hann", "crop"])
@pytest.mark.parametrize("overlap", [0, 8, 24, P // 2])
def test_identity_network_gives_the_picture(tmp_path: Path, overlap: int, blend: str) -> None:
    for width, height in zip(SIDES, reversed(SIDES), strict=True):
        picture = picture_of(width, height)
        path = write(tmp_path / f"{width}.tif", picture)
        options = EngineOptions(overlap=overlap, blend=blend)  # type: ignore[arg-type]
        np.testing.assert_array_equal(classes_of(path, Identity(), options), picture)


def test_region_sees_the_pixels_round_it(tmp_path: Path) -> None:
    picture = picture_of(200, 180)
    path = write(tmp_path / "a.tif", picture)
    region = Rect(33, 17, 90, 111)
    found = classes_of(path, Identity(), EngineOptions(region=region))
    np.testing.assert_array_equal(found, picture[region.slices_from(0, 0)])


def test_coarse_features_are_computed_once_for_a_context_window(tmp_path: Path) -> None:
    backend = Identity(context=True)
    path = write(tmp_path / "a.tif", picture_of(400, 300))
    classes_of(path, backend, EngineOptions())
    patches = -(-(400 - OVERLAP) // (P - OVERLAP)) * -(-(300 - OVERLAP) // (P - OVERLAP))
    assert len(backend.encoded) == patches + 1


def test_context_windows_of_a_lattice_are_shared(tmp_path: Path) -> None:
    backend = Identity(context=True)
    path = write(tmp_path / "a.tif", picture_of(520, 300))
    classes_of(path, backend, EngineOptions(context_ratio=4.0))
    patches = -(-(520 - OVERLAP) // (P - OVERLAP)) * -(-(300 - OVERLAP) // (P - OVERLAP))
    assert patches + 2 <= len(backend.encoded) <= patches + 10


def test_only_one_row_of_context_windows_is_kept(tmp_path: Path) -> None:
    """A tall image: no window is encoded twice, though few are kept."""
    backend = Identity(context=True)
    path = write(tmp_path / "a.tif", picture_of(300, 2000))
    with open_source(path) as source:
        list(sweep(source, backend, EngineOptions(context_ratio=2.0), JobContext()))
    patches = -(-(300 - OVERLAP) // (P - OVERLAP)) * -(-(2000 - OVERLAP) // (P - OVERLAP))
    lattice = context_windows(Size(300, 2000), P, ContextOptions(2.0))
    assert len(backend.encoded) - patches == len(list(lattice.windows()))


def test_context_alone_is_the_shrunken_picture_put_back_in_its_place(tmp_path: Path) -> None:
    """Large one-class squares survive the shrinking, and must lie where they lay."""
    picture = np.zeros((512, 512), np.uint8)
    picture[128:320, 192:448] = 3
    path = write(tmp_path / "a.tif", picture)
    found = classes_of(path, Identity(context=True), EngineOptions(context="only"))
    wrong = found != picture
    assert wrong.mean() < 0.02
    inside = np.zeros_like(wrong)
    inside[136:312, 200:440] = True
    assert not wrong[inside].any()


def test_an_image_of_one_patch_has_no_context(tmp_path: Path) -> None:
    backend = Identity(context=True)
    classes_of(write(tmp_path / "a.tif", picture_of(P, P - 3)), backend, EngineOptions())
    assert len(backend.encoded) == 1


def test_pixels_without_data_are_shown_to_the_network_as_the_mean(tmp_path: Path) -> None:
    picture = picture_of(80, 80)
    picture[10:20] = 4
    backend = Identity(context=True)
    path = write(tmp_path / "a.tif", picture, nodata=4)
    with open_source(path) as source:
        list(sweep(source, backend, EngineOptions(context="off"), JobContext()))
    assert all((pixels != 4).all() for pixels in backend.encoded)


def test_cancel_takes_effect_before_the_next_patch(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tif", picture_of(300, 300))
    backend, ctx = Identity(context=True), JobContext()
    calls = 0
    plain = backend.fuse

    def fuse(first: Scores, second: Scores) -> tuple[Scores, Scores]:
        nonlocal calls
        calls += 1
        if calls == 3:
            ctx.cancel()
        return plain(first, second)

    backend.fuse = fuse  # type: ignore[method-assign]
    with open_source(path) as source, pytest.raises(Cancelled):
        list(sweep(source, backend, EngineOptions(), ctx))
    assert calls == 3


@pytest.mark.parametrize(
    ("dtype", "options", "problem"),
    [
        ("uint16", EngineOptions(), ModelProblem.DEPTH_MISMATCH),
        ("uint8", EngineOptions(bands=(0, 0)), ModelProblem.BANDS_MISMATCH),
        ("uint8", EngineOptions(bands=(1,)), ModelProblem.BANDS_MISMATCH),
        ("uint8", EngineOptions(patch=60), ModelProblem.PATCH_SIDE),
        ("uint8", EngineOptions(overlap=40), ModelProblem.OVERLAP),
        ("uint8", EngineOptions(overlap=-8), ModelProblem.OVERLAP),
        ("uint8", EngineOptions(overlap=13), ModelProblem.OVERLAP),
        ("uint8", EngineOptions(context_ratio=0.0), ModelProblem.CONTEXT),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, dtype: str, options: EngineOptions, problem: ModelProblem
) -> None:
    path = write(tmp_path / "a.tif", picture_of(70, 70).astype(dtype))
    with open_source(path) as source, pytest.raises(ModelError) as caught:
        list(sweep(source, Identity(context=True), options, JobContext()))
    assert caught.value.problem is problem
