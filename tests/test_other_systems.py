"""A run on a system that lacks what Linux has beyond others: the same results.

macOS has neither ``/proc`` nor ``prctl``, before Python 3.13 no ``os.waitid``, and no safe fork. All this is
taken away here, from the command and from the processes that it starts.
"""

import numpy as np
import pandas as pd
import pytest
import soundfile

pytestmark = pytest.mark.slow

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
"""
MODEL = """
import os, time
import numpy as np

def loud(signal, sampling_rate):
    if len(signal) == 6001:
        os._exit(3)
    if len(signal) == 6002:
        time.sleep(60)
    return {"arousal": float(np.clip(np.sqrt(np.mean(np.square(signal))) * 5, 0, 1))}
"""
SUITE = """
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:loud", tasks: [arousal], time_limit: 1}
families: [correctness_regression]
studies: false
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    rng = np.random.default_rng(1)
    (folder / "data").mkdir()
    rows = ["file,speaker,arousal"]
    for number in range(12):
        signal = rng.uniform(0.05, 0.25) * np.sin(2 * np.pi * 300 * np.arange(5991 + number) / 16000)
        soundfile.write(folder / "data" / f"{number}.wav", signal.astype(np.float32), 16000)
        rows.append(f"{number}.wav,s{number // 2},{rng.uniform(0.1, 0.9):.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    (folder / "poorer").mkdir()
    (folder / "poorer" / "sitecustomize.py").write_text(POORER)
    return folder


def test_a_run_without_what_only_linux_has_gives_the_same(project, undrawn):
    ordinary = undrawn("run", "suite.yml", "--out", "here", "--no-book", cwd=project)
    poorer = undrawn("run", "suite.yml", "--out", "there", cwd=project, PYTHONPATH=str(project / "poorer"))
    assert ordinary.returncode == poorer.returncode, poorer.stderr
    assert "the model's process ended (exit code 3)" in (project / "there" / "run.json").read_text()
    assert "no answer within 1 s" in (project / "there" / "run.json").read_text()
    here, there = (project / name / "results.csv" for name in ("here", "there"))
    assert here.read_bytes() == there.read_bytes()
    assert len(pd.read_csv(there)) > 1
    assert (project / "there" / "html" / "index.html").is_file()


def test_the_poorer_system_is_poorer(project, undrawn):
    import os
    import subprocess
    import sys

    code = "import os, select; print(hasattr(os, 'fork'), hasattr(os, 'waitid'), hasattr(select, 'epoll'))"
    environment = os.environ | {"PYTHONPATH": str(project / "poorer")}
    said = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True)
    assert said.stdout.split() == ["False"] * 3, said.stderr
