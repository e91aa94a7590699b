"""Which segments are changed: all of them, a random part of many, and a spread for sweeps."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.changed_segments import changed_rows, growing_steps, pairings, swept_rows
from soundcheck.evaluation.subset import CorpusView
from soundcheck.suite.entries import Suite
from soundcheck.suite.thresholds import read_family

TASKS, RECOGNISER = [BUILTIN["arousal"], BUILTIN["emotion"]], [BUILTIN["transcript"]]
NOISE, FAIRNESS = read_family("robustness_background_noise"), read_family("asr_fairness")


def limited(family=NOISE, **options):
    return dataclasses.replace(family, options=family.options | options)


@pytest.fixture(scope="module")
def table():
    """Three speakers with ten segments each, and one with 270."""
    files = [f"file {n}" for n in range(300)]
    speakers = [f"s{n % 3 if n < 30 else 3}" for n in range(300)]
    return pd.DataFrame({"key": files, "file": files, "speaker": speakers})


def test_a_random_part_does_not_depend_on_the_others(table):
    family, shuffled = limited(segments=50), table.sample(frac=1, random_state=1)
    rows, again = changed_rows(family, TASKS, table, 0), changed_rows(family, TASKS, shuffled, 0)
    assert rows.sum() == 50 and set(shuffled["key"][again]) == set(table["key"][rows])
    assert (changed_rows(family, TASKS, table, 1) != rows).any()


def test_sweeps_take_speakers_in_turn(table):
    for count, speakers in ((12, [3, 3, 3, 3]), (100, [10, 10, 10, 70])):
        rows = swept_rows(limited(sweep_segments=count), TASKS, table, ["speaker"], 0)
        assert table["speaker"][rows].value_counts().sort_index().tolist() == speakers
    assert swept_rows(limited(sweep_segments=999), TASKS, table, ["no such column"], 0).all()


def test_labels_count_only_where_the_family_needs_them(table):
    first = np.arange(300) < 6
    labelled = table.assign(arousal=np.where(first, 0.5, np.nan))
    assert changed_rows(NOISE, TASKS[:1], labelled, 0).all()
    needy = dataclasses.replace(NOISE, label=True)
    assert changed_rows(needy, TASKS[:1], labelled, 0).tolist() == first.tolist()
    spoken = table.assign(transcript=np.where(first, "yes", None))
    assert changed_rows(NOISE, RECOGNISER, spoken, 0).sum() == 6  # transcripts are of use
    assert changed_rows(NOISE, RECOGNISER, table, 0).all()


@pytest.fixture(scope="module")
def people():
    """Accents of 200, 60, 49 and 1 segments, of ten speakers each but the last; two sexes."""
    table = pd.DataFrame({"accent": np.repeat(["welsh", "irish", "scottish", "manx"], [200, 60, 49, 1])})
    table = table.assign(sex=["male", *["female"] * 4] * 62, key=[f"k{n}" for n in table.index])
    return table.assign(speaker=[f"{accent}{n % 10}" for n, accent in table["accent"].items()])


def transformed(table, **options):
    return swept_rows(limited(FAIRNESS, **options), RECOGNISER, table, ["speaker"], 0)


def test_every_group_gets_as_many_segments_as_it_needs(people):
    rows = transformed(people)
    counts = people["accent"][rows].value_counts()
    assert counts["welsh"] >= 50 and counts["irish"] >= 50 and people["sex"][rows].value_counts().min() >= 50
    assert rows.sum() == 50 + 50 + 30  # every fifth of both accents is a man: 30 men more
    assert counts.get("scottish", 0) < 49  # nobody judges them
    assert people["speaker"][rows & people["accent"].eq("irish")].value_counts().between(5, 6).all()
    assert transformed(people, groups=[]).sum() == 80
    shuffled = people.sample(frac=1, random_state=0, ignore_index=True)
    assert set(shuffled["key"][transformed(shuffled)]) == set(people["key"][rows])
    # Of one column alone exactly what it needs; fewer are shared among groups that may be judged.
    for options, count in (({}, 50), ({"sweep_segments": 60}, 30)):
        rows = transformed(people, groups=["accent"], **options)
        assert people["accent"][rows].value_counts().to_dict() == {"welsh": count, "irish": count}


def test_a_suite_limits_segments(table):
    assert FAIRNESS.limited(Suite(transformed_segments=7)).options["sweep_segments"] == 7
    few = NOISE.limited(Suite(sweeps=False, transformed_segments=7, levels=3))
    assert few.options == NOISE.options and not few.sweeps
    for most, changed, swept in ((30, 30, 30), (10_000, 300, 180)):
        family = NOISE.limited(Suite(segments_per_change=most))
        assert changed_rows(family, TASKS, table, 0).sum() == changed
        assert swept_rows(family, TASKS, table, ["speaker"], 0).sum() == swept


def test_a_suite_limits_levels_and_names_transformations():
    assert FAIRNESS.limited(Suite(levels=6)) == FAIRNESS
    few = FAIRNESS.limited(Suite(levels=2))
    steps = {name: list(series.steps) for name, series in few.transformations.items()}
    assert steps["Noise"] == ["10", "2"]
    assert steps["Scale"] == ["0.9", "0.7"]  # 0.6 and 0.5 are left out of the tests
    # Both families hear the same, so that models are asked once.
    same = read_family("asr_fault_localisation").limited(Suite(levels=2))
    assert {step.identity for step in few.stepped} == {step.identity for step in same.stepped}
    few = FAIRNESS.limited(Suite(transformations={"asr_fairness": ["Noise"], "another": []}))
    assert list(few.transformations) == ["Noise"] and set(few.options["excluded"]) <= {"Noise"}
    named = {"robustness_background_noise": ["White Noise"]}
    few = NOISE.limited(Suite(levels=2, transformations=named))
    assert [*few.series] == ["White Noise"] and len(few.stepped) == 2 and few.changes == NOISE.changes


def test_files_are_drawn_whole_and_changes_grow_within_them():
    family = limited(read_family("correctness_temporal_behaviour"), sweep_segments=80)
    places = [(n, place) for n in range(40) for place in range(6 if n < 30 else 2)]
    cells = [(f"{n:02d}.wav", 10.0 * at, 10.0 * at + 9, f"{n}|{at}", f"s{n % 5}", 0.5) for n, at in places]
    table = pd.DataFrame(cells, columns=["file", "start", "end", "key", "speaker", "arousal"])
    table = table.sample(frac=1, random_state=0, ignore_index=True)
    rows = swept_rows(family, TASKS, table, ["speaker"], 0)
    counts = table["file"][rows].value_counts()
    assert rows.sum() == 80 and (counts == 6).sum() == 13 and counts.min() == 2  # the last one is cut
    assert counts.index.max() < "30.wav"  # files of two segments are not heard
    people = table[rows].drop_duplicates("file")["speaker"].value_counts()
    assert people.max() - people.min() <= 1
    steps = growing_steps(family, table, rows, 4)
    for _, heard in table.assign(step=steps)[rows].sort_values("start").groupby("file"):
        assert heard["step"].tolist() == ([0, 1, 2, 2, 3, 4] if len(heard) == 6 else [-1, -1])
    assert set(steps[~rows]) == {-1}
    assert growing_steps(read_family("robustness_small_changes"), table, rows, 4) is None


def test_segments_that_no_step_changes():
    """Silence under gains stays as it is at all steps; nothing is known of old answers, and of no steps."""
    same = '{"unchanged": true}'
    rows = [(key, change, same) for change in ("", "x", "y") for key in "ab"]
    predictions = pd.DataFrame(rows, columns=["key", "change", "drawn"])
    predictions.loc[[0, 1, 5], "drawn"] = ""  # nothing was changed; b is under y
    about = {"name": "", "title": "", "root": Path(), "blocks": ()}
    view = CorpusView(**about, segments=pd.DataFrame({"key": ["b", "a"]}), predictions=predictions)
    assert view.unchanged("x").all() and not view.unchanged().any()
    assert view.unchanged("x", "y").tolist() == [False, True]
    assert not dataclasses.replace(view, predictions=predictions.drop(columns="drawn")).unchanged("x").any()
    partly = predictions.assign(error="no emotion", transcript=["one", None] * 3)
    view = dataclasses.replace(view, predictions=partly, missing="error")
    assert view.predicted(BUILTIN["transcript"]).tolist() == ["", "one"] and view.lost().sum() == 1  # missed


def paired(*rows, base=""):
    pairs = pairings(pd.DataFrame(rows, columns=["item", "condition", "speaker"]), base)
    rows = {(p.base, p.other): list(zip(*(side.tolist() for side in p.rows), strict=True)) for p in pairs}
    return rows, [note for pairing in pairs for note in pairing.notes]


NEAR = [("1", "near", "a"), ("1", "far", "a"), ("1", "far", "b"), ("2", "far", "a"), ("2", "near", "a")]
NEAR += [("1", "near", "b"), ("3", "near", "b")]
AGAIN = [("1", "x", "a"), ("1", "x", "a"), ("1", "y", "a"), ("2", "x", "a"), ("2", "y", "a")]
UNKNOWN = [("1", "x", None), ("1", "y", None), (None, "x", "a"), (None, "y", "a")]
REPEATED = "2 segments under 'x' repeat an item and are left out"
ALONE = "1 of {} segments under '{}' have no partner under '{}'"


def test_partners_have_the_same_item_and_speaker():
    for rows, pairs, notes in (
        (NEAR, {("near", "far"): [(0, 1), (4, 3), (5, 2)]}, [ALONE.format(4, "near", "far")]),
        (AGAIN, {("x", "y"): [(3, 4)]}, [REPEATED, ALONE.format(2, "y", "x")]),
    ):
        assert paired(*rows) == (pairs, notes)
    assert paired(*UNKNOWN, ("2", None, "a"))[0] == {("x", "y"): [(0, 1)]}


def test_each_condition_is_compared_with_the_base_or_the_most_frequent_one():
    assert paired(*NEAR, base="far")[0] == {("far", "near"): [(1, 0), (2, 5), (3, 4)]}
    rows = [(item, condition, "a") for item in "12" for condition in "xyz"]
    assert list(paired(*rows)[0]) == [("x", "y"), ("x", "z")]
    assert list(paired(*rows, ("9", "z", "a"))[0]) == [("z", "x"), ("z", "y")]
