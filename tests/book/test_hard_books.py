"""Through the real command: data that nothing can be made of are refused in one clear message."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from tests.support.hard_suite import RATE, write_table

SUITE = """
title: Hard
replicates: 100
corpora:
  small: {format: csv, path: data/segments.csv, groups: [device]}
models:
  m: {python: "m:f", tasks: [arousal]}
families: [fairness_groups]
"""


def project(folder: Path, number: int, device: Callable[[int], str]) -> Path:
    """Write a suite of short silences, each with a device."""
    (folder / "data").mkdir()
    rows = []
    for n in range(number):
        soundfile.write(folder / "data" / f"{n}.wav", np.zeros(RATE // 10), RATE)
        rows.append([f"{n}.wav", f"s{n // 4}", 0.5, device(n)])
    write_table(folder / "data" / "segments.csv", ["file", "speaker", "arousal", "device"], rows)
    (folder / "m.py").write_text("def f(signal, sampling_rate):\n    return {'arousal': 0.5}\n")
    (folder / "suite.yml").write_text(SUITE)
    return folder


def refused(command, folder: Path) -> str:
    """Run a suite that cannot be run, and give what is said of it."""
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("[")]
    return line


def test_a_corpus_without_any_readable_sound(tmp_path, command):
    project(tmp_path, 4, lambda n: "phone")
    for path in (tmp_path / "data").glob("*.wav"):
        path.write_bytes(b"no sound")
    told = refused(command, tmp_path)
    assert "segments.csv: no segment can be used" in told and "Check the files" in told


def test_hundreds_of_groups(tmp_path, command):
    told = refused(command, project(tmp_path, 300, lambda n: f"device {n}"))
    assert "300 different values, more than the 50" in told and "fewer values" in told
