"""Families of values and classes, built in and of a suite's own, through the command, against formulas."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from runs import Run, expectations, inside, run, sound, write
from scipy import stats
from scipy.spatial import distance
from sklearn import metrics

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.results import states
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FOUR = BUILTIN["emotion"].classes
SEVEN = ("anger", "boredom", "disgust", "fear", "happiness", "neutral", "sadness")
DIMENSIONS = ("arousal", "valence")
TASKS = (
    *(BUILTIN[name] for name in (*DIMENSIONS, "emotion")),
    Task("feeling", "classification", SEVEN),
    Task("intensity", "regression", low=1, high=7),
)
CORRECTNESS = "classification regression consistency distribution speaker_average speaker_ranking".split()
CORRECTNESS = [f"correctness_{name}" for name in CORRECTNESS]
OF_ALL_TESTS = (*CORRECTNESS, "fairness_accent", "fairness_language")
FAIRNESS = (*OF_ALL_TESTS[-2:], "fairness_linguistic_sentiment", "fairness_pitch", "fairness_sex")
COMPARED = ("arousal", "emotion", "feeling")  # in groups: one of each kind, and one of the suite's own
SUITE = f"""
title: Values and classes
replicates: 100
interval: t
sweeps: false
studies: false
tasks:
  feeling: {{type: classification, classes: [{", ".join(SEVEN)}]}}
  intensity: {{type: regression, range: [1, 7]}}
corpora:
  db: {{format: csv, path: db.csv, columns: {{feeling: emotion}}, range: {{valence: [1, 7]}}}}
  odd: {{format: csv, path: odd.csv}}
models:
  mine:
    {{predictions: mine.csv, tasks: [{", ".join(task.name for task in TASKS)}],
    families: [{", ".join(CORRECTNESS)}]}}
  grouped:
    {{predictions: mine.csv, tasks: [{", ".join(COMPARED)}], families: [{", ".join(FAIRNESS)}]}}
  other:
    {{predictions: other.csv, tasks: [feeling, arousal], corpora: [db], range: [1, 7],
    families: [correctness_classification, correctness_regression]}}
comparisons:
  new: {{baseline: other, candidate: mine}}
families: [{", ".join((*CORRECTNESS, *FAIRNESS))}]
tests:
  correctness_classification:
    Recall Per Class: {{threshold: {{feeling: 0.4}}, why: agreed}}
  fairness_accent:
    Relative Difference Per Class: {{matters: 0.1, why: what users notice}}
"""


def guessed(rng, truth, classes, share):
    """Predict classes that are right so often, and others otherwise."""
    guess = np.array(classes, dtype=object)[rng.integers(len(classes), size=len(truth))]
    return np.where(truth.isin(classes) & (rng.random(len(truth)) < share), truth, guess)


def many_segments(folder, odd):
    """Twenty-four speakers with eight or more segments of each of seven classes, on a tone of a file each."""
    rng, rows, seconds = np.random.default_rng(0), [], 0.3
    languages = np.repeat(["deu", "eng", "zho", "dan"], [4, 10, 6, 4])
    for s in range(24):
        said = rng.permutation([*np.repeat(SEVEN, 8), *["surprise"] * 2, *rng.choice(SEVEN, 4)])
        about = (f"s{s:02d}", ("female", "male")[s % 2], ("indian", "irish", "kenyan")[s // 10], languages[s])
        for n, emotion in enumerate(said):
            sentiment = ("negative", "neutral", "positive")[n % 3]
            rows.append((f"db/{s:02d}.wav", seconds * n, seconds * (n + 1), *about, sentiment, str(emotion)))
        time = np.arange(round(len(said) * seconds * 16000)) / 16000
        tone = sum(np.sin(2 * np.pi * (110.0, 165.0, 230.0)[s % 3] * k * time) / k for k in range(1, 6))
        sound(folder / f"db/{s:02d}.wav", 0.1 * tone)
    columns = ["file", "start", "end", "speaker", "sex", "accent", "language", "sentiment", "emotion"]
    table = pd.DataFrame(rows, columns=columns)
    habit = rng.normal(0, 0.1, 24)[table["speaker"].str[1:].astype(int)]
    answers = table[["file", "start", "end"]].copy()
    for name in (*DIMENSIONS, "intensity"):
        table[name] = np.clip(rng.beta(2, 2, len(table)) + habit, 0, 1).round(4)
        noise = rng.normal(0, 0.1, len(table)) + 0.05 * table["accent"].eq("irish")
        answers[name] = np.clip(table[name] + noise, 0, 1).round(4)
    answers["emotion"] = guessed(rng, table["emotion"], FOUR, 0.6)
    answers["feeling"] = guessed(rng, table["emotion"], SEVEN, 0.5)
    of_seven = table.index[table["emotion"].isin(SEVEN)]
    answers.loc[of_seven[[10, 900]], "feeling"] = "calm"  # no class of the task
    table.loc[of_seven[[3, 70, 500]], "emotion"] = ""  # no label
    worse = answers["feeling"].where(np.arange(len(table)) % 3 > 0, "neutral")
    other = answers.assign(feeling=worse, arousal=1 + 6 * answers["arousal"])
    files = {
        "db.csv": table.assign(valence=1 + 6 * table["valence"], intensity=1 + 6 * table["intensity"]),
        "mine.csv": pd.concat([answers.assign(intensity=1 + 6 * answers["intensity"]), odd]),
        "other.csv": other[["file", "start", "end", "feeling", "arousal"]],
    }
    write(folder, files)
    return table.join(answers[[task.name for task in TASKS]].add_prefix("predicted "))


def odd_segments(folder):
    """Two speakers, one silent; one accent, a strange sex and language, equal and missing labels."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"file": [f"odd/{n}.wav" for n in range(40)], "accent": "irish", "arousal": 0.5})
    number, first = table.index, table.index < 20
    for n in number:
        sound(folder / f"odd/{n}.wav", np.zeros(8000) if first[n] else rng.normal(0, 0.05, 8000))
    table["speaker"], table["sentiment"] = np.where(first, "s1", "s2"), "negative"
    table["sex"] = np.where(first, "female", np.where(number % 3, "male", "alien"))
    table["language"], table["emotion"] = np.where(number < 30, "xx", "de"), "neutral"
    table["valence"] = rng.random(40).round(3)
    table.loc[number % 2 == 1, "valence"] = np.nan
    table.loc[[0, 1, 20, 22, 23], "emotion"], table.loc[38:, "emotion"] = "sadness", "contempt"
    answers = table[["file"]].assign(arousal=rng.random(40).round(3), valence=0.4, intensity=4)
    answers["feeling"], answers["emotion"] = "fear", ["sadness"] * 3 + ["neutral"] * 37
    write(folder, {"odd.csv": table})
    return answers


@pytest.fixture(scope="module")
def whole(tmp_path_factory, unbuilt) -> Run:
    """The run of the suite, and the segments of its large corpus with labels and predictions from 0 to 1."""
    folder = tmp_path_factory.mktemp("values")
    segments = many_segments(folder, odd_segments(folder))
    finished = run(unbuilt, write(folder, {"suite.yml": SUITE}))
    finished.db = segments
    return finished


def test_every_family_that_fits_computes_every_task(whole):
    computed = whole.rows(corpus="db").query("model != 'other'").dropna(subset="value")
    compared = [task for task in TASKS if task.name in COMPARED]
    every = (*itertools.product(CORRECTNESS, TASKS), *itertools.product(FAIRNESS, compared))
    for family, task in ((read_family(name), task) for name, task in every):
        tests = set(computed.loc[computed["family"].eq(family.name) & computed["task"].eq(task.name), "test"])
        assert bool(tests) == family.applies_to(task), (family.name, task.name)
        if tests and family.name in OF_ALL_TESTS:
            assert tests == {test.name for test in family.tests.values() if test.fits(task)}
    assert not whole.results["skipped"].str.contains("error|not computed").any()


def test_segments_stand_behind_every_number(whole):
    """A link of each cell of a confusion table has its list; the worst error comes first."""
    html = whole.shown("mine", "correctness_classification")
    assert set(re.findall('href="#([^"]+)"', html)) == set(re.findall('<p id="([^"]+)"', html)) != set()
    errors = {name: (whole.db[f"predicted {name}"] - whole.db[name]).abs() for name in DIMENSIONS}
    name = min(DIMENSIONS, key=lambda name: errors[name].mean())  # of the other one the worst is played
    error, html = errors[name], whole.shown("mine", "correctness_regression")
    worst = whole.db.loc[error.idxmax()]
    listed = html.partition(f"db, {name}: mean error {error.mean():.3f}</caption>")[2]
    first = listed.partition("<tbody>")[2].partition("</tr>")[0]
    caption = f"labelled {worst[name]:.2f}; predicted {worst[f'predicted {name}']:.2f}"
    assert "worst" in first and worst["file"] in first and caption in first


# Formulas ---------------------------------------------------------------------------------------------------


def value(whole, family, task, test, label="", group="", model="mine"):
    model = "grouped" if family in FAIRNESS else model
    row = whole.row(test, label, group, model=model, family=family, task=task, corpus="db")
    return pytest.approx(row["value"], abs=1e-9)


def test_correctness_of_values(whole):
    """Whatever the scale of the labels, and of what a model says."""
    for task in (*DIMENSIONS, "intensity"):
        truth, predicted = whole.db[task], whole.db[f"predicted {task}"]
        bias, both = (truth.mean() - predicted.mean()) ** 2, np.cov(truth, predicted, bias=True)
        tenths = [np.clip(np.ceil(values * 10 - 1e-8), 1, 10).astype(int) for values in (truth, predicted)]
        shares = [np.bincount(values, minlength=11) for values in tenths]
        means = [each.groupby(whole.db["speaker"]).mean() for each in (truth, predicted)]
        for family, test, expected in (
            ("regression", "Concordance Correlation Coeff", 2 * both[0, 1] / (both.trace() + bias)),
            ("regression", "Mean Absolute Error", (truth - predicted).abs().mean()),
            ("distribution", "Jensen Shannon Distance", distance.jensenshannon(*shares, base=2)),
            ("speaker_average", "Mean Absolute Error", (means[0] - means[1]).abs().mean()),
            ("speaker_ranking", "Spearmans Rho", stats.spearmanr(*means).statistic),
        ):
            assert value(whole, f"correctness_{family}", task, test) == expected, (task, test)
    of = (whole, "correctness_regression", "arousal", "Mean Absolute Error")
    assert value(*of, model="other") == value(*of).expected


def test_correctness_of_classes(whole):
    classification, distribution = "correctness_classification", "correctness_distribution"
    for task, classes in (("emotion", FOUR), ("feeling", SEVEN)):
        labelled = whole.db[whole.db["emotion"].isin(classes)]
        truth, predicted = labelled["emotion"], labelled[f"predicted {task}"]
        recall = metrics.recall_score(truth, predicted, labels=[*classes], average="macro", zero_division=0)
        assert value(whole, classification, task, "Unweighted Average Recall") == recall
        for label in classes:
            named, meant = predicted.eq(label), truth.eq(label)
            assert value(whole, classification, task, "Recall Per Class", label) == named[meant].mean()
            share = value(whole, distribution, task, "Relative Difference Per Class", label)
            assert share == named.mean() - meant.mean()
        of = {"model": "mine", "corpus": "db", "family": classification, "task": task}
        assert whole.rows(test="Recall Per Class", **of)["segments"].sum() == len(labelled)


def test_consistency_against_counting(whole):
    for task, kind, category, low, high in (
        ("arousal", "Low", "boredom", -9, 0.45),
        ("arousal", "High", "surprise", 0.55, 9),
        ("valence", "Neutral", "boredom", 0.3, 0.6),
    ):
        answers = whole.db.loc[whole.db["emotion"].eq(category), f"predicted {task}"]
        test = f"Samples In Expected {kind} Range"
        share = value(whole, "correctness_consistency", task, test, category)
        assert share == answers.between(low, high).mean()


@pytest.mark.parametrize(
    ("column", "names"),  # four Kenyans are too few, and so is Danish
    [
        ("accent", {"indian": "indian", "irish": "irish"}),
        ("language", {"deu": "de", "eng": "en", "zho": "zh"}),
    ],
)
def test_groups_against_their_average(whole, column, names):
    everybody = whole.db[whole.db[column].isin(names)]
    cells = [("emotion", "Class", label, everybody["predicted emotion"].eq(label)) for label in FOUR]
    predicted = everybody["predicted arousal"]
    middle = predicted.between(0.25, 0.5, inclusive="right")
    cells += [("arousal", "", "", predicted), ("arousal", "Bin", "(0.25, 0.5]", middle)]
    for task, kind, label, values in cells:
        means = values.groupby(everybody[column]).mean()
        test = f"Relative Difference Per {kind}" if kind else "Mean Value"
        for code, name in names.items():
            difference = value(whole, f"fairness_{column}", task, test, label, f"{column}: {name}")
            assert difference == means[code] - means.mean(), (task, label, name)


# What cannot be tested, and what a suite has to say for it --------------------------------------------------


def test_what_cannot_be_tested_says_why(whole):
    for cells, why in expectations("values", "among"):
        reasons = whole.rows(corpus="odd", **cells)["skipped"]
        assert reasons.str.contains(why, regex=False).any(), reasons.unique()


def test_thresholds_for_four_classes_judge_no_seven(whole):
    rows = whole.rows(corpus="db", evidence="shown").query("model != 'other'")
    rows = rows[rows["family"].isin(OF_ALL_TESTS)]
    assert rows[["state", "state_sample"]].eq(states.REPORTED).all(axis=None)
    assert rows["passed"].isna().all() and rows["value"].notna().all() and set(rows["task"]) == {"feeling"}
    assert rows[["p_value", "threshold", "certainty", "matters"]].isna().all(axis=None)
    tests = ((name, test) for name in OF_ALL_TESTS for test in read_family(name).tests.values())
    of_classes = {(name, test.name) for name, test in tests if test.classes}
    # The suite sets one; right and wrong predictions are compared with the same predictions given at random.
    judged = {(name, test) for name, test in of_classes if name == "correctness_classification"}
    judged |= {("fairness_accent", "Relative Difference Per Class")}
    assert len(judged) > 3
    assert set(zip(rows["family"], rows["test"], strict=True)) == of_classes - judged
    assert rows["skipped"].str.startswith("no threshold for feeling: shown without verdict; ").all()
    assert rows["skipped"].str.endswith("the one for classification is for 4 classes, not 7").all()
    row = whole.row("Recall Per Class", "fear", model="mine", family="correctness_classification")
    assert (row["threshold"], row["skipped"]) == (0.4, "set in this suite: 0.4 (agreed)")
    # The terminal, the gate, JUnit and the comparison say it, too.
    count = int(states.counted(whole.rows(model="mine"))["state"].eq(states.REPORTED).sum())
    assert count > 8 and re.search(rf"^mine: .*, {count} reported$", whole.done.stdout, re.MULTILINE)
    assert f", {count} reported" in inside("check", "out", "--model", "mine", cwd=whole.out.parent).stdout
    cases = {c.get("name"): c for c in ElementTree.parse(whole.out / "junit.xml").iter("testcase")}
    (case,) = cases["feeling / Class Proportion Mean Absolute Error / fear"]
    assert case.tag == "skipped" and "no threshold for feeling" in case.get("message")
    comparison = pd.read_csv(whole.out / "comparisons.csv")
    recall = comparison[comparison["test"].eq("Unweighted Average Recall") & comparison["task"].eq("feeling")]
    assert recall["outcome"].item() == "better" and "thresholds differ: " in recall["skipped"].item()


def test_nothing_is_dropped_silently(whole):
    for page in expectations("values", "pages"):
        assert whole.lacks(page, "values") == []
    left_out = pd.read_csv(whole.out / "left_out.csv")
    assert {"sex 'alien'", "label 'contempt'"} <= set(left_out["item"])
    summary = whole.done.stdout
    assert "mine: classes that the task does not have, counted as wrong: calm (2)" in summary
