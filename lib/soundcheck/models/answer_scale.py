"""The scale on which a model answers regression tasks: mapping answers, and refusing a model on another one.

Conventions
-----------
- Answers are kept as the model gave them; they are mapped to the task's nominal range when tables are made.
- A model or table of which more than half of the answers lie outside is refused: its numbers would be wrong
  without looking wrong. A few answers outside are kept and counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import InputError, input_error
from soundcheck.common.tasks import Task, scaled

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

__all__ = ["check_scale", "nominal"]

NAMED = 5  # answers that a message shows
USUAL = ((-1, 1), (1, 5), (1, 7), (1, 9), (0, 10), (0, 100))  # scales of ratings, the narrowest first


def nominal(values: np.ndarray, task: Task, bounds: tuple[float, float]) -> np.ndarray:
    """Map answers to the nominal range of a task.

    Parameters
    ----------
    values
        As the model gave them, float64 ``(n,)``; NaN = none.
    task
        A regression task.
    bounds
        Ends of the scale that they are given on.

    Returns
    -------
    numpy.ndarray
        float64 ``(n,)``; those outside of the scale stay outside.

    Examples
    --------
    >>> nominal(np.array([1.0, 4.6, 7.0]), Task("arousal", "regression"), (1, 7)).tolist()
    [0.0, 0.6, 1.0]
    """
    if bounds == (task.low, task.high):
        return values
    return task.low + scaled(values, *bounds) * (task.high - task.low)


def check_scale(answers: Sequence[float], task: Task, entry: ModelEntry, suite: Suite, which: str) -> None:
    """Refuse a model that answers on another scale.

    Parameters
    ----------
    answers
        As the model gave them; NaN = none.
    task
        A regression task.
    entry, suite
        The model.
    which
        How messages call the answers, such as ``"first 20 answers"``.

    Raises
    ------
    InputError
        If more than half of the answers, and more than one, lie outside of the scale that the suite says the
        model answers on.
    """
    values = np.asarray(answers, dtype=np.float64)
    values = values[np.isfinite(values)]
    low, high = entry.range_of(task)
    outside = values[(values < low) | (values > high)]
    if len(outside) > max(1, len(values) / 2):
        raise _other_scale(values, outside, task, entry, suite, which)


def _other_scale(
    values: np.ndarray, outside: np.ndarray, task: Task, entry: ModelEntry, suite: Suite, which: str
) -> InputError:
    low, high = entry.range_of(task)
    shown = ", ".join(f"{value:.4g}" for value in outside[:NAMED])
    more = ", ..." if len(outside) > NAMED else ""
    count = "all" if len(outside) == len(values) else f"{len(outside)}"
    what = f"{task.name}: {count} of the {which} are not in {low:g} to {high:g} ({shown}{more})"
    first, last = _guess(values, task, suite)
    remedy = f"Another scale? Say which, such as `range: [{first:g}, {last:g}]`, or correct the model"
    return input_error(f"{suite.file.name}, models.{entry.name}", what, remedy)


def _guess(values: np.ndarray, task: Task, suite: Suite) -> tuple[float, float]:
    """Guess the scale: that of labels if the answers fit, else a usual one, else how far they reach."""
    labels = [corpus.ranges[task.name] for corpus in suite.corpora.values() if task.name in corpus.ranges]
    lowest, highest = float(values.min()), float(values.max())
    for low, high in (*labels, (task.low, task.high), *USUAL):
        if low <= lowest and highest <= high:
            return low, high
    return math.floor(lowest), math.ceil(highest)
