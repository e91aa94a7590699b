"""Two models on the same test: the difference with its interval, and what it is evidence of.

The replicates of both models were drawn with the same weights of the same blocks, so the difference of the
replicates is the replicate of the difference. Speakers that are hard for both models cancel. Where the blocks
are not the same, the models are compared as two independent sets of speakers, and called *unpaired*. Two
models that did not answer the same segments are compared on those that both answered.

Two models are compared on hundreds of tests, and of a hundred without any true difference five have a p-value
below 0.05. *Better* and *worse* is what remains when that is accounted for, by the false discovery rate of
Benjamini and Hochberg (1995) over all tests of the comparison; so equal models come out equal.

Conventions
-----------
- A difference is the candidate's value minus the baseline's. Where a rule asks for a small size whatever the
  sign (``|value| <``, ``|gap| <``), it is the difference of the absolute values of ``value``.
- The p-value is that of a t-test, see :mod:`soundcheck.statistics.paired`. The interval is the 95 % interval
  of that test, whatever kind the intervals of values are; it is not widened for the number of tests.
- All that is neither *better* nor *worse* is *no evidence*, which is not the same as no difference.
- *Relative* is the difference as a share of the baseline's value: so many fewer errors. There is none unless
  the value counts errors (rule ``<``, of no group, no difference or change itself) and is clearly above 0.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import spreadsheet
from soundcheck.common.json_file import JsonFile
from soundcheck.common.wording import counted
from soundcheck.metrics.additive import round_significant
from soundcheck.results.judged import Judged
from soundcheck.results.states import FALSE_DISCOVERY_RATE
from soundcheck.results.verdict import SHOWN, Verdict
from soundcheck.statistics.evidence import NO_INTERVAL
from soundcheck.statistics.false_discovery import adjusted_p_values
from soundcheck.statistics.paired import LEAST_BLOCKS, paired_interval, paired_p_value, standard_error, welch
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_WITHIN, WITHIN, of_gap

BETTER, WORSE, NO_EVIDENCE = "better", "worse", "no evidence"
PAIRED, UNPAIRED = "paired", "unpaired"
_DIFFERENCES = ("difference", "change", "shift")  # words in names of tests whose value is a difference itself


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
        Candidate minus baseline (of absolute values if the sign does not count) with its 95 % interval.
    relative, relative_low, relative_high
        The same as a share of the baseline's value, of tests that count errors.
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
    p_value
        Of the t-test of the difference against 0, two-sided.
    adjusted_p_value
        The same after Benjamini and Hochberg over all tests of the comparison; ``outcome`` is better or worse
        if it is 0.05 or less.
    pairing
        ``"paired"`` if both values were drawn with the same blocks, ``"unpaired"`` if not; ``""`` without
        p-value.
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
    p_value: float | None = None
    adjusted_p_value: float | None = None
    pairing: str = ""


CONTRAST_COLUMNS = [field.name for field in dataclasses.fields(Contrast)]


def contrast(baseline: Judged, candidate: Judged, same_draws: bool = True) -> Contrast:
    """Compare two models on one test, as if there were no others; see :func:`contrasts` for many.

    Parameters
    ----------
    baseline, candidate
        The same test of two models, with replicates.
    same_draws
        Whether replicates that rest on the same blocks were drawn with the same weights.
    """
    return settled([unsettled(baseline, candidate, same_draws)])[0]


def unsettled(
    baseline: Judged, candidate: Judged, same_draws: bool = True, same_segments: bool = False
) -> Contrast:
    """Compare two models on one test as :func:`contrast` does; :func:`settled` decides among many later.

    With ``same_segments`` only if both answered the same.
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
    if not after.rule or of_gap(before.rule) != of_gap(after.rule):
        return Contrast(**common, skipped="the test does not say, or not alike, what is better")
    differing = f"not the same segments: {before.segments} against {after.segments}"
    if same_segments and baseline.segments != candidate.segments:
        remedy = "list both models in one suite, which compares what both answered"
        return Contrast(**common, skipped=f"{differing}; {remedy}")
    one, other = (_sized(entry) for entry in (baseline, candidate))
    first, second = (_size(entry.verdict) for entry in (baseline, candidate))
    difference = float(round_significant(np.array(second - first)))
    common |= {"difference": difference, "outcome": NO_EVIDENCE}
    error_rate = _counts_errors(after) and first > 0
    if error_rate:
        common["relative"] = float(round_significant(np.array(difference / first)))
    remarks = []
    if before.threshold != after.threshold:
        remarks.append(f"thresholds differ: {before.threshold} and {after.threshold}")
    if baseline.segments != candidate.segments:
        remarks.append(differing)
    blocks = (baseline.contributing, candidate.contributing)
    few = min(blocks) < LEAST_BLOCKS or NO_INTERVAL in (before.evidence, after.evidence)
    if few or before.low is None or after.low is None:
        reason = before.skipped or after.skipped
        if not reason:
            reason = f"too few speakers or other blocks, {LEAST_BLOCKS} are needed on either side"
        return Contrast(**common | {"relative": None}, skipped=_join("interval withheld", reason))
    paired = same_draws and baseline.blocks == candidate.blocks
    # Whether the baseline's errors are clearly above 0; NaN is not.
    clear = error_rate and paired_p_value(one, first, blocks[0]) <= FALSE_DISCOVERY_RATE
    if paired:
        drawn = min(len(one), len(other))  # more replicates continue the same draws
        one, other = one[:drawn], other[:drawn]
        replicates = round_significant(other - one)
        p = paired_p_value(replicates, difference, min(blocks))
        low, high = paired_interval(replicates, difference, min(blocks))
        common["certainty"] = _certainty(replicates, difference)
    else:
        errors = (standard_error(one, blocks[0]), standard_error(other, blocks[1]))
        p, low, high = welch(difference, errors, blocks)
        why = "not the same blocks" if baseline.blocks != candidate.blocks else "drawn with other seeds"
        remarks.append(f"unpaired, {why}")
    if np.isnan(p):
        return Contrast(**common | {"relative": None}, skipped="interval withheld: no replicates")
    common |= {"low": low, "high": high, "p_value": p, "pairing": PAIRED if paired else UNPAIRED}
    if error_rate and not clear:
        common["relative"] = None
    elif error_rate and paired and (one[~np.isnan(one)] > 0).all():
        share = round_significant(np.divide(replicates, one))
        bounds = paired_interval(share, common["relative"], min(blocks))
        common |= {"relative_low": bounds[0], "relative_high": bounds[1]}
    return Contrast(**common, skipped="; ".join(remarks))


def settled(rows: Sequence[Contrast], matters: float = 0.0) -> list[Contrast]:
    """Decide what is better or worse among all tests of a comparison.

    Parameters
    ----------
    rows
        All contrasts that are told together; those without p-value stay as they are.
    matters
        Differences up to this size count as p = 1.
    """
    tested = [n for n, row in enumerate(rows) if row.p_value is not None]
    p_values = [1.0 if abs(rows[n].difference) <= matters else rows[n].p_value for n in tested]
    adjusted = adjusted_p_values(p_values) if tested else []
    found = list(rows)
    for n, p in zip(tested, round_significant(np.asarray(adjusted)).tolist(), strict=True):
        outcome = NO_EVIDENCE
        if p <= FALSE_DISCOVERY_RATE:
            outcome = BETTER if (rows[n].difference > 0) == (rows[n].rule == ABOVE) else WORSE
        found[n] = dataclasses.replace(rows[n], adjusted_p_value=p, outcome=outcome)
    return found


def _size(row: Verdict) -> float:
    return abs(row.value) if row.rule in (WITHIN, GAP_WITHIN) else row.value


def _sized(entry: Judged) -> np.ndarray:
    """Give the replicates of the size of a value.

    They keep the sign that the value has: folded at 0, replicates of a small value would hide half of their
    spread, and equal models would not come out equal.
    """
    row = entry.verdict
    return -entry.replicates if row.rule in (WITHIN, GAP_WITHIN) and row.value < 0 else entry.replicates


def _counts_errors(row: Verdict) -> bool:
    """Say whether a value is a rate or size of errors, of which "10 % fewer" has a meaning."""
    words = row.test.lower().split()
    return row.rule == BELOW and not row.group and not any(word in words for word in _DIFFERENCES)


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
    baseline: Iterable[Judged],
    candidate: Iterable[Judged],
    same_draws: bool = True,
    common: tuple[Iterable[Judged], Iterable[Judged]] = ((), ()),
    apart: Collection[str] = (),
) -> list[Contrast]:
    """Compare two models on all their tests; tests that only one of them has are listed, too.

    Parameters
    ----------
    baseline, candidate
        Judged tests of one model each.
    same_draws
        Whether replicates that rest on the same blocks were drawn with the same weights: not those of runs
        with different seeds.
    common
        The same tests of both models once more, on the segments that both answered.
    apart
        Corpora for which the models did not answer the same segments.
    """
    first, second, *both = (_by_key(entries) for entries in (baseline, candidate, *common))
    names = [next((e.verdict.model for e in entries.values()), "") for entries in (first, second)]
    found = []
    for key in sorted(first.keys() | second.keys()):
        one, other = first.get(key), second.get(key)
        if one is not None and other is not None:
            shared = [on_common.get(key) for on_common in both]
            found.append(_on_common(one, other, shared, key[0] in apart, same_draws))
            continue
        there = (one or other).verdict
        missing = names[1] if other is None else names[0]
        if there.passed is None and there.evidence != SHOWN:
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
    return settled(found)


def _on_common(
    one: Judged, other: Judged, shared: Sequence[Judged | None], apart: bool, same_draws: bool
) -> Contrast:
    """Compare on the segments that both models answered, or say why that cannot be done.

    Tests that count missing answers rest on the same segments anyway, and stay as they are.
    """
    before, after = one.verdict, other.verdict
    reduced = [again or entry for again, entry in zip(shared, (one, other), strict=True)]
    if [entry.segments for entry in reduced] == [one.segments, other.segments]:
        return unsettled(one, other, same_draws, same_segments=apart and not any(shared))
    row = unsettled(*reduced, same_draws)
    note = "on the segments that both answered"
    if len({entry.verdict.segments for entry in reduced}) == 1:  # not how often each predicts a class
        answered = f"{before.model} has {before.segments}, {after.model} {after.segments}"
        note = f"on {counted(row.segments, 'segment')} that both answered: {answered}"
    _, _, lacking = row.skipped.partition(": no prediction for ")
    why = f"not answered by both: {lacking}" if lacking else row.skipped
    passed = {"baseline_passed": before.passed, "candidate_passed": after.passed}  # as in the results
    return dataclasses.replace(row, **passed, skipped="; ".join(filter(None, (note, why))))


def _by_key(entries: Iterable[Judged]) -> dict[tuple[str, ...], Judged]:
    return {_key(entry.verdict): entry for entry in entries}


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in _WHAT)


def contrast_frame(found: Sequence[Contrast]) -> pd.DataFrame:
    """Make a table with the columns :data:`CONTRAST_COLUMNS`; missing numbers are NaN, verdicts ``None``."""
    return frame_of(Contrast, found)


def frame_of(kind: type, rows: Sequence[object]) -> pd.DataFrame:
    """Make a table of dataclasses, a column a field; missing numbers are NaN, all else missing ``None``."""
    made = {}
    for field in dataclasses.fields(kind):
        values = [getattr(row, field.name) for row in rows]
        written = str(field.type)
        if written.startswith("float"):
            numbers = [np.nan if value is None else value for value in values]
            made[field.name] = pd.Series(numbers, dtype=np.float64)
        elif written == "int":
            made[field.name] = pd.Series(values, dtype=np.int64)
        else:
            made[field.name] = pd.Series(values, dtype="str" if written == "str" else object)
    return pd.DataFrame(made)


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
