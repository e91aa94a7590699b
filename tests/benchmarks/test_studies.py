"""Studies: their data have the truth that they claim, and recorded tables keep what is promised."""

import numpy as np
import pytest
from benchmarks import adjusting, balancing, comparing, fair_models, states, these_speakers, worst_groups

from soundcheck.report.method_views import recorded
from soundcheck.suite.thresholds import read_family


def slack(share, counts):
    """What so many draws leave to chance."""
    return 2.6 * np.sqrt(share * (1 - share) / counts)


# Fair models are not accused, unfair ones found: states, and the books of one family


def test_promises_of_states_and_of_intervals_for_these_speakers():
    table, _ = recorded("states")
    for name in ("accused", "new", "sample"):
        assert (table[name].dropna() <= 0.05 + slack(0.05, table["books"])[table[name].notna()]).all()
    assert table["found"].max() >= 0.8 and set(table["part"]) == {"margins", "equal", "pages"}
    assert set(table["kind"]) <= {name for _, name, _ in states.kinds()}
    table, _ = recorded("these_speakers")
    low, high = these_speakers.BARS
    error = np.sqrt(0.95 * 0.05 / table["intervals"])
    assert table["covered"].between(low - error, high + error).all()
    assert set(table["measure"]) == set(these_speakers.MEASURES)
    table, _ = recorded("published_results")
    accents = table["what"].str.contains("accent: indian against us")
    assert accents.sum() == 3 and table.loc[accents, "state"].eq("fail").all()


def test_promises_of_books_of_fair_and_unfair_models():
    fair, _ = recorded("fair_models")
    assert set(fair["kind"]) <= {kind.name for kind in fair_models.FAIR} and len(fair) > 4
    assert (fair["holds"] <= 0.05 + slack(0.05, fair["books"])).all()
    assert (fair["tests"] == 247).all() and (fair["books"] >= 40).all()
    assert fair["simulated"].max() > 0.5  # which know nothing of speakers
    unfair = recorded("unfair_models")[0].set_index("speakers")
    assert unfair.loc[4, "found"] == 0  # either side needs 5 speakers for a state
    assert unfair.loc[10, "found"] >= 0.9 and unfair.loc[40, "found"] >= 0.99
    enough = unfair[unfair.index >= 20]
    error = slack(0.05, enough["books"])
    assert (enough["covered"] >= 0.93 - error).all() and (enough["bounded"] >= 0.95 - error).all()


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "groups"), [(0.0, []), (0.17, ["accent: 0"])])
def test_a_book_is_that_of_the_family_of_accents(shift, groups):
    kind = fair_models.Kind("test", speakers=10, segments=(6, 6), shift=shift)
    frame = fair_models.book(kind, 0, read_family("fairness_accent"))
    assert len(frame) == 247 and frame["holds"].notna().all()
    accused = frame[frame["holds"].eq(True)]
    means = accused[accused["test"].eq("Mean Value") & accused["task"].eq("arousal")]
    assert means["group"].tolist() == groups
    assert not accused["task"].isin(["dominance", "valence"]).any()


# Two models


def test_equal_models_are_equal():
    for rows, _ in comparing.comparisons("groups", 20, 2):
        assert {row.outcome for row in rows} == {"no evidence"}
    table, _ = recorded("comparing")
    equal, better = table[table["better by"] == 0], table[table["better by"] > 0]
    assert set(equal["tests"]) == set(comparing.KINDS)
    assert (equal["equal"] >= comparing.EQUAL - slack(comparing.EQUAL, equal["comparisons"])).all()
    assert equal["equal"].mean() >= comparing.EQUAL and (equal["equal by percentiles"] < equal["equal"]).all()
    assert (better["wrong"] <= comparing.WRONG + slack(comparing.WRONG, better["comparisons"])).all()


# Adjusted and balanced groups


def test_promises_of_adjusted_gaps():
    table, _ = recorded("adjusting")
    assert len(table) == len(adjusting.KINDS)
    assert [fault for row in table.to_dict("records") for fault in adjusting.wrong(row)] == []
    left = table.set_index(["column", "cause", "speakers"])["left"]
    assert left[adjusting.NOISE, adjusting.MICROPHONE, 20] <= 0.15
    assert left[adjusting.NOISE, adjusting.MICROPHONE, 60] == pytest.approx(0.05, abs=0.03)
    assert left[adjusting.NOISE, adjusting.ACCENT, 60] == pytest.approx(1, abs=0.05)
    assert (table["data_sets"] >= 1000).all() and (table["refused"] < 0.1).all()


def test_balancing_is_for_labels_that_differ(rng):
    truth, prediction, first = balancing.draw(rng, (400, 400), 0.15, 0)
    assert all(balancing.accused(truth, prediction + 0.4 * first, first))  # a biased model
    table, _ = recorded("balancing")
    equal = table[table["first"].eq(400) & table["second"].eq(400)].set_index(["spread", "way"])["simulated"]
    accused = equal.unstack()
    assert (accused["as they are"] >= 0.2).all() and (accused["balanced"] <= 0.05).all()
    assert (table["labels_apart"][table["way"].eq("balanced")].abs() < 0.005).all()


# Groups that nobody named


def test_promises_of_the_search_for_groups():
    table = recorded("worst_groups")[0].set_index(["planted", "speakers"])
    assert table["corpora"].eq(worst_groups.CORPORA).all()
    assert table.loc[(worst_groups.HALF, 60), "found"] >= worst_groups.LEAST_FOUND
    nobody = table.loc[worst_groups.NOBODY]
    assert (nobody["named"] <= worst_groups.MOST_NAMED).all()
