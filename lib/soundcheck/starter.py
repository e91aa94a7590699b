"""Writes a suite to start from: ``soundcheck init``."""

from __future__ import annotations

from pathlib import Path

from soundcheck import files, resources
from soundcheck.errors import InputError, Problem

MODEL = '''"""A model to replace by yours: louder speech is more aroused."""

import numpy as np


def predict(signal, sampling_rate):
    """Predict from one signal: float32, shape (samples,), mono, 16000 Hz."""
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    return {"arousal": float(np.clip((level + 45) / 30, 0, 1))}
'''

SUITE = """
  mine: # a function of one signal, in my_model.py beside this file
    python: "my_model:predict"
    tasks: [arousal]
"""


def write(folder: Path) -> str:
    """Write ``suite.yml`` and ``my_model.py`` into a folder; never overwrites.

    Returns
    -------
    str
        What to do next.

    Raises
    ------
    InputError
        If one of the files is there already.
    """
    demo = (resources.root() / "suite.yml").read_text(encoding="utf-8")
    head, _, rest = demo.partition("\nmodels:\n")
    suite = f"{head}\nmodels:\n{SUITE.strip(chr(10))}\n{rest}"
    contents = {"suite.yml": suite, "my_model.py": MODEL}
    there = [name for name in contents if (folder / name).exists()]
    if there:
        raise InputError(
            Problem(str(folder / name), "the file exists already", "Choose another folder") for name in there
        )
    for name, text in contents.items():
        files.write_text(folder / name, text)
    return f"Wrote suite.yml and my_model.py. Next: soundcheck run {folder / 'suite.yml'}"
