"""What got worse since an earlier run: the question of a pipeline that tests a model again and again.

Each test of both runs gets a one-sided p-value for the value having moved towards failing. Where both runs
have replicates on the same segments and blocks the test is *paired*: speakers that are hard for both models
cancel. Elsewhere it is *unpaired*, from the standard errors of both values, which takes more to show.
Among all tests the false discovery rate decides (Benjamini and Hochberg 1995), so that a model that is just
as good alarms in at most 5 of 100 runs, however many tests there are.

Conventions
-----------
- *Worse* is lower under the rule ``>``, higher under ``<``, and further from 0 under the rules of absolute
  values. What is compared is what the rule of the new run judges: the value, or the gap of a group.
- Signs are those of the estimates, for replicates too: to fold replicates at 0 makes their spread too small.
- Of a gap no replicates are kept. Those of the value are scaled to its interval: a group differs from all
  others as it differs from all, by a factor.
- Changes that are smaller than what matters count as p = 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.judged import Judged
from soundcheck.results.states import FALSE_DISCOVERY_RATE
from soundcheck.results.verdict import KEY
from soundcheck.statistics.false_discovery import adjusted_p_values
from soundcheck.statistics.paired import LEAST_BLOCKS, interval_error, paired_p_value, standard_error, welch
from soundcheck.statistics.rules import ABOVE, GAP_RULES, GAP_WITHIN, WITHIN

MATTERS_WORSE = 0.01


@dataclasses.dataclass(frozen=True)
class _Side:
    """A judged number of one run: ``sign`` turns it so that more is worse."""

    number: float
    sign: float
    blocks: int
    interval: tuple[float, float]
    kind: str  # of the interval
    replicates: np.ndarray | None
    judged: Judged | None

    @property
    def error(self) -> float:
        """Standard error; NaN if unknown."""
        if self.replicates is not None:
            return standard_error(self.replicates, self.blocks)
        return interval_error(*self.interval, self.blocks, self.kind)


def changes(now: FinishedRun, before: FinishedRun) -> pd.DataFrame:
    """Compare the tests that both runs judged.

    Parameters
    ----------
    now, before
        The run that is judged, and an earlier one.

    Returns
    -------
    pandas.DataFrame
        One row a test, with the index of ``now.frame``: ``before``, ``after``, by how much it is ``worse``
        (negative: better), ``p_value`` (NaN with fewer than 5 blocks or without intervals), whether it is
        ``paired``.
    """
    earlier = {key: row for key, row in _by_test(before.frame).items() if row.passed is not None}
    rows, index = [], []
    for key, row in _by_test(now.frame).items():
        old = earlier.get(key)
        if row.passed is None or old is None or (name := _compared(row, old)) is None:
            continue
        first, second = _side(before, key, old, name, row.rule), _side(now, key, row, name, row.rule)
        worse = second.sign * second.number - first.sign * first.number
        paired, blocks, p = _same(first, second), (first.blocks, second.blocks), np.nan
        if paired:
            replicates = second.sign * second.replicates - first.sign * first.replicates
            p = paired_p_value(replicates, worse, min(blocks), "greater")
        elif min(blocks) >= LEAST_BLOCKS:
            p, _, _ = welch(worse, (first.error, second.error), blocks, "greater")
        rows.append((first.number, second.number, worse, p, paired))
        index.append(row.Index)
    columns = ["before", "after", "worse", "p_value", "paired"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(index, dtype=now.frame.index.dtype)).astype(
        {"before": float, "after": float, "worse": float, "p_value": float, "paired": bool}
    )


def got_worse(compared: Sequence[pd.DataFrame], matters: float = MATTERS_WORSE) -> list[pd.Series]:
    """Decide which tests got worse, among all comparisons of a pipeline together.

    Parameters
    ----------
    compared
        From :func:`changes`, one an earlier run.
    matters
        Changes up to this size do not count.

    Returns
    -------
    list of pandas.Series
        bool, in the order of ``compared`` and with its indices.
    """
    everything = pd.concat(compared, ignore_index=True)
    p = everything["p_value"].where(everything["worse"] > matters, 1.0).where(everything["p_value"].notna())
    known = p.notna().to_numpy()
    found = np.zeros(len(p), dtype=bool)
    if known.any():
        found[known] = adjusted_p_values(p[known].to_numpy()) <= FALSE_DISCOVERY_RATE
    ends = np.cumsum([len(frame) for frame in compared])
    parts = np.split(found, ends[:-1])
    return [pd.Series(part, index=frame.index) for part, frame in zip(parts, compared, strict=True)]


def got_better(compared: Sequence[pd.DataFrame], matters: float = MATTERS_WORSE) -> list[pd.Series]:
    """Decide which tests got better, by the same rule as :func:`got_worse`; see there."""
    turned = [frame.assign(worse=-frame["worse"], p_value=1 - frame["p_value"]) for frame in compared]
    return got_worse(turned, matters)


def differences(now: FinishedRun, before: FinishedRun) -> list[str]:
    """Say in what two runs differ that may move values without any change of the model."""
    if not before.about:
        return ["it has no run.json, so whether it is of the same suite cannot be told"]
    if not now.about:
        return ["the results have no run.json, so whether both are of the same suite cannot be told"]
    found = []
    old, new = before.about, now.about
    if old.get("version") != new.get("version"):
        found.append(f"it is of Soundcheck {old.get('version')}, the results of {new.get('version')}")
    for key, what in (("title", "title"), ("seed", "seed"), ("interval", "kind of interval")):
        if old.get(key) != new.get(key):
            found.append(f"its {what} is {old.get(key)}, that of the results {new.get(key)}")
    for model in sorted(now.part("models").keys() & before.part("models").keys()):
        if reason := now.changed_model(before, model):
            found.append(f"model {model} is another one ({reason})")
    for key, what in (("corpora", "corpus"), ("families", "family")):
        ours, theirs = now.part(key), before.part(key)
        for name in sorted(ours.keys() & theirs.keys()):
            if ours[name].get("digest") != theirs[name].get("digest"):
                changed = "other sounds" if key == "corpora" else "another threshold file"
                found.append(f"{what} {name} had {changed}")
        if missing := sorted(ours.keys() - theirs.keys()):
            found.append(f"it has no {what} {', '.join(missing)}")
        if more := sorted(theirs.keys() - ours.keys()):
            found.append(f"the results have no {what} {', '.join(more)}")
    return found


def _by_test(frame: pd.DataFrame) -> dict[tuple[str, ...], object]:
    return {tuple(getattr(row, name) for name in KEY): row for row in frame.itertuples()}


def _compared(row: object, old: object) -> str | None:
    """Name the column that is compared; ``None`` if a run lacks it."""
    name = "gap" if row.rule in GAP_RULES else "value"
    return name if np.isfinite([getattr(row, name), getattr(old, name)]).all() else None


def _side(run: FinishedRun, key: tuple[str, ...], row: object, name: str, rule: str) -> _Side:
    number = float(getattr(row, name))
    sign = -1.0 if rule == ABOVE else 1.0
    if rule in (WITHIN, GAP_WITHIN):
        sign = 1.0 if number >= 0 else -1.0
    interval = (row.low, row.high) if name == "value" else (row.gap_low, row.gap_high)
    entry = run.judged.get(key)
    replicates = None if entry is None or not len(entry.replicates) else entry.replicates
    if np.isnan(interval[0]):  # withheld, so that replicates say nothing either
        replicates = None
    elif replicates is not None and name == "gap":
        own, gap = row.high - row.low, interval[1] - interval[0]
        replicates = replicates * (gap / own) if own > 0 and gap > 0 else None
    kind = str(run.about.get("interval", ""))
    blocks = int(row.blocks) if entry is None else entry.contributing
    return _Side(number, sign, blocks, interval, kind, replicates, entry)


def _same(first: _Side, second: _Side) -> bool:
    """Say whether replicates of both are of the same segments and of the same draws of blocks."""
    if first.replicates is None or second.replicates is None:
        return False
    same = (first.judged.segments, first.judged.blocks) == (second.judged.segments, second.judged.blocks)
    return same and first.judged.blocks != "" and len(first.replicates) == len(second.replicates)
