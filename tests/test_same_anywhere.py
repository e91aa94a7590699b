"""Whole runs by one and two processes, on a Dask cluster and on a poorer system: the same bytes.

macOS has neither ``/proc`` nor ``prctl``, before Python 3.13 no ``os.waitid``, and no safe fork. All this is
taken away here, from the command and from the processes that it starts.
"""

import re

import numpy as np
import pandas as pd
import pytest
import tones
from late import late
from runs import Run, changed, refused, run, sound, write

pytestmark = pytest.mark.slow

distributed = late("distributed")

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
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local:
        words = ("--no-book", "--jobs", "2", "--cluster", local.scheduler_address)
        same(run(undrawn, folder, *words, out="cluster", code=3), one)


def test_a_system_without_what_only_linux_has(folder, one, undrawn):
    plain = SUITE.replace(", robustness_small_changes", "")  # without sounds, which the demo would make
    write(folder, {"plain.yml": re.sub("  loud: .*\n", "", plain)})
    how = {"suite": "plain.yml", "out": "poorer", "code": 3}
    poorer = run(undrawn, folder, PYTHONPATH=str(folder / "system"), **how)
    pd.testing.assert_frame_equal(poorer.results, one.rows(model="odd").reset_index(drop=True))
    record = (poorer.out / "run.json").read_text()
    assert "the model's process ended (exit code 3)" in record and "no answer within 1 s" in record
    assert (poorer.out / "html" / "index.html").is_file()
    assert (folder / "poorer.txt").is_file()


def test_a_cluster_without_the_extra(folder, undrawn):
    write(folder, {"without/distributed/__init__.py": "raise ImportError('no distributed')"})
    words = ("run", "suite.yml", "--cluster", "tcp://127.0.0.1:9")
    message = refused(undrawn, folder, *words, PYTHONPATH=str(folder / "without"))
    assert 'pip install "soundcheck-speech[cluster]"' in message
