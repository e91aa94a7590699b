"""Thresholds of a suite's own, a test left out, accepted failures and the gate, through the real command."""

import shutil
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from runs import Run, refused, run, sound, told, write

from soundcheck.results.record import RunRecord

pytestmark = pytest.mark.slow

MODEL = """
import numpy as np

def predict(signal, sampling_rate):
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    return {"arousal": float(np.clip((level + 40) / 30 + OFFSET, 0, 1))}
"""
SUITE = """
title: Small
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:predict", tasks: [arousal]}
  dice: {random: gaussian, tasks: [arousal]}
families: [correctness_regression]
interval: t
studies: false
tests:
  correctness_regression:
    Mean Absolute Error: {threshold: 0.01, why: agreed in the meeting}
    Pearson Correlation Coeff: {run: false, why: the concordance says more}
"""
ACCEPTED = """accepted:
  - {model: loud, test: Mean Absolute Error, why: being retrained, until: 2126-03-01}
"""
FAILURE = "loud / tones / correctness_regression: arousal / Mean Absolute Error"


def files(suite=SUITE, offset="0"):
    return {"suite.yml": suite, "my_model.py": MODEL.replace("OFFSET", offset)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    """Six speakers whose level is their arousal, give or take."""
    folder, rng, rows = tmp_path_factory.mktemp("own rules"), np.random.default_rng(1), []
    for number in range(24):
        arousal = rng.uniform(0.1, 0.9)
        level = 10 ** ((30 * np.clip(arousal + rng.normal(0, 0.1), 0, 1) - 40) / 20)
        sound(folder / f"data/{number}.wav", level * np.sqrt(2) * np.sin(np.arange(8000) * np.pi / 40))
        rows.append((f"{number}.wav", f"s{number % 6}", round(arousal, 3)))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal"])
    return run(undrawn, write(folder, files() | {"data/segments.csv": table}))


@pytest.fixture
def copy(whole, tmp_path):
    """The data and the tables of the run, beside which a suite may say something else."""
    shutil.copytree(whole.out.parent / "data", tmp_path / "data")
    (tmp_path / "out").mkdir()
    for name in ("results.csv", "run.json"):
        shutil.copy(whole.out / name, tmp_path / "out")
    return tmp_path


def test_the_book_says_what_the_suite_decided(whole):
    decided = "changed in this suite: 0.1 → 0.01 (agreed in the meeting)"
    left = "switched off in this suite: the concordance says more"
    row = whole.row("Mean Absolute Error", model="loud")
    assert (row["threshold"], row["passed"], row["state"], row["skipped"]) == (0.01, False, "fail", decided)
    row = whole.row("Pearson Correlation Coeff", model="loud")
    assert (row["passed"], row["state"], row["skipped"]) == (None, "not evaluated", left)
    for page in told("own rules", "pages"):
        assert whole.lacks(page, "own rules") == []


def test_accepted_failures_are_recorded_and_a_worse_model_is_found(whole, undrawn):
    folder = whole.out.parent
    write(folder, files(SUITE + ACCEPTED + "  - {model: lout, why: a slip}\n", "- 0.3"))
    worse = run(undrawn, folder, "--no-book", out="worse")
    assert [one.named for one in RunRecord.read(worse.out / "run.json").accepted][1] == {"model": "lout"}
    found = undrawn("check", "worse", "--baseline", "out", "--model", "loud", cwd=folder)
    assert found.returncode == 1, found.stdout
    assert "Compared with out: 2 tests paired, 0 unpaired" in found.stdout
    assert "worse: loud / tones / correctness_regression: arousal / Concordance" in found.stdout
    assert "accepted: " in found.stdout  # the error, too, got worse, but that is known
    assert "accepted, but no test agrees with it: model: lout. Correct or remove it." in found.stdout
    cases = {case.get("name"): case for case in ElementTree.parse(worse.out / "junit.xml").iter("testcase")}
    assert "arousal / Mean Absolute Error" in cases
    same = undrawn("check", "out", "--baseline", "out", cwd=folder)
    assert same.returncode == 0 and "Nothing got worse." in same.stdout


LOOSE = SUITE.replace("threshold: 0.01", "threshold: 0.9")
SHIPPED = SUITE[: SUITE.index("tests:")]


@pytest.mark.parametrize(
    ("suite", "code", "words"),
    [
        (SUITE, 1, f"failed: {FAILURE}: 0."),
        (SUITE + ACCEPTED, 0, f"accepted: {FAILURE}: being retrained (until 2126-03-01): 0."),
        (LOOSE, 0, "tests of suite.yml: correctness_regression / Mean Absolute Error, 2 rows compared with"),
        (SHIPPED, 0, "Pearson Correlation Coeff changed in what only a run applies"),
        (
            (SUITE + ACCEPTED).replace("threshold: 0.01", "threshold: 0.01, hard: true"),
            *(1, f"hard bar: {FAILURE}: agreed in"),
        ),
        (LOOSE.replace("Small", "Small\nseed: 3"), 0, "suite.yml also changed in seed, which only"),
    ],
)
def test_rules_of_the_suite_as_it_is_now(copy, undrawn, suite, code, words):
    """What it accepts and sets is applied without a run; without the option a line says that it changed."""
    write(copy, files(suite))
    done = undrawn("check", "out", "--suite", "suite.yml", cwd=copy)
    assert done.returncode == code and words in done.stdout, done.stdout + done.stderr
    plain = undrawn("check", "out", cwd=copy)
    remedy = "suite.yml changed since the run: --suite suite.yml judges by what is there now, without a run."
    assert plain.returncode == 1 and (remedy in plain.stdout) == (suite != SUITE), plain.stdout


def test_a_changed_threshold_is_judged_by_value_and_interval(whole, copy, undrawn):
    row = whole.row("Mean Absolute Error", model="loud")
    between = (row["value"] + row["high"]) / 2
    for threshold, counts in ((between, "1 inconclusive"), (row["high"] * 1.01, "0 inconclusive")):
        write(copy, files(SUITE.replace("threshold: 0.01", f"threshold: {threshold:.4f}")))
        done = undrawn("check", "out", "--suite", "suite.yml", "--model", "loud", cwd=copy)
        assert done.returncode == 0 and f" 0 fail, {counts}" in done.stdout, done.stdout


@pytest.mark.parametrize(("options", "words"), told("own rules", "check").items())
def test_bad_options_are_refused(copy, undrawn, options, words):
    write(copy, files() | {"other.yml": SHIPPED.replace("loud:", "theirs:")})
    assert words in refused(undrawn, copy, "check", "out", *options.split())
