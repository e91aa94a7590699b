"""Measures and judgements that all families share that change the signal.

Conventions
-----------
``answers.clean`` are the predictions for the signals that are compared with, ``answers.changed`` those for
the changed signals of the same segments. Labels may have gaps: measures of quality leave segments without one
out and do not count them.

Public: :func:`share_unchanged`, :func:`change_ccc`, :func:`change_uar`, :func:`ccc`, :func:`uar`,
:func:`judge_changes`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Answers, Sample
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.change import TOLERANCE, unchanged
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc


def share_unchanged(sample: Sample, answers: Answers, tolerance: float = TOLERANCE) -> Statistic:
    """Share of segments whose value moves by less than the tolerance, or whose class stays."""
    return unchanged(answers.clean, answers.changed, tolerance)


def ccc(sample: Sample, answers: Answers) -> Statistic:
    """Concordance correlation of the predictions for the changed signals with the labels."""
    return concordance_cc(sample.truth, answers.changed)


def uar(sample: Sample, answers: Answers) -> Statistic:
    """Unweighted average recall of the predictions for the changed signals."""
    return unweighted_average_recall(sample.truth, answers.changed, sample.task.classes)


def change_ccc(sample: Sample, answers: Answers) -> Statistic:
    """Concordance correlation for the changed minus that for the clean signals."""
    return paired_difference(ccc(sample, answers), concordance_cc(sample.truth, answers.clean))


def change_uar(sample: Sample, answers: Answers) -> Statistic:
    """Unweighted average recall for the changed minus that for the clean signals."""
    before = unweighted_average_recall(sample.truth, answers.clean, sample.task.classes)
    return paired_difference(uar(sample, answers), before)


def judge_changes(evaluation: Evaluation, samples: Iterable[Sample]) -> None:
    """Judge the share of unchanged predictions and the change of quality under each change.

    The tests are called ``Percentage Unchanged Predictions <change>``, ``Change Ccc <change>`` for values and
    ``Change Uar <change>`` for classes. The first looks at all segments, the others at those with a label; a
    note says how many those are. Without any label the tests of quality are skipped.
    """
    tolerance = evaluation.family.options["tolerance"]
    for sample in samples:
        labelled = 0 if sample.truth is None else int(pd.notna(sample.truth).sum())
        note = (
            f"{sample.corpus}, {sample.task.name}: {labelled} of {len(sample)} segments have a label; the "
            "change of quality rests on these, the share of unchanged predictions on all"
        )
        if 0 < labelled < len(sample) and note not in evaluation.notes:
            evaluation.notes.append(note)
        evaluation.judge(
            sample,
            f"Percentage Unchanged Predictions {sample.change}",
            lambda sample, answers: share_unchanged(sample, answers, tolerance),
        )
        if not labelled:
            evaluation.skip(sample, f"no segment has a label for {sample.task.name}")
        elif sample.task.is_regression:
            evaluation.judge(sample, f"Change Ccc {sample.change}", change_ccc)
        else:
            evaluation.judge(sample, f"Change Uar {sample.change}", change_uar)
