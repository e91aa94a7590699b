"""Whole runs by one and two processes, on a Dask cluster, and of a wheel on a poorer system: the same bytes.

macOS has neither ``/proc`` nor ``prctl``, before Python 3.13 no ``os.waitid``, and no safe fork. All this is
taken away here, from the command and from the processes that it starts.
"""

import compileall
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tones
from late import late
from preloaded import MISSING
from runs import Run, changed, refused, run, sound, started, write

pytestmark = pytest.mark.slow

distributed = late("distributed")
ROOT = Path(__file__).parents[1]

POORER = """
import ctypes, os, select, sys

for module, name in (
    (os, "fork"), (os, "forkpty"), (os, "waitid"), (os, "sched_getaffinity"), (os, "memfd_create"),
    (os, "eventfd"), (os, "pidfd_open"), (os, "posix_fadvise"), (os, "splice"), (select, "epoll"),
):
    if hasattr(module, name):
        delattr(module, name)

OURS = os.sep + "soundcheck" + os.sep

def refuse(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(("/proc", "/sys")):
        if OURS in sys._getframe(1).f_code.co_filename:
            raise FileNotFoundError(arguments[0])
    if event == "ctypes.dlsym" and arguments[1] == "prctl":
        raise AttributeError("prctl")

sys.addaudithook(refuse)
open("poorer.txt", "w").close()
"""
MODEL = """
import os, time
import numpy as np

def level(signal):
    return np.sqrt(np.mean(np.square(signal)))

def loud(signals, sampling_rate):
    # What is given together shows, as it may in a neural network.
    mean = np.mean([level(signal) for signal in signals]) / 100
    return [{"arousal": float(np.clip(level(signal) * 5 + mean, 0, 1))} for signal in signals]

def odd(signal, sampling_rate):
    if len(signal) == 3100:
        os._exit(3)
    if len(signal) == 3200:
        time.sleep(60)
    return {"arousal": float(np.clip(level(signal) * 5, 0, 1))}
"""
COMMANDS = """
import sys

from soundcheck.cli import main

for words in (
    "init mine",
    "init mine --family own --like robustness_small_changes",
    "score references.csv model.csv --against us --out page.html",
):
    sys.argv[1:] = words.split()
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""
OPTIONS = {'loud", ': 'loud", batch: 3, ', "quiet": "odd"}
OPTIONS |= {'odd", ': 'odd", time_limit: 1, families: [correctness_regression], '}
SUITE = changed(tones.SUITE, OPTIONS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng, rows = tmp_path_factory.mktemp("same"), np.random.default_rng(1), []
    for n in range(12):
        sound(folder / "data" / f"{n}.wav", rng.uniform(0.02, 0.3) * rng.standard_normal(3000 + 100 * n))
        rows.append((f"{n}.wav", f"s{n % 4}", round(rng.uniform(), 3)))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal"])
    files = {"data/segments.csv": table, "my_model.py": MODEL, "suite.yml": SUITE}
    return write(folder, files | {"system/sitecustomize.py": POORER})


@pytest.fixture(scope="module")
def one(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book", "--jobs", "1", out="one", code=3)


def same(other, one):
    for name in ("results.csv", "predictions/loud/tones.parquet", "predictions/odd/tones.parquet"):
        assert (other.out / name).read_bytes() == (one.out / name).read_bytes(), name


def test_two_processes(folder, one, undrawn):
    same(run(undrawn, folder, "--no-book", "--jobs", "2", out="two", code=3), one)


def test_a_cluster(folder, one, undrawn):
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local:
        words = ("--no-book", "--jobs", "2", "--cluster", local.scheduler_address)
        same(run(undrawn, folder, *words, out="cluster", code=3), one)


def test_a_wheel_on_a_system_without_what_only_linux_has(folder, one, wheel):
    plain = SUITE.replace(", robustness_small_changes", "")  # without sounds, which the demo would make
    write(folder, {"plain.yml": re.sub("  loud: .*\n", "", plain)})
    path = os.pathsep.join(map(str, (folder / "system", wheel.parent / "site")))
    poorer = run(started, folder, "--jobs", "1", suite="plain.yml", out="poorer", code=3, PYTHONPATH=path)
    pd.testing.assert_frame_equal(poorer.results, one.rows(model="odd").reset_index(drop=True))
    record = (poorer.out / "run.json").read_text()
    assert "the model's process ended (exit code 3)" in record and "no answer within 1 s" in record
    assert (poorer.out / "html" / "methods" / "correctness_regression.html").is_file()
    assert (folder / "poorer.txt").is_file()


def test_a_cluster_without_the_extra(folder, undrawn):
    words = ("run", "suite.yml", "--cluster", "tcp://127.0.0.1:9")
    message = refused(undrawn, folder, *words, **{MISSING: "distributed"})
    assert 'pip install "soundcheck-speech[cluster]"' in message


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel of the clone; beside it, unpacked as pip does, what it installs."""
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    compileall.compile_dir(folder / "site", quiet=2)
    return wheel


def test_wheel_carries_all_files(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, suffix in (("notebooks", ".ipynb"), ("thresholds", ".yml"), ("book/methods", ".md")):
        files = {path.name for path in (ROOT / folder).glob(f"*{suffix}")}
        assert files
        assert {f"soundcheck/_share/{folder}/{name}" for name in files} <= names
    assert {"soundcheck/_share/suite.yml", "soundcheck/_share/_config.yml"} <= names
    library = {path.relative_to(ROOT / "lib") for path in (ROOT / "lib").rglob("*") if path.is_file()}
    code = {path.as_posix() for path in library if "__pycache__" not in path.parts and path.name[0] != "."}
    assert {"soundcheck/statistics/simulated_scores.csv", "soundcheck_demo/speech/corpus.py"} <= code <= names
    (points,) = (name for name in names if name.endswith("dist-info/entry_points.txt"))
    registered = zipfile.ZipFile(wheel).read(points).decode()
    assert all(f"[soundcheck.{group}]\ndemo = " in registered for group in ("formats", "sounds", "speech"))


def test_files_of_a_wheel_are_found_in_an_empty_folder(wheel, tmp_path):
    references, model = ["file,speaker,accent,transcript,arousal"], ["file,heard"]
    for n in range(300):
        references.append(f"{n}.wav,s{n % 30},{('us', 'indian')[n % 2]},turn left,0.{n % 7}")
        model.append(f"{n}.wav,{('turn left', 'turn')[n % 2]}")
    folder = write(tmp_path / "empty", {"references.csv": references, "model.csv": model})
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMANDS],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(wheel.parent / "site")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "model: word error rate 25.0 %" in done.stdout and "accent, against us:" in done.stdout
    assert "data:image/svg+xml" in (folder / "page.html").read_text()
    names = {path.relative_to(folder / "mine").as_posix() for path in (folder / "mine").rglob("*.*")}
    written = {"thresholds/own.yml", "notebooks/own.ipynb", "book/methods/own.md"}
    assert names == {"suite.yml", "my_model.py"} | written
