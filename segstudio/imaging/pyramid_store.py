"""The file of a cached pyramid: one SQLite database of coded tiles, written once and read from any thread."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from segstudio.core.errors import OutputError, OutputProblem

_SCHEMA = """
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE tile(
    level INTEGER, y INTEGER, x INTEGER, codec TEXT NOT NULL, data BLOB NOT NULL, valid BLOB, crc INTEGER NOT NULL,
    PRIMARY KEY(level, y, x)
);
"""
_QUALITY = 90


class Picture(NamedTuple):
    """Pixels (height, width, bands), and where they mean something (height, width), None where all of them do."""

    pixels: NDArray[Any]
    valid: NDArray[np.bool_] | None


class DamagedCacheError(Exception):
    """A cache file that does not hold what was written to it."""


class TileWriter:
    """Fills a new file; it is worth nothing until `finish`. Use from one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tiles, self._gaps = 0, False

    def put(self, level: int, y: int, x: int, tile: Picture) -> None:
        """Store the tile in column `x` and row `y` of the level's grid; level 0 keeps every bit."""
        codec = "jpeg" if level and tile.pixels.dtype == np.uint8 and tile.pixels.shape[2] in {1, 3} else "zstd"
        pixels = np.ascontiguousarray(tile.pixels)
        data = bytes(imagecodecs.jpeg8_encode(pixels, _QUALITY)) if codec == "jpeg" else _packed(pixels)
        valid = None if tile.valid is None or tile.valid.all() else _packed(np.packbits(tile.valid))
        row = (level, y, x, codec, data, valid, _crc(data, valid))
        self._connection.execute("INSERT INTO tile VALUES(?, ?, ?, ?, ?, ?, ?)", row)
        self._tiles += 1
        self._gaps |= valid is not None

    def finish(self, first: int) -> None:
        """Say that all tiles from level `first` on are there."""
        facts = {"first": first, "gaps": int(self._gaps), "tiles": self._tiles}
        self._connection.executemany("INSERT INTO meta VALUES(?, ?)", facts.items())
        self._connection.commit()


@contextmanager
def new_store(path: Path) -> Iterator[TileWriter]:
    """A new file to fill. Raises `OutputError` where it cannot be written."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(_SCHEMA)
            yield TileWriter(connection)
    except sqlite3.Error as error:
        full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
        problem = OutputProblem.DISK_FULL if full else OutputProblem.FAILED
        raise OutputError(problem, path, detail=str(error)) from error


class TileStore:
    """A finished file, read-only, from any thread: each thread at work has a connection of its own.

    Attributes:
        first: the finest level in it.
        gaps: whether any pixel of it is not valid.

    Every method raises `DamagedCacheError` for a file that is not as it was written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        with self._connection() as connection:
            facts = dict(connection.execute("SELECT key, value FROM meta"))
            (tiles,) = connection.execute("SELECT count(*) FROM tile").fetchone()
        if facts.keys() != {"first", "gaps", "tiles"} or facts["tiles"] != str(tiles):
            self.close()
            raise DamagedCacheError(path)
        self.first, self.gaps = int(facts["first"]), facts["gaps"] == "1"

    def tile(self, level: int, y: int, x: int, shape: tuple[int, int, int], dtype: str) -> Picture:
        """The tile in column `x` and row `y`, of the shape (height, width, bands) and dtype that it was stored with."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT codec, data, valid, crc FROM tile WHERE level = ? AND y = ? AND x = ?", (level, y, x)
            ).fetchone()
        if row is None or _crc(row[1], row[2]) != row[3]:
            raise DamagedCacheError(self._path)
        codec, data, valid, _ = row
        stored = imagecodecs.jpeg8_decode(data) if codec == "jpeg" else np.frombuffer(_unpacked(data), dtype)
        bits = None if valid is None else np.unpackbits(np.frombuffer(_unpacked(valid), np.uint8))
        known = None if bits is None else bits[: shape[0] * shape[1]].reshape(shape[:2]).astype(np.bool_)
        return Picture(stored.reshape(shape), known)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or self._connect()
            yield connection
        except sqlite3.Error as error:
            raise DamagedCacheError(self._path) from error
        finally:
            if connection is not None:
                self._give_back(connection)

    def _connect(self) -> sqlite3.Connection:
        # Finished files are replaced or removed, never changed: no locks are needed, nor a journal looked for.
        return sqlite3.connect(f"{self._path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()


def _packed(values: NDArray[Any]) -> bytes:
    return bytes(imagecodecs.zstd_encode(values.tobytes(), level=1))


def _unpacked(data: bytes) -> bytes:
    return bytes(imagecodecs.zstd_decode(data))


def _crc(data: bytes, valid: bytes | None) -> int:
    return zlib.crc32(valid or b"", zlib.crc32(data))
