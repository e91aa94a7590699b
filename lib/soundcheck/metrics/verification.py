r"""Errors of speaker verification: equal error rate, costs, trade-off between errors.

Martin et al. (1997), The DET curve in assessment of detection task performance.

Conventions
-----------
- A trial is accepted if its score lies *above* the threshold. Trials, their order and their replicates are
  those of :mod:`soundcheck.metrics.trials`.
- False rejection rate (miss): rejected among the targets. False acceptance rate (false alarm): accepted among
  the non-targets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import ratio
from soundcheck.metrics.trials import SortedTrials, Trials, TrialStatistic, WholeCurve
from soundcheck.metrics.weighted import Weighted

P_TARGET, C_MISS, C_FALSE_ALARM = 0.05, 1.0, 1.0

_SMALL = 2**20  # products in all, up to which every replicate goes through all trials
_FEW = 8  # trials a speaker below which counting pairs does not pay
_PILOT = 16  # replicates that find out where the rates cross
_NOISE = 1e-12  # relative; products of rates and whole numbers are closer than this to what they should be


class _Rejecting(TrialStatistic):
    """A value of both error rates."""

    def _errors(self, end: int) -> np.ndarray:
        """Say which trials are wrong if the first ones, up to ``end``, are rejected, float64 ``(n,)``."""
        rejected = np.arange(self._sorted.n) < end
        return (rejected == self._sorted.target).astype(np.float64)

    def _rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute false rejection and acceptance rates before each step and after the last."""
        ends = np.append(0, self._sorted.ends)
        targets = self._sorted.targets_before[ends]
        return targets / targets[-1], 1 - (ends - targets) / (ends - targets)[-1]


class _Search(_Rejecting):
    """A value that lies at one of the steps, mostly in the same region."""

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._sorted
        if trials.n * len(weights) <= _SMALL or trials.n < _FEW * trials.speakers:
            return self._everywhere(weights)[:, 0]
        low, high = self._region(weights)
        found = self._in_window(weights, low, high)[:, 0]
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
        step = side.argmax(axis=0)
        row = np.flatnonzero((step > 0) & (all_targets > 0)[0] & (all_others > 0)[0])
        frr, far = np.empty((2, 2, len(row)))  # before and at the step
        for n, place in enumerate((step[row] - 1, step[row])):
            frr[n] = targets[place, row] / all_targets[0, row]
            far[n] = 1 - others[place, row] / all_others[0, row]
        before, after = far - frr
        found = np.full((targets.shape[1], 2), np.nan)
        found[row, 0] = frr[0] + before / (before - after) * (frr[1] - frr[0])
        found[row, 1] = step[row]
        return found

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        """Both rates where they cross; as the threshold moves, it is the flatter curve that counts."""
        frr, far = self._rates()
        apart, ends = far - frr, np.append(0, self._sorted.ends)
        step = int(np.argmax(apart <= 0))
        part = apart[step - 1] / (apart[step - 1] - apart[step])  # of the step at the crossing
        errors = (1 - part) * self._errors(ends[step - 1]) + part * self._errors(ends[step])
        rate, least = errors[self._sorted.target].mean(), min(len(self._sorted.target_rows), self._sorted.n)
        least = min(least, self._sorted.n - len(self._sorted.target_rows))
        reach = 2 * np.sqrt((rate * (1 - rate) + 1 / least) / least)  # how far chance moves the rates
        low, high = np.flatnonzero(apart >= min(reach, 1))[-1], np.flatnonzero(apart <= -min(reach, 1))[0]
        rejections, acceptances = frr[high] - frr[low], far[low] - far[high]
        both = rejections + acceptances
        return errors, (acceptances / both, rejections / both)


def equal_error_rate(trials: Trials) -> Weighted:
    """Rate at which as many targets are rejected as non-targets are accepted.

    Between the two thresholds where the order of the rates changes both are interpolated linearly.

    Returns one value from 0 to 1, lower is better; undefined without targets or without non-targets.
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


class _Cost(_Rejecting):
    def __init__(self, trials: Trials, miss: float, false_alarm: float, scale: float) -> None:
        super().__init__(trials)
        self._costs = miss / scale, false_alarm / scale

    def _cost(self, frr: np.ndarray, far: np.ndarray) -> np.ndarray:
        return self._costs[0] * frr + self._costs[1] * far


class _MinCost(_Cost, _Search):
    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        """Leave out steps at which one of the two errors alone costs clearly more than the lowest cost."""
        ones = np.ones((1, weights.shape[1]), dtype=np.int32)
        every = np.arange(self._sorted.steps)
        targets, others = (part[:, 0] for part in self._sorted.rejected(ones, 0, every))
        limit = 1.2 * self._everywhere(ones)[0, 0]
        cheap_alarms = self._cost(0.0, 1 - others / others[-1]) < limit
        cheap_misses = self._cost(targets / targets[-1], 0.0) < limit
        kept = np.flatnonzero(cheap_alarms & cheap_misses)
        return (int(kept[0]), int(kept[-1]) + 1) if len(kept) else (0, self._sorted.steps)

    def _steps(self, low: int, high: int) -> np.ndarray:
        """Leave out steps after which only non-targets are rejected: going on costs less, or as much."""
        targets = self._sorted.targets_before[self._sorted.ends[low:high]]
        return low + np.flatnonzero(np.append(targets[1:] > targets[:-1], True))

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Find the lowest cost; NaN if it may be lower outside of the window."""
        frr, far = ratio(targets, all_targets), 1 - ratio(others, all_others)
        lowest = self._cost(frr, far).min(axis=0)
        # Before the window there are at least its first false alarms, after it at least its last misses.
        sure = lowest <= np.minimum(self._cost(0.0, far[0]), self._cost(frr[-1], 0.0))
        return np.stack([np.where(sure, lowest, np.nan), np.zeros(len(lowest))], axis=1)

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        """Errors at the best threshold, which to first order may stay where it is."""
        step = int(np.argmin(self._cost(*self._rates())))
        return self._errors(np.append(0, self._sorted.ends)[step]), self._costs


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

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        return self._errors(np.append(0, self._sorted.ends)[self._step]), self._costs


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

    - ``p_target``: probability of a target in use.
    - ``c_miss, c_false_alarm``: costs of the two errors.
    - ``normalised``: divide by the cost of the better of accepting and rejecting everybody, as many tools do.
    - Returns one value from 0 to the cost of the better of accepting and rejecting everybody, 1 if
      normalised.
    """
    return _MinCost(trials, *_costs(p_target, c_miss, c_false_alarm, normalised))


def min_dcf_threshold(
    trials: Trials,
    p_target: float = P_TARGET,
    c_miss: float = C_MISS,
    c_false_alarm: float = C_FALSE_ALARM,
) -> float:
    """Threshold at which the detection cost is lowest; see :func:`min_dcf`.

    Returns a score that occurs, or minus infinity, for accepting what lies above it; NaN if undefined. Of
    several thresholds with the same cost the middle one, of two middle ones the lower.
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

    Returns thresholds in ascending order, beginning with minus infinity, false acceptance rates and false
    rejection rates, float64 ``(T,)`` each; NaN without targets or without non-targets.
    """
    ordered = SortedTrials(trials)
    ones = np.ones((1, ordered.speakers + 1), dtype=np.int32)
    both = ordered.rejected(ones, 0, np.arange(ordered.steps))
    targets, others = (np.concatenate([[0], kind[:, 0]]) for kind in both)
    thresholds = np.concatenate([[-np.inf], ordered.scores])
    return thresholds, 1 - ratio(others, others[-1]), ratio(targets, targets[-1])


class _MissedAt(WholeCurve):
    def __init__(self, trials: Trials, rates: Sequence[float]) -> None:
        super().__init__(trials)
        self._rates = np.array(rates, dtype=np.float64)
        if self._rates.ndim != 1 or not ((self._rates >= 0) & (self._rates <= 1)).all():
            raise ValueError("False acceptance rates lie from 0 to 1.")
        self.labels = tuple(f"{rate:.12g}" for rate in self._rates)

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Find the first step with so few false acceptances, and go back to where the curve crosses."""
        wanted = (1 - self._rates) * others[-1]  # rejected non-targets
        whole = np.rint(wanted)
        wanted = np.where(np.abs(wanted - whole) <= _NOISE * others[-1], whole, wanted)
        step = np.searchsorted(others, wanted)
        before = np.maximum(step - 1, 0)
        part = np.where(step > 0, ratio(wanted - others[before], others[step] - others[before]), 0.0)
        return (targets[before] + part * (targets[step] - targets[before])) / targets[-1]


def frr_at_far(trials: Trials, rates: Sequence[float]) -> Weighted:
    """Find the false rejection rates at false acceptance rates, points on the curve of :func:`det_curve`.

    Quantiles of the replicates at many rates are a confidence band of the curve. Between two thresholds both
    rates are interpolated linearly, as for :func:`equal_error_rate`. Where several thresholds have the false
    acceptance rate, the lowest false rejection rate counts.

    - ``rates``: false acceptance rates from 0 to 1, ``(m,)``; as texts they are the labels.
    - Returns ``m`` values from 0 to 1, lower is better; undefined without targets or without non-targets. If
      steps are joined, replicates are off by less than the share of targets in the step that is crossed.
    - Raises ValueError: if a rate does not lie from 0 to 1.
    """
    return _MissedAt(trials, rates)
