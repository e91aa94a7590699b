"""Writes a suite to start from: ``soundcheck init``."""

from __future__ import annotations

from pathlib import Path

from soundcheck import files
from soundcheck.errors import InputError, Problem

MODEL = '''"""A model to replace by yours: louder speech is more aroused."""

import numpy as np


def predict(signal, sampling_rate):
    """Predict from one signal: float32, shape (samples,), mono, 16000 Hz."""
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    return {"arousal": float(np.clip((level + 45) / 30, 0, 1))}
'''

SUITE = """# A suite: which models are tested, on which corpora, by which families of tests.
title: My models

# The same seed gives the same book, on any machine and with any number of jobs.
seed: 0

# What the models listen to. Each corpus has a name of your choice.
corpora:
  demo: # synthetic speech, made on first use; says nothing about real voices
    format: demo
  # A table of your own recordings, with the columns file, speaker, sex and one column for each labelled task:
  # calls:
  #   format: csv
  #   path: data/segments.csv # relative to this file
  #   columns: {arousal: activation} # our name: the name in your table
  #   range: [1, 7] # lowest and highest possible label

# What is tested. Each model has a name of your choice and says what it predicts.
models:
  mine: # a function of one signal, in my_model.py beside this file
    python: "my_model:predict"
    tasks: [arousal]
  random-gaussian: # guesses: a test that it passes tells little
    random: gaussian
  # Predictions that you already have, one row a segment:
  # theirs:
  #   predictions: theirs.csv
  #   tasks: [arousal]
  # A recogniser that is a program and prints the transcript:
  # asr:
  #   command: "my-asr --model small {audio}"

# Noises and impulse responses are synthesised. Where you have recordings, name their folders:
# sounds:
#   noise: ~/data/musan # with folders speech, noise and music

# Which models are compared, segment by segment. Each comparison has a name of your choice.
comparisons:
  mine against chance: {baseline: random-gaussian, candidate: mine}

# Which tests are run: all, or a list such as [correctness_regression, fairness_sex].
families: all

# Thresholds of fairness tests: published, or simulated: stretched to the size of the groups in your corpora.
thresholds: published
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
    contents = {"suite.yml": SUITE, "my_model.py": MODEL}
    there = [name for name in contents if (folder / name).exists()]
    if there:
        raise InputError(
            Problem(str(folder / name), "the file exists already", "Choose another folder") for name in there
        )
    for name, text in contents.items():
        files.write_text(folder / name, text)
    return f"Wrote suite.yml and my_model.py. Next: soundcheck run {folder / 'suite.yml'}"
