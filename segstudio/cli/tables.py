"""Tables for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from segstudio.cli.reporting import tr


def score_lines(result: dict[str, Any]) -> list[str]:
    """A table of the classes, then the means."""
    width = max(12, *(_columns(name) for name in result["iou"]))
    rows = [f"{_left(tr('class'), width)} {'IoU':>7} {'F1':>7} {'bF1':>7} {_right(tr('pixels'), 14)}"]
    rows += [
        f"{_left(name, width)} {_score(result['iou'][name])} {_score(result['f1'][name])} "
        f"{_score(result['boundary_f1'][name])} {result['pixels'][name]:>14,}"
        for name in result["iou"]
    ]
    means = f"{_score(result['miou'])} {_score(result['mean_f1'])} {_score(result['mean_boundary_f1'])}"
    total = sum(result["pixels"].values())
    return [
        *rows,
        f"{_left(tr('mean'), width)} {means} {total:>14,}",
        f"{tr('accuracy')} {_score(result['accuracy'])}",
        f"{tr('mean IoU of the commonest class everywhere')} {_score(result['majority_miou'])}",
    ]


def card_score_lines(scores: Mapping[str, object]) -> list[str]:
    """The measured scores of a card: a row for each set or option they were measured with, a column for each class."""
    arms = {name: arm for name, arm in scores.items() if isinstance(arm, dict) and isinstance(arm.get("iou"), dict)}
    if not arms:
        return [f"{tr('scores')}: -"]
    classes = list(next(iter(arms.values()))["iou"])
    width = max(_columns(tr("IoU, measured on")), *(_columns(name) for name in arms))
    columns = [max(7, _columns(name)) for name in classes]
    heads = " ".join(_right(name, column) for name, column in zip(classes, columns, strict=True))
    rows = [f"{_left(tr('IoU, measured on'), width)} {_right(tr('mean'), 7)} {heads}"]
    for name, arm in arms.items():
        values = [_score(arm["iou"].get(key)).rjust(column) for key, column in zip(classes, columns, strict=True)]
        rows.append(f"{_left(name, width)} {_score(arm.get('miou'))} {' '.join(values)}")
    return rows


def _score(value: float | None) -> str:
    return f"{'-':>7}" if value is None else f"{value:7.3f}"


def _columns(text: str) -> int:
    """Columns of a terminal that a text takes: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _left(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _right(text: str, width: int) -> str:
    return " " * (width - _columns(text)) + text
