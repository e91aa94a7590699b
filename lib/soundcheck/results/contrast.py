"""Two models on the same test: the difference with its interval, and what it is evidence of.

The replicates of both models were drawn with the same weights of the same blocks, so the difference of the
replicates is the replicate of the difference: speakers that are hard for both models cancel. Where the blocks
are not the same, the models are compared as two independent sets of speakers, and called *unpaired*. Two
models without predictions of the same segments are compared on those that both have.

Conventions
-----------
- A difference is the candidate's value minus the baseline's. Where a rule asks for a small size whatever the
  sign (``|value| <``, ``|gap| <``), it is the difference of the absolute values of ``value``.
- p-value and 95 % interval are those of a t-test, see :mod:`soundcheck.statistics.evidence`. *Better* and
  *worse* is what is significant among all tests of the comparison (false discovery rate of Benjamini and
  Hochberg 1995); all else is *no evidence*, which is not the same as no difference.
- *Relative* is the difference as a share of the baseline's value: so many fewer errors. There is none unless
  the value counts errors (rule ``<``, of no group, no difference or change itself) and is clearly above 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.common.store import JsonFile, made_of
from soundcheck.metrics.additive import round_significant
from soundcheck.results.rows import UNJUDGED, Estimate, Judged, Verdict, cell
from soundcheck.results.states import FALSE_DISCOVERY_RATE, mirrors
from soundcheck.results.table import frame_of_rows, schema_of, to_frame
from soundcheck.statistics import evidence
from soundcheck.statistics.evidence import LEAST_BLOCKS, paired_test, standard_error, t_test
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_WITHIN, WITHIN, of_gap
from soundcheck.suite.families import HIGHER, info_of, measure_of

BETTER, WORSE, NO_EVIDENCE = "better", "worse", "no evidence"
PAIRED, UNPAIRED = "paired", "unpaired"
_WITHHELD, _NO_TEST = "interval withheld: ", "a value without a test"
_WHAT = ("corpus", "family", "task", "test", "group", "label")  # pairs the tests of two models
_DIFFERENCES = ("difference", "change", "shift")  # words in names of tests whose value is a difference itself


@dataclasses.dataclass(frozen=True)
class Contrast:
    """One test of two models; a row of ``comparisons.csv``."""

    baseline: str  # names of the models
    candidate: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    label: str = ""
    baseline_value: float | None = None
    candidate_value: float | None = None
    difference: float | None = None  # candidate minus baseline, of absolute values if the sign does not count
    low: float | None = None  # its 95 % interval for new speakers
    high: float | None = None
    relative: float | None = None  # the same as a share of the baseline's value, of tests that count errors
    relative_low: float | None = None
    relative_high: float | None = None
    certainty: float | None = None  # share of replicates in which the difference has the sign that it has
    outcome: str = ""  # for new speakers; empty if the models cannot be compared
    baseline_passed: bool | None = None  # None if skipped
    candidate_passed: bool | None = None
    segments: int = 0  # that the candidate's value rests on
    blocks: int = 0
    rule: str = ""
    threshold: float | None = None
    skipped: str = ""  # why there is no outcome or no interval, or what to know about it
    group: str = ""
    p_value: float | None = None  # two-sided, of the t-test of the difference against 0
    adjusted_p_value: float | None = None  # after Benjamini and Hochberg over all tests of the comparison
    pairing: str = ""
    difference_low_sample: float | None = None  # its 95 % interval for these speakers
    difference_high_sample: float | None = None
    p_sample: float | None = None
    outcome_sample: str = ""  # for these speakers


# Measures that answer how good a model is, of each task the first one that it has.
HEADLINES = (
    *("concordance_cc", "unweighted_average_recall", "word_error_rate", "mixed_error_rate"),
    *("character_error_rate", "equal_error_rate"),
)
CONTRAST_TYPES = schema_of(Contrast)
CONTRAST_COLUMNS = list(CONTRAST_TYPES)


def shown_values(rows: Iterable[Estimate], category: str) -> list[Verdict]:
    """Make rows of values that no test judges, for comparisons: those of groups, named by their measure."""
    return [
        made_of(
            Verdict,
            row,
            category=category,
            test=row.measure.replace(info_of(row.measure).name, info_of(row.measure).title),
            group=row.part,
            blocks=row.speakers,
            rule=ABOVE if info_of(row.measure).better == HIGHER else BELOW,
            evidence="" if row.value is None else UNJUDGED,
            skipped=_NO_TEST + (row.excluded and f"; {_WITHHELD}{row.excluded.removeprefix(_WITHHELD)}"),
        )
        for row in rows
    ]


def headlines(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep of each corpus and task the row of a comparison that answers how good the models are."""
    rows = frame[frame["category"].eq("correctness") & frame["group"].eq("") & frame["label"].eq("")]
    rows = rows[rows["baseline_value"].notna() & rows["candidate_value"].notna()]
    places = _measures(rows).map({name: place for place, name in enumerate(HEADLINES)}).dropna()
    return rows.loc[places.sort_values(kind="stable").index].drop_duplicates(["corpus", "task"]).sort_index()


def headline_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the headline rows of a comparison, each with those of its groups and classes behind it."""
    parts, of_all = [frame.iloc[:0]], frame["group"].eq("")
    titles = frame["test"].str.split(" (", regex=False).str[0].where(~of_all)
    classes = frame["category"].eq("correctness") & _measures(frame).eq("recall") & of_all
    classes &= frame["label"].ne("")
    for place, row in headlines(frame).iterrows():
        of_place = frame["corpus"].eq(row["corpus"]) & frame["task"].eq(row["task"])
        groups = titles.eq(measure_of(row["test"], row["family"]).title)
        parts += [frame.loc[[place]], frame[of_place & groups], frame[of_place & classes]]
    return pd.concat(parts)


def _measures(frame: pd.DataFrame) -> pd.Series:
    names = [measure_of(*pair).name for pair in zip(frame["test"], frame["family"], strict=True)]
    return pd.Series(names, index=frame.index, dtype="str")


def compared_alone(
    baseline: Judged,
    candidate: Judged,
    same_draws: bool = True,
    same_segments: bool = False,
    kinds: tuple[str | None, str | None] = (None, None),
) -> Contrast:
    """Compare two models on one test; :func:`with_outcomes` decides among many later.

    With ``same_segments`` only if both have the same. ``kinds`` of the intervals of both runs tell the
    standard error where replicates are missing.
    """
    before, after = baseline.verdict, candidate.verdict
    row = Contrast(before.model, after.model, **_facts(before, after))
    differing = skipped = ""
    if baseline.segments != candidate.segments:
        differing = f"not the same segments: {before.segments} against {after.segments}"
    if missing := [verdict for verdict in (before, after) if verdict.value is None]:
        skipped = f"{missing[0].model}: {missing[0].skipped}"
    elif not after.rule or of_gap(before.rule) != of_gap(after.rule):
        skipped = "the test does not say, or not alike, what is better"
    elif same_segments and differing:
        skipped = f"{differing}; list both models in one suite, which compares what both answered"
    if skipped:
        return dataclasses.replace(row, skipped=skipped)
    sizes = _size(baseline), _size(candidate)
    value = _rounded(sizes[1].verdict.value - sizes[0].verdict.value)
    same_blocks = baseline.blocks == candidate.blocks
    paired = same_draws and same_blocks
    cells = _for_new_speakers(*sizes, value, paired, kinds)
    if cells:
        limits = before.threshold, after.threshold
        remarks = [f"thresholds differ: {limits[0]} and {limits[1]}"] if limits[0] != limits[1] else []
        why = "drawn with other seeds" if same_blocks else "not the same blocks"
        remarks += [differing, "" if paired else f"unpaired, {why}"]
        if after.rule == BELOW and not (after.group or _of_difference(after)) and before.value > 0:
            cells |= _relative(baseline, candidate, value, paired)
    else:
        remarks = [_why_withheld(baseline, candidate)]
    cells |= _for_these_speakers(*sizes, value)
    limit, skipped = _furthest(after), "; ".join(filter(None, remarks))
    ends = [name for name in (*_NEW[2:], *_THESE[2:]) if cells.get(name) is not None]
    cells |= {name: min(max(cells[name], -limit), limit) for name in ends}
    return dataclasses.replace(row, **cells, difference=value, outcome=NO_EVIDENCE, skipped=skipped)


def _furthest(row: Verdict) -> float:
    """Say how far two values of a test may lie apart; two differences twice as far."""
    info = info_of(measure_of(row.test, row.family).name)
    return (info.high - info.low) * (2 if row.against or _of_difference(row) else 1)


def _of_difference(row: Verdict) -> bool:
    return any(word in row.test.lower().split() for word in _DIFFERENCES)


def _size(entry: Judged) -> Judged:
    """Give the size of a value whose sign does not count.

    Replicates are not folded at 0: those of a small value would hide half of their spread.
    """
    row = entry.verdict
    if row.rule not in (WITHIN, GAP_WITHIN) or row.value >= 0:
        return entry
    row = dataclasses.replace(row, value=-row.value)
    return dataclasses.replace(entry, verdict=row, replicates=-entry.replicates, spread=-entry.spread)


def _facts(before: Verdict | None, after: Verdict | None) -> dict[str, Any]:
    """Give what a contrast says of both rows; one of them may not be there."""
    names = (*_WHAT, "category", "segments", "blocks", "rule", "threshold")
    cells = {name: getattr(after or before, name) for name in names}
    for who, row in (("baseline", before), ("candidate", after)):
        cells |= {f"{who}_value": row and row.value, f"{who}_passed": row and row.passed}
    return cells


def _for_new_speakers(
    before: Judged, after: Judged, value: float, paired: bool, kinds: tuple[str | None, str | None]
) -> dict[str, float | str | None]:
    """Test a difference for new speakers; no cells where there are too few to generalise.

    ``paired``: replicates were drawn with the same weights of the same blocks.
    """
    entries, blocks = (before, after), (before.contributing, after.contributing)
    if not all(map(_generalises, entries)):
        return {}
    cells = {"pairing": PAIRED if paired and before.drawn and after.drawn else UNPAIRED}
    if cells["pairing"] == PAIRED:
        drawn = min(len(entry.replicates) for entry in entries)  # more replicates continue the same draws
        apart = after.replicates[:drawn] - before.replicates[:drawn]
        error = standard_error(round_significant(apart), min(blocks))
        tested = t_test(value, error, min(blocks) - 1, 0.5 ** min(blocks))
        if value and np.isfinite(apart).any():
            cells["certainty"] = _rounded(np.mean(np.sign(apart[~np.isnan(apart)]) == np.sign(value)))
    else:
        errors = tuple(_error(entry, kind) for entry, kind in zip(entries, kinds, strict=True))
        tested = evidence.welch(value, errors, blocks)
    return {} if np.isnan(tested[0]) else cells | _cells(("p_value", "low", "high"), tested)


def _for_these_speakers(before: Judged, after: Judged, value: float) -> dict[str, float | None]:
    """Test a difference for these speakers; no cells where it is not known how recordings vary."""
    freedom = float(np.fmin(before.freedom, after.freedom))  # NaN: nothing varies
    if not (len(before.spread) and len(after.spread) and freedom > 0):
        return {}
    same = (before.segments, before.blocks) == (after.segments, after.blocks)
    if same and len(before.spread) == len(after.spread):
        error = _rounded(np.linalg.norm(after.spread - before.spread))
    else:
        errors = [float(np.linalg.norm(spread)) for spread in (before.spread, after.spread)]
        freedoms = np.nan_to_num([before.freedom, after.freedom], nan=freedom)
        error, freedom = evidence.joined_error(errors, freedoms)
    tested = t_test(value, error, freedom, 0.5 ** (freedom + 1))
    return _cells(("p_sample", "difference_low_sample", "difference_high_sample"), tested)


def _relative(baseline: Judged, candidate: Judged, change: float, paired: bool) -> dict[str, float | None]:
    """Give the difference as a share of the baseline's errors, if these are more than chance."""
    value, blocks = baseline.verdict.value, baseline.contributing
    if not paired_test(baseline.replicates, value, blocks)[0] <= FALSE_DISCOVERY_RATE:  # NaN is not
        return {}
    share = _rounded(change / value)
    drawn = min(len(baseline.replicates), len(candidate.replicates))
    before, after = baseline.replicates[:drawn], candidate.replicates[:drawn]
    if not paired or (before[~np.isnan(before)] <= 0).any():
        return {"relative": share}
    shares = round_significant(np.divide(after - before, before))
    bounds = paired_test(shares, share, min(blocks, candidate.contributing))[1:]
    return {"relative": share} | _cells(("relative_low", "relative_high"), bounds)


def _why_withheld(*entries: Judged) -> str:
    """Say why there is no interval of a difference for new speakers."""
    remarks = "; ".join(entry.verdict.skipped for entry in entries).split("; ")
    few = f"too few speakers to generalise, {LEAST_BLOCKS} are needed on either side"
    enough = min(entry.contributing for entry in entries) >= LEAST_BLOCKS
    known = [remark for remark in remarks if _WITHHELD in remark] or ["no replicates" if enough else few]
    return _WITHHELD + known[0].removeprefix(_WITHHELD)


def _generalises(entry: Judged) -> bool:
    row = entry.verdict
    return entry.contributing >= LEAST_BLOCKS and row.low is not None and row.evidence != evidence.NO_INTERVAL


def _error(entry: Judged, kind: str | None) -> float:
    if entry.drawn:
        return standard_error(entry.replicates, entry.contributing)
    if kind is None:
        return np.nan
    return evidence.interval_error(entry.verdict.low, entry.verdict.high, entry.contributing, kind)


def _cells(names: Sequence[str], numbers: Sequence[float]) -> dict[str, float | None]:
    return dict(zip(names, map(cell, numbers), strict=True))


def _rounded(number: float) -> float:
    return float(round_significant(np.array(number)))


def with_outcomes(rows: Sequence[Contrast], matters: float = 0.0) -> list[Contrast]:
    """Decide what is better or worse among all tests of a comparison, for new speakers and for these.

    Differences up to ``matters`` count as p = 1; rows without p-value stay as they are.
    """
    rows = list(rows)
    for p_name, outcome in (("p_value", "outcome"), ("p_sample", "outcome_sample")):
        tested = [n for n, row in enumerate(rows) if getattr(row, p_name) is not None]
        p_values = [1.0 if abs(rows[n].difference) <= matters else getattr(rows[n], p_name) for n in tested]
        adjusted = round_significant(np.asarray(evidence.adjusted_p_values(p_values) if tested else []))
        for n, p in zip(tested, adjusted.tolist(), strict=True):
            better = BETTER if (rows[n].difference > 0) == (rows[n].rule == ABOVE) else WORSE
            changed = {outcome: better if p <= FALSE_DISCOVERY_RATE else NO_EVIDENCE}
            changed |= {"adjusted_p_value": p} if p_name == "p_value" else {}
            rows[n] = dataclasses.replace(rows[n], **changed)
    return rows


def contrasts(
    baseline: Iterable[Judged],
    candidate: Iterable[Judged],
    same_draws: bool = True,
    common: tuple[Iterable[Judged], Iterable[Judged]] = ((), ()),
    apart: Collection[str] = (),
    names: Sequence[str] = ("", ""),
) -> list[Contrast]:
    """Compare two models on all their tests; tests that only one of them has are listed, too.

    Without ``same_draws`` the runs had different seeds. ``common``: the tests of both models once more, on
    the segments that both predict; ``apart``: corpora of which these are not the same; ``names`` of both.
    """
    first, second, *both = (_by_key(entries) for entries in (baseline, candidate, *common))
    rows = []
    # Two groups that are compared with each other are one test.
    frame = to_frame(entry.verdict for entry in (first | second).values())
    mirrored = frame.loc[mirrors(frame).ne(""), list(_WHAT)].itertuples(index=False, name=None)
    for key in sorted((first.keys() | second.keys()) - set(mirrored)):
        old, new = first.get(key), second.get(key)
        if old is not None and new is not None:
            shared = [on_common.get(key) for on_common in both]
            rows.append(_on_common(old, new, shared, key[0] in apart, same_draws))
        elif (row := (old or new).verdict).passed is not None or row.evidence == UNJUDGED:
            # else skipped as a whole for one model, by its labels for the other
            facts = _facts(*(entry and entry.verdict for entry in (old, new)))
            rows.append(Contrast(*names, **facts, skipped=f"not judged for {names[new is None]}"))
    return with_outcomes(rows)


def _on_common(
    baseline: Judged, candidate: Judged, shared: Sequence[Judged | None], apart: bool, same_draws: bool
) -> Contrast:
    """Compare on the segments that both models predict, or say why that cannot be done.

    Tests that count missing predictions rest on the same segments anyway, and stay as they are.
    """
    before, after = baseline.verdict, candidate.verdict
    reduced = [again or entry for again, entry in zip(shared, (baseline, candidate), strict=True)]
    if [entry.segments for entry in reduced] == [baseline.segments, candidate.segments]:
        return compared_alone(baseline, candidate, same_draws, same_segments=apart and not any(shared))
    row = compared_alone(*reduced, same_draws)
    note = "on the segments that both answered"
    if len({entry.verdict.segments for entry in reduced}) == 1:  # not how often each predicts a class
        numbers = f"{before.model} has {before.segments}, {after.model} {after.segments}"
        note = f"on {counted(row.segments, 'segment')} that both answered: {numbers}"
    _, _, lacking = row.skipped.partition(": no prediction for ")
    why = f"not answered by both: {lacking}" if lacking else row.skipped
    passed = {"baseline_passed": before.passed, "candidate_passed": after.passed}  # as in the results
    return dataclasses.replace(row, **passed, skipped="; ".join(filter(None, (note, why))))


def _by_key(entries: Iterable[Judged]) -> dict[tuple[str, ...], Judged]:
    """Give entries by what was tested; a value of a group that two families have is there once."""
    entries_by_key: dict[tuple[str, ...], Judged] = {}
    values: dict[tuple[str, ...], tuple[str, ...]] = {}
    for entry in entries:
        key = tuple(getattr(entry.verdict, name) for name in _WHAT)
        tested = not entry.verdict.skipped.startswith(_NO_TEST)
        if tested or values.setdefault((key[0], *key[2:]), key) == key:
            entries_by_key[key] = entry
    return entries_by_key


def contrast_frame(rows: Sequence[Contrast]) -> pd.DataFrame:
    """Make a table with the columns :data:`CONTRAST_COLUMNS`; missing numbers are NaN, verdicts ``None``."""
    return frame_of_rows(CONTRAST_TYPES, rows)


@dataclasses.dataclass(frozen=True)
class ContrastsFile(JsonFile):
    """Contrasts of a notebook, for the run that collects them."""

    rows: tuple[Contrast, ...]


# What a comparison says, in sentences

MOST_HEADLINES = 3  # measures that a conclusion names
_SAYS = {BETTER: "significantly better", WORSE: "significantly worse"}
_NEW = ("outcome", "p_value", "low", "high")  # columns of the answer for new speakers, and for these
_THESE = ("outcome_sample", "p_sample", "difference_low_sample", "difference_high_sample")


def conclusion(frame: pd.DataFrame) -> str:
    """Answer in a few sentences whether the candidate is better than the baseline.

    Names of models and tests come from data and are not escaped.
    """
    sentences = headline_sentences(frame)
    more = [f"{len(sentences) - MOST_HEADLINES} more in the table."] * (len(sentences) > MOST_HEADLINES)
    return " ".join([*sentences[:MOST_HEADLINES], *more, *counts_of_tests(frame)])


def counts_of_tests(frame: pd.DataFrame) -> list[str]:
    """Say on how many tests the candidate is better or worse, and of how many nothing is known."""
    if frame.empty:
        return ["The two models have no test in common."]
    baseline, candidate = frame["baseline"].iloc[0], frame["candidate"].iloc[0]
    parts = []
    for who, (outcome, p_value, *_) in (("these", _THESE), ("new", _NEW)):
        outcomes = frame.loc[frame[p_value].notna(), outcome]
        better, worse = (int(outcomes.eq(name).sum()) for name in (BETTER, WORSE))
        if tests := len(outcomes):
            on = f"better on {better} and worse on {worse} of {counted(tests, 'test')}"
            parts.append(f"For {who} speakers, {candidate} is {on}.")
    if not parts:
        parts = [f"Nothing can be said about {candidate} against {baseline}: no test has a p-value."]
    unknown = frame["outcome"].eq(NO_EVIDENCE) & frame["p_value"].isna()
    remarks = {
        "Too few speakers, or no interval, to conclude anything for new ones": unknown,
        "Unpaired, which finds less, as speakers or draws are not the same": frame["pairing"].eq(UNPAIRED),
        "Not compared": frame["outcome"].eq("") & frame["outcome_sample"].eq(""),
    }
    numbers = {remark: int(rows.sum()) for remark, rows in remarks.items()}
    return parts + [f"{remark}: {counted(number, 'test')}." for remark, number in numbers.items() if number]


def headline_sentences(frame: pd.DataFrame) -> list[str]:
    """Say of each corpus and task what its headline measure was and became, with both answers."""
    sentences = [_sentence(row) for row in headlines(frame).to_dict("records")]
    apart = frame["skipped"].str.startswith("on 0 segments")
    if not sentences and apart.any():
        names = " and ".join(frame.loc[apart, ["baseline", "candidate"]].iloc[0])
        remedy = "check `corpora:` and for which inputs their tables have rows"
        sentences.append(f"No segment was answered by both {names}, so nothing is compared: {remedy}.")
    return sentences


def summary_of(frame: pd.DataFrame) -> dict[str, object]:
    """Count outcomes and say the headlines, for the record of a comparison."""
    counts = {
        name: {outcome: int(frame[column].eq(outcome).sum()) for outcome in (BETTER, WORSE, NO_EVIDENCE)}
        for name, column in (("outcomes", "outcome"), ("outcomes_sample", "outcome_sample"))
    }
    return counts | {"headlines": tuple(headline_sentences(frame))}


def _sentence(row: dict) -> str:
    info, before = measure_of(row["test"], row["family"]), row["baseline_value"]
    values = f"{info.title} {before:.3g} → {row['candidate_value']:.3g}"
    where = f"{row['corpus']}, {row['task']}"
    if pd.isna(row["p_value"]) and pd.isna(row["p_sample"]):
        return f"{where}: {values}; {row['skipped'] or 'not compared'}."
    if row["skipped"].startswith("on "):
        values += f" {row['skipped'].partition(':')[0]}"
    either = {row["outcome"], row["outcome_sample"]} & {BETTER, WORSE}
    if either and info.error and row["rule"] != ABOVE and before:
        share = row["difference"] / before
        values += f", {100 * abs(share):.0f} % {'more' if share > 0 else 'fewer'} errors"
    answers: dict[str, list[str]] = {}
    for who, (outcome, p_value, low, high) in (("these", _THESE), ("new", _NEW)):
        if pd.isna(row[p_value]):
            continue
        says = _SAYS.get(row[outcome], "no significant difference")
        p = "p < 0.001" if row[p_value] < 0.001 else f"p = {row[p_value]:.2g}"
        interval = f"{row[low]:.2g} to {row[high]:.2g}".replace("-", "−")
        answers.setdefault(says, []).append(f"for {who} speakers (difference {interval}, {p})")
    parts = [f"{says} {' and '.join(of)}" for says, of in answers.items()]
    if pd.isna(row["p_value"]):
        few = f"{row['blocks']} are too few" if row["blocks"] < LEAST_BLOCKS else "values are too uncertain"
        parts.append(f"nothing follows for new speakers ({few})")
    return f"{where}: {values}: {'; '.join(parts)}."
