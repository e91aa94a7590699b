"""A suite's own thresholds and accepted failures: read as written, or every problem told with its remedy."""

import datetime

import pytest

from soundcheck.common import resources
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.margins import Margin
from soundcheck.suite.own_rules import AcceptedFailure, OwnTest, with_own_tests
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

AROUSAL, VALENCE, EMOTION = (BUILTIN[name] for name in ("arousal", "valence", "emotion"))
HEAD = """\
corpora:
  demo: {format: demo}
models:
  guess: {random: gaussian}
families: [fairness_sex]
"""
TESTS = HEAD + "tests:\n"
ACCEPTED = HEAD + "accepted:\n"


@pytest.fixture
def suite(tmp_path):
    def read(text):
        (tmp_path / "suite.yml").write_text(text)
        return read_suite(tmp_path / "suite.yml")

    return read


def test_nothing_by_default(suite):
    read = suite(HEAD)
    assert (read.tests, read.accepted, read.matters_worse) == ({}, (), 0.01)


def test_thresholds_of_a_suite(suite):
    read = suite(
        TESTS + "  fairness_sex:\n"
        "    Recall Per Bin: {threshold: 0.15, why: agreed}\n"
        "    Concordance Correlation Coeff: {threshold: {valence: 0.2}, matters: 0.3, why: few speakers}\n"
        "    Recall Per Class: false\n"
        "    Precision Per Class: {run: false, why: not of interest}\n"
    )
    found = read.tests["fairness_sex"]
    assert found["Recall Per Bin"] == OwnTest(
        dict.fromkeys(read_family("fairness_sex").tests["Recall Per Bin"].thresholds, 0.15), None, "agreed"
    )
    assert found["Concordance Correlation Coeff"] == OwnTest(
        {"valence": 0.2}, Margin(0.3, None), "few speakers"
    )
    assert found["Recall Per Class"] == OwnTest(run=False)
    assert found["Precision Per Class"] == OwnTest(run=False, why="not of interest")
    assert read.describe()["tests"]["fairness_sex"]["Recall Per Bin"]["why"] == "agreed"


def test_a_family_with_thresholds_of_the_suite():
    shipped = read_family("fairness_sex")
    family = with_own_tests(
        shipped,
        {
            "Recall Per Bin": OwnTest({"arousal": 0.15}, None, "agreed"),
            "Concordance Correlation Coeff": OwnTest({}, Margin(0.3, None), "few"),
            "Recall Per Class": OwnTest(run=False, why="noise"),
        },
    )
    mean, shipped_mean = family.tests["Recall Per Bin"], shipped.tests["Recall Per Bin"]
    before = shipped_mean.thresholds["regression"]
    assert mean.threshold_for(AROUSAL) == 0.15 and mean.is_own(AROUSAL)
    assert mean.change_for(AROUSAL) == f"changed in this suite: {before:g} → 0.15 (agreed)"
    assert mean.threshold_for(VALENCE) == shipped_mean.threshold_for(VALENCE)
    assert not mean.is_own(VALENCE) and mean.change_for(VALENCE) == "" and mean.change_for(EMOTION) == ""
    ccc = family.tests["Concordance Correlation Coeff"]
    assert ccc.margin == Margin(0.3, None) and not ccc.is_own(AROUSAL)
    assert ccc.change_for(AROUSAL) == "changed in this suite: margin 0.3 (few)"
    assert family.tests["Recall Per Class"].off == "switched off in this suite: noise"
    assert family.of_suite and not shipped.of_suite and shipped.tests["Recall Per Bin"] is shipped_mean


def test_a_task_that_had_no_threshold(suite):
    read = suite(
        HEAD + "tasks: {stress: {type: regression}}\n"
        "tests:\n  fairness_sex:\n    Recall Per Bin: {threshold: {stress: 0.2}, why: ours}\n"
    )
    family = with_own_tests(read_family("fairness_sex"), read.tests["fairness_sex"])
    test = family.tests["Recall Per Bin"]
    assert test.threshold_for(read.tasks["stress"]) == 0.2
    assert test.change_for(read.tasks["stress"]) == "changed in this suite: 0.1 → 0.2 (ours)"
    assert test.change_of("stress") == "set in this suite: 0.2 (ours)"  # beside the row of regression


def test_a_threshold_file_of_the_suite_is_marked_where_it_differs(tmp_path):
    shipped = (resources.root() / "thresholds/correctness_regression.yml").read_text()
    (tmp_path / "thresholds").mkdir()
    own = tmp_path / "thresholds/correctness_regression.yml"
    own.write_text(shipped.replace("threshold: 0.1", "threshold: 0.2"))
    family = read_family("correctness_regression", tmp_path)
    marked = {test.name for test in family.tests.values() if test.change_for(AROUSAL)}
    assert marked == {"Mean Absolute Error"}
    change = family.tests["Mean Absolute Error"].change_for(AROUSAL)
    assert change == "changed in this suite: 0.1 → 0.2 (thresholds/correctness_regression.yml)"
    both = with_own_tests(family, {"Mean Absolute Error": OwnTest({"arousal": 0.3}, None, "agreed")})
    change = both.tests["Mean Absolute Error"].change_for(AROUSAL)
    assert change == "changed in this suite: 0.1 → 0.3 (agreed)"  # against what is shipped
    own.write_text(shipped.replace("arousal: 0.1", "arousal: 0.10"))
    assert not read_family("correctness_regression", tmp_path).of_suite


def test_accepted_failures(suite):
    read = suite(
        ACCEPTED + "  - {model: guess, family: fairness_sex, group: 'sex: female', why: being collected,\n"
        "     until: 2027-03-01}\n"
        "  - {test: Mean Value, label: a, task: arousal, corpus: demo, why: known}\n"
    )
    first, second = read.accepted
    assert first == AcceptedFailure(
        model="guess",
        family="fairness_sex",
        group="sex: female",
        why="being collected",
        until=datetime.date(2027, 3, 1),
    )
    assert first.named == {"model": "guess", "family": "fairness_sex", "group": "sex: female"}
    assert first.reason == "being collected (until 2027-03-01)" and second.reason == "known"
    assert str(second) == "corpus: demo, task: arousal, test: Mean Value, label: a"
    assert not first.past(datetime.date(2027, 3, 1)) and first.past(datetime.date(2027, 3, 2))
    assert not second.past(datetime.date(9999, 1, 1))
    assert read.describe()["accepted"][0]["until"] == "2027-03-01"


SEVEN = Task("feeling", "classification", tuple("abcdefg"))


@pytest.mark.parametrize(
    ("given", "threshold"),
    [
        ("{threshold: {feeling: 0.4}, why: ours}", 0.4),
        ("{threshold: {classification: 0.5}, why: ours}", 0.5),  # the same number, but said for all
        ("{threshold: 0.3, why: ours}", 0.3),
        ("{threshold: {emotion: 0.3}, why: ours}", None),
    ],
)
def test_a_threshold_for_four_classes_becomes_one_for_seven_if_the_suite_says_so(suite, given, threshold):
    name, test = "correctness_classification", "Recall Per Class"
    classes = "tasks: {feeling: {type: classification, classes: [a, b, c, d, e, f, g]}}\n"
    read = suite(f"{HEAD}{classes}tests:\n  {name}:\n    {test}: {given}\n")
    own = with_own_tests(read_family(name), read.tests[name]).tests[test]
    assert own.threshold_for(SEVEN) == threshold and own.fits(SEVEN)
    told = "" if threshold is None else f"set in this suite: {threshold:g} (ours)"
    assert own.change_for(SEVEN) == told


def test_a_gap_that_matters_is_told_where_there_is_no_threshold(suite):
    name, test = "fairness_accent", "Relative Difference Per Class"
    read = suite(f"{HEAD}tests:\n  {name}:\n    {test}: {{matters: 0.1, why: ours}}\n")
    own = with_own_tests(read_family(name), read.tests[name]).tests[test]
    assert own.threshold_for(SEVEN) is None
    assert own.change_for(SEVEN) == "set in this suite: margin 0.1 (ours)"
    assert own.change_for(AROUSAL) == ""  # no test for numbers


@pytest.mark.parametrize(
    ("given", "margin"),
    [
        (None, Margin()),
        ("0.1", Margin(0.1, None)),
        ("{}", Margin()),
        ("{absolute: 0.1}", Margin(0.1)),
        ("{relative: false}", Margin(None, None)),
        ("{absolute: 0.02, relative: 1, floor: 0}", Margin(0.02, 1.0, 0.0)),
    ],
)
def test_the_margin_of_a_suite(suite, given, margin):
    assert suite(HEAD + (f"matters: {given}\n" if given else "")).margin == margin


@pytest.mark.parametrize(
    ("of_suite", "of_test", "margin"),
    [
        ("0.1", "0.02", Margin(0.02, None)),
        (
            "{absolute: 0.1}",
            "{relative: 0.5}",
            Margin(0.1, 0.5),
        ),  # what the test does not name is the suite's
        ("0.1", "{relative: 0.5}", Margin(0.1, 0.5)),
        ("{relative: 0.5}", "{relative: false}", Margin(None, None)),
    ],
)
def test_a_test_changes_parts_of_the_margin_of_its_suite(suite, of_suite, of_test, margin):
    tests = f"tests:\n  fairness_sex:\n    Recall Per Class: {{matters: {of_test}, why: ours}}\n"
    read = suite(f"{HEAD}matters: {of_suite}\n{tests}")
    assert read.tests["fairness_sex"]["Recall Per Class"].margin == margin


HARD = """\
corpora:
  demo: {format: demo}
  texts: {format: demo, part: texts, families: [fairness_language]}
models:
  guess: {random: categorical}
families: [correctness_classification, correctness_regression]
tests:
"""


def test_a_hard_bar(suite):
    bar = "{threshold: 0.72, hard: true, why: agreed}"
    of_class = "{threshold: {emotion: 0.5}, hard: true, label: anger, why: agreed}"
    read = suite(
        f"{HARD}  correctness_classification:\n"
        f"    Unweighted Average Recall: {bar}\n    Recall Per Class: {of_class}\n"
    )
    found = read.tests["correctness_classification"]
    assert found["Unweighted Average Recall"].hard and found["Unweighted Average Recall"].labels == ()
    assert found["Recall Per Class"] == OwnTest(
        {"emotion": 0.5}, None, "agreed", hard=True, labels=("anger",)
    )


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        ("tasks: [transcript]", "error"),
        ("tasks: [transcript], missing: left out", "left out"),
        ("tasks: [emotion]", "left out"),
    ],
)
def test_how_inputs_without_an_answer_count(suite, keys, missing):
    model = f'models:\n  ours: {{python: "my:predict", {keys}}}\n'
    text = HEAD.replace("models:\n  guess: {random: gaussian}\n", model)
    assert suite(text).models["ours"].missing == missing
