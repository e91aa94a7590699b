"""Families of values and classes, built in and of a suite's own, through the command, against formulas."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from runs import Run, expectations, run, sound, write
from scipy import stats
from scipy.spatial import distance
from sklearn import metrics

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.results import states
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FOUR = BUILTIN["emotion"].classes
OTHERS = ("boredom", "fear", "surprise", "disgust")
SEVEN = ("anger", "boredom", "disgust", "fear", "happiness", "neutral", "sadness")
DIMENSIONS = ("arousal", "valence")
BUILT_IN = [BUILTIN[name] for name in (*DIMENSIONS, "emotion")]
TASKS = (
    Task("feeling", "classification", SEVEN),
    Task("intensity", "regression", low=1, high=7),
    BUILTIN["arousal"],
)
LABELLED = """
correctness_classification correctness_regression correctness_consistency correctness_distribution
correctness_speaker_average correctness_speaker_ranking
fairness_accent fairness_language fairness_linguistic_sentiment fairness_pitch fairness_sex
""".split()
OF_CALLS = [
    name
    for name in LABELLED
    if name not in ("fairness_linguistic_sentiment", "fairness_pitch", "fairness_sex")
]
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
  db: {{format: csv, path: db.csv, families: [{", ".join(LABELLED)}]}}
  odd: {{format: csv, path: odd.csv, families: [{", ".join(LABELLED)}]}}
  calls:
    {{format: csv, path: calls.csv, columns: {{feeling: emotion}}, range: {{arousal: [1, 7]}},
    families: [{", ".join(OF_CALLS)}]}}
models:
  four: {{predictions: four.csv, tasks: [arousal, valence, emotion], corpora: [db]}}
  odd: {{predictions: strange.csv, tasks: [arousal, dominance, valence, emotion], corpora: [odd]}}
  seven: {{predictions: seven.csv, tasks: [feeling, intensity, arousal], corpora: [calls], range: [1, 7]}}
  other: {{predictions: other.csv, tasks: [feeling], corpora: [calls], families: [{LABELLED[0]}]}}
  guess: {{random: gaussian, corpora: [calls], families: [correctness_regression]}}
comparisons:
  new: {{baseline: other, candidate: seven}}
families: [{", ".join(LABELLED)}]
tests:
  correctness_classification:
    Recall Per Class: {{threshold: {{feeling: 0.4}}, why: agreed}}
  fairness_accent:
    Relative Difference Per Class: {{matters: 0.1, why: what users notice}}
"""


def segments(folder, speakers, seconds, emotions, of):
    """Segments one after the other in a file each speaker: a tone of one of three pitches."""
    rows = []
    for s in range(speakers):
        for n, emotion in enumerate(own := emotions()):
            when = {"file": f"{folder.name}/{s:02d}.wav", "start": seconds * n, "end": seconds * (n + 1)}
            about = {"speaker": f"s{s:02d}", "sex": ("female", "male")[s % 2], **of(s)}
            sentiment = ("negative", "neutral", "positive")[n % 3]
            rows.append({**when, **about, "sentiment": sentiment, "emotion": str(emotion)})
        time = np.arange(round(len(own) * seconds * 16000)) / 16000
        tone = sum(np.sin(2 * np.pi * (110.0, 165.0, 230.0)[s % 3] * k * time) / k for k in range(1, 6))
        sound(folder / f"{s:02d}.wav", 0.1 * tone)
    return pd.DataFrame(rows)


def guessed(rng, truth, classes, share):
    """Predict classes that are right so often, and others otherwise."""
    guess = np.array(classes, dtype=object)[rng.integers(len(classes), size=len(truth))]
    return np.where(truth.isin(classes) & (rng.random(len(truth)) < share), truth, guess)


def known_of(table):
    return table[[name for name in table if not name.startswith("predicted")]]


def predictions_of(table, *tasks):
    return table[["file", "start", "end"]].assign(**{task: table[f"predicted {task}"] for task in tasks})


def four_emotions(folder):
    """Twenty-four speakers with 40 segments each: labels and predictions of built-in tasks."""
    rng = np.random.default_rng(0)
    languages = np.repeat(["deu", "eng", "zho", "dan"], [4, 10, 6, 4])
    table = segments(
        folder / "db",
        24,
        0.4,
        lambda: rng.permutation([*np.repeat(FOUR, 8), *OTHERS, *rng.choice(FOUR, 4)]),
        lambda s: {"accent": ("indian", "irish", "kenyan")[s // 10], "language": languages[s]},
    )
    habit = rng.normal(0, 0.1, 24)[table["speaker"].str[1:].astype(int)]
    for dimension in DIMENSIONS:
        table[dimension] = np.clip(rng.beta(2, 2, len(table)) + habit, 0, 1).round(4)
        noise = rng.normal(0, 0.1, len(table)) + 0.05 * table["accent"].eq("irish")
        table[f"predicted {dimension}"] = np.clip(table[dimension] + noise, 0, 1).round(4)
    table["predicted emotion"] = guessed(rng, table["emotion"], FOUR, 0.6)
    write(folder, {"db.csv": known_of(table), "four.csv": predictions_of(table, *DIMENSIONS, "emotion")})
    return table


def seven_emotions(folder):
    """Twenty speakers with eight or more segments of each of seven classes, labels from 1 to 7."""
    rng = np.random.default_rng(5)
    table = segments(
        folder / "calls",
        20,
        0.25,
        lambda: rng.permutation([*np.repeat(SEVEN, 8), *rng.choice(SEVEN, 4)]),
        lambda s: {"accent": ("indian", "irish")[s // 10], "language": ("en", "de")[s // 2 % 2]},
    )
    habit = rng.normal(0, 0.5, 20)[table["speaker"].str[1:].astype(int)]
    for name in ("intensity", "arousal"):
        table[name] = np.clip(1 + 6 * rng.beta(2, 2, len(table)) + habit, 1, 7).round(2)
        table[f"predicted {name}"] = np.clip(table[name] + rng.normal(0, 0.8, len(table)), 1, 7).round(2)
    table["predicted feeling"] = guessed(rng, table["emotion"], SEVEN, 0.5)
    table.loc[[3, 70, 500], "emotion"] = ""  # no label
    table.loc[[10, 900], "predicted feeling"] = "calm"  # no class of the task
    worse = table["predicted feeling"].where(np.arange(len(table)) % 3 > 0, "neutral")
    predictions = {
        "seven.csv": predictions_of(table, "feeling", "intensity", "arousal"),
        "other.csv": predictions_of(table.assign(**{"predicted feeling": worse}), "feeling"),
    }
    write(folder, {"calls.csv": known_of(table)} | predictions)
    return table


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
    answers = table[["file"]].assign(arousal=rng.random(40).round(3), dominance=0.5, valence=0.4)
    answers["emotion"] = ["sadness"] * 3 + ["neutral"] * 37
    write(folder, {"odd.csv": table, "strange.csv": answers})


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    """The run of the suite, and the segments of both large corpora."""
    folder = tmp_path_factory.mktemp("values")
    four, seven = four_emotions(folder), seven_emotions(folder)
    odd_segments(folder)
    found = run(undrawn, write(folder, {"suite.yml": SUITE}))
    found.four, found.seven = four, seven
    return found


def test_every_family_that_fits_computes_every_task(whole):
    own = whole.rows(model="seven").dropna(subset="value")
    for family, task in itertools.product(map(read_family, OF_CALLS), TASKS):
        tests = set(own.loc[own["family"].eq(family.name) & own["task"].eq(task.name), "test"])
        expected = {test.name for test in family.tests.values() if test.fits(task)}
        assert tests == (expected if family.applies_to(task) else set()), family.name
    computed = whole.rows(model="four").dropna(subset="value")
    for family, task in itertools.product(map(read_family, LABELLED), BUILT_IN):
        both = computed["family"].eq(family.name) & computed["task"].eq(task.name)
        assert both.any() == family.applies_to(task), (family.name, task.name)
    assert not whole.results["skipped"].str.contains("error|not computed").any()


def test_segments_stand_behind_every_number(whole):
    """A link of each cell of a confusion table has its list; the worst error comes first."""
    html = whole.shown("four", "correctness_classification")
    assert set(re.findall('href="#([^"]+)"', html)) == set(re.findall('<p id="([^"]+)"', html)) != set()
    error = (whole.four["predicted arousal"] - whole.four["arousal"]).abs()
    worst, html = whole.four.loc[error.idxmax()], whole.shown("four", "correctness_regression")
    listed = html.partition(f"db, arousal: mean error {error.mean():.3f}</caption>")[2]
    first = listed.partition("<tbody>")[2].partition("</tr>")[0]
    said = f"labelled {worst['arousal']:.2f}; predicted {worst['predicted arousal']:.2f}"
    assert "worst" in first and worst["file"] in first and said in first


# Formulas ---------------------------------------------------------------------------------------------------


def value(whole, model, family, task, test, label="", group=""):
    corpus = {"four": "db", "seven": "calls"}[model]
    found = whole.row(test, label, group, model=model, family=family, task=task, corpus=corpus)
    return pytest.approx(found["value"], abs=1e-9)


def test_correctness_of_values(whole):
    own = [("four", d, whole.four, whole.four[d], whole.four[f"predicted {d}"]) for d in DIMENSIONS]
    scaled = ((whole.seven[f"{of}intensity"] - 1) / 6 for of in ("", "predicted "))
    for model, task, table, truth, predicted in [*own, ("seven", "intensity", whole.seven, *scaled)]:
        bias, both = (truth.mean() - predicted.mean()) ** 2, np.cov(truth, predicted, bias=True)
        tenths = [np.clip(np.ceil(values * 10 - 1e-8), 1, 10).astype(int) for values in (truth, predicted)]
        shares = [np.bincount(values, minlength=11) for values in tenths]
        means = [each.groupby(table["speaker"]).mean() for each in (truth, predicted)]
        for family, test, expected in (
            ("regression", "Concordance Correlation Coeff", 2 * both[0, 1] / (both.trace() + bias)),
            ("regression", "Mean Absolute Error", (truth - predicted).abs().mean()),
            ("distribution", "Jensen Shannon Distance", distance.jensenshannon(*shares, base=2)),
            ("speaker_average", "Mean Absolute Error", (means[0] - means[1]).abs().mean()),
            ("speaker_ranking", "Spearmans Rho", stats.spearmanr(*means).statistic),
        ):
            assert value(whole, model, f"correctness_{family}", task, test) == expected, (task, test)


def test_correctness_of_classes(whole):
    classification, distribution = "correctness_classification", "correctness_distribution"
    labelled = whole.seven[whole.seven["emotion"].ne("")]
    own = [("four", "emotion", FOUR, whole.four[whole.four["emotion"].isin(FOUR)])]
    for model, task, classes, table in [*own, ("seven", "feeling", SEVEN, labelled)]:
        truth, predicted = table["emotion"], table[f"predicted {task}"]
        recall = metrics.recall_score(truth, predicted, labels=[*classes], average="macro", zero_division=0)
        assert value(whole, model, classification, task, "Unweighted Average Recall") == recall
        for label in classes:
            said, meant = predicted.eq(label), truth.eq(label)
            assert value(whole, model, classification, task, "Recall Per Class", label) == said[meant].mean()
            share = value(whole, model, distribution, task, "Relative Difference Per Class", label)
            assert share == said.mean() - meant.mean()
    counts = whole.rows(model="seven", family=classification, test="Recall Per Class")["segments"]
    assert counts.sum() == len(labelled) == 1197


def test_consistency_against_counting(whole):
    for task, kind, category, low, high in (
        ("arousal", "Low", "boredom", -9, 0.45),
        ("arousal", "High", "surprise", 0.55, 9),
        ("valence", "Neutral", "boredom", 0.3, 0.6),
    ):
        own = whole.four.loc[whole.four["emotion"].eq(category), f"predicted {task}"]
        test = f"Samples In Expected {kind} Range"
        share = value(whole, "four", "correctness_consistency", task, test, category)
        assert share == own.between(low, high).mean()


@pytest.mark.parametrize(
    ("column", "names"),  # four Kenyans are too few, and so is Danish
    [
        ("accent", {"indian": "indian", "irish": "irish"}),
        ("language", {"deu": "de", "eng": "en", "zho": "zh"}),
    ],
)
def test_groups_against_their_average(whole, column, names):
    everybody = whole.four[whole.four[column].isin(names)]
    cells = [("emotion", "Class", label, everybody["predicted emotion"].eq(label)) for label in FOUR]
    for task in DIMENSIONS:
        predicted = everybody[f"predicted {task}"]
        middle = predicted.between(0.25, 0.5, inclusive="right")
        cells += [(task, "", "", predicted), (task, "Bin", "(0.25, 0.5]", middle)]
    for task, kind, label, values in cells:
        means = values.groupby(everybody[column]).mean()
        test = f"Relative Difference Per {kind}" if kind else "Mean Value"
        for code, name in names.items():
            found = value(whole, "four", f"fairness_{column}", task, test, label, f"{column}: {name}")
            assert found == means[code] - means.mean(), (task, label, name)


# What cannot be tested, and what a suite has to say for it --------------------------------------------------


def test_what_cannot_be_tested_says_why(whole):
    for cells, why in expectations("values", "among"):
        own = whole.rows(model="odd", **cells)["skipped"]
        assert own.str.contains(why, regex=False).any(), own.unique()


def test_thresholds_for_four_classes_judge_no_seven(whole, undrawn):
    shown = whole.rows(model="seven", evidence="shown")
    assert shown[["state", "state_sample"]].eq(states.REPORTED).all(axis=None)
    assert shown["passed"].isna().all() and shown["value"].notna().all() and set(shown["task"]) == {"feeling"}
    assert shown[["p_value", "threshold", "certainty", "matters"]].isna().all(axis=None)
    of_classes = {
        (name, test.name) for name in OF_CALLS for test in read_family(name).tests.values() if test.classes
    }
    # The suite sets one; right and wrong predictions are compared with the same predictions given at random.
    judged = {one for one in of_classes if one[0] == "correctness_classification"}
    judged |= {("fairness_accent", "Relative Difference Per Class")}
    assert len(judged) > 3
    assert set(zip(shown["family"], shown["test"], strict=True)) == of_classes - judged
    shared = "no threshold for feeling: shown without verdict; the one for classification is for 4 classes"
    assert shown["skipped"].eq(f"{shared}, not 7").all()
    row = whole.row("Recall Per Class", "fear", model="seven", family="correctness_classification")
    assert (row["threshold"], row["skipped"]) == (0.4, "set in this suite: 0.4 (agreed)")
    # The terminal, the gate, JUnit and the comparison say it, too.
    count = int(states.counted(whole.rows(model="seven"))["state"].eq(states.REPORTED).sum())
    assert count > 8 and re.search(rf"^seven: .*, {count} reported$", whole.done.stdout, re.MULTILINE)
    assert f", {count} reported" in undrawn("check", "out", "--model", "seven", cwd=whole.out.parent).stdout
    cases = {c.get("name"): c for c in ElementTree.parse(whole.out / "junit.xml").iter("testcase")}
    (case,) = cases["feeling / Class Proportion Mean Absolute Error / fear"]
    assert case.tag == "skipped" and "no threshold for feeling" in case.get("message")
    comparison = pd.read_csv(whole.out / "comparisons.csv")
    recall = comparison[comparison["test"].eq("Unweighted Average Recall")].iloc[0]
    assert recall["outcome"] == "better" and recall["skipped"].startswith("thresholds differ: ")


def test_nothing_is_dropped_silently(whole):
    for page in expectations("values", "pages"):
        assert whole.lacks(page, "values") == []
    left_out = pd.read_csv(whole.out / "left_out.csv")
    assert {"sex 'alien'", "label 'contempt'"} <= set(left_out["item"])
    said = whole.done.stdout
    assert "seven: classes that the task does not have, counted as wrong: calm (2)" in said
    assert {"arousal", "intensity"} <= set(whole.rows(model="guess")["task"])
