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

With the suite as it is now, values are compared with changed thresholds again. A p-value needs replicates,
which a table does not have, so the state of such a value follows from its interval alone: *pass* and *fail*
where all of it is on that side, else *inconclusive*. Of a difference between groups only ``passed`` changes:
its state is about the margin.
"""

import collections
import contextlib
import dataclasses
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files, messages
from soundcheck.common.day import today
from soundcheck.common.messages import InputError, Outcome, input_error, quoted, xml_text
from soundcheck.common.messages import counted as number_of
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.results import history, states
from soundcheck.results.contrast import PAIRED, UNPAIRED, WORSE
from soundcheck.results.facts import counts, few_speakers
from soundcheck.results.finished_run import FinishedRun, read_run
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import no_threshold
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, NO_INTERVAL, evidence
from soundcheck.statistics.rules import GAP_RULES, passes
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import AcceptedFailure, OwnTest, TestDefinition, with_own_tests
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

# What became of a test. The exit code agrees: only failures and errors are red.
PASSED, FAILED, ERROR, SKIPPED = "passed", "failure", "error", "skipped"
_COUNTED = {"tests": None, "failures": FAILED, "errors": ERROR, "skipped": SKIPPED}  # attribute -> status
_TYPES = {FAILED: {"type": "threshold"}, ERROR: {"type": "run"}}
_DID_NOT_RUN = ("error: ", "not computed by the notebook")  # how reasons of such rows begin
_MOST = 20  # lines of a kind that a summary names
_FEW = 3  # differences with too few speakers that it names, the largest
Reasons = dict[int, str]  # row of the results -> what is wrong with it; empty if nothing is


def check(
    results: Path,
    junit: Path | None = None,
    models: Sequence[str] = (),
    *,
    strict: bool = False,
    inconclusive: str = states.PASS,
    baselines: Sequence[Path] = (),
    matters_worse: float | None = None,
    suite: Path | None = None,
) -> Outcome:
    """Judge a results table and write JUnit XML; options that contradict each other are an ``InputError``.

    ``models`` are judged alone; default all but random references. With ``strict`` values on the wrong side
    of their threshold fail, too, and tests that are inconclusive if that is ``"fail"``; with ``baselines``
    only what got worse than in one of them by ``matters_worse``. ``suite`` is the suite as it is now, whose
    ``accepted`` and ``tests`` are applied in place of those of the run.
    """
    if baselines and (strict or inconclusive == states.FAIL):
        option = "--strict" if strict else "--inconclusive fail"
        what = "it contradicts --baseline, by which only what got worse fails"
        raise input_error(option, what, "Remove it")
    run = read_run(results, older=True)
    run, notes = with_suite(run, suite) if suite else (run, suite_changed(run))
    record, frame = run.record, _judged_models(run, models)
    caveats = record.caveats_of(*(set(frame[column]) for column in ("model", "corpus", "task")))
    notes = [*(f"Caveat: {caveat}" for caveat in caveats), *notes]
    if not run.recorded:
        notes.append("No run.json beside the results: whether the table is complete cannot be checked.")
    frame = frame.assign(block=frame["corpus"].map(record.block_of))
    rows = states.counted(frame)
    bars, absent = hard_bars(frame, run)
    without, undecided = _without_conclusion(rows, bars)
    problems = [*_missing(frame, record, models), *absent, *without]
    if baselines:
        margin = record.matters_worse if matters_worse is None else matters_worse
        failing, compared, incomparable = _got_worse(run, rows, baselines, margin)
        notes, undecided = [*notes, *compared], incomparable
    else:
        wanted = [states.FAIL, *[states.INCONCLUSIVE] * (inconclusive == states.FAIL)]
        fails = frame["state"].isin(wanted) & frame["mirrors"].eq("") | frame["passed"].eq(False) & strict
        failing = {row.Index: _verdict(row) for row in frame[fails].itertuples()}
    rows = rows.assign(bar=of_pairs(frame, bars), failure=of_pairs(frame, failing))
    excusable = rows["failure"].ne("") & rows["bar"].eq("")
    rows = rows.assign(
        failure=rows["failure"].mask(rows["bar"].ne(""), rows["bar"]),
        excuse=states.accepted_reasons(rows, record.accepted, excusable),
        compared=rows.index.isin([*failing]),
    )
    rows[["status", "message"]] = [_outcome(row) for row in rows.itertuples()]
    junit = junit or run.path.parent / "junit.xml"
    files.write_all({junit: junit_xml(rows, problems, undecided)})
    left_out = " (mirrors of pairs left out)" if len(rows) < len(frame) else ""
    failed, errors = rows["status"].eq(FAILED), rows["status"].eq(ERROR)
    lines = [
        *(f"{counts(rows)}{left_out}.", *notes, *problems),
        *_listed(rows[failed & rows["bar"].ne("")], "hard bar"),
        *_listed(rows[failed & rows["bar"].eq("")], "worse" if baselines else "failed"),
        *_listed(rows[errors], "did not run"),
        *_listed(rows[rows["excuse"].ne("")], "accepted"),
        *(*useless(run.frame, record.accepted, rows.index[excusable]), *undecided),
    ]
    number, wrong = int(failed.sum()), int(errors.sum()) + len(problems)
    few = few_speakers(rows)[: 0 if baselines else None]
    nothing = len(undecided) == (len(baselines) or rows["model"].nunique())
    if number or wrong:
        lines.append(f"The gate fails: {number_of(number, 'failure')}, {number_of(wrong, 'error')}.")
    elif len(few):
        described = f"{number_of(len(few), 'difference')} with too few speakers to generalise."
        lines += _listed(few.head(_FEW), "too few speakers")
        lines.append(described if nothing else f"The gate passes; {described}")
    elif not nothing:
        lines.append("Nothing got worse." if baselines else "No failure counts.")
    lines.append(f"JUnit XML: {junit}")
    return Outcome(messages.EXIT_TEST_FAILED if number or wrong else messages.EXIT_OK, "\n".join(lines))


def _judged_models(run: FinishedRun, models: Sequence[str]) -> pd.DataFrame:
    """Keep the rows of the models that are judged."""
    known = sorted(set(run.frame["model"]) - run.record.references)
    places = ((run.path.name, name, known) for name in models)
    messages.refuse_unknown(places, "no row of model {}, or it is a random reference, which is never judged")
    frame = run.frame[run.frame["model"].isin(models or known)]
    if frame.empty:
        what = "all models are random references, which are never judged"
        raise input_error(run.path.name, what, "Run a suite with a model")
    return frame


def hard_bars(frame: pd.DataFrame, run: FinishedRun) -> tuple[Reasons, list[str]]:
    """Say of each row under a hard bar why it misses it; and which bars did not run.

    ``frame`` are rows of the run, with a column ``block``: what was resampled.
    """
    reasons, absent = {}, []
    own_tests, tasks = run.record.own_tests, run.record.suite.get("tasks", {})
    for family, test, rule in [(family, *pair) for family, of in own_tests.items() for pair in of.items()]:
        if not rule.hard:
            continue
        bar = ": ".join(filter(None, ("hard bar", rule.why)))
        limits = {name: rule.thresholds.get(task["kind"]) for name, task in tasks.items()} | rule.thresholds
        rows = run.frame[run.frame["family"].eq(family) & run.frame["test"].eq(test)]
        rows = rows[rows["task"].map(limits).notna() & ~rows["model"].isin(run.record.references)]
        if rule.labels:  # what is skipped as a whole has none
            rows = rows[rows["label"].isin(["", *rule.labels])]
        if rows.empty:
            absent.append(f"{bar}: {' / '.join((family, test, *rule.labels))} did not run.")
        for row in frame.loc[rows.index.intersection(frame.index)].itertuples():
            number, reasons[row.Index] = _number_of(row)[1], ""
            if math.isnan(number):
                reasons[row.Index] = f"{bar}: not evaluated, {row.skipped}"
            elif not passes(row.rule, number, limits[row.task]):
                reasons[row.Index] = f"{bar}: {_against_rule(row, limits[row.task])}"
    return reasons, absent


def of_pairs(frame: pd.DataFrame, reasons: Reasons) -> pd.Series:
    """Give the reasons of the rows that count; of a pair that of either group, as both are one test."""
    reason = pd.Series(reasons, dtype=object).reindex(frame.index, fill_value="")
    hidden = frame["mirrors"].ne("")
    reason[hidden & reason.ne("")] = frame["group"] + ": " + reason
    of_rows = reason[~hidden]
    of_others = reason[hidden].set_axis(states.counting(frame)[hidden]).reindex(of_rows.index, fill_value="")
    return of_rows.where(of_rows.ne(""), of_others)


def _without_conclusion(rows: pd.DataFrame, bars: Reasons) -> tuple[list[str], list[str]]:
    """Name the models of which no test has a verdict, and those of which nothing could be concluded."""
    without, undecided = [], []
    for model, tests in rows.groupby("model", sort=True):
        inconclusive = tests[tests["state"].eq(states.INCONCLUSIVE)]
        if tests["state"].isin([states.PASS, states.FAIL]).any() or not bars.keys().isdisjoint(tests.index):
            continue
        if inconclusive.empty:
            without.append(f"No test of {model} has a verdict: each is not evaluated or only reported.")
            continue
        of_sample = int((inconclusive["state_sample"].eq(states.FAIL) & inconclusive["group"].eq("")).sum())
        undecided.append(
            f"Nothing could be concluded about {model}: {number_of(len(inconclusive), 'test')} inconclusive, "
            f"{of_sample} of which fail for these speakers. Without more speakers, a hard bar (`hard: true` "
            "in `tests`) or --inconclusive fail decides."
        )
    return without, undecided


def _got_worse(
    run: FinishedRun, rows: pd.DataFrame, baselines: Sequence[Path], matters: float
) -> tuple[Reasons, list[str], list[str]]:
    """Say of the rows that got worse than in an earlier run how; what was compared, and what could not be."""
    lines, incomparable, compared, models = [], [], {}, set(rows["model"])
    judged_now = dataclasses.replace(run, frame=rows)
    for path in baselines:
        baseline = read_run(path, f"--baseline {path}", older=True)
        different = history.differences(run, baseline)
        changes = compared[path] = history.changes(judged_now, baseline)
        number = changes["pairing"].value_counts()
        unknown = int(changes["p_value"].isna().sum())
        lines.append(
            f"Compared with {path}: {number.get(PAIRED, 0)} tests paired, {number.get(UNPAIRED, 0)} "
            f"unpaired, {unknown} not comparable for want of speakers or intervals, "
            f"{int(rows['passed'].notna().sum()) - len(changes)} not in it."
        )
        if unknown == len(changes):
            incomparable.append(f"Nothing could be concluded: no test can be compared with {path}.")
        then, now = (
            {key for key, entry in each.judged.items() if entry.verdict.passed is not None}
            for each in (baseline, run)
        )
        counting = (key for key in then - now if not baseline.judged[key].verdict.mirrors)
        if gone := sum(key[0] in models for key in counting):
            lines.append(f"{number_of(gone, 'test')} of {path} not judged any more.")
        lines += [f"{path} differs: {what}." for what in different]
    decided = history.decided_changes([*compared.values()], matters)
    reasons: Reasons = {place: "" for changes in decided for place in changes["p_value"].dropna().index}
    for path, changes in zip(compared, decided, strict=True):
        for row in changes[changes["outcome"].eq(WORSE)].itertuples():
            what = f"{row.baseline_value:.4g} in {path}, now {row.candidate_value:.4g} (worse by "
            what += f"{row.worse:.3g}, p = {row.p_value:.2g}, {row.pairing})"
            reasons[row.Index] = "; ".join(filter(None, (reasons[row.Index], what)))
    return reasons, lines, incomparable


def _outcome(row: object) -> tuple[str, str]:
    """Give the status of a row and why."""
    if row.excuse:
        return SKIPPED, f"accepted: {row.excuse}: {row.failure}"
    if row.failure:
        return FAILED, row.failure
    if row.state == states.PASS:
        return PASSED, ""
    if row.state == states.NOT_EVALUATED:
        status = ERROR if row.skipped.startswith(_DID_NOT_RUN) else SKIPPED
        found = "" if math.isnan(row.gap) else _verdict(row._replace(skipped=""))
        return status, ": ".join(filter(None, (row.skipped, found)))
    if row.state == states.REPORTED:
        return SKIPPED, f"reported: value = {row.value:.4g}{_interval(row, row.low, row.high)}; {row.skipped}"
    # a fail that is not worse than in the baseline or not in it, or inconclusive
    word = ("as before" if row.compared else "not compared") if row.state == states.FAIL else row.state
    return SKIPPED, f"{word}: {_verdict(row)}"


def _listed(rows: pd.DataFrame, word: str) -> list[str]:
    lines = [
        f"{word}: {row.model} / {row.corpus} / {row.family}: {test_name(row)}: "
        f"{row.message.removeprefix(f'{word}: ')}"
        for row in rows.head(_MOST).itertuples()
    ]
    return lines + [f"... and {len(rows) - _MOST} more: {word}."] * (len(rows) > _MOST)


def _missing(frame: pd.DataFrame, record: RunRecord, models: Sequence[str]) -> Iterator[str]:
    """Name what the run set out to test and the table does not hold."""
    tested = set(zip(frame["model"], frame["family"], strict=True))
    wanted = models or {notebook.model for notebook in record.notebooks} - record.references
    notebooks = [notebook for notebook in record.notebooks if notebook.model in wanted]
    for notebook in (*notebooks, *record.comparisons, *record.studies):
        if notebook.failed:
            yield f"The notebook {notebook.display_name} failed: {notebook.error}"
        elif notebook in notebooks and (notebook.model, notebook.family) not in tested:
            yield f"No row of {notebook.display_name}: the family was not tested."


def _verdict(row: object) -> str:
    """Say what came out: of a group the difference against its margin, and what the rule of the test says."""
    parts = []
    if not (math.isnan(row.gap) or math.isnan(row.matters)):
        values = ""
        if not math.isnan(row.group_value):
            values = f"{row.group_value:.4g} against {row.others_value:.4g} of {row.against}, "
        margin = "more than the margin of" if row.state == states.FAIL else "margin"
        interval = _interval(row, row.gap_low, row.gap_high)
        sample = _interval(row, row.gap_low_sample, row.gap_high_sample, "for these speakers ")
        parts.append(f"{values}difference {row.gap:.4g}{interval or sample}, {margin} {row.matters:.3g}")
    if row.passed is not None:
        parts.append(_against_rule(row, row.threshold, interval=not parts))
    if row.skipped and (row.evidence == NO_INTERVAL or not parts):
        parts.append(row.skipped)  # why there is no interval or no more, or what was found
    return "; ".join(parts)


def _number_of(row: object) -> tuple[str, float, float, float]:
    """Give the number that the rule of a row judges: its name, itself, and its interval."""
    if row.rule in GAP_RULES:
        return "gap", row.gap, row.gap_low, row.gap_high
    return "value", row.value, row.low, row.high


def _against_rule(row: object, threshold: float, *, interval: bool = True) -> str:
    name, number, *bounds = _number_of(row)
    text = f"|{name}| = {abs(number):.4g}" if "|" in row.rule else f"{number:.4g}"
    word = "is" if passes(row.rule, number, threshold) else "is not"
    return f"{text} {word} {row.rule[-1]} {threshold:g}{_interval(row, *bounds) if interval else ''}"


def _interval(row: object, low: float, high: float, whose: str = "") -> str:
    if math.isnan(low):
        return ""
    speakers = number_of(int(row.blocks), row.block)
    return f" ({whose}95 % {low:.3g} to {high:.3g}, {number_of(int(row.segments), 'segment')}, {speakers})"


# The suite as it is now -------------------------------------------------------------------------------------

# Applied here, or of a part of the suite that a run may leave out.
_NOT_NAMED = ("accepted", "tests", "digest", "source", "models", "families", "comparisons")
_STATES = {CLEAR_PASS: states.PASS, CLEAR_FAIL: states.FAIL}


def suite_changed(run: FinishedRun) -> list[str]:
    """Say whether ``accepted`` or ``tests`` changed since the run, if its suite is beside the results."""
    record, file = run.record, run.record.suite.get("source", "")
    for path in (Path(file), run.path.parent.parent / file) if file else ():
        with contextlib.suppress(InputError):
            suite = _suite_of(run, path)
            changed = (record.accepted, record.own_tests) != (suite.accepted, suite.tests)
            remedy = f"--suite {path} judges by what is there now, without a run"
            return [f"accepted or tests of {path} changed since the run: {remedy}."] * changed
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
        for name in sorted({*before, *now} & tests.keys()):
            old, new = (rules.get(name, OwnTest()) for rules in (before, now))
            if (new.run and not old.run) or old.margin != new.margin:
                notes.append(f"tests of {path}: {family} / {name} changed in what only a run applies.")
            if old.run and (old.thresholds, old.run) != (new.thresholds, new.run):
                rows = frame[frame["family"].eq(family) & frame["test"].eq(name) & frame["value"].notna()]
                rows = rows[~rows["skipped"].str.contains(ONE_CLASS)]
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
            state = states.NOT_EVALUATED if test.off else states.REPORTED
            cells = np.nan, None, state, test.off or no_threshold(row.task)
            frame.loc[row.Index, ["threshold", "passed", "state", "skipped"]] = cells
            continue
        passed = passes(row.rule, _number_of(row)[1], threshold)
        frame.loc[row.Index, ["threshold", "passed"]] = threshold, passed
        if not row.group:
            says = evidence(row.rule, row.low, row.high, threshold)
            frame.loc[row.Index, ["evidence", "state"]] = says, _STATES.get(says, states.INCONCLUSIVE)


def useless(frame: pd.DataFrame, entries: Sequence[AcceptedFailure], failing: pd.Index) -> Iterator[str]:
    """Name entries that accept nothing: they agree with no row, their tests pass, or their day is over.

    ``failing`` are the rows that fail here unless they are accepted.
    """
    for entry in entries:
        every = frame[states.matching(frame, entry)]
        rows = states.counted(every)
        failed = rows.index.isin(failing) | states.failures(rows)
        if every.empty:
            yield f"accepted, but no test agrees with it: {entry}. Correct or remove it."
        elif rows.empty:
            other = every["mirrors"].iloc[0]
            yield f"accepted, but this pair of groups is counted as {other}: {entry}. Name that group."
        elif not failed.any():
            passed = int(rows["state"].eq(states.PASS).sum())  # what is inconclusive may fail again
            remedy = " Remove it." if passed else ""
            yield f"accepted, but nothing fails: {entry}: {number_of(passed, 'test')} passed.{remedy}"
        elif entry.past(today()):
            yield f"accepted until {entry.until}, which is past, so that failures count: {entry}."


# JUnit XML: a suite a model, corpus and family, a case a test -----------------------------------------------


def junit_xml(frame: pd.DataFrame, problems: Sequence[str] = (), undecided: Sequence[str] = ()) -> bytes:
    """Write results as JUnit XML.

    ``frame`` has two columns more than the results, ``status``, such as :data:`PASSED`, and ``message``. What
    did not run (``problems``) and models of which nothing could be concluded become errors and skipped cases
    of a suite of their own.
    """
    suites = [
        (".".join(place), [(test_name(row), row.status, row.message) for row in rows.itertuples()])
        for place, rows in frame.groupby(["model", "corpus", "family"], sort=True)
    ]
    of_run = [(f"problem {number}", ERROR, text) for number, text in enumerate(problems, start=1)]
    of_run += [(f"inconclusive {number}", SKIPPED, text) for number, text in enumerate(undecided, start=1)]
    suites += [("soundcheck.run", of_run)] if of_run else []
    root = ElementTree.Element("testsuites", name="soundcheck", **_counts(suites))
    for name, cases in suites:
        about = {"name": xml_text(name)} | _counts([(name, cases)])
        suite = ElementTree.SubElement(root, "testsuite", about)
        for test, status, message in cases:
            about = {"classname": xml_text(name), "name": xml_text(test), "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", about)
            if status != PASSED:
                ElementTree.SubElement(case, status, message=xml_text(message), **_TYPES.get(status, {}))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _counts(suites: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]) -> dict[str, str]:
    number = collections.Counter(status for _, cases in suites for _, status, _ in cases)
    counts = {name: number[status] if status else number.total() for name, status in _COUNTED.items()}
    return {name: str(count) for name, count in counts.items()} | {"time": "0"}


def test_name(row: object) -> str:
    """Name the test of a row within its model, corpus and family."""
    return " / ".join(filter(None, (row.task, row.test, row.group, row.label)))


test_name.__test__ = False  # not a test of pytest
