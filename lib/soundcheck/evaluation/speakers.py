"""Values of the speakers of a corpus, for families that compare speakers and not segments."""

from __future__ import annotations

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.speakers import SpeakerValues, speaker_averages, speaker_proportions


def speaker_values(evaluation: Evaluation, subset: Subset, predictions: Predictions) -> SpeakerValues:
    """Compute the true and predicted value of each speaker with enough labelled segments.

    Values are averages for regression, the proportion of each class for classification. The family's options
    ``speaker_minimum`` and ``class_minimum`` say how many segments are enough.
    """
    options = evaluation.family.options
    data = (subset.truth, predictions.clean, subset.segments["speaker"])
    if subset.task.is_regression:
        return speaker_averages(*data, options["speaker_minimum"])
    return speaker_proportions(
        *data, subset.task.classes, options["speaker_minimum"], options["class_minimum"]
    )


def subsets_with_speakers(evaluation: Evaluation) -> list[tuple[Subset, SpeakerValues]]:
    """Give the subsets that have speakers with enough segments, and their values; the others are skipped."""
    subsets = []
    for subset in evaluation.subsets():
        found = speaker_values(evaluation, subset, subset.predictions)
        if len(found):
            subsets.append((subset, found))
        else:
            evaluation.skip(subset, "no speaker has enough labelled segments")
    return subsets
