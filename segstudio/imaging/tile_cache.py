"""Decoded blocks of image files, shared by all sources and threads, bounded by bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from numpy.typing import NDArray

Key = tuple[int, int, int]

_START = 32 << 20
_LIMIT = 256 << 20


class BlockCache:
    """Least-recently-used blocks by (source, level, index), at most `budget` bytes of pixels.

    Arrays in it are read-only; a reader keeps an array that was evicted meanwhile.
    """

    def __init__(self, budget: int = _START, limit: int = _LIMIT) -> None:
        self._budget, self._limit, self._bytes = budget, limit, 0
        self._blocks: OrderedDict[Key, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        return self._bytes

    def reserve(self, wanted: int) -> None:
        """Raise the budget to `wanted` bytes, up to the limit, for a source whose rows would not fit otherwise."""
        with self._lock:
            self._budget = max(self._budget, min(wanted, self._limit))

    def get(self, key: Key) -> NDArray[Any] | None:
        with self._lock:
            block = self._blocks.get(key)
            if block is not None:
                self._blocks.move_to_end(key)
            return block

    def put(self, key: Key, block: NDArray[Any]) -> None:
        block.setflags(write=False)
        with self._lock:
            if key in self._blocks:
                return
            self._blocks[key] = block
            self._bytes += block.nbytes
            while self._bytes > self._budget and self._blocks:
                _, old = self._blocks.popitem(last=False)
                self._bytes -= old.nbytes

    def clear(self) -> None:
        """Drop everything, as when memory is short."""
        with self._lock:
            self._blocks.clear()
            self._bytes = 0

    def forget(self, source: int) -> None:
        """Drop all blocks of a source that was closed."""
        with self._lock:
            for key in [key for key in self._blocks if key[0] == source]:
                self._bytes -= self._blocks.pop(key).nbytes


BLOCKS = BlockCache()
"""The one cache of the process: memory must not grow with the number of open images."""
