"""Which tests are drawn, which runs they need, and what counts as the same."""

import types

import pandas as pd
import pytest
from finished import verdict

from soundcheck.commands import again
from soundcheck.results.table import to_frame


def frame(*rows):
    return to_frame(rows)


MANY = frame(*(verdict(f"m{n % 4}", test=f"t{n}") for n in range(40)))


def test_the_same_seed_draws_the_same_tests_in_any_order():
    drawn = set(again.draw(MANY, 5, 0)["test"])
    assert len(drawn) == 5
    assert set(again.draw(MANY.sample(frac=1, random_state=1), 5, 0)["test"]) == drawn
    assert drawn < set(again.draw(MANY, 6, 0)["test"])
    assert set(again.draw(MANY, 5, 1)["test"]) != drawn
    assert len(again.draw(MANY, 100, 0)) == 40


def test_what_is_the_same_is_not_told():
    assert again.unlike(MANY, MANY.sample(frac=1, random_state=2)) == []
    nothing = frame(verdict(value=None, low=None, high=None, passed=None, skipped="too few"))
    assert again.unlike(nothing, nothing) == []
    noise = frame(verdict(value=0.6 + 1e-12))
    assert again.unlike(frame(verdict()), noise) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": 0.61}, "value 0.6, now 0.61 (by 0.01)"),
        ({"low": 0.5}, "low 0.55, now 0.5 (by 0.05)"),
        ({"segments": 199}, "segments 200, now 199 (by 1)"),
        ({"blocks": 19}, "blocks 20, now 19 (by 1)"),
        ({"value": 0.4, "passed": False}, "value 0.6, now 0.4 (by 0.2), passed True, now False"),
        ({"certainty": 0.9}, "certainty 0.99, now 0.9 (by 0.09)"),
        ({"low": None, "high": None}, "low 0.55, now none, high 0.7, now none"),
    ],
)
def test_a_difference_is_told_with_its_size(change, words):
    (line,) = again.unlike(frame(verdict()), frame(verdict(**change)))
    assert line == f"m / c / correctness_regression / arousal / Concordance Correlation Coeff: {words}"


def test_a_test_without_value_now_is_told_with_the_reason():
    gone = verdict(value=None, low=None, high=None, passed=None, certainty=None, skipped="error: it\nfailed")
    (line,) = again.unlike(frame(verdict()), frame(gone))
    assert "value 0.6, now none" in line and "('error: it\\nfailed')" in line


def test_tests_that_came_or_went_are_told_first():
    old, new = frame(verdict(), verdict(test="a")), frame(verdict(value=0.7), verdict(test="b"))
    first, second, third = again.unlike(old, new)
    assert {first.rpartition(": ")[2], second.rpartition(": ")[2]} == {"is not there now", "is new"}
    assert "value 0.6, now 0.7" in third


def test_holds_is_not_compared_here():
    assert again.unlike(frame(verdict(p_value=0.01, holds=True)), frame(verdict(p_value=0.01))) == []


def test_a_run_for_each_model_but_together_for_families_that_look_at_others(monkeypatch):
    others = {"f": False, "g": False, "x": True}
    monkeypatch.setattr(again, "read_family", lambda name, root: types.SimpleNamespace(others=others[name]))
    suite = types.SimpleNamespace(root=None, models=dict.fromkeys("abcd"))
    table = pd.DataFrame({"model": ["a", "b", "c", "d"], "family": ["x", "x", "x", "f"]})
    pairs = pd.DataFrame([("a", "f"), ("b", "g"), ("a", "g"), ("b", "x")], columns=["model", "family"])
    assert list(again._runs(pairs, table, suite)) == [
        (["a"], ["f", "g"]),
        (["b"], ["g"]),
        (["a", "b", "c"], ["x"]),
    ]
