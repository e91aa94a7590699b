"""Figures of spectra: the curves are those of the filters, in decibel."""

import numpy as np
import pytest

from soundcheck.augment.filters import tilt_filter
from soundcheck.report.study_figures import magnitude_responses

RATE = 16000


def test_the_tilt_filters_are_drawn_in_decibel():
    """The line 1 - f / 8000 is -6 dB at 4 kHz; twice f / 8000 is 0 dB there and +6 dB near 8 kHz."""
    filters = {name: tilt_filter(name.lower()) for name in ("Downward", "Upward")}
    (axes,) = magnitude_responses(filters, RATE).axes
    curves = {
        line.get_label(): line.get_xydata().T for line in axes.lines if not line.get_label().startswith("_")
    }
    assert list(curves) == ["Downward", "Upward"]
    for name, kilohertz, decibel in [
        ("Downward", 0, 0),
        ("Downward", 4, -6.02),
        ("Downward", 7.2, -20),
        ("Upward", 0.8, -13.98),
        ("Upward", 4, 0),
        ("Upward", 7, 4.86),
    ]:
        assert np.interp(kilohertz, *curves[name]) == pytest.approx(decibel, abs=0.15)
    assert axes.get_ylabel() == "magnitude in dB"
