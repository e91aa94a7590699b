"""The ``accepted`` and ``tests`` of a suite as it is now, against a run of an earlier state of it.

Values are compared with changed thresholds again. A p-value needs replicates, which a table does not have, so
the state of such a value follows from its interval alone: *pass* and *fail* where all of it is on that side,
else *inconclusive*. Of a difference between groups only ``passed`` changes: its state is about the margin.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import day
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted as number_of
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.rows import no_threshold
from soundcheck.results.states import (
    FAIL,
    INCONCLUSIVE,
    NOT_EVALUATED,
    PASS,
    REPORTED,
    counted,
    failures,
    matching,
)
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, evidence
from soundcheck.statistics.rules import GAP_RULES, passes
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.own_rules import AcceptedFailure, OwnTest, with_own_tests
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

# Applied here, or of a part of the suite that a run may leave out.
_NOT_NAMED = ("accepted", "tests", "digest", "source", "models", "families", "comparisons")
_STATES = {CLEAR_PASS: PASS, CLEAR_FAIL: FAIL}


def changed(run: FinishedRun) -> list[str]:
    """Say whether ``accepted`` or ``tests`` changed since the run, if its suite is beside the results."""
    record, file = run.record, run.record.suite.get("source", "")
    for path in (Path(file), run.path.parent.parent / file) if file else ():
        with contextlib.suppress(InputError):
            suite = _suite_of(run, path)
            pairs = {
                "accepted": (record.accepted, suite.accepted),
                "tests": (record.own_tests, suite.tests),
            }
            keys = [key for key, (then, now) in pairs.items() if then != now]
            remedy = f"--suite {path} judges by what is there now, without a run"
            return [f"{' and '.join(keys)} of {path} changed since the run: {remedy}."] * bool(keys)
    return []


def with_suite(run: FinishedRun, path: Path) -> tuple[FinishedRun, list[str]]:
    """Apply what a suite accepts and which thresholds it sets now; also say what changes, and what cannot."""
    if not run.recorded:
        what = "no run.json beside the results says by which suite they were made"
        raise input_error(f"--suite {path}", what, "Name the output folder of the run")
    record, suite = run.record, _suite_of(run, path)
    frame, notes = run.frame.copy(), []
    for family in sorted({*record.own_tests, *suite.tests} & set(frame["family"])):
        before, now = record.own_tests.get(family, {}), suite.tests.get(family, {})
        tests = with_own_tests(read_family(family, suite.root), now).tests
        for name in sorted({*before, *now}):
            old, new = (one.get(name, OwnTest()) for one in (before, now))
            if (new.run and not old.run) or old.margin != new.margin:
                notes.append(f"tests of {path}: {family} / {name} changed in what only a run applies.")
            if old.run and (old.thresholds, old.run) != (new.thresholds, new.run):
                rows = frame[frame["family"].eq(family) & frame["test"].eq(name) & frame["value"].notna()]
                _judge_again(frame, rows, tests[name], suite)
                count = number_of(len(rows), "row")
                notes.append(f"tests of {path}: {family} / {name}, {count} compared with what is there now.")
    described = suite.describe()
    other = [key for key, value in record.suite.items() if key in described and described[key] != value]
    if other := [key for key in other if key not in _NOT_NAMED]:
        notes.append(f"{path} also changed in {', '.join(other)}, which only a run applies.")
    record = dataclasses.replace(record, accepted=suite.accepted, own_tests=suite.tests)
    return dataclasses.replace(run, frame=frame, record=record), notes


def _suite_of(run: FinishedRun, path: Path) -> Suite:
    """Read the suite of a run, as it is now."""
    suite = read_suite(path)
    names = [*run.record.order, *run.corpora]
    if missing := [name for name in names if name not in {*suite.models, *suite.corpora}]:
        what = f"this is another suite: it has no model or corpus {quoted(missing[0])}"
        raise input_error(f"--suite {path}", what, "Name the suite that was run")
    return suite


def _judge_again(frame: pd.DataFrame, rows: pd.DataFrame, test: TestDefinition, suite: Suite) -> None:
    """Compare values with the thresholds of a test, in place."""
    for row in rows.itertuples():
        threshold = test.threshold_for(suite.tasks[row.task])
        if test.off or threshold is None:
            state, reason = (NOT_EVALUATED, test.off) if test.off else (REPORTED, no_threshold(row.task))
            frame.loc[row.Index, ["threshold", "passed", "state", "skipped"]] = np.nan, None, state, reason
            continue
        number = row.gap if row.rule in GAP_RULES else row.value
        frame.loc[row.Index, ["threshold", "passed"]] = threshold, passes(row.rule, number, threshold)
        if not row.group:
            says = evidence(row.rule, row.low, row.high, threshold)
            frame.loc[row.Index, ["evidence", "state"]] = says, _STATES.get(says, INCONCLUSIVE)


def useless(
    frame: pd.DataFrame, entries: Sequence[AcceptedFailure], today: datetime.date | None
) -> Iterator[str]:
    """Name entries that accept nothing: they agree with no row, their tests pass, or their day is over."""
    for entry in entries:
        every = frame[matching(frame, entry)]
        rows = counted(every)
        failed, passed = int(failures(rows).sum()), int(rows["passed"].eq(True).sum())
        if every.empty:
            yield f"accepted, but no test agrees with it: {entry}. Correct or remove it."
        elif rows.empty:
            other = every["mirrors"].iloc[0]
            yield f"accepted, but this pair of groups is counted as {other}: {entry}. Name that group."
        elif failed and entry.past(today or day.today()):
            again = f"{number_of(failed, 'failure')} {'counts' if failed == 1 else 'count'} again"
            yield f"accepted until {entry.until}, which is past: {entry}: {again}."
        elif not failed and passed:
            tests = number_of(passed, "test")
            yield f"accepted, but nothing fails any more: {entry}: {tests} passed. Remove it."
        elif not failed:
            yield f"accepted, but not judged in this run: {entry}."
