"""The history of runs: values one after the other, what became better or worse, what may be joined by a line.

Each value is compared with the one before it, of the last run that has one, as :mod:`contrast` compares
models; among all these differences the false discovery rate is kept at 5 %, so that a history in which
nothing changed marks anything in at most 5 of 100 cases.

- *Not compared* is what does not measure the same thing: another rule, threshold file, noises, definition of
  the task, or normaliser of transcripts.
- *Compared, not joined* is the same measure of other segments, sounds or labels (*unpaired* then), with
  another threshold, or of a table without a record.
- To another model, whose code, options or files changed, the line breaks, and the reason says so.
- Differences up to what matters (``matters_worse`` of the last run's suite) are not marked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pandas as pd

from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results import worse
from soundcheck.results.contrast import BETTER, CONTRAST_TYPES, WORSE, Contrast, compared_alone, with_outcomes
from soundcheck.results.finished_run import FinishedRun, PastRuns
from soundcheck.results.judged import Judged
from soundcheck.results.record import NO_RECORD
from soundcheck.results.schema import frame_of, schema_of
from soundcheck.results.states import ROBUSTNESS
from soundcheck.results.verdict import KEY, Verdict
from soundcheck.statistics.rules import of_gap

JOINED, GAP, NEW_MODEL = "joined", "across a gap", "to another model"
_DIFFERENCE = {  # column of a contrast -> of history.csv; adjusted among all comparisons of the history
    "outcome": "mark",
    "difference": "difference",
    "low": "difference_low",
    "high": "difference_high",
    "p_value": "p_value",
    "adjusted_p_value": "adjusted_p_value",
    "pairing": "pairing",
}
_VALUES = (
    *("model", "corpus", "family", "category", "task", "test", "group", "label", "value", "low", "high"),
    *("segments", "blocks", "rule", "threshold", "passed"),
)
# ``against``: position of the value before (0: none); ``changed``: what else is not the same; ``joined``:
# whether a line leads here; ``reason``: why none does, or why there is no value.
COLUMNS = [
    *("position", "run", "date", "soundcheck", "model_version", "data_version"),
    *(*_VALUES, "mark", "against"),
    *list(_DIFFERENCE.values())[1:],
    *("changed", "joined", "reason"),
]
_KNOWN = schema_of(Verdict) | CONTRAST_TYPES | {"position": "int", "against": "int"}
_KNOWN |= {column: CONTRAST_TYPES[name] for name, column in _DIFFERENCE.items()}
TYPES = {name: _KNOWN.get(name, "str") for name in COLUMNS}
_EMPTY = {"str": "", "int": 0}


@dataclasses.dataclass(frozen=True)
class History(PastRuns):
    """Runs, their points (columns :data:`COLUMNS`), and those that share no test with the others."""

    points: pd.DataFrame = dataclasses.field(kw_only=True)
    apart: Sequence[FinishedRun] = ()


def history_of(past: PastRuns, models: Sequence[str] = ()) -> History:
    """Put runs together, of these models alone if any are named; without runs that share no test.

    Raises an ``InputError`` if no run has a model that is asked for.
    """
    tests = []
    for run, names in zip(past.runs, models_of(past.runs, models), strict=True):
        rows = run.frame[run.frame["value"].notna() & run.frame["model"].isin(names)]
        rows = rows[list(KEY)].assign(model=rows["model"].map(names))
        tests.append(set(rows.itertuples(index=False, name=None)))
    apart = [
        run
        for n, (run, tested) in enumerate(zip(past.runs, tests, strict=True))
        if tested and tested.isdisjoint(set().union(*tests[:n], *tests[n + 1 :]))
    ]
    runs = [run for run in past.runs if run not in apart]
    known = points(runs, models_of(runs, models))
    return History(runs, past.doubled, past.problems, points=known, apart=apart)


def models_of(runs: Sequence[FinishedRun], wanted: Sequence[str] = ()) -> list[dict[str, str]]:
    """Give for each run: name of a model in it -> its name in the history.

    Models of the same name are one. If every run has a single model and no two of them share its name, these
    are one, too, under its last name. Random references are left out unless they are asked for.
    """
    tested = [run.frame["model"].unique().tolist() for run in runs]
    known = sorted({name for names in tested for name in names})
    for name in wanted if runs else ():
        if name not in known:
            raise input_error(f"--model {quoted(name)}", "no run has such a model", did_you_mean(name, known))
    models = [
        list(wanted) or [name for name in names if name not in run.record.references]
        for run, names in zip(runs, tested, strict=True)
    ]
    single = [names[0] for names in models if len(names) == 1]
    if single and len(single) == len(runs) == len(set(single)):
        return [{name: single[-1]} for name in single]
    return [{name: name for name in names} for names in models]


def matters(runs: Sequence[FinishedRun]) -> float:
    """Give the size up to which differences are not marked: that of the last run that says so."""
    return next((run.record for run in reversed(runs) if run.recorded), NO_RECORD).matters_worse


def points(runs: Sequence[FinishedRun], models: Sequence[dict[str, str]]) -> pd.DataFrame:
    """Put the values of all runs one after the other, by test, and mark what changed.

    ``models`` is that of :func:`models_of`. Missing numbers are NaN, missing truths ``None``.
    """
    rows: list[dict] = []
    contrasts: list[tuple[dict, Contrast]] = []
    last: dict[tuple[str, ...], tuple[int, Judged]] = {}
    for position, (run, names) in enumerate(zip(runs, models, strict=True), start=1):
        about = {"position": position, "run": run.digest, "date": run.date, "soundcheck": run.record.version}
        versions = {corpus: run.data_version([corpus]) for corpus in run.frame["corpus"].unique()}
        differing = [worse.unlike(run.record, before.record) for before in runs[: position - 1]]
        for key, entry in dataclasses.replace(run).judged.items():  # what it remembers goes with it
            verdict = entry.verdict
            if verdict.model not in names:
                continue
            row = about | {name: getattr(verdict, name) for name in _VALUES}
            row |= {"model": names[verdict.model], "model_version": run.model_version(verdict.model)}
            row["data_version"] = versions[verdict.corpus]
            rows.append(row)
            if verdict.value is None:
                row["reason"] = verdict.skipped
                continue
            test = (row["model"], *key[1:])
            before, earlier = last.get(test, (0, None))
            last[test] = position, entry
            if earlier is None:
                continue
            both = runs[before - 1], run
            compared, same_draws, step = _step(both, (earlier, entry), differing[before - 1])
            if step["joined"] == JOINED and before != position - 1:
                step["joined"] = GAP
            row |= step | {"against": before if compared else 0}
            if compared:
                kinds = tuple(one.record.interval for one in both)
                contrasts.append((row, compared_alone(earlier, entry, same_draws, kinds=kinds)))
    decided = with_outcomes([contrast for _, contrast in contrasts], matters(runs))
    for (row, _), contrast in zip(contrasts, decided, strict=True):
        row |= {column: getattr(contrast, name) for name, column in _DIFFERENCE.items()}
    columns = {name: [row.get(name, _EMPTY.get(kind)) for row in rows] for name, kind in TYPES.items()}
    return frame_of(TYPES, columns).sort_values([*KEY, "position"], kind="stable", ignore_index=True)


def _step(
    runs: tuple[FinishedRun, FinishedRun], entries: tuple[Judged, Judged], unlike: dict[tuple[str, str], str]
) -> tuple[bool, bool, dict[str, str]]:
    """Say whether an earlier and a later value may be compared, and with the same draws; and cells of a row.

    ``unlike`` is in what the runs differ, from :func:`worse.unlike`.
    """
    (one, other), recorded = (entry.verdict for entry in entries), all(run.recorded for run in runs)
    kinds = [("family", other.family), ("task", other.task)]
    kinds += [("setting", "normaliser")] * (other.task == "transcript")
    kinds += [key for key in unlike if key[0] == "sounds" and other.category == ROBUSTNESS]
    measures = [unlike[kind] for kind in kinds if recorded and kind in unlike]
    if of_gap(one.rule) != of_gap(other.rule):
        measures.append(f"another rule ({one.rule or 'none'} then, {other.rule or 'none'} now)")
    data = [unlike.get(("corpus", other.corpus), "")]
    data.append("other labels" if _differ(*(run.labels.get(other.corpus, "") for run in runs)) else "")
    if one.segments != other.segments:
        data.append(f"other segments ({one.segments} then, {other.segments} now)")
    elif _differ(*(entry.segments for entry in entries)):
        data.append(f"other segments ({other.segments} both times)")
    further = [] if recorded else ["no record of the data"]
    if (one.threshold, one.rule) != (other.threshold, other.rule):
        further.append(f"another threshold ({_limit(one)} then, {_limit(other)} now)")
    apart = list(filter(None, [*measures, *data, *further]))
    models = runs[1].models.get(other.model), runs[0].models.get(one.model)
    model = "" if None in models else worse.changed_model(*models)
    same_seed = recorded and runs[0].record.seed == runs[1].record.seed
    changed = {
        "model": bool(model),
        "data": _differ(*(run.data_version([other.corpus]) for run in runs)),
        "Soundcheck": _differ(*(run.record.version for run in runs)),
        "seed": recorded and not same_seed,
    }
    cells = {
        "changed": "; ".join(name for name, is_so in changed.items() if is_so),
        "joined": "" if apart else NEW_MODEL if model else JOINED,
        "reason": "; ".join([*apart, *([f"another model ({model})"] if model else [])]),
    }
    return not measures, same_seed and not any(data), cells


def _differ(one: str, other: str) -> bool:
    return bool(one and other and one != other)


def _limit(verdict: Verdict) -> str:
    return "none" if verdict.threshold is None else f"{verdict.rule} {verdict.threshold:g}"


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the points that are better or worse, what became worse first, then the surest."""
    rows = frame[frame["mark"].isin([BETTER, WORSE])].sort_values("adjusted_p_value", kind="stable")
    return rows.sort_values("mark", ascending=False, kind="stable")
