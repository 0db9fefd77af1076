"""`segstudio models`: list, show, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, Typer

from segstudio.cli.console import print_json, print_lines
from segstudio.cli.reporting import as_json as error_as_json
from segstudio.cli.reporting import say, sentence, tr
from segstudio.cli.tables import card_score_lines
from segstudio.core.errors import ModelError

Json = Annotated[bool, Option("--json", help=tr("Print one JSON document."))]
Name = Annotated[str, Argument(metavar="NAME", help=tr("A model's name, or the path of its card."))]

models = Typer(no_args_is_help=True, rich_markup_mode=None, help=tr("The models that are there."))


@models.command("list", help=tr("Name every model."))
def list_all(*, as_json: Json = False) -> None:
    from segstudio.app.models import list_models

    found = list(list_models())
    cards = {name: card for name, card in found if not isinstance(card, ModelError)}
    errors = [error for _, error in found if isinstance(error, ModelError)]
    for error in errors:
        say(sentence(error))
    if as_json:
        rows = [
            {"name": name, "title": card.title, "network": card.network, "parameters": card.parameters}
            for name, card in cards.items()
        ]
        print_json({"models": rows, "failures": [error_as_json(error) for error in errors]})
    else:
        print_lines(*(f"{name}  {card.title}, {card.parameters / 1e6:.2f} M" for name, card in cards.items()))


@models.command(help=tr("Show a model's card."))
def show(name: Name, *, as_json: Json = False) -> None:
    from segstudio.app.models import find_model
    from segstudio.networks.spec import read_card

    path = find_model(name)
    card = read_card(path)
    if as_json:
        print_json({"path": str(path)} | card.to_json())
        return
    print_lines(
        f"{card.name}: {card.title}",
        f"{tr('file')}: {path}",
        f"{tr('network')}: {card.network}, {card.parameters / 1e6:.2f} M",
        f"{tr('classes')}: {', '.join(card.classes.names)}",
        f"{tr('bands')}: {', '.join(card.bands)} ({card.dtype})",
        f"{tr('patch')}: {card.patch}, {tr('overlap')} {card.overlap}",
        f"{tr('licence')}: {card.licence or '-'}",
        *card_score_lines(card.scores),
    )


@models.command("export-onnx", help=tr("Write a model's ONNX graphs, checked against the model."))
def export(
    name: Name,
    *,
    out: Annotated[Path, Option("--out", "-o", metavar="DIR", help=tr("Folder for the graphs."))],
    as_json: Json = False,
) -> None:
    from segstudio.app.models import export_onnx

    paths = [str(path) for path in export_onnx(name, out)]
    if as_json:
        print_json({"files": paths})
    else:
        print_lines(*paths)
