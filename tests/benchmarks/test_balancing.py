"""The study of balancing: its data are as it says, its table shows what the page claims."""

import numpy as np
import pytest
from benchmarks import balancing

from soundcheck.report.study_figures import recorded


def test_labels_differ_and_the_model_is_fair():
    truth, prediction, first = balancing.draw(np.random.default_rng(0), (20_000, 20_000), 0.15, 0.08)
    assert truth[~first].mean() - truth[first].mean() == pytest.approx(0.08, abs=0.005)
    error = prediction - 0.5 - 0.7 * (truth - 0.5)
    assert error.std() == pytest.approx(0.12, rel=0.02)
    assert abs(error[first].mean() - error[~first].mean()) < 0.005


def test_nearest_labels_take_everybody_of_groups_of_equal_size(rng):
    truth, first = rng.random(40), np.arange(40) < 20
    assert sorted(balancing.nearest(truth, first)) == list(range(40))
    rows = balancing.nearest(
        np.array([0.5, 0.9, 0.1, 0.45, 0.6]), np.array([True, True, False, False, False])
    )
    assert rows.tolist() == [0, 1, 3, 4]


def test_a_biased_model_is_accused(rng):
    truth, prediction, first = balancing.draw(rng, (400, 400), 0.15, 0)
    assert all(balancing.accused(truth, prediction + 0.4 * first, first))


def test_more_data_sets_begin_with_the_same_ones():
    one = balancing.study((60, 60), 0.15, "balanced", 2)
    assert one == balancing.study((60, 60), 0.15, "balanced", 2)


def test_the_table_shows_what_balancing_is_for():
    table, made = recorded("balancing")
    assert "python benchmarks/balancing.py" in made
    equal = table[table["first"].eq(400) & table["second"].eq(400)].set_index(["spread", "way"])["simulated"]
    accused = equal.unstack()
    assert (accused["as they are"] >= 0.2).all() and (accused["balanced"] <= 0.05).all()
    balanced = table[table["way"].eq("balanced")]
    assert (balanced["labels_apart"].abs() < 0.005).all()
    assert table["data_sets"].eq(balancing.DATA_SETS).all()
