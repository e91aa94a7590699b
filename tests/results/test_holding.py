"""Which failures hold among all tests of a model and category."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from soundcheck import results
from soundcheck.results import holding
from soundcheck.results.verdict import Verdict


def row(
    test: str,
    p: float | None,
    gap: float = 0.2,
    *,
    matters: float | None = 0.1,
    category: str = "fairness",
    **more,
) -> Verdict:
    given = {"value": gap / 2, "threshold": 0.075, "rule": "|value| <", "passed": abs(gap / 2) < 0.075}
    given |= {
        "group": "sex: female",
        "gap": gap,
        "p_value": p,
        "matters": matters,
        "segments": 9,
        "blocks": 9,
    }
    return Verdict("m", "c", "f", category, "t", test, **(given | more))


def test_what_holds_is_what_the_false_discovery_rate_leaves():
    p = np.array([0.001, 0.004, 0.02, 0.03, 0.2, 0.9])
    frame = holding.settle(results.to_frame(row(f"test {n}", each) for n, each in enumerate(p)))
    assert frame["holds"].tolist() == (false_discovery_control(p) <= 0.05).tolist()


def test_a_gap_too_small_to_matter_never_holds_and_counts_as_a_test():
    rows = [row("small", 0.0001, 0.09), row("large", 0.03, -0.2)]
    frame = holding.settle(results.to_frame(rows)).set_index("test")
    assert frame.loc["small", "holds"] is False
    assert frame.loc["large", "holds"] is False  # 0.03 of two tests is 0.06
    alone = holding.settle(results.to_frame(rows[1:]))
    assert alone["holds"].tolist() == [True]


def test_a_group_that_is_better_than_the_others_holds_only_where_both_directions_count():
    frame = results.to_frame(
        [row("better", 0.001, -0.3), row("error rate", 0.001, -0.3, rule="<", passed=True)]
    )
    assert holding.settle(frame).set_index("test")["holds"].to_dict() == {"better": True, "error rate": False}


def test_other_tests_count_if_they_fail():
    common = {"group": "", "matters": None, "rule": ">", "threshold": 0.5}
    rows = [row("pass", 0.001, value=0.6, passed=True, **common)]
    rows += [row("fail", 0.001, value=0.4, passed=False, **common), row("no p", None)]
    found = holding.settle(results.to_frame(rows)).set_index("test")["holds"]
    assert found.to_dict() == {"pass": False, "fail": True, "no p": None}


def test_models_and_categories_are_settled_apart():
    rows = [row("one", 0.03), row("two", 0.9, category="robustness")]
    assert holding.settle(results.to_frame(rows)).set_index("test")["holds"].to_dict() == {
        "one": True,
        "two": False,
    }


@pytest.mark.parametrize(
    ("passed", "holds", "evidence", "state"),
    [
        (True, False, "clear pass", "clear pass"),
        (True, False, "open", "open pass"),
        (True, None, "none", "open pass"),
        (False, False, "clear fail", "open fail"),
        (False, True, "open", "fail that holds"),
        (None, None, "", "skipped"),
    ],
)
def test_states(passed, holds, evidence, state):
    threshold = 0.15 if passed else 0.05
    more = {"skipped": "why"} if passed is None else {}
    found = row("x", 0.5, passed=passed, holds=holds, evidence=evidence, threshold=threshold, **more)
    assert found.state == state in results.STATES
    assert holding.states(results.to_frame([found])).tolist() == [state]


def test_speakers_that_cannot_show_anything_are_named():
    rows = [row(f"test {n}", 0.5, least_p=2 / 252) for n in range(10)]
    frame = results.to_frame(rows)
    assert holding.cannot_hold(frame).all()  # 0.0079 > 0.05 / 10
    assert not holding.cannot_hold(frame.iloc[:3]).any()


def test_holds_survives_writing_and_reading(tmp_path):
    frame = holding.settle(results.to_frame([row("one", 0.001), row("two", None)]))
    results.write_results(frame, tmp_path)
    for name in ("results.csv", "results.parquet"):
        assert results.read_results(tmp_path / name)["holds"].tolist() == [True, None]
