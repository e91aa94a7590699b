"""The suites of golden files: small data made here, and results that others published."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile

RATE = 8000
SPEAKERS, EACH = 24, 6
WORDS = ("go", "left", "right", "stop", "door", "light")
CLASSES = ("anger", "happiness", "neutral", "sadness")
MODELS = """
import json
import sys

import numpy as np


def level(signal):
    return float(np.clip(np.sqrt(np.mean(np.square(signal))) * 6, 0, 1)) if len(signal) else 0.0


def loud(signal, sampling_rate):
    value = level(signal)
    return {"arousal": value, "emotion": ("sadness", "neutral", "happiness", "anger")[min(int(value * 4), 3)]}


def sure(signal, sampling_rate):
    value = level(signal)
    spread = {"value": value, "low": max(0.0, value - 0.2), "high": min(1.0, value + 0.2)}
    return {"arousal": spread, "emotion": {"anger": value, "sadness": 1 - value}}


def voice(signal, sampling_rate):
    power = np.abs(np.fft.rfft(signal, 4000)) ** 2
    bands = np.log(power[:1600].reshape(40, 40).mean(axis=1) + 1e-6)
    return {"embedding": bands - bands.mean() + 0.01}


def heard(signal, sampling_rate):
    words = ("go", "left", "right", "stop", "door", "light")
    return {"transcript": " ".join(words[int(level(signal) * 60 + n) % 6] for n in range(3))}
"""
KINDS = """
title: All kinds of model
replicates: 200
seed: 3
corpora:
  talk:
    format: csv
    path: data/segments.csv
    groups: [device, {age: {young: [0, 39], old: [40, 90]}}, sex × accent]
models:
  loud: {python: "models:loud", tasks: [arousal, emotion]}
  sure: {python: "models:sure", tasks: [arousal, emotion]}
  voices: {python: "models:voice", tasks: [embedding]}
  hears: {python: "models:heard", tasks: [transcript]}
  program: {command: "python program.py {audio}", tasks: [arousal]}
  table: {predictions: table.csv, tasks: [arousal, emotion]}
  parquet: {predictions: table.parquet, tasks: [arousal]}
  lines: {predictions: heard.jsonl, tasks: [transcript]}
  trn: {predictions: heard.trn, tasks: [transcript]}
  stm: {predictions: heard.stm, tasks: [transcript]}
  kaldi: {predictions: heard_text, tasks: [transcript]}
  gauss: {random: gaussian}
  classes: {random: categorical}
comparisons:
  values: {baseline: table, candidate: loud}
  words: {baseline: lines, candidate: hears}
families: all
limits: {segments_per_change: 20, levels: 2}
studies: false
sweeps: false
"""
SMALL = """
title: Small
replicates: 100
corpora:
  talk: {format: csv, path: labels.csv, audio: false}
models:
  table: {predictions: answers.csv, tasks: [arousal, emotion]}
  words: {predictions: heard.csv, tasks: [transcript]}
families: [correctness_regression, correctness_classification, asr_word_errors, fairness_sex]
"""
ARTIE = """
title: Artie Bias Corpus
corpora:
  artie: {format: commonvoice, path: artie-bias-corpus.tsv, audio: false, groups: [age]}
models:
  amazon: {predictions: amazon.csv, tasks: [transcript]}
  google: {predictions: google.csv, tasks: [transcript]}
  deepspeech: {predictions: deepspeech.csv, tasks: [transcript]}
comparisons: {google: {baseline: amazon, candidate: google}}
families: [asr_word_errors, asr_comparison, asr_fairness, fairness_groups, fairness_worst_groups]
studies: false
"""
CREMA_D = """
title: CREMA-D
tasks:
  emotion6: {type: classification, classes: [anger, disgust, fear, happiness, neutral, sadness]}
corpora:
  crema_d:
    format: csv
    path: segments.csv
    audio: false
    groups: [sex, race, {age: {young: [0, 39], old: [40, 90]}}]
models:
  humans: {predictions: humans.csv, tasks: [emotion6]}
  guess: {random: categorical}
families:
  [correctness_calibration, correctness_classification, correctness_distribution, fairness_sex,
   fairness_groups]
studies: false
"""
PUBLISHED = {"artie": ARTIE, "crema_d": CREMA_D}


def labelled(rng: np.random.Generator) -> pd.DataFrame:
    """Make a table of segments with labels, groups and words."""
    count = SPEAKERS * EACH
    speaker = np.arange(count) // EACH
    return pd.DataFrame(
        {
            "file": [f"{number}.wav" for number in range(count)],
            "speaker": [f"s{number:02}" for number in speaker],
            "sex": np.where(speaker % 2, "male", "female"),
            "accent": np.array(["us", "scottish", "indian"])[speaker % 3],
            "language": "en",
            "device": np.array(["phone", "headset"])[rng.integers(0, 2, count)],
            "age": 20 + 2 * speaker,
            "arousal": rng.uniform(0, 1, count).round(3),
            "emotion": rng.choice(CLASSES, count),
            "transcript": [" ".join(rng.choice(WORDS, 3)) for _ in range(count)],
        }
    )


def answered(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Make answers that are right in most cases."""
    wrong = rng.uniform(size=len(table)) < 0.3
    heard = [
        " ".join([*text.split()[:2], "door"]) if bad else text
        for text, bad in zip(table["transcript"], wrong, strict=True)
    ]
    return pd.DataFrame(
        {
            "file": table["file"],
            "arousal": np.clip(table["arousal"] + rng.normal(0, 0.1, len(table)), 0, 1).round(4),
            "emotion": table["emotion"].where(~wrong, rng.choice(CLASSES, len(table))),
            "transcript": heard,
        }
    )


def small(folder: Path) -> Path:
    """Write a project without sounds, for commands that are refused or quick."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    table = labelled(rng)
    answers = answered(table, rng)
    table.to_csv(folder / "labels.csv", index=False)
    answers[["file", "arousal", "emotion"]].to_csv(folder / "answers.csv", index=False)
    answers[["file", "transcript"]].to_csv(folder / "heard.csv", index=False)
    (folder / "suite.yml").write_text(SMALL, encoding="utf-8")
    return folder / "suite.yml"


def kinds(folder: Path) -> Path:
    """Write a project with sounds and all kinds of model that need no package beyond ours."""
    rng = np.random.default_rng(1)
    (folder / "data").mkdir()
    table = labelled(rng)
    for row in table.itertuples():
        tones = np.random.default_rng(int(row.speaker[1:])).uniform(200, 2000, 3)
        time = np.arange(int(0.5 * RATE)) / RATE
        signal = sum(np.sin(2 * np.pi * tone * time) for tone in tones) * (0.02 + 0.1 * row.arousal)
        signal += 0.005 * rng.standard_normal(len(time))
        soundfile.write(folder / "data" / row.file, signal.astype(np.float32), RATE, subtype="PCM_16")
    table.to_csv(folder / "data" / "segments.csv", index=False)
    answers = answered(table, rng)
    answers[["file", "arousal", "emotion"]].to_csv(folder / "table.csv", index=False)
    answers[["file", "arousal"]].to_parquet(folder / "table.parquet", index=False)
    pairs = list(zip(answers["file"], answers["transcript"], strict=True))
    write = {
        "heard.jsonl": [json.dumps({"audio_filepath": name, "pred_text": text}) for name, text in pairs],
        "heard.trn": [f"{text} ({name[:-4]})" for name, text in pairs],
        "heard.stm": [f"{name[:-4]} 1 x 0.00 0.50 <o,f0> {text}" for name, text in pairs],
        "heard_text": [f"{name[:-4]} {text}" for name, text in pairs],
        "models.py": [MODELS],
        "program.py": ["import json, sys", "import soundfile", "from models import level"]
        + ["signal, rate = soundfile.read(sys.argv[1], dtype='float32')"]
        + ["print(json.dumps({'arousal': level(signal)}))"],
        "suite.yml": [KINDS],
    }
    for name, lines in write.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "suite.yml"


def published(name: str, folder: Path) -> Path:
    """Copy published results beside their suite."""
    shutil.copytree(Path(os.environ["SOUNDCHECK_PUBLISHED"]) / name, folder / name)
    (folder / name).chmod(0o755)
    (folder / name / "suite.yml").write_text(PUBLISHED[name], encoding="utf-8")
    return folder / name / "suite.yml"
