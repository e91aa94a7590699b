"""Notebooks that score many trials get more time."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SUITE = """
corpora: {v: {format: csv, path: segments.csv, audio: false, trials: trials.txt}}
models: {m: {scores: scores.txt}}
families: [speaker_verification]
limits: {notebook_seconds: 0.5}
studies: false
"""


def write(folder, count: int) -> None:
    """Write a list of so many trials of 60 speakers, with scores."""
    rng = np.random.default_rng(0)
    names = [f"{speaker:02}/{n:02}.wav" for speaker in range(60) for n in range(20)]
    rows = "".join(f"{name},s{name[:2]}\n" for name in names)
    (folder / "segments.csv").write_text(f"file,speaker\n{rows}")
    first, second = np.triu_indices(len(names), 1)
    same = first // 20 == second // 20
    sides = [rng.choice(np.flatnonzero(side), count // 2, replace=False) for side in (same, ~same)]
    trials = [(names[first[n]], names[second[n]], bool(same[n])) for n in np.sort(np.concatenate(sides))]
    (folder / "trials.txt").write_text("".join(f"{int(t)} {a} {b}\n" for a, b, t in trials))
    scores = "".join(f"{a} {b} {rng.normal(2 * t, 1):.3f}\n" for a, b, t in trials)
    (folder / "scores.txt").write_text(scores)
    (folder / "suite.yml").write_text(SUITE)


def test_the_limit_grows_with_the_trials(tmp_path, command):
    write(tmp_path, 20_000)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout  # half a second is too little for any cell of it
