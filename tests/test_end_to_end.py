"""Whole runs through the real command: own data, own model, and a family of the suite's own."""

import xml.etree.ElementTree as ElementTree

import nbformat
import numpy as np
import pandas as pd
import pytest
from killed import killed_run
from runs import Run, changed, refused, run, sound, write

from soundcheck.results.verdict import RESULT_COLUMNS

HOSTILE = '<img src=x onerror="document.documentElement.dataset.pwn=1">'
MODEL = '''
import os
import numpy as np

def predict(signal, sampling_rate):
    """Louder is more aroused; keeps count of its calls."""
    with open(os.environ["CALLS"], "a") as file:
        file.write("x")
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    return {"arousal": float(np.clip((level + 40) / 30, 0, 1))}
'''
SUITE = """
title: Small
seed: 3
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:predict", tasks: [arousal]}
families: [correctness_regression, own_family]
studies: false
"""
THRESHOLDS = """
family: own_family
category: robustness
title: Own family
question: Does half the level change the prediction?
tasks: [regression]
changes:
  Softer: {transform: gain, gain_db: [-6]}
tests:
  Mean Change:
    rule: "|value| <"
    thresholds: {arousal: 0.1}
    source: this test
"""


def notebook(*cells):
    """A notebook as beginners write it: a title, the parameter and code."""
    new = nbformat.v4
    parameters = new.new_code_cell('run = ""', metadata={"tags": ["parameters"]})
    own = [new.new_markdown_cell("# Own family"), parameters, *map(new.new_code_cell, cells)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return nbformat.writes(new.new_notebook(cells=own, metadata=kernel))


OWN_NOTEBOOK = notebook(
    """from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import mean_value
from soundcheck.report.verdict_tables import verdict_table
evaluation = Evaluation.load(run)""",
    """def change(sample, answers):
    return paired_difference(mean_value(answers.changed), mean_value(answers.clean))

for sample in evaluation.samples('Softer'):
    evaluation.judge(sample, 'Mean Change', change)""",
    "verdict_table(evaluation.frame())",
    "evaluation.save()",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six speakers with tones of a level that tells their arousal; one has a hostile name."""
    folder, rng, rows = tmp_path_factory.mktemp("it's a project"), np.random.default_rng(1), []
    for speaker in range(6):
        for number in range(4):
            arousal = rng.uniform(0.1, 0.9)
            level = 10 ** ((30 * np.clip(arousal + rng.normal(0, 0.1), 0, 1) - 40) / 20)
            tone = np.sqrt(2) * np.sin(2 * np.pi * (200 + 9 * speaker) * np.arange(8000) / 16000)
            sound(folder / "data" / f"s{speaker}_{number}.wav", level * tone)
            who = f"s{speaker}" if speaker else HOSTILE
            rows.append(
                (f"s{speaker}_{number}.wav", who, "female" if speaker % 2 else "male", round(arousal, 3))
            )
    segments = pd.DataFrame(rows, columns=["file", "speaker", "sex", "arousal"])
    method = "# Own family\n\n<!-- thresholds -->\n\n<!-- listening -->\n"
    write(folder, {"data/segments.csv": segments, "my_model.py": MODEL, "suite.yml": SUITE})
    own = {"thresholds/own_family.yml": THRESHOLDS, "notebooks/own_family.ipynb": OWN_NOTEBOOK}
    return write(folder, own | {"book/methods/own_family.md": method})


@pytest.fixture(scope="module")
def whole(folder, started_command) -> Run:
    return run(started_command, folder, "--jobs", "2", CALLS=str(folder / "calls.txt"))


def test_results_follow_the_contract_and_the_model_is_judged_right(whole):
    assert list(pd.read_csv(whole.out / "results.csv", nrows=1).columns) == RESULT_COLUMNS
    frame = whole.results
    assert set(frame["family"]) == {"correctness_regression", "own_family"}
    assert frame["blocks"].eq(6).all() and frame["segments"].eq(24).all() and frame["reference"].notna().all()
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()
    assert whole.row("Pearson Correlation Coeff")["value"] > 0.8
    change = whole.row("Mean Change")  # 6 dB of the model's 30 dB scale, less where it is clipped
    assert -0.2 <= change["value"] < -0.15 and change["passed"] is False


def test_pages_show_the_own_family_and_nothing_that_is_live_or_of_this_machine(whole, folder):
    method = whole.page("methods/own_family")
    assert "Softer" in method and method.count("<audio") == 2
    assert "Mean Change" in whole.page("results/loud/own_family")
    html = {path: path.read_text(errors="replace") for path in (whole.out / "html").rglob("*.*")}
    assert not [path for path, text in html.items() if str(folder) in text]
    pages = [text for path, text in html.items() if path.suffix == ".html"]
    assert not any("<img src=x" in text for text in pages) and any("&lt;img src=x" in text for text in pages)


def test_a_second_run_and_one_with_other_jobs_give_the_same(whole, folder, undrawn):
    before, calls = (whole.out / "results.csv").read_bytes(), folder / "calls.txt"
    asked = calls.stat().st_size
    again = run(undrawn, folder, CALLS=str(calls))
    assert (whole.out / "results.csv").read_bytes() == before
    assert calls.stat().st_size == asked + 5  # that confirm cached predictions
    assert "loud: predictions: 48 from the cache of" in again.done.stdout
    assert "0 computed now" in again.done.stdout
    one = run(undrawn, folder, "--jobs", "1", "--no-book", out="one", CALLS=str(calls))
    assert (one.out / "results.csv").read_bytes() == before


def test_a_killed_run_goes_on(whole, folder, tmp_path, undrawn):
    calls = tmp_path / "calls.txt"
    words = ("run", "suite.yml", "--out", tmp_path / "out", "--no-book")
    killed_run(*words, cwd=folder, answers=20, CALLS=str(calls))
    before = calls.stat().st_size
    assert undrawn(*words, cwd=folder, CALLS=str(calls)).returncode == 0
    assert (tmp_path / "out" / "results.csv").read_bytes() == (whole.out / "results.csv").read_bytes()
    more = 8 + 5  # whether answers repeat, and that confirm cached predictions
    assert 48 - 20 <= calls.stat().st_size - before <= 48 - 20 + more


def test_check_judges_and_writes_junit(whole, folder, command):
    done = command("check", "out", "--junit", "junit.xml", cwd=folder)
    assert done.returncode == 1 and "Mean Change" in done.stdout
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    (own,) = [case for case in cases if case.get("classname") == "loud.tones.own_family"]
    assert own.find("failure") is not None


def test_a_notebook_that_fails_is_shown_and_others_go_on(whole, folder, undrawn):
    broken = notebook("print('first cell')", "raise RuntimeError('broken on purpose')", "print('never')")
    write(folder, {"notebooks/own_family.ipynb": broken})
    done = undrawn("run", "suite.yml", "--out", "broken", cwd=folder, CALLS=str(folder / "calls.txt"))
    write(folder, {"notebooks/own_family.ipynb": OWN_NOTEBOOK})
    found = Run(folder / "broken", done)
    assert done.returncode == 3
    statuses = {entry["family"]: entry["status"] for entry in found.record["notebooks"]}
    assert statuses == {"correctness_regression": "ok", "own_family": "failed"}
    assert found.rows(family="own_family")["skipped"].str.contains("broken on purpose").all()
    assert found.rows(family="correctness_regression")["passed"].notna().all()
    page = found.page("results/loud/own_family")
    assert "first cell" in page and "broken on purpose" in page
    assert undrawn("check", "broken", cwd=folder).returncode == 1


SLIPS = {"families:": "familys:", "seed: 3": "seed: three"}


@pytest.mark.parametrize(
    ("replaced", "told"),
    [
        (SLIPS, ("bad.yml line ", "familys", "'families'", "three")),
        ({"segments.csv": "segmnets.csv"}, ("segmnets.csv", "segments.csv")),
        ({"my_model:predict": "my_model:predcit"}, ("predcit", "predict")),
        ({"data/segments": "x" * 5000}, ("the name is too long here",)),
    ],
)
def test_a_bad_suite_is_refused(folder, tmp_path, command, replaced, told):
    write(folder, {"bad.yml": changed(SUITE, replaced)})
    said = refused(command, folder, "run", "bad.yml", "--out", tmp_path / "out")
    assert [words for words in told if words not in said] == []
    assert not (tmp_path / "out" / "results.csv").exists()


def test_other_folders_are_left_alone(folder, tmp_path, command):
    said = refused(command, folder, "run", "suite.yml", "--out", "data/out")
    assert "inside the corpus" in said and not (folder / "data" / "out").exists()
    (tmp_path / "thesis.docx").write_text("precious")
    assert "thesis.docx" in refused(command, folder, "run", "suite.yml", "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]
