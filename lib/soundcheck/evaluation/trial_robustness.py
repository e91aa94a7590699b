"""Speaker verification under changes of the tested side, from mild to severe: errors, limits, groups.

Conventions
-----------
- Subsets are those of :meth:`soundcheck.evaluation.verification.Verification.transformed`: the same trials
  are scored as they are and under all settings.
- A trial counts if it has a score as it is. One without a score under a change gets the lowest one: it is
  rejected, as by a door that does not open. Nothing is gained by failing where it is hard.
- An error rate of trials is no sum over them, so that changes are differences of two rates on the same
  replicates of speakers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation import severity
from soundcheck.evaluation.severity import DOUBLE, NAME, UNKNOWN, Limit, curve_frame, spans
from soundcheck.evaluation.subset import CLEAN, Subset, TransformedPredictions
from soundcheck.evaluation.verification import Verification
from soundcheck.metrics.disagreement import Setting
from soundcheck.metrics.verification import equal_error_rate, min_dcf
from soundcheck.metrics.weighted import Remembered, Weighted, weighted_sums
from soundcheck.statistics.crossing import crossing
from soundcheck.statistics.evidence import Scale

GUESSING = 0.5  # equal error rate of scores that know nothing
MEASURED = ("rate", "change", "cost")
SCALES = {"rate": Scale(0.0, 1.0), "cost": Scale(0.0, 1.0)}


def scores_under(predictions: TransformedPredictions, setting: Setting) -> np.ndarray:
    """Give scores under a setting for the trials that have one as they are, float64 ``(trials,)``.

    Examples
    --------
    >>> clean, noisy = np.array([0.9, 0.2, np.nan]), np.array([0.5, np.nan, 0.1])
    >>> predictions = TransformedPredictions(clean, settings={("Noise", "10"): noisy})
    >>> scores_under(predictions, ("Noise", "10")).tolist()
    [0.5, -0.9, nan]
    """
    clean, scores = predictions.clean, predictions.settings[setting]
    lowest = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0.0
    return np.where(np.isnan(clean), np.nan, np.where(np.isnan(scores), lowest, scores))


class TrialRobustness:
    """Measures of one model; rates that several of them need are computed once."""

    def __init__(self, evaluation: Verification, everything: Mapping[str, list[Setting]]) -> None:
        self.everything = dict(everything)
        self.every = [setting for settings in everything.values() for setting in settings]
        self._evaluation = evaluation
        self._known: dict[tuple[object, ...], Weighted] = {}

    def note_missing(self, subset: Subset) -> None:
        """Tell how many scores are missing, and what they count as."""
        told, there = self._evaluation.note, np.isfinite(subset.predictions.clean)
        if not there.all():
            lost = f"{int((~there).sum())} of {len(subset)} trials have no score as they are"
            told(f"{subset.corpus}: {lost}; left out")
        lost = sum(int(np.isnan(subset.predictions.settings[one][there]).sum()) for one in self.every)
        if lost:
            shown = f"{lost} of {len(self.every) * int(there.sum())} scores under changes are missing"
            told(f"{subset.corpus}: {shown}; these trials count as rejected")

    def _rate(
        self,
        subset: Subset,
        predictions: TransformedPredictions,
        setting: Setting,
        mask: np.ndarray | None = None,
        cost: bool = False,
    ) -> Weighted:
        about = b"" if mask is None else mask.tobytes()
        place = (subset.corpus, predictions.random, setting, about, cost)
        if place not in self._known:
            # The random reference scores alike whatever it hears; drawn anew it would change by chance.
            heard = CLEAN if predictions.random else setting
            trials = self._evaluation.trials(subset, scores_under(predictions, heard))
            trials = trials if mask is None else trials.only(mask)
            found = (
                min_dcf(trials, **self._evaluation.cost.plain, normalised=True)
                if cost
                else equal_error_rate(trials)
            )
            self._known[place] = Remembered(found)
        return self._known[place]

    def changes(
        self, subset: Subset, predictions: TransformedPredictions, settings: Sequence[Setting], cost: bool
    ) -> Weighted:
        """Equal error rate, or lowest cost, under each setting minus that of the same trials as they are."""
        before = self._rate(subset, predictions, CLEAN, cost=cost)
        terms = {
            " ".join(one): [(1, self._rate(subset, predictions, one, cost=cost)), (-1, before)]
            for one in settings
        }
        return weighted_sums(terms)

    def mean_change(
        self,
        subset: Subset,
        predictions: TransformedPredictions,
        mask: np.ndarray,
        settings: Sequence[Setting] | None = None,
    ) -> Weighted:
        """Mean change of the equal error rate of some trials over settings, all by default."""
        settings = self.every if settings is None else settings
        terms = [(1 / len(settings), self._rate(subset, predictions, one, mask)) for one in settings]
        return weighted_sums({"": [*terms, (-1, self._rate(subset, predictions, CLEAN, mask))]})

    def curves(self, subset: Subset) -> pd.DataFrame:
        """Compute error rates, their changes and lowest costs at each level."""
        rows = []
        for setting in [CLEAN, *self.every]:
            measured = {"cost": self._rate(subset, subset.predictions, setting, cost=True)}
            measured["rate"] = self._rate(subset, subset.predictions, setting)
            if setting != CLEAN:
                measured["change"] = self.changes(subset, subset.predictions, [setting], cost=False)
            guessed = self._rate(subset, subset.reference, setting).point().value[0]
            row = dict(zip(NAME, (subset.corpus, *setting), strict=True))
            rows.append(row | spans(self._evaluation, subset, measured, SCALES) | {"reference": guessed})
        return curve_frame(rows, MEASURED)

    def limits(self, subset: Subset) -> list[Limit]:
        """Find for each transformation the level at which the equal error rate doubles."""
        found = []
        before = self._rate(subset, subset.predictions, CLEAN)
        clean = float(before.point().value[0])
        for name, settings in self.everything.items():
            rates = {level: self._rate(subset, subset.predictions, (name, level)) for _, level in settings}
            excess = weighted_sums({level: [(1, own), (-DOUBLE, before)] for level, own in rates.items()})
            doubled = crossing(self._evaluation.resample(excess, subset.blocks), self._evaluation.interval)
            doubled = doubled if clean else UNKNOWN
            found.append(Limit(subset.corpus, name, tuple(rates), clean, doubled, _remark(clean)))
        return found

    def group_changes(self, subset: Subset, groups: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        """Compute mean changes of groups; see :func:`soundcheck.evaluation.severity.group_changes`."""
        return severity.group_changes(
            self._evaluation,
            subset,
            groups,
            self.everything,
            lambda settings: lambda mask: self.mean_change(subset, subset.predictions, mask, settings),
        )


def _remark(clean: float) -> str:
    """Say what is to be known of doubling a rate."""
    if np.isnan(clean):
        return "there is no rate as it is"
    if not clean:
        return "no trial is decided wrongly as it is, so nothing doubles"
    if DOUBLE * clean >= GUESSING:
        return "twice the rate is what guessing has, or more"
    return ""
