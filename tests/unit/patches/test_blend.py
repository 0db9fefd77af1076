from __future__ import annotations

import numpy as np
import pytest
from scipy.signal.windows import hann

from segstudio.patches.blend import axis_core, axis_weights


@pytest.mark.parametrize("overlap", [1, 2, 5, 16])
def test_ramps_are_the_halves_of_a_hann_window(overlap):
    weights = axis_weights(1, 3, 32, overlap)
    # a Hann window of 4n + 1 points has at its odd points the centres of 2n cells
    window = hann(4 * overlap + 1)[1::2]
    np.testing.assert_allclose(weights[:overlap], window[:overlap], atol=1e-7)
    np.testing.assert_allclose(weights[-overlap:], window[overlap:], atol=1e-7)
    assert np.all(weights[overlap : 32 - overlap] == 1)
    assert weights.dtype == np.float32


def test_borders_of_the_image_keep_their_weight():
    assert np.all(axis_weights(0, 1, 16, 4) == 1)
    assert axis_weights(0, 2, 16, 4)[0] == 1
    assert axis_weights(1, 2, 16, 4)[-1] == 1


def test_the_middle_cell_of_an_odd_overlap_goes_to_the_later_patch():
    assert axis_core(0, 3, 16, 3) == (0, 14)
    assert axis_core(1, 3, 16, 3) == (1, 14)
    assert axis_core(2, 3, 16, 3) == (1, 16)
