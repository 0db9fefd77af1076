"""What the documents point at exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
CLAIMS = {("A", "000"): 10, ("B", "001"): 10, ("C", "002"): 8}
ROW = re.compile(r"^\| ([ABC]) (\d{3}) / ([\d, ]+) \|.*$", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_python_files_exist(document: Path) -> None:
    named = re.findall(r"`((?:segstudio|tests|packaging)/[\w/.-]+\.\w+)`", document.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_claim_has_a_row() -> None:
    rows = ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    listed = [(text, seed, int(claim)) for text, seed, claims in rows for claim in claims.split(",")]
    assert listed == [(*key, claim) for key, count in CLAIMS.items() for claim in range(1, count + 1)]


def test_every_row_names_module_and_test_or_says_that_it_is_not_built() -> None:
    for row in (match.group(0) for match in ROW.finditer((ROOT / "README.md").read_text(encoding="utf-8"))):
        *_, module, test, _ = (cell.strip() for cell in row.split("|"))
        built = "`segstudio/" in module and "`tests/" in test
        assert built or "not built yet" in (module, test), row
