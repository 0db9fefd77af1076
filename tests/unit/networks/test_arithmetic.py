"""Denormals are flushed inside the block and nowhere else."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from segstudio.networks.arithmetic import denormals_flushed

TINY = 1e-39


def flushed() -> bool:
    return float(torch.tensor([TINY]).mul(0.5).item()) == 0.0


def test_only_inside_and_nested() -> None:
    assert not flushed()
    with denormals_flushed():
        assert flushed()
        with denormals_flushed():
            assert flushed()
        assert flushed()
    assert not flushed()
    assert np.float32(TINY) * np.float32(0.5) > 0


def test_an_error_ends_it_too() -> None:
    with pytest.raises(KeyError), denormals_flushed():
        raise KeyError
    assert not flushed()


def test_another_thread_is_left_alone() -> None:
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(flushed()))
    inside = threading.Thread(target=_enter_and_leave)
    inside.start()
    inside.join()
    thread.start()
    thread.join()
    assert seen == [False]


def _enter_and_leave() -> None:
    with denormals_flushed():
        assert flushed()
