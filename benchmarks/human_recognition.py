"""What people's speech says about a recogniser: words wrong in noise, and words where nobody speaks.

Run ``SOUNDCHECK_SPEECH=FOLDER python benchmarks/human_recognition.py``; the folder holds spoken digits with a
table ``segments.csv``. The command tests the demo's recogniser of digits with the families asr_word_errors,
asr_robustness and asr_hallucination. Writes ``book/tables/human_recognition.csv``: rates and levels with 95 %
intervals. Ends with 1 if the recogniser is no better than guessing, or writes words into silence.

Conventions
-----------
- Of the changes only noise and babble are heard, from milder levels on than usual, and more segments.
- A level that is not reached is an infinite one: ``inf`` dB lies before the mildest level that was heard,
  ``-inf`` behind the most severe one.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from soundcheck.common import resources
from soundcheck.results.table import read_results

TABLES = Path(__file__).parents[1] / "book" / "tables"
LEVELS = [40, 35, 30, 25, 20, 15, 10, 5, 0]  # SNR in dB
NOISES = ("Noise", "Babble")
SEGMENTS = 180  # that are heard at each level, and replaced by each kind of sound
SUITE = """
card: {{languages: [en]}}
corpora: {{people: {{format: csv, path: {path}, split: all}}}}
models: {{digits: {{python: "soundcheck_demo.models.recogniser:digits", tasks: [transcript]}}}}
families: [asr_word_errors, asr_robustness, asr_hallucination]
interval: t # of six speakers percentiles would be too narrow
studies: false
sweeps: false
"""
REACHED = """
import dataclasses, json
from pathlib import Path
clean = curves[0].iloc[0][["rate", "rate_low", "rate_high"]].tolist()
curve = {{"clean": clean, "limits": limits}}
Path({path!r}).write_text(json.dumps(curve, default=dataclasses.asdict))
"""
COLUMNS = ["measure", "sound", "value", "low", "high", "segments", "speakers"]


def recognised(table: Path, segments: int = SEGMENTS, levels: list[int] = LEVELS) -> pd.DataFrame:
    """Test the recogniser of digits through the command; columns ``COLUMNS``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suite.yml").write_text(SUITE.format(path=table.resolve()), encoding="utf-8")
        _own_family(folder, "asr_hallucination", {"options": {"segments": segments}})
        steps = {noise: {"values": levels} for noise in NOISES}
        _own_family(
            folder, "asr_robustness", {"options": {"sweep_segments": segments}, "transformations": steps}
        )
        _telling(folder, folder / "limits.json")
        command = [sys.executable, "-m", "soundcheck.cli", "run", "suite.yml", "--out", "out", "--no-book"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"the run ended with {done.returncode}: {done.stderr}")
        results = read_results(folder / "out" / "results.csv")
        reached = json.loads((folder / "limits.json").read_text(encoding="utf-8"))
    results = results[results["group"].eq("")]
    rows = _judged(results, "Word Error Rate")
    speakers = results["blocks"].max()
    rows.append(("Word Error Rate", "as it is, of those in noise", *reached["clean"], segments, speakers))
    for limit in reached["limits"]:
        for key, title in (("doubled", "SNR where the rate doubles"), ("half", "SNR where half is wrong")):
            place = [_level(limit[key][end], levels) for end in ("place", "low", "high")]
            rows.append((title, limit["transformation"], *place, segments, speakers))
    rows += [
        row for test in ("Words Per Minute", "Inserted Words Per Minute") for row in _judged(results, test)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _judged(results: pd.DataFrame, test: str) -> list[tuple[object, ...]]:
    """Take the rows of a test out of the results, in the order of ``COLUMNS``."""
    of_test = results[results["test"].eq(test)]
    return [
        (test, row.label or "as it is", row.value, row.low, row.high, row.segments, row.blocks)
        for row in of_test.itertuples()
    ]


def _own_family(folder: Path, name: str, changes: dict[str, dict]) -> None:
    """Write a threshold file of the suite's own: the shipped one with some entries changed.

    Of transformations only those that are named are kept.
    """
    text = (resources.root() / "thresholds" / f"{name}.yml").read_text(encoding="utf-8")
    family = yaml.safe_load(text)
    for key, change in changes.items():
        if key == "transformations":
            family[key] = {title: family[key][title] | new for title, new in change.items()}
        else:
            family[key] |= change
    (folder / "thresholds").mkdir(exist_ok=True)
    (folder / "thresholds" / f"{name}.yml").write_text(json.dumps(family), "utf-8")


def _telling(folder: Path, path: Path) -> None:
    """Let the notebook of word errors under stress write the levels that it shows into a file, too."""
    source = resources.root() / "notebooks" / "asr_robustness.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    cell = {"cell_type": "code", "execution_count": None, "id": "reached", "metadata": {}, "outputs": []}
    notebook["cells"].append(cell | {"source": REACHED.format(path=str(path))})
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / source.name).write_text(json.dumps(notebook), encoding="utf-8")


def _level(place: float | None, levels: list[int]) -> float:
    """Give the signal-to-noise ratio at a place between levels.

    >>> [_level(place, [20, 10, 0]) for place in (0.5, -np.inf, np.inf)]
    [15.0, inf, -inf]
    """
    if place is None or not np.isfinite(place):
        return np.nan if place is None else -place
    return float(np.interp(place, range(len(levels)), levels))


def main() -> None:
    """Run the study and record it."""
    folder = os.environ.get("SOUNDCHECK_SPEECH")
    if not folder:
        sys.exit("SOUNDCHECK_SPEECH must name a folder with spoken digits and a segments.csv")
    table = recognised(Path(folder) / "segments.csv").round(4)
    print(table.to_string(index=False))
    command = "SOUNDCHECK_SPEECH=FOLDER python benchmarks/human_recognition.py"
    head = f"# A recogniser of digits on people's speech, in noise and where nobody speaks\n# {command}\n"
    head += f"# NumPy {np.__version__}; {datetime.date.today()}\n"
    text = head + table.to_csv(index=False, lineterminator="\n")
    (TABLES / "human_recognition.csv").write_text(text, encoding="utf-8")
    values = table.set_index(["measure", "sound"])["value"]
    if not values["Word Error Rate", "as it is"] < 0.5 or values["Words Per Minute", "Silence"] > 0:
        sys.exit("off: the recogniser guesses, or writes words into silence")
    print("all within the bars")


if __name__ == "__main__":
    main()
