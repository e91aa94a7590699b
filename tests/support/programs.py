"""A suite's folder with small programs, and what tests ask about processes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import audiofile
import numpy as np
import pandas as pd
import pytest
from library_models import load_model

from soundcheck.common.files import digest
from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.base import check_model
from soundcheck.predict.engine import predict_models
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest
from soundcheck.suite.entries import ModelEntry, Suite

SIGNAL = np.zeros(1600, dtype=np.float32)


@dataclasses.dataclass
class World:
    """A suite's folder with programs, and a folder for temporary files."""

    root: Path
    temporary: Path

    def program(self, body: str, name: str = "my-asr", first: str = "#!/bin/sh") -> Path:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{first}\n{textwrap.dedent(body)}\n")
        path.chmod(0o755)
        return path

    def python(self, body: str, name: str = "my-asr") -> Path:
        return self.program(body, name, f"#!{sys.executable}")

    def suite(
        self, target: str, tasks: tuple[str, ...] = ("transcript",), stays: bool = False, **more: object
    ) -> tuple[ModelEntry, Suite]:
        entry = ModelEntry("mine", "command", target, tasks, options={"stays": stays}, **more)
        models, file = {"mine": entry}, self.root / "suite.yml"
        return entry, Suite(models=models, tasks=dict(BUILTIN), root=self.root, file=file)

    def check(self, target: str = "my-asr {audio}") -> str:
        return check_model(*self.suite(target))

    def ask(self, target: str = "my-asr {audio}", samples: np.ndarray = SIGNAL, rate: int = 16000) -> str:
        (answer,) = load_model(*self.suite(target)).predict([samples], rate)
        assert list(answer) == ["transcript"]
        assert list(self.temporary.iterdir()) == []
        return answer["transcript"]

    def fails(self, target: str = "my-asr {audio}") -> str:
        with pytest.raises(RuntimeError) as caught:
            self.ask(target)
        assert list(self.temporary.iterdir()) == []
        return str(caught.value)

    def refused(self, target: str) -> str:
        with pytest.raises(InputError) as caught:
            self.check(target)
        text = str(caught.value)
        assert text.startswith("suite.yml, models.mine.command: ")
        assert str(self.root) not in text
        return text


def predict(world: World, count: int, target: str = "my-asr {audio}", **more: object) -> PredictionReport:
    """Ask a program, which has two seconds for each, about 0.wav, 1.wav, ... in a worker."""
    rng = np.random.default_rng(0)
    files = [f"{number}.wav" for number in range(count)]
    for number, file in enumerate(files):
        noise = rng.normal(0, 0.1, 160 * (10 + number)).astype(np.float32)
        audiofile.write(world.root / file, noise, 16000)
    segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0})
    segments["key"] = segments["file"] + "||"
    segments["audio"] = [digest(world.root / file) for file in files]
    corpus = SimpleNamespace(name="demo", root=world.root, segments=segments)
    entry, suite = world.suite(target, time_limit=2.0, **more)
    out = world.root / "out"
    request = PredictionRequest(entry, suite, [corpus], {}, out, out / "cache")
    (report,) = predict_models([request], jobs=1)
    return report


def soon(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Say whether something becomes true within some seconds."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


def gone(pid: int) -> bool:
    """Say whether a process ends, or is killed here."""

    def ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    if soon(ended):
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return False


def emptied(folder: Path) -> bool:
    return soon(lambda: not list(folder.iterdir()))
