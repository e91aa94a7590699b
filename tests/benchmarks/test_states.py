"""Studies of states, of intervals for these speakers and of published results: what their tables promise."""

from __future__ import annotations

import numpy as np
from benchmarks import states, these_speakers

from soundcheck.report.study_figures import recorded


def test_fair_models_are_not_accused_and_unfair_ones_found():
    found, _ = recorded("states")
    slack = 2.6 * np.sqrt(0.05 * 0.95 / found["books"])
    for name in ("accused", "new", "sample"):
        assert (found[name].dropna() <= 0.05 + slack[found[name].notna()]).all()
    assert found["found"].max() >= 0.8 and set(found["part"]) == {"margins", "equal", "pages"}
    assert set(found["kind"]) <= {name for _, name, _ in states.kinds()}


def test_intervals_for_these_speakers_cover_the_truth():
    found, _ = recorded("these_speakers")
    slack = np.sqrt(0.95 * 0.05 / found["intervals"])
    low, high = these_speakers.BARS
    assert found["covered"].between(low - slack, high + slack).all()
    assert set(found["measure"]) == set(these_speakers.MEASURES)


def test_published_results_come_out():
    found, _ = recorded("published_results")
    accents = found["what"].str.contains("accent: indian against us")
    assert accents.sum() == 3 and found.loc[accents, "state"].eq("fail").all()


def test_a_book_has_so_many_tests():
    frame = states.twice(np.random.default_rng(0))
    assert len(states.counted(frame)) == 15
    assert frame["group"].str.startswith("sex: ").sum() == 2
