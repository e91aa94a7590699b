"""Values against the severity of a change, as they are drawn."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from soundcheck.report import sweep_figures


@pytest.mark.parametrize("reach", [0.05, np.nan], ids=["with interval", "without"])
def test_the_axis_reaches_as_far_as_what_is_drawn(reach):
    values = np.array([0.0, -0.3, -0.6])
    frame = pd.DataFrame({"step": ["clean", "-6", "-24"], "value": values, "reference": 0.0})
    frame = frame.assign(corpus="c", task="arousal", low=values - reach, high=values + reach)
    figure = sweep_figures.curves(frame, "gain in dB", "predictions move by", (-0.1, 0.1))
    low, high = figure.axes[0].get_ylim()
    plt.close(figure)
    assert low < -0.6 and high >= 0.1


def test_counts_stand_beside_values():
    frame = pd.DataFrame({"step": ["clean"], "value": [0.5], "low": [np.nan], "high": [np.nan]})
    frame = frame.assign(corpus="c", task="arousal", segments=32, blocks=1, reference=0.0)
    assert "32 in 1 speaker<" in str(sweep_figures.curve_table(frame, "gain in dB"))
