"""A suite's own thresholds and accepted failures change families as written, and say so."""

import datetime
from pathlib import Path

import pytest
import yaml

from soundcheck.common import resources
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.corpus_format import with_suite_groups
from soundcheck.suite.entries import Card
from soundcheck.suite.families import AcceptedFailure, Margin, OwnTest, measure_of, with_own_tests
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

AROUSAL, VALENCE, EMOTION = (BUILTIN[name] for name in ("arousal", "valence", "emotion"))
SEVEN = Task("feeling", "classification", tuple("abcdefg"))
MARGINS = yaml.safe_load(Path(__file__).with_name("margins.yml").read_text("utf-8"))
SUITE = """\
corpora: {demo: {format: demo}}
models: {guess: {random: gaussian}}
tasks: {feeling: {type: classification, classes: [a, b, c, d, e, f, g]}, stress: {type: regression}}
families: [fairness_sex]
tests:
"""


@pytest.fixture
def own_test(tmp_path):

    def read(family, test, written):
        (tmp_path / "suite.yml").write_text(f"{SUITE}  {family}:\n    {test}: {written}\n")
        tests = read_suite(tmp_path / "suite.yml").tests[family]
        return with_own_tests(read_family(family), tests).tests[test]

    return read


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
    recall, shipped_recall = family.tests["Recall Per Bin"], shipped.tests["Recall Per Bin"]
    before = shipped_recall.thresholds["regression"]
    assert recall.threshold_for(AROUSAL) == 0.15 and recall.is_own(AROUSAL)
    assert recall.change_for(AROUSAL) == f"changed in this suite: {before:g} → 0.15 (agreed)"
    assert recall.threshold_for(VALENCE) == shipped_recall.threshold_for(VALENCE)
    assert not recall.is_own(VALENCE) and recall.change_for(VALENCE) == recall.change_for(EMOTION) == ""
    ccc = family.tests["Concordance Correlation Coeff"]
    assert ccc.margin == Margin(0.3, None) and not ccc.is_own(AROUSAL)
    assert ccc.change_for(AROUSAL) == "changed in this suite: margin 0.3 (few)"
    assert family.tests["Recall Per Class"].off == "switched off in this suite: noise"
    assert family.of_suite and not shipped.of_suite and shipped.tests["Recall Per Bin"] is shipped_recall


def test_tasks_that_had_no_threshold(own_test):
    stress = Task("stress", "regression")
    test = own_test("fairness_sex", "Recall Per Bin", "{threshold: {stress: 0.2}, why: ours}")
    assert test.threshold_for(stress) == 0.2
    assert test.change_for(stress) == "changed in this suite: 0.1 → 0.2 (ours)"
    assert test.change_of("stress") == "set in this suite: 0.2 (ours)"  # beside the row of regression
    gap = own_test("fairness_accent", "Relative Difference Per Class", "{matters: 0.1, why: ours}")
    assert gap.threshold_for(SEVEN) is None
    assert gap.change_for(SEVEN) == "set in this suite: margin 0.1 (ours)"
    assert gap.change_for(AROUSAL) == ""  # no test for numbers


@pytest.mark.parametrize(
    ("said", "threshold"),
    [("{feeling: 0.4}", 0.4), ("{classification: 0.5}", 0.5), ("0.3", 0.3), ("{emotion: 0.3}", None)],
)
def test_a_threshold_for_four_classes_is_one_for_seven_if_the_suite_says_so(own_test, said, threshold):
    written = f"{{threshold: {said}, why: ours}}"
    test = own_test("correctness_classification", "Recall Per Class", written)
    assert test.threshold_for(SEVEN) == threshold and test.fits(SEVEN)
    change = "" if threshold is None else f"set in this suite: {threshold:g} (ours)"
    assert test.change_for(SEVEN) == change


def test_a_threshold_file_of_the_suite_is_marked_where_it_differs(tmp_path):
    name, test = "correctness_regression", "Mean Absolute Error"
    shipped = (resources.root() / "thresholds" / f"{name}.yml").read_text()
    (tmp_path / "thresholds").mkdir()
    file = tmp_path / "thresholds" / f"{name}.yml"
    file.write_text(shipped.replace("threshold: 0.1", "threshold: 0.2"))
    family = read_family(name, tmp_path)
    changes = {test.name: test.change_for(AROUSAL) for test in family.tests.values()}
    of_file = "changed in this suite: 0.1 → 0.2 (thresholds/correctness_regression.yml)"
    assert {name: change for name, change in changes.items() if change} == {test: of_file}
    both = with_own_tests(family, {test: OwnTest({"arousal": 0.3}, None, "agreed")}).tests[test]
    assert both.change_for(AROUSAL) == "changed in this suite: 0.1 → 0.3 (agreed)"  # against what is shipped
    file.write_text(shipped.replace("arousal: 0.1", "arousal: 0.10"))
    assert not read_family(name, tmp_path).of_suite


def test_accepted_failures_end_after_their_day():
    accepted = AcceptedFailure(model="guess", why="known", until=datetime.date(2027, 3, 1))
    assert not accepted.past(datetime.date(2027, 3, 1)) and accepted.past(datetime.date(2027, 3, 2))
    always = AcceptedFailure(test="Mean Value", label="a", task="arousal", corpus="demo", why="known")
    assert not always.past(datetime.date(9999, 1, 1))
    assert str(always) == "corpus: demo, task: arousal, test: Mean Value, label: a"


def test_the_model_wins_over_the_suite_and_what_nobody_wrote_is_named():
    both = Card(owner="we", version="2").over(Card(owner="all", license="mit", languages=("en",)))
    assert both == Card(owner="we", version="2", license="mit", languages=("en",))
    missing = Card(owner="we", languages=("en",)).missing
    assert missing[:2] == ("intended use", "licence") and "owner" not in missing
    assert not any("hub" in words or "base" in words for words in missing)  # a model may have none


def test_families_of_columns_take_the_groups_of_the_suite():
    family = read_family("asr_word_errors", Path())
    assert with_suite_groups(family, ["age", "sex"]).options["groups"] == ["sex", "accent", "language", "age"]
    fixed = read_family("fairness_sex", Path())
    assert with_suite_groups(fixed, ["age"]) is fixed


@pytest.mark.parametrize(("margin", "published", "reference", "measure", "expected"), MARGINS)
def test_the_margin_of_a_difference(margin, published, reference, measure, expected):
    margin = Margin(**margin).of(published, reference, measure_of(measure, "fairness_sex"))
    assert margin == (expected and pytest.approx(expected))
