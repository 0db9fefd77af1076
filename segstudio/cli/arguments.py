"""Option values that are more than a word."""

from __future__ import annotations

from typing import NamedTuple

import typer

from segstudio.cli.reporting import tr
from segstudio.core.geometry import Rect


class Point(NamedTuple):
    """A pixel, (column, row)."""

    x: int
    y: int


def point(text: str | Point) -> Point:
    """Read "X,Y"."""
    if isinstance(text, Point):
        return text
    numbers = _whole_numbers(text)
    if len(numbers) != 2:
        raise typer.BadParameter(tr("it is two whole numbers, X,Y"))
    return Point(*numbers)


def region(text: str | Rect) -> Rect:
    """Read "X,Y,W,H"."""
    if isinstance(text, Rect):
        return text
    numbers = _whole_numbers(text)
    if len(numbers) != 4 or min(numbers[2:]) <= 0:
        raise typer.BadParameter(tr("it is four whole numbers, X,Y,WIDTH,HEIGHT, the last two above 0"))
    return Rect(*numbers)


def bands(text: str | None) -> tuple[int, ...] | None:
    """Read "3,2,1", counted from 1 as everywhere outside the code, into indices from 0."""
    if text is None:
        return None
    numbers = _whole_numbers(text)
    if not numbers or min(numbers) < 1:
        raise typer.BadParameter(tr("it is whole numbers from 1, such as 3,2,1"), param_hint="--bands")
    return tuple(number - 1 for number in numbers)


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        return ()
