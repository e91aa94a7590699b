"""Two models on the same test: the difference with its paired interval, and what it is evidence of.

The replicates of both models were drawn with the same weights of the same blocks, so the difference of the
replicates is the replicate of the difference. Speakers that are hard for both models cancel.

Conventions
-----------
- A difference is the candidate's value minus the baseline's; for tests of the rule ``|value| <`` it is the
  difference of the absolute values, because there less is better whatever the sign.
- *better* and *worse* need an interval without 0; all else is *no evidence*, which is not the same as no
  difference.
- *Relative* is the difference as a share of the baseline's value; there is none if that is not positive.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import spreadsheet
from soundcheck.common.json_file import JsonFile
from soundcheck.metrics.additive import round_significant
from soundcheck.results.judged import Judged
from soundcheck.results.verdict import Verdict
from soundcheck.statistics import bootstrap
from soundcheck.statistics.rules import ABOVE, WITHIN

__all__ = [
    "BETTER",
    "CONTRAST_COLUMNS",
    "Contrast",
    "NO_EVIDENCE",
    "WORSE",
    "contrast",
    "contrast_csv",
    "contrast_frame",
    "contrasts",
    "load_contrasts",
    "save_contrasts",
]

BETTER, WORSE, NO_EVIDENCE = "better", "worse", "no evidence"


@dataclasses.dataclass(frozen=True)
class Contrast:
    """One test of two models; a row of ``comparisons.csv``.

    Parameters
    ----------
    baseline, candidate
        Names of the models.
    corpus, family, category, task, test, label, group
        What was tested on what.
    baseline_value, candidate_value
        Values of the two models.
    difference, low, high
        Candidate minus baseline (of absolute values if the rule is ``|value| <``) with its paired interval.
    relative, relative_low, relative_high
        The same as a share of the baseline's value.
    certainty
        Share of replicates in which the difference has the sign that it has.
    outcome
        ``"better"``, ``"worse"``, ``"no evidence"``; ``""`` if the models cannot be compared.
    baseline_passed, candidate_passed
        Their verdicts; ``None`` if skipped.
    segments, blocks
        How many segments and blocks the candidate's value rests on.
    rule, threshold
        What the values are compared with.
    skipped
        Why there is no outcome or no interval, or what to know about it; else ``""``.
    """

    baseline: str
    candidate: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    label: str = ""
    baseline_value: float | None = None
    candidate_value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    relative: float | None = None
    relative_low: float | None = None
    relative_high: float | None = None
    certainty: float | None = None
    outcome: str = ""
    baseline_passed: bool | None = None
    candidate_passed: bool | None = None
    segments: int = 0
    blocks: int = 0
    rule: str = ""
    threshold: float | None = None
    skipped: str = ""
    group: str = ""


CONTRAST_COLUMNS = [field.name for field in dataclasses.fields(Contrast)]


def contrast(baseline: Judged, candidate: Judged, kind: str = "percentile") -> Contrast:
    """Compare two models on one test.

    Parameters
    ----------
    baseline, candidate
        The same test of two models, with replicates.
    kind
        Kind of interval, see :func:`soundcheck.statistics.bootstrap.interval`.
    """
    before, after = baseline.verdict, candidate.verdict
    common = {
        "baseline": before.model,
        "candidate": after.model,
        **{name: getattr(after, name) for name in _SAME},
        "baseline_value": before.value,
        "candidate_value": after.value,
        "baseline_passed": before.passed,
        "candidate_passed": after.passed,
    }
    if before.value is None or after.value is None:
        who, what = (before.model, before.skipped) if before.value is None else (after.model, after.skipped)
        return Contrast(**common, skipped=f"{who}: {what}")
    size = np.abs if after.rule == WITHIN else np.asarray
    first, second = float(size(before.value)), float(size(after.value))
    difference = float(round_significant(np.array(second - first)))
    relative = float(round_significant(np.array(difference / first))) if first > 0 else None
    remark = ""
    if baseline.segments != candidate.segments:
        remark = f"not the same segments: {before.segments} against {after.segments}"
    common |= {"difference": difference, "relative": relative, "outcome": NO_EVIDENCE}
    if baseline.blocks != candidate.blocks:
        return Contrast(**common, skipped="interval withheld: the models answered for different blocks")
    if len(baseline.replicates) != len(candidate.replicates):
        return Contrast(**common, skipped="interval withheld: different numbers of replicates")
    if before.low is None or after.low is None:
        return Contrast(**common, skipped=_join("interval withheld", before.skipped or after.skipped))
    one, other = size(baseline.replicates), size(candidate.replicates)
    replicates = round_significant(other - one)
    low, high = bootstrap.interval(replicates, kind, blocks=after.blocks, value=difference)
    good_above = after.rule == ABOVE
    outcome = NO_EVIDENCE
    if low > 0 or high < 0:
        outcome = BETTER if (low > 0) == good_above else WORSE
    found = {"low": low, "high": high, "outcome": outcome, "certainty": _certainty(replicates, difference)}
    if relative is not None and (one[~np.isnan(one)] > 0).all():
        share = round_significant(np.divide(replicates, one))
        bounds = bootstrap.interval(share, kind, blocks=after.blocks, value=relative)
        found |= {"relative_low": bounds[0], "relative_high": bounds[1]}
    return Contrast(**(common | found), skipped=remark)


_WHAT = ("corpus", "family", "task", "test", "group", "label")  # pairs the tests of two models
_SAME = (*_WHAT, "category", "segments", "blocks", "rule", "threshold")


def _join(*texts: str) -> str:
    return ": ".join(filter(None, texts))


def _certainty(replicates: np.ndarray, difference: float) -> float | None:
    """Give the share of replicates whose sign is that of the difference; None without a sign."""
    defined = replicates[~np.isnan(replicates)]
    if difference == 0 or not len(defined):
        return None
    return float(round_significant(np.array(np.mean(np.sign(defined) == np.sign(difference)))))


def contrasts(
    baseline: Iterable[Judged], candidate: Iterable[Judged], kind: str = "percentile"
) -> list[Contrast]:
    """Compare two models on all their tests; tests that only one of them has are listed, too.

    Parameters
    ----------
    baseline, candidate
        Judged tests of one model each.
    kind
        Kind of interval.
    """
    first = {_key(entry.verdict): entry for entry in baseline}
    second = {_key(entry.verdict): entry for entry in candidate}
    names = [next((e.verdict.model for e in entries.values()), "") for entries in (first, second)]
    found = []
    for key in sorted(first.keys() | second.keys()):
        one, other = first.get(key), second.get(key)
        if one is not None and other is not None:
            found.append(contrast(one, other, kind))
            continue
        there = (one or other).verdict
        missing = names[1] if other is None else names[0]
        if there.passed is None:
            continue  # skipped as a whole for one model, by its labels for the other
        found.append(
            Contrast(
                names[0],
                names[1],
                **{name: getattr(there, name) for name in _SAME},
                baseline_value=None if one is None else there.value,
                candidate_value=None if other is None else there.value,
                baseline_passed=None if one is None else there.passed,
                candidate_passed=None if other is None else there.passed,
                skipped=f"not judged for {missing}",
            )
        )
    return found


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in _WHAT)


def contrast_frame(found: Sequence[Contrast]) -> pd.DataFrame:
    """Make a table with the columns :data:`CONTRAST_COLUMNS`; missing numbers are NaN, verdicts ``None``."""
    columns = {name: [getattr(entry, name) for entry in found] for name in CONTRAST_COLUMNS}
    types = {field.name: str(field.type) for field in dataclasses.fields(Contrast)}
    made = {}
    for name, values in columns.items():
        if types[name].startswith("float"):
            made[name] = pd.Series([np.nan if v is None else v for v in values], dtype=np.float64)
        elif types[name] == "int":
            made[name] = pd.Series(values, dtype=np.int64)
        else:
            made[name] = pd.Series(values, dtype="str" if types[name] == "str" else object)
    return pd.DataFrame(made, columns=CONTRAST_COLUMNS)


@dataclasses.dataclass(frozen=True)
class _Rows(JsonFile):
    rows: tuple[Contrast, ...]


def save_contrasts(found: Sequence[Contrast], path: str | os.PathLike) -> None:
    """Write contrasts as JSON, for the run that collects them."""
    _Rows(tuple(found)).write(path)


def load_contrasts(path: str | os.PathLike) -> list[Contrast]:
    """Read what :func:`save_contrasts` wrote."""
    return list(_Rows.read(path).rows)


def contrast_csv(frame: pd.DataFrame) -> bytes:
    """Write the table as CSV; text that a spreadsheet would run gets an apostrophe."""
    texts = frame.select_dtypes(include="str").columns
    safe = frame.assign(**{name: frame[name].map(spreadsheet) for name in texts})
    return safe.to_csv(index=False, lineterminator="\n").encode("utf-8", "backslashreplace")
