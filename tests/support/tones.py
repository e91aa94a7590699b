"""A small suite whose tones and models are its own: the louder, the more aroused."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from runs import changed, sound, write

from soundcheck.common.files import digest

MODEL = """
import os
import numpy as np

def level(signal):
    return float(np.clip(np.sqrt(np.mean(np.square(signal))) * 5, 0, 1))

def count(name):
    with open(os.environ["CALLS"], "a") as file:
        file.write(name)

def loud(signal, sampling_rate):
    count("l")
    return {"arousal": level(signal)}

def quiet(signal, sampling_rate):
    count("q")
    return {"arousal": 1 - level(signal)}

def rated(signal, sampling_rate):
    count("r")
    return {"arousal": 1 + 6 * level(signal)}
"""
SUITE = """
title: Small
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:loud", tasks: [arousal]}
  quiet: {python: "my_model:quiet", tasks: [arousal]}
families: [correctness_regression, robustness_small_changes]
studies: false
sweeps: false
"""


def make(folder: Path) -> Path:
    """Write twelve tones of six speakers, whose arousal is about their level, models and the suite."""
    rng = np.random.default_rng(1)
    rows = ["file,speaker,sex,arousal"]
    for number in range(12):
        level = rng.uniform(0.05, 0.25)
        signal = level * np.sin(2 * np.pi * 300 * np.arange(6000) / 16000)
        sound(folder / "data" / f"{number}.wav", signal)
        arousal = np.clip(5 * level / np.sqrt(2) + rng.normal(0, 0.1), 0, 1)
        rows.append(f"{number}.wav,s{number // 2},{('female', 'male')[number // 2 % 2]},{arousal:.3f}")
    return write(folder, {"data/segments.csv": rows, "my_model.py": MODEL, "suite.yml": SUITE})


class Project:
    """A folder with the small suite, and the command in it; counts what models are asked."""

    def __init__(self, folder: Path, command: Callable, out: str = "out") -> None:
        self.folder, self.command = folder, command
        self.calls, self.out = folder / "calls.txt", folder / out

    def __call__(self, *words: object, code: int = 0, **environment: str) -> str:
        """Give what a command says, which ends with this exit code."""
        self.calls.unlink(missing_ok=True)
        done = self.command(*words, cwd=self.folder, CALLS=str(self.calls), **environment)
        assert done.returncode == code and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self, *words: object, out: str = "", suite: str = "suite.yml", **more: object) -> str:
        return self("run", suite, "--out", out or self.out.name, *words, **more)

    def asked(self) -> Counter:
        """Say how often each model was asked by the last command."""
        return Counter(self.calls.read_text() if self.calls.exists() else "")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a part of a file."""
        write(self.folder, {name: changed((self.folder / name).read_text(), {old: new})})

    def content(self, out: str = "", part: str = "html") -> dict[str, str]:
        """Give the digest of each file of a part of an output folder."""
        root = self.folder / (out or self.out.name) / part
        return {p.relative_to(root).as_posix(): digest(p) for p in sorted(root.rglob("*")) if p.is_file()}
