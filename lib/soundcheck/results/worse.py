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

from soundcheck.common.wording import some
from soundcheck.results.contrast import BETTER, WORSE, compared_alone, contrast_frame
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.judged import Judged
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.results.states import FALSE_DISCOVERY_RATE
from soundcheck.statistics.evidence import adjusted_p_values
from soundcheck.statistics.rules import ABOVE, GAP_RULES

_SETTINGS = {name: name for name in ("version", "title", "seed", "interval", "normaliser")}
_SETTINGS |= {"version": "Soundcheck", "interval": "kind of interval"}


def changes(now: FinishedRun, before: FinishedRun) -> pd.DataFrame:
    """Compare the tests that both runs judged: contrasts, a row a test with the index of ``now.frame``.

    They have no p-value with fewer than 5 blocks or without intervals.
    """
    kinds = before.record.interval, now.record.interval
    rows = {}
    for place, (key, entry) in zip(now.frame.index, now.judged.items(), strict=True):
        entries, rule = [before.judged.get(key), entry], entry.verdict.rule
        if entry.verdict.mirrors or any(one is None or one.verdict.passed is None for one in entries):
            continue
        first, second = (_judged_by(rule, one) for one in entries)
        if None not in (first.verdict.value, second.verdict.value):
            paired = first.segments == second.segments and first.blocks != ""
            paired &= first.drawn and second.drawn and len(first.replicates) == len(second.replicates)
            rows[place] = compared_alone(first, second, paired, kinds=kinds)
    return contrast_frame([*rows.values()]).set_axis(pd.Index([*rows], dtype=now.frame.index.dtype))


def _judged_by(rule: str, entry: Judged) -> Judged:
    """Give a test with what a rule judges of it as its value: the value, or the gap of a group."""
    row, replicates = entry.verdict, entry.replicates
    if rule not in GAP_RULES:
        return dataclasses.replace(entry, verdict=dataclasses.replace(row, rule=rule))
    gap = dataclasses.replace(row, rule=rule, value=row.gap, low=row.gap_low, high=row.gap_high)
    if entry.drawn and None not in (row.low, row.gap_low):
        widths = row.high - row.low, row.gap_high - row.gap_low
        replicates = replicates * (widths[1] / widths[0]) if min(widths) > 0 else np.empty(0)
    return dataclasses.replace(entry, verdict=gap, replicates=replicates)


def with_outcomes(compared: Sequence[pd.DataFrame], matters: float) -> list[pd.DataFrame]:
    """Decide what got worse and what better, among all comparisons (:func:`changes`) of a pipeline together.

    Changes up to the size ``matters`` do not count. A column more says by how much a row is ``worse``
    (negative: better), and its ``p_value`` becomes the one-sided one of that.
    """
    rows = pd.concat(compared, keys=range(len(compared)))
    size = rows["difference"].where(rows["rule"].ne(ABOVE), -rows["difference"])
    p_values = (rows["p_value"] / 2).where(size > 0, 1 - rows["p_value"] / 2)
    rows = rows.assign(worse=size, p_value=p_values)
    for outcome, sign in ((WORSE, 1), (BETTER, -1)):
        tested = (p_values if outcome == WORSE else 1 - p_values).dropna()
        tested = tested.where(sign * size > matters, 1.0)
        significant = pd.Series(adjusted_p_values(tested.to_numpy()), tested.index) <= FALSE_DISCOVERY_RATE
        rows["outcome"] = rows["outcome"].mask(significant.reindex(rows.index, fill_value=False), outcome)
    return [rows[rows.index.get_level_values(0) == n].droplevel(0) for n in range(len(compared))]


def differences(now: FinishedRun, before: FinishedRun) -> list[str]:
    """Say in what two runs differ that may move values without any change of the model."""
    if not (before.recorded and now.recorded):
        which = "later" if before.recorded else "earlier"
        return [f"the {which} one has no run.json, so nobody knows whether both are of one suite"]
    changed = unlike(now.record, before.record)
    lines = [what for (kind, _), what in changed.items() if kind == "setting"]
    for name in sorted(now.models.keys() & before.models.keys()):
        if reason := changed_model(now.models[name], before.models[name]):
            lines.append(f"model {name} is another one ({reason})")
    for part, kind in (("corpora", "corpus"), ("families", "family")):
        lines += [f"{kind} {name}: {what}" for (one, name), what in changed.items() if one == kind]
        names_now, names_then = ({one.name for one in getattr(run.record, part)} for run in (now, before))
        for names, when in ((names_then - names_now, "then"), (names_now - names_then, "now")):
            lines += [f"{kind} {', '.join(sorted(names))} {when} only"] if names else []
    further = ((key, what) for key, what in changed.items() if key[0] in ("task", "sounds"))
    return lines + [f"{kind} {name}: {what}" for (kind, name), what in further]


def changed_model(now: ModelRecord, before: ModelRecord) -> str:
    """Say what made a model another one; else empty."""
    if names := sorted({name for name, _ in now.seen_files.items() ^ before.seen_files.items()}):
        return f"other content of {some(names, 3)}"
    same = (now.code or now.fingerprint) == (before.code or before.fingerprint)
    return "" if same else "other code, options or files"


def unlike(now: RunRecord, before: RunRecord) -> dict[tuple[str, str], str]:
    """Give what both runs recorded and what is not the same: kind and name -> in what it differs.

    Kinds are ``setting``, ``task``, ``corpus``, ``family`` and ``sounds``; for models see
    :func:`changed_model`.
    """
    both, changed = (before, now), {}
    for key, name in _SETTINGS.items():
        old, new = (run.suite.get(key) if key == "normaliser" else getattr(run, key) for run in both)
        if old != new:
            changed["setting", name] = f"{name} {old} then, {new} now"
    parts = {
        ("task", "another definition of the task"): [run.suite.get("tasks") or {} for run in both],
        ("corpus", "other sounds"): [{one.name: one.digest for one in run.corpora} for run in both],
        ("family", "another threshold file"): [{f.name: f.digest for f in run.families} for run in both],
        ("sounds", "other noises or rooms"): [{one.kind: one.digest for one in run.sounds} for run in both],
    }
    for (kind, what), (old, new) in parts.items():
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                changed[kind, name] = f"{what} ({name})" if kind == "sounds" else what
    return changed
