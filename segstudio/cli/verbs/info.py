"""`segstudio info`: what the reader sees in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from segstudio.cli.arguments import Point, point
from segstudio.cli.console import print_json, print_lines
from segstudio.cli.reporting import tr


def info(
    image: Annotated[Path, Argument(metavar="IMAGE", help=tr("An image file."))],
    *,
    pixel: Annotated[
        list[Point] | None,
        Option(metavar="X,Y", parser=point, help=tr("Also show the values of this pixel (repeatable).")),
    ] = None,
    as_json: Annotated[bool, Option("--json", help=tr("Print one JSON document."))] = False,
) -> None:
    from segstudio.app.inspection import inspect

    facts = inspect(image, pixel or ())
    if as_json:
        print_json(facts)
    else:
        print_lines(*_lines(facts))


def _lines(facts: dict[str, object]) -> list[str]:
    width = max(map(len, facts))
    return [f"{key.ljust(width)}  {_text(value)}" for key, value in facts.items()]


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(map(_text, value)) if any(isinstance(item, dict) for item in value) else str(value)
    return str(value)
