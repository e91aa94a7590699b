"""A suite as hard on pages as data can be: markup, scripts from right to left, emoji, texts of 5,000 letters.

It has models of all kinds, so that its book has a page of each kind, and is small enough for a test.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import soundfile

RATE = 8000
MARKUP = '"><img src=x onerror="lost()"><script>lost()</script>{{ 7*7 }} `x` $x$ [a](b)'
RIGHT_TO_LEFT = "مرحبا שלום \u202eevil\u2066 🎧👩🏽‍🎤"
LONG = "very-long-" * 500  # 5,000 characters and no place to break a line
SPEAKERS, EACH, GROUPS = 20, 3, 6
MODEL = '''
import numpy as np


def level(signal):
    return float(np.clip(np.sqrt(np.mean(np.square(signal))) * 5, 0, 1)) if len(signal) else 0.0


def loud(signal, sampling_rate):
    """Louder is more aroused."""
    return {"arousal": level(signal)}


def embed(signal, sampling_rate):
    """Energy of bands."""
    power = np.abs(np.fft.rfft(signal, 4000)) ** 2
    bands = np.log(power[:1600].reshape(40, 40).mean(axis=1) + 1e-6)
    return {"embedding": bands - bands.mean() + 0.01}
'''
SUITE = """
title: {title}
replicates: 100
seed: 1
corpora:
  {corpus}: {{format: csv, path: data/segments.csv, groups: [device]}}
models:
  {model}: {{python: "hard:loud", tasks: [arousal], description: {description}}}
  voices: {{python: "hard:embed", tasks: [embedding]}}
  heard: {{predictions: heard.csv, tasks: [transcript]}}
  {deaf}: {{predictions: deaf.csv, tasks: [transcript]}}
families: [correctness_regression, fairness_groups, robustness_small_changes, asr_word_errors,
  speaker_verification, verification_robustness]
comparisons:
  {comparison}: {{baseline: heard, candidate: {deaf}}}
limits:
  segments_per_change: 20
  levels: 2
  transformations: {{verification_robustness: [Clipping, Packet Loss]}}
studies: false
sweeps: false
"""


def write_table(path: Path, columns: list[str], rows: list[list[object]]) -> None:
    """Write a table of comma-separated values, quoted where that is needed."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def make(folder: Path) -> Path:
    """Write data, models and the suite."""
    rng = np.random.default_rng(0)
    (folder / "data").mkdir(parents=True)
    rows, heard = [], []
    for number in range(SPEAKERS * EACH):
        speaker = number // EACH
        name = {0: "<b>&'.wav", 1: f"{RIGHT_TO_LEFT[:12]}.wav", 2: "a b%20#?.wav"}.get(
            number, f"{number}.wav"
        )
        seconds = {3: 0.1, 4: 0.0125}.get(number, 0.4)
        own = np.random.default_rng(speaker).uniform(200, 2000, 3)
        time = np.arange(int(seconds * RATE)) / RATE
        signal = sum(np.sin(2 * np.pi * tone * time) for tone in own) * rng.uniform(0.02, 0.2)
        signal = 0 * signal if number == 5 else signal + 0.01 * rng.standard_normal(len(signal))
        soundfile.write(folder / "data" / name, signal.astype(np.float32), RATE, subtype="PCM_16")
        words = " ".join(rng.choice(["go", "left", "right", "stop", "door"], 4))
        text = {6: MARKUP, 7: RIGHT_TO_LEFT, 8: LONG, 9: "word " * 1000, 10: ""}.get(number, words)
        device = (MARKUP, RIGHT_TO_LEFT, LONG)[number % 3] if number < 30 else f"device {number % GROUPS}"
        sex = ("female", "male")[speaker % 2]
        rows.append([name, f"s{speaker}", sex, device, f"{rng.uniform(0, 1):.3f}", text])
        heard.append([name, text[: len(text) // 2 + 1] if number % 3 else text])
    columns = ["file", "speaker", "sex", "device", "arousal", "transcript"]
    write_table(folder / "data" / "segments.csv", columns, rows)
    write_table(folder / "heard.csv", ["file", "transcript"], heard)
    write_table(folder / "deaf.csv", ["file", "transcript"], [[name, ""] for name, _ in heard])
    (folder / "hard.py").write_text(MODEL, encoding="utf-8")
    names = {
        **{"title": MARKUP, "corpus": f"{MARKUP[:30]} {RIGHT_TO_LEFT}", "model": MARKUP, "description": LONG},
        **{"deaf": RIGHT_TO_LEFT, "comparison": MARKUP},
    }
    quoted = {key: "'" + text.replace("'", "''") + "'" for key, text in names.items()}
    (folder / "suite.yml").write_text(SUITE.format(**quoted), encoding="utf-8")
    return folder
