"""A model against its last release: what got worse or better since an earlier run, by the rule of the gate.

Where no earlier run is named, the comparisons of the suite that have the model as candidate say it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pandas as pd

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.verdict_lines import plain
from soundcheck.report.failures import subject
from soundcheck.report.formats import significant
from soundcheck.results import worse
from soundcheck.results.compared import read_comparison
from soundcheck.results.conclusion import conclusion
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.finished_run import FinishedRun

NOTHING = (
    "There is nothing to compare with: name an earlier run with --baseline, or a comparison in the suite."
)
MOST_COMPARISONS = 3


@dataclasses.dataclass(frozen=True)
class Change:
    """A test that got better or worse: what it is about, both values and the difference with its interval."""

    outcome: str
    what: str
    before: str
    after: str
    difference: str


@dataclasses.dataclass(frozen=True)
class Against:
    """What became of a model: sentences, and the tests that changed, worse ones and larger changes first."""

    told: tuple[str, ...]
    changes: tuple[Change, ...] = ()


def against(facts: ModelFacts, baseline: FinishedRun | None = None) -> Against:
    """Compare a model with an earlier run, or with the baselines that the suite names for it.

    Parameters
    ----------
    facts
        Facts of the model.
    baseline
        An earlier run, see :func:`soundcheck.results.finished_run.read_baseline`.

    Raises
    ------
    InputError
        If the earlier run has no judged test in common with the model, or ``comparisons.csv`` was edited.
    """
    if baseline is not None:
        return _since(facts, baseline)
    entries = [one for one in facts.record.comparisons if one.candidate == facts.model.name]
    if not entries:
        return Against((NOTHING,))
    told, changes = [], []
    for entry in entries[:MOST_COMPARISONS]:
        if entry.failed:
            told.append(f"The comparison with {plain(entry.baseline)} failed to run.")
            continue
        frame = read_comparison(facts.run, entry)
        told.append(plain(conclusion(frame), 600))
        changes = changes or changes_of(frame)
    if len(entries) > MOST_COMPARISONS:
        told.append(f"{len(entries) - MOST_COMPARISONS} more comparisons are in comparisons.csv.")
    return Against(tuple(told), tuple(changes))


def changes_of(frame: pd.DataFrame) -> list[Change]:
    """List the tests of a comparison that are worse, then those that are better, the surest first."""
    changes = []
    for outcome in (WORSE, BETTER):
        rows = frame[frame["outcome"].eq(outcome)].sort_values("p_value", kind="stable")
        changes += [
            Change(
                outcome,
                plain(subject(row)),
                significant(row.baseline_value),
                significant(row.candidate_value),
                f"{significant(row.difference)} ({significant(row.low)} to {significant(row.high)})",
            )
            for row in rows.itertuples()
        ]
    return changes


def _since(facts: ModelFacts, baseline: FinishedRun) -> Against:
    now = dataclasses.replace(facts.run, frame=facts.run.frame[facts.run.frame["model"].eq(facts.model.name)])
    found = worse.changes(now, baseline)
    where = "--baseline"
    if found.empty:
        models = ", ".join(quoted(name) for name in list(dict.fromkeys(baseline.frame["model"]))[:20])
        what = f"it has no judged test in common with {quoted(facts.model.name)}: its models are {models}"
        raise input_error(where, what, "Name an earlier run of the suite, with a model of the same name")
    matters = facts.record.matters_worse
    (lost,), (won,) = worse.got_worse([found], matters), worse.got_better([found], matters)
    unknown = int(found["p_value"].isna().sum())
    tested, paired = len(found) - unknown, int((found["p_value"].notna() & found["paired"]).sum())
    earlier = _called(baseline)
    told = [
        f"Against {earlier}, {plain(facts.model.name)} is worse on {int(lost.sum())} and better on "
        f"{int(won.sum())} of {counted(tested, 'test')} ({paired} paired) by more than {matters:g}; on the "
        "others no such change was found, which is not the same as none."
    ]
    if unknown:
        told.append(f"{counted(unknown, 'test')} could not be compared for want of speakers or intervals.")
    told += [f"The earlier run differs: {plain(what, 200)}." for what in worse.differences(now, baseline)]
    changes = [*_rows(now.frame, found[lost], WORSE), *_rows(now.frame, found[won], BETTER)]
    return Against(tuple(told), tuple(changes))


def _called(run: FinishedRun) -> str:
    """Name an earlier run without the folder that it lies in."""
    if run.record is None:
        return "the earlier results"
    return f"run {run.record.run} of {plain(run.record.title or 'an earlier suite')}"


def _rows(frame: pd.DataFrame, found: pd.DataFrame, outcome: str) -> Sequence[Change]:
    ordered = found.sort_values("p_value", ascending=outcome == WORSE, kind="stable")
    named = frame.loc[ordered.index]
    return [
        Change(
            outcome,
            plain(subject(row)),
            significant(one.before),
            significant(one.after),
            significant(one.after - one.before),
        )
        for row, one in zip(named.itertuples(), ordered.itertuples(), strict=True)
    ]
