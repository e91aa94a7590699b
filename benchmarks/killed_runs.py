"""Kills runs at random moments and runs them again: results must be those of a run that nobody disturbed.

``python benchmarks/killed_runs.py [--kills 20] [--seed 0]`` makes a small suite with a slow model, runs it
once, and then again and again in new folders: each run is killed (SIGKILL) at a random moment, half of them
alone and half with all processes that it has started, and run again to the end. Prints when each was killed
and whether ``results.csv`` and the tables of predictions are the same, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

MODEL = """
import time
import numpy as np

def loud(signal, sampling_rate):
    time.sleep(0.01)
    return {"arousal": float(np.clip(np.sqrt(np.mean(np.square(signal))) * 5, 0, 1))}
"""
SUITE = """
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:loud", tasks: [arousal]}
families: [correctness_regression, robustness_small_changes]
studies: false
"""


def make(folder: Path) -> None:
    """Write the suite with its recordings."""
    rng = np.random.default_rng(0)
    (folder / "data").mkdir(parents=True)
    rows = ["file,speaker,arousal"]
    for number in range(40):
        signal = rng.uniform(0.05, 0.25) * np.sin(2 * np.pi * 300 * np.arange(6000) / 16000)
        soundfile.write(folder / "data" / f"{number}.wav", signal.astype(np.float32), 16000)
        rows.append(f"{number}.wav,s{number // 4},{rng.uniform(0.1, 0.9):.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)


def start(folder: Path, out: str) -> subprocess.Popen:
    """Start a run in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml", "--out", out],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Read what must not depend on whether a run was killed."""
    paths = [folder / "results.csv", *sorted(folder.glob("predictions/**/*.parquet"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def main() -> int:
    """Kill runs and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="soundcheck-benchmark-"))
    make(folder)
    begin = time.monotonic()
    start(folder, "undisturbed").communicate()
    whole = time.monotonic() - begin
    expected = contents(folder / "undisturbed")
    print(f"undisturbed: {whole:.1f} s, {len(expected)} files compared", flush=True)
    same = 0
    for number in range(options.kills):
        moment = rng.uniform(0.0, whole)
        run = start(folder, "killed")
        try:
            run.communicate(timeout=moment)
            ended = "had ended"
        except subprocess.TimeoutExpired:
            if number % 2:
                os.killpg(run.pid, signal.SIGKILL)
            else:
                run.kill()
            run.communicate()
            ended = "group killed" if number % 2 else "killed alone"
        again = start(folder, "killed")
        _, said = again.communicate()
        equal = again.returncode == 0 and contents(folder / "killed") == expected
        same += equal
        print(f"{ended} after {moment:5.1f} s, run again: {'the same' if equal else 'DIFFERENT'}", flush=True)
        if again.returncode:
            print(said.decode(errors="replace")[-2000:])
        shutil.rmtree(folder / "killed")
    print(f"{same} of {options.kills} the same")
    shutil.rmtree(folder)
    return int(same != options.kills)


if __name__ == "__main__":
    sys.exit(main())
