"""What a model says of its own answers, beside what is true: for classes confidences, for values intervals.

A subset of this module has tables in the place of predictions, one row a segment::

    for subset in stated_subsets(evaluation):
        confidence, correct = judged_by(subset.predictions.clean)

Conventions
-----------
- Tables of classes have the columns ``confidence``, ``correct`` (1 or 0), then the probability of each class;
  those of values ``low`` and ``high``, scaled to 0..1 as labels are. NaN where the model says or answers
  nothing.
- The confidence is the one that the model gives, else the probability of the class that it names.
- The reference has heard nothing: it gives the shares of the classes in the corpus as probabilities and names
  the most frequent one, and the same interval for every value, between quantiles of the labels. It is
  calibrated, and useless.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.models.stated import BOUNDS, CONFIDENCE
from soundcheck.statistics.evidence import LEAST_BLOCKS

NOTHING_SAID = "the model says nothing of how sure its answers are"
NO_SWEEPS = "the suite leaves out changes from mild to severe"
NO_CHANGES = "a table of predictions cannot answer for changed signals"
ONLY_CONFIDENCE = "the model gives a confidence, and no probabilities of all classes"


def judged_by(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the confidences and what is correct, float64 ``(segments,)`` each, of a table of classes."""
    return table[:, 0], table[:, 1]


def probabilities_of(table: np.ndarray) -> np.ndarray:
    """Give the probabilities of a table of classes, float64 ``(segments, classes)``."""
    return table[:, 2:]


def has_probabilities(subset: Subset) -> bool:
    """Say whether the model gives probabilities of classes for any segment."""
    return bool((~np.isnan(probabilities_of(subset.predictions.clean))).any())


def stated_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the subsets of all corpora and tasks for which the model says how sure it is.

    Tests of the others are skipped, and so are those that need probabilities where there is only a
    confidence.
    """
    found = []
    for subset in evaluation.subsets():
        stated = _stated(evaluation, subset)
        if np.isnan(stated.predictions.clean[:, 0]).all():
            evaluation.skip(subset, NOTHING_SAID)
            continue
        found.append(stated)
        for remark in _remarks(subset, stated):
            evaluation.note(f"{subset.corpus}, {subset.task.name}: {remark}")
        reason = _unchanged(evaluation)
        if reason:
            test = "Interval Coverage Change" if subset.task.is_regression else "Overconfidence Change"
            evaluation.skip(subset, reason, test)
        if not subset.task.is_regression and not has_probabilities(stated):
            evaluation.skip(subset, ONLY_CONFIDENCE, "Brier Skill")
    return found


def _remarks(subset: Subset, stated: Subset) -> Iterator[str]:
    """Say of how many answers nothing is said, and how many contradict what is said of them."""
    answers, table = subset.predictions.clean, stated.predictions.clean
    of_values = subset.task.is_regression
    answered = ~np.isnan(answers) if of_values else np.array([one is not None for one in answers])
    silent = answered & np.isnan(table[:, 0])
    count, what = f"of {answered.sum()} answers", "an interval" if of_values else "how sure the model is"
    if silent.any():
        yield f"{silent.sum()} {count} come without {what}: they are left out, as if they were missing"
    if of_values:
        odd = np.flatnonzero((answers < table[:, 0]) | (answers > table[:, 1]))
        what = "lie outside their own interval"
    else:
        likeliest, classes = probabilities_of(table), np.array(subset.task.classes, dtype=object)
        named = np.where(answers[:, None] == classes, likeliest, -np.inf).max(axis=1)
        odd = np.flatnonzero(answered & (named < likeliest.max(axis=1)))
        what = "name another class than the likeliest one"
    if len(odd):
        yield f"{len(odd)} {count} {what}"


def stated_sweeps(evaluation: Evaluation) -> Iterator[tuple[str, str, dict[str, Subset]]]:
    """Give name and axis of each series of changes, and a subset a step, clean first, a corpus and task."""
    if _unchanged(evaluation):
        return
    for series in evaluation.family.sweeps.values():
        identities = {name: change.identity for name, change in series.steps.items()}
        for steps in evaluation.swept(series):
            stated = {
                name: _stated(evaluation, subset, identities.get(name, "")) for name, subset in steps.items()
            }
            if not np.isnan(next(iter(stated.values())).predictions.clean[:, 0]).all():
                yield series.name, series.axis, stated


def _unchanged(evaluation: Evaluation) -> str:
    """Say why nothing is heard under changes; empty if it is."""
    if not evaluation.family.sweeps:
        return NO_SWEEPS
    return "" if evaluation.predicts_changes else NO_CHANGES


def groups_of(evaluation: Evaluation, subset: Subset, column: str, noun: str = "segments") -> list[str]:
    """List the groups of a column that are large enough to be compared; notes name the others.

    ``noun`` says what the rows are.
    """
    least = evaluation.family.options["minimum_segments"]
    found = []
    for group, own in subset.segments.groupby(column, observed=True):
        blocks = len(np.unique(subset.blocks[own.index]))
        if len(own) >= least and blocks >= LEAST_BLOCKS:
            found.append(str(group))
            continue
        evaluation.note(
            f"{subset.corpus}, {column}: {group} is not compared: it has {len(own)} {noun} in "
            f"{counted(blocks, 'block')}, needed are {least} in {LEAST_BLOCKS}"
        )
    return found


def _stated(evaluation: Evaluation, subset: Subset, change: str = "") -> Subset:
    """Put tables in the place of predictions; under a change, those for the changed signals as well."""
    build = _intervals if subset.task.is_regression else _classes
    view = evaluation.view(subset)
    rows = view.segments["key"].isin(subset.segments["key"]).to_numpy()
    given = subset.predictions
    clean = build(subset, view.said(_names(subset), "")[rows], given.clean)
    changed = None
    if given.changed is not None:
        changed = build(subset, view.said(_names(subset), change)[rows], given.changed)
    level = float(evaluation.option("level"))
    reference = _shares(subset) if not subset.task.is_regression else _quantiles(subset, level)
    return dataclasses.replace(
        subset,
        predictions=Predictions(clean, changed),
        reference=Predictions(reference, None if changed is None else reference, random=True),
    )


def _names(subset: Subset) -> list[str]:
    if subset.task.is_regression:
        return [f"{subset.task.name}.{end}" for end in BOUNDS]
    return [CONFIDENCE, *(f"{subset.task.name}.{name}" for name in subset.task.classes)]


def _intervals(subset: Subset, said: np.ndarray, _answers: np.ndarray) -> np.ndarray:
    return np.sort(np.stack([subset.task.scale(bound) for bound in said.T], axis=1), axis=1)


def _classes(subset: Subset, said: np.ndarray, answers: np.ndarray) -> np.ndarray:
    classes = list(subset.task.classes)
    places = np.array([classes.index(name) if name in classes else -1 for name in answers], dtype=np.intp)
    named = np.where(places >= 0, said[np.arange(len(said)), 1 + places], np.nan)
    confidence = np.where(np.isnan(said[:, 0]), named, said[:, 0])
    answered = np.array([name is not None for name in answers], dtype=bool)
    correct = np.where(answered, (answers == subset.truth).astype(float), np.nan)
    return np.column_stack([np.where(answered, confidence, np.nan), correct, said[:, 1:]])


def _shares(subset: Subset) -> np.ndarray:
    counts = np.array([(subset.truth == name).sum() for name in subset.task.classes], dtype=np.float64)
    shares, most = counts / max(counts.sum(), 1), int(np.argmax(counts))
    correct = (subset.truth == subset.task.classes[most]).astype(float)
    return np.column_stack([np.full(len(subset), shares[most]), correct, np.tile(shares, (len(subset), 1))])


def _quantiles(subset: Subset, level: float) -> np.ndarray:
    ends = np.quantile(subset.truth, [(1 - level) / 2, (1 + level) / 2]) if len(subset) else [0.0, 1.0]
    return np.tile(ends, (len(subset), 1))
