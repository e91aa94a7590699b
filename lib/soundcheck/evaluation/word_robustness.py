"""Word errors under changes of the sound, from mild to severe: changes, levels, groups.

Conventions
-----------
- Subsets are those of :meth:`soundcheck.evaluation.recognition.Recognition.transformed`: the same segments
  are heard as they are and under all settings.
- A segment counts if it has an answer as it is. An answer that is missing under a change counts as an empty
  one, so all words are left out there: nothing is gained by failing where it is hard.
- Where words cannot be told apart by blanks, characters are counted instead, see
  :mod:`soundcheck.metrics.writing`.
- A change is the difference of two rates over the same words. It is additive in its errors, so that the
  bootstrap is paired.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.augment.registry import missing
from soundcheck.evaluation.recognition import CLEAN, Recognition, TransformedPredictions
from soundcheck.evaluation.recognition_measures import characters_of
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.word_measures import units_of
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.combinators import relative_difference, restrict, stack
from soundcheck.metrics.disagreement import Setting
from soundcheck.metrics.word_errors import Counts, word_error_rate, word_errors
from soundcheck.metrics.word_rates import missing_as_empty
from soundcheck.statistics.crossing import Crossing, crossing

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
DOUBLE = 2.0
CHARACTERS = "written without blanks, so characters are counted in the place of words"
SILENT = 1.0  # the rate of a recogniser that writes nothing
UNKNOWN = Crossing(np.nan, np.nan, np.nan)
MEASURED = ("rate", "change", "relative")
NAME = ("corpus", "transformation", "level")


def possible(evaluation: Recognition) -> dict[str, list[Setting]]:
    """List the settings of each transformation that this machine and the sound material can make.

    Others are noted, and transformations without any are left out.
    """
    found = {}
    for name, series in evaluation.family.transformations.items():
        for step, perturbation in series.steps.items():
            if lack := missing(perturbation, evaluation.sounds):
                evaluation.note(f"{name}, {step}: {lack}")
            else:
                found.setdefault(name, []).append((name, step))
    return found


def mildest(everything: dict[str, list[Setting]]) -> list[Setting]:
    """Give the mildest setting of each transformation; it is the one that is judged."""
    return [settings[0] for settings in everything.values()]


def note_missing(evaluation: Recognition, subset: Subset, settings: Sequence[Setting]) -> None:
    """Tell how many answers are missing, and what they count as."""
    if units_of(subset) == "character":
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
    """Count errors as the speech is, and all errors under a setting, float64 ``(segments,)``."""
    count = characters_of if units_of(subset) == "character" else word_errors
    texts = missing_as_empty(predictions.settings[setting])
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
    """Compute rates and their changes at each level.

    Returns
    -------
    pandas.DataFrame
        One row for the speech as it is, with an empty name and level, and one for each setting:
        ``corpus, transformation, level``; ``rate``, ``change`` and ``relative``, the change divided by the
        rate as it is, each with ``_low`` and ``_high``; ``reference``, the rate of the random reference;
        ``segments`` and ``blocks``. Changes of speech as it is are NaN, and relative ones where no word is
        wrong there.
    """
    rows = []
    for setting in [CLEAN, *(one for settings in everything.values() for one in settings)]:
        clean, errors = _errors(subset, subset.predictions, setting)
        own = word_error_rate(clean.words, errors + 0 * clean.errors)
        measured = {"rate": own}
        if setting != CLEAN:
            before = word_error_rate(clean.words, clean.errors)
            measured["change"] = change(subset, subset.predictions, setting)
            measured["relative"] = relative_difference(own, before)
        row: dict[str, object] = dict(zip(NAME, (subset.corpus, *setting), strict=True))
        row |= dict.fromkeys(f"{name}{end}" for name in MEASURED for end in ("", "_low", "_high"))
        for name, statistic in measured.items():
            found = evaluation.resample(statistic, subset.blocks)
            low, high = found.interval(evaluation.interval)
            row |= {name: found.value[0], f"{name}_low": low[0], f"{name}_high": high[0]}
            row |= {"segments": int(found.segments[0]), "blocks": int(found.blocks[0])}
        said, guessed = _errors(subset, subset.reference, setting)
        rows.append(row | {"reference": value(word_error_rate(said.words, guessed))})
    frame = pd.DataFrame(rows)
    names = [name for name in frame if name.startswith(MEASURED)]
    return frame.astype(dict.fromkeys(names, np.float64))


@dataclasses.dataclass(frozen=True)
class Limit:
    """Where the word error rate reaches a limit under one transformation.

    Parameters
    ----------
    corpus, transformation
        Of which speech and change.
    levels
        Names of the levels, from mild to severe.
    clean
        Word error rate of the speech as it is.
    doubled, half
        Where twice that rate is reached, and where :data:`HALF` is; as places of levels. Twice no errors is
        unknown.
    """

    corpus: str
    transformation: str
    levels: tuple[str, ...]
    clean: float
    doubled: Crossing
    half: Crossing

    @property
    def remark(self) -> str:
        """Say what is to be known of doubling this rate."""
        if np.isnan(self.clean):
            return "there is no rate as it is"
        if not self.clean:
            return "no word is wrong as it is, so nothing doubles"
        if DOUBLE * self.clean > SILENT:
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
        found.append(Limit(subset.corpus, name, tuple(errors), rate, doubled if rate else UNKNOWN, half))
    return found


def group_changes(
    evaluation: Recognition,
    subset: Subset,
    groups: dict[str, list[str]],
    everything: dict[str, list[Setting]],
) -> pd.DataFrame:
    """Compute the mean change of each group over the levels of each transformation, and over all of them.

    Returns
    -------
    pandas.DataFrame
        ``corpus, column, group, transformation, value, low, high, segments, blocks``; an empty transformation
        stands for all.
    """
    rows = []
    every = {"": [one for settings in everything.values() for one in settings]} | everything
    for column, names in groups.items():
        for group in names:
            mask = subset.mask(column, group)
            for name, settings in every.items():
                statistic = restrict(mean_change(subset, subset.predictions, settings), mask)
                found = evaluation.resample(statistic, subset.blocks)
                low, high = found.interval(evaluation.interval)
                place = (subset.corpus, column, group, name)
                counts = (int(found.segments[0]), int(found.blocks[0]))
                rows.append((*place, found.value[0], low[0], high[0], *counts))
    columns = ["corpus", "column", "group", "transformation", "value", "low", "high", "segments", "blocks"]
    return pd.DataFrame(rows, columns=columns)
