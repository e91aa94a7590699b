"""A small project: two models of values and classes, one unfair, and a recogniser of six speakers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

CLASSES = ("anger", "happiness", "neutral", "sadness")
WORDS = "zero one two three four five six seven eight nine".split()
SUITE = """\
title: Small world
corpora:
  talk: {format: csv, path: talk.csv, audio: false}
  digits: {format: csv, path: digits.csv, audio: false}
models:
  ours: {predictions: ours.csv, tasks: [arousal, emotion]}
  other: {predictions: other.csv, tasks: [arousal, emotion]}
  words: {predictions: words.csv, tasks: [transcript]}
comparisons:
  both: {baseline: other, candidate: ours}
families: [correctness_regression, correctness_classification, fairness_accent, asr_word_errors]
replicates: 100
studies: false
sweeps: false
"""


def make(folder: Path) -> Path:
    """Write suite, corpora and predictions: ours is wrong for Indian speakers, words for German ones."""
    rng = np.random.default_rng(1)
    tables: dict[str, list[str]] = {
        "talk": ["file,speaker,duration,sex,accent,arousal,emotion"],
        "digits": ["file,speaker,duration,sex,accent,transcript"],
        **{name: ["file,arousal,emotion"] for name in ("ours", "other")},
        "words": ["file,transcript"],
    }
    for number in range(24 * 20):
        speaker = number % 24
        sex, accent = ("female", "male")[speaker % 2], "us" if speaker < 12 else "indian"
        arousal, emotion = rng.uniform(0.1, 0.9), CLASSES[rng.integers(4)]
        tables["talk"].append(f"{number}.wav,s{speaker},2.5,{sex},{accent},{arousal:.3f},{emotion}")
        off = 0.2 if accent == "indian" else 0.0
        for name, spread, share in (("ours", 0.05, 0.7), ("other", 0.2, 0.4)):
            heard = emotion if rng.uniform() < share else CLASSES[rng.integers(4)]
            said = np.clip(arousal + (off if name == "ours" else 0) + rng.normal(0, spread), 0, 1)
            tables[name].append(f"{number}.wav,{said:.4f},{heard}")
    for number in range(6 * 60):
        speaker, word = number % 6, WORDS[number % 10]
        accent = ("german", "us", "french")[speaker // 2]
        wrong = rng.uniform() < (0.3 if accent == "german" else 0.05)
        sex = ("female", "male")[speaker % 2]
        tables["digits"].append(f"d{number}.wav,t{speaker},0.6,{sex},{accent},{word}")
        tables["words"].append(f"d{number}.wav,{WORDS[(number + 1) % 10] if wrong else word}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (folder / "suite.yml").write_text(SUITE)
    return folder
