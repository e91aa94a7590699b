"""Which segments are changed: all of them, a random part of many, and a spread for sweeps."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.evaluation import changed_segments
from soundcheck.suite.thresholds import read_family

TASKS = [BUILTIN["arousal"], BUILTIN["emotion"]]


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "key": [f"file {n}" for n in range(300)],
            "file": [f"file {n}" for n in range(300)],
            "speaker": [f"s{n % 3 if n < 30 else 3}" for n in range(300)],
        }
    )


def family(**options):
    found = read_family("robustness_background_noise")
    return dataclasses.replace(found, options={**found.options, **options})


def test_a_random_part_does_not_depend_on_the_others(table):
    rows = changed_segments.changed_rows(family(segments=50), TASKS, table, 0)
    assert rows.sum() == 50
    shuffled = table.sample(frac=1, random_state=1)
    again = changed_segments.changed_rows(family(segments=50), TASKS, shuffled, 0)
    assert set(shuffled["key"][again]) == set(table["key"][rows])
    assert (changed_segments.changed_rows(family(segments=50), TASKS, table, 1) != rows).any()
    assert changed_segments.changed_rows(family(segments=999), TASKS, table, 0).all()


def test_sweeps_take_speakers_in_turn(table):
    rows = changed_segments.swept_rows(family(sweep_segments=12), TASKS, table, ["speaker"], 0)
    assert table["speaker"][rows].value_counts().to_dict() == {"s0": 3, "s1": 3, "s2": 3, "s3": 3}
    rows = changed_segments.swept_rows(family(sweep_segments=100), TASKS, table, ["speaker"], 0)
    assert table["speaker"][rows].value_counts().to_dict() == {"s0": 10, "s1": 10, "s2": 10, "s3": 70}
    assert changed_segments.swept_rows(family(sweep_segments=999), TASKS, table, ["no such column"], 0).all()


def test_labels_count_only_where_the_family_needs_them(table):
    labelled = table.assign(arousal=np.where(np.arange(300) < 6, 0.5, np.nan))
    assert changed_segments.changed_rows(family(), TASKS[:1], labelled, 0).all()
    rows = changed_segments.swept_rows(family(), TASKS[:1], labelled, ["speaker"], 0)
    assert rows.sum() == 180 and labelled["speaker"][rows].nunique() == 4
    needy = dataclasses.replace(family(), label=True)
    assert changed_segments.changed_rows(needy, TASKS[:1], labelled, 0).tolist() == [True] * 6 + [False] * 294
    spoken = table.assign(transcript=np.where(np.arange(300) < 6, "yes", None))
    recogniser = [BUILTIN["transcript"]]
    assert changed_segments.changed_rows(family(), recogniser, spoken, 0).sum() == 6  # transcripts are of use
    assert changed_segments.changed_rows(family(), recogniser, table, 0).all()


@pytest.mark.parametrize("labelled", [0, 150, 300])
def test_both_families_of_recognisers_change_the_same_segments_alike(labelled):
    fairness, localisation = (read_family(name) for name in ("asr_fairness", "asr_fault_localisation"))
    task = BUILTIN["transcript"]
    table = pd.DataFrame({"key": [f"k{n}" for n in range(300)], "speaker": [f"s{n % 7}" for n in range(300)]})
    table["transcript"] = ["go" if n < labelled else None for n in range(300)]
    first, second = (
        changed_segments.swept_rows(family, [task], table, ["speaker"], 5)
        for family in (fairness, localisation)
    )
    assert np.array_equal(first, second) and first.sum() == 80
    for name, series in localisation.transformations.items():
        for step, change in series.steps.items():
            assert change.identity == fairness.transformations[name].steps[step].identity


@pytest.fixture
def people():
    """Accents of 200, 60, 49 and 1 segments, of ten speakers each but the last; two sexes."""
    accents = np.repeat(["welsh", "irish", "scottish", "manx"], [200, 60, 49, 1])
    table = pd.DataFrame({"accent": accents, "sex": np.where(np.arange(310) % 5, "female", "male")})
    table["key"] = [f"k{n}" for n in range(310)]
    table["speaker"] = [f"{accent}{n % 10}" for n, accent in enumerate(accents)]
    return table


def transformed(table, **options):
    family = read_family("asr_fairness")
    family = dataclasses.replace(family, options=family.options | options)
    return changed_segments.swept_rows(family, [BUILTIN["transcript"]], table, ["speaker"], 0)


def test_every_group_gets_as_many_segments_as_it_needs(people):
    rows = transformed(people)
    counts = people["accent"][rows].value_counts()
    assert counts["welsh"] >= 50 and counts["irish"] >= 50 and people["sex"][rows].value_counts().min() >= 50
    assert rows.sum() <= 50 * 4  # no more than all large groups ask for
    assert "scottish" not in counts or counts["scottish"] < 49  # nobody judges them
    assert people["speaker"][rows & people["accent"].eq("irish")].value_counts().between(5, 6).all()
    # one column alone: exactly what it needs
    alone = transformed(people, groups=["accent"])
    assert people["accent"][alone].value_counts().to_dict() == {"welsh": 50, "irish": 50}
    assert transformed(people, groups=[]).sum() == 80
    order = np.random.default_rng(0).permutation(310)
    shuffled = people.iloc[order].reset_index(drop=True)
    assert set(shuffled["key"][transformed(shuffled)]) == set(people["key"][rows])


@pytest.mark.parametrize("most", [1, 60, 130, 300, 999])
def test_a_number_decides_how_many_are_transformed(people, most):
    rows = transformed(people, groups=["accent"], sweep_segments=most)
    counts = people["accent"][rows].value_counts()
    assert rows.sum() == min(most, 310)
    if most < 100:
        assert set(counts.index) <= {"welsh", "irish"}  # those that may be judged come first
    else:
        assert counts["welsh"] >= 50 and counts["irish"] >= 50


def test_a_suite_limits_what_is_transformed():
    fairness, noise = read_family("asr_fairness"), read_family("robustness_background_noise")
    assert fairness.limited(True, 7).options["sweep_segments"] == 7
    assert fairness.limited(True, None).options == fairness.options
    assert noise.limited(False, 7).options == noise.options and not noise.limited(False, 7).sweeps


def test_a_suite_limits_how_many_levels_there_are():
    fairness, faults = read_family("asr_fairness"), read_family("asr_fault_localisation")
    noise = read_family("robustness_background_noise")
    few = fairness.limited(True, None, levels=2)
    steps = {name: list(series.steps) for name, series in few.transformations.items()}
    assert steps["Noise"] == ["10", "2"] and steps["Frame"] == ["10", "50"]
    assert steps["Scale"] == ["0.9", "0.7"]  # 0.6 and 0.5 are left out of the tests
    # Both families hear the same, so that models are asked once.
    same = faults.limited(True, None, levels=2)
    assert {step.identity for step in few.stepped} == {step.identity for step in same.stepped}
    assert fairness.limited(True, None, levels=6) == fairness
    sweeps = noise.limited(True, None, levels=3).sweeps
    for name, series in sweeps.items():
        steps = list(noise.sweeps[name].steps)
        assert [*series.steps][0] == steps[0] and [*series.steps][-1] == steps[-1] and len(series.steps) <= 3
    assert noise.limited(True, None, levels=3).changes == noise.changes
    assert not noise.limited(False, None, levels=3).sweeps


def test_a_suite_limits_what_is_heard_under_each_change(table):
    noise = read_family("robustness_background_noise")
    few, many = noise.limited(True, None, 30), noise.limited(True, None, 10_000)
    changed = changed_segments.changed_rows(few, TASKS, table, 0)
    assert changed.sum() == 30
    drawn = changed_segments.changed_rows(family(segments=30), TASKS, table, 0)
    assert changed.tolist() == drawn.tolist()
    assert changed_segments.swept_rows(few, TASKS, table, ["speaker"], 0).sum() == 30
    for unlimited in (noise, many):
        assert changed_segments.changed_rows(unlimited, TASKS, table, 0).all()
        assert changed_segments.swept_rows(unlimited, TASKS, table, ["speaker"], 0).sum() == 180
    assert noise.limited(True, None).options == noise.options


def test_files_are_drawn_whole_and_changes_grow_within_them():
    family = read_family("correctness_temporal_behaviour")
    family = dataclasses.replace(family, options=family.options | {"sweep_segments": 80})
    places = [(n, place) for n in range(40) for place in range(6 if n < 30 else 2)]
    cells = [(f"{n:02d}.wav", 10.0 * at, 10.0 * at + 9, f"{n}|{at}", f"s{n % 5}", 0.5) for n, at in places]
    table = pd.DataFrame(cells, columns=["file", "start", "end", "key", "speaker", "arousal"])
    table = table.sample(frac=1, random_state=0, ignore_index=True)
    rows = changed_segments.swept_rows(family, TASKS, table, ["speaker"], 0)
    counts = table["file"][rows].value_counts()
    assert rows.sum() == 80 and (counts == 6).sum() == 13 and counts.min() == 2  # the last one is cut
    assert counts.index.max() < "30.wav"  # files of two segments are not heard
    people = table[rows].drop_duplicates("file")["speaker"].value_counts()
    assert people.max() - people.min() <= 1
    steps = changed_segments.growing_steps(family, table, rows, 4)
    for _, own in table.assign(step=steps)[rows].groupby("file"):
        wanted = [0, 1, 2, 2, 3, 4] if len(own) == 6 else [-1, -1]
        assert own.sort_values("start")["step"].tolist() == wanted
    assert set(steps[~rows]) == {-1}
    assert changed_segments.growing_steps(read_family("robustness_small_changes"), table, rows, 4) is None
    # Two people in a file, and others in the next one: files stay whole all the same.
    turns = np.where(table["key"].str[-1].isin(["0", "2", "4"]), 3, 5)
    talks = table.assign(speaker=table["file"].str[:2].astype(int) * turns % 7)
    heard = talks["file"][changed_segments.swept_rows(family, TASKS, talks, ["speaker"], 0)].value_counts()
    assert (heard == 6).sum() == 13 and heard.sum() == 80


def test_a_suite_names_the_transformations_and_sweeps_of_a_family():
    fairness, noise = read_family("asr_fairness"), read_family("robustness_background_noise")
    few = fairness.limited(True, None, transformations={"asr_fairness": ["Noise"], "another": []})
    assert list(few.transformations) == ["Noise"] and set(few.options["excluded"]) <= {"Noise"}
    assert fairness.limited(True, None, transformations={"another": ["Noise"]}) == fairness
    named = {"robustness_background_noise": ["White Noise"]}
    few = noise.limited(True, None, levels=2, transformations=named)
    assert [*noise.sweeps] == ["Babble Noise", "White Noise"] and [*few.series] == ["White Noise"]
    assert len(few.stepped) == 2 and few.changes == noise.changes
    assert not noise.limited(False, None, transformations=named).series


def test_segments_that_no_step_changes():
    """Silence under gains stays as it is at all steps; nothing is known of old answers, and of no steps."""
    same = '{"unchanged": true}'
    rows = [
        ("a", "", ""),
        ("b", "", ""),
        ("a", "x", same),
        ("b", "x", same),
        ("a", "y", same),
        ("b", "y", ""),
    ]
    predictions = pd.DataFrame(rows, columns=["key", "change", "drawn"])
    segments = pd.DataFrame({"key": ["b", "a"]})
    about = dict.fromkeys(("name", "title", "base_condition", "probes_of"), "")
    about |= {"synthetic": False, "root": Path(), "blocks": ()}
    view = CorpusView(**about, segments=segments, predictions=predictions)
    assert view.unchanged("x").tolist() == [True, True]
    assert view.unchanged("x", "y").tolist() == [False, True]
    assert view.unchanged().tolist() == [False, False]
    old = dataclasses.replace(view, predictions=predictions.drop(columns="drawn"))
    assert old.unchanged("x").tolist() == [False, False]


# Recordings of the same words under different conditions


def paired(*rows, base=""):
    """Give the pairs of each two conditions, and the notes."""
    frame = pd.DataFrame(rows, columns=["item", "condition", "speaker"])
    found = changed_segments.pairings(frame, base)
    rows = {(p.base, p.other): list(zip(*(own.tolist() for own in p.rows), strict=True)) for p in found}
    return rows, [note for pairing in found for note in pairing.notes]


def test_partners_have_the_same_item_and_speaker():
    rows = [("1", "near", "a"), ("1", "far", "a"), ("1", "far", "b"), ("2", "far", "a"), ("2", "near", "a")]
    rows += [("1", "near", "b"), ("3", "near", "b")]
    assert paired(*rows) == (
        {("near", "far"): [(0, 1), (4, 3), (5, 2)]},
        ["1 of 4 segments under 'near' have no partner under 'far'"],
    )
    assert paired(*rows, base="far")[0] == {("far", "near"): [(1, 0), (2, 5), (3, 4)]}


def test_each_condition_is_compared_with_the_most_frequent_one():
    rows = [(item, condition, "a") for item in "12" for condition in ("x", "y", "z")]
    assert list(paired(*rows)[0]) == [("x", "y"), ("x", "z")]
    assert list(paired(*rows, ("9", "z", "a"))[0]) == [("z", "x"), ("z", "y")]


def test_repeated_and_missing_items():
    rows = [("1", "x", "a"), ("1", "x", "a"), ("1", "y", "a"), ("2", "x", "a"), ("2", "y", "a")]
    assert paired(*rows) == (
        {("x", "y"): [(3, 4)]},
        [
            "2 segments under 'x' repeat an item and are left out",
            "1 of 2 segments under 'y' have no partner under 'x'",
        ],
    )
    unknown = [("1", "x", None), ("1", "y", None), (None, "x", "a"), (None, "y", "a"), ("2", None, "a")]
    assert paired(*unknown)[0] == {("x", "y"): [(0, 1)]}
    assert paired((None, None, "a"))[0] == paired(("1", "x", "a"))[0] == {}
