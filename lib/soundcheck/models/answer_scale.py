"""The scale on which a model answers regression tasks: mapping answers, and refusing a model on another one.

Conventions
-----------
- Answers are kept as the model gave them; they are mapped to the task's nominal range when tables are made.
- A model or table of which more than half of the answers lie outside, or a dozen far outside, is refused: its
  numbers would be wrong without looking wrong. A few answers outside are kept and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import input_error
from soundcheck.common.scales import another_scale, outside, range_advice, usual_scales
from soundcheck.common.tasks import Task, scaled

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

NAMED = 5  # answers that a message shows


def nominal(values: np.ndarray, task: Task, bounds: tuple[float, float]) -> np.ndarray:
    """Map answers on a scale to the nominal range of a task; those outside of the scale stay outside.

    >>> nominal(np.array([1.0, 4.6, 7.0]), Task("arousal", "regression"), (1, 7)).tolist()
    [0.0, 0.6, 1.0]
    """
    if bounds == (task.low, task.high):
        return values
    return task.low + scaled(values, *bounds) * (task.high - task.low)


def check_scale(answers: Sequence[float], task: Task, entry: ModelEntry, suite: Suite, which: str) -> None:
    """Refuse a model whose answers lie on another scale than the suite says; ``which`` is for messages."""
    values = np.asarray(answers, dtype=np.float64)
    values = values[np.isfinite(values)]
    scale = entry.range_of(task)
    stated = task.name in entry.ranges
    if not another_scale(values, scale, stated=stated):
        return
    low, high = scale
    beyond = values[outside(values, scale)]
    shown = ", ".join(f"{value:.4g}" for value in beyond[:NAMED])
    more = ", ..." if len(beyond) > NAMED else ""
    count = "all" if len(beyond) == len(values) else f"{len(beyond)}"
    reach = f"all lie from {values.min():.4g} to {values.max():.4g}"
    what = f"{task.name}: {count} of the {which} are not in {low:g} to {high:g} ({shown}{more}); {reach}"
    labels = [corpus.ranges[task.name] for corpus in suite.corpora.values() if task.name in corpus.ranges]
    found = usual_scales(values, [*labels, (task.low, task.high)])
    several = sum(suite.tasks[name].is_regression for name in entry.tasks) > 1
    remedy = f"Say on which scale the model answers, {range_advice(found, task.name if several else '')}"
    if not stated and len(beyond) <= len(values) / 2:
        remedy += f", or `range: [{low:g}, {high:g}]` if it leaves that scale by mistake"
    raise input_error(f"{suite.file.name}, models.{entry.name}", what, remedy)
