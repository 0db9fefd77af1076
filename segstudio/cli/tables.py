"""Tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segstudio.cli.reporting import tr


def score_lines(result: dict[str, Any]) -> list[str]:
    """A table of the classes, then the means."""
    width = max(12, *(len(name) for name in result["iou"]))
    rows = [f"{tr('class').ljust(width)} {'IoU':>7} {'F1':>7} {'bF1':>7} {tr('pixels'):>14}"]
    rows += [
        f"{name.ljust(width)} {_score(result['iou'][name])} {_score(result['f1'][name])} "
        f"{_score(result['boundary_f1'][name])} {result['pixels'][name]:>14,}"
        for name in result["iou"]
    ]
    means = f"{_score(result['miou'])} {_score(result['mean_f1'])} {_score(result['mean_boundary_f1'])}"
    total = sum(result["pixels"].values())
    return [
        *rows,
        f"{tr('mean').ljust(width)} {means} {total:>14,}",
        f"{tr('accuracy')} {_score(result['accuracy'])}",
        f"{tr('mean IoU of the commonest class everywhere')} {_score(result['majority_miou'])}",
    ]


def card_score_lines(scores: Mapping[str, object]) -> list[str]:
    """The measured scores of a card: a row for each set or option they were measured with, a column for each class."""
    arms = {name: arm for name, arm in scores.items() if isinstance(arm, dict) and isinstance(arm.get("iou"), dict)}
    if not arms:
        return [f"{tr('scores')}: -"]
    classes = list(next(iter(arms.values()))["iou"])
    width = max(len(tr("IoU, measured on")), *(len(name) for name in arms))
    columns = [max(7, len(name)) for name in classes]
    heads = " ".join(name.rjust(column) for name, column in zip(classes, columns, strict=True))
    rows = [f"{tr('IoU, measured on').ljust(width)} {tr('mean'):>7} {heads}"]
    for name, arm in arms.items():
        values = [_score(arm["iou"].get(key)).rjust(column) for key, column in zip(classes, columns, strict=True)]
        rows.append(f"{name.ljust(width)} {_score(arm.get('miou'))} {' '.join(values)}")
    return rows


def _score(value: float | None) -> str:
    return f"{'-':>7}" if value is None else f"{value:7.3f}"
