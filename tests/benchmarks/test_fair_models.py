"""The study of fair and unfair models: its books, and what the recorded tables promise."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import fair_models

from soundcheck.report.study_figures import recorded
from soundcheck.suite.thresholds import read_family


def test_fair_models_are_accused_in_at_most_5_of_100_books():
    found, _ = recorded("fair_models")
    assert set(found["kind"]) <= {kind.name for kind in fair_models.FAIR} and len(found) > 4
    assert (found["holds"] <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / found["books"])).all()
    assert (found["tests"] == 247).all() and (found["books"] >= 40).all()
    assert found["simulated"].max() > 0.5  # which know nothing of speakers


def test_a_shift_is_found_with_enough_speakers():
    found, _ = recorded("unfair_models")
    rows = found.set_index("speakers")
    assert rows.loc[4, "found"] == 0  # either side needs 5 speakers for a state
    for speakers, least in ((10, 0.9), (40, 0.99)):
        assert rows.loc[speakers, "found"] >= least
    enough = rows[rows.index >= 20]
    slack = 2.6 * np.sqrt(0.05 * 0.95 / enough["books"])
    assert (enough["covered"] >= 0.93 - slack).all() and (enough["bounded"] >= 0.95 - slack).all()


@pytest.mark.parametrize("shift", [0.0, 0.17])
def test_a_book_is_that_of_the_family_of_accents(shift):
    kind = fair_models.Kind("test", speakers=10, segments=(6, 6), shift=shift)
    frame = fair_models.book(kind, 0, read_family("fairness_accent"))
    assert len(frame) == 247 and frame["holds"].notna().all()
    accused = frame[frame["holds"].eq(True)]
    means = accused[accused["test"].eq("Mean Value") & accused["task"].eq("arousal")]
    assert means["group"].tolist() == (["accent: 0"] if shift else [])
    assert not accused["task"].isin(["dominance", "valence"]).any()
