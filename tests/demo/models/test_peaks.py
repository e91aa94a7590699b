"""Syllables are counted at the maxima that scipy finds, without its import."""

import numpy as np
import pytest
import scipy.signal

from soundcheck_demo.models.features import standing_out


@pytest.mark.parametrize("whole", [False, True], ids=["any numbers", "with plateaus"])
def test_maxima_stand_out_as_in_scipy(whole):
    rng = np.random.default_rng(0)
    for count in range(1, 200):
        values = rng.normal(scale=2, size=count).cumsum()
        values = values.round() if whole else values
        assert standing_out(values, 2) == scipy.signal.find_peaks(values, prominence=2)[0].tolist()
