"""Tasks with embeddings: trials, their scores, and thresholds.

A subset of trials is like a subset of segments: its ``segments`` are the trials, ``truth`` says which of them
are targets, predictions are scores. A trial belongs to a group if both of its speakers do. Speakers are
resampled; a non-target trial counts as often as the product of how often each was drawn. The tested side is
changed, the enrolled one stays as it is.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from soundcheck.augment import registry
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import CorpusView, Subset
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_threshold, min_dcf_threshold
from soundcheck.suite.families import Family

NO_CHANGES = "scores and embeddings of a table cannot answer for changed signals"
EQUAL_ERROR_RATE = "equal error rate"
MINIMUM_COST = "minimum cost"
EQUAL_COSTS = {"c_miss": 1.0, "c_false_alarm": 1.0}  # of a rejected target, and of an accepted non-target
SIDES = ["enrol_speaker", "test_speaker"]
NO_BLOCKS = np.zeros(0, dtype=np.intp)  # trials bring their own
# The last if sexes are not known.
KINDS = ("target", "non-target, same sex", "non-target, other sex", "non-target")

# Of a table of trials; see soundcheck.corpora.trials.trial_table, and with_groups.
TRIAL_COLUMNS = frozenset(
    ("key", "enrol", "test", "target", "enrolment", "segment", "enrol_speaker", "test_speaker")
    + ("first", "second", "enrolled", "kind")
)


def threshold_in_use(family: Family, model: str, scores: np.ndarray, target: np.ndarray) -> float:
    """Give the threshold above which a trial is accepted: a number, or chosen on the trials themselves."""
    wanted = family.option("threshold", model)
    nobody = np.zeros(len(scores), dtype=np.intp)  # who speaks makes no difference
    trials = Trials(scores, target, nobody, nobody, 1)
    if wanted == EQUAL_ERROR_RATE:
        return equal_error_threshold(trials)
    if wanted == MINIMUM_COST:
        return min_dcf_threshold(trials, **family.options["cost"])
    return float(wanted)


def own_trials(subset: Subset, scores: np.ndarray) -> Trials:
    """Put trials together as if there were no other speakers: only theirs are drawn."""
    result = Trials.of(scores, subset.truth, *(subset.segments[side] for side in SIDES))
    return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])


def scores_under(clean: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Give scores under a change for the trials that have one as they are, float64 ``(trials,)``.

    >>> scores_under(np.array([0.9, 0.2, np.nan]), np.array([0.5, np.nan, 0.1])).tolist()
    [0.5, -0.9, nan]
    """
    lowest = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0.0
    return np.where(np.isnan(clean), np.nan, np.where(np.isnan(scores), lowest, scores))


class TrialTasks(Judging):
    """What an evaluation knows of trials: their scores, thresholds and groups."""

    @property
    def cost(self) -> dict[str, float]:
        """Share of targets in use and costs of both errors, by which the main tests weigh errors."""
        return EQUAL_COSTS | self.family.options["cost"]

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """Further settings of the cost by name."""
        return {name: EQUAL_COSTS | cost for name, cost in self.family.options["costs"].items()}

    def why_unchangeable(self, corpus: CorpusView) -> str:
        """Say why there are no scores of changed recordings of a corpus; empty if there are."""
        if not self.predicts_changes:
            return NO_CHANGES
        return "" if corpus.audio else "the corpus has no audio that could be changed"

    def why_unscored(self, change: str) -> str:
        """Say why there are no scores under a change; empty if there are."""
        if change and not self.predicts_changes:
            return NO_CHANGES
        return registry.missing(self.family.changes[change]) if change else ""

    def trials(self, subset: Subset, scores: np.ndarray) -> Trials:
        """Put the trials of a subset and scores for them together, for metrics."""
        first, second = (subset.segments[name].to_numpy() for name in ("first", "second"))
        speakers = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        result = Trials(scores, subset.truth, first, second, speakers)
        return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])

    def threshold(self, subset: Subset, scores: np.ndarray) -> float:
        """Give the threshold in use; minus infinity with trials of one kind only, which have no rates."""
        result = threshold_in_use(self.family, self.model, scores, subset.truth)
        return -np.inf if np.isnan(result) else result

    def too_small(self, column: str) -> str:
        """Say why the groups of a column are not compared."""
        options = self.family.options
        needed = f"{options['minimum_trials']} trials of each kind and {options['minimum_speakers']} speakers"
        return f"fewer than 2 groups of {column} with {needed}"

    def kinds(self, subset: Subset) -> dict[str, np.ndarray]:
        """Mask all trials, then targets with each kind of non-target, unless one has too few of these."""
        target = subset.truth
        result = {"all trials": np.ones(len(target), dtype=bool)}
        for kind in KINDS[1:3]:
            members = subset.segments["kind"].eq(kind).to_numpy()
            if members.sum() < self.family.options["minimum_trials"]:
                return {"all trials": result["all trials"]}
            result[kind] = members | target
        return result


def enrolled_recordings(table: TrialTable) -> np.ndarray:
    """Give the recording that each trial is enrolled with; of several the first stands for all."""
    enrolled = np.zeros(int(table.member_of.max(initial=-1)) + 1, dtype=np.int64)
    enrolled[table.member_of[::-1]] = table.members[::-1]
    return enrolled[table.frame["enrolment"].to_numpy()]


def with_groups(table: TrialTable, segments: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Add numbers of the speakers, the groups that both sides belong to, and the kind of each trial."""
    first, second = enrolled_recordings(table), table.frame["segment"].to_numpy()
    codes, _ = pd.factorize(pd.concat([table.frame[side] for side in SIDES]), sort=True)
    added = {"first": codes[: len(first)], "second": codes[len(first) :], "enrolled": first}
    target = table.frame["target"].to_numpy(dtype=bool)
    added["kind"] = np.where(target, KINDS[0], KINDS[3]).astype(object)
    for column in {*columns, "sex"} - TRIAL_COLUMNS - {*table.frame}:  # a list may bring groups of its own
        unknown = pd.Series(None, index=segments.index, dtype=object)
        values = segments.get(column, unknown).to_numpy(dtype=object)
        one, other = values[first], values[second]
        same = one == other
        added[column] = np.where(pd.notna(one) & same, one, None)
        if column == "sex":
            others = pd.notna(one) & pd.notna(other) & ~target
            added["kind"][others] = np.where(same[others], KINDS[1], KINDS[2])
    return table.frame.assign(**added)
