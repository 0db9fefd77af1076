"""How torch computes on the processor in this thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_state = threading.local()


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Numbers below 1e-38 become zero inside the block, in this thread; may be nested.

    They mean nothing to a network, and processors are slow with them: gradients near zero made training steps up to twenty
    times slower. torch's worker threads take the setting over from the thread that starts them, so the first computation
    of a process should happen inside. Outside, arithmetic is as IEEE 754 has it: others in the process rely on that.
    """
    depth = getattr(_state, "depth", 0)
    _state.depth = depth + 1
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        _state.depth = depth
        if depth == 0:
            torch.set_flush_denormal(False)
