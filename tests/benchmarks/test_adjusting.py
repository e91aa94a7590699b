"""The study of adjusted gaps: its data sets, and what the recorded table promises."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import adjusting
from benchmarks.adjusting import ACCENT, DEVICE, KINDS, MICROPHONE, NOISE, SHARE, Kind

from soundcheck.common import seeds
from soundcheck.report.study_figures import recorded


def test_the_recorded_table_keeps_what_is_promised():
    found, made = recorded("adjusting")
    assert "benchmarks/adjusting.py; seed 0" in made and len(found) == len(KINDS)
    rows = found.to_dict("records")
    assert [fault for row in rows for fault in adjusting.wrong(row)] == []
    own = found.set_index(["column", "cause", "speakers"])
    assert own.loc[(NOISE, MICROPHONE, 20), "left"] <= 0.15
    assert own.loc[(NOISE, MICROPHONE, 60), "left"] == pytest.approx(0.05, abs=0.03)
    assert own.loc[(NOISE, ACCENT, 60), "left"] == pytest.approx(1, abs=0.05)
    assert (found["data_sets"] >= 1000).all() and (found["refused"] < 0.1).all()


@pytest.mark.parametrize("column", sorted({kind.column for kind in KINDS}))
def test_the_plain_difference_is_as_large_whatever_its_cause(column):
    for cause in SHARE:
        kind = Kind(column, cause, 400)
        subset, group, values = adjusting.draw(kind, seeds.generator(0, column, cause))
        answers = subset.predictions.clean
        gap = answers[group].mean() - answers[~group].mean()
        assert gap == pytest.approx(-adjusting.EFFECT, abs=0.025)
        assert len(values) == len(subset) == 2 * 400 * adjusting.EACH


def test_a_data_set_is_adjusted_by_the_function_that_judges():
    found = adjusting.data_set(Kind(DEVICE, MICROPHONE, 60), 0)
    assert found["refused"] == 0 and found["counterpart"] == 1 and np.isnan(found["ten"])
    assert abs(found["adjusted"]) < abs(found["plain"])


def test_what_is_not_kept_is_named():
    row = dict(column=NOISE, cause=MICROPHONE, speakers=40, data_sets=1000, left=0.3, covered=0.8, ten=1.0)
    assert [fault.partition(":")[2] for fault in adjusting.wrong(row)] == [
        " 0.300 is left in place of 0",
        " intervals hold the part of the accent in 0.800",
    ]
