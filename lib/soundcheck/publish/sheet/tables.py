"""Tables of the one-page summary: what fails, values of groups and classes, what is not known, what changed.

Texts come from data in part: whoever shows them escapes and cuts them. Lists are short; what is left out is
counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pandas as pd

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.publish.facts import ModelFacts
from soundcheck.report import failures, key_figures
from soundcheck.report.formats import estimate
from soundcheck.report.names import label, remark
from soundcheck.results import worse
from soundcheck.results.conclusion import conclusion
from soundcheck.results.contrast import BETTER, PAIRED, WORSE
from soundcheck.results.facts import headline
from soundcheck.results.finished_run import FinishedRun

MOST_ROWS = 8
MOST_UNKNOWN = 5
MOST_MEASURES = 4  # columns of values
MOST_COMPARISONS = 3
MOST_CHANGES = 4  # tests that are worse, and that are better
SINCE = "Against the last release"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: without rows only its title and notes are shown."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = ()


def _shortened(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], total: int, notes: Sequence[str] = ()
) -> Table:
    """Make a table of the first of so many rows in all, without columns that no row fills."""
    filled = [n for n in range(len(columns)) if any(row[n] for row in rows)]
    more = [f"{total - len(rows):,} more are in the tables of the run."] if total > len(rows) else []
    cells = [tuple(row[n] for n in filled) for row in rows]
    return Table(title, [columns[n] for n in filled], cells, [*notes, *more])


def failing(facts: ModelFacts) -> Iterator[Table]:
    """List what fails, a row a fact, then what few speakers show, the largest first."""
    if facts.findings.empty:
        yield Table("What fails", notes=[f"{headline(facts.counted)}."])
    few = "Too few speakers to generalise: what these speakers show"
    notes = ["Intervals are for these speakers."]
    for title, rows, about in (("What fails", facts.findings, []), (few, facts.few, notes)):
        if len(rows):
            columns = ["what", "value", "difference (95 %)", "margin or threshold"]
            columns.append(failures.noun(facts.record, rows))
            lines = [_finding(row) for row in rows.head(MOST_ROWS).itertuples()]
            yield _shortened(title, columns, lines, len(rows), about)


def _finding(row: object) -> tuple[str, ...]:
    what, limit = failures.subject(row), failures.limit(row).removeprefix("has to be ")
    value, difference = _with_interval(row, failures.amount(row, row.value), row.low, row.high), ""
    if row.test == failures.SEARCHED and row.skipped:
        what, value, limit = f"groups worse off in {row.task}: {row.skipped}", f"{row.value:g}", ""
    elif row.group and not pd.isna(row.gap):
        sample = failures.few(row)
        low, high = (row.gap_low_sample, row.gap_high_sample) if sample else (row.gap_low, row.gap_high)
        of_group, other = (failures.amount(row, one) for one in (row.group_value, row.others_value))
        value = f"{of_group}, {failures.others(row)} {other}"
        difference = _with_interval(row, failures.points(row, row.gap), low, high)
        limit = "" if pd.isna(row.matters) else f"within ±{failures.points(row, row.matters)}"
    elif not pd.isna(row.after) and failures.change_of_quality(row):
        measure, change = failures.before_and_after(row)
        difference, value = value, f"{measure} {change.partition(' under ')[0]}"
    more = getattr(row, "more", 0)
    about = [f"accepted: {row.accepted}" if row.accepted else ""]
    about.append(f"and {counted(more, 'more measure')}" if more else "")
    return ", ".join(filter(None, [what, *about])), value, difference, limit, f"{row.blocks:,}"


def _with_interval(row: object, written: str, low: float, high: float) -> str:
    return f"{written} ({failures.span(row, low, high).removeprefix('95 % ')})"


def values(facts: ModelFacts) -> Iterator[Table]:
    """Give values of groups and classes, a column a measure; those that are worse in most of them first."""
    classes = facts.classes.assign(part=facts.classes["label"], title="recall", order=facts.classes["value"])
    groups = ("Values by group", facts.group_values, failures.people)
    for title, rows, named in (groups, ("Values by class", classes, label)):
        if rows.empty:
            continue
        measures = list(dict.fromkeys(zip(rows["task"], rows["title"], strict=True)))[:MOST_MEASURES]
        ranks = rows.groupby(["corpus", "task", "title"])["order"].rank(pct=True)
        worst = ranks.groupby([rows["corpus"], rows["part"]]).mean().sort_values(kind="stable").index
        cells = {(row.corpus, row.part, row.task, row.title): row for row in rows.itertuples()}
        lines = []
        for corpus, part in worst[:MOST_ROWS]:
            estimates = [cells.get((corpus, part, *measure)) for measure in measures]
            where = f"{named(part)} ({corpus})" if rows["corpus"].nunique() > 1 else named(part)
            speakers = max((row.speakers for row in estimates if row), default=0)
            lines.append((where, *map(_cell, estimates), f"{speakers or ''}"))
        heads = [name if task in failures.SINGLE else f"{name} of {task}" for task, name in measures]
        notes = ["* for these speakers, who are too few to generalise"] if "*" in str(lines) else []
        yield _shortened(f"{title} (95 % intervals)", ["", *heads, "speakers"], lines, len(worst), notes)


def _cell(row: object) -> str:
    if row is None:
        return ""
    few = pd.isna(row.low) and not pd.isna(row.low_sample)
    low, high = (row.low_sample, row.high_sample) if few else (row.low, row.high)
    text = estimate(row.value, low, high, percent=row.title in key_figures.RATES)
    return text.replace("(95 % ", "(") + ("*" if few else "")


def unknown(facts: ModelFacts) -> Table:
    """List groups with the most inconclusive tests, what is not excluded, and what would decide."""
    left = [f"{counted(len(facts.not_evaluated), 'test')} not evaluated."] if len(facts.not_evaluated) else []
    left += [f"Failed to run: {', '.join(facts.failed)}."] if facts.failed else []
    lines = []
    for one in facts.unknown.head(MOST_UNKNOWN).itertuples():
        row = None if one.row == -1 else facts.rows.loc[one.row]
        bound = "" if row is None else f"{failures.points(row, abs(row.bound))}: {failures.subject(row)}"
        plan = "" if pd.isna(one.needed) else failures.planned(one.needed, one.blocks)
        lines.append((one.kind.replace("_", " "), f"{one.tests}", bound, plan))
    columns = ["groups by", "inconclusive", "difference not excluded", "speakers to decide half of them"]
    return _shortened("What could not be concluded", columns, lines, len(facts.unknown), left)


def since(facts: ModelFacts, baseline: FinishedRun | None = None) -> list[Table]:
    """Say what got worse or better since an earlier run by the rule of the gate.

    Without one, the comparisons of the suite that have the model as candidate say it. Raises an
    ``InputError`` if the earlier run has no judged test in common with the model, or ``comparisons.csv`` was
    edited.
    """
    if baseline is not None:
        return [_since(facts, baseline)]
    entries = [one for one in facts.record.comparisons if one.candidate == facts.model.name]
    frames = [facts.run.contrasts(one) for one in entries[:MOST_COMPARISONS]]
    notes = [
        f"The comparison with {one.baseline} failed to run." if one.failed else remark(conclusion(frame))
        for one, frame in zip(entries, frames, strict=False)
    ]
    if len(entries) > MOST_COMPARISONS:
        notes.append(f"{len(entries) - MOST_COMPARISONS} more comparisons are in comparisons.csv.")
    differing = [frame for frame in frames if frame["outcome"].isin((WORSE, BETTER)).any()]
    return [changed(SINCE, [*differing, *frames][0], notes)] if frames else []


def changed(title: str, frame: pd.DataFrame, notes: Sequence[str] = ()) -> Table:
    """List the tests of a comparison that are worse, then those that are better, the surest first."""
    rows = frame[frame["outcome"].isin((WORSE, BETTER))].sort_values("p_value", kind="stable")
    rows = rows.sort_values("outcome", ascending=False, kind="stable")  # worse before better
    lines = []
    for row in rows.groupby("outcome", sort=False).head(MOST_CHANGES).itertuples():
        before, after = (failures.amount(row, one) for one in (row.baseline_value, row.candidate_value))
        difference = _with_interval(row, failures.points(row, row.difference), row.low, row.high)
        difference = difference.removesuffix(" (no interval)")
        lines.append((row.outcome, failures.subject(row), f"{before} → {after}", difference))
    none = ["No test is better or worse; that is not the same as no difference."]
    columns = ["", "what", "before → after", "difference (95 %)"]
    return _shortened(title, columns, lines, len(rows), notes or ([] if lines else none))


def _since(facts: ModelFacts, baseline: FinishedRun) -> Table:
    frame = facts.run.frame[facts.run.frame["model"].eq(facts.model.name)]
    now = dataclasses.replace(facts.run, frame=frame)
    changes, margin = worse.changes(now, baseline), facts.record.matters_worse
    if changes.empty:
        models = ", ".join(quoted(name) for name in list(dict.fromkeys(baseline.frame["model"]))[:20])
        what = f"it has no judged test in common with {quoted(facts.model.name)}: its models are {models}"
        raise input_error("--baseline", what, "Name an earlier run with a model of this name")
    (rows,) = worse.with_outcomes([changes], margin)
    tested, paired = int(rows["p_value"].notna().sum()), int(rows["pairing"].eq(PAIRED).sum())
    lost, won = (int(rows["outcome"].eq(outcome).sum()) for outcome in (WORSE, BETTER))
    notes = [
        f"Worse on {lost} and better on {won} of {counted(tested, 'test')} ({paired} paired) "
        f"by more than {margin:g}."
    ]
    if tested < len(rows):
        left = counted(len(rows) - tested, "test")
        notes.append(f"{left} could not be compared: no interval, or too few speakers.")
    notes += [f"The earlier run differs: {what}." for what in worse.differences(now, baseline)]
    p_value = rows["p_value"].where(rows["outcome"].eq(WORSE), 1 - rows["p_value"])
    return changed(SINCE, rows.assign(p_value=p_value), notes)
