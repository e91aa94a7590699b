"""Whole runs through the real command: own data, own model, and a family that the test adds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from killed import killed_run

from soundcheck.results.table import read_results
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


def notebook(*cells: str) -> str:
    parameters = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": 'run = ""'}
    sources = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    code = [
        cell | {"id": f"c{n}", "execution_count": None, "outputs": []}
        for n, cell in enumerate([parameters, *sources])
    ]
    head = {"cell_type": "markdown", "id": "head", "metadata": {}, "source": "# Own family"}
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": [head, *code], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


OWN_NOTEBOOK = notebook(
    "from soundcheck.evaluation.evaluation import Evaluation\n"
    "from soundcheck.metrics.combinators import paired_difference\n"
    "from soundcheck.metrics.regression import mean_value\n"
    "from soundcheck.report.verdict_tables import verdict_table\n"
    "evaluation = Evaluation.load(run)",
    "for sample in evaluation.samples('Softer'):\n"
    "    evaluation.judge(sample, 'Mean Change', lambda s, a: paired_difference(mean_value(a.changed), "
    "mean_value(a.clean)))",
    "verdict_table(evaluation.frame())",
    "evaluation.save()",
)


def make_project(folder: Path, speakers: int = 6, segments: int = 4) -> Path:
    """Write a suite with tones of known level, a model, and a family of its own."""
    rng = np.random.default_rng(1)
    (folder / "data").mkdir(parents=True)
    rows = ["file,speaker,sex,arousal"]
    for speaker in range(speakers):
        for segment in range(segments):
            arousal = rng.uniform(0.1, 0.9)
            level = 10 ** ((30 * np.clip(arousal + rng.normal(0, 0.1), 0, 1) - 40) / 20)
            signal = level * np.sqrt(2) * np.sin(2 * np.pi * (200 + 9 * speaker) * np.arange(8000) / 16000)
            name = f"s{speaker}_{segment}.wav"
            soundfile.write(folder / "data" / name, signal.astype(np.float32), 16000, subtype="PCM_16")
            who = f'"{HOSTILE.replace(chr(34), chr(34) * 2)}"' if speaker == 0 else f"s{speaker}"
            rows.append(f"{name},{who},{'female' if speaker % 2 else 'male'},{arousal:.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    for sub, name, text in (
        ("thresholds", "own_family.yml", THRESHOLDS),
        ("notebooks", "own_family.ipynb", OWN_NOTEBOOK),
        ("book/methods", "own_family.md", "# Own family\n\n<!-- thresholds -->\n\n<!-- listening -->\n"),
    ):
        (folder / sub).mkdir(parents=True, exist_ok=True)
        (folder / sub / name).write_text(text)
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_DEMO_SIZE": "small", **more}


@pytest.fixture(scope="module")
def project(tmp_path_factory, started_command):
    folder = make_project(tmp_path_factory.mktemp("it's a project"))
    options = ("--out", "out", "--jobs", "2")
    done = started_command("run", "suite.yml", *options, cwd=folder, **environment(folder))
    return folder, done


def test_run_is_complete(project):
    folder, done = project
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert (folder / "out" / "html" / "index.html").is_file()


def test_results_follow_the_contract(project):
    folder, _ = project
    frame = read_results(folder / "out" / "results.csv")
    assert list(pd.read_csv(folder / "out" / "results.csv", nrows=1).columns) == RESULT_COLUMNS
    assert set(frame["family"]) == {"correctness_regression", "own_family"}
    assert frame["blocks"].eq(6).all()
    assert frame["segments"].eq(24).all()
    assert frame["reference"].notna().all()
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()


def test_model_is_judged_right(project):
    folder, _ = project
    frame = read_results(folder / "out" / "results.csv").set_index("test")
    assert frame.loc["Pearson Correlation Coeff", "value"] > 0.8
    change = frame.loc["Mean Change"]  # 6 dB of the model's 30 dB scale, less where it is clipped
    assert -0.2 <= change["value"] < -0.15
    assert change["passed"] is False


def test_family_of_the_suite_has_its_pages(project):
    folder, _ = project
    html = folder / "out" / "html"
    method = (html / "methods" / "own_family.html").read_text()
    assert "Softer" in method
    assert method.count("<audio") == 2
    assert "Mean Change" in (html / "results" / "loud" / "own_family.html").read_text()


def test_text_from_data_is_shown_not_run(project):
    folder, _ = project
    pages = {path: path.read_text() for path in (folder / "out" / "html").rglob("*.html")}
    assert pages
    assert not [path for path, text in pages.items() if "<img src=x" in text]
    assert any("&lt;img src=x" in text for text in pages.values())


def test_nothing_of_this_machine_is_published(project):
    folder, _ = project
    for path in (folder / "out" / "html").rglob("*"):
        if path.suffix in {".html", ".js", ".csv", ".svg"}:
            assert str(folder) not in path.read_text(errors="replace"), path


def test_second_run_computes_nothing(project, command):
    folder, _ = project
    before = (folder / "out" / "results.csv").read_bytes()
    calls = (folder / "calls.txt").stat().st_size
    done = command("run", "suite.yml", "--out", "out", cwd=folder, **environment(folder))
    assert done.returncode == 0
    assert (folder / "out" / "results.csv").read_bytes() == before
    confirming = 5  # kept answers that are asked again
    assert (folder / "calls.txt").stat().st_size == calls + confirming
    assert "loud: predictions: 48 from the cache of" in done.stdout and "0 computed now" in done.stdout


def test_jobs_do_not_change_results(project, undrawn):
    folder, _ = project
    options = ("--out", "one", "--jobs", "1", "--no-book")
    done = undrawn("run", "suite.yml", *options, cwd=folder, **environment(folder))
    assert done.returncode == 0
    one, two = (folder / out / "results.csv" for out in ("one", "out"))
    assert one.read_bytes() == two.read_bytes()


def test_killed_run_goes_on(project, tmp_path, undrawn):
    folder, _ = project
    words = ("run", "suite.yml", "--out", tmp_path / "out", "--no-book")
    killed_run(*words, cwd=folder, answers=20, **environment(tmp_path))
    calls = tmp_path / "calls.txt"
    before = calls.stat().st_size
    done = undrawn(*words, cwd=folder, **environment(tmp_path))
    assert done.returncode == 0
    assert (tmp_path / "out" / "results.csv").read_bytes() == (folder / "out" / "results.csv").read_bytes()
    asked_twice = 8  # the check whether answers repeat
    confirming = 5
    assert 48 - 20 <= calls.stat().st_size - before <= 48 - 20 + asked_twice + confirming


def test_check_judges_and_writes_junit(project, command):
    folder, _ = project
    done = command("check", "out", "--junit", "junit.xml", cwd=folder)
    assert done.returncode == 1  # Mean Change failed
    assert "Mean Change" in done.stdout
    text = (folder / "junit.xml").read_text()
    assert "<failure" in text
    assert 'classname="loud.tones.own_family"' in text


def test_failing_notebook_and_one_that_exits_are_kept_and_others_go_on(project, tmp_path, undrawn):
    folder = make_project(tmp_path / "broken")
    (folder / "notebooks" / "own_family.ipynb").write_text(
        notebook("print('first cell')", "raise RuntimeError('broken on purpose')", "print('never')")
    )
    (folder / "suite.yml").write_text(SUITE.replace("own_family]", "own_family, exits]"))
    (folder / "thresholds" / "exits.yml").write_text(
        THRESHOLDS.replace("own_family", "exits").replace("Own", "Exit")
    )
    (folder / "book" / "methods" / "exits.md").write_text("# It exits\n\n<!-- thresholds -->\n")
    (folder / "notebooks" / "exits.ipynb").write_text(notebook("import sys; sys.exit(0)", "1 + 1"))
    done = undrawn("run", "suite.yml", "--out", "out", cwd=folder, **environment(folder))
    assert done.returncode == 3
    notebooks = json.loads((folder / "out" / "run.json").read_text())["notebooks"]
    assert {entry["family"]: entry["status"] for entry in notebooks} == {
        **{"correctness_regression": "ok", "own_family": "failed", "exits": "failed"}
    }
    frame = read_results(folder / "out" / "results.csv")
    own = frame[frame["family"] == "own_family"]
    assert own["skipped"].str.contains("broken on purpose").all()
    assert frame[frame["family"] == "correctness_regression"]["passed"].notna().all()
    page = (folder / "out" / "html" / "results" / "loud" / "own_family.html").read_text()
    assert "first cell" in page
    assert "broken on purpose" in page
    assert undrawn("check", "out", cwd=folder).returncode == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("families:", "familys:"), ["suite.yml line 8", "familys", "Did you mean 'families'"]),
        (("data/segments.csv", "data/segmnets.csv"), ["segmnets.csv", "segments.csv"]),
        (("own_family]", "own_famly]"), ["own_famly", "Did you mean 'own_family'"]),
        (("my_model:predict", "my_model:predcit"), ["predcit", "predict"]),
        (("seed: 3", "seed: three"), ["seed", "three"]),
    ],
)
def test_bad_suite_is_refused(project, tmp_path, command, change, words):
    folder, _ = project
    suite = folder / f"bad_{abs(hash(change))}.yml"
    suite.write_text(SUITE.replace(*change))
    done = command("run", suite.name, "--out", tmp_path / "out", cwd=folder, timeout=60)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word.replace("suite.yml", suite.name) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "results.csv").exists()


def test_output_inside_a_corpus_is_refused(project, command):
    folder, _ = project
    done = command("run", "suite.yml", "--out", "data/out", cwd=folder)
    assert done.returncode == 2
    assert "inside the corpus" in done.stderr
    assert not (folder / "data" / "out").exists()


def test_foreign_folder_is_left_alone(project, tmp_path, command):
    folder, _ = project
    (tmp_path / "thesis.docx").write_text("precious")
    done = command("run", "suite.yml", "--out", tmp_path, cwd=folder)
    assert done.returncode == 2
    assert "thesis.docx" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]


def test_a_path_that_is_too_long_for_the_file_system_is_refused(tmp_path, command):
    suite = tmp_path / "suite.yml"
    suite.write_text(
        f"corpora: {{calls: {{format: csv, path: {'x' * 5000}.csv}}}}\n"
        "models: {guess: {random: gaussian}}\nfamilies: all\n"
    )
    refused = command("run", suite, "--out", tmp_path / "out", cwd=tmp_path)
    assert refused.returncode == 2, refused.stderr
    assert "the name is too long here" in refused.stderr and "Traceback" not in refused.stderr
