"""What got worse since an earlier run: the question of a pipeline that tests a model again and again.

Each test of both runs gets a one-sided p-value for the value having moved towards failing: *paired* where
both have replicates on the same segments and blocks, so that speakers that are hard for both cancel, else
*unpaired*, from the standard errors of both values. Among all tests the false discovery rate decides
(Benjamini and Hochberg 1995), so that an equally good model alarms in at most 5 of 100 runs.

- What is compared is what the rule of the new run judges: the value, or the gap of a group, further from 0 is
  *worse* under the rules of absolute values. Changes that are smaller than what matters count as p = 1.
- Of a gap no replicates are kept. Those of the value are scaled to its interval: a group differs from all
  others as it differs from all, by a factor.
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
from soundcheck.statistics.rules import ABOVE, GAP_RULES
from soundcheck.statistics.significance import adjusted_p_values

MATTERS_WORSE = 0.01
_SETTINGS = ("version", "title", "seed", "interval", "normaliser")
_NAMES = {"version": "Soundcheck", "interval": "kind of interval"}
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
    kinds = tuple(str(run.about.get("interval", "")) for run in (before, now))
    rows = {}
    for place, (key, row) in zip(now.frame.index, now.verdicts.items(), strict=True):
        old = before.verdicts.get(key)
        if row.passed is None or row.mirrors or old is None or old.passed is None:
            continue
        first, second = _judged(before, key, old, row.rule), _judged(now, key, row, row.rule)
        if None in (first.verdict.value, second.verdict.value):
            continue
        paired = (first.segments, first.blocks) == (second.segments, second.blocks) and first.blocks != ""
        paired &= first.drawn and second.drawn and len(first.replicates) == len(second.replicates)
        found = difference(first, second, paired, kinds)
        size = -found["difference"] if row.rule == ABOVE else found["difference"]
        p = np.nan if found["p_value"] is None else found["p_value"] / 2
        rows[place] = first.verdict.value, second.verdict.value, size, p if size > 0 else 1 - p, paired
    types = {"before": float, "after": float, "worse": float, "p_value": float, "paired": bool}
    index = pd.Index([*rows], dtype=now.frame.index.dtype)
    return pd.DataFrame([*rows.values()], columns=[*types], index=index).astype(types)


def _judged(run: FinishedRun, key: tuple[str, ...], row: Verdict, rule: str) -> Judged:
    """Give a test with what a rule judges of it as its value: the value, or the gap of a group."""
    entry = dataclasses.replace(run.judged.get(key) or Judged(row, np.empty(0)), verdict=row)
    found = {"rule": rule}
    if rule in GAP_RULES:
        found |= {"value": row.gap, "low": row.gap_low, "high": row.gap_high}
        if entry.drawn and None not in (row.low, row.gap_low):
            own, gap = row.high - row.low, row.gap_high - row.gap_low
            scaled = entry.replicates * (gap / own) if own > 0 and gap > 0 else np.empty(0)
            entry = dataclasses.replace(entry, replicates=scaled)
    return dataclasses.replace(entry, verdict=dataclasses.replace(row, **found))


def got_worse(compared: Sequence[pd.DataFrame], matters: float = MATTERS_WORSE) -> list[pd.Series]:
    """Decide which tests got worse, among all comparisons (:func:`changes`) of a pipeline together, bool.

    Changes up to the size ``matters`` do not count.
    """
    everything = pd.concat(compared, keys=range(len(compared)))
    p = everything["p_value"].where(everything["worse"] > matters, 1.0)[everything["p_value"].notna()]
    adjusted = pd.Series(adjusted_p_values(p.to_numpy()) if len(p) else [], index=p.index, dtype=float)
    found = adjusted.reindex(everything.index).le(FALSE_DISCOVERY_RATE)
    return [found[found.index.get_level_values(0) == n].droplevel(0) for n in range(len(compared))]


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
    both = [(run.about.get("suite") or {}, run) for run in (before, now)]
    found = {}
    for key in _SETTINGS:
        old, new = ((suite if key == "normaliser" else run.about).get(key) for suite, run in both)
        if old != new:
            found["setting", _NAMES.get(key, key)] = f"{_NAMES.get(key, key)} {old} then, {new} now"
    parts = [("task", "another definition of the task", [suite.get("tasks") or {} for suite, _ in both])]
    for key, by, kind, what in _DIGESTS:
        digests = [
            {name: one["digest"] for name, one in run.part(key, by).items() if one.get("digest") is not None}
            for run in (before, now)
        ]
        parts.append((kind, what, digests))
    for kind, what, (old, new) in parts:
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                found[kind, name] = what.format(name)
    return found
