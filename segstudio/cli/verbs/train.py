"""`segstudio train`: a model from labelled images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from segstudio.cli.console import print_json, print_lines, watched
from segstudio.cli.reporting import say, tr
from segstudio.core.errors import DataError, DataProblem


def train(
    data: Annotated[Path, Argument(metavar="DATA", help=tr("Folder with images/, masks/ and classes.json."))],
    *,
    network: Annotated[str, Option("--model", "-m", metavar="NETWORK", help=tr("The network to train."))],
    out: Annotated[Path, Option("--out", "-o", help=tr("The model's card (NAME.json), or the folder for it."))],
    init: Annotated[str | None, Option(metavar="MODEL", help=tr("Start from the encoder of this model."))] = None,
    steps: Annotated[int | None, Option(min=1, help=tr("Optimiser steps."))] = None,
    batch: Annotated[int | None, Option(min=1, help=tr("Patches a step."))] = None,
    patch: Annotated[int | None, Option(min=1, help=tr("Patch side in pixels."))] = None,
    lr: Annotated[float | None, Option(help=tr("Peak learning rate."))] = None,
    seed: Annotated[int | None, Option(help=tr("Of the random numbers."))] = None,
    run: Annotated[Path | None, Option(metavar="DIR", help=tr("Folder for the state of the training."))] = None,
    resume: Annotated[bool, Option("--resume", help=tr("Go on from the state in the run's folder."))] = False,
    as_json: Annotated[bool, Option("--json", help=tr("Print one JSON document."))] = False,
) -> None:
    from segstudio.app.models import find_model
    from segstudio.networks.registry import check_network

    check_network(network)
    start_from = find_model(init) if init else None
    from segstudio.app import learning
    from segstudio.training.config import TrainConfig

    given: dict[str, Any] = {"steps": steps, "batch": batch, "patch": patch, "learning_rate": lr, "seed": seed}
    config = TrainConfig(network, **{name: value for name, value in given.items() if value is not None})
    card_path = out if out.suffix == ".json" else out / f"{network}.json"
    run_folder = run or card_path.with_name(f"{card_path.stem}-run")
    if not resume and run_folder.is_dir() and any(run_folder.iterdir()):
        raise DataError(DataProblem.RUN_EXISTS, run_folder)
    with watched() as ctx:
        card = learning.train(data, config, run_folder, card_path, ctx, _report, start_from=start_from)
    if as_json:
        print_json({"model": str(card_path), "run": str(run_folder), "scores": dict(card.scores)})
    else:
        print_lines(str(card_path))


def _report(row: Mapping[str, object]) -> None:
    """One line a validation: its numbers, without what is nested."""
    say("  ".join(f"{tr(name)} {_short(value)}" for name, value in row.items() if isinstance(value, int | float)))


def _short(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
