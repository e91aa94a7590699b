"""How long the fairness of the demo's recognisers takes, from nothing to the book.

Run ``python benchmarks/recognition.py``. Runs the family asr_fairness with the commands and the recognisers
of the demo suite in a new folder, so that commands are spoken, 41 versions of each drawn command are made and
recognised twice, and the book is built. Prints seconds, and how many inputs were recognised.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = """
corpora:
  demo-commands: {format: demo, part: commands}
models:
  sphinx-grammar: {python: "soundcheck_demo.models.recogniser:grammar", tasks: [transcript]}
  sphinx-hurried: {python: "soundcheck_demo.models.recogniser:hurried", tasks: [transcript]}
families: [asr_fairness]
studies: false
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "suite.yml").write_text(SUITE, encoding="utf-8")
        start = time.perf_counter()
        command = [sys.executable, "-m", "soundcheck.cli", "run", "suite.yml", "--out", "book"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        record = json.loads((Path(folder) / "book" / "run.json").read_text(encoding="utf-8"))
    inputs = sum(model["inputs"] for model in record["models"])
    print(f"{seconds:.0f} s, {inputs} inputs recognised")


if __name__ == "__main__":
    main()
