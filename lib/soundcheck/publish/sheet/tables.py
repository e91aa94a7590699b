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
from soundcheck.report import failures, key_figures
from soundcheck.report.formats import estimate
from soundcheck.report.names import label, remark
from soundcheck.results import worse
from soundcheck.results.conclusion import conclusion
from soundcheck.results.contrast import BETTER, PAIRED, WORSE
from soundcheck.results.facts import ModelFacts, headline
from soundcheck.results.finished_run import FinishedRun

MOST_ROWS = 8
MOST_UNKNOWN = 5
MOST_MEASURES = 4  # columns of values
MOST_COMPARISONS = 3
MOST_CHANGES = 4  # tests that are worse, and that are better
FEW = "Too few speakers to generalise: what these speakers show"
SINCE = "Against the last release"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: without rows only its title and notes are shown."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = ()

    @classmethod
    def of_first(cls, title: str, frame: pd.DataFrame, total: int, notes: Sequence[str] = ()) -> Table:
        """Make a table of the first of so many rows in all, without columns that no row fills."""
        filled = frame.loc[:, frame.ne("").any()]
        left = total - len(frame)
        notes = [*notes, *([f"{left:,} more are in the tables of the run."] if left > 0 else [])]
        return cls(title, [*filled], [*filled.itertuples(index=False, name=None)], notes)


def failing(facts: ModelFacts) -> Iterator[Table]:
    """List what fails, a row a fact, then what few speakers show, the largest first."""
    if facts.findings.empty:
        yield Table("What fails", notes=[f"{headline(facts.counted)}."])
    for title, rows in (("What fails", facts.findings), (FEW, facts.few)):
        if len(rows):
            lines = pd.DataFrame(_finding(facts, row) for row in rows.head(MOST_ROWS).itertuples())
            yield Table.of_first(title, lines, len(rows))


def _finding(facts: ModelFacts, row: object) -> dict[str, str]:
    fact, more = failures.finding(row, facts.record.block_of(row.corpus)), getattr(row, "more", 0)
    about = [f"accepted: {row.accepted}" if row.accepted else ""]
    about.append(f"and {counted(more, 'more measure')}" if more else "")
    return {
        "what": ", ".join(filter(None, [failures.subject(row), *about])),
        "value": fact.says,
        "interval and limit": "; ".join(filter(None, [fact.rests, fact.limit])),
    }


def values(facts: ModelFacts) -> Iterator[Table]:
    """Give values of groups and classes, a column a measure; those that are worse in most of them first."""
    classes = facts.classes.assign(part=facts.classes["label"], title="recall", order=facts.classes["value"])
    groups = ("Values by group", facts.group_values, failures.people)
    for title, rows, named in (groups, ("Values by class", classes, label)):
        if rows.empty:
            continue
        measures = rows["title"] + rows["task"].map(
            lambda task: "" if task in failures.SINGLE else f" of {task}"
        )
        rows = rows.assign(measure=measures, cell=[*map(_cell, rows.itertuples())])
        rows["rank"] = rows.groupby(["corpus", "measure"])["order"].rank(pct=True)
        parts = rows.groupby(["corpus", "part"])
        worst = parts["rank"].mean().sort_values(kind="stable").index
        key = {"index": ["corpus", "part"], "columns": "measure", "values": "cell"}
        shown = rows.pivot_table(**key, aggfunc="last").reindex(worst[:MOST_ROWS]).fillna("")
        several = rows["corpus"].nunique() > 1
        names = [named(part) + (f" ({corpus})" if several else "") for corpus, part in shown.index]
        table = shown[measures.unique()[:MOST_MEASURES]]
        table.insert(0, "", names)
        table["speakers"] = [f"{number or ''}" for number in parts["speakers"].max()[shown.index]]
        few = table.map(lambda text: text.endswith("*")).any(axis=None)
        notes = ["* for these speakers, who are too few to generalise"] if few else []
        yield Table.of_first(f"{title} (95 % intervals)", table, len(worst), notes)


def _cell(row: object) -> str:
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
    lines = pd.DataFrame(lines, columns=columns)
    return Table.of_first("What could not be concluded", lines, len(facts.unknown), left)


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
        ends = "" if pd.isna(row.low) else f" ({failures.span(row, row.low, row.high).removeprefix('95 % ')})"
        difference = f"{failures.points(row, row.difference)}{ends}"
        lines.append((row.outcome, failures.subject(row), f"{before} → {after}", difference))
    none = ["No test is better or worse; that is not the same as no difference."]
    lines = pd.DataFrame(lines, columns=["", "what", "before → after", "difference (95 %)"])
    return Table.of_first(title, lines, len(rows), notes or ([] if len(lines) else none))


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
