"""The cells of a table of predictions: answers and times as numbers, classes and texts as they are written.

What the cells mean, and what an empty one is, stands in :mod:`soundcheck.models.tables.table`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, parse_column, parse_number, parse_seconds
from soundcheck.models.base import CLASS_LIMIT, check_output
from soundcheck.models.tables import run_tables
from soundcheck.models.tables.rows import Rows, sort_rows

__all__ = ["read_table"]

_MISSING = ("", "nan", "NaN")


def read_table(
    cells: TextTable, tasks: Sequence[Task], bounds: Mapping[str, tuple[float, float]]
) -> tuple[Rows, dict[str, np.ndarray], dict[str, Rows], dict[int, str]]:
    """Read which rows a table has, and the answers in them; of a run also those under changes, and errors.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    of_run = run_tables.is_of_run(cells)
    if of_run:
        cells = run_tables.with_places(cells)
    problems = Problems()
    for name in ("file", *(task.name for task in tasks)):
        if name not in cells.columns:
            where = f"{cells.header}, column {name}"
            problems.add(where, "the column is missing", did_you_mean(name, cells.columns))
    problems.raise_if_any()
    answers = {task.name: _answers(cells, task, bounds, problems) for task in tasks}
    start, end = (_times(cells, name, problems) for name in ("start", "end"))
    changes = np.array(cells.columns["change"] if of_run else [""] * len(cells), dtype=object)
    indices = {
        change: sort_rows(cells, np.flatnonzero(changes == change), start, end, problems)
        for change in dict.fromkeys(["", *changes])
    }
    problems.raise_if_any()
    told = cells.columns.get("error", ()) if of_run else ()
    errors = {number: error for number, error in enumerate(told) if error}
    return indices.pop(""), answers, indices, errors


def _answers(
    cells: TextTable, task: Task, bounds: Mapping[str, tuple[float, float]], problems: Problems
) -> np.ndarray:
    """Read the answers of a task."""
    if task.is_regression:
        return _numbers(cells, task, bounds[task.name], problems)
    if task.is_transcription:  # as they are written; an empty one is an answer, too
        return np.array([text.strip() for text in cells.columns[task.name]], dtype=object)
    if task.is_embedding:
        return _embeddings(cells, task, problems)
    return _classes(cells, task)


def _embeddings(cells: TextTable, task: Task, problems: Problems) -> np.ndarray:
    """Read embeddings, numbers with blanks or commas between them, as packed text; missing = ``None``."""
    remedy = "Write the numbers with blanks between them, as many in each row, such as 0.1 -0.2 0.3"
    values = np.full(len(cells), None, dtype=object)
    lengths: dict[int, int] = {}
    for row, text in enumerate(cells.columns[task.name]):
        words = text.strip().strip("[]").replace(",", " ").split()
        if not words:
            continue
        try:
            vector = np.array([parse_number(word) for word in words])
        except ValueError as error:
            problems.add(cells.where(row, task.name), str(error), remedy)
            continue
        answer, problem = check_output({task.name: vector}, [task])
        if problem:
            problems.add(cells.where(row, task.name), problem, remedy)
        else:
            values[row], lengths[row] = answer[task.name], len(vector)
    counts = Counter(lengths.values())
    usual = max(counts, key=lambda length: (counts[length], length), default=0)
    for row, length in lengths.items():
        if length != usual:
            what = f"the embedding has {length} numbers, most have {usual}"
            problems.add(cells.where(row, task.name), what, remedy)
    return values


def _numbers(cells: TextTable, task: Task, bounds: tuple[float, float], problems: Problems) -> np.ndarray:
    """Read the answers of a regression task; a missing one is NaN."""

    def read(text: str) -> float:
        if text in _MISSING:
            return math.nan
        return parse_number(text)

    low, high = bounds
    remedy = f"Give a number from {low:g} to {high:g} with a point, or leave the cell empty"
    return _column(cells, task.name, read, remedy, problems)


def _classes(cells: TextTable, task: Task) -> np.ndarray:
    """Read the answers of a classification task as they are written; a missing one is ``None``."""
    return np.array([text.strip()[:CLASS_LIMIT] or None for text in cells.columns[task.name]], dtype=object)


def _seconds(text: str) -> float:
    return math.nan if text in _MISSING else parse_seconds(text)


def _column(
    cells: TextTable,
    name: str,
    read: Callable[[str], float],
    remedy: str,
    problems: Problems,
) -> np.ndarray:
    values, wrong = parse_column(cells.columns[name], read)
    for row, what in wrong:
        problems.add(cells.where(row, name), what, remedy)
    return values


def _times(cells: TextTable, name: str, problems: Problems) -> np.ndarray:
    """Read the start or end of each row in seconds, NaN = not given."""
    if name not in cells.columns:
        return np.full(len(cells), np.nan)
    return _column(cells, name, _seconds, "Give seconds, or H:MM:SS", problems)
