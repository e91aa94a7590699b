"""Points of a history: known marks, pairing, and everything that must not be joined by a line."""

import numpy as np
import pytest
from benchmarks.histories import history as simulated

from soundcheck.results.contrast import compared_alone
from soundcheck.results.history import history_of
from soundcheck.results.past_runs import read_runs

RUNS = (("a", 0.7), ("b", 0.4))
TASK = {"kind": "regression", "classes": [], "low": 0.0, "high": 1.0}
FAMILY = {"name": "f", "title": "F", "category": "correctness", "question": "", "digest": "1"}


def of(*folders, models=()):
    return history_of(read_runs(folders), models).points


def test_one_thing_better_another_worse_and_nothing_else(write, judged):
    values = {"A": [0.6, 0.6, 0.7, 0.7, 0.7], "B": [0.8, 0.8, 0.8, 0.7, 0.7], "C": [0.7] * 5}
    folders = [
        write(
            f"run{n}", [judged(test, own[n] + 0.0001 * n) for test, own in values.items()], model=f"{n}" * 40
        )
        for n in range(5)
    ]
    frame = of(*folders)
    assert len(frame) == 15 and frame["position"].tolist() == [1, 2, 3, 4, 5] * 3
    marks = frame[frame["mark"].isin(["better", "worse"])]
    assert [tuple(row) for row in marks[["test", "position", "mark", "against"]].values] == [
        ("A", 3, "better", 2),
        ("B", 4, "worse", 3),
    ]
    assert set(marks["pairing"]) == {"paired"} and set(marks["changed"]) == {"model"}
    later = frame[frame["position"] > 1]
    assert later["joined"].eq("to another model").all()
    assert later["reason"].eq("another model (other code, options or files)").all()


def test_differences_are_those_of_compare(write, judged):
    one, other = judged(value=0.70), judged(value=0.66)
    row = of(write("a", [one]), write("b", [other])).iloc[-1]
    expected = compared_alone(one, other)
    assert row["difference"] == expected.difference and row["p_value"] == expected.p_value
    assert (row["difference_low"], row["difference_high"]) == (expected.low, expected.high)


@pytest.mark.parametrize(
    ("entry", "about", "reason", "compared", "pairing"),
    [
        ({"threshold": 0.6}, {}, "another threshold (> 0.5 then, > 0.6 now)", True, "paired"),
        ({"segments_": "t"}, {}, "other segments (100 both times)", True, "unpaired"),
        ({"count": 90}, {}, "other segments (100 then, 90 now)", True, "unpaired"),
        ({}, {"corpus": {"digest": "other"}}, "other sounds", True, "unpaired"),
        ({"rule": "<", "threshold": 0.9}, {}, "another rule (> then, < now)", False, ""),
        ({}, {"families": [FAMILY | {"digest": "2"}]}, "another threshold file", False, ""),
        (
            {},
            {"suite": {"tasks": {"arousal": TASK | {"low": 0.5}}}},
            "another definition of the task",
            False,
            "",
        ),
    ],
)
def test_what_is_not_comparable_is_not_joined_and_says_why(
    write, judged, entry, about, reason, compared, pairing
):
    old = {"suite": {"tasks": {"arousal": TASK}}} if "suite" in about else {}
    changes = {k: v for k, v in entry.items() if k in ("threshold", "rule")}
    later = judged(value=0.55, segments=entry.get("segments_", "s"), **changes)
    if "count" in entry:
        later = judged(value=0.55).of("m")
        object.__setattr__(later.verdict, "segments", entry["count"])
    row = of(write("a", [judged()], **old), write("b", [later], **about)).iloc[-1]
    assert reason in row["reason"] and row["joined"] == ""
    assert row["pairing"] == pairing
    assert row["mark"] == ("worse" if compared else "")
    assert row["against"] == (1 if compared else 0)


def test_other_seeds_are_unpaired_but_the_same_measure_of_the_same_data(write, judged):
    row = of(write("a", [judged()]), write("b", [judged(value=0.69)], seed=1)).iloc[-1]
    assert (row["pairing"], row["joined"], row["changed"]) == ("unpaired", "joined", "seed")


def test_a_gap_is_told_and_the_value_before_it_counts(write, judged):
    runs = [write("a", [judged("T"), judged("U")]), write("b", [judged("U", 0.71)])]
    runs.append(write("c", [judged("T", 0.5), judged("U", 0.72)]))
    row = of(*runs).set_index(["test", "position"]).loc[("T", 3)]
    assert (row["joined"], row["against"], row["mark"]) == ("across a gap", 1, "worse")


def test_a_table_alone_is_compared_unpaired_and_never_joined(write, judged, tmp_path):
    about = {"suite": {"normaliser": "basic"}}
    folders = [write(name, [judged(value=value, task="transcript")], **about) for name, value in RUNS]
    (folders[1] / "run.json").unlink()
    row = of(folders[0], folders[1] / "results.csv").iloc[-1]
    assert (row["pairing"], row["joined"], row["reason"]) == ("unpaired", "", "no record of the data")
    assert row["mark"] == "worse" and row["model_version"] == ""


def test_small_differences_do_not_matter(write, judged):
    runs = [write("a", [judged(value=0.70)]), write("b", [judged(value=0.692)], matters_worse=0.01)]
    assert of(*runs).iloc[-1]["mark"] == "no evidence" and of(*runs).iloc[-1]["p_value"] < 0.01
    runs.append(write("c", [judged(value=0.684)], matters_worse=0.001))
    assert of(*runs)["mark"].tolist() == ["", "worse", "worse"]


def test_a_single_model_that_was_renamed_is_one(write, judged):
    runs = [write("a", [judged(model="old")]), write("b", [judged(model="new", value=0.71)])]
    frame = of(*runs)
    assert set(frame["model"]) == {"new"} and frame.iloc[-1]["joined"] == "joined"


def test_histories_without_change_rarely_mark_anything():
    rng = np.random.default_rng(1)
    marked = [simulated(rng, "correlated", 0.0, n)["mark"].isin(["better", "worse"]).any() for n in range(10)]
    assert sum(marked) <= 3  # of ten at 5 %: once in a thousand times more
    frame = simulated(rng, "correlated", 0.3, 0)
    marks = frame[frame["mark"].isin(["better", "worse"])]
    assert {("00", 3, "better"), ("02", 4, "worse")} <= set(
        zip(marks["test"], marks["position"], marks["mark"], strict=True)
    )
