"""Models begin to be checked early where a run has been, and are gone when the run is refused."""

import subprocess
import sys

import psutil
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.files import MARKER
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.run.early import begun
from soundcheck.run.options import RunOptions
from soundcheck.suite.suite_file import read_suite

SUITE = """
title: t
seed: 0
corpora: {c: {format: csv, path: c.csv}}
models:
  one: {python: "model:predict", tasks: [arousal]}
  two: {python: "model:predict", tasks: [arousal]}
  guess: {random: gaussian}
families: [correctness_regression]
"""
MODEL = """
import os, pathlib
with open(pathlib.Path(__file__).parent / "imported", "a") as file:
    file.write(os.environ["SOUNDCHECK_CACHE"] + "\\n")
def predict(signal, sampling_rate):
    return {"arousal": 0.5}
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "c.csv").write_text("file\n")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "suite.yml").write_text(SUITE)
    (tmp_path / "out").mkdir()
    for name in (MARKER, "run.json"):
        (tmp_path / "out" / name).write_text("{}")
    return tmp_path / "suite.yml"


def options(suite, jobs=2, **others):
    return RunOptions(suite=suite, out=suite.with_name("out"), jobs=jobs, **others)


def imported(suite):
    path = suite.with_name("imported")
    return path.read_text().splitlines() if path.exists() else []


def test_models_are_checked_once_with_the_cache_of_the_run(suite):
    with begun(options(suite)) as ahead:
        read = read_suite(suite)
        first, second = (ahead.check(read.models["one"], read) for _ in range(2))
        assert first is second and len(first.result()) == 40
    assert imported(suite) == [str(suite.with_name("cache"))] * 2  # two models of one module


def test_only_models_that_are_asked_begin(suite):
    with begun(options(suite, models=("two",))) as ahead:
        ahead.wait()
    assert len(imported(suite)) == 1


@pytest.mark.parametrize("why", ["one process", "not wanted", "no record", "not ours"])
def test_nothing_begins(suite, why):
    out = suite.with_name("out")
    if why in ("no record", "not ours"):
        (out / {"no record": "run.json", "not ours": MARKER}[why]).unlink()
    with begun(options(suite, 1 if why == "one process" else 2, fresh=why == "not wanted")) as ahead:
        ahead.wait()
    assert imported(suite) == []


def test_no_process_is_left_after_a_refusal(suite):
    suite.with_name("model.py").write_text("import time\ntime.sleep(60)\n")
    with pytest.raises(InputError), begun(options(suite)):
        raise InputError([])
    left = [child for child in psutil.Process().children() if "importing" in " ".join(child.cmdline())]
    assert left == []


def test_a_suite_that_cannot_be_used_is_refused(suite):
    suite.write_text("title: t\n")
    with pytest.raises(InputError, match="models"), begun(options(suite)):
        pass
    assert imported(suite) == []


def test_nothing_heavy_is_imported():

    code = "import soundcheck.run.early, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pandas", "pyarrow", "scipy", "matplotlib", "joblib", "soundfile", "parselmouth"}
    assert heavy & set(done.stdout.split()) == set()
