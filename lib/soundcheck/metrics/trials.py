r"""Trials of speaker verification: their scores, and what their statistics share.

A trial compares two recordings; its score says how likely they are of the same speaker. Trials of the same
speaker are *targets*, all others *non-targets*. Trials that share a speaker are alike, so speakers are
resampled: a non-target counts as often as the product of how often each of its speakers was drawn, a target
as often as its speaker was.

Poh and Bengio (2007), Estimating the confidence interval of expected performance curve in biometric
authentication using joint bootstrap.

Conventions
-----------
- Thresholds are all scores that occur, and minus infinity; trials with equal scores form a *step* and are
  accepted or rejected together.
- Replicates are exact: weights are whole numbers and so are all sums. Sorting happens once. Large data are
  not gone through in each replicate: what lies outside of a window of steps is known from counts of pairs of
  speakers.
- What needs the whole curve in each replicate (:class:`WholeCurve`) goes through all steps up to 16384
  different scores. If there are more, its replicates, but not its value, join neighbouring scores to at most
  as many equally filled steps.
- Trials without score have no prediction.
- Only the direction of an embedding counts, not its length. An embedding with a number that is missing or
  infinite, or without length, has no direction, and what is compared with it has no score (NaN).
- Lengths and cosines are sums in a fixed order over the dimensions of one pair. So a score does not depend on
  the other pairs, on the order of the two sides or on the processor.
- Embeddings are float ``(rows, d)``; trials and members name their rows by whole numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.sparse is loaded when first used

from soundcheck.metrics.additive import Numbers, layers, missing_texts, numbers, ratio, same_length
from soundcheck.metrics.weighted import Weighted

_AT_A_TIME = 2**16  # products of weights that are made at a time; they stay in the cache
_MOST_STEPS = 2**14  # steps that replicates of a whole curve go through
_SMALL = 2**20  # products in all, up to which every replicate goes through all trials
_FINE = 2.0**-45  # of the largest cost; finer parts of costs need no layer of their own

# rejected targets and non-targets ``(1 + steps, replicates)``, the first row being what lies before the
# steps, and all of them ``(1, replicates)`` -> a value a replicate
Find = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class Trials:
    """Scored trials."""

    scores: np.ndarray  # float64 ``(N,)``; higher means more alike, NaN if missing
    target: np.ndarray  # bool ``(N,)``; whether both recordings are of the same speaker
    first: np.ndarray  # speakers of the two recordings, whole numbers below ``speakers``, ``(N,)`` each
    second: np.ndarray
    speakers: int
    # the two recordings of each trial, whole numbers below ``n_recordings``, ``(N,)`` each. If they are not
    # known (``None``), there is no interval for these speakers.
    recordings: tuple[np.ndarray, np.ndarray] | None = None
    n_recordings: int = 0  # number of recordings, those of other trials included

    def __post_init__(self) -> None:
        for array in (self.target, self.first, self.second, *(self.recordings or ())):
            same_length(self.scores, array)
        if self.target.dtype != bool or np.isinf(self.scores).any():
            raise ValueError("Targets are True or False, and scores finite or missing.")

    @classmethod
    def of(
        cls, scores: Numbers, target: Sequence[bool], first: Sequence[object], second: Sequence[object]
    ) -> Trials:
        """Make trials of names of speakers, texts or numbers; they are numbered in their order.

        >>> Trials.of([0.9, 0.1], [True, False], ["b", "a"], ["b", "b"]).first
        array([1, 0])
        """
        codes, names = pd.factorize(pd.Series([*first, *second], dtype=object), sort=True)
        if (codes < 0).any():
            raise ValueError(f"{int((codes < 0).sum())} recordings have no speaker.")
        return cls(numbers(scores), np.asarray(target, dtype=bool), *np.split(codes, 2), len(names))

    def of_recordings(self, first: Sequence[int], second: Sequence[int]) -> Trials:
        """Say which recordings are compared, whole numbers from 0, ``(N,)`` each."""
        both = np.asarray(first), np.asarray(second)
        most = max(int(side.max(initial=-1)) for side in both)
        return dataclasses.replace(self, recordings=both, n_recordings=most + 1)

    def only(self, mask: np.ndarray) -> Trials:
        """Keep the trials of a mask, bool ``(N,)``, with the same numbers of speakers."""
        same_length(self.scores, mask)
        if np.asarray(mask).dtype != bool:
            raise ValueError("A mask is True or False.")
        columns = {name: getattr(self, name)[mask] for name in ("scores", "target", "first", "second")}
        recordings = self.recordings and tuple(side[mask] for side in self.recordings)
        return dataclasses.replace(self, **columns, recordings=recordings)

    def __len__(self) -> int:
        return len(self.scores)


class SortedTrials:
    """Trials with a score, in ascending order; equal scores form a step."""

    def __init__(self, trials: Trials) -> None:
        known = np.flatnonzero(~np.isnan(trials.scores))
        order = known[np.argsort(trials.scores[known], kind="stable")]
        scores = trials.scores[order]
        self.n, self.total, self.speakers = len(order), len(trials), trials.speakers
        self.target, self.first = trials.target[order], trials.first[order].astype(np.int32)
        second = trials.second[order]
        # A trial within a speaker takes the speaker's weight once: the other factor is always 1.
        self.second = np.where(self.first == second, trials.speakers, second).astype(np.int32)
        self.ends = np.append(np.flatnonzero(scores[1:] != scores[:-1]) + 1, self.n)[: self.n]
        self.steps = len(self.ends)  # number of different scores
        self.target_rows = np.flatnonzero(self.target)
        self.targets_before = np.append(0, np.cumsum(self.target))  # each row, and the end
        self.scores = scores[self.ends - 1]
        self.owners = np.full(trials.n_recordings, -1, dtype=np.intp)  # speakers of recordings
        self.recordings = trials.recordings and tuple(side[order] for side in trials.recordings)
        for side, speakers in zip(self.recordings or (), (trials.first, trials.second), strict=False):
            self.owners[side] = speakers[order]

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute false rejection and acceptance rates before each step and after the last."""
        ends = np.append(0, self.ends)
        targets = self.targets_before[ends]
        others = ends - targets
        return ratio(targets, targets[-1]), 1 - ratio(others, others[-1])

    def errors(self, step: int) -> np.ndarray:
        """Say which trials are wrong if those of the first steps are rejected, float64 ``(n,)``."""
        rejected = np.arange(self.n) < np.append(0, self.ends)[step]
        return (rejected == self.target).astype(np.float64)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Add the factor of trials within a speaker, ``(replicates, speakers + 1)``."""
        return np.pad(weights.astype(np.int32), ((0, 0), (0, 1)), constant_values=1)

    def scan(
        self, weights: np.ndarray, find: Find, steps: np.ndarray, low: int = 0, high: int | None = None
    ) -> np.ndarray:
        """Apply a function to what is rejected at steps, ascending, of a window; a few replicates at a time.

        - ``weights``: from :meth:`weights`.
        - ``low, high``: first step of the window, and the first after it; its last one is among ``steps``.
        """
        below, everything = self.sums(weights, low), self.sums(weights, self.steps)
        length = self._end(self.steps if high is None else high) - self._end(low)
        at_a_time = max(1, _AT_A_TIME // length)
        values = []
        for start in range(0, len(weights), at_a_time):
            part = slice(start, start + at_a_time)
            rejected = [
                np.concatenate([before[part].T, before[part].T + more])
                for before, more in zip(below, self._rejected(weights[part], low, steps), strict=True)
            ]
            values.append(find(*rejected, *(kind[part].T for kind in everything)))
        return np.concatenate(values)

    def _end(self, step: int) -> int:
        """Count the trials of the first steps."""
        return int(self.ends[step - 1]) if step else 0

    def _rejected(self, weights: np.ndarray, low: int, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add up rejected targets and non-targets from step ``low`` on, ``(steps, replicates)`` each."""
        start, ends = self._end(low), self.ends[steps]
        rows = slice(start, ends[-1] if len(ends) else start)
        columns = np.ascontiguousarray(weights.T)  # so that replicates are added side by side
        products = columns.take(self.first[rows], axis=0)
        products *= columns.take(self.second[rows], axis=0)
        everything = np.cumsum(products, axis=0, dtype=np.int64).take(ends - start - 1, axis=0)
        before = self.targets_before
        target_rows = self.target_rows[before[rows.start] : before[rows.stop]] - start
        targets = np.zeros((len(target_rows) + 1, len(weights)), dtype=np.int64)
        np.cumsum(products.take(target_rows, axis=0), axis=0, out=targets[1:])
        targets = targets.take(before[ends] - before[start], axis=0)
        return targets, everything - targets

    def sums(self, weights: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up targets and non-targets of the first steps, float64 ``(replicates, 1)`` each."""
        target = self.target[: self._end(step)]
        return tuple(self.form(weights, np.flatnonzero(target == kind)) for kind in (True, False))

    def form(self, weights: np.ndarray, rows: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Add up values of trials, or count them, as a quadratic form of weights of speakers.

        - ``values``: float64, one a trial of ``rows``; exact if all sums are.
        - Returns float64 ``(replicates, 1)``.
        """
        size = self.speakers + 1
        values = np.ones(len(rows)) if values is None else values
        first, second, floats = self.first[rows], self.second[rows], weights.astype(np.float64)
        pairs = scipy.sparse.csr_array((values, (first, second)), shape=(size, size))
        return np.einsum("rk,rk->r", floats @ pairs, floats)[:, np.newaxis]

    def exact_layers(self, values: np.ndarray) -> Iterator[np.ndarray]:
        """Split values of trials into parts that sum to them, and whose weighted sums are exact."""
        within = self.second == self.speakers
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        pairs = low[~within].astype(np.int64) * self.speakers + high[~within]
        counts = np.unique(pairs, return_counts=True)[1]
        # Weights sum to the number of speakers, so no replicate adds up more trials than this.
        most = int(counts.max(initial=0)) * self.speakers**2
        most += int(np.bincount(self.first[within]).max(initial=0)) * self.speakers
        return layers(values, most, 3, _FINE)

    def groups(self, most: int) -> np.ndarray:
        """Join neighbouring steps to at most ``most`` equally filled ones; give the last step of each."""
        if self.steps <= most:
            return np.arange(self.steps)
        group = (self.ends - 1) * most // self.n
        return np.append(np.flatnonzero(group[1:] != group[:-1]), self.steps - 1)


class TrialStatistic(Weighted):
    """Values of trials, in most cases one."""

    def __init__(self, trials: Trials, costs: tuple[float, float] = (1.0, 1.0)) -> None:
        """Take trials, and what a false rejection and a false acceptance cost."""
        self.n_blocks = trials.speakers
        self._trials, self._costs = SortedTrials(trials), costs
        self.count = self._trials.n

    def _cost(self, frr: np.ndarray | float, far: np.ndarray | float) -> np.ndarray:
        return self._costs[0] * frr + self._costs[1] * far

    def blocks(self) -> np.ndarray:
        """Count the speakers of trials with a score."""
        speakers = np.union1d(self._trials.first, self._trials.second)
        return np.full(len(self.labels), int((speakers < self.n_blocks).sum()))

    def _texts(self) -> tuple[list[str], str]:
        missing = self._trials.total - self._trials.n
        refusal, note = missing_texts(missing, self._trials.total, "score", "trials")
        return [refusal or self._undefined()] * len(self.labels), refusal or note

    def _undefined(self) -> str:
        """Say that trials of one kind are missing."""
        targets = len(self._trials.target_rows)
        if self._trials.n == 0:
            return "no trials"
        if targets == 0:
            return "no target trials"
        return "no non-target trials" if targets == self._trials.n else ""

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates; see :class:`soundcheck.metrics.weighted.Weighted`."""
        shape = len(weights), len(self.labels)
        if self._undefined():
            return np.full(shape, np.nan)
        return self._evaluate(self._trials.weights(weights)).reshape(shape)

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of each replicate, ``(replicates, m)``, or ``(replicates,)`` if one."""
        raise NotImplementedError

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        """Add up the influence of the trials of each recording, or speaker; see :class:`.weighted.Weighted`.

        A trial counts with both of its recordings, but once with a speaker who is compared with herself.
        """
        trials = self._trials
        if trials.recordings is None:
            return None
        recordings, owners = trials.recordings, trials.owners
        if of_speakers:
            recordings, owners = (trials.first, trials.second), np.arange(trials.speakers)
            owners = np.where(np.isin(owners, trials.owners), owners, -1)
        if self._undefined():
            return np.full((len(owners), len(self.labels)), np.nan), owners
        losses = self._losses()
        if losses is None:
            return None
        loss, factors = losses
        for kind, factor in zip((True, False), factors, strict=True):
            rows = np.flatnonzero(trials.target == kind)
            loss[rows] = factor * (loss[rows] - loss[rows].mean()) / len(rows)
        sums = sum(np.bincount(side, loss, minlength=len(owners))[: len(owners)] for side in recordings)
        return sums[:, np.newaxis], owners

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]] | None:
        """Write the value as factors times the mean loss of targets and of others, in the order of scores.

        Only to first order, as trials are added. ``None``: the value is no such sum.
        """
        return None


class Search(TrialStatistic):
    """A value that lies at one of the steps, mostly in the same region."""

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._trials
        if trials.n * len(weights) <= _SMALL:
            return trials.scan(weights, self._find, self._steps(0, trials.steps))
        low, high = self._region(weights)
        values = trials.scan(weights, self._find, self._steps(low, high), low, high)
        elsewhere = np.flatnonzero(np.isnan(values))  # or undefined
        if len(elsewhere):
            values[elsewhere] = trials.scan(weights[elsewhere], self._find, self._steps(0, trials.steps))
        return values

    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        """Guess between which steps the value lies in nearly all replicates."""
        raise NotImplementedError

    def _steps(self, low: int, high: int) -> np.ndarray:
        """Choose the steps of a window that are looked at, ascending; the last one is among them."""
        return np.arange(low, high)

    def _find(self, *rejected: np.ndarray) -> np.ndarray:
        """Compute the value of each replicate, see :data:`Find`; NaN if it may lie outside of the window."""
        raise NotImplementedError


class WholeCurve(TrialStatistic):
    """Values that need all steps; see the module for large data."""

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        def find(*rejected: np.ndarray) -> np.ndarray:
            targets, others = (kind.T.astype(np.float64) for kind in rejected[:2])
            values = np.full((len(targets), len(self.labels)), np.nan)
            for n in np.flatnonzero((targets[:, -1] > 0) & (others[:, -1] > 0)):
                values[n] = self._of_steps(targets[n], others[n])
            return values

        most = _MOST_STEPS if len(weights) > 1 else self._trials.steps  # the value joins none
        return self._trials.scan(weights, find, self._trials.groups(most))

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray | float:
        """Compute the values from rejected targets and non-targets.

        Whole numbers, float64 ``(1 + steps,)``: none, then up to the end of each step; some in the end.
        """
        raise NotImplementedError


# Scores: cosines of embeddings, and scores measured against those of other speakers, the cohort

NORMS = ("z-norm", "t-norm", "s-norm", "adaptive s-norm")

_NUMBERS_AT_A_TIME = 2**17  # numbers that are multiplied at a time, 1 MB; they stay in the cache
_SAME = 1e-12  # relative; deviations below are those of equal numbers


def cosine_scores(
    enrolled: np.ndarray, tested: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Cosine of the angle between the two embeddings of each trial, float64 ``(T,)``.

    - ``enrolled, tested``: embeddings; may be the same array.
    - ``first, second``: for each trial the row of ``enrolled`` and that of ``tested``.

    >>> cosine_scores(np.eye(2), np.array([[3.0, 4.0]]), np.array([0, 1]), np.array([0, 0])).tolist()
    [0.6, 0.8]
    """
    left = _directions(enrolled)
    right = left if tested is enrolled else _directions(tested)
    scores = np.empty(len(first))
    for part in _parts(len(first), enrolled.shape[1]):
        products = left.take(first[part], axis=0)
        products *= right.take(second[part], axis=0)
        scores[part] = products.sum(axis=1)
    return np.clip(scores, -1.0, 1.0, out=scores)


def mean_directions(
    embeddings: np.ndarray, members: np.ndarray, member_of: np.ndarray, count: int
) -> np.ndarray:
    """Average the embeddings of each enrolment's members, each brought to length 1 before.

    - ``members``: rows that belong to an enrolment; one that is listed twice for it counts twice.
    - ``member_of``: number of the enrolment that each member belongs to, from 0 to ``count - 1``.
    - Returns float64 ``(count, d)``, of length 1 or less. Members without direction are passed over; NaN
      where none is left.

    >>> mean_directions(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1]), np.array([0, 0]), 1).tolist()
    [[0.5, 0.5]]
    """
    units = _directions(embeddings)
    usable = ~np.isnan(units).any(axis=1)
    units[~usable] = 0.0
    members, member_of = (each[usable[members]] for each in (members, member_of))
    belonging = scipy.sparse.csr_array(
        (np.ones(len(members)), (member_of, members)), shape=(count, len(units))
    )
    counts = np.bincount(member_of, minlength=count)[:, np.newaxis]
    means = np.full((count, embeddings.shape[1]), np.nan)
    return np.divide(belonging @ units, counts, out=means, where=counts > 0)


def _parts(rows: int, dimensions: int) -> list[slice]:
    at_a_time = max(1, _NUMBERS_AT_A_TIME // max(1, dimensions))
    return [slice(start, start + at_a_time) for start in range(0, rows, at_a_time)]


def _directions(embeddings: np.ndarray) -> np.ndarray:
    """Bring embeddings to length 1, float64; a row of NaN where there is no direction."""
    units = np.empty(embeddings.shape)
    for part in _parts(*embeddings.shape):
        rows = embeddings[part].astype(np.float64, order="C")
        largest = np.maximum(rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0))
        largest[~np.isfinite(largest) | (largest == 0)] = np.nan
        rows /= largest[:, np.newaxis]  # so that squares neither overflow nor vanish
        rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        units[part] = rows
    return units


def normalised_scores(
    scores: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    enrolled: np.ndarray,
    tested: np.ndarray,
    top: int,
) -> dict[str, np.ndarray]:
    r"""Normalise the scores of trials in all ways, name of :data:`NORMS` -> float64 ``(N,)``.

    With the mean and the standard deviation (divisor the number of scores) of what a side scores against the
    cohort, :math:`z = (s - \mu_e) / \sigma_e` of the enrolled side, and :math:`t` likewise of the tested
    side: ``z-norm`` is :math:`z`, ``t-norm`` is :math:`t`, ``s-norm`` is :math:`(z + t) / 2`, and ``adaptive
    s-norm`` is the same with the highest scores of each side only. Auckenthaler, Carey and Lloyd-Thomas
    (2000), Score normalization for text-independent speaker verification systems; Kenny (2010), Bayesian
    speaker verification with heavy-tailed priors; Matejka et al. (2017), Analysis of score normalization in
    multilingual speaker recognition.

    - ``first, second``: rows of ``enrolled`` and of ``tested`` that a trial compares.
    - ``enrolled, tested``: scores of each side against the cohort, float64 ``(rows, cohort)``.
    - ``top``: how many of the highest scores the adaptive way looks at, at least 2; all if the cohort is
      smaller.
    - Returns NaN where a side scores the same against all of the cohort, or has no score against it.

    >>> cohort, row = np.array([[0.0, 0.2]]), np.array([0])
    >>> normalised_scores(np.array([0.4]), row, row, cohort, cohort, 2)["s-norm"].round(9).tolist()
    [3.0]
    """
    z, t = _against(scores, first, enrolled), _against(scores, second, tested)
    highest = [np.sort(cohort, axis=1)[:, -top:] for cohort in (enrolled, tested)]
    adaptive = _against(scores, first, highest[0]), _against(scores, second, highest[1])
    return dict(zip(NORMS, (z, t, (z + t) / 2, sum(adaptive) / 2), strict=True))


def _against(scores: np.ndarray, rows: np.ndarray, cohort: np.ndarray) -> np.ndarray:
    """Say by how many standard deviations scores lie above those of one side, float64 ``(N,)``."""
    mean, deviation = cohort.mean(axis=1), cohort.std(axis=1)
    deviation[deviation <= _SAME * np.abs(mean)] = np.nan
    return (scores - mean[rows]) / deviation[rows]
