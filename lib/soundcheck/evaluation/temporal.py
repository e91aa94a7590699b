"""Files of several segments: what follows what, and changes that grow from segment to segment."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.evaluation.certainty import why_no_changes
from soundcheck.evaluation.changed_segments import growing_steps, swept_rows
from soundcheck.evaluation.evaluation import CLEAN, NO_AUDIO, Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.temporal import FileChanges, Neighbours, drift, file_changes, neighbours
from soundcheck.suite.families import PerturbationSeries

GROWTH = ("Added Change", "Drift")  # how the tests under a growing change begin
LARGEST = {"regression": 0.3, "classification": 1.0}  # change that counts as the largest possible


def _in_order(evaluation: Evaluation, subset: Subset) -> Neighbours:
    table = subset.segments
    minimum = evaluation.family.options["file_minimum"]
    return neighbours(table["file"], table["start"], table["end"], minimum)


def _whole_files(subset: Subset, pairs: Neighbours) -> Subset:
    """Put the segments of a file into the block of its first one, whoever speaks: files are what is drawn."""
    blocks, inside = subset.blocks.copy(), pairs.file >= 0
    blocks[inside] = subset.blocks[pairs.first[pairs.file[inside]]]
    return dataclasses.replace(subset, blocks=blocks)


def changes(subset: Subset, first: np.ndarray | None, second: np.ndarray, pairs: Neighbours) -> FileChanges:
    """Compare how much two series of labels or predictions change within each file."""
    values = [first, second]
    if not subset.task.is_regression:
        codes = [class_numbers(labels, subset.task.classes) for labels in values]
        values = [np.where(labels < 0, np.nan, labels.astype(float)) for labels in codes]
    return file_changes(*values, pairs, LARGEST[subset.task.kind], classes=not subset.task.is_regression)


def measures(pairs: Neighbours) -> dict[str, Measure]:
    """Give what is measured of the changes of files: name of the test -> measure."""
    tests = {
        "Mean Absolute Error": FileChanges.mean_absolute_error,
        "Mean Directional Error": FileChanges.mean_error,
        "Jensen Shannon Distance": FileChanges.jensen_shannon_distance,
        "Reactivity": FileChanges.reactivity,
        "Stability": FileChanges.stability,
    }
    return {
        name: lambda s, p, test=test: test(changes(s, s.truth, p.clean, pairs))
        for name, test in tests.items()
    }


def growth_measures(subset: Subset, pairs: Neighbours) -> dict[str, Measure]:
    """Give what is measured under a growing change: how the name of the test begins -> measure."""
    result: dict[str, Measure] = {
        "Added Change": lambda s, p: changes(s, p.clean, p.changed, pairs).mean_error()
    }
    if subset.task.is_regression:
        result["Drift"] = lambda _, p: drift(p.clean, p.changed, pairs)
    return result


def subsets_in_time(evaluation: Evaluation) -> list[tuple[Subset, Neighbours]]:
    """Give the subsets that have files with enough segments; files with fewer are left out and noted."""
    result, minimum = [], evaluation.family.options["file_minimum"]
    for subset in evaluation.subsets():
        pairs = _in_order(evaluation, subset)
        if not len(pairs):
            evaluation.skip(subset, f"no file has {minimum} labelled segments")
            continue
        result.append((_whole_files(subset, pairs), pairs))
        few = subset.segments["file"][pairs.file < 0]
        if len(few):
            what = f"{counted(few.nunique(), 'file')} with fewer than {minimum} labelled segments"
            where = f"{subset.corpus}, {subset.task.name}"
            evaluation.note(f"{where}: left out are {what}, {counted(len(few), 'segment')} in all")
    return result


def subsets_under_growth(
    evaluation: Evaluation, subsets: Sequence[tuple[Subset, Neighbours]]
) -> Iterator[tuple[PerturbationSeries, Subset, Neighbours]]:
    """Give for each series of changes what :func:`growing` makes of it; say why where there is nothing."""
    for subset, _ in subsets:
        reason = why_no_changes(evaluation)
        if not reason and not evaluation.view(subset).audio:
            reason = NO_AUDIO
        minimum = evaluation.family.options["file_minimum"]
        reason = reason or f"no file has {minimum} segments that were heard changed"
        for test in evaluation.family.tests:
            if test.startswith(GROWTH):
                evaluation.skip(subset, reason, test)
    for series in evaluation.family.sweeps.values() if evaluation.predicts_changes else ():
        for steps in evaluation.swept(series):
            result = growing(evaluation, series, steps)
            if result is not None and evaluation.view(result).audio:
                yield series, result, _in_order(evaluation, result)


def growing(evaluation: Evaluation, series: PerturbationSeries, steps: Mapping[str, Subset]) -> Subset | None:
    """Let a change grow within each file: unchanged at its first segment, the worst step at its last."""
    first = next(iter(steps.values()))
    family, view = evaluation.family, evaluation.view(first)
    swept = swept_rows(family, evaluation.tasks, view.segments, view.blocks, evaluation.seed)
    at = pd.Series(growing_steps(family, view.segments, swept, len(series.steps)), view.segments["key"])
    step = np.array([CLEAN, *series.steps], dtype=object)[at[first.segments["key"]].to_numpy()]

    def composed(subsets: Mapping[str, Predictions]) -> Predictions:
        result = next(iter(subsets.values()))
        changed = np.full_like(result.changed, np.nan if result.changed.dtype.kind == "f" else None)
        for name, predictions in subsets.items():
            changed[step == name] = predictions.changed[step == name]
        return dataclasses.replace(result, changed=changed)

    result = dataclasses.replace(
        first.with_column("step", step),
        predictions=composed({name: subset.predictions for name, subset in steps.items()}),
        reference=composed({name: subset.reference for name, subset in steps.items()}),
    )
    pairs = _in_order(evaluation, first)
    rows = np.flatnonzero(pairs.file >= 0)
    return _whole_files(result, pairs).take(rows) if len(rows) else None
