"""Judges results for a pipeline: an exit code and JUnit XML.

What fails a pipeline is a failure that *holds* among all tests of its model; with ``strict`` every failure;
with an earlier run as *baseline* only what got worse. Failures that the suite accepts are named and do not
count until their last day is over.

Nothing that did not run counts as passed: a family or model without rows, a failed notebook, a test that its
notebook forgot, a table without a single judged test all fail. A results table that was cut or edited after
the run is refused; the record of the run beside it (``run.json``) holds the digest.

Random references are never judged: they are there to be compared with.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.results import accepted, worse
from soundcheck.results.finished_run import FinishedRun, read_baseline, read_run
from soundcheck.results.junit import ERROR, FAILED, PASSED, SKIPPED, junit_xml, test_name
from soundcheck.results.record import RunRecord
from soundcheck.results.verdict import SHOWN
from soundcheck.statistics.evidence import NO_INTERVAL
from soundcheck.statistics.rules import GAP_RULES

FAILED_NOTEBOOK = "error: "  # how the reason of a row begins whose notebook or model failed
NOT_COMPUTED = "not computed by the notebook"
MOST = 20  # lines of a kind that a summary shows


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
    baselines: Sequence[Path] = (),
    matters_worse: float | None = None,
    today: datetime.date | None = None,
) -> Judgement:
    """Judge a results table and write JUnit XML.

    Parameters
    ----------
    results
        ``results.csv``, or the output folder that holds it.
    junit
        File for the JUnit XML; default ``junit.xml`` beside the results.
    models
        Judge only these models; default all but random references.
    strict
        Whether every failure counts, not only those that hold.
    baselines
        Earlier runs; then only what got worse than in one of them counts.
    matters_worse
        By how much a value has to be worse; default: what the suite says, or 0.01.
    today
        The day that accepted failures are looked at; default: this one.

    Raises
    ------
    InputError
        If a table is missing, was cut or edited, or holds no row; if a model is not there or a random
        reference; if an earlier run has no test in common; if both ``strict`` and ``baselines`` are given.
    """
    if strict and baselines:
        remedy = "Give one of them: --strict counts all failures, --baseline only what got worse"
        raise input_error("--strict", "it contradicts --baseline", remedy)
    run = read_run(results)
    frame = _judged_models(run, models)
    entries = run.record.accepted if run.record else ()
    problems = _missing(frame, run.record, models)
    for model, rows in frame.groupby("model", sort=True):
        if rows["passed"].isna().all():
            problems.append(f"Not one test of {model} was judged.")
    told = run.record.caveats if run.record else ()
    names = [set(frame[column]) for column in ("model", "corpus", "task")]
    lines = [f"Caveat: {caveat}" for caveat in told if caveat.concerns(*names)]
    if run.record is None:
        lines.append("No run.json beside the results: whether the table is whole cannot be checked.")
    if baselines:
        if matters_worse is None:
            matters_worse = run.record.matters_worse if run.record else worse.MATTERS_WORSE
        failing, told = _got_worse(run, frame, [read_baseline(path) for path in baselines], matters_worse)
        lines += told
    else:
        failing, told = _failing(frame, strict)
        lines += told
    excuses = accepted.accepted_reasons(frame, entries, today)
    if baselines:  # what got worse may still pass, and be accepted all the same
        worsened = frame.assign(passed=frame["passed"].mask(failing.ne(""), False))
        excuses = accepted.accepted_reasons(worsened, entries, today)
    frame = _with_status(frame, failing, excuses)
    junit = junit or run.path.parent / "junit.xml"
    files.write_all({junit: junit_xml(frame, problems)})
    red = frame["status"].eq(FAILED)
    errors = frame["status"].eq(ERROR)
    excused = failing.ne("") & excuses.ne("")
    lines = [_counts(frame, errors), *lines, *problems]
    word = "worse" if baselines else "failed"
    lines += _listed(frame[red], word)
    lines += _listed(frame[errors], "did not run")
    lines += _listed(frame[excused], "accepted")
    lines += accepted.remarks(run.frame, entries, today)
    if not (red.any() or baselines):
        lines.append("No failure counts.")
    elif not red.any():
        lines.append("Nothing got worse.")
    lines.append(f"JUnit XML: {junit}")
    fine = frame["passed"].eq(True).any() and not red.any() and not errors.any() and not problems
    return Judgement(EXIT_OK if fine else EXIT_TEST_FAILED, "\n".join(lines))


def _judged_models(run: FinishedRun, models: Sequence[str]) -> pd.DataFrame:
    """Keep the rows of the models that are judged."""
    frame = run.frame
    random = {model.name for model in run.record.models if model.kind == "random"} if run.record else set()
    for name in models:
        if name in random:
            what = f"{quoted(name)} is a random reference, which is never judged"
            raise input_error(run.path.name, what, "Name another model with --model")
        if name not in set(frame["model"]):
            known = sorted(set(frame["model"]) - random)
            raise input_error(
                run.path.name, f"no row of model {quoted(name)} given with --model", did_you_mean(name, known)
            )
    frame = frame[frame["model"].isin(models)] if models else frame[~frame["model"].isin(random)]
    if frame.empty:
        what = "all models are random references, which are never judged"
        raise input_error(run.path.name, what, "Run a suite with a model")
    return frame


def _failing(frame: pd.DataFrame, strict: bool) -> tuple[pd.Series, list[str]]:
    """Say why each row counts as a failure, empty if it does not, and what to know about that."""
    failed = accepted.failures(frame)
    counts = failed if strict else frame["holds"].eq(True)
    lines = []
    if not strict:
        for model, rows in frame[frame["passed"].notna()].groupby("model", sort=True):
            if rows["p_value"].isna().all() and failed[rows.index].any():
                counts = counts | (failed & frame["model"].eq(model))
                lines.append(
                    f"No test of {model} has a p-value (too few blocks, or the run is of an older version), "
                    "so that nothing could hold: all its failures count."
                )
    return _told(frame, counts), lines


def _told(frame: pd.DataFrame, counts: pd.Series) -> pd.Series:
    verdicts = [_verdict(row) if count else "" for row, count in zip(frame.itertuples(), counts, strict=True)]
    return pd.Series(verdicts, index=frame.index, dtype=object)


def _got_worse(
    run: FinishedRun, frame: pd.DataFrame, baselines: Sequence[FinishedRun], matters: float
) -> tuple[pd.Series, list[str]]:
    """Say how each row got worse than in an earlier run, empty if it did not, and what to know about that."""
    judged = dataclasses.replace(run, frame=frame)
    lines, compared = [], []
    for baseline in baselines:
        different = worse.differences(run, baseline)
        found = worse.changes(judged, baseline)
        where = f"--baseline {baseline.shown}"
        if found.empty:
            models = [", ".join(sorted(set(rows["model"]))) for rows in (baseline.frame, frame)]
            told = "; ".join([f"its models are {models[0]}, those judged here {models[1]}", *different])
            raise input_error(
                where, f"it has no judged test in common with the results: {told}", "Name a run of the suite"
            )
        compared.append(found)
        unknown = int(found["p_value"].isna().sum())
        paired = int((found["p_value"].notna() & found["paired"]).sum())
        lines.append(
            f"Compared with {baseline.shown}: {paired} tests paired, "
            f"{len(found) - paired - unknown} unpaired, "
            f"{unknown} not comparable for want of blocks or intervals, "
            f"{int(frame['passed'].notna().sum()) - len(found)} not in it."
        )
        frames = [one.frame[one.frame["passed"].notna()] for one in (judged, baseline)]
        frames[1] = frames[1][frames[1]["model"].isin(frame["model"])]
        here, there = (set(one[list(worse.KEY)].itertuples(index=False, name=None)) for one in frames)
        if gone := len(there - here):
            lines.append(f"{counted(gone, 'test')} of {baseline.shown} not judged any more.")
        lines += [f"{baseline.shown} differs: {what}." for what in different]
    told = pd.Series("", index=frame.index, dtype=object)
    for baseline, found, decided in zip(baselines, compared, worse.got_worse(compared, matters), strict=True):
        for row in found[decided].itertuples():
            how = "paired" if row.paired else "unpaired"
            what = (
                f"{row.before:.4g} in {baseline.shown}, now {row.after:.4g} (worse by {row.worse:.3g}, "
                f"p = {row.p_value:.2g}, {how})"
            )
            told[row.Index] = "; ".join(filter(None, (told[row.Index], what)))
    return told, lines


def _with_status(frame: pd.DataFrame, failing: pd.Series, excuses: pd.Series) -> pd.DataFrame:
    """Add what becomes of each row, and why, in the columns ``status`` and ``message``."""
    status, message = [], []
    for row, failure, excuse in zip(frame.itertuples(), failing, excuses, strict=True):
        if failure:
            status.append(SKIPPED if excuse else FAILED)
            message.append(f"accepted: {excuse}: {failure}" if excuse else failure)
        elif row.passed is False or row.holds is True:
            status.append(SKIPPED)
            why = f"accepted: {excuse}" if excuse else "as before" if row.holds else "open"
            message.append(f"{why}: {_verdict(row)}")
        elif row.passed is True:
            status.append(PASSED)
            message.append("")
        elif row.evidence == SHOWN:
            status.append(SKIPPED)
            message.append(f"value = {row.value:.4g}{_interval(row, row.low, row.high)}; {row.skipped}")
        else:
            broken = row.skipped.startswith((FAILED_NOTEBOOK, NOT_COMPUTED))
            status.append(ERROR if broken else SKIPPED)
            message.append(row.skipped)
    return frame.assign(status=status, message=message)


def _counts(frame: pd.DataFrame, errors: pd.Series) -> str:
    passed, failed = (int(frame["passed"].eq(verdict).sum()) for verdict in (True, False))
    holds, shown = frame["holds"].eq(True), int((frame["passed"].isna() & frame["evidence"].eq(SHOWN)).sum())
    skipped = len(frame) - passed - failed - shown
    without = f" {shown} shown without verdict." if shown else ""
    return (
        f"{passed} tests passed, {failed} failed, {skipped} skipped, "
        f"{int(errors.sum())} of these by an error.{without} Failures that hold: {int(holds.sum())}; "
        f"open: {int((frame['passed'].eq(False) & ~holds).sum())}."
    )


def _listed(rows: pd.DataFrame, word: str) -> list[str]:
    lines = [
        f"{word}: {row.model} / {row.corpus} / {row.family}: {test_name(row)}: "
        f"{row.message.removeprefix('accepted: ')}"
        for row in rows.head(MOST).itertuples()
    ]
    if len(rows) > MOST:
        lines.append(f"... and {len(rows) - MOST} more: {word}.")
    return lines


def _missing(frame: pd.DataFrame, record: RunRecord | None, models: Sequence[str]) -> list[str]:
    """Name what the run set out to test and the table does not hold."""
    if record is None:
        return []
    there = set(zip(frame["model"], frame["family"], strict=True))
    random = {model.name for model in record.models if model.kind == "random"}
    judged = [
        one for one in record.notebooks if one.model in models or (not models and one.model not in random)
    ]
    problems = []
    for notebook in (*judged, *record.comparisons, *record.studies):
        if notebook.failed:
            problems.append(f"The notebook {notebook.display_name} failed: {notebook.error}")
        elif notebook in judged and (notebook.model, notebook.family) not in there:
            problems.append(f"No row of {notebook.display_name}: the family was not tested.")
    return problems


def _verdict(row: object) -> str:
    """Say how a test failed, and of a failure that holds by how much the group differs."""
    of_gap = row.rule in GAP_RULES
    told = []
    if row.passed is False:
        name, number, low, high = "value", row.value, row.low, row.high
        if of_gap:
            name, number, low, high = "gap", row.gap, row.gap_low, row.gap_high
        rule = f"{row.rule.replace(f'|{name}|', '').removeprefix(name).strip()} {row.threshold:g}"
        absolute = f"|{name}| = " if "|" in row.rule else f"{name} = " if of_gap else ""
        told.append(f"{absolute}{number:.4g} is not {rule}{_interval(row, low, high)}")
    if row.holds is True and not of_gap and not math.isnan(row.matters):
        interval = "" if told else _interval(row, row.gap_low, row.gap_high)
        told.append(f"the gap to the others is {row.gap:.4g}, {row.matters:g} matters{interval}")
    if told and row.evidence == NO_INTERVAL and row.skipped:
        told.append(row.skipped)  # why there is no interval, or what was found
    return "; ".join(told)


def _interval(row: object, low: float, high: float) -> str:
    if math.isnan(low):
        return ""
    return f" (95 % {low:.3g} to {high:.3g}, {int(row.segments)} segments, {int(row.blocks)} blocks)"
