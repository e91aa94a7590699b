"""Is a model better than guessing at its task? If not, that it is fair and robust means nothing.

The same prediction for everything is perfectly robust and treats all alike, so robustness and fairness count
only at tasks at which a model is better than guessing, by one number a task that no constant can win:

- *proven*: the whole interval of that number is better than guessing;
- *hollow*: it is not, and there are enough speakers to see it;
- *unproven*: no corpus has labels, there is no interval, or it includes guessing with fewer than 20 speakers.

A corpus with labels decides for itself if it can. Where it cannot, the model's other corpora decide: *proven*
if it is better than guessing on one of them, else *hollow* if it is hollow on one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from soundcheck.results.record import KeyFigure
from soundcheck.statistics.bootstrap import FEW_BLOCKS

CORRECTNESS, FAIRNESS, ROBUSTNESS = ASPECTS = ("correctness", "fairness", "robustness")
PROVEN, HOLLOW, UNPROVEN = "proven", "hollow", "unproven"


class Standing(NamedTuple):
    """How a model stands at a task, and by which number; ``None`` if no corpus has labels for it."""

    name: str
    figure: KeyFigure | None


def aspects(frame: pd.DataFrame) -> pd.Series:
    """Say what each row is about, one of :data:`ASPECTS`: a difference between groups is about fairness."""
    return frame["category"].where(frame["group"].fillna("").eq(""), FAIRNESS)


def compared(low: float, high: float, guessing: float, blocks: int, *, more_is_better: bool) -> str:
    """Say how a model stands whose number has this interval, NaN if there is none.

    >>> compared(0.02, 0.3, 0.0, 8, more_is_better=True), compared(-0.1, 0.1, 0.0, 8, more_is_better=True)
    ('proven', 'unproven')
    """
    if math.isnan(low) or math.isnan(high) or math.isnan(guessing):
        return UNPROVEN
    if low > guessing if more_is_better else high < guessing:
        return PROVEN
    return UNPROVEN if low < guessing < high and blocks < FEW_BLOCKS else HOLLOW


def standing(figures: Sequence[KeyFigure], model: str, task: str, corpus: str = "") -> Standing:
    """Say how a model stands at a task, on a corpus or on all of them together."""
    own = [f for f in figures if f.standing and (f.model, f.task) == (model, task)]
    here = [f for f in own if f.corpus == corpus]
    for some, wanted in itertools.product((here, own), (PROVEN, HOLLOW)):
        for figure in some:
            if figure.standing == wanted:
                return Standing(wanted, figure)
    return Standing(UNPROVEN, next(iter((*here, *own)), None))


def standings(frame: pd.DataFrame, figures: Sequence[KeyFigure] | None) -> pd.Series:
    """Say of each row of the results how its model stands at its task.

    Rows about correctness are always proven, as they speak for themselves, and so are all without figures.
    """
    found = pd.Series(PROVEN, index=frame.index, dtype=object)
    if figures is None or frame.empty:
        return found
    judged = frame[aspects(frame).ne(CORRECTNESS)]
    for (model, task, corpus), rows in judged.groupby(["model", "task", "corpus"]).groups.items():
        found[rows] = standing(figures, model, task, corpus).name
    return found
