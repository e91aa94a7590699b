r"""Errors of speaker verification: equal error rate, costs, trade-off between errors.

A trial compares two recordings; its score says how likely they are of one speaker. Trials that share a
speaker are alike, so speakers are resampled: a trial of two speakers counts as often as the product of how
often each was drawn, a trial of a speaker with herself as often as she was drawn.

Martin et al. (1997), The DET curve in assessment of detection task performance. Poh and Bengio (2007),
Estimating the confidence interval of expected performance curve in biometric authentication using joint
bootstrap. Bruemmer and du Preez (2006), Application-independent evaluation of speaker detection.

Conventions
-----------
- A trial is accepted if its score lies *above* the threshold. Thresholds are all scores that occur, and minus
  infinity; trials with equal scores are accepted or rejected together.
- False rejection rate (miss): rejected among the trials of one speaker (targets). False acceptance rate
  (false alarm): accepted among the trials of two (non-targets).
- Replicates are exact: weights are whole numbers and so are all sums. Sorting happens once. Large data are
  not gone through in each replicate: what lies outside the window where the rates cross is known from counts
  of pairs of speakers.
- What needs the whole curve in each replicate (:func:`missed_at`, :func:`min_log_likelihood_cost`) goes
  through all steps up to 16384 different scores. If there are more, its replicates, but not its value, join
  neighbouring scores to at most as many equally filled steps.
- Trials without score are unanswered (see :mod:`soundcheck.metrics.additive`).

Public: :class:`Trials`, :func:`equal_error_rate`, :func:`equal_error_threshold`, :func:`min_dcf`,
:func:`min_dcf_threshold`, :func:`actual_dcf`, :func:`false_acceptance_rate`, :func:`false_rejection_rate`,
:func:`det_curve`, :func:`missed_at`, :func:`log_likelihood_cost`, :func:`min_log_likelihood_cost`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.sparse
from scipy.optimize import isotonic_regression

from soundcheck.metrics.additive import (
    UNANSWERED_NOTED,
    UNANSWERED_REFUSED,
    Point,
    checked_point,
    numbers,
    ratio,
    same_length,
)
from soundcheck.metrics.weighted import Weighted

P_TARGET, C_MISS, C_FALSE_ALARM = 0.05, 1.0, 1.0

_AT_A_TIME = 2**18  # products of weights that are made at a time; they stay in the cache
_SMALL = 2**20  # products in all, up to which every replicate goes through all trials
_FEW = 8  # trials a speaker below which counting pairs does not pay
_PILOT = 16  # replicates that find out where the rates cross
_DENSE = 2048  # speakers up to which pairs are counted in a full table
_MOST_STEPS = 2**14  # steps that replicates of a whole curve go through
_PIECE, _ABREAST = 2**11, 64  # trials and replicates that are multiplied at a time; 1 MB stays in the cache
_NOISE = 1e-12  # relative; products of rates and whole numbers are closer than this to what they should be
_LARGEST = 1e100  # scores beyond count as this for costs, whose sums would overflow
_FINE = 2.0**-45  # of the largest number; finer parts of numbers need no layer of their own


@dataclasses.dataclass(frozen=True, eq=False)
class Trials:
    """Scored trials.

    Parameters
    ----------
    scores
        float64 ``(N,)``; higher means more alike, NaN if missing.
    target
        bool ``(N,)``; whether both recordings are of one speaker.
    first, second
        Speakers of the two recordings, whole numbers from 0 to ``speakers - 1``, ``(N,)``.
    speakers
        Number of speakers.

    Raises
    ------
    ValueError
        If lengths differ, a score is infinite or a speaker's number out of range.
    """

    scores: np.ndarray
    target: np.ndarray
    first: np.ndarray
    second: np.ndarray
    speakers: int

    def __post_init__(self) -> None:
        for array in (self.target, self.first, self.second):
            same_length(self.scores, array)
        if self.target.dtype != bool or np.isinf(self.scores).any():
            raise ValueError("Targets are True or False, and scores finite or missing.")
        for codes in (self.first, self.second):
            if codes.dtype.kind not in "iu" or (
                len(codes) and not 0 <= codes.min() <= codes.max() < self.speakers
            ):
                raise ValueError(f"Speakers are whole numbers from 0 to {self.speakers - 1}.")

    @classmethod
    def of(
        cls,
        scores: Sequence[float],
        target: Sequence[bool],
        first: Sequence[object],
        second: Sequence[object],
    ) -> Trials:
        """Give speakers numbers in the order of their names.

        Parameters
        ----------
        scores, target
            See the class.
        first, second
            Names of the speakers, ``(N,)``, texts or numbers.
        """
        scores = numbers(scores)
        both = pd.Series([*first, *second], dtype=object)
        codes, names = pd.factorize(both, sort=True)
        if (codes < 0).any():
            raise ValueError(f"{int((codes < 0).sum())} recordings have no speaker.")
        half = len(codes) // 2
        return cls(scores, np.asarray(target, dtype=bool), codes[:half], codes[half:], len(names))

    def only(self, mask: np.ndarray) -> Trials:
        """Keep some trials, with the same numbers of speakers, so that groups share replicates.

        Parameters
        ----------
        mask
            bool ``(N,)``; the trials to keep.

        Raises
        ------
        ValueError
            If the mask is not bool or has another length.
        """
        mask = np.asarray(mask)
        same_length(self.scores, mask)
        if mask.dtype != bool:
            raise ValueError("A mask is True or False.")
        return dataclasses.replace(
            self,
            scores=self.scores[mask],
            target=self.target[mask],
            first=self.first[mask],
            second=self.second[mask],
        )

    def __len__(self) -> int:
        return len(self.scores)


class _Sorted:
    """Trials with a score, in ascending order; equal scores form a step."""

    def __init__(self, trials: Trials) -> None:
        there = np.flatnonzero(~np.isnan(trials.scores))
        order = there[np.argsort(trials.scores[there], kind="stable")]
        scores = trials.scores[order]
        self.n = len(order)
        self.speakers = trials.speakers
        self.target = trials.target[order]
        self.first = trials.first[order].astype(np.int32)
        second = trials.second[order]
        # A trial of a speaker with herself takes her weight once: the other factor is always 1.
        self.second = np.where(self.first == second, trials.speakers, second).astype(np.int32)
        self.ends = np.append(np.flatnonzero(scores[1:] != scores[:-1]) + 1, self.n)[: self.n]
        self.scores = scores[self.ends - 1]
        self.unanswered = len(trials) - self.n
        self.total = len(trials)

    @property
    def steps(self) -> int:
        """Number of different scores."""
        return len(self.ends)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Add the factor of trials within a speaker, ``(replicates, speakers + 1)``."""
        ones = np.ones((len(weights), 1), dtype=np.int32)
        return np.concatenate([weights.astype(np.int32), ones], axis=1)

    def rejected(self, weights: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up what is rejected from step ``low`` on; weights from :meth:`weights`.

        Returns
        -------
        tuple of numpy.ndarray
            Targets and non-targets, int64 ``(replicates, high - low)``: weights up to the end of each step.
        """
        start = self.ends[low - 1] if low else 0
        rows = slice(start, self.ends[high - 1] if high else 0)
        products = weights.take(self.first[rows], axis=1)
        products *= weights.take(self.second[rows], axis=1)
        last = self.ends[low:high] - start - 1
        everything = np.cumsum(products, axis=1, dtype=np.int64).take(last, axis=1)
        targets = np.cumsum(products * self.target[rows], axis=1, dtype=np.int64).take(last, axis=1)
        return targets, everything - targets

    def sums(self, weights: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up targets and non-targets of the first steps, float64 ``(replicates, 1)`` each.

        Trials are counted for each pair of speakers; the sum is a quadratic form of the weights.
        """
        end = self.ends[step - 1] if step else 0
        return tuple(self.form(weights, np.flatnonzero(self.target[:end] == kind)) for kind in (True, False))

    def form(self, weights: np.ndarray, rows: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Add up values of trials, or count them, as a quadratic form, float64 ``(replicates, 1)``.

        Parameters
        ----------
        weights
            From :meth:`weights`.
        rows
            Places of the trials.
        values
            float64, one a trial of ``rows``; exact if all sums are.
        """
        size = self.speakers + 1
        first, second = self.first[rows], self.second[rows]
        floats = weights.astype(np.float64)
        if size <= _DENSE:
            place = first.astype(np.int64) * size + second
            pairs = np.bincount(place, values, minlength=size * size).reshape(size, size).astype(np.float64)
            product = floats @ pairs
        else:
            values = np.ones(len(first)) if values is None else values
            pairs = scipy.sparse.csr_array((values, (second, first)), shape=(size, size))
            product = (pairs @ floats.T).T
        return np.einsum("rk,rk->r", product, floats)[:, np.newaxis]

    def layers(self, values: np.ndarray) -> Iterator[np.ndarray]:
        """Split values of trials into parts that sum to them, and whose weighted sums are exact.

        Multiples of a power of two add up without rounding as long as their sum has at most 53 bits. What
        the first grid cuts off goes to a finer one.
        """
        within = self.second == self.speakers
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        pairs = low[~within].astype(np.int64) * self.speakers + high[~within]
        counts = np.unique(pairs, return_counts=True)[1]
        # Weights sum to the number of speakers, so no replicate adds up more trials than this.
        most = int(counts.max(initial=0)) * self.speakers**2
        most += int(np.bincount(self.first[within]).max(initial=0)) * self.speakers
        size = largest = float(np.abs(values).max(initial=0.0))
        for _ in range(3):
            if size <= _FINE * largest:
                return
            exponent = max(int(np.frexp(size)[1]), -900)
            anchor = np.ldexp(1.5, exponent + most.bit_length())
            on_grid = values + anchor
            on_grid -= anchor
            yield on_grid
            values = values - on_grid
            size = float(np.abs(values).max())

    def groups(self, most: int) -> np.ndarray:
        """Join neighbouring steps to at most ``most`` equally filled ones; give the last step of each."""
        if self.steps <= most:
            return np.arange(self.steps)
        group = (self.ends - 1) * most // self.n
        return np.append(np.flatnonzero(group[1:] != group[:-1]), self.steps - 1)

    def counted(
        self, weights: np.ndarray, groups: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Add up the weights of each group of steps, some replicates at a time.

        Parameters
        ----------
        weights
            From :meth:`weights`.
        groups
            From :meth:`groups`.

        Yields
        ------
        tuple
            Replicates, and their targets and non-targets, float64 ``(replicates, groups)``; whole numbers.
        """
        sizes = np.diff(self.ends[groups], prepend=0)
        cell = 2 * np.repeat(np.arange(len(groups)), sizes) + self.target
        order = np.argsort(cell, kind="stable")
        first, second, cell = self.first[order], self.second[order], cell[order]
        pieces = []
        for start in range(0, self.n, _PIECE):
            piece = slice(start, start + _PIECE)
            own = cell[piece]
            begins = np.append(0, np.flatnonzero(own[1:] != own[:-1]) + 1)
            shape, ends = (len(begins), len(own)), np.append(begins, len(own))
            adding = scipy.sparse.csr_array((np.ones(len(own)), np.arange(len(own)), ends), shape=shape)
            pieces.append((first[piece], second[piece], own[begins], adding))
        for start in range(0, len(weights), _ABREAST):
            part = slice(start, start + _ABREAST)
            columns = np.ascontiguousarray(weights[part].T, dtype=np.float64)
            counts = np.zeros((2 * len(groups), columns.shape[1]))
            for one, other, cells, adding in pieces:
                products = columns.take(one, axis=0)
                products *= columns.take(other, axis=0)
                counts[cells] += adding @ products
            yield part, np.ascontiguousarray(counts[1::2].T), np.ascontiguousarray(counts[::2].T)


class _Statistic(Weighted):
    """Values of trials, in most cases one."""

    labels = ("",)

    def __init__(self, trials: Trials) -> None:
        self.n_blocks = trials.speakers
        self._trials = trials
        self._sorted = _Sorted(trials)

    def blocks(self) -> np.ndarray:
        trials = self._sorted
        there = np.zeros(self.n_blocks + 1, dtype=bool)
        there[trials.first] = there[trials.second] = True
        return np.full(len(self.labels), int(there[: self.n_blocks].sum()))

    def point(self) -> Point:
        trials = self._sorted
        m = len(self.labels)
        text = f"no score for {trials.unanswered} of {trials.total} trials"
        share = trials.unanswered / trials.total if trials.total else 0.0
        reason = text if share > UNANSWERED_REFUSED else self._one_kind()
        note = text if share > UNANSWERED_NOTED else ""
        return checked_point(self._value(), np.full(m, trials.n), [reason] * m, [note] * m)

    def _value(self) -> np.ndarray:
        """Compute the values from all trials, ``(m,)``."""
        return self.evaluate(np.ones((1, self.n_blocks), dtype=np.uint16))[0]

    def _one_kind(self) -> str:
        targets = int(self._sorted.target.sum())
        if self._sorted.n == 0:
            return "no trials"
        return (
            "no target trials"
            if targets == 0
            else "no non-target trials"
            if targets == self._sorted.n
            else ""
        )

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        weights = self._sorted.weights(weights)
        if self._one_kind():
            return np.full((len(weights), len(self.labels)), np.nan)
        return self._evaluate(weights).reshape(len(weights), len(self.labels))

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of each replicate, ``(replicates, m)``, or ``(replicates,)`` if one."""
        raise NotImplementedError

    def _in_window(
        self, weights: np.ndarray, low: int, high: int, function: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """Go through a window of steps, a few replicates at a time.

        Parameters
        ----------
        weights
            From :meth:`_Sorted.weights`.
        low, high
            First step of the window, and the first after it.
        function
            Takes rejected targets and non-targets ``(replicates, 1 + high - low)``, the first column being
            what lies before the window, and all targets and non-targets ``(replicates, 1)``.

        Returns
        -------
        numpy.ndarray
            What the function gives, one row a replicate.
        """
        trials = self._sorted
        nothing = (np.zeros((len(weights), 1), dtype=np.int64),) * 2
        below = trials.sums(weights, low) if low else nothing
        total = trials.sums(weights, trials.steps) if (low, high) != (0, trials.steps) else None
        length = int(trials.ends[high - 1] - (trials.ends[low - 1] if low else 0))
        at_a_time = max(1, _AT_A_TIME // length)
        found = []
        for start in range(0, len(weights), at_a_time):
            part = slice(start, start + at_a_time)
            inside = trials.rejected(weights[part], low, high)
            rejected = [
                np.concatenate([own[part], own[part] + more], axis=1)
                for own, more in zip(below, inside, strict=True)
            ]
            everything = [own[part] for own in total] if total else [own[:, -1:] for own in rejected]
            found.append(function(*rejected, *everything))
        return np.concatenate(found)

    def _everywhere(self, weights: np.ndarray) -> np.ndarray:
        return self._in_window(weights, 0, self._sorted.steps, self._find)

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Compute the value and a remark on it, ``(replicates, 2)``; see :meth:`_in_window`."""
        raise NotImplementedError


class _Search(_Statistic):
    """A value that lies at one of the steps, mostly in the same region."""

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._sorted
        if trials.n * len(weights) <= _SMALL or trials.n < _FEW * trials.speakers:
            return self._everywhere(weights)[:, 0]
        low, high = self._region(weights)
        found = self._in_window(weights, low, high, self._find)[:, 0]
        elsewhere = np.flatnonzero(np.isnan(found))  # or undefined
        if len(elsewhere):
            found[elsewhere] = self._everywhere(weights[elsewhere])[:, 0]
        return found

    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        """Guess between which steps the value lies in nearly all replicates."""
        raise NotImplementedError


class _EqualErrorRate(_Search):
    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        place = self._everywhere(weights[:_PILOT])[:, 1]
        place = place[~np.isnan(place)]
        steps = self._sorted.steps
        if not len(place):
            return 0, steps
        reach = np.ptp(place) + steps // 1000 + 1
        return int(max(0, place.min() - reach)), int(min(steps, place.max() + reach + 1))

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Find where the rates of rejected targets and accepted non-targets cross; NaN if not in the window.

        Whole numbers decide on which side of the crossing a step lies: targets rejected times all
        non-targets, plus non-targets rejected times all targets, reach the product of all.
        """
        side = targets * all_others + others * all_targets >= all_targets * all_others
        step = side.argmax(axis=1)
        row = np.flatnonzero((step > 0) & (all_targets > 0)[:, 0] & (all_others > 0)[:, 0])
        frr, far = np.empty((2, 2, len(row)))  # before and at the step
        for n, place in enumerate((step[row] - 1, step[row])):
            frr[n] = targets[row, place] / all_targets[row, 0]
            far[n] = 1 - others[row, place] / all_others[row, 0]
        before, after = far - frr
        found = np.full((len(targets), 2), np.nan)
        found[row, 0] = frr[0] + before / (before - after) * (frr[1] - frr[0])
        found[row, 1] = step[row]
        return found


def equal_error_rate(trials: Trials) -> Weighted:
    """Rate at which as many targets are rejected as non-targets are accepted.

    Between the two thresholds where the order of the rates changes both are interpolated linearly.

    Parameters
    ----------
    trials
        Scored trials.

    Returns
    -------
    Weighted
        One value from 0 to 1, lower is better; undefined without targets or without non-targets.
    """
    return _EqualErrorRate(trials)


def equal_error_threshold(trials: Trials) -> float:
    """Threshold at which the two error rates are equal, interpolated as the rate is; NaN if undefined."""
    thresholds, far, frr = det_curve(trials)
    after = int(np.argmax(far <= frr))
    if np.isnan(far).any() or after == 0:
        return np.nan
    before, at = far[after - 1] - frr[after - 1], far[after] - frr[after]
    if after == 1:  # the other threshold is minus infinity
        return float(thresholds[1])
    part = before / (before - at)
    return float(thresholds[after - 1] + part * (thresholds[after] - thresholds[after - 1]))


class _Cost(_Statistic):
    def __init__(self, trials: Trials, miss: float, false_alarm: float, scale: float) -> None:
        super().__init__(trials)
        self._costs = miss / scale, false_alarm / scale

    def _cost(self, frr: np.ndarray, far: np.ndarray) -> np.ndarray:
        return self._costs[0] * frr + self._costs[1] * far


class _MinCost(_Cost, _Search):
    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        """Leave out steps at which one of the two errors alone costs clearly more than the lowest cost."""
        ones = np.ones((1, weights.shape[1]), dtype=np.int32)
        targets, others = (part[0] for part in self._sorted.rejected(ones, 0, self._sorted.steps))
        limit = 1.2 * self._everywhere(ones)[0, 0]
        cheap_alarms = self._cost(0.0, 1 - others / others[-1]) < limit
        cheap_misses = self._cost(targets / targets[-1], 0.0) < limit
        kept = np.flatnonzero(cheap_alarms & cheap_misses)
        return (int(kept[0]), int(kept[-1]) + 1) if len(kept) else (0, self._sorted.steps)

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Find the lowest cost; NaN if it may be lower outside of the window."""
        frr, far = ratio(targets, all_targets), 1 - ratio(others, all_others)
        lowest = self._cost(frr, far).min(axis=1)
        # Before the window there are at least its first false alarms, after it at least its last misses.
        sure = lowest <= np.minimum(self._cost(0.0, far[:, 0]), self._cost(frr[:, -1], 0.0))
        return np.stack([np.where(sure, lowest, np.nan), np.zeros(len(lowest))], axis=1)


class _AtThreshold(_Cost):
    def __init__(
        self, trials: Trials, threshold: float, costs: tuple[float, float], scale: float = 1.0
    ) -> None:
        super().__init__(trials, *costs, scale)
        if np.isnan(threshold):
            raise ValueError("A threshold is a number.")
        self._step = int(np.searchsorted(self._sorted.scores, threshold, side="right"))

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._sorted
        targets, others = trials.sums(weights, self._step)
        all_targets, all_others = trials.sums(weights, trials.steps)
        return self._cost(ratio(targets, all_targets), 1 - ratio(others, all_others))[:, 0]


def _costs(
    p_target: float, c_miss: float, c_false_alarm: float, normalised: bool
) -> tuple[float, float, float]:
    if not (0 < p_target < 1 and c_miss > 0 and c_false_alarm > 0):
        raise ValueError("The probability of a target lies between 0 and 1, and costs are above 0.")
    miss, false_alarm = c_miss * p_target, c_false_alarm * (1 - p_target)
    return miss, false_alarm, min(miss, false_alarm) if normalised else 1.0


def min_dcf(
    trials: Trials,
    p_target: float = P_TARGET,
    c_miss: float = C_MISS,
    c_false_alarm: float = C_FALSE_ALARM,
    *,
    normalised: bool = False,
) -> Weighted:
    r"""Lowest detection cost over all thresholds.

    .. math:: \min_\tau\; C_\mathrm{miss} P_\mathrm{target}\, \mathrm{FRR}(\tau)
              + C_\mathrm{fa} (1 - P_\mathrm{target})\, \mathrm{FAR}(\tau)

    Parameters
    ----------
    trials
        Scored trials.
    p_target
        Probability of a target in use.
    c_miss, c_false_alarm
        Costs of the two errors.
    normalised
        Divide by the cost of the better of accepting and rejecting everybody, as many tools do.

    Returns
    -------
    Weighted
        One value from 0 to the cost of the better of accepting and rejecting everybody, 1 if normalised.
    """
    return _MinCost(trials, *_costs(p_target, c_miss, c_false_alarm, normalised))


def min_dcf_threshold(
    trials: Trials,
    p_target: float = P_TARGET,
    c_miss: float = C_MISS,
    c_false_alarm: float = C_FALSE_ALARM,
) -> float:
    """Threshold at which the detection cost is lowest; see :func:`min_dcf`.

    Returns
    -------
    float
        A score that occurs, or minus infinity, for accepting what lies above it; NaN if undefined. Of several
        thresholds with the same cost the middle one, of two middle ones the lower.
    """
    miss, false_alarm, _ = _costs(p_target, c_miss, c_false_alarm, False)
    thresholds, far, frr = det_curve(trials)
    cost = miss * frr + false_alarm * far
    lowest = np.flatnonzero(cost <= cost.min() * (1 + _NOISE))
    return float(thresholds[lowest[(len(lowest) - 1) // 2]]) if len(lowest) else np.nan


def actual_dcf(
    trials: Trials,
    threshold: float,
    p_target: float = P_TARGET,
    c_miss: float = C_MISS,
    c_false_alarm: float = C_FALSE_ALARM,
    *,
    normalised: bool = False,
) -> Weighted:
    """Compute the detection cost at a threshold that was fixed before; see :func:`min_dcf`."""
    miss, false_alarm, scale = _costs(p_target, c_miss, c_false_alarm, normalised)
    return _AtThreshold(trials, threshold, (miss, false_alarm), scale)


def false_acceptance_rate(trials: Trials, threshold: float) -> Weighted:
    """Share of non-targets that are accepted, from 0 to 1."""
    return _AtThreshold(trials, threshold, (0.0, 1.0))


def false_rejection_rate(trials: Trials, threshold: float) -> Weighted:
    """Share of targets that are rejected, from 0 to 1."""
    return _AtThreshold(trials, threshold, (1.0, 0.0))


def det_curve(trials: Trials) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute both error rates at every threshold.

    Returns
    -------
    tuple of numpy.ndarray
        Thresholds in ascending order, beginning with minus infinity, false acceptance rates and false
        rejection rates, float64 ``(T,)`` each; NaN without targets or without non-targets.
    """
    ordered = _Sorted(trials)
    targets, others = ordered.rejected(np.ones((1, ordered.speakers + 1), dtype=np.int32), 0, ordered.steps)
    targets, others = (np.concatenate([[0], array[0]]) for array in (targets, others))
    thresholds = np.concatenate([[-np.inf], ordered.scores])
    return thresholds, 1 - ratio(others, others[-1]), ratio(targets, targets[-1])


class _WholeCurve(_Statistic):
    """Values that need all steps; see the module for large data."""

    def _value(self) -> np.ndarray:
        if self._one_kind():
            return np.full(len(self.labels), np.nan)
        ones = np.ones((1, self.n_blocks + 1), dtype=np.int32)
        return self._along(ones, self._sorted.groups(self._sorted.steps))[0]

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        return self._along(weights, self._sorted.groups(_MOST_STEPS))

    def _along(self, weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
        found = np.full((len(weights), len(self.labels)), np.nan)
        for part, targets, others in self._sorted.counted(weights, groups):
            for row, own, other in zip(found[part], targets, others, strict=True):
                if own.any() and other.any():
                    row[:] = self._of_steps(own, other)
        return found

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray | float:
        """Compute the values from targets and non-targets of each step, ``(steps,)``, some of each."""
        raise NotImplementedError


class _MissedAt(_WholeCurve):
    def __init__(self, trials: Trials, rates: Sequence[float]) -> None:
        super().__init__(trials)
        self._rates = np.array(rates, dtype=np.float64)
        if self._rates.ndim != 1 or not ((self._rates >= 0) & (self._rates <= 1)).all():
            raise ValueError("False acceptance rates lie from 0 to 1.")
        self.labels = tuple(f"{rate:.12g}" for rate in self._rates)

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Find the first step with so few false acceptances, and go back to where the curve crosses."""
        targets, others = (np.concatenate([[0.0], np.cumsum(kind)]) for kind in (targets, others))
        wanted = (1 - self._rates) * others[-1]  # rejected non-targets
        whole = np.rint(wanted)
        wanted = np.where(np.abs(wanted - whole) <= _NOISE * others[-1], whole, wanted)
        step = np.searchsorted(others, wanted)
        before = np.maximum(step - 1, 0)
        part = np.where(step > 0, ratio(wanted - others[before], others[step] - others[before]), 0.0)
        return (targets[before] + part * (targets[step] - targets[before])) / targets[-1]


def missed_at(trials: Trials, rates: Sequence[float]) -> Weighted:
    """Find the false rejection rates at false acceptance rates, points on the curve of :func:`det_curve`.

    Quantiles of the replicates at many rates are a confidence band of the curve. Between two thresholds both
    rates are interpolated linearly, as for :func:`equal_error_rate`. Where several thresholds have the false
    acceptance rate, the lowest false rejection rate counts.

    Parameters
    ----------
    trials
        Scored trials.
    rates
        False acceptance rates from 0 to 1, ``(m,)``; as texts they are the labels.

    Returns
    -------
    Weighted
        ``m`` values from 0 to 1, lower is better; undefined without targets or without non-targets. If steps
        are joined, replicates are off by less than the share of targets in the step that is crossed.

    Raises
    ------
    ValueError
        If a rate does not lie from 0 to 1.
    """
    return _MissedAt(trials, rates)


class _LogLikelihoodCost(_Statistic):
    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._sorted
        scores = np.clip(trials.scores, -_LARGEST, _LARGEST)
        costs = np.where(trials.target, -1.0, 1.0)
        costs *= np.repeat(scores, np.diff(trials.ends, prepend=0))
        costs = np.logaddexp(0.0, costs) / np.log(2)
        kinds = [np.flatnonzero(trials.target == kind) for kind in (True, False)]
        sums = [np.zeros((len(weights), 1)) for _ in kinds]
        for layer in trials.layers(costs):
            for rows, found in zip(kinds, sums, strict=True):
                found += trials.form(weights, rows, layer[rows])
        counts = trials.sums(weights, trials.steps)
        return sum(ratio(found, count) for found, count in zip(sums, counts, strict=True)) / 2


def log_likelihood_cost(trials: Trials) -> Weighted:
    r"""Cost of scores as log-likelihood ratios, over all probabilities and costs in use: Cllr.

    .. math:: \frac{1}{2}\, \mathrm{mean}_\mathrm{targets}\, \log_2(1 + e^{-s})
              + \frac{1}{2}\, \mathrm{mean}_\mathrm{non-targets}\, \log_2(1 + e^{s})

    Bruemmer and du Preez (2006).

    Parameters
    ----------
    trials
        Trials whose scores ``s`` are natural logarithms of likelihood ratios.

    Returns
    -------
    Weighted
        One value in bits, 0 or more, lower is better; 1 is what a system that knows nothing and always says
        0 reaches. Undefined without targets or without non-targets.
    """
    return _LogLikelihoodCost(trials)


class _MinLogLikelihoodCost(_WholeCurve):
    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> float:
        """Pool adjacent steps until the share of targets rises; a pool has one likelihood ratio."""
        both = targets + others
        there = np.flatnonzero(both)
        targets, both = targets[there], both[there]
        blocks = isotonic_regression(targets / both, weights=both).blocks[:-1]
        targets, both = np.add.reduceat(targets, blocks), np.add.reduceat(both, blocks)
        own, other = targets / targets.sum(), (both - targets) / (both - targets).sum()
        # exp(-s) is other / own, and what has no share costs nothing.
        parts = (kind * np.log2((own + other) / np.where(kind > 0, kind, 1.0)) for kind in (own, other))
        return float(sum(parts).sum() / 2)


def min_log_likelihood_cost(trials: Trials) -> Weighted:
    """Lowest Cllr that any rising map of the scores to log-likelihood ratios reaches.

    The best map has a step for each edge of the convex hull of the curve of errors, and is found by pooling
    adjacent scores. What :func:`log_likelihood_cost` has more is lost by bad calibration. Bruemmer and du
    Preez (2006).

    Parameters
    ----------
    trials
        Scored trials; any scores.

    Returns
    -------
    Weighted
        One value from 0 to 1, in bits, lower is better; undefined without targets or without non-targets. If
        steps are joined, replicates are slightly too high.
    """
    return _MinLogLikelihoodCost(trials)
