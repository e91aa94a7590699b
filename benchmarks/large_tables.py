"""How long a run takes whose models are tables: 200,000 segments, or a million utterances without audio.

Run ``python benchmarks/large_tables.py segments`` or ``... utterances``. It makes a corpus, and predictions
of two models, in several sizes, and runs the real command on each, in a new folder. No model gets any sound:
what is timed is reading, looking at files, matching, statistics, notebooks and the book.

- ``segments``: 2,000, 20,000 and 200,000 segments with values and classes, once spread over 2,000 files and
  once all in one file; noise at the lowest sampling rate, 14 hours of it at the largest size.
- ``utterances``: a manifest of NeMo and two tables of transcripts for 100,000 and 1,000,000 utterances of
  2,000 speakers, with word errors and the comparison of recognisers.

Prints for each suite the seconds of each stage (``seconds`` in ``run.json``), the seconds of the processor,
and the peak of memory of all processes together. Ends with 1 if the largest suite takes longer or more memory
than :data:`LIMITS` say, or if ten times as many rows take more than ten times as long.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import soundfile

SIZES = {"segments": (2_000, 20_000, 200_000), "utterances": (100_000, 1_000_000)}
LIMITS = {"segments": (60.0, 2.0), "utterances": (1200.0, 8.0)}  # seconds, GB
FILES, MODELS = (2_000, 1), 2
SPEAKERS, WORDS = 2_000, 2_000
SEGMENT_FAMILIES = (
    "correctness_classification",
    "correctness_consistency",
    "correctness_distribution",
    "correctness_regression",
    "correctness_speaker_average",
    "fairness_accent",
    "fairness_groups",
    "fairness_sex",
)
UTTERANCE_FAMILIES = ("asr_word_errors", "asr_comparison")
CLASSES = np.array(["anger", "happiness", "neutral", "sadness"])
RATE, STEP = 1000, 0.25  # Hz; seconds from the start of a segment to that of the next
EVERY = 0.1  # seconds between two looks at the memory of all processes


def make_segments(
    folder: Path,
    segments: int,
    files: int,
    models: int = MODELS,
    families: Sequence[str] = SEGMENT_FAMILIES,
) -> Path:
    """Write a manifest, the predictions of two models and the suite; a file has consecutive segments."""
    rng = np.random.default_rng(segments)
    each = -(-segments // files)
    number = np.arange(segments)
    file, place = number // each, number % each
    length = 0.1 + np.round(0.1 * rng.random(segments), 3)
    start = STEP * place
    people = min(200, max(20, files // 10))
    speaker = file * people // files if files >= people else place * people // each
    truth = np.clip(rng.normal(0.5, 0.17, segments), 0, 1).round(3)
    emotion = rng.integers(len(CLASSES), size=segments)
    where = {
        "file": [f"{name:05d}.wav" for name in file],
        "start": [f"{value:g}" for value in start],
        "end": [f"{value:.3f}" for value in start + length],
    }
    manifest = where | {
        "speaker": [f"s{name:03d}" for name in speaker],
        "sex": np.where(speaker % 2, "female", "male"),
        "accent": np.array(["german", "indian", "scottish"])[speaker % 3],
        "device": np.array(["phone", "headset"])[speaker // 2 % 2],
        "arousal": truth,
        "emotion": CLASSES[emotion],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name in range(file[-1] + 1):
        noise = rng.integers(-3000, 3000, size=round(each * STEP * RATE), dtype=np.int16)
        soundfile.write(folder / f"{name:05d}.wav", noise, RATE)
    pd.DataFrame(manifest).to_csv(folder / "segments.csv", index=False)
    lines = []
    for model in range(models):
        name = f"model{model + 1}"
        shuffled = rng.permutation(segments)  # rows of a table may stand in any order
        wrong = rng.random(segments) < 0.2 + 0.1 * model
        answers = where | {
            "arousal": np.clip(truth + rng.normal(0, 0.1 + 0.05 * model, segments), 0, 1).round(4),
            "emotion": CLASSES[np.where(wrong, (emotion + 1) % len(CLASSES), emotion)],
        }
        pd.DataFrame(answers).iloc[shuffled].to_csv(folder / f"{name}.csv", index=False)
        lines.append(f"  {name}: {{predictions: {name}.csv, tasks: [arousal, emotion]}}")
    suite = folder / "suite.yml"
    suite.write_text(
        "\n".join(
            [
                f"title: {segments} segments of {files} files",
                "groups: [device, sex × device]",
                "corpora:",
                "  calls: {format: csv, path: segments.csv}",
                "models:",
                *lines,
                f"families: [{', '.join(families)}]",
                f"limits: {{audio_seconds: {round(each * STEP) + 1}}}",
                "studies: false",
            ]
        )
        + "\n"
    )
    return suite


def make_utterances(folder: Path, utterances: int) -> Path:
    """Write a manifest, the transcripts of two recognisers and the suite."""
    rng = np.random.default_rng(utterances)
    folder.mkdir(parents=True, exist_ok=True)
    letters = np.array(list("abdeiklmnoprstu"))
    words = np.array(["".join(rng.choice(letters, size=rng.integers(2, 9))) for _ in range(WORDS)])
    rank = 1 / np.arange(1, WORDS + 1)
    lengths = rng.integers(3, 16, size=utterances)
    spoken = rng.choice(words, p=rank / rank.sum(), size=lengths.sum())
    ends = np.cumsum(lengths)
    speaker = np.arange(utterances) * min(SPEAKERS, utterances // 20) // utterances
    names = [f"/data/theirs/s{who:04d}/u{number:07d}.wav" for number, who in enumerate(speaker)]
    with open(folder / "manifest.json", "w", encoding="utf-8") as file:
        for number, name in enumerate(names):
            line = {
                "audio_filepath": name,
                "duration": round(0.4 * int(lengths[number]), 2),
                "text": " ".join(spoken[ends[number] - lengths[number] : ends[number]]),
                "speaker": f"s{speaker[number]:04d}",
                "gender": "fm"[speaker[number] % 2],
                "lang": "en",
            }
            file.write(json.dumps(line) + "\n")
    for model, rate in (("one", 0.08), ("two", 0.1)):
        heard = spoken.copy()
        wrong = rng.random(len(heard)) < rate
        heard[wrong] = rng.choice(words, size=wrong.sum())
        order = rng.permutation(utterances)  # rows of a table may stand in any order
        with open(folder / f"{model}.csv", "w", encoding="utf-8") as file:
            file.write("file,transcript\n")
            for number in order.tolist():
                text = " ".join(heard[ends[number] - lengths[number] : ends[number]])
                file.write(f"{names[number].removeprefix('/data/theirs/')},{text}\n")
    suite = folder / "suite.yml"
    suite.write_text(
        "\n".join(
            [
                f"title: {utterances} utterances",
                "corpora:",
                "  calls:",
                "    format: nemo",
                "    path: manifest.json",
                "    audio: false",
                "    cut: /data/theirs",
                "    columns: {sex: gender}",
                "models:",
                "  one: {predictions: one.csv, tasks: [transcript]}",
                "  two: {predictions: two.csv, tasks: [transcript]}",
                f"families: [{', '.join(UTTERANCE_FAMILIES)}]",
                "limits: {notebook_seconds: 3600}",
                "studies: false",
            ]
        )
        + "\n"
    )
    return suite


def run(suite: Path, out: Path, jobs: int) -> dict[str, float | dict[str, float]]:
    """Run the command on a suite in a new folder; give seconds and gigabytes."""
    shutil.rmtree(out, ignore_errors=True)
    command = Path(sys.executable).with_name("soundcheck")
    begin, before, peak = time.perf_counter(), os.times(), 0
    with open(out.with_suffix(".log"), "wb") as log:
        started = [str(command), "run", str(suite), "--out", str(out), "--jobs", str(jobs)]
        process = subprocess.Popen(started, stdout=log, stderr=log, env=os.environ | {"SOUNDCHECK_CACHE": ""})
        while process.poll() is None:
            peak = max(peak, _memory(process.pid))
            time.sleep(EVERY)
    after = os.times()
    if process.returncode:
        sys.exit(f"{suite}: exit code {process.returncode}\n{out.with_suffix('.log').read_text()}")
    return {
        "wall": time.perf_counter() - begin,
        "processor": sum(after[2:4]) - sum(before[2:4]),
        "memory": peak / 1e9,
        "stages": json.loads((out / "run.json").read_text())["seconds"],
    }


def _memory(pid: int) -> int:
    """Give the bytes of a process and all below it; what forks share counts for the share of each."""
    total = 0
    try:
        watched = psutil.Process(pid)
        for one in (watched, *watched.children(recursive=True)):
            try:
                about = one.memory_full_info()
                total += getattr(about, "pss", 0) or about.uss
            except psutil.Error:  # it ended between two looks
                continue
    except psutil.Error:
        pass
    return total


def main() -> int:
    """Make suites, run them and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", choices=SIZES)
    parser.add_argument("--sizes", type=int, nargs="+", help="rows of each suite")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    sizes, fine = given.sizes or SIZES[given.rows], True
    with tempfile.TemporaryDirectory(prefix="soundcheck-benchmark-") as folder:
        for files in FILES if given.rows == "segments" else (0,):
            last = None
            for size in sizes:
                place = Path(folder, f"{size}-{files}")
                suite = make_segments(place, size, files) if files else make_utterances(place, size)
                took = run(suite, place / "build", given.jobs)
                stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in took["stages"].items())
                print(
                    f"{size:>8} {given.rows}{f' in {files} files' if files else ''}: {took['wall']:6.1f} s,"
                    f" processor {took['processor']:6.1f} s, memory {took['memory']:.2f} GB ({stages})",
                    flush=True,
                )
                if last:
                    more, longer = size / last[0], took["processor"] / last[1]["processor"]
                    print(f"         {more:g} times as many: {longer:.1f} times the seconds of processor")
                    fine &= longer <= more
                last = size, took
            if last[0] >= max(SIZES[given.rows]):
                seconds, gigabytes = LIMITS[given.rows]
                fine &= last[1]["wall"] <= seconds and last[1]["memory"] <= gigabytes
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
