"""Measures and judgements that all families share that change the signal.

Conventions
-----------
``predictions.clean`` are those for the signals that are compared with, ``predictions.changed`` those for the
changed signals of the same segments. Labels may have gaps: measures of quality leave segments without one
out and do not count them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.change import TOLERANCE, unchanged
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc
from soundcheck.suite.families import PerturbationSeries

Swept = tuple[PerturbationSeries, list[dict[str, Subset]]]


def changed_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the subsets of all corpora and tasks under each of the family's changes."""
    return [subset for change in evaluation.family.changes for subset in evaluation.subsets(change)]


def swept(evaluation: Evaluation, base: str = "") -> list[Swept]:
    """Give for each of the family's series of changes the subsets under its steps, for each corpus and task.

    See :meth:`soundcheck.evaluation.evaluation.Evaluation.swept`, also for ``base``.
    """
    return [(series, list(evaluation.swept(series, base))) for series in evaluation.family.sweeps.values()]


def labelled(swept: Iterable[Swept]) -> list[Swept]:
    """Keep the corpora and tasks of :func:`swept` that have labels."""
    return [
        (series, [steps for steps in everywhere if next(iter(steps.values())).truth is not None])
        for series, everywhere in swept
    ]


def proportion_unchanged(subset: Subset, predictions: Predictions, tolerance: float = TOLERANCE) -> Statistic:
    """Share of segments whose value moves by less than the tolerance, or whose class stays."""
    return unchanged(predictions.clean, predictions.changed, tolerance)


def quality(subset: Subset, predictions: Predictions) -> Statistic:
    """Concordance correlation (values) or unweighted average recall (classes) for the changed signals."""
    return _quality(subset, predictions.changed)


def change_of_quality(subset: Subset, predictions: Predictions) -> Statistic:
    """:func:`quality` for the changed signals minus that for the clean ones, on the same segments."""
    return paired_difference(_quality(subset, predictions.changed), _quality(subset, predictions.clean))


def _quality(subset: Subset, prediction: np.ndarray) -> Statistic:
    if subset.task.is_regression:
        return concordance_cc(subset.truth, prediction)
    return unweighted_average_recall(subset.truth, prediction, subset.task.classes)


def judge_changes(evaluation: Evaluation, subsets: Iterable[Subset]) -> None:
    """Judge the share of unchanged predictions and the change of quality under each change.

    The tests are called ``Percentage Unchanged Predictions <change>``, ``Change Ccc <change>`` for values and
    ``Change Uar <change>`` for classes. The first looks at all segments, the others at those with a label; a
    note says how many those are. Without any label the tests of quality are skipped.
    """
    tolerance = evaluation.family.options["tolerance"]
    for subset in subsets:
        labelled = 0 if subset.truth is None else int(pd.notna(subset.truth).sum())
        note = (
            f"{subset.corpus}, {subset.task.name}: {labelled} of {len(subset)} segments have a label; the "
            "change of quality rests on these, the share of unchanged predictions on all"
        )
        if 0 < labelled < len(subset) and note not in evaluation.notes:
            evaluation.notes.append(note)
        evaluation.judge(
            subset,
            f"Percentage Unchanged Predictions {subset.change}",
            lambda subset, predictions: proportion_unchanged(subset, predictions, tolerance),
        )
        if not labelled:
            evaluation.skip(subset, f"no segment has a label for {subset.task.name}")
        else:
            metric = "Ccc" if subset.task.is_regression else "Uar"
            evaluation.judge(subset, f"Change {metric} {subset.change}", change_of_quality)
