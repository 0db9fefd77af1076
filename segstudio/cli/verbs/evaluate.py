"""`segstudio eval`: predicted masks against true ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from segstudio.cli.console import print_json, print_lines, watched
from segstudio.cli.reporting import tr
from segstudio.cli.tables import score_lines


def evaluate(
    prediction: Annotated[Path, Argument(metavar="PRED", help=tr("Predicted mask, or a folder of them."))],
    truth: Annotated[Path, Argument(metavar="TRUTH", help=tr("True mask, or a folder of them with the same names."))],
    *,
    classes: Annotated[
        Path | None, Option(metavar="FILE", help=tr("Class table; else classes.json beside the truth."))
    ] = None,
    splits: Annotated[
        Path | None, Option(metavar="FILE", help=tr("Score only the regions that this splits.json names for --part."))
    ] = None,
    part: Annotated[Literal["train", "val", "test"], Option(help=tr("Which regions of --splits."))] = "val",
    as_json: Annotated[bool, Option("--json", help=tr("Print one JSON document."))] = False,
) -> None:
    from segstudio.app import evaluation
    from segstudio.datasets.splits import Part

    chosen = (splits, Part(part)) if splits else None
    with watched() as ctx:
        result = evaluation.evaluate(prediction, truth, classes, ctx, part=chosen)
    if as_json:
        print_json(result)
    else:
        print_lines(*score_lines(result))
