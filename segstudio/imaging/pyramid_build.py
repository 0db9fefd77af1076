"""Building a cached pyramid in one pass over the image, in the order in which its file is decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from segstudio.core.files import written_aside
from segstudio.core.geometry import Rect, Size
from segstudio.core.jobs import JobContext
from segstudio.core.tiles import TILE_SIDE, tiles_of
from segstudio.imaging.halving import halved
from segstudio.imaging.orientation import Orientation
from segstudio.imaging.pyramid_cache import cache_file, is_built, is_sequential, levels_of, needs_pyramid
from segstudio.imaging.pyramid_store import Picture, TileWriter, new_store
from segstudio.imaging.source import ImageSource


def build(source: ImageSource, folder: Path, ctx: JobContext) -> None:
    """Write the pyramid of `source` into the cache folder, unless it is there or the image needs none.

    Memory follows the width of the image. One step of progress is a strip of 512 rows. A build that is cancelled or
    fails leaves nothing; of two at the same time the later one replaces the equal file of the other.
    Raises `ImageError` for what cannot be read, `OutputError` for what cannot be written.
    """
    target = cache_file(source.info, folder)
    if not needs_pyramid(source.info) or is_built(target):
        return
    first = 0 if is_sequential(source.info.path) else 1
    with written_aside(target) as part, new_store(part) as writer:
        _Sweep(source, writer, first, ctx).run()
        writer.finish(first)


class _Sweep:
    """The pass on the grid of the stored file: its rows are columns of the image where the file lies on its side."""

    def __init__(self, source: ImageSource, writer: TileWriter, first: int, ctx: JobContext) -> None:
        info = source.info
        turn = Orientation.of_tag(info.orientation)
        self._source, self._writer, self._first, self._ctx = source, writer, first, ctx
        self._sideways = turn.transpose
        self._upwards = turn.flip_x if turn.transpose else turn.flip_y
        self._sizes = [self._turned(level.size) for level in levels_of(info.size)]

    def run(self) -> None:
        self._ctx.start("pyramid", -(-self._sizes[0].height // TILE_SIDE))
        self._strip(len(self._sizes) - 1, 0)

    def _strip(self, level: int, row: int) -> Picture:
        """One row of tiles of a level, from the rows of the finer one; each is written as soon as it is known."""
        strip = self._joined(level - 1, row) if level else self._read(row)
        if level >= self._first:
            for place in tiles_of(Size(strip.pixels.shape[1], strip.pixels.shape[0])):
                part = place.slices_from(0, 0)
                tile = Picture(strip.pixels[part], None if strip.valid is None else strip.valid[part])
                y, x = (place.x // TILE_SIDE, row) if self._sideways else (row, place.x // TILE_SIDE)
                self._writer.put(level, y, x, self._upright(tile))
        return strip

    def _joined(self, finer: int, row: int) -> Picture:
        rows = [child for child in (2 * row, 2 * row + 1) if child * TILE_SIDE < self._sizes[finer].height]
        order = rows[::-1] if self._upwards else rows
        parts = {child: halved(self._strip(finer, child)) for child in order}
        return _stacked([parts[child] for child in rows])

    def _read(self, row: int) -> Picture:
        size, top = self._sizes[0], row * TILE_SIDE
        height = min(TILE_SIDE, size.height - top)
        rect = Rect(top, 0, height, size.width) if self._sideways else Rect(0, top, size.width, height)
        strip = Picture(self._source.read(rect), self._source.validity(rect))
        self._ctx.advance()
        return self._upright(strip)

    def _upright(self, picture: Picture) -> Picture:
        """Between the two grids, in either direction."""
        if not self._sideways:
            return picture
        pixels, valid = picture
        return Picture(pixels.swapaxes(0, 1), None if valid is None else valid.swapaxes(0, 1))

    def _turned(self, size: Size) -> Size:
        return Size(size.height, size.width) if self._sideways else size


def _stacked(parts: list[Picture]) -> Picture:
    if len(parts) == 1:
        return parts[0]
    pixels = np.concatenate([part.pixels for part in parts])
    if all(part.valid is None for part in parts):
        return Picture(pixels, None)
    known = [np.ones(part.pixels.shape[:2], np.bool_) if part.valid is None else part.valid for part in parts]
    return Picture(pixels, np.concatenate(known))
