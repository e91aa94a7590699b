"""How long a corpus of a million utterances without audio takes, with the answers of two recognisers.

Run ``python benchmarks/million_utterances.py``. It makes a manifest of NeMo and two tables of transcripts for
100,000 and 1,000,000 utterances of 2,000 speakers, and runs the real command on each, in a new folder, with
word errors, the comparison of recognisers, and everything that the book says about them. There is no sound:
what is timed is reading, matching, counting words, statistics, notebooks and the book.

Prints for each size the seconds of each stage (``seconds`` in ``run.json``), those of the processor, and
the peak of the memory of all processes together. Then how both grow from size to size. ``--profile`` prints
instead where the time of the first stage goes. Ends with 1 if the largest suite takes more than 20 minutes or
8 GB, or if ten times as many utterances take more than ten times as long.
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
import psutil

SIZES, SPEAKERS, WORDS = (100_000, 1_000_000), 2_000, 2_000
FAMILIES = ("asr_word_errors", "asr_comparison")
SECONDS, GIGABYTES = 1200.0, 8.0
EVERY = 0.1  # seconds between two looks at the memory of all processes


def make_suite(folder: Path, utterances: int, families: tuple[str, ...]) -> Path:
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
                f"families: [{', '.join(families)}]",
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


def profile(suite: Path) -> None:
    """Print where the time goes until the corpus is loaded, and the answers are matched."""
    import cProfile
    import pstats

    from soundcheck.corpora.load import load_corpus
    from soundcheck.suite.suite_file import read_suite

    def whole() -> None:
        read = read_suite(suite)
        corpora = [load_corpus(entry, read, suite.parent / "cache") for entry in read.corpora.values()]
        for entry in read.models.values():
            model = entry.about.load(entry, read)
            model.notices(corpora)
            model.look_up(corpora[0], "")

    profiler = cProfile.Profile()
    profiler.runcall(whole)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> int:
    """Make suites, run them and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="utterances of each suite")
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to keep suites and books; default: none is kept")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, run nothing")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="soundcheck-benchmark-"))
    fine, last = True, None
    for size in given.sizes:
        place = folder / f"{size}-utterances"
        suite = make_suite(place, size, tuple(given.families))
        if given.profile:
            profile(suite)
            continue
        told = run(suite, place / "build", given.jobs)
        stages = ", ".join(f"{name} {took:.1f}" for name, took in told["stages"].items())
        print(
            f"{size:>8} utterances: {told['wall']:6.1f} s, processor {told['processor']:6.1f} s,"
            f" memory {told['memory']:.2f} GB ({stages})",
            flush=True,
        )
        if last:
            more, longer = size / last[0], told["processor"] / last[1]["processor"]
            print(f"         {more:g} times as many: {longer:.1f} times the seconds of processor")
            fine &= longer <= more
        last = size, told
    if last and last[0] >= max(SIZES):
        fine &= last[1]["wall"] <= SECONDS and last[1]["memory"] <= GIGABYTES
    if given.folder is None:
        shutil.rmtree(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
