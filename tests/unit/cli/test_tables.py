"""Columns line up, in Chinese too."""

from __future__ import annotations

import unicodedata

import pytest

from segstudio.cli.tables import card_score_lines, score_lines

VALUES = {"road": 0.5, "水体": None}
RESULT = {
    "iou": VALUES, "f1": VALUES, "boundary_f1": VALUES, "pixels": {"road": 1234, "水体": 0}, "miou": 0.5, "mean_f1": 0.5,
    "mean_boundary_f1": 0.5, "accuracy": 0.75, "majority_miou": 0.25,
}  # fmt: skip


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_rows_end_in_the_same_column(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("SEGSTUDIO_LANG", language)
    assert len({columns(line) for line in score_lines(RESULT)[:4]}) == 1
    arms = {"val": {"miou": 0.5, "iou": VALUES}, "测试": {"miou": 0.4, "iou": VALUES}}
    assert len({columns(line) for line in card_score_lines(arms)}) == 1


def test_a_card_without_scores() -> None:
    assert card_score_lines({"val": {}}) == ["scores: -"]
