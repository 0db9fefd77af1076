"""Every code has words in both languages, and every phrase is translated."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import segstudio
from segstudio.cli.main import VERBS, app
from segstudio.cli.phrases import CHINESE
from segstudio.cli.reporting import as_json, language, sentence, tr
from segstudio.cli.words import ERRORS
from segstudio.core import errors
from segstudio.core.errors import DataError, DataProblem, ImageError, ImageProblem, ModelError, ModelProblem, Problem
from segstudio.core.geometry import Size

PACKAGE = Path(segstudio.__path__[0])
PROBLEMS = [member for kind in Problem.__subclasses__() for member in kind]


def error_class(problem: Problem) -> type[errors.SegStudioError]:
    found: type[errors.SegStudioError] = getattr(errors, type(problem).__name__.replace("Problem", "Error"))
    return found


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def constants(function: str, folder: Path) -> Iterator[str]:
    """First arguments that are texts, of calls of a function or method."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = ast.unparse(node.func)
                if name == function and isinstance(node.args[0].value, str):
                    yield node.args[0].value


def test_the_codes_are_those_of_the_problems() -> None:
    codes = {error_class(problem)(problem, "x").code for problem in PROBLEMS}
    assert set(ERRORS) == codes
    assert len(codes) == len(PROBLEMS)


@pytest.mark.parametrize("chosen", ["en", "zh"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: f"{type(problem).__name__}.{problem}")
def test_every_code_gives_a_sentence(problem: Problem, chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGSTUDIO_LANG", chosen)
    error = error_class(problem)(problem, "the/subject", detail="the reason\nof it.")
    text = sentence(error)
    assert "the/subject" in text
    assert "the reason of it" in text
    assert text.endswith("." if chosen == "en" else "。")
    assert "\n" not in text
    assert any("一" <= letter <= "鿿" for letter in text) == (chosen == "zh")


@pytest.mark.parametrize("code", ERRORS)
def test_both_languages_tell_the_same_facts(code: str) -> None:
    english, chinese = ERRORS[code]
    assert fields(english.what + english.remedy) == fields(chinese.what + chinese.remedy)


def test_values_are_written_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGSTUDIO_LANG", "en")
    error = DataError(DataProblem.SIZE_MISMATCH, "m.png", size=Size(6, 5), expected=Size(60, 50))
    assert "m.png has 6 x 5 pixels where 60 x 50 are needed" in sentence(error)
    error = ModelError(ModelProblem.UNKNOWN, "m", known=("a", "b"), nearest="a")
    assert "Known are: a, b." in sentence(error)
    error = ModelError(ModelProblem.UNKNOWN, "m", known=(), nearest="")
    assert "Known are: none." in sentence(error)


def test_json_of_an_error_has_its_code() -> None:
    row = as_json(ImageError(ImageProblem.EMPTY, "a.tif"))
    assert (row["code"], row["subject"]) == ("image.empty", "a.tif")


def test_every_phrase_has_chinese_words() -> None:
    phrases = set(constants("tr", PACKAGE / "cli"))
    assert len(phrases) > 50
    assert phrases <= set(CHINESE)


def test_every_stage_of_a_job_has_chinese_words() -> None:
    stages = set(constants("ctx.start", PACKAGE))
    assert {"predict", "train", "score"} <= stages <= set(CHINESE)


@pytest.mark.parametrize("phrase", CHINESE)
def test_phrases_keep_their_fields(phrase: str) -> None:
    assert fields(phrase) == fields(CHINESE[phrase])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE"}, "en"),
        ({"LANG": "C", "LC_ALL": "C", "SEGSTUDIO_LANG": "zh"}, "zh"),
    ],
)
def test_language(variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEGSTUDIO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected
    assert tr("Cancelled.") == {"en": "Cancelled.", "zh": "已取消。"}[expected]


def test_the_verbs_are_those_of_the_command_tree() -> None:
    command = typer.main.get_command(app)
    assert set(VERBS) == set(command.commands)  # type: ignore[attr-defined]
