"""The cells of a table of predictions: answers and times as numbers, classes and texts as they are written.

What the cells mean, and what an empty one is, stands in :mod:`soundcheck.models.tables.table`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import NUMBER, TextTable, parse_column, parse_number, parse_seconds
from soundcheck.models import stated
from soundcheck.models.base import CLASS_LIMIT, check_output
from soundcheck.models.stated_words import read_words, words_problem
from soundcheck.models.tables import run_tables
from soundcheck.models.tables.rows import Rows, sort_rows

_MISSING = ("", "nan", "NaN")
_NOTHING = ("none", "null", "na", "<na>")  # beside nan, instead of a number of an embedding


def with_own_names(
    cells: TextTable, columns: Mapping[str, str], tasks: Sequence[Task], where: str
) -> TextTable:
    """Give columns of a table our names.

    Parameters
    ----------
    columns
        Our name -> what the table calls it.
    where
        Where the suite says so.

    Raises
    ------
    InputError
        If one of them is not there, or is nothing that is read.
    """
    problems = Problems()
    known = ["file", "start", "end", "corpus", *(task.name for task in tasks), *stated.stated_names(tasks)]
    for name, theirs in columns.items():
        if name not in known:
            problems.add(f"{where}.{name}", "the name of no column that is read", did_you_mean(name, known))
        elif theirs not in cells.columns:
            what = f"{cells.shown} has no column {quoted(theirs)}"
            problems.add(f"{where}.{name}", what, did_you_mean(theirs, cells.columns))
    problems.raise_if_any()
    others = {
        name: column for name, column in cells.columns.items() if name not in {*columns, *columns.values()}
    }
    own = {name: cells.columns[theirs] for name, theirs in columns.items()}
    return dataclasses.replace(cells, columns=own | others, headings=columns)


def read_table(
    cells: TextTable, tasks: Sequence[Task], bounds: Mapping[str, tuple[float, float]]
) -> tuple[Rows, dict[str, np.ndarray], dict[str, Rows], dict[str, dict[int, str]], list[str]]:
    """Read which rows a table has, the answers in them, those under changes, why some are none, and draws.

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
            remedy = f"{did_you_mean(name, cells.columns)}; `columns: {{{name}: ...}}` takes one of them"
            problems.add(where, "the column is missing", remedy)
    problems.raise_if_any()
    errors: dict[str, dict[int, str]] = {task.name: {} for task in tasks}
    answers = {task.name: _answers(cells, task, bounds, errors[task.name], problems) for task in tasks}
    answers |= _stated(cells, tasks, problems)
    start, end = (_times(cells, name, problems) for name in ("start", "end"))
    changes = np.array(cells.columns["change"] if of_run else [""] * len(cells), dtype=object)
    indices = {
        change: sort_rows(
            cells, np.flatnonzero(changes == change), start, end, problems, [task.name for task in tasks]
        )
        for change in dict.fromkeys(["", *changes])
    }
    problems.raise_if_any()
    told = cells.columns.get("error", ()) if of_run else ()
    for own in errors.values():
        own |= {number: error for number, error in enumerate(told) if error}
    drawn = cells.columns.get("drawn", []) if of_run else []
    return indices.pop(""), answers, indices, errors, drawn


def _answers(
    cells: TextTable,
    task: Task,
    bounds: Mapping[str, tuple[float, float]],
    errors: dict[int, str],
    problems: Problems,
) -> np.ndarray:
    """Read the answers of a task; ``errors`` takes why those of some rows are none."""
    if task.is_regression:
        return _numbers(cells, task, bounds[task.name], problems)
    if task.is_transcription:  # as they are written; an empty one is an answer, too
        return np.array([text.strip() for text in cells.columns[task.name]], dtype=object)
    if task.is_embedding:
        return _embeddings(cells, task, errors, problems)
    return _classes(cells, task)


def _check_names(cells: TextTable, tasks: Sequence[Task], problems: Problems) -> None:
    """Refuse columns that are called nearly like those that may be there: nobody would miss what they say."""
    known = ["start", "end", "corpus", *stated.stated_names(tasks)]
    plain = {_plain(name): name for name in known}
    for name in cells.columns:
        meant, task = plain.get(_plain(name)), next((t for t in tasks if name.startswith(f"{t.name}.")), None)
        if name in known or meant in cells.columns or (meant is None and task is None):
            continue
        where = f"{cells.header}, column {name}"
        if meant is not None:
            remedy = f"Rename it to {meant} if that is what it means, else to anything else"
            problems.add(where, f"it is called nearly like {quoted(meant)}, which would be read", remedy)
        elif not task.classes:  # other columns of classes are told as unknown classes
            remedy = did_you_mean(name, stated.stated_names([task]))
            problems.add(where, f"this is nothing that can be said of {task.name}", remedy)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _stated(cells: TextTable, tasks: Sequence[Task], problems: Problems) -> dict[str, np.ndarray]:
    """Read what the model says of its answers, float64, NaN where it says nothing; of words texts."""
    _check_names(cells, tasks, problems)
    found: dict[str, np.ndarray] = {}
    for task in tasks:
        words = stated.word_names([task])
        found |= {name: _words(cells, name, task, problems) for name in words if name in cells.columns}
        own = [name for name in stated.stated_names([task]) if name not in (*words, stated.CONFIDENCE)]
        there = [name for name in own if name in cells.columns]
        if there and not (what := _columns_problem(cells, task, own, there)):
            found |= _stated_numbers(cells, task, own, there, problems)
        elif there:
            problems.add(*what)
    if stated.CONFIDENCE in cells.columns and all(task.name != stated.CONFIDENCE for task in tasks):
        found[stated.CONFIDENCE] = _confidences(cells, problems)
    return found


def _columns_problem(
    cells: TextTable, task: Task, own: Sequence[str], there: Sequence[str]
) -> tuple[str, str] | None:
    """Say where and why columns that speak of a task cannot do so together."""
    if task.is_regression:
        missing = next((name for name in own if name not in there), None)
        told = (f"{cells.header}, column {missing}", f"the column is missing beside {there[0]}")
        return told if missing else None
    prefix = f"{task.name}."
    classes = [name.removeprefix(prefix) for name in cells.columns if name.startswith(prefix)]
    problem = stated.unknown_class(classes, task)
    return (cells.header, problem) if problem else None


def _stated_numbers(
    cells: TextTable, task: Task, own: Sequence[str], there: Sequence[str], problems: Problems
) -> dict[str, np.ndarray]:
    """Read probabilities of classes, or bounds of values."""
    empty = "or leave all cells of this row and task empty"
    values = np.array([_column(cells, name, _number, f"Give a number, {empty}", problems) for name in there])
    given, found, remedy = ~np.isnan(values), [], ""
    for row in np.flatnonzero(given.any(axis=0)).tolist():
        blank = (
            cells.columns[name][row].strip()
            for name, known in zip(there, given[:, row], strict=True)
            if not known
        )
        if any(text not in _MISSING for text in blank):
            continue  # that one of them is no number has been told
        if task.is_regression:
            both = given[:, row].all()
            what = stated.bounds_problem(*values[:, row]) if both else "one bound without the other"
            remedy = f"Give the low and the high bound, {empty}"
        else:
            values[:, row] = np.where(given[:, row], values[:, row], 0.0)
            what = stated.probability_problem(values[:, row].tolist())
            remedy = f"Give a probability of each class, together 1 and not logits or per cent, {empty}"
        if what:
            found.append((row, f"{task.name} has {what}"))
    _note_first(cells, there[0], found, remedy, problems)
    # A class that has no column has no probability.
    nothing = np.where(given.any(axis=0), 0.0, np.nan)
    return dict.fromkeys(own, nothing) | dict(zip(there, values, strict=True))


def _confidences(cells: TextTable, problems: Problems) -> np.ndarray:
    """Read how sure the model is of each row."""
    name = stated.CONFIDENCE
    remedy = "Give a number from 0 to 1, leave the cell empty, or give the column another name"
    given = _column(cells, name, _number, remedy, problems)
    beyond = np.flatnonzero(~np.isnan(given) & ~((given >= 0) & (given <= 1))).tolist()
    _note_first(
        cells, name, [(row, stated.confidence_problem(given[row])) for row in beyond], remedy, problems
    )
    return given


def _note_first(
    cells: TextTable, name: str, found: Sequence[tuple[int, str]], remedy: str, problems: Problems
) -> None:
    """Note what is wrong in the first of some rows, and how many there are."""
    for row, what in found[:1]:
        more = f"; so or alike in {len(found)} rows" if len(found) > 1 else ""
        problems.add(cells.where(row, name), what + more, remedy)


def _words(cells: TextTable, name: str, task: Task, problems: Problems) -> np.ndarray:
    """Read the confidences of words, as they are written; ``None`` where nothing is said."""
    found = np.full(len(cells), None, dtype=object)
    for row, text in enumerate(cells.columns[name]):
        try:
            words = read_words("" if text in _MISSING else text)
        except ValueError as error:
            what = str(error)
        else:
            what = words_problem(words, cells.columns[task.name][row]) if words else ""
            found[row] = text if words else None
        if what:
            remedy = (
                'Write such as [["turn", 0.9], ["left", 0.4]], leave the cell empty, or rename the column'
            )
            problems.add(cells.where(row, name), what, remedy)
    return found


def _number(text: str) -> float:
    return math.nan if text in _MISSING else parse_number(text)


def _embeddings(cells: TextTable, task: Task, errors: dict[int, str], problems: Problems) -> np.ndarray:
    """Read embeddings, numbers with blanks or commas between them, as packed text; missing = ``None``."""
    values = np.full(len(cells), None, dtype=object)
    lengths: dict[int, int] = {}
    unreadable = 0
    for row, text in enumerate(cells.columns[task.name]):
        words = text.strip().strip("[]").replace(",", " ").split()
        if not words:
            continue
        try:
            vector = np.array([_component(word) for word in words])
        except ValueError as error:
            errors[row] = f"{task.name}: {error}"
            unreadable += 1
            continue
        answer, problem = check_output({task.name: vector}, [task])
        if problem:
            errors[row] = problem
        else:
            values[row], lengths[row] = answer[task.name], len(vector)
    if errors and (unreadable > len(lengths) or not lengths):
        row, what = next(iter(errors.items()))
        what = f"{len(errors)} of {len(errors) + len(lengths)} rows have no embedding, the first: {what}"
        remedy = "Write the numbers with blanks between them, as many in each row, such as 0.1 -0.2 0.3"
        problems.add(cells.where(row, task.name), what, remedy)
    counts = Counter(lengths.values())
    usual = max(counts, key=lambda length: (counts[length], length), default=0)
    for row, length in lengths.items():
        if length != usual:
            what = f"the embedding has {length} numbers, most have {usual}"
            problems.add(cells.where(row, task.name), what, "Give the embeddings of one model")
    return values


def _component(text: str) -> float:
    """Read a number of an embedding, which may be nan or infinite."""
    if NUMBER.fullmatch(text):
        return float(text)
    try:
        return float("nan" if text.lower() in _NOTHING else text.replace("_", "x"))
    except ValueError:
        return parse_number(text)  # which says what is wrong


def _numbers(cells: TextTable, task: Task, bounds: tuple[float, float], problems: Problems) -> np.ndarray:
    """Read the answers of a regression task; a missing one is NaN."""
    low, high = bounds
    remedy = f"Give a number from {low:g} to {high:g} with a point, or leave the cell empty"
    return _column(cells, task.name, _number, remedy, problems)


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
