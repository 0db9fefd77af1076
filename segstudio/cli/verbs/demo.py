"""`segstudio demo`: what the program does, on the picture that comes with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from segstudio.cli.console import print_json, print_lines, watched
from segstudio.cli.reporting import tr
from segstudio.cli.tables import score_lines


def demo(
    *,
    out: Annotated[Path, Option("--out", "-o", metavar="DIR", help=tr("Folder for the results."))] = Path(
        "segstudio-demo"
    ),
    as_json: Annotated[bool, Option("--json", help=tr("Print one JSON document."))] = False,
) -> None:
    from segstudio.app.demo import run_demo

    with watched() as ctx:
        report = run_demo(out, ctx)
    if as_json:
        print_json(report)
    else:
        print_lines(*_lines(report, out))


def _lines(report: dict[str, Any], out: Path) -> list[str]:
    return [
        tr("{image}, {width} x {height} pixels, with the model {model}").format_map(report),
        tr("{patches} patches in {seconds:.1f} s: {megapixels_per_second:.2f} megapixels per second").format_map(
            report
        ),
        tr("{backend} on {device}, {peak_rss_mb:.0f} MB of memory at most").format_map(report),
        "",
        tr("Training scores: most of this picture was in the training set, so they say nothing about other pictures."),
        *score_lines(report["scores"]),
        "",
        f"{tr('mask')}     {report['mask']}",
        f"         {report['indexed']}",
        f"{tr('overlay')}  {report['overlay']}",
        f"{tr('report')}   {out / 'report.json'}",
    ]
