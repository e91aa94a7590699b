"""Suites with one model that a library runs, read as a user's are, and loaded into the process of a test."""

from pathlib import Path

import numpy as np

from soundcheck.common.messages import InputError
from soundcheck.models.base import Model, check_model
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.suite_file import read_suite


def load_model(entry: ModelEntry, suite: Suite) -> Model:
    """Load a model into this process, which the library does in children only."""
    return entry.about.load(entry, suite)


class Project:
    """A folder with a suite whose only model is said by a test."""

    def __init__(self, folder: Path, tasks: str = "") -> None:
        self.folder, self.tasks = folder, tasks

    def read(self, text: str) -> tuple[ModelEntry, Suite]:
        """Read a suite: ``text`` is what stands behind ``mine:``."""
        declared = f"tasks: {self.tasks}\n" if self.tasks else ""
        content = f"corpora: {{demo: {{format: demo}}}}\nmodels:\n  mine: {text}\n{declared}"
        (self.folder / "suite.yml").write_text(content + "families: [correctness_regression]\n")
        suite = read_suite(str(self.folder / "suite.yml"))
        return suite.models["mine"], suite

    def load(self, text: str) -> Model:
        """Load the model into this process."""
        return load_model(*self.read(text))

    def check(self, text: str) -> str:
        """Check the model in a child; gives its fingerprint."""
        return check_model(*self.read(text))

    def refused(self, text: str, *, child: bool = False) -> str:
        """Give the message when the model is refused; it names no folder."""
        try:
            (self.check if child else self.load)(text)
        except InputError as error:
            assert str(self.folder) not in str(error)
            return str(error)
        raise AssertionError("the model was not refused")

    def answers(self, text: str, signals: list[np.ndarray]) -> list[dict]:
        """Load the model and ask it once."""
        return self.load(text).predict(signals, 16000)


def noises(*lengths: int) -> list[np.ndarray]:
    """Make noise, float32 ``(samples,)`` each."""
    return [
        np.random.default_rng(number).normal(0.0, 0.1, length).astype(np.float32)
        for number, length in enumerate(lengths)
    ]
