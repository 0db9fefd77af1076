"""The cache of decoded blocks stays within its bytes and keeps what was used last."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segstudio.imaging.tile_cache import BlockCache


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 60)), max_size=60))
def test_never_more_bytes_than_the_budget(requests):
    cache = BlockCache(budget=100, limit=100)
    kept: dict[tuple[int, int, int], np.ndarray] = {}
    for source, index, size in requests:
        key = (source, 0, index)
        found = cache.get(key)
        if found is None:
            kept[key] = np.full(size, index, np.uint8)
            cache.put(key, kept[key])
        else:
            assert found is kept[key]
        assert cache.bytes <= 100


def test_the_least_recently_used_goes_first():
    cache = BlockCache(budget=20, limit=20)
    for index in range(2):
        cache.put((0, 0, index), np.zeros(10, np.uint8))
    cache.get((0, 0, 0))
    cache.put((0, 0, 2), np.zeros(10, np.uint8))
    assert [cache.get((0, 0, index)) is not None for index in range(3)] == [True, False, True]


def test_a_closed_source_is_forgotten():
    cache = BlockCache()
    cache.put((0, 0, 0), np.zeros(10, np.uint8))
    cache.put((1, 0, 0), np.zeros(5, np.uint8))
    cache.forget(0)
    assert cache.bytes == 5
    assert cache.get((0, 0, 0)) is None


def test_reserving_raises_the_budget_up_to_the_limit():
    cache = BlockCache(budget=10, limit=30)
    cache.reserve(1000)
    for index in range(5):
        cache.put((0, 0, index), np.zeros(10, np.uint8))
    assert cache.bytes == 30


def test_blocks_cannot_be_written_to():
    cache = BlockCache()
    block = np.zeros(4, np.uint8)
    cache.put((0, 0, 0), block)
    assert not block.flags.writeable
