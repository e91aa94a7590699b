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

from soundcheck.results.contrast import difference
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.judged import Judged
from soundcheck.results.states import FALSE_DISCOVERY_RATE
from soundcheck.results.verdict import Verdict
from soundcheck.statistics.false_discovery import adjusted_p_values
from soundcheck.statistics.rules import ABOVE, GAP_RULES

MATTERS_WORSE = 0.01
_SETTINGS = {"version": "Soundcheck", "title": "title", "seed": "seed", "interval": "kind of interval"}


_DIGESTS = (  # part of the record, what its entries are named by, kind, and what a change means
    ("corpora", "name", "corpus", "other sounds"),
    ("families", "name", "family", "another threshold file"),
    ("sounds", "kind", "sounds", "other noises or rooms ({})"),
)


def changes(now: FinishedRun, before: FinishedRun) -> pd.DataFrame:
    """Compare the tests that both runs judged, a row a test with the index of ``now.frame``.

    Columns are ``before``, ``after``, by how much it is ``worse`` (negative: better), ``p_value`` (NaN with
    fewer than 5 blocks or without intervals) and whether it is ``paired``.
    """
    kinds = [str(run.about.get("interval", "")) for run in (before, now)]
    rows, index = [], []
    for place, (key, row) in zip(now.frame.index, now.verdicts.items(), strict=True):
        old = before.verdicts.get(key)
        if row.passed is None or row.mirrors or old is None or old.passed is None:
            continue
        first, second = _compared(before, key, old, row.rule), _compared(now, key, row, row.rule)
        if first is None or second is None:
            continue
        paired = _same(first, second)
        found = difference(first, second, paired, kinds)
        size = -found["difference"] if row.rule == ABOVE else found["difference"]
        p = np.nan if found["p_value"] is None else found["p_value"] / 2
        rows.append((first.verdict.value, second.verdict.value, size, p if size > 0 else 1 - p, paired))
        index.append(place)
    columns = ["before", "after", "worse", "p_value", "paired"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(index, dtype=now.frame.index.dtype)).astype(
        {"before": float, "after": float, "worse": float, "p_value": float, "paired": bool}
    )


def got_worse(compared: Sequence[pd.DataFrame], matters: float = MATTERS_WORSE) -> list[pd.Series]:
    """Decide which tests got worse, among all comparisons (:func:`changes`) of a pipeline together, bool.

    Changes up to the size ``matters`` do not count.
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
    if not (before.about and now.about):
        which = "later" if before.about else "earlier"
        return [f"the {which} one has no run.json, so nobody knows whether both are of one suite"]
    changed = unlike(now, before)
    found = [what for (kind, _), what in changed.items() if kind == "setting"]
    for model in sorted(now.part("models").keys() & before.part("models").keys()):
        if reason := now.changed_model(before, model):
            found.append(f"model {model} is another one ({reason})")
    for key, kind in (("corpora", "corpus"), ("families", "family")):
        ours, theirs = now.part(key).keys(), before.part(key).keys()
        found += [f"{kind} {name}: {what}" for (one, name), what in changed.items() if one == kind]
        for names, when in ((theirs - ours, "then"), (ours - theirs, "now")):
            found += [f"{kind} {', '.join(sorted(names))} {when} only"] if names else []
    further = ((key, what) for key, what in changed.items() if key[0] in ("task", "sounds"))
    return found + [f"{kind} {name}: {what}" for (kind, name), what in further]


def unlike(now: FinishedRun, before: FinishedRun) -> dict[tuple[str, str], str]:
    """Give what both runs recorded and what is not the same: kind and name -> in what it differs.

    Kinds are ``setting``, ``task``, ``corpus``, ``family`` and ``sounds``; that of models is
    :meth:`FinishedRun.changed_model`.
    """
    suites = [run.about.get("suite") or {} for run in (before, now)]
    pairs = {what: (before.about.get(key), now.about.get(key)) for key, what in _SETTINGS.items()}
    pairs["normaliser"] = tuple(suite.get("normaliser") for suite in suites)
    found = {
        ("setting", what): f"{what} {one} then, {other} now"
        for what, (one, other) in pairs.items()
        if one != other
    }
    old, new = (suite.get("tasks") or {} for suite in suites)
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            found["task", name] = "another definition of the task"
    for key, by, kind, what in _DIGESTS:
        ours, theirs = now.part(key, by), before.part(key, by)
        for name in sorted(ours.keys() & theirs.keys()):
            digests = [one[name].get("digest") for one in (theirs, ours)]
            if None not in digests and digests[0] != digests[1]:
                found[kind, name] = what.format(name)
    return found


def _compared(run: FinishedRun, key: tuple[str, ...], row: Verdict, rule: str) -> Judged | None:
    """Give what a rule judges of a test, the value or the gap of a group; ``None`` if the run lacks it."""
    entry = run.judged.get(key) or Judged(row, np.empty(0))
    if rule not in GAP_RULES:
        shown = {"value": row.value, "low": row.low, "high": row.high}
    else:
        shown = {"value": row.gap, "low": row.gap_low, "high": row.gap_high}
        if entry.drawn and None not in (row.low, row.gap_low):
            own, gap = row.high - row.low, row.gap_high - row.gap_low
            scaled = entry.replicates * (gap / own) if own > 0 and gap > 0 else np.empty(0)
            entry = dataclasses.replace(entry, replicates=scaled)
    if shown["value"] is None:
        return None
    return dataclasses.replace(entry, verdict=dataclasses.replace(row, rule=rule, **shown))


def _same(first: Judged, second: Judged) -> bool:
    """Say whether replicates of both are of the same segments and of the same draws of blocks."""
    same = (first.segments, first.blocks) == (second.segments, second.blocks)
    return same and first.blocks != "" and first.drawn and len(first.replicates) == len(second.replicates)
