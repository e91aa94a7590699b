"""Values of the speakers of a corpus, for families that compare speakers and not segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.corpora.group_columns import VOICES
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


def voice_groups(
    pitch: Sequence[float],
    speakers: Sequence[object],
    usable: tuple[float, float] = (50.0, 350.0),
    borders: tuple[float, float] = (145.0, 190.0),
    more_than: int = 25,
) -> tuple[np.ndarray, pd.DataFrame]:
    """Sort speakers into groups."""
    table = pd.DataFrame(
        {"pitch": np.asarray(pitch, dtype=np.float64), "speaker": np.asarray(speakers, dtype=object)}
    )
    known = table["speaker"].notna()
    fine = known & table["pitch"].between(*usable)
    own = table[fine].groupby("speaker", sort=True)["pitch"]
    count, mean = own.transform("size"), own.transform("mean")
    enough = fine & (count.reindex(table.index) > more_than)
    place = np.searchsorted(np.asarray(borders), mean.reindex(table.index)[enough].to_numpy(), side="left")
    groups = np.full(len(table), None, dtype=object)
    groups[enough.to_numpy()] = np.array(VOICES, dtype=object)[place]
    reasons = {
        "no speaker": ~known,
        f"no pitch from {usable[0]:g} to {usable[1]:g} Hz": known & ~fine,
        f"speakers with up to {more_than} usable segments": fine & ~enough,
    }
    masks = {name: groups == name for name in VOICES}
    rows = []
    for name, mask in (masks | {why: own.to_numpy() for why, own in reasons.items() if own.any()}).items():
        part = table[mask]
        means = mean.reindex(part.index) if name in masks else mean[:0]
        rows.append((name, part["speaker"].nunique(), len(part), means.min(), means.max()))
    return groups, pd.DataFrame(rows, columns=["group", "speakers", "segments", "lowest", "highest"])
