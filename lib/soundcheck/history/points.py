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

import numpy as np
import pandas as pd

from soundcheck.history.comparable import Comparability, Step
from soundcheck.history.past_runs import PastRun
from soundcheck.results.contrast import (
    BETTER,
    CONTRAST_TYPES,
    WORSE,
    Contrast,
    settled,
    unsettled,
)
from soundcheck.results.judged import Judged
from soundcheck.results.schema import frame_of, schema_of
from soundcheck.results.verdict import KEY, Verdict
from soundcheck.results.worse import MATTERS_WORSE

JOINED, GAP, NEW_MODEL = "joined", "across a gap", "to another model"


_RUN = ("position", "run", "date", "soundcheck", "model_version", "data_version", "model")
_TEST = (
    *("corpus", "family", "category", "task", "test", "group", "label", "value", "low", "high"),
    *("segments", "blocks", "rule", "threshold", "passed"),
)
_DIFFERENCE = {  # column of a contrast -> of history.csv; adjusted among all comparisons of the history
    "outcome": "mark",
    "difference": "difference",
    "low": "difference_low",
    "high": "difference_high",
    "p_value": "p_value",
    "adjusted_p_value": "adjusted_p_value",
    "pairing": "pairing",
}
# Against which position a value is compared (0: none), what else is not the same there, whether a line leads
# here, and why none does or there is no value.
_STEP = ("against", "changed", "joined", "reason")
COLUMNS = [*_RUN, *_TEST, "mark", "against", *list(_DIFFERENCE.values())[1:], *_STEP[1:]]
_KNOWN = schema_of(Verdict) | CONTRAST_TYPES | {"position": "int", "against": "int"}
_KNOWN |= {column: CONTRAST_TYPES[name] for name, column in _DIFFERENCE.items()}
TYPES = {name: _KNOWN.get(name, "str") for name in COLUMNS}
_EMPTY = {name: "" if kind == "str" else 0 if kind == "int" else None for name, kind in TYPES.items()}


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
    rows: list[dict[str, object]] = []
    contrasts: list[Contrast] = []
    of_row: list[int] = []  # number of the row that a contrast is about
    last: dict[tuple[str, ...], tuple[dict[str, object], Judged]] = {}
    pairs: dict[int, Comparability] = {}
    for position, (run, names) in enumerate(zip(runs, models, strict=True), start=1):
        pairs.clear()
        model_version = functools.cache(run.model_version)
        data_version = functools.cache(lambda corpus, run=run: run.data_version([corpus]))
        for model, entry in _entries(run, names):
            verdict = entry.verdict
            key = (model, *(getattr(verdict, name) for name in KEY[1:]))
            versions = (model_version(verdict.model), data_version(verdict.corpus))
            about = (position, run.digest, run.date, run.soundcheck, *versions, model)
            row = _EMPTY | dict(zip(_RUN, about, strict=True))
            row |= {name: getattr(verdict, name) for name in _TEST}
            row["reason"] = verdict.skipped if verdict.value is None else ""
            if verdict.value is not None and key in last:
                before, judged = last[key]
                earlier = before["position"]
                if earlier not in pairs:
                    pairs[earlier] = Comparability(runs[earlier - 1], run)
                step = pairs[earlier].step(judged, entry)
                row |= _stepped(row, before, step)
                if step.compared:
                    kinds = [runs[n - 1].finished.about.get("interval") for n in (earlier, position)]
                    contrasts.append(unsettled(judged, entry, step.same_draws, kinds=tuple(map(str, kinds))))
                    of_row.append(len(rows))
            if verdict.value is not None:
                last[key] = row, entry
            rows.append(row)
    for n, contrast in zip(of_row, settled(contrasts, matters(runs)), strict=True):
        rows[n] |= {column: getattr(contrast, name) for name, column in _DIFFERENCE.items()}
    frame = frame_of(TYPES, {name: [row[name] for row in rows] for name in TYPES})
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


def _stepped(row: dict[str, object], before: dict[str, object], step: Step) -> dict[str, object]:
    """Say how a value follows the one before."""
    pairs = {name: (before[column], row[column]) for name, column in _VERSIONS.items()}
    changed = [name for name, (one, other) in pairs.items() if one and other and one != other]
    line = NEW_MODEL if step.other_model else JOINED if before["position"] == row["position"] - 1 else GAP
    changed = [*(["model"] if step.other_model else []), *changed, *([] if step.same_seed else ["seed"])]
    against = before["position"] if step.compared else 0
    joined = line if step.joined else ""
    return dict(zip(_STEP, (against, "; ".join(changed), joined, step.reason), strict=True))


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the points that are better or worse, what became worse first, then the surest."""
    own = frame[frame["mark"].isin([BETTER, WORSE])]
    order = own["mark"].eq(BETTER).astype(int)
    return (
        own.assign(order=order)
        .sort_values(["order", "adjusted_p_value"], kind="stable")
        .drop(columns="order")
    )
