"""The points of a history, and what became better or worse between them.

Each value is compared with the one before it by the rule of ``soundcheck compare``: *paired* where both rest
on the same data with the same draws, *unpaired* elsewhere. Among all these differences of a history together
the false discovery rate of Benjamini and Hochberg (1995) is kept at 5 %, so that a history in which nothing
changed marks anything in at most 5 of 100 cases, however many runs and tests it has.

Conventions
-----------
- The value before is that of the last run that has one; runs without it are a gap.
- Differences up to what matters (``matters_worse`` of the last run's suite) are not marked.
- Of a run without replicates the standard error comes from its interval.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.history.comparable import Comparability, Step
from soundcheck.history.past_runs import PastRun
from soundcheck.results.contrast import BETTER, UNPAIRED, WORSE, Contrast, frame_of, settled, unsettled
from soundcheck.results.judged import Judged
from soundcheck.results.verdict import KEY
from soundcheck.results.worse import MATTERS_WORSE
from soundcheck.statistics.paired import interval_error, standard_error, welch

JOINED, GAP, NEW_MODEL = "joined", "across a gap", "to another model"


@dataclasses.dataclass(frozen=True)
class Point:
    """A test of a run; a row of ``history.csv``.

    Parameters
    ----------
    position
        Number of the run in the history, from 1.
    run, date
        First digits of the digest of its results, and when it was kept, in UTC.
    soundcheck, model_version, data_version
        Version of Soundcheck, and first digits of digests of what the answers depend on and of the corpus;
        empty if nobody knows.
    model, corpus, family, category, task, test, group, label
        What was tested on what.
    value, low, high, segments, blocks, rule, threshold, passed
        As in ``results.csv``.
    mark
        ``"better"``, ``"worse"`` or ``"no evidence"``, against the value before; ``""`` without comparison.
    against
        Position of the run that it is compared with; 0 without comparison.
    difference, difference_low, difference_high, p_value, adjusted_p_value, pairing
        See :class:`soundcheck.results.contrast.Contrast`; adjusted among all comparisons of the history.
    changed
        What else is not the same as in that run: ``"model"``, ``"data"``, ``"Soundcheck"``, ``"seed"``.
    joined
        Whether a line leads here: ``"joined"``, ``"across a gap"``, ``"to another model"``, ``""``.
    reason
        Why the line breaks, or why there is no value.
    """

    position: int
    run: str
    date: str
    soundcheck: str
    model_version: str
    data_version: str
    model: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    group: str = ""
    label: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    segments: int = 0
    blocks: int = 0
    rule: str = ""
    threshold: float | None = None
    passed: bool | None = None
    mark: str = ""
    against: int = 0
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    pairing: str = ""
    changed: str = ""
    joined: str = ""
    reason: str = ""


COLUMNS = [field.name for field in dataclasses.fields(Point)]
_COPIED = (
    *("corpus", "family", "category", "task", "test", "group", "label", "value", "low", "high"),
    *("segments", "blocks", "rule", "threshold", "passed"),
)


class _Seen(NamedTuple):
    point: Point
    judged: Judged


def matters(runs: Sequence[PastRun]) -> float:
    """Give the size up to which differences are not marked: that of the last run that says so."""
    for run in reversed(runs):
        found = run.finished.about.get("matters_worse")
        if isinstance(found, int | float) and found >= 0:
            return float(found)
    return MATTERS_WORSE


def points(runs: Sequence[PastRun], models: Sequence[dict[str, str]]) -> pd.DataFrame:
    """Put the values of all runs one after the other, and mark what changed.

    Parameters
    ----------
    runs
        The runs, the earliest first.
    models
        Under which name each model of each run is told, see :func:`soundcheck.history.series.models_of`.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`; missing numbers are NaN, verdicts ``None``. By test, then by run.
    """
    found: list[Point] = []
    contrasts: list[Contrast] = []
    of_point: list[int] = []  # number of the point that a contrast is about
    last: dict[tuple[str, ...], _Seen] = {}
    pairs: dict[int, Comparability] = {}
    for position, (run, names) in enumerate(zip(runs, models, strict=True), start=1):
        pairs.clear()
        model_version = functools.cache(run.model_version)
        data_version = functools.cache(lambda corpus, run=run: run.data_version([corpus]))
        for model, entry in _entries(run, names):
            verdict = entry.verdict
            key = (model, *(getattr(verdict, name) for name in KEY[1:]))
            point = Point(
                *(position, run.digest, run.date, run.soundcheck),
                *(model_version(verdict.model), data_version(verdict.corpus), model),
                **{name: getattr(verdict, name) for name in _COPIED},
                reason=verdict.skipped if verdict.value is None else "",
            )
            before = last.get(key)
            if verdict.value is not None and before is not None:
                earlier = before.point.position
                if earlier not in pairs:
                    pairs[earlier] = Comparability(runs[earlier - 1], run)
                step = pairs[earlier].step(before.judged, entry)
                point = _stepped(point, before.point, step)
                if step.compared:
                    kinds = [runs[n - 1].finished.about.get("interval") for n in (earlier, position)]
                    contrasts.append(_contrast(before.judged, entry, step, kinds))
                    of_point.append(len(found))
            if verdict.value is not None:
                last[key] = _Seen(point, entry)
            found.append(point)
    for n, contrast in zip(of_point, settled(contrasts, matters(runs)), strict=True):
        found[n] = _compared(found[n], contrast)
    frame = frame_of(Point, found)
    return frame.sort_values([*KEY, "position"], kind="stable", ignore_index=True)


def _entries(run: PastRun, names: dict[str, str]) -> Iterator[tuple[str, Judged]]:
    """Give the tests of a run with their replicates, as far as there are any; nobody keeps them."""
    finished = dataclasses.replace(run.finished)  # what it remembers goes with it
    judged = finished.judged
    for key, verdict in run.finished.verdicts.items():
        if verdict.model in names:
            entry = judged.get(key) or Judged(verdict, np.empty(0))
            yield names[verdict.model], dataclasses.replace(entry, verdict=verdict)


_VERSIONS = {"data": "data_version", "Soundcheck": "soundcheck"}


def _stepped(point: Point, before: Point, step: Step) -> Point:
    """Say how a point follows the one before."""
    pairs = {name: (getattr(before, field), getattr(point, field)) for name, field in _VERSIONS.items()}
    changed = [name for name, (one, other) in pairs.items() if one and other and one != other]
    line = NEW_MODEL if step.other_model else JOINED if before.position == point.position - 1 else GAP
    changed = [*(["model"] if step.other_model else []), *changed, *([] if step.same_seed else ["seed"])]
    return dataclasses.replace(
        point,
        against=before.position if step.compared else 0,
        changed="; ".join(changed),
        joined=line if step.joined else "",
        reason=step.reason,
    )


def _contrast(before: Judged, after: Judged, step: Step, kinds: Sequence[object]) -> Contrast:
    """Compare two values; where replicates are missing, by the standard errors that their intervals have."""
    found = unsettled(before, after, step.same_draws)
    sides = (before, after)
    complete = all(len(entry.replicates) for entry in sides)
    if complete or found.difference is None or any(entry.verdict.low is None for entry in sides):
        return found
    errors = tuple(
        standard_error(entry.replicates, entry.contributing)
        if len(entry.replicates)
        else interval_error(entry.verdict.low, entry.verdict.high, entry.contributing, str(kind))
        for entry, kind in zip(sides, kinds, strict=True)
    )
    p, low, high = welch(found.difference, errors, (before.contributing, after.contributing))
    if np.isnan(p):
        return found
    return dataclasses.replace(found, p_value=p, low=low, high=high, pairing=UNPAIRED)


def _compared(point: Point, contrast: Contrast) -> Point:
    return dataclasses.replace(
        point,
        mark=contrast.outcome,
        difference=contrast.difference,
        difference_low=contrast.low,
        difference_high=contrast.high,
        p_value=contrast.p_value,
        adjusted_p_value=contrast.adjusted_p_value,
        pairing=contrast.pairing,
    )


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the points that are better or worse, what became worse first, then the surest."""
    own = frame[frame["mark"].isin([BETTER, WORSE])]
    order = own["mark"].eq(BETTER).astype(int)
    return (
        own.assign(order=order)
        .sort_values(["order", "adjusted_p_value"], kind="stable")
        .drop(columns="order")
    )
