"""A small suite that several tests of runs share: two models that listen, one reference, two families."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tones
from runs import Run, notebook, sound, write

MODEL = """
import os
import time
import numpy as np

def note(signals):
    with open(os.environ["CALLS"], "a") as file:
        file.write(f"{len(signals)}\\n")

if os.environ.get("NOT_HERE"):
    raise ImportError("no weights on this machine")

def loud(signal, sampling_rate):
    note([signal])
    time.sleep(float(os.environ.get("SLOW", 0)))
    return {"arousal": float(np.clip(np.abs(signal).max(), 0, 1))}

def picky(signal, sampling_rate):
    note([signal])
    if np.abs(signal).max() > 0.4:
        raise ValueError("too loud")
    return {"arousal": 0.5}

def several(signals, sampling_rate):
    note(signals)
    return [{"arousal": float(np.clip(np.abs(signal).mean(), 0, 1))} for signal in signals]
"""
SUITE = """
title: Planned
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:loud", tasks: [arousal]}
  several: {python: "my_model:several", tasks: [arousal], batch: 4}
  chance: {random: gaussian}
comparisons:
  both: {baseline: loud, candidate: several}
families: [planned, plain]
studies: false
"""
THRESHOLDS = """
family: {name}
category: robustness
title: {name}
question: Is anything asked?
tasks: [regression]
{changes}
tests:
  Nothing:
    rule: "<"
    thresholds: {{arousal: 1}}
    source: this test
"""
CHANGES = """changes:
  Softer: {transform: gain, gain_db: [-6]}
  Louder: {transform: gain, gain_db: [2]}"""
CODE = "from soundcheck.evaluation.evaluation import Evaluation\nEvaluation.load(run).save()"
SEGMENTS = 12


@pytest.fixture(scope="module")
def small_suite(tmp_path_factory) -> Callable[[str], Path]:
    """Write the suite into a new folder: ``small_suite("plan")``."""
    rows = [f"{number}.wav,s{number // 2},0.5" for number in range(SEGMENTS)]
    files = {"suite.yml": SUITE, "my_model.py": MODEL}
    files["data/segments.csv"] = ["file,speaker,arousal", *rows]
    for name, changes in (("planned", CHANGES), ("plain", "")):
        files[f"thresholds/{name}.yml"] = THRESHOLDS.format(name=name, changes=changes)
        files[f"notebooks/{name}.ipynb"] = notebook(CODE)
        files[f"book/methods/{name}.md"] = f"# {name}\n\n<!-- thresholds -->\n"

    def written(name: str) -> Path:
        folder = write(tmp_path_factory.mktemp(name) / "suite", files)
        for number in range(SEGMENTS):
            tone = 0.05 * (1 + number) * np.sin(np.arange(1600) * 0.1)
            sound(folder / "data" / f"{number}.wav", tone)
        return folder

    return written


class Project(tones.Project):
    """A folder with the suite, and the command in it, whose models note their calls in a file."""

    def soundcheck(self, *words: str, cache: str = "", **more: str) -> subprocess.CompletedProcess:
        settings = {"CALLS": str(self.calls), "SOUNDCHECK_CACHE": cache} | more
        done = self.command(*words, cwd=self.folder, **settings)
        assert "Traceback" not in done.stderr
        return done

    def models(self, out: str = "build") -> dict[str, dict]:
        return {model["name"]: model for model in Run(self.folder / out).record["models"]}
