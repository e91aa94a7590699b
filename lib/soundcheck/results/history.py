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

import numpy as np
import pandas as pd

from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results import worse
from soundcheck.results.contrast import BETTER, CONTRAST_TYPES, WORSE, Contrast, compared_alone, with_outcomes
from soundcheck.results.judged import Judged
from soundcheck.results.past_runs import PastRun, PastRuns
from soundcheck.results.record import RunRecord
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
class History:
    """Runs, their points (columns :data:`COLUMNS`), and those that share no test with the others."""

    past: PastRuns
    points: pd.DataFrame
    apart: Sequence[PastRun] = ()


def history_of(past: PastRuns, models: Sequence[str] = ()) -> History:
    """Put runs together, of these models alone if any are named; without runs that share no test.

    Raises an ``InputError`` if no run has a model that is asked for.
    """
    names = models_of(past.runs, models)
    tests = []
    for run, tested in zip(past.runs, names, strict=True):
        keys = (key for key, row in run.finished.verdicts.items() if row.value is not None)
        tests.append({(tested[key[0]], *key[1:]) for key in keys if key[0] in tested})
    apart = [
        run
        for n, (run, tested) in enumerate(zip(past.runs, tests, strict=True))
        if tested and tested.isdisjoint(set().union(*tests[:n], *tests[n + 1 :]))
    ]
    runs = [run for run in past.runs if run not in apart]
    return History(dataclasses.replace(past, runs=runs), points(runs, models_of(runs, models)), apart)


def models_of(runs: Sequence[PastRun], wanted: Sequence[str] = ()) -> list[dict[str, str]]:
    """Give for each run: name of a model in it -> its name in the history.

    Models of the same name are one. If every run has a single model and no two of them share its name, these
    are one, too, under its last name. Random references are left out unless they are asked for.
    """
    known = sorted({str(name) for run in runs for name in run.finished.frame["model"]})
    for name in wanted if runs else ():
        if name not in known:
            raise input_error(f"--model {quoted(name)}", "no run has such a model", did_you_mean(name, known))
    models = [list(wanted) or run.tested for run in runs]
    single = [names[0] for names in models if len(names) == 1]
    if single and len(single) == len(runs) == len(set(single)):
        return [{name: single[-1]} for name in single]
    return [{name: name for name in names} for names in models]


def matters(runs: Sequence[PastRun]) -> float:
    """Give the size up to which differences are not marked: that of the last run that says so."""
    known = [run.finished.record.matters_worse for run in runs if run.finished.record]
    return known[-1] if known else RunRecord.matters_worse


def points(runs: Sequence[PastRun], models: Sequence[dict[str, str]]) -> pd.DataFrame:
    """Put the values of all runs one after the other, by test, and mark what changed.

    ``models`` is that of :func:`models_of`. Missing numbers are NaN, missing truths ``None``.
    """
    rows: list[dict] = []
    contrasts: list[tuple[dict, Contrast]] = []
    last: dict[tuple[str, ...], tuple[int, Judged]] = {}
    for position, (run, names) in enumerate(zip(runs, models, strict=True), start=1):
        about = {"position": position, "run": run.digest, "date": run.date, "soundcheck": run.soundcheck}
        versions = {corpus: run.data_version([corpus]) for corpus in run.finished.frame["corpus"].unique()}
        pairs: dict[int, _Pair] = {}
        judged = dataclasses.replace(run.finished).judged  # what it remembers goes with it
        for key, verdict in run.finished.verdicts.items():
            if verdict.model not in names:
                continue
            row = about | {name: getattr(verdict, name) for name in _VALUES}
            row |= {"model": names[verdict.model], "model_version": run.model_version(verdict.model)}
            rows.append(row | {"data_version": versions[verdict.corpus]})
            if verdict.value is None:
                rows[-1]["reason"] = verdict.skipped
                continue
            entry = dataclasses.replace(judged.get(key) or Judged(verdict, np.empty(0)), verdict=verdict)
            test = (names[verdict.model], *key[1:])
            before, earlier = last.get(test, (0, None))
            last[test] = position, entry
            if earlier is None:
                continue
            if before not in pairs:
                pairs[before] = _Pair(runs[before - 1], run)
            pair = pairs[before]
            compared, same_draws, step = pair.step(earlier, entry, gap=before != position - 1)
            rows[-1] |= step | {"against": before if compared else 0}
            if compared:
                kinds = pair.before.finished.interval, run.finished.interval
                contrasts.append((rows[-1], compared_alone(earlier, entry, same_draws, kinds=kinds)))
    decided = with_outcomes([contrast for _, contrast in contrasts], matters(runs))
    for (row, _), contrast in zip(contrasts, decided, strict=True):
        row |= {column: getattr(contrast, name) for name, column in _DIFFERENCE.items()}
    columns = {name: [row.get(name, _EMPTY.get(kind)) for row in rows] for name, kind in TYPES.items()}
    return frame_of(TYPES, columns).sort_values([*KEY, "position"], kind="stable", ignore_index=True)


class _Pair:
    """An earlier and a later run: in what they differ, for each of their tests."""

    def __init__(self, before: PastRun, after: PastRun) -> None:
        self.before, self.after = before, after
        records = before.finished.record, after.finished.record
        self._known = None not in records
        self._unlike = worse.unlike(records[1], records[0]) if self._known else {}
        self._same_seed = self._known and records[0].seed == records[1].seed

    def step(self, earlier: Judged, later: Judged, *, gap: bool) -> tuple[bool, bool, dict[str, str]]:
        """Say whether two values may be compared, and with the same draws; and cells of a row."""
        one, other, both = earlier.verdict, later.verdict, (self.before, self.after)
        measures, data = self._measures(one, other), [self._unlike.get(("corpus", other.corpus), "")]
        labels = [run.tables.get(other.corpus, "") for run in both]
        data.append("other labels" if _differ(*labels) else "")
        if one.segments != other.segments:
            data.append(f"other segments ({one.segments} then, {other.segments} now)")
        elif _differ(earlier.segments, later.segments):
            data.append(f"other segments ({other.segments} both times)")
        further = [] if self._known else ["no record of the data"]
        if (one.threshold, one.rule) != (other.threshold, other.rule):
            further.append(f"another threshold ({_limit(one)} then, {_limit(other)} now)")
        apart = list(filter(None, [*measures, *data, *further]))
        models = self.after.finished.models.get(other.model), self.before.finished.models.get(one.model)
        model = "" if None in models else worse.changed_model(*models)
        changed = {
            "model": bool(model),
            "data": _differ(*(run.data_version([other.corpus]) for run in both)),
            "Soundcheck": _differ(*(run.soundcheck for run in both)),
            "seed": self._known and not self._same_seed,
        }
        cells = {
            "changed": "; ".join(name for name, is_so in changed.items() if is_so),
            "joined": "" if apart else NEW_MODEL if model else GAP if gap else JOINED,
            "reason": "; ".join([*apart, *([f"another model ({model})"] if model else [])]),
        }
        return not any(measures), self._same_seed and not any(data), cells

    def _measures(self, one: Verdict, other: Verdict) -> list[str]:
        """Say why two values do not measure the same thing."""
        kinds = [("family", other.family), ("task", other.task)]
        kinds += [("setting", "normaliser")] * (other.task == "transcript")
        kinds += [key for key in self._unlike if key[0] == "sounds" and other.category == ROBUSTNESS]
        reasons = [self._unlike.get(kind, "") for kind in kinds]
        if of_gap(one.rule) != of_gap(other.rule):
            reasons.append(f"another rule ({one.rule or 'none'} then, {other.rule or 'none'} now)")
        return reasons


def _differ(one: str, other: str) -> bool:
    return bool(one and other and one != other)


def _limit(verdict: Verdict) -> str:
    return "none" if verdict.threshold is None else f"{verdict.rule} {verdict.threshold:g}"


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the points that are better or worse, what became worse first, then the surest."""
    rows = frame[frame["mark"].isin([BETTER, WORSE])].sort_values("adjusted_p_value", kind="stable")
    return rows.sort_values("mark", ascending=False, kind="stable")
