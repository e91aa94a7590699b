"""A suite with thresholds of its own, a test left out and accepted failures, through the real command."""

import json
import shutil
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import soundfile

from soundcheck.results.record import RunRecord
from soundcheck.results.table import read_results

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
  - {model: loud, test: Mean Absolute Error, why: being retrained, until: DAY}
  - {model: lout, why: a slip}
"""
FAILURE = "loud / tones / correctness_regression: arousal / Mean Absolute Error"


def write(folder, suite=SUITE, offset="0"):
    (folder / "suite.yml").write_text(suite)
    (folder / "my_model.py").write_text(MODEL.replace("OFFSET", offset))


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    """Six speakers whose level is their arousal, give or take; the run of the suite and what it said."""
    folder = tmp_path_factory.mktemp("own rules")
    (folder / "data").mkdir()
    rng = np.random.default_rng(1)
    rows = ["file,speaker,arousal"]
    for number in range(24):
        arousal = rng.uniform(0.1, 0.9)
        level = 10 ** ((30 * np.clip(arousal + rng.normal(0, 0.1), 0, 1) - 40) / 20)
        signal = level * np.sqrt(2) * np.sin(2 * np.pi * 200 * np.arange(8000) / 16000)
        soundfile.write(folder / "data" / f"{number}.wav", signal.astype(np.float32), 16000)
        rows.append(f"{number}.wav,s{number % 6},{arousal:.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    write(folder)
    return folder, undrawn("run", "suite.yml", "--out", "out", cwd=folder)


def cases(folder):
    return {case.get("name"): case for case in ElementTree.parse(folder / "junit.xml").iter("testcase")}


def text(page):
    return page.read_text(encoding="utf-8")


def test_the_book_says_what_the_suite_decided(project):
    folder, done = project
    assert done.returncode == 0, done.stdout + done.stderr
    frame = read_results(folder / "out" / "results.csv").set_index(["model", "test"])
    row = frame.loc["loud", "Mean Absolute Error"]
    assert row["threshold"] == 0.01 and row["passed"] is False and row["state"] == "fail"
    assert row["skipped"] == "changed in this suite: 0.1 → 0.01 (agreed in the meeting)"
    left = frame.loc["loud", "Pearson Correlation Coeff"]
    assert left["passed"] is None and left["state"] == "not evaluated"
    assert left["skipped"] == "switched off in this suite: the concordance says more"
    html = folder / "out" / "html"
    for page in ("results/loud/correctness_regression", "methods/correctness_regression"):
        found = text(html / f"{page}.html")
        assert "changed in this suite: 0.1 → 0.01 (agreed in the meeting)" in found
        assert "switched off in this suite: the concordance says more" in found
    assert "The suite changes thresholds of this family or leaves tests out" in text(
        html / "methods/correctness_regression.html"
    )


def test_check_before_and_after_the_day_of_an_accepted_failure(project, undrawn, tmp_path):
    """The day is moved in the record, as if the suite had named another one."""
    folder, _ = project
    assert undrawn("check", "out", cwd=folder).returncode == 1
    assert cases(folder / "out")["arousal / Mean Absolute Error"].find("failure") is not None
    about = json.loads((folder / "out" / "run.json").read_text())
    entry = {"model": "loud", "test": "Mean Absolute Error", "why": "being retrained"}
    outcomes = {}
    for name, day in (("before", "2126-03-01"), ("after", "2026-03-01")):
        (tmp_path / name).mkdir()
        shutil.copy(folder / "out" / "results.csv", tmp_path / name)
        accepted = [entry | {"until": day}, {"model": "lout", "why": "a slip"}]
        (tmp_path / name / "run.json").write_text(json.dumps(about | {"accepted": accepted}))
        outcomes[name] = undrawn("check", name, cwd=tmp_path)
    before, after = outcomes["before"], outcomes["after"]
    assert before.returncode == 0, before.stdout + before.stderr
    assert f"accepted: {FAILURE}: being retrained (until 2126-03-01): 0.0" in before.stdout
    assert "accepted, but no test agrees with it: model: lout. Correct or remove it." in before.stdout
    (skipped,) = cases(tmp_path / "before")["arousal / Mean Absolute Error"]
    assert skipped.tag == "skipped" and skipped.get("message").startswith("accepted: being retrained")
    assert after.returncode == 1 and f"failed: {FAILURE}" in after.stdout
    assert "accepted until 2026-03-01, which is past: model: loud" in after.stdout
    assert cases(tmp_path / "after")["arousal / Mean Absolute Error"].find("failure") is not None


def test_a_run_records_what_is_accepted_and_a_worse_model_is_found(project, undrawn):
    folder, _ = project
    write(folder, SUITE + ACCEPTED.replace("DAY", "2126-03-01"), offset="- 0.3")
    done = undrawn("run", "suite.yml", "--out", "worse", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    record = RunRecord.read(folder / "worse" / "run.json")
    assert [entry.named for entry in record.accepted][1] == {"model": "lout"}
    found = undrawn("check", "worse", "--baseline", "out", "--model", "loud", cwd=folder)
    assert found.returncode == 1, found.stdout
    assert "Compared with out: 2 tests paired, 0 unpaired" in found.stdout
    assert "worse: loud / tones / correctness_regression: arousal / Concordance" in found.stdout
    assert "accepted: " in found.stdout  # the error, too, got worse, but that is known
    same = undrawn("check", "out", "--baseline", "out", cwd=folder)
    assert same.returncode == 0 and "Nothing got worse." in same.stdout


NOW = SUITE + ACCEPTED.replace("DAY", "2126-03-01").replace("  - {model: lout, why: a slip}\n", "")
LOOSE = SUITE.replace("threshold: 0.01", "threshold: 0.9")
SHIPPED = SUITE[: SUITE.index("tests:")]


@pytest.mark.parametrize(
    ("suite", "code", "words"),
    [
        (SUITE, 1, f"failed: {FAILURE}: 0."),
        (NOW, 0, f"accepted: {FAILURE}: being retrained (until 2126-03-01): 0."),
        (LOOSE, 0, "tests of suite.yml: correctness_regression / Mean Absolute Error, 2 rows compared with"),
        (SHIPPED, 0, "Pearson Correlation Coeff changed in what only a run applies"),
        (NOW.replace("threshold: 0.01", "threshold: 0.01, hard: true"), 1, f"hard bar: {FAILURE}: agreed in"),
        (
            LOOSE.replace("title: Small", "title: Small\nseed: 3"),
            0,
            "suite.yml also changed in seed, which only",
        ),
    ],
)
def test_rules_of_the_suite_as_it_is_now(project, undrawn, tmp_path, suite, code, words):
    """What it accepts and sets is applied without a run; without the option a line says that it changed."""
    folder, _ = project
    shutil.copytree(folder / "data", tmp_path / "data")
    (tmp_path / "out").mkdir()
    for name in ("results.csv", "run.json"):
        shutil.copy(folder / "out" / name, tmp_path / "out")
    write(tmp_path, suite)
    done = undrawn("check", "out", "--suite", "suite.yml", cwd=tmp_path)
    assert done.returncode == code and words in done.stdout, done.stdout + done.stderr
    plain = undrawn("check", "out", cwd=tmp_path)
    remedy = "suite.yml changed since the run: --suite suite.yml judges by what is there now, without a run."
    assert plain.returncode == 1 and (remedy in plain.stdout) == (suite != SUITE), plain.stdout


def test_a_changed_threshold_is_judged_by_value_and_interval(project, undrawn, tmp_path):
    folder, _ = project
    frame = read_results(folder / "out" / "results.csv").set_index(["model", "test"])
    row = frame.loc["loud", "Mean Absolute Error"]
    between = (row["value"] + row["high"]) / 2
    (tmp_path / "out").mkdir()
    for name in ("results.csv", "run.json"):
        shutil.copy(folder / "out" / name, tmp_path / "out")
    shutil.copytree(folder / "data", tmp_path / "data")
    for threshold, counts in ((between, "1 inconclusive"), (row["high"] * 1.01, "0 inconclusive")):
        write(tmp_path, SUITE.replace("threshold: 0.01", f"threshold: {threshold:.4f}"))
        done = undrawn("check", "out", "--suite", "suite.yml", "--model", "loud", cwd=tmp_path)
        assert done.returncode == 0 and f" 0 fail, {counts}" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--baseline", "nowhere"), "--baseline nowhere"),
        (
            ("--baseline", "data/segments.csv"),
            "--baseline data/segments.csv: segments.csv: columns are missing",
        ),
        (("--baseline", "out", "--strict"), "--strict: it contradicts --baseline"),
        (("--baseline", "out", "--inconclusive", "fail"), "--inconclusive fail: it contradicts --baseline"),
        (("--inconclusive", "maybe"), "'maybe' is not one of 'pass', 'fail'"),
        (("--suite", "nowhere.yml"), "nowhere.yml"),
        (
            ("--suite", "other.yml"),
            "--suite other.yml: this is another suite: it has no model or corpus 'loud'",
        ),
        (("--model", "dice"), "'dice' is a random reference, which is never judged"),
        (("--model", "loud", "--model", "lout"), "Did you mean 'loud'?"),
        (("--matters-worse", "-1"), "-1"),
    ],
)
def test_bad_options_give_a_message_without_traceback(project, undrawn, options, words):
    folder, _ = project
    (folder / "other.yml").write_text(SHIPPED.replace("loud:", "theirs:"))
    done = undrawn("check", "out", *options, cwd=folder)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_rules_of_tests_that_do_not_exist_stop_the_run(project, undrawn, tmp_path):
    folder, _ = project
    suite = SUITE.replace("data/", f"{folder}/data/").replace("Mean Absolute Error", "Mean Absolut Error")
    write(tmp_path, suite + ACCEPTED.replace("DAY", "soon"))
    done = undrawn("run", "suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert "has no test 'Mean Absolut Error'. Did you mean 'Mean Absolute Error'?" in done.stderr
    assert "'soon' is not a date. Write year-month-day" in done.stderr
