"""Reads corpora of a format as a run would, without models."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from soundcheck.corpora.load import load_corpus
from soundcheck.suite.suite_file import read_suite


@pytest.fixture
def load(tmp_path):
    """Load a corpus from what stands in its entry: ``load("format: nemo, path: m.jsonl")``."""

    def read(entry: str, more: str = ""):
        file = tmp_path / "suite.yml"
        file.write_text(
            f"corpora:\n  c: {{{entry}}}\nmodels:\n  guess: {{random: gaussian}}\n"
            f"families: [correctness_regression]\n{more}\n"
        )
        suite = read_suite(file)
        return load_corpus(suite.corpora["c"], suite, tmp_path / "cache")

    return read


@pytest.fixture
def write_sound():
    """Write half a second of a tone, another one for each number; the name tells the container."""

    def write(path: Path, number: int, **options: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        tone = 0.1 * np.sin(2 * np.pi * (100 + 10 * number) * np.arange(8000) / 16000)
        soundfile.write(path, tone, 16000, **options)
        return path

    return write
