"""Seed 001, claims 7 and 8: the distances, in the literal and in the class-conditional form, and the losses round them."""

from __future__ import annotations

import pytest
import torch

from segstudio.training.losses import (
    LossOptions,
    class_distances,
    cross_entropy,
    dice_loss,
    literal_distances,
    total_loss,
)

SIDE = 40


def truth(share: float) -> torch.Tensor:
    labels = torch.zeros(1, SIDE, SIDE, dtype=torch.int64)
    labels[:, : round(SIDE * share)] = 1
    return labels


def predictions(labels: torch.Tensor) -> dict[str, torch.Tensor]:
    """Probability maps (1, 2, H, W) by name."""
    right = torch.nn.functional.one_hot(labels, 2).movedim(-1, 1).float()
    return {
        "perfect": right,
        "confident 80 %": 0.8 * right + 0.2 * (1 - right),
        "uniform": torch.full_like(right, 0.5),
        "one class": torch.stack((torch.ones_like(labels), torch.zeros_like(labels)), 1).float(),
    }


LITERAL = {
    ("perfect", 0.5): (1.00, 0.00),
    ("perfect", 0.1): (0.36, 1.60),
    ("confident 80 %", 0.5): (0.60, 0.00),
    ("confident 80 %", 0.1): (0.216, 0.96),
    ("uniform", 0.5): (0.00, 0.00),
    ("uniform", 0.1): (0.00, 0.00),
    ("one class", 0.5): (0.00, 2.00),
    ("one class", 0.1): (0.00, 2.00),
}
CONDITIONAL = {"perfect": (0.0, 1.0), "confident 80 %": (0.0, 0.6), "uniform": (0.0, 0.0), "one class": (0.0, 0.0)}


@pytest.mark.parametrize(("name", "share"), list(LITERAL))
def test_literal_form(name: str, share: float) -> None:
    within, between = literal_distances(predictions(truth(share))[name])
    assert (within.item(), between.item()) == pytest.approx(LITERAL[name, share], abs=1e-5)


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("name", list(CONDITIONAL))
def test_conditional_form(name: str, share: float) -> None:
    labels = truth(share)
    within, between = class_distances(predictions(labels)[name], labels)
    assert (within.item(), between.item()) == pytest.approx(CONDITIONAL[name], abs=2e-4)


def test_literal_form_prefers_collapse_and_the_conditional_form_the_right_answer() -> None:
    labels = truth(0.5)
    maps = predictions(labels)

    def literal(name: str) -> float:
        within, between = literal_distances(maps[name])
        return (within - between).item()

    def conditional(name: str) -> float:
        within, between = class_distances(maps[name], labels)
        return (within - between).item()

    assert literal("one class") < literal("perfect")
    assert min(maps, key=conditional) == "perfect"


def test_unlabelled_pixels_change_nothing() -> None:
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 16, 16)
    labels = torch.randint(0, 3, (2, 16, 16))
    labels[:, :5] = 255
    labels[:, 5:7] = 254
    other = scores.clone()
    other[:, :, :7] = torch.randn(2, 3, 7, 16) * 5
    for options in (LossOptions(), LossOptions(separation="off"), LossOptions(class_weights=(1.0, 2.0, 0.5))):
        torch.testing.assert_close(total_loss(scores, labels, options), total_loss(other, labels, options))


def test_cross_entropy_is_torchs_weighted_mean() -> None:
    torch.manual_seed(1)
    scores, labels = torch.randn(2, 4, 8, 8), torch.randint(0, 4, (2, 8, 8))
    labels[0, 0] = 255
    weights = (1.0, 3.0, 0.2, 1.5)
    expected = torch.nn.functional.cross_entropy(scores, labels, torch.tensor(weights), ignore_index=255)
    torch.testing.assert_close(cross_entropy(scores, labels, weights), expected)


def test_dice_against_the_definition() -> None:
    labels = truth(0.25)
    maps = predictions(labels)
    assert dice_loss(maps["perfect"], labels).item() == pytest.approx(0, abs=1e-6)
    expected = 1 - (2 * 0.75 / (1 + 0.75) + 0) / 2
    assert dice_loss(maps["one class"], labels).item() == pytest.approx(expected, abs=1e-6)


def test_dice_equals_monai_style_soft_dice_of_torchmetrics_on_hard_maps() -> None:
    from torchmetrics.functional.segmentation import dice_score

    torch.manual_seed(2)
    labels = torch.randint(0, 3, (1, 32, 32))
    hard = torch.nn.functional.one_hot(torch.randint(0, 3, (1, 32, 32)), 3).movedim(-1, 1)
    target = torch.nn.functional.one_hot(labels, 3).movedim(-1, 1)
    expected = dice_score(hard, target, num_classes=3, average="macro", input_format="one-hot")
    assert 1 - dice_loss(hard.float(), labels).item() == pytest.approx(expected.item(), abs=1e-6)


@pytest.mark.parametrize("form", ["conditional", "literal", "off"])
def test_gradients_are_finite_where_centres_coincide_and_where_nothing_is_labelled(form: str) -> None:
    for labels in (truth(0.5), torch.full((1, SIDE, SIDE), 255)):
        scores = torch.zeros(1, 2, SIDE, SIDE, requires_grad=True)
        loss = total_loss(scores, labels, LossOptions(separation=form))  # type: ignore[arg-type]
        loss.backward()
        assert torch.isfinite(loss)
        assert scores.grad is not None
        assert torch.isfinite(scores.grad).all()


def test_distances_lower_the_loss_in_training() -> None:
    torch.manual_seed(3)
    labels = truth(0.5)
    scores = (0.1 * torch.randn(1, 2, SIDE, SIDE)).requires_grad_()
    optimiser = torch.optim.Adam([scores], 0.1)
    first = None
    for _ in range(100):
        within, between = class_distances(scores.softmax(1), labels)
        loss = within + 1 - between
        first = first or loss.item()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.2 * first
