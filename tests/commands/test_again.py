"""Which tests are drawn, which runs they need, and what counts as the same."""

import types

import pandas as pd
import pytest
from finished import verdict

from soundcheck.commands import verifying
from soundcheck.results.table import to_frame

MANY = to_frame([verdict(f"m{n % 4}", test=f"t{n}") for n in range(40)])


def test_the_same_seed_draws_the_same_tests_in_any_order():
    drawn = set(verifying.draw(MANY, 5, 0)["test"])
    assert set(verifying.draw(MANY.sample(frac=1, random_state=1), 5, 0)["test"]) == drawn
    assert drawn < set(verifying.draw(MANY, 6, 0)["test"])
    assert set(verifying.draw(MANY, 5, 1)["test"]) != drawn
    assert (len(drawn), len(verifying.draw(MANY, 100, 0))) == (5, 40)


NONE = {"value": None, "low": None, "high": None, "passed": None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"value": 0.6 + 1e-12}, ""),
        ({"holds": True}, ""),  # which depends on all tests of the run
        ({"value": 0.61}, "value 0.6, now 0.61 (by 0.01)"),
        ({"value": 0.4, "passed": False}, "value 0.6, now 0.4 (by 0.2), passed True, now False"),
        (NONE | {"certainty": None, "skipped": "error: it\nfailed"}, "('error: it\\nfailed')"),
    ],
)
def test_a_difference_is_reported_with_its_size(change, words):
    lines = verifying.unlike(to_frame([verdict()]), to_frame([verdict(**change)]))
    where = "m / c / correctness_regression / arousal / Concordance Correlation Coeff: "
    assert len(lines) == bool(words)
    assert all(line.startswith(where) and line.endswith(words) for line in lines)


def test_tests_that_came_or_went_are_reported_first():
    old, new = [verdict(), verdict(test="a")], [verdict(value=0.7), verdict(test="b")]
    first, second, third = verifying.unlike(to_frame(old), to_frame(new))
    assert {first.rpartition(": ")[2], second.rpartition(": ")[2]} == {"is not there now", "is new"}
    assert "value 0.6, now 0.7" in third
    assert verifying.unlike(MANY, MANY.sample(frac=1, random_state=2)) == []
    nothing = to_frame([verdict(**NONE, skipped="too few")])
    assert verifying.unlike(nothing, nothing) == []


def test_a_run_for_each_model_but_together_for_families_that_look_at_others(monkeypatch):
    others = {"f": False, "g": False, "x": True}
    monkeypatch.setattr(
        verifying, "read_family", lambda name, root: types.SimpleNamespace(others=others[name])
    )
    suite = types.SimpleNamespace(root=None, models=dict.fromkeys("abcd"))
    table = pd.DataFrame({"model": ["a", "b", "c", "d"], "family": ["x", "x", "x", "f"]})
    pairs = pd.DataFrame([("a", "f"), ("b", "g"), ("a", "g"), ("b", "x")], columns=["model", "family"])
    runs = list(verifying._runs(pairs, table, suite))
    assert runs == [(["a"], ["f", "g"]), (["b"], ["g"]), (["a", "b", "c"], ["x"])]
