"""Runs one after the other: what became better or worse, and what may be joined by a line.

Each value is compared with the one before it, of the last run that has one, as :mod:`contrast` compares
models; among all these differences the false discovery rate is kept at 5 %, so that a history in which
nothing changed marks anything in at most 5 of 100 cases.

- *Not compared* is what does not measure the same thing: another rule, threshold file, noises, definition of
  the task, or normaliser of transcripts.
- *Compared, not joined* is the same measure of other segments, sounds or labels (*unpaired* then), with
  another threshold, or of a table without a record.
- To another model, whose code, options or files changed, the line breaks, and the reason says so.
- Differences up to what matters (``matters_worse`` of the last run's suite) are not marked.

A pipeline tests a model again and again, and asks what got worse since an earlier run (:func:`changes`). Each
test of both runs gets a one-sided p-value for the value having moved towards failing: *paired* where both
have replicates on the same segments and blocks, so that speakers that are hard for both cancel, else
*unpaired*, from the standard errors of both values.

- What is compared is what the rule of the new run judges: the value, or the gap of a group, further from 0 is
  *worse* under the rules of absolute values. Changes that are smaller than what matters count as p = 1.
- Of a gap no replicates are kept. Those of the value are scaled to its interval: a group differs from all
  others as it differs from all, by a factor.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import input_error, quoted, refuse_unknown, some
from soundcheck.results.contrast import BETTER, CONTRAST_TYPES, WORSE, Contrast, compared_alone, with_outcomes
from soundcheck.results.finished_run import FinishedRun, PastRuns
from soundcheck.results.record import NO_RECORD, ModelRecord, RunRecord
from soundcheck.results.rows import KEY, Judged, Verdict
from soundcheck.results.states import FALSE_DISCOVERY_RATE, ROBUSTNESS
from soundcheck.results.table import frame_of, frame_of_rows, schema_of
from soundcheck.statistics.evidence import adjusted_p_values
from soundcheck.statistics.rules import ABOVE, GAP_RULES, of_gap

JOINED, GAP, NEW_MODEL = "joined", "across a gap", "to another model"
# Column of a contrast -> of history.csv; adjusted among all comparisons of the history.
_DIFFERENCE = {"outcome": "mark", "difference": "difference"}
_DIFFERENCE |= {"low": "difference_low", "high": "difference_high"}
_DIFFERENCE |= {name: name for name in ("p_value", "adjusted_p_value", "pairing")}
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
    # A model that only a run apart has is not unknown.
    known = points(runs, models_of(runs, () if apart else models))
    return History(runs, past.doubled, past.problems, points=known, apart=apart)


def models_of(runs: Sequence[FinishedRun], wanted: Sequence[str] = ()) -> list[dict[str, str]]:
    """Give for each run: name of a model in it -> its name in the history.

    Models of the same name are one. If every run has a single model and no two of them share its name, these
    are one, too, under its last name. Random references are left out unless they are asked for.
    """
    tested = [run.frame["model"].unique().tolist() for run in runs]
    known = sorted({name for names in tested for name in names})
    places = ((f"--model {quoted(name)}", name, known) for name in wanted if runs)
    refuse_unknown(places, "no run has such a model")
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
        differing = [unlike(run.record, before.record) for before in runs[: position - 1]]
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
            if compared and not verdict.mirrors:  # two groups are one test
                kinds = tuple(each.record.interval for each in both)
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

    ``unlike`` is in what the runs differ, from :func:`unlike`.
    """
    (old, new), recorded = (entry.verdict for entry in entries), all(run.recorded for run in runs)
    kinds = [("family", new.family), ("task", new.task)]
    kinds += [("setting", "normaliser")] * (new.task == "transcript")
    kinds += [key for key in unlike if key[0] == "sounds" and new.category == ROBUSTNESS]
    measures = [unlike[kind] for kind in kinds if recorded and kind in unlike]
    if of_gap(old.rule) != of_gap(new.rule):
        measures.append(f"another rule ({old.rule or 'none'} then, {new.rule or 'none'} now)")
    data = [unlike.get(("corpus", new.corpus), "")]
    data.append("other labels" if _differ(*(run.labels.get(new.corpus, "") for run in runs)) else "")
    if old.segments != new.segments:
        data.append(f"other segments ({old.segments} then, {new.segments} now)")
    elif _differ(*(entry.segments for entry in entries)):
        data.append(f"other segments ({new.segments} both times)")
    further = [] if recorded else ["no record of the data"]
    if (old.threshold, old.rule) != (new.threshold, new.rule):
        further.append(f"another threshold ({_limit(old)} then, {_limit(new)} now)")
    apart = list(filter(None, [*measures, *data, *further]))
    models = runs[1].models.get(new.model), runs[0].models.get(old.model)
    model = "" if None in models else changed_model(*models)
    same_seed = recorded and runs[0].record.seed == runs[1].record.seed
    changed = {
        "model": bool(model),
        "data": _differ(*(run.data_version([new.corpus]) for run in runs)),
        "Soundcheck": _differ(*(run.record.version for run in runs)),
        "seed": recorded and not same_seed,
    }
    cells = {
        "changed": "; ".join(name for name, is_so in changed.items() if is_so),
        "joined": "" if apart else NEW_MODEL if model else JOINED,
        "reason": "; ".join([*apart, *([f"another model ({model})"] if model else [])]),
    }
    return not measures, same_seed and not any(data), cells


def _differ(old: str, new: str) -> bool:
    return bool(old and new and old != new)


def _limit(verdict: Verdict) -> str:
    return "none" if verdict.threshold is None else f"{verdict.rule} {verdict.threshold:g}"


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the points that are better or worse, what became worse first, then the surest."""
    rows = frame[frame["mark"].isin([BETTER, WORSE])].sort_values("adjusted_p_value", kind="stable")
    return rows.sort_values("mark", ascending=False, kind="stable")


# Two runs

_SETTINGS = {name: name for name in ("version", "title", "seed", "interval", "normaliser")}
_SETTINGS |= {"version": "Soundcheck", "interval": "kind of interval"}


def changes(now: FinishedRun, before: FinishedRun) -> pd.DataFrame:
    """Compare the tests that both runs judged: contrasts, a row a test with the index of ``now.frame``.

    They have no p-value with fewer than 5 blocks or without intervals. Refused if there are none.
    """
    kinds, same_seed = (before.record.interval, now.record.interval), before.record.seed == now.record.seed
    rows = {}
    for place, (key, entry) in zip(now.frame.index, now.judged.items(), strict=True):
        entries, rule = [before.judged.get(key), entry], entry.verdict.rule
        if entry.verdict.mirrors or any(each is None or each.verdict.passed is None for each in entries):
            continue
        first, second = (_judged_by(rule, each) for each in entries)
        if None not in (first.verdict.value, second.verdict.value):
            paired = same_seed and first.segments == second.segments and first.blocks != ""
            paired &= first.drawn and second.drawn and len(first.replicates) == len(second.replicates)
            rows[place] = compared_alone(first, second, paired, kinds=kinds)
    if not rows:
        models = [", ".join(sorted(set(run.frame["model"]))) for run in (before, now)]
        reasons = [f"its models are {models[0]}, those judged here {models[1]}", *differences(now, before)]
        what = f"it has no judged test in common with the results: {'; '.join(reasons)}"
        raise input_error(f"--baseline {before.path}", what, "Name a run of the suite")
    index = pd.Index([*rows], dtype=now.frame.index.dtype)
    return frame_of_rows(CONTRAST_TYPES, rows.values()).set_axis(index)


def _judged_by(rule: str, entry: Judged) -> Judged:
    """Give a test with what a rule judges of it as its value: the value, or the gap of a group."""
    row, replicates = entry.verdict, entry.replicates
    if rule not in GAP_RULES:
        return dataclasses.replace(entry, verdict=dataclasses.replace(row, rule=rule))
    gap = dataclasses.replace(row, rule=rule, value=row.gap, low=row.gap_low, high=row.gap_high)
    if entry.drawn and None not in (row.low, row.gap_low):
        widths = row.high - row.low, row.gap_high - row.gap_low
        replicates = replicates * (widths[1] / widths[0]) if min(widths) > 0 else np.empty(0)
    return dataclasses.replace(entry, verdict=gap, replicates=replicates)


def decided_changes(compared: Sequence[pd.DataFrame], matters: float) -> list[pd.DataFrame]:
    """Decide what got worse and what better, among all comparisons (:func:`changes`) of a pipeline together.

    Changes up to the size ``matters`` do not count. A column more says by how much a row is ``worse``
    (negative: better), and its ``p_value`` becomes the one-sided one of that.
    """
    rows = pd.concat(compared, keys=range(len(compared)))
    size = rows["difference"].where(rows["rule"].ne(ABOVE), -rows["difference"])
    p_values = (rows["p_value"] / 2).where(size > 0, 1 - rows["p_value"] / 2)
    rows = rows.assign(worse=size, p_value=p_values)
    for outcome, sign in ((WORSE, 1), (BETTER, -1)):
        tested = (p_values if outcome == WORSE else 1 - p_values).dropna()
        tested = tested.where(sign * size > matters, 1.0)
        significant = pd.Series(adjusted_p_values(tested.to_numpy()), tested.index) <= FALSE_DISCOVERY_RATE
        rows["outcome"] = rows["outcome"].mask(significant.reindex(rows.index, fill_value=False), outcome)
    return [rows[rows.index.get_level_values(0) == n].droplevel(0) for n in range(len(compared))]


def differences(now: FinishedRun, before: FinishedRun) -> list[str]:
    """Say in what two runs differ that may move values without any change of the model."""
    if not (before.recorded and now.recorded):
        which = "later" if before.recorded else "earlier"
        return [f"the {which} one has no run.json, so nobody knows whether both are of one suite"]
    changed = unlike(now.record, before.record)
    lines = [what for (kind, _), what in changed.items() if kind == "setting"]
    for name in sorted(now.models.keys() & before.models.keys()):
        if reason := changed_model(now.models[name], before.models[name]):
            lines.append(f"model {name} is another one ({reason})")
    for part, kind in (("corpora", "corpus"), ("families", "family")):
        lines += [f"{kind} {name}: {what}" for (of, name), what in changed.items() if of == kind]
        names_now, names_then = ({entry.name for entry in getattr(run.record, part)} for run in (now, before))
        for names, when in ((names_then - names_now, "then"), (names_now - names_then, "now")):
            lines += [f"{kind} {', '.join(sorted(names))} {when} only"] if names else []
    further = ((key, what) for key, what in changed.items() if key[0] in ("task", "sounds"))
    return lines + [f"{kind} {name}: {what}" for (kind, name), what in further]


def changed_model(now: ModelRecord, before: ModelRecord) -> str:
    """Say what made a model another one; else empty."""
    if names := sorted({name for name, _ in now.seen_files.items() ^ before.seen_files.items()}):
        return f"other content of {some(names, 3)}"
    same = (now.code or now.fingerprint) == (before.code or before.fingerprint)
    return "" if same else "other code, options or files"


def unlike(now: RunRecord, before: RunRecord) -> dict[tuple[str, str], str]:
    """Give what both runs recorded and what is not the same: kind and name -> in what it differs.

    Kinds are ``setting``, ``task``, ``corpus``, ``family`` and ``sounds``; for models see
    :func:`changed_model`.
    """
    both, changed = (before, now), {}
    for key, name in _SETTINGS.items():
        old, new = (run.suite.get(key) if key == "normaliser" else getattr(run, key) for run in both)
        if old != new:
            changed["setting", name] = f"{name} {old} then, {new} now"
    parts = {
        ("task", "another definition of the task"): [run.suite.get("tasks") or {} for run in both],
        ("corpus", "other sounds"): [{corpus.name: corpus.digest for corpus in run.corpora} for run in both],
        ("family", "another threshold file"): [{f.name: f.digest for f in run.families} for run in both],
        ("sounds", "other noises or rooms"): [{s.kind: s.digest for s in run.sounds} for run in both],
    }
    for (kind, what), (old, new) in parts.items():
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                changed[kind, name] = f"{what} ({name})" if kind == "sounds" else what
    return changed
