"""Reads corpora of files that a test describes as a run would, without models."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import soundfile

from soundcheck.common.messages import InputError
from soundcheck.corpora.load import load_corpus
from soundcheck.suite.suite_file import read_suite


def write_tone(path: Path, number: int = 0, *, channels: int = 1, seconds: float = 0.5) -> Path:
    """Write a sound at 16 kHz, another one for each number and channel; the ending tells the container."""
    path.parent.mkdir(parents=True, exist_ok=True)
    time = np.arange(round(16000 * seconds)) / 16000
    sound = [0.1 * np.sin(2 * np.pi * (100 + 30 * number + 7 * track) * time) for track in range(channels)]
    soundfile.write(path, np.stack(sound, axis=1), 16000)
    return path


@pytest.fixture
def tone():
    return write_tone


@pytest.fixture
def write(tmp_path):
    """Write files by what they hold: text, bytes, a table of pandas, JSON, or the number of a tone.

    Lists are JSON Lines. ``None`` writes nothing.
    """

    def write(files: Mapping[str, object]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, int):
                write_tone(path, content)
            elif isinstance(content, bytes):
                path.write_bytes(content)
            elif hasattr(content, "to_csv"):
                content.to_parquet(path) if name.endswith(".parquet") else content.to_csv(path, index=False)
            elif content is not None:
                lines = content if isinstance(content, list) else [content]
                lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
                text = content if isinstance(content, str) else "".join(lines)
                path.write_text(text, "utf-8", "backslashreplace", "")  # half characters as JSON has them
        return tmp_path

    return write


@pytest.fixture
def load(tmp_path, write):
    """Load a corpus of an entry and files: ``load("format: nemo, path: m.jsonl", {"m.jsonl": [{...}]})``."""

    def read(entry: str, files: Mapping[str, object] = (), more: str = "", model: str = "{random: gaussian}"):
        write(dict(files))
        text = f"corpora:\n  c: {{{entry}}}\nmodels:\n  m: {model}\n{more}\n"
        (tmp_path / "suite.yml").write_text(text if "families:" in text else f"{text}families: all\n")
        suite = read_suite(tmp_path / "suite.yml")
        return load_corpus(suite.corpora["c"], suite, tmp_path / "cache")

    return read


@pytest.fixture
def refused(load):

    def message(words: str, *arguments: object, **options: object) -> str:
        with pytest.raises(InputError, match=words) as caught:
            load(*arguments, **options)
        return str(caught.value)

    return message
