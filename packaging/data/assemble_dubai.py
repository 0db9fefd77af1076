"""Put the cut parts of the Dubai aerial set together into large pictures: a training set, or the sample of the program.

    python packaging/data/assemble_dubai.py SOURCE OUT [--tiles 2 4 5 6 7 8] [--jpeg QUALITY]
    python packaging/data/assemble_dubai.py SOURCE resources/sample --sample

SOURCE holds `mosaics.json`, `classes.json`, `images/` and `masks/`. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import tifffile
from PIL import Image

from segstudio.core.classes import IGNORE, UNTOUCHED, ClassTable, LabelClass
from segstudio.core.files import write_json, written_aside
from segstudio.core.geometry import Rect, Size
from segstudio.core.tiles import TILE_SIDE, tiles_of
from segstudio.datasets.splits import Part, Regions, write_splits

Pixels = npt.NDArray[np.uint8]

COLOURS = {
    "building": (0xD5, 0x5E, 0x00),
    "land": (0xF0, 0xE4, 0x42),
    "road": (0xCC, 0x79, 0xA7),
    "vegetation": (0x00, 0x9E, 0x73),
    "water": (0x00, 0x72, 0xB2),
}
"""From the palette of Okabe and Ito, which colour-blind people can tell apart."""

TEST_TILE, VAL_TILE, SHARED_TILE = 5, 2, 8
VAL_PARTS_OF_SHARED = (2, 5)
GUARD = 256
SAMPLE_QUALITY = 68  # the highest that keeps the picture with its pyramid below 10 MB
JPEG_BLOCK = 16  # pixels coded together where colours have half the resolution
SAMPLE_NAME = "dubai-tile8"


def main() -> None:
    options = parse_options()
    mosaics = json.loads((options.source / "mosaics.json").read_text(encoding="utf-8"))
    table = class_table(options.source)
    if options.sample:
        write_image(options.out / f"{SAMPLE_NAME}.tif", picture(options.source, mosaics["tile8"]), SAMPLE_QUALITY)
        write_mask(options.out / f"{SAMPLE_NAME}-mask.tif", labels(options.source, mosaics["tile8"], table), table)
    else:
        write_training_set(options.source, options.out, options.tiles, mosaics, table, options.jpeg)
    write_json(options.out / "classes.json", {"classes": table.to_json()})


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tiles", type=int, nargs="+", default=[2, 4, 5, 6, 7, 8])
    parser.add_argument("--jpeg", type=int, metavar="QUALITY", help="store the pictures with loss; default: without")
    parser.add_argument("--sample", action="store_true", help="write the sample of the program instead of a set")
    return parser.parse_args()


def write_training_set(
    source: Path, out: Path, tiles: list[int], mosaics: dict[str, Any], table: ClassTable, quality: int | None
) -> None:
    for tile in tiles:
        mosaic = mosaics[f"tile{tile}"]
        write_image(out / "images" / f"tile{tile}.tif", picture(source, mosaic), quality)
        write_mask(out / "masks" / f"tile{tile}.tif", labels(source, mosaic, table), table)
        print(f"tile{tile}: {mosaic['width']} x {mosaic['height']}")
    write_splits(out / "splits.json", {f"tile{tile}": regions_of(tile, mosaics[f"tile{tile}"]) for tile in tiles})


def class_table(source: Path) -> ClassTable:
    rows = json.loads((source / "classes.json").read_text(encoding="utf-8"))["classes"]
    return ClassTable(tuple(LabelClass(row["id"], row["name"], COLOURS[row["name"]]) for row in rows))


def regions_of(tile: int, mosaic: dict[str, Any]) -> Regions:
    """Which part of the data a tile belongs to; of the shared one, the right column down to the second row is val."""
    whole = Rect.of_size(size_of(mosaic))
    if tile == TEST_TILE:
        return {Part.TEST: (whole,)}
    if tile == VAL_TILE:
        return {Part.VAL: (whole,)}
    if tile != SHARED_TILE:
        return {Part.TRAIN: (whole,)}
    val = tuple(place_of(mosaic["parts"][index]) for index in VAL_PARTS_OF_SHARED)
    left, bottom = min(part.x for part in val) - GUARD, max(part.bottom for part in val) + GUARD
    train = (
        Rect(0, 0, left, whole.height),
        Rect(left, bottom, whole.width - left, whole.height - bottom),
    )
    return {Part.TRAIN: train, Part.VAL: val}


def picture(source: Path, mosaic: dict[str, Any]) -> Pixels:
    size = size_of(mosaic)
    out = np.zeros((size.height, size.width, 3), np.uint8)
    for part, place in parts_of(mosaic):
        pixels = cv2.imread(str(source / part["image"]), cv2.IMREAD_COLOR_RGB)
        out[place.slices_from(0, 0)] = checked(pixels, place, part["image"])
    return out


def labels(source: Path, mosaic: dict[str, Any], table: ClassTable) -> Pixels:
    size = size_of(mosaic)
    out = np.full((size.height, size.width), IGNORE, np.uint8)
    for part, place in parts_of(mosaic):
        values = palette_values(source / part["mask"])
        out[place.slices_from(0, 0)] = checked(values, place, part["mask"])
    out[out == UNTOUCHED] = IGNORE
    unknown = np.setdiff1d(out, [*table.slots, IGNORE])
    if unknown.size:
        raise SystemExit(f"masks hold values of no class: {unknown.tolist()}")
    return out


def palette_values(path: Path) -> Pixels:
    with Image.open(path) as image:
        if image.mode != "P":
            raise SystemExit(f"{path}: not a palette picture")
        return np.asarray(image)


def parts_of(mosaic: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Rect]]:
    return ((part, place_of(part)) for part in mosaic["parts"])


def place_of(part: dict[str, Any]) -> Rect:
    return Rect(part["x"], part["y"], part["width"], part["height"])


def size_of(mosaic: dict[str, Any]) -> Size:
    return Size(mosaic["width"], mosaic["height"])


def checked(pixels: Pixels | None, place: Rect, name: str) -> Pixels:
    if pixels is None or pixels.shape[:2] != (place.height, place.width):
        raise SystemExit(f"{name}: cannot be read, or is not {place.width} x {place.height}")
    return pixels


def write_image(target: Path, pixels: Pixels, quality: int | None) -> None:
    """A tiled TIFF with every pyramid level down to one tile, as reduced pages that follow the full picture."""
    stored: dict[str, Any] = (
        {"compression": "deflate", "predictor": True}
        if quality is None
        else {"compression": "jpeg", "compressionargs": {"level": quality}, "subsampling": (2, 2)}
    )
    with written_aside(target) as part, tifffile.TiffWriter(part) as writer:
        for level, reduced in enumerate(pyramid(pixels)):
            writer.write(
                full_tiles(reduced),
                shape=reduced.shape,
                dtype=reduced.dtype,
                tile=(TILE_SIDE, TILE_SIDE),
                photometric="rgb",  # of what is given; JPEG is stored as YCbCr
                subfiletype=int(level > 0),
                metadata=None,
                software="",
                **stored,
            )


def full_tiles(pixels: Pixels) -> Iterator[Pixels]:
    """Tiles in file order; at the border the last pixels fill their JPEG block, where others would smear into them."""
    for rect in tiles_of(Size(pixels.shape[1], pixels.shape[0])):
        tile = pixels[rect.slices_from(0, 0)]
        block = np.pad(tile, ((0, -rect.height % JPEG_BLOCK), (0, -rect.width % JPEG_BLOCK), (0, 0)), mode="edge")
        yield np.pad(block, ((0, TILE_SIDE - block.shape[0]), (0, TILE_SIDE - block.shape[1]), (0, 0)))


def write_mask(target: Path, values: Pixels, table: ClassTable) -> None:
    with written_aside(target) as part, tifffile.TiffWriter(part) as writer:
        writer.write(
            values,
            tile=(TILE_SIDE, TILE_SIDE),
            photometric="palette",
            colormap=colormap(table),
            compression="deflate",
            metadata=None,
            software="",
        )


def colormap(table: ClassTable) -> npt.NDArray[np.uint16]:
    """16-bit (red, green, blue) rows of the 256 values; grey where there is no class."""
    rows = np.full((3, 256), 0x80 * 257, np.uint16)
    for item in table.classes:
        rows[:, item.slot] = np.array(item.colour, np.uint16) * 257
    return rows


def pyramid(pixels: Pixels) -> Iterator[Pixels]:
    yield pixels
    while max(pixels.shape[:2]) > TILE_SIDE:
        pixels = halved(pixels)
        yield pixels


def halved(pixels: Pixels) -> Pixels:
    """Mean of 2 x 2 pixels; an odd last row or column is averaged with itself."""
    height, width = pixels.shape[:2]
    even = cv2.copyMakeBorder(pixels, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
    half: Pixels = cv2.resize(even, (even.shape[1] // 2, even.shape[0] // 2), interpolation=cv2.INTER_AREA)
    return half


if __name__ == "__main__":
    main()
