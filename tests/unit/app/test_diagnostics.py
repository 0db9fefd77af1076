"""Peak memory is the program's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from segstudio.app.diagnostics import peak_rss_mb


def test_a_large_parent_is_not_counted() -> None:
    held = np.ones(300 << 20, np.uint8)
    program = "from segstudio.app.diagnostics import peak_rss_mb; print(peak_rss_mb())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert held[0] == 1
    assert 5 < float(result.stdout) < 150


def test_memory_that_was_given_back_still_counts() -> None:
    before = peak_rss_mb()
    held = np.ones(200 << 20, np.uint8)
    del held
    assert peak_rss_mb() > before - 1
    assert peak_rss_mb() > 200
