"""Runs of a suite through the command, and what a run has written: tables, pages, the record."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from click.testing import CliRunner
from preloaded import sources

from soundcheck.cli import commands
from soundcheck.common.messages import EXIT_BAD_INPUT, SoundcheckError
from soundcheck.predict.tables import read_predictions
from soundcheck.results.table import read_results

EXPECTATIONS = yaml.safe_load((Path(__file__).parents[1] / "expectations.yml").read_text("utf-8"))


def write(folder: Path, files: Mapping[str, str | pd.DataFrame | Iterable[str]]) -> Path:
    """Write files of a suite: texts as they are, tables and lists of lines as CSV."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pd.DataFrame):
            content.to_csv(path, index=False)
        else:
            path.write_text(content if isinstance(content, str) else "\n".join([*content, ""]), "utf-8")
    return folder


def sound(path: Path, signal: np.ndarray, rate: int = 16000) -> None:
    """Write a recording."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.asarray(signal, dtype=np.float32), rate, subtype="PCM_16")


def notebook(*codes: str, title: str = "") -> str:
    """Write a notebook of a family: perhaps a title, the parameter, and cells of code."""
    new = nbformat.v4
    cells = [new.new_markdown_cell(title)] if title else []
    cells.append(new.new_code_cell('run = ""', metadata={"tags": ["parameters"]}))
    cells += map(new.new_code_cell, codes)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return nbformat.writes(new.new_notebook(cells=cells, metadata=kernel))


def expectations(subject: str, kind: str) -> Any:
    """Give what ``tests/expectations.yml`` has of a subject: texts of pages, reasons of rows."""
    return EXPECTATIONS[subject][kind]


class Run:
    """What a run has written into its output folder, and how its command ended."""

    def __init__(self, out: Path, done: subprocess.CompletedProcess | None = None) -> None:
        self.out, self.done = out, done

    @functools.cached_property
    def results(self) -> pd.DataFrame:
        return read_results(self.out / "results.csv")

    @property
    def record(self) -> dict:
        return json.loads((self.out / "run.json").read_text("utf-8"))

    def rows(self, **cells: object) -> pd.DataFrame:
        """Give the rows with these cells."""
        table = self.results
        for column, cell in cells.items():
            table = table[table[column].eq(cell)]
        return table

    def row(self, test: str, label: str = "", group: str = "", **cells: object) -> pd.Series:
        """Give the only row of a test."""
        rows = self.rows(test=test, label=label, group=group, **cells)
        assert len(rows) == 1, rows
        return rows.iloc[0]

    def reasons(self, **cells: object) -> set[str]:
        """Give why the rows with these cells have no value; all of them have none."""
        rows = self.rows(**cells)
        assert len(rows) and rows["value"].isna().all(), rows
        return set(rows["skipped"])

    def predictions(self, model: str, corpus: str, change: str | None = "") -> pd.DataFrame:
        """Give what a model predicted, by key; with ``change=None`` under all changes, in rows."""
        table = read_predictions(self.out / "predictions" / model / f"{corpus}.parquet")
        return table if change is None else table[table["change"].eq(change)].set_index("key")

    def segments(self, corpus: str) -> pd.DataFrame:
        return pd.read_parquet(self.out / "corpora" / f"{corpus}.parquet").set_index("key")

    def lacks(self, page: str, subject: str) -> list[str]:
        """List texts of ``tests/expectations.yml`` that do not stand on a page."""
        html = re.sub(r"\s+", " ", self.page(page))
        return [text for text in EXPECTATIONS[subject]["pages"][page] if text not in html]

    def page(self, name: str) -> str:
        """Give the HTML of a page of the book: ``page("results/mine/fairness_sex")``."""
        return (self.out / "html" / f"{name}.html").read_text("utf-8")

    def shown(self, *names: str, kind: str = "notebooks") -> str:
        """Give the HTML that a notebook has made for its page: ``shown("mine", "fairness_sex")``."""
        return sources((self.out / kind).joinpath(*names).with_suffix(".ipynb"))


def started(
    *arguments: object, cwd: Path, timeout: float = 900, code: str = "", **environment: str
) -> subprocess.CompletedProcess:
    """Run the command as a user starts it, or this code in its place, in a process of its own."""
    program = ("-c", code) if code else ("-m", "soundcheck.cli")
    return subprocess.run(
        [sys.executable, "-P", *program, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def inside(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run a command that starts no process in this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        ended = CliRunner(env=environment).invoke(commands, [*map(str, words)])
    code, errors = ended.exit_code, ended.stderr
    if isinstance(ended.exception, SoundcheckError):
        code, errors = EXIT_BAD_INPUT, f"{errors}{ended.exception}\n"
    elif ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return subprocess.CompletedProcess(words, code, ended.stdout, errors)


def run(
    command: Callable,
    folder: Path,
    *words: object,
    suite: str = "suite.yml",
    out: str = "out",
    code: int = 0,
    **environment: str,
) -> Run:
    """Run a suite; it ends with this exit code, without a traceback, and all of its notebooks work."""
    done = command("run", suite, "--out", out, *words, cwd=folder, **environment)
    assert done.returncode == code and "Traceback" not in done.stderr, done.stdout + done.stderr
    finished = Run(folder / out, done)
    assert not [each for each in finished.record["notebooks"] if each["status"] != "ok"]
    return finished


def refused(command: Callable, folder: Path, *words: object, **environment: str) -> str:
    """Give the message of a command that refuses its input."""
    done = command(*words, cwd=folder, **environment)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stderr


def changed(text: str, replaced: Mapping[str, str]) -> str:
    """Replace parts of a text that are there."""
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, new)
    return text
