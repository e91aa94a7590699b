"""How long a run takes whose models are tables, from thousands to hundreds of thousands of segments.

Run ``python benchmarks/large_tables.py``. It makes a manifest and the answers of two models for 2,000, 20,000
and 200,000 segments, once spread over 2,000 files and once all in one file, and runs the real command on
each. The recordings are noise at the lowest sampling rate, 14 hours of it at the largest size. No model hears
them: what is timed is reading, looking at files, matching, statistics, notebooks and the book.

Prints for each suite the seconds of each stage (``seconds`` in ``run.json``), the seconds of the processor,
and the peak of memory of the largest process, children one by one. Then how both grow from size to size.
Ends with 1 if the largest suite takes more than 60 s or 1 GB, or if ten times as many segments take more than
ten times as long.
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
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import soundfile

SIZES, FILES, MODELS = (2_000, 20_000, 200_000), (2_000, 1), 2
FAMILIES = (
    "correctness_classification",
    "correctness_consistency",
    "correctness_distribution",
    "correctness_regression",
    "correctness_speaker_average",
    "fairness_accent",
    "fairness_groups",
    "fairness_sex",
)
SECONDS, GIGABYTES = 60.0, 1.0
CLASSES = np.array(["anger", "happiness", "neutral", "sadness"])
RATE, STEP = 1000, 0.25  # Hz; seconds from the start of a segment to that of the next
EVERY = 0.1  # seconds between two looks at the memory of all processes


def make_suite(folder: Path, segments: int, files: int, models: int, families: tuple[str, ...]) -> Path:
    """Write a manifest, the answers of some models and the suite; segments of a file follow one another."""
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


def run(suite: Path, out: Path, jobs: int) -> dict[str, float | dict[str, float]]:
    """Run the command on a suite in a new folder; give seconds and gigabytes."""
    shutil.rmtree(out, ignore_errors=True)
    command = Path(sys.executable).with_name("soundcheck")
    begin, before = time.perf_counter(), os.times()
    with open(out.with_suffix(".log"), "wb") as log:
        started = [str(command), "run", str(suite), "--out", str(out), "--jobs", str(jobs)]
        process = subprocess.Popen(started, stdout=log, stderr=log, env=os.environ | {"SOUNDCHECK_CACHE": ""})
        parent, child = 0, 0
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                parent = max(parent, watched.memory_info().rss)
                for other in watched.children(recursive=True):
                    child = max(child, other.memory_info().rss)
            except psutil.Error:  # it ended between two looks
                pass
            time.sleep(EVERY)
    after = os.times()
    if process.returncode:
        sys.exit(f"{suite}: exit code {process.returncode}\n{out.with_suffix('.log').read_text()}")
    return {
        "wall": time.perf_counter() - begin,
        "processor": sum(after[2:4]) - sum(before[2:4]),
        "parent": parent / 1e9,
        "child": child / 1e9,
        "stages": json.loads((out / "run.json").read_text())["seconds"],
    }


def main() -> int:
    """Make suites, run them and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="segments of each suite")
    parser.add_argument("--files", type=int, nargs="+", default=FILES, help="files that they are spread over")
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to keep suites and books; default: none is kept")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="soundcheck-benchmark-"))
    fine = True
    print(f"{len(given.families)} families, {given.models} models, {given.jobs} jobs")
    for files in given.files:
        last = None
        for size in given.sizes:
            place = folder / f"{size}-segments-{files}-files"
            suite = make_suite(place, size, files, given.models, tuple(given.families))
            told = run(suite, place / "build", given.jobs)
            stages = ", ".join(f"{name} {took:.1f}" for name, took in told["stages"].items())
            print(
                f"{size:>8} segments, {files:>5} files: {told['wall']:6.1f} s, processor"
                f" {told['processor']:6.1f} s, memory {told['parent']:.2f} GB, largest child"
                f" {told['child']:.2f} GB ({stages})",
                flush=True,
            )
            if last:
                more = size / last[0]
                longer = told["processor"] / last[1]["processor"]
                print(
                    f"         {more:g} times as many segments: {longer:.1f} times the seconds of processor"
                )
                fine &= longer <= more
            last = size, told
        if last and last[0] >= max(SIZES):
            fine &= last[1]["wall"] <= SECONDS
            fine &= max(last[1]["parent"], last[1]["child"]) <= GIGABYTES
    if given.folder is None:
        shutil.rmtree(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
