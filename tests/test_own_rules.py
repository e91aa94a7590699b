"""Thresholds of a suite's own, a test left out, accepted failures and the gate, through the real command."""

import shutil
import xml.etree.ElementTree as ElementTree

import pytest
import tones
from runs import Run, changed, expectations, inside, refused, write

from soundcheck.results.record import RunRecord

pytestmark = pytest.mark.slow

RULES = """
interval: t
tests:
  correctness_regression:
    Mean Absolute Error: {threshold: 0.01, why: agreed in the meeting}
    Pearson Correlation Coeff: {run: false, why: the concordance says more}
"""
MODELS = {'  quiet: {python: "my_model:quiet"': "  dice: {random: gaussian", ", robustness_small_changes": ""}
SHIPPED = changed(tones.SUITE, MODELS)
SUITE = SHIPPED + RULES
ACCEPTED = """accepted:
  - {model: loud, test: Mean Absolute Error, why: being retrained, until: 2126-03-01}
"""
FAILURE = "loud / tones / correctness_regression: arousal / Mean Absolute Error"


@pytest.fixture(scope="module")
def project(tmp_path_factory, unbuilt) -> tones.Project:
    project = tones.Project(tones.make(tmp_path_factory.mktemp("own rules") / "project"), unbuilt)
    write(project.folder, {"suite.yml": SUITE})
    project.run()
    return project


@pytest.fixture(scope="module")
def whole(project) -> Run:
    return Run(project.out)


@pytest.fixture
def copy(whole, tmp_path) -> tones.Project:
    """The data and the tables of the run, beside which a suite may say something else."""
    (tmp_path / "out").mkdir()
    for name in ("results.csv", "run.json"):
        shutil.copy(whole.out / name, tmp_path / "out")
    shutil.copytree(whole.out.parent / "data", tmp_path / "data")
    shutil.copy(whole.out.parent / "my_model.py", tmp_path)
    write(tmp_path, {"suite.yml": SUITE})
    return tones.Project(tmp_path, inside)


def test_the_book_says_what_the_suite_decided(whole):
    decided = "changed in this suite: 0.1 → 0.01 (agreed in the meeting)"
    left = "switched off in this suite: the concordance says more"
    row = whole.row("Mean Absolute Error", model="loud")
    assert (row["threshold"], row["passed"], row["state"], row["skipped"]) == (0.01, False, "fail", decided)
    row = whole.row("Pearson Correlation Coeff", model="loud")
    assert (row["passed"], row["state"], row["skipped"]) == (None, "not evaluated", left)
    for page in expectations("own rules", "pages"):
        assert whole.lacks(page, "own rules") == []


def test_rules_of_the_suite_as_it_is_now(whole, copy):
    """What it accepts and sets is applied without a run; without the option a line says that it changed."""

    def threshold(text):
        return SUITE.replace("threshold: 0.01", f"threshold: {text}")

    error = whole.row("Mean Absolute Error", model="loud")
    between = f"{(error['value'] + error['high']) / 2:.4f}"
    remedy = "suite.yml changed since the run: --suite suite.yml judges by what is there now, without a run."
    for suite, code, words in (
        (SUITE, 1, f"failed: {FAILURE}: 0."),
        (SUITE + ACCEPTED, 0, f"accepted: {FAILURE}: being retrained (until 2126-03-01): 0."),
        (threshold("0.9"), 0, "correctness_regression / Mean Absolute Error, 2 rows compared with"),
        (threshold(between), 0, " 1 inconclusive"),
        (SHIPPED + "interval: t\n", 0, "Pearson Correlation Coeff changed in what only a run applies"),
        (threshold("0.01, hard: true") + ACCEPTED, 1, f"hard bar: {FAILURE}: agreed in"),
        (threshold("0.9").replace("Small", "Small\nseed: 3"), 0, "suite.yml also changed in seed, which"),
    ):
        write(copy.folder, {"suite.yml": suite})
        assert words in copy("check", "out", "--suite", "suite.yml", "--model", "loud", code=code), words
        assert (remedy in copy("check", "out", code=1)) == (suite != SUITE), words


@pytest.mark.parametrize(("options", "words"), expectations("own rules", "check").items())
def test_bad_options_are_refused(copy, options, words):
    write(copy.folder, {"other.yml": SHIPPED.replace("loud:", "theirs:")})
    assert words in refused(inside, copy.folder, "check", "out", *options.split())


def test_accepted_failures_are_recorded_and_a_worse_model_is_found(project):
    write(project.folder, {"suite.yml": SUITE + ACCEPTED + "  - {model: lout, why: a slip}\n"})
    project.edit("my_model.py", "* 5, 0", "* 5 - 0.3, 0")
    project.run("--no-book", out="worse")
    record = RunRecord.read(project.folder / "worse" / "run.json")
    assert [entry.named for entry in record.accepted][1] == {"model": "lout"}
    text = project("check", "worse", "--baseline", "out", "--model", "loud", code=1)
    assert "Compared with out: 2 tests paired, 0 unpaired" in text
    assert "worse: loud / tones / correctness_regression: arousal / Concordance" in text
    assert "accepted: " in text  # the error, too, got worse, but that is known
    assert "accepted, but no test agrees with it: model: lout. Correct or remove it." in text
    cases = ElementTree.parse(project.folder / "worse" / "junit.xml").iter("testcase")
    assert "arousal / Mean Absolute Error" in {case.get("name") for case in cases}
    assert "Nothing got worse." in project("check", "out", "--baseline", "out")
