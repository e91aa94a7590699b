"""States: what may be concluded from each row, for new speakers and for these, all tests of a run together.

A row *fails* if its difference is beyond the margin, or its value on the wrong side of the threshold, and is
significant among all tests of a model in a category (false discovery rate of Benjamini and Hochberg 1995,
Controlling the false discovery rate). It *passes* if its whole interval lies within the margin or on the
passing side.

- Two groups that are compared with each other are one test. The row of the group that is worse off counts, of
  measures without a better side that of the larger value; the other repeats its state and names it in
  ``mirrors``.
- The p-value of what is within its margin or threshold counts as 1.
- ``state`` is about new speakers, ``state_sample`` about these. Of a difference that these speakers are too
  few to show, ``state_sample`` is reported: a few speakers always differ a little.

An accepted failure stays a failure on every page. Pipelines look past it until its last day is over.

*Standing* compares a model with chance. The same prediction for everything is perfectly robust and treats
all alike, so robustness and fairness count only at tasks at which a model is better than guessing, by one
number a task that no constant can win (a key figure): *proven*, the whole interval is better than guessing;
*hollow*, it is not, with enough speakers to see it; *unproven*, no corpus has labels, there is no interval,
or it includes guessing with fewer than 20 speakers. A corpus with labels decides for itself if it can; else
*proven* if the model is better than guessing on any of its other corpora, *hollow* if it is hollow on one.
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.common.day import today
from soundcheck.results.record import KeyFigure
from soundcheck.results.rows import OTHERS, UNJUDGED
from soundcheck.statistics import evidence
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.statistics.evidence import adjusted_p_values
from soundcheck.statistics.rules import ABOVE, WITHIN, one_sided
from soundcheck.suite.families import HIGHER, AcceptedFailure, measure_of

STATES = ("pass", "fail", "inconclusive", "not evaluated", "reported")
PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED = STATES
CORRECTNESS, FAIRNESS, ROBUSTNESS = ASPECTS = ("correctness", "fairness", "robustness")
PROVEN, HOLLOW, UNPROVEN = "proven", "hollow", "unproven"
FALSE_DISCOVERY_RATE = 0.05
NO_SPEAKERS = "no speakers are known, so that nothing follows for new ones"
REFERENCE = "this is the reference group"
NO_REFERENCE = "the reference group is not here, or too small"
_NOT_COMPARED = (NO_SPEAKERS, REFERENCE, NO_REFERENCE)
_PAIR = ["model", "corpus", "family", "task", "test", "label"]


def decide(frame: pd.DataFrame) -> pd.DataFrame:
    """Fill ``holds``, ``state``, ``state_sample`` and ``mirrors`` of the results of a whole run."""
    frame = frame.assign(mirrors=mirrors(frame))
    holds, sample = (significant(frame, frame[name]) for name in ("p_value", "p_sample"))
    no_value, reported = frame["value"].isna(), frame["evidence"].eq(UNJUDGED)
    clear_pass = frame["evidence"].eq(evidence.CLEAR_PASS)
    reasons = [frame["skipped"].str.contains(why, regex=False) for why in _NOT_COMPARED]
    unknown = frame["p_sample"].isna() & frame["gap_low_sample"].isna()
    too_few = differences(frame) & (frame["gap_low"].isna() | cannot_be_significant(frame))
    state = np.select(  # the first that is so
        [no_value, reported, np.any(reasons, axis=0), holds.eq(True), clear_pass],
        [NOT_EVALUATED, REPORTED, NOT_EVALUATED, FAIL, PASS],
        INCONCLUSIVE,
    )
    state_sample = np.select(
        [no_value, reported, unknown, too_few & ~reasons[0], sample.eq(True), _passes_here(frame)],
        [NOT_EVALUATED, REPORTED, NOT_EVALUATED, REPORTED, FAIL, PASS],
        INCONCLUSIVE,
    )
    concluded = pd.DataFrame({"holds": holds, "state": state, "state_sample": state_sample}, frame.index)
    return frame.assign(**concluded.loc[counting(frame)].set_axis(frame.index))


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that count: of two groups that are one test only one."""
    return frame[frame["mirrors"].eq("")]


def differences(frame: pd.DataFrame) -> pd.Series:
    """Say which rows compare a group with others, bool."""
    return frame["against"].ne("")


def sizes(frame: pd.DataFrame) -> pd.Series:
    """Give the sizes of differences, below 0 where only one direction is worse and a group is better off."""
    return frame["gap"].where(frame["rule"].map(one_sided).astype(bool), frame["gap"].abs())


def candidates(frame: pd.DataFrame) -> pd.Series:
    """Say which rows may fail: a difference beyond its margin, or a value that does not pass, bool."""
    beyond = sizes(frame) >= frame["matters"]
    return beyond.where(frame["matters"].notna(), frame["passed"].eq(False)).astype(bool)


def significant(frame: pd.DataFrame, p_values: pd.Series) -> pd.Series:
    """Say which rows are significant after correction: True, False, or None for those without p-value."""
    decided = pd.Series([None] * len(frame), index=frame.index, dtype=object)
    judged = p_values.where(candidates(frame), 1.0)[frame["mirrors"].eq("") & p_values.notna()]
    for rows in judged.groupby([frame["model"], frame["category"]]).groups.values():
        adjusted = adjusted_p_values(judged[rows].to_numpy(np.float64))
        decided[rows] = pd.Series((adjusted <= FALSE_DISCOVERY_RATE).tolist(), index=rows, dtype=object)
    return decided


def tests(frame: pd.DataFrame) -> pd.Series:
    """Count for each row the tests of its model and category that it is corrected for, int."""
    known = frame["p_value"].notna() & frame["mirrors"].eq("")
    return known.groupby([frame["model"], frame["category"]]).transform("sum").astype(int)


def cannot_be_significant(frame: pd.DataFrame) -> pd.Series:
    """Say of which rows so few speakers cannot show anything among so many tests, bool.

    They could only together with others, however large the difference.
    """
    return frame["least_p"] > FALSE_DISCOVERY_RATE / tests(frame).clip(lower=1)


def mirrors(frame: pd.DataFrame) -> pd.Series:
    """Name for each row of a pair of groups that does not count the group whose row does."""
    names = pd.Series("", index=frame.index, dtype="str")
    compared = frame[frame["against"].eq(OTHERS) & frame["gap"].notna()]
    columns = compared["group"].str.split(": ").str[0]
    # Groups within a context ("language: de, sentiment: negative") are pairs within it.
    contexts = compared["group"].str.extract(r"(, [^,:]+: [^,]*)$")[0].fillna("")
    for _, rows in compared.groupby([*(compared[name] for name in _PAIR), columns, contexts], sort=False):
        # A third group may have no value of its own, and segments that count on the other side of both.
        if len(rows) != 2 or abs(rows["gap"].sum()) > 1e-9:
            continue
        better = measure_of(rows["test"].iloc[0], rows["family"].iloc[0]).better
        worse = rows["gap"].idxmin() if better == HIGHER else rows["gap"].idxmax()
        names[rows.index.drop(worse)] = rows["group"][worse]
    return names


def _passes_here(frame: pd.DataFrame) -> pd.Series:
    """Say of which rows the whole interval for these speakers is within the margin, or passes, bool."""
    low, high = frame["gap_low_sample"], frame["gap_high_sample"]
    sided = frame["rule"].map(one_sided).astype(bool)
    within = (high < frame["matters"]) & (sided | (-low < frame["matters"]))
    nearest = frame["value"] - frame["gap"]
    both = np.maximum(-(low + nearest), high + nearest) < frame["threshold"]
    passing = (low > 0).where(frame["rule"].eq(ABOVE), high < 0)
    passing = both.where(frame["rule"].eq(WITHIN), passing)
    return within.where(differences(frame), passing).astype(bool)


def counting(frame: pd.DataFrame) -> pd.Series:
    """Give for each row the index of the row that counts for it: its own, or that of the other group."""
    if frame["mirrors"].eq("").all():
        return pd.Series(frame.index, frame.index)
    places = pd.Series(frame.index, pd.MultiIndex.from_frame(frame[[*_PAIR, "group"]]))
    names = frame["group"].where(frame["mirrors"].eq(""), frame["mirrors"])
    keys = pd.MultiIndex.from_frame(frame[_PAIR].assign(group=names))
    return places.reindex(keys).set_axis(frame.index)


def failures(frame: pd.DataFrame) -> pd.Series:
    """Say which rows are failures: those of state fail, and those that fail by their threshold, bool."""
    return frame["passed"].eq(False) | frame["state"].eq(FAIL)


def matching(frame: pd.DataFrame, entry: AcceptedFailure) -> pd.Series:
    """Say which rows agree in everything that an entry names, bool."""
    return frame[list(entry.named)].eq(pd.Series(entry.named, dtype=object)).all(axis="columns")


def accepted_reasons(
    frame: pd.DataFrame,
    entries: Sequence[AcceptedFailure],
    failed: pd.Series | None = None,
) -> pd.Series:
    """Give for each row the reason why its failure is accepted, and how long; empty if nothing accepts it.

    Entries whose last day is over accept nothing. ``failed`` says which rows count as failures; default:
    :func:`failures`.
    """
    reasons = pd.Series("", index=frame.index, dtype=object)
    failed = failures(frame) if failed is None else failed
    for entry in entries:
        if not entry.past(today()):
            reasons[failed & reasons.eq("") & matching(frame, entry)] = entry.reason
    return reasons


class Standing(NamedTuple):
    """How a model compares with chance at a task."""

    name: str
    figure: KeyFigure | None  # the number that says so; None if no corpus has labels


def aspects(frame: pd.DataFrame) -> pd.Series:
    """Say what each row is about, one of :data:`ASPECTS`: a difference between groups is about fairness."""
    return frame["category"].where(frame["group"].fillna("").eq(""), FAIRNESS)


def compared(low: float, high: float, guessing: float, blocks: int, *, more_is_better: bool) -> str:
    """Compare an interval with chance; NaN if there is none.

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
    of_task = [f for f in figures if f.standing and (f.model, f.task) == (model, task)]
    of_corpus = [f for f in of_task if f.corpus == corpus]
    for some, wanted in itertools.product((of_corpus, of_task), (PROVEN, HOLLOW)):
        for figure in some:
            if figure.standing == wanted:
                return Standing(wanted, figure)
    return Standing(UNPROVEN, next(iter((*of_corpus, *of_task)), None))


def standings(frame: pd.DataFrame, figures: Sequence[KeyFigure] | None) -> pd.Series:
    """Say of each row of the results how its model stands at its task.

    Rows about correctness are always proven, as they speak for themselves, and so are all without figures.
    """
    names = pd.Series(PROVEN, index=frame.index, dtype=object)
    if figures is None or frame.empty:
        return names
    judged = frame[aspects(frame).ne(CORRECTNESS)]
    for (model, task, corpus), rows in judged.groupby(["model", "task", "corpus"]).groups.items():
        names[rows] = standing(figures, model, task, corpus).name
    return names
