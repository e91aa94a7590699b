"""A small suite whose tones and model are its own: the louder, the more aroused."""

from pathlib import Path

import numpy as np
import soundfile

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
    rng = np.random.default_rng(1)
    (folder / "data").mkdir(parents=True)
    rows = ["file,speaker,arousal"]
    for number in range(12):
        signal = rng.uniform(0.05, 0.25) * np.sin(2 * np.pi * 300 * np.arange(6000) / 16000)
        soundfile.write(folder / "data" / f"{number}.wav", signal.astype(np.float32), 16000)
        rows.append(f"{number}.wav,s{number // 2},{rng.uniform(0.1, 0.9):.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    return folder
