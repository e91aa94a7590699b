"""Word errors under changes of the sound, from mild to severe: changes, levels, groups.

Conventions
-----------
- Subsets are those of :meth:`soundcheck.evaluation.recognition.Recognition.transformed`: the same segments
  are heard as they are and under all settings.
- A segment counts if it has an answer as it is. An answer that is missing under a change counts as an empty
  one, so all words are left out there: nothing is gained by failing where it is hard.
- Where words of some references cannot be told apart by blanks, characters are counted instead, see
  :mod:`soundcheck.metrics.writing`.
- A change is the difference of two rates over the same words. It is additive in its errors, so that the
  bootstrap is paired.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation import severity
from soundcheck.evaluation.recognition import CLEAN, Recognition, TransformedPredictions
from soundcheck.evaluation.recognition_measures import characters_of
from soundcheck.evaluation.severity import DOUBLE, NAME, UNKNOWN, Limit, curve_frame, mildest, possible, spans
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.word_measures import units_of
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.combinators import relative_difference, restrict, stack
from soundcheck.metrics.disagreement import Setting
from soundcheck.metrics.word_errors import Counts, word_error_rate, word_errors
from soundcheck.metrics.word_rates import missing_as_empty
from soundcheck.metrics.writing import WORD
from soundcheck.statistics.crossing import crossing

__all__ = [
    "HALF",
    "Limit",
    "change",
    "curves",
    "group_changes",
    "limits",
    "mean_change",
    "mildest",
    "note_missing",
    "possible",
]

HALF = 0.5  # the rate at which every second word is wrong
CHARACTERS = "written without blanks, so characters are counted in the place of words"
SILENT = 1.0  # the rate of a recogniser that writes nothing
MEASURED = ("rate", "change", "relative")


def note_missing(evaluation: Recognition, subset: Subset, settings: Sequence[Setting]) -> None:
    """Tell how many answers are missing, and what they count as."""
    if units_of(subset) != WORD:
        evaluation.note(f"{subset.corpus}: {CHARACTERS}")
    clean, changed = subset.predictions.clean, subset.predictions.settings
    none = sum(text is None for text in clean)
    if none:
        evaluation.note(
            f"{subset.corpus}: {none} of {len(subset)} segments have no answer as they are; left out"
        )
    lost = sum(text is None for setting in settings for text in changed[setting])
    if lost:
        told = f"{subset.corpus}: {lost} of {len(settings) * len(subset)} answers under changes are missing"
        evaluation.note(f"{told}; they count as empty ones")


def _errors(
    subset: Subset, predictions: TransformedPredictions, setting: Setting
) -> tuple[Counts, np.ndarray]:
    """Count errors as the speech is, and all errors under a setting, float64 ``(segments,)``.

    The random reference says the same whatever it hears: drawn anew it would change by chance, and a test
    that it fails by chance would seem to tell something.
    """
    count = characters_of if units_of(subset) != WORD else word_errors
    texts = missing_as_empty(predictions.clean if predictions.random else predictions.settings[setting])
    return count(subset.truth, predictions.clean), count(subset.truth, texts).errors


def change(subset: Subset, predictions: TransformedPredictions, setting: Setting) -> Statistic:
    """Word error rate under a setting minus that for the same segments as they are."""
    clean, errors = _errors(subset, predictions, setting)
    return word_error_rate(clean.words, errors - clean.errors)


def mean_change(
    subset: Subset, predictions: TransformedPredictions, settings: Sequence[Setting]
) -> Statistic:
    """Average :func:`change` over settings; each weighs alike."""
    clean, _ = _errors(subset, predictions, settings[0])
    errors = [_errors(subset, predictions, setting)[1] for setting in settings]
    return word_error_rate(clean.words, np.mean(errors, axis=0) - clean.errors)


def curves(evaluation: Recognition, subset: Subset, everything: dict[str, list[Setting]]) -> pd.DataFrame:
    """Compute rates and their changes at each level."""
    rows = []
    for setting in [CLEAN, *(one for settings in everything.values() for one in settings)]:
        clean, errors = _errors(subset, subset.predictions, setting)
        own = word_error_rate(clean.words, errors + 0 * clean.errors)
        measured = {"rate": own}
        if setting != CLEAN:
            before = word_error_rate(clean.words, clean.errors)
            measured["change"] = change(subset, subset.predictions, setting)
            measured["relative"] = relative_difference(own, before)
        said, guessed = _errors(subset, subset.reference, setting)
        row = dict(zip(NAME, (subset.corpus, *setting), strict=True)) | spans(evaluation, subset, measured)
        rows.append(row | {"reference": value(word_error_rate(said.words, guessed))})
    return curve_frame(rows, MEASURED)


def _remark(clean: float) -> str:
    """Say what is to be known of doubling a rate."""
    if np.isnan(clean):
        return "there is no rate as it is"
    if not clean:
        return "no word is wrong as it is, so nothing doubles"
    if DOUBLE * clean > SILENT:
        return "doubles only if words are made up: one that writes nothing has 100\xa0%"
    return ""


def limits(evaluation: Recognition, subset: Subset, everything: dict[str, list[Setting]]) -> list[Limit]:
    """Find for each transformation the level at which the rate doubles, and at which it reaches one half."""
    found = []
    clean, _ = _errors(subset, subset.predictions, CLEAN)
    rate = value(word_error_rate(clean.words, clean.errors))
    for name, settings in everything.items():
        errors = {level: _errors(subset, subset.predictions, (name, level))[1] for _, level in settings}
        doubled, half = (
            crossing(
                evaluation.resample(
                    stack(
                        {level: word_error_rate(clean.words, own - limit) for level, own in errors.items()}
                    ),
                    subset.blocks,
                ),
                evaluation.interval,
            )
            for limit in (DOUBLE * clean.errors, HALF * clean.words + 0 * clean.errors)
        )
        doubled = doubled if rate else UNKNOWN
        found.append(Limit(subset.corpus, name, tuple(errors), rate, doubled, _remark(rate), half))
    return found


def group_changes(
    evaluation: Recognition,
    subset: Subset,
    groups: dict[str, list[str]],
    everything: dict[str, list[Setting]],
) -> pd.DataFrame:
    """Compute the mean change of each group; see :func:`soundcheck.evaluation.severity.group_changes`."""
    return severity.group_changes(
        evaluation,
        subset,
        groups,
        everything,
        lambda settings: functools.partial(restrict, mean_change(subset, subset.predictions, settings)),
    )
