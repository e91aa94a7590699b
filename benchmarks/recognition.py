"""How long the fairness of the demo's recognisers takes, from nothing to the book.

Run ``python benchmarks/recognition.py``. Runs the demo suite with the family asr_fairness and both
recognisers in a new folder, so that commands are spoken, 41 versions of each drawn command are made and
recognised twice, and the book is built. Prints seconds, and how many inputs were recognised.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = Path(__file__).parent.parent / "suite.yml"


def main() -> None:
    options = ["--family", "asr_fairness", "--model", "sphinx-grammar", "--model", "sphinx-words"]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-m", "soundcheck.cli", "run", str(SUITE), "--out", folder, *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        record = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    inputs = sum(model["inputs"] for model in record["models"])
    print(f"{seconds:.0f} s, {inputs} inputs recognised")


if __name__ == "__main__":
    main()
