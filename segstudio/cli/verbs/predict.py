"""`segstudio predict`: masks of many images."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Exit, Option

from segstudio.cli.arguments import bands as read_bands
from segstudio.cli.arguments import region as read_region
from segstudio.cli.console import print_json, print_lines, watched
from segstudio.cli.reporting import as_json as error_as_json
from segstudio.cli.reporting import say, sentence, tr
from segstudio.core.errors import SegStudioError
from segstudio.core.geometry import Rect


def predict(
    images: Annotated[list[str], Argument(metavar="IMAGE", help=tr("Files, patterns or folders."))],
    *,
    model: Annotated[str, Option("--model", "-m", help=tr("A model's name, or the path of its card."))] = "default",
    out: Annotated[Path, Option("--out", "-o", metavar="DIR", help=tr("Folder for the masks."))],
    patch: Annotated[int | None, Option(min=1, help=tr("Patch side in pixels."))] = None,
    overlap: Annotated[int | None, Option(min=0, help=tr("Overlap of neighbouring patches in pixels."))] = None,
    blend: Annotated[Literal["hann", "crop"], Option(help=tr("How overlapping patches are joined."))] = "hann",
    context: Annotated[
        str, Option(help=tr("auto, whole, off, only, or the side of the context in patch sides."))
    ] = "auto",
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Option(help=tr("Where to compute."))] = "auto",
    backend: Annotated[Literal["auto", "openvino", "torch"], Option(help=tr("What computes."))] = "auto",
    region: Annotated[
        Rect | None, Option(metavar="X,Y,W,H", parser=read_region, help=tr("Only this part of each image."))
    ] = None,
    bands: Annotated[
        str | None, Option(metavar="N,N,...", help=tr("Bands for the model, counted from 1, such as 3,2,1."))
    ] = None,
    file_format: Annotated[Literal["tif", "png"], Option("--format", help=tr("Format of the masks."))] = "tif",
    as_json: Annotated[bool, Option("--json", help=tr("Print one JSON document."))] = False,
) -> None:
    chosen_bands = read_bands(bands)
    from segstudio.app.images import find_images
    from segstudio.app.models import find_model
    from segstudio.app.prediction import PredictOptions, predict_images

    options = PredictOptions(
        patch=patch, overlap=overlap, blend=blend, context=context, device=device, engine=backend, region=region,
        bands=chosen_bands, format=file_format,
    )  # fmt: skip
    card, files = find_model(model), find_images(images)
    reports: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []

    def failed(image: Path, error: SegStudioError) -> None:
        failures.append({"image": str(image)} | error_as_json(error))
        say(sentence(error))

    with watched() as ctx:
        for report in predict_images(files, card, out, options, ctx, failed=failed):
            row = dataclasses.asdict(report) | {"image": str(report.image), "mask": str(report.mask)}
            reports.append(row)
            if not as_json:
                print_lines(_line(row))
    if as_json:
        print_json({"results": reports, "failures": failures})
    if failures:
        say(tr("{count} of {total} images failed.").format(count=len(failures), total=len(files)))
        raise Exit(1)


def _line(row: dict[str, Any]) -> str:
    return (
        "{image} -> {mask}  {width} x {height}  {seconds:.1f} s  {megapixels_per_second:.2f} MP/s  "
        "{backend} ({device})  {peak_rss_mb:.0f} MB"
    ).format_map(row)
