"""Measures and judgements that all families share that change the signal.

Conventions
-----------
``answers.clean`` are the predictions for the signals that are compared with, ``answers.changed`` those for
the changed signals of the same segments. Labels may have gaps: measures of quality leave segments without one
out and do not count them.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.change import TOLERANCE, unchanged
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc

__all__ = ["ccc", "change_ccc", "change_uar", "judge_changes", "share_unchanged", "uar"]


def share_unchanged(subset: Subset, predictions: Predictions, tolerance: float = TOLERANCE) -> Statistic:
    """Share of segments whose value moves by less than the tolerance, or whose class stays."""
    return unchanged(predictions.clean, predictions.changed, tolerance)


def ccc(subset: Subset, predictions: Predictions) -> Statistic:
    """Concordance correlation of the predictions for the changed signals with the labels."""
    return concordance_cc(subset.truth, predictions.changed)


def uar(subset: Subset, predictions: Predictions) -> Statistic:
    """Unweighted average recall of the predictions for the changed signals."""
    return unweighted_average_recall(subset.truth, predictions.changed, subset.task.classes)


def change_ccc(subset: Subset, predictions: Predictions) -> Statistic:
    """Concordance correlation for the changed minus that for the clean signals."""
    return paired_difference(ccc(subset, predictions), concordance_cc(subset.truth, predictions.clean))


def change_uar(subset: Subset, predictions: Predictions) -> Statistic:
    """Unweighted average recall for the changed minus that for the clean signals."""
    before = unweighted_average_recall(subset.truth, predictions.clean, subset.task.classes)
    return paired_difference(uar(subset, predictions), before)


def judge_changes(evaluation: Evaluation, samples: Iterable[Subset]) -> None:
    """Judge the share of unchanged predictions and the change of quality under each change.

    The tests are called ``Percentage Unchanged Predictions <change>``, ``Change Ccc <change>`` for values and
    ``Change Uar <change>`` for classes. The first looks at all segments, the others at those with a label; a
    note says how many those are. Without any label the tests of quality are skipped.
    """
    tolerance = evaluation.family.options["tolerance"]
    for subset in samples:
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
            lambda subset, predictions: share_unchanged(subset, predictions, tolerance),
        )
        if not labelled:
            evaluation.skip(subset, f"no segment has a label for {subset.task.name}")
        elif subset.task.is_regression:
            evaluation.judge(subset, f"Change Ccc {subset.change}", change_ccc)
        else:
            evaluation.judge(subset, f"Change Uar {subset.change}", change_uar)
