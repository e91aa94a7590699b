"""Judges results for a pipeline: an exit code and JUnit XML, both from one list of reasons.

A test fails the gate if its state is *fail*; with ``strict`` also if its value is on the wrong side of its
threshold; with an earlier run as *baseline* only if it got worse. A hard bar fails it in any case: when the
value is on the wrong side, whatever its interval, or was not evaluated. Failures that the suite accepts are
named and do not count until their last day is over; hard bars cannot be accepted.

Nothing that did not run counts as passed: a family or model without rows, a failed notebook, a test that its
notebook forgot, a model without a single judged test all fail. A results table that was cut or edited after
the run is refused; the record of the run beside it (``run.json``) holds the digest.

Random references are never judged: they are there to be compared with. The other group of a pair
(``mirrors``) is no test of its own.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted as number_of
from soundcheck.results import accepted, suite_now, worse
from soundcheck.results.facts import counts, few_speakers
from soundcheck.results.finished_run import FinishedRun, read_baseline, read_run
from soundcheck.results.junit import ERROR, FAILED, PASSED, SKIPPED, junit_xml, test_name
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, counted
from soundcheck.results.verdict import KEY
from soundcheck.statistics.evidence import NO_INTERVAL
from soundcheck.statistics.rules import GAP_RULES, passes

FAILED_NOTEBOOK = "error: "  # how the reason of a row begins whose notebook or model failed
NOT_COMPUTED = "not computed by the notebook"
MOST = 20  # lines of a kind that a summary shows
FEW = 3  # differences with too few speakers that it shows, the largest


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What a pipeline wants to know."""

    exit_code: int
    summary: str


def check(
    results: Path,
    junit: Path | None = None,
    models: Sequence[str] = (),
    *,
    strict: bool = False,
    inconclusive: str = PASS,
    baselines: Sequence[Path] = (),
    matters_worse: float | None = None,
    suite: Path | None = None,
    today: datetime.date | None = None,
) -> Judgement:
    """Judge a results table and write JUnit XML; options that contradict each other are an ``InputError``.

    ``models`` are judged alone; default all but random references. With ``strict`` values on the wrong side
    of their threshold fail, too, and tests that are inconclusive if that is ``"fail"``; with ``baselines``
    only what got worse than in one of them by ``matters_worse``. ``suite`` is the suite as it is now, whose
    ``accepted`` and ``tests`` are applied in place of those of the run.
    """
    if baselines and (strict or inconclusive == FAIL):
        option = "--strict" if strict else "--inconclusive fail"
        what = "it contradicts --baseline, by which only what got worse fails"
        raise input_error(option, what, "Remove it")
    run = read_run(results)
    run, notes = suite_now.with_suite(run, suite) if suite else (run, suite_now.changed(run))
    record, frame = run.record, _judged_models(run, models)
    if record is None:
        notes.append("No run.json beside the results: whether the table is complete cannot be checked.")
    else:
        names = [set(frame[column]) for column in ("model", "corpus", "task")]
        notes = [*(f"Caveat: {caveat}" for caveat in record.caveats_of(*names)), *notes]
    frame = frame.assign(block=[record.block_of(name) if record else "block" for name in frame["corpus"]])
    rows = counted(frame)
    bars, absent = _hard_bars(frame, run)
    problems, undecided = [*_missing(frame, record, models), *absent], []
    for model, own in rows.groupby("model", sort=True):
        numbers = counts(own)
        if numbers[PASS] + numbers[FAIL] or bars[own.index].notna().any():
            continue
        if not numbers[INCONCLUSIVE]:
            problems.append(f"No test of {model} has a verdict: each is not evaluated or only reported.")
        elif not baselines:
            undecided.append(_undecided(model, own))
    if baselines:
        margin = record.matters_worse if record else worse.MATTERS_WORSE
        margin = margin if matters_worse is None else matters_worse
        failing, compared, lost = _got_worse(run, rows, [*map(read_baseline, baselines)], margin)
        notes, undecided = [*notes, *compared], [*undecided, *lost]
    else:
        fails = [FAIL, INCONCLUSIVE] if inconclusive == FAIL else [FAIL]
        judged = frame["state"].isin(fails) & frame["mirrors"].eq("") | frame["passed"].eq(False) & strict
        texts = pd.Series("", index=frame.index, dtype=object)
        texts.update(
            pd.Series({row.Index: _verdict(row) for row in frame[judged].itertuples()}, dtype=object)
        )
        failing = _of_pairs(frame, texts)[rows.index]
    entries = record.accepted if record else ()
    bars = _of_pairs(frame, bars.fillna(""))[rows.index]
    excuses = accepted.accepted_reasons(rows, entries, today, failing.ne("")).mask(bars.ne(""), "")
    failing = failing.mask(bars.ne(""), bars)
    rows = _with_status(rows, failing, excuses)
    junit = junit or run.path.parent / "junit.xml"
    files.write_all({junit: junit_xml(rows, problems, undecided)})
    red, errors = rows["status"].eq(FAILED), rows["status"].eq(ERROR)
    left_out = " (mirrors of pairs left out)" if len(rows) < len(frame) else ""
    lines = [f"{counts(rows)}{left_out}.", *notes, *problems]
    for chosen, word in (
        (red & bars.ne(""), "hard bar"),
        (red & bars.eq(""), "worse" if baselines else "failed"),
        (errors, "did not run"),
        (failing.ne("") & excuses.ne(""), "accepted"),
    ):
        lines += _listed(rows[chosen], word)
    lines += [*accepted.remarks(run.frame, entries, today), *undecided]
    failures, wrong = int(red.sum()), int(errors.sum()) + len(problems)
    few = few_speakers(rows)[: 0 if baselines else None]
    nothing = len(undecided) == (len(baselines) or rows["model"].nunique())
    if failures or wrong:
        lines.append(f"The gate fails: {number_of(failures, 'failure')}, {number_of(wrong, 'error')}.")
    elif len(few):
        described = f"{number_of(len(few), 'difference')} with too few speakers to generalise."
        lines += _listed(few.head(FEW), "too few speakers")
        lines.append(described if nothing else f"The gate passes; {described}")
    elif not nothing:
        lines.append("Nothing got worse." if baselines else "No failure counts.")
    lines.append(f"JUnit XML: {junit}")
    return Judgement(EXIT_TEST_FAILED if failures or wrong else EXIT_OK, "\n".join(lines))


def _judged_models(run: FinishedRun, models: Sequence[str]) -> pd.DataFrame:
    """Keep the rows of the models that are judged."""
    frame = run.frame
    random = run.record.references if run.record else set()
    for name in models:
        if name in random:
            what = f"{quoted(name)} is a random reference, which is never judged"
            raise input_error(run.path.name, what, "Name another model with --model")
        if name not in set(frame["model"]):
            known = sorted(set(frame["model"]) - random)
            what = f"no row of model {quoted(name)} given with --model"
            raise input_error(run.path.name, what, did_you_mean(name, known))
    frame = frame[frame["model"].isin(models)] if models else frame[~frame["model"].isin(random)]
    if frame.empty:
        what = "all models are random references, which are never judged"
        raise input_error(run.path.name, what, "Run a suite with a model")
    return frame


def _hard_bars(frame: pd.DataFrame, run: FinishedRun) -> tuple[pd.Series, list[str]]:
    """Say why rows miss a hard bar, empty if they do not, ``None`` without one; and which did not run."""
    missed = pd.Series([None] * len(frame), index=frame.index, dtype=object)
    absent = []
    own_tests = run.record.own_tests if run.record else {}
    for family, test, own in (
        (f, test, own) for f, tests in own_tests.items() for test, own in tests.items()
    ):
        if not own.hard:
            continue
        bar = ": ".join(filter(None, ("hard bar", own.why)))
        rows = run.frame[run.frame["family"].eq(family) & run.frame["test"].eq(test)]
        rows = rows[rows["value"].isna() | rows["label"].isin(own.labels or rows["label"])]
        if rows.empty:
            absent.append(f"{bar}: {' / '.join((family, test, *own.labels))} did not run.")
        for row in frame.loc[rows.index.intersection(frame.index)].itertuples():
            kind = run.record.suite.get("tasks", {}).get(row.task, {}).get("kind")
            threshold = own.thresholds.get(row.task, own.thresholds.get(kind))
            number = _judged(row)[1]
            if threshold is not None and math.isnan(number):
                missed[row.Index] = f"{bar}: not evaluated, {row.skipped}"
            elif threshold is not None:
                fine = passes(row.rule, number, threshold)
                missed[row.Index] = "" if fine else f"{bar}: {_against_rule(row, threshold)}"
    return missed, absent


def _of_pairs(frame: pd.DataFrame, reasons: pd.Series) -> pd.Series:
    """Let the counted group of a pair fail for the other, too: both are one test."""
    others = frame[frame["mirrors"].ne("") & reasons.ne("")]
    counting = _keys(others.assign(group=others["mirrors"]))
    found = dict(zip(counting, others["group"] + ": " + reasons[others.index], strict=True))
    texts = [found.get(key, "") for key in _keys(frame)]
    return reasons.mask(reasons.eq(""), pd.Series(texts, index=frame.index, dtype=object))


def _keys(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(frame[list(KEY)].itertuples(index=False, name=None))


def _undecided(model: str, rows: pd.DataFrame) -> str:
    inconclusive = rows[rows["state"].eq(INCONCLUSIVE)]
    here = int((inconclusive["state_sample"].eq(FAIL) & inconclusive["group"].eq("")).sum())
    here = f", {here} of which fail for these speakers" if here else ""
    count = number_of(len(inconclusive), "test")
    return (
        f"Nothing could be concluded about {model}: {count} inconclusive{here}. "
        "Without more speakers, a hard bar (`hard: true` in `tests`) or --inconclusive fail decides."
    )


def _got_worse(
    run: FinishedRun, frame: pd.DataFrame, baselines: Sequence[FinishedRun], matters: float
) -> tuple[pd.Series, list[str], list[str]]:
    """Say how each row got worse than in an earlier run, empty if it did not; what was compared, what not."""
    lines, lost, compared = [], [], []
    for baseline in baselines:
        different = worse.differences(run, baseline)
        found = worse.changes(dataclasses.replace(run, frame=frame), baseline)
        if found.empty:
            models = [", ".join(sorted(set(rows["model"]))) for rows in (baseline.frame, frame)]
            reasons = "; ".join([f"its models are {models[0]}, those judged here {models[1]}", *different])
            what = f"it has no judged test in common with the results: {reasons}"
            raise input_error(f"--baseline {baseline.shown}", what, "Name a run of the suite")
        compared.append(found)
        unknown = int(found["p_value"].isna().sum())
        paired = int((found["p_value"].notna() & found["paired"]).sum())
        lines.append(
            f"Compared with {baseline.shown}: {paired} tests paired, "
            f"{len(found) - paired - unknown} unpaired, "
            f"{unknown} not comparable for want of speakers or intervals, "
            f"{int(frame['passed'].notna().sum()) - len(found)} not in it."
        )
        if unknown == len(found):
            lost.append(f"Nothing could be concluded: no test can be compared with {baseline.shown}.")
        before = baseline.frame[baseline.frame["model"].isin(frame["model"])]
        # Of a pair the other row may count now, so all rows are looked at.
        here, then = (set(_keys(rows[rows["passed"].notna()])) for rows in (run.frame, before))
        if gone := len(then - here):
            lines.append(f"{number_of(gone, 'test')} of {baseline.shown} not judged any more.")
        lines += [f"{baseline.shown} differs: {what}." for what in different]
    reasons = pd.Series("", index=frame.index, dtype=object)
    for baseline, found, decided in zip(baselines, compared, worse.got_worse(compared, matters), strict=True):
        for row in found[decided].itertuples():
            what = (
                f"{row.before:.4g} in {baseline.shown}, now {row.after:.4g} (worse by {row.worse:.3g}, "
                f"p = {row.p_value:.2g}, {'paired' if row.paired else 'unpaired'})"
            )
            reasons[row.Index] = "; ".join(filter(None, (reasons[row.Index], what)))
    return reasons, lines, lost


def _with_status(frame: pd.DataFrame, failing: pd.Series, excuses: pd.Series) -> pd.DataFrame:
    """Add what becomes of each row, and why, in the columns ``status`` and ``message``."""
    found = []
    for row, failure, excuse in zip(frame.itertuples(), failing, excuses, strict=True):
        if failure:
            found.append((SKIPPED, f"accepted: {excuse}: {failure}") if excuse else (FAILED, failure))
        elif row.state == PASS:
            found.append((PASSED, ""))
        elif row.state == NOT_EVALUATED:
            broken = row.skipped.startswith((FAILED_NOTEBOOK, NOT_COMPUTED))
            why = row.skipped if math.isnan(row.gap) else f"{row.skipped}: {_verdict(row)}"
            found.append((ERROR if broken else SKIPPED, why))
        elif row.state == REPORTED:
            value = f"value = {row.value:.4g}{_interval(row, row.low, row.high)}"
            found.append((SKIPPED, f"reported: {value}; {row.skipped}"))
        else:  # a fail that is not worse than in the baseline, or inconclusive
            how = "as before" if row.state == FAIL else row.state
            found.append((SKIPPED, f"{how}: {_verdict(row)}"))
    return frame.assign(status=[status for status, _ in found], message=[message for _, message in found])


def _listed(rows: pd.DataFrame, word: str) -> list[str]:
    lines = [
        f"{word}: {row.model} / {row.corpus} / {row.family}: {test_name(row)}: "
        f"{row.message.removeprefix(f'{word}: ')}"
        for row in rows.head(MOST).itertuples()
    ]
    if len(rows) > MOST:
        lines.append(f"... and {len(rows) - MOST} more: {word}.")
    return lines


def _missing(frame: pd.DataFrame, record: RunRecord | None, models: Sequence[str]) -> Iterator[str]:
    """Name what the run set out to test and the table does not hold."""
    if record is None:
        return
    tested = set(zip(frame["model"], frame["family"], strict=True))
    wanted = models or {one.model for one in record.notebooks} - record.references
    judged = [one for one in record.notebooks if one.model in wanted]
    for notebook in (*judged, *record.comparisons, *record.studies):
        if notebook.failed:
            yield f"The notebook {notebook.display_name} failed: {notebook.error}"
        elif notebook in judged and (notebook.model, notebook.family) not in tested:
            yield f"No row of {notebook.display_name}: the family was not tested."


def _verdict(row: object) -> str:
    """Say what came out: of a group the difference against its margin, and what the rule of the test says."""
    parts = []
    if not (math.isnan(row.gap) or math.isnan(row.matters)):
        values = ""
        if not math.isnan(row.group_value):
            values = f"{row.group_value:.4g} against {row.others_value:.4g} of {row.against}, "
        margin = "more than the margin of" if row.state == FAIL else "margin"
        interval = _interval(row, row.gap_low, row.gap_high)
        here = _interval(row, row.gap_low_sample, row.gap_high_sample, "for these speakers ")
        parts.append(f"{values}difference {row.gap:.4g}{interval or here}, {margin} {row.matters:.3g}")
    if row.passed is not None:
        parts.append(_against_rule(row, row.threshold, interval=not parts))
    if row.evidence == NO_INTERVAL and row.skipped:
        parts.append(row.skipped)  # why there is no interval, or what was found
    return "; ".join(parts)


def _judged(row: object) -> tuple[str, float, float, float]:
    """Give the number that the rule of a row judges: its name, itself, and its interval."""
    if row.rule in GAP_RULES:
        return "gap", row.gap, row.gap_low, row.gap_high
    return "value", row.value, row.low, row.high


def _against_rule(row: object, threshold: float, *, interval: bool = True) -> str:
    name, number, *bounds = _judged(row)
    shown = f"|{name}| = {abs(number):.4g}" if "|" in row.rule else f"{number:.4g}"
    word = "is" if passes(row.rule, number, threshold) else "is not"
    return f"{shown} {word} {row.rule[-1]} {threshold:g}{_interval(row, *bounds) if interval else ''}"


def _interval(row: object, low: float, high: float, whose: str = "") -> str:
    if math.isnan(low):
        return ""
    speakers = number_of(int(row.blocks), row.block)
    return f" ({whose}95 % {low:.3g} to {high:.3g}, {number_of(int(row.segments), 'segment')}, {speakers})"
