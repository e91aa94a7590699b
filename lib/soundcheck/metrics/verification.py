r"""Errors of speaker verification: equal error rate, costs, trade-off between errors, and calibration.

Martin et al. (1997), The DET curve in assessment of detection task performance. Bruemmer and du Preez (2006),
Application-independent evaluation of speaker detection, for scores that are read as log-likelihood ratios.

Conventions
-----------
- A trial is accepted if its score lies *above* the threshold. Trials, their order and their replicates are
  those of :mod:`soundcheck.metrics.trials`. Without targets or without non-targets everything is undefined.
- False rejection rate (FRR, miss): rejected among the targets. False acceptance rate (FAR, false alarm):
  accepted among the non-targets.
- Costs of log-likelihood ratios are in bits. A calibration is fitted on some speakers and applied to others;
  on the same trials costs would be too low.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import scipy  # scipy.optimize is loaded when first used: it takes a while

from soundcheck.metrics.additive import ratio, same_length
from soundcheck.metrics.trials import Search, SortedTrials, Trials, TrialStatistic, WholeCurve
from soundcheck.metrics.weighted import Weighted

_PILOT = 16  # replicates that find out where the rates cross
_LARGEST = 1e100  # scores beyond count as this, whose sums would overflow
_NOISE = 1e-12  # relative; products of rates and whole numbers are closer than this to what they should be


class _EqualErrorRate(Search):
    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        steps = self._trials.steps
        place = self._trials.scan(weights[:_PILOT], self._crossing, np.arange(steps))
        place = place[place > 0]
        if not len(place):
            return 0, steps
        reach = np.ptp(place) + steps // 1000 + 1
        return int(max(0, place.min() - reach)), int(min(steps, place.max() + reach + 1))

    @staticmethod
    def _crossing(
        targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Find the step at which the rates of rejected targets and accepted non-targets have crossed.

        Whole numbers decide on which side of the crossing a step lies: targets rejected times all
        non-targets, plus non-targets rejected times all targets, reach the product of all. 0 if they have
        not, or have before the window, or a rate is undefined.
        """
        crossed = targets * all_others + others * all_targets >= all_targets * all_others
        return np.where((all_targets > 0)[0] & (all_others > 0)[0], crossed.argmax(axis=0), 0)

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        step = self._crossing(targets, others, all_targets, all_others)
        row = np.flatnonzero(step)
        place = np.stack([step[row] - 1, step[row]])  # before and at the step
        frr, far = targets[place, row] / all_targets[0, row], 1 - others[place, row] / all_others[0, row]
        rates, (before, after) = np.full(len(step), np.nan), far - frr
        rates[row] = frr[0] + before / (before - after) * (frr[1] - frr[0])
        return rates

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        """Both rates where they cross; as the threshold moves, it is the flatter curve that counts."""
        trials = self._trials
        (frr, far), (step, part) = trials.rates(), _crossed(trials)
        apart, errors = far - frr, (1 - part) * trials.errors(step - 1) + part * trials.errors(step)
        rate, targets = errors[trials.target].mean(), len(trials.target_rows)
        least = min(targets, trials.n - targets)
        reach = 2 * np.sqrt((rate * (1 - rate) + 1 / least) / least)  # how far chance moves the rates
        low, high = np.flatnonzero(apart >= min(reach, 1))[-1], np.flatnonzero(apart <= -min(reach, 1))[0]
        rejections, acceptances = frr[high] - frr[low], far[low] - far[high]
        both = rejections + acceptances
        return errors, (acceptances / both, rejections / both)


def _crossed(trials: SortedTrials) -> tuple[int, float]:
    """Give the step at which the rates of all trials have crossed, and which part of it lies before that."""
    frr, far = trials.rates()
    apart = np.round(far - frr, 14)  # noise is no difference
    step = int(np.argmax(apart <= 0))
    return step, apart[step - 1] / (apart[step - 1] - apart[step])


def equal_error_rate(trials: Trials) -> Weighted:
    r"""Rate at which as many targets are rejected as non-targets are accepted.

    .. math:: \mathrm{FRR}(\tau) = \mathrm{FAR}(\tau)

    Between the two thresholds where the order of the rates changes both are interpolated linearly. Returns
    one value from 0 to 1, lower is better.

    >>> target, other = [True, True, False, False], ["a", "b", "b", "a"]
    >>> equal_error_rate(Trials.of([0.9, 0.2, 0.6, 0.1], target, ["a", "b", "a", "b"], other))
    Statistic(0.5)
    """
    return _EqualErrorRate(trials)


def equal_error_threshold(trials: Trials) -> float:
    """Threshold at which the two error rates are equal, interpolated as the rate is; NaN if undefined."""
    thresholds, far, _ = det_curve(trials)
    if np.isnan(far).any():
        return np.nan
    step, part = _crossed(SortedTrials(trials))
    if step == 1:  # the other threshold is minus infinity
        return float(thresholds[1])
    return float(np.interp(part, [0.0, 1.0], thresholds[step - 1 : step + 1]))  # exact at both ends


class _MinCost(Search):
    def _region(self, weights: np.ndarray) -> tuple[int, int]:
        """Leave out steps at which one of the two errors alone costs clearly more than the lowest cost."""
        frr, far = self._trials.rates()
        limit = 1.2 * self._cost(frr, far).min()
        cheap = np.flatnonzero((self._cost(0.0, far[1:]) < limit) & (self._cost(frr[1:], 0.0) < limit))
        return (int(cheap[0]), int(cheap[-1]) + 1) if len(cheap) else (0, self._trials.steps)

    def _steps(self, low: int, high: int) -> np.ndarray:
        """Leave out steps after which only non-targets are rejected: going on costs less, or as much."""
        targets = self._trials.targets_before[self._trials.ends[low:high]]
        return low + np.flatnonzero(np.append(targets[1:] > targets[:-1], True))

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        frr, far = ratio(targets, all_targets), 1 - ratio(others, all_others)
        lowest = self._cost(frr, far).min(axis=0)
        # Before the window there are at least its first false alarms, after it at least its last misses.
        sure = lowest <= np.minimum(self._cost(0.0, far[0]), self._cost(frr[-1], 0.0))
        return np.where(sure, lowest, np.nan)

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        """Errors at the best threshold, which to first order may stay where it is."""
        return self._trials.errors(int(np.argmin(self._cost(*self._trials.rates())))), self._costs


class _AtThreshold(TrialStatistic):
    def __init__(self, trials: Trials, costs: tuple[float, float], threshold: float) -> None:
        super().__init__(trials, costs)
        if np.isnan(threshold):
            raise ValueError("A threshold is a number.")
        self._step = int(np.searchsorted(self._trials.scores, threshold, side="right"))

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._trials
        targets, others = trials.sums(weights, self._step)
        all_targets, all_others = trials.sums(weights, trials.steps)
        return self._cost(ratio(targets, all_targets), 1 - ratio(others, all_others))

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        return self._trials.errors(self._step), self._costs


def _costs(
    normalised: bool, *, p_target: float = 0.05, c_miss: float = 1.0, c_false_alarm: float = 1.0
) -> tuple[float, float]:
    if not (0 < p_target < 1 and c_miss > 0 and c_false_alarm > 0):
        raise ValueError("The probability of a target lies between 0 and 1, and costs are above 0.")
    miss, false_alarm = c_miss * p_target, c_false_alarm * (1 - p_target)
    scale = min(miss, false_alarm) if normalised else 1.0
    return miss / scale, false_alarm / scale


def min_dcf(trials: Trials, *, normalised: bool = False, **costs: float) -> Weighted:
    r"""Lowest detection cost over all thresholds.

    .. math:: \min_\tau\; C_\mathrm{miss} P_\mathrm{target}\, \mathrm{FRR}(\tau)
              + C_\mathrm{fa} (1 - P_\mathrm{target})\, \mathrm{FAR}(\tau)

    - ``costs``: ``p_target``, the probability of a target in use, 0.05 if not given; ``c_miss`` and
      ``c_false_alarm``, the costs of the two errors, 1 if not given.
    - ``normalised``: divide by the cost of the better of accepting and rejecting everybody, as many tools do.
      That cost is the largest possible value.

    >>> target, other = [True, True, False, False], ["a", "b", "b", "a"]
    >>> trials = Trials.of([0.9, 0.2, 0.6, 0.1], target, ["a", "b", "a", "b"], other)
    >>> min_dcf(trials), min_dcf(trials, normalised=True)
    (Statistic(0.025), Statistic(0.5))
    """
    return _MinCost(trials, _costs(normalised, **costs))


def min_dcf_threshold(trials: Trials, **costs: float) -> float:
    """Threshold at which the detection cost is lowest; see :func:`min_dcf`.

    Returns a score that occurs, or minus infinity, for accepting what lies above it; NaN if undefined. Of
    several thresholds with the same cost the middle one, of two middle ones the lower.
    """
    miss, false_alarm = _costs(False, **costs)
    thresholds, far, frr = det_curve(trials)
    cost = miss * frr + false_alarm * far
    lowest = np.flatnonzero(cost <= cost.min() * (1 + _NOISE))
    return float(thresholds[lowest[(len(lowest) - 1) // 2]]) if len(lowest) else np.nan


def actual_dcf(trials: Trials, threshold: float, *, normalised: bool = False, **costs: float) -> Weighted:
    """Compute the detection cost at a threshold that was fixed before; see :func:`min_dcf`.

    >>> target, other = [True, True, False, False], ["a", "b", "b", "a"]
    >>> trials = Trials.of([0.9, 0.2, 0.6, 0.1], target, ["a", "b", "a", "b"], other)
    >>> actual_dcf(trials, 0.5)
    Statistic(0.5)
    """
    return _AtThreshold(trials, _costs(normalised, **costs), threshold)


def false_acceptance_rate(trials: Trials, threshold: float) -> Weighted:
    """Share of non-targets that are accepted, from 0 to 1.

    >>> trials = Trials.of([0.9, 0.6, 0.1], [True, False, False], ["a", "a", "a"], ["a", "b", "b"])
    >>> false_acceptance_rate(trials, 0.5)
    Statistic(0.5)
    """
    return _AtThreshold(trials, (0.0, 1.0), threshold)


def false_rejection_rate(trials: Trials, threshold: float) -> Weighted:
    """Share of targets that are rejected, from 0 to 1.

    >>> trials = Trials.of([0.9, 0.2, 0.1], [True, True, False], ["a", "b", "a"], ["a", "b", "b"])
    >>> false_rejection_rate(trials, 0.5)
    Statistic(0.5)
    """
    return _AtThreshold(trials, (1.0, 0.0), threshold)


def det_curve(trials: Trials) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute both error rates at every threshold.

    Returns thresholds in ascending order, beginning with minus infinity, false acceptance rates and false
    rejection rates, float64 ``(T,)`` each; NaN without targets or without non-targets.

    >>> trials = Trials.of([0.9, 0.6], [True, False], ["a", "a"], ["a", "b"])
    >>> [each.tolist() for each in det_curve(trials)]
    [[-inf, 0.6, 0.9], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    ordered = SortedTrials(trials)
    frr, far = ordered.rates()
    return np.append(-np.inf, ordered.scores), far, frr


class _MissedAt(WholeCurve):
    def __init__(self, trials: Trials, rates: Sequence[float]) -> None:
        super().__init__(trials)
        self._rates = np.array(rates, dtype=np.float64)
        if self._rates.ndim != 1 or not ((self._rates >= 0) & (self._rates <= 1)).all():
            raise ValueError("False acceptance rates lie from 0 to 1.")
        self.labels = tuple(f"{rate:.12g}" for rate in self._rates)

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Find the first step with so few false acceptances, and go back to where the curve crosses."""
        needed = (1 - self._rates) * others[-1]  # rejected non-targets
        whole = np.rint(needed)
        needed = np.where(np.abs(needed - whole) <= _NOISE * others[-1], whole, needed)
        step = np.searchsorted(others, needed)
        before = np.maximum(step - 1, 0)
        part = np.where(step > 0, ratio(needed - others[before], others[step] - others[before]), 0.0)
        return (targets[before] + part * (targets[step] - targets[before])) / targets[-1]


def frr_at_far(trials: Trials, rates: Sequence[float]) -> Weighted:
    """Find false rejection rates at false acceptance rates, points on the curve of :func:`det_curve`.

    Quantiles of the replicates at many rates are a confidence band of the curve. Between two thresholds both
    rates are interpolated linearly, as for :func:`equal_error_rate`. Where several thresholds have the false
    acceptance rate, the lowest false rejection rate counts.

    - ``rates``: false acceptance rates from 0 to 1, ``(m,)``; as texts they are the labels.
    - Returns ``m`` values from 0 to 1, lower is better. If steps are joined, replicates are off by less than
      the share of targets in the step that is crossed.

    >>> target, other = [True, True, False, False], ["a", "b", "b", "a"]
    >>> trials = Trials.of([0.9, 0.2, 0.6, 0.1], target, ["a", "b", "a", "b"], other)
    >>> frr_at_far(trials, [0.0, 0.5])
    Statistic({'0': 0.5, '0.5': 0.0})
    """
    return _MissedAt(trials, rates)


# Scores as log-likelihood ratios


class _LogLikelihoodCost(TrialStatistic):
    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        trials = self._trials
        scores = np.clip(trials.scores, -_LARGEST, _LARGEST)
        costs = np.where(trials.target, -1.0, 1.0)
        costs *= np.repeat(scores, np.diff(trials.ends, prepend=0))
        return np.logaddexp(0.0, costs) / np.log(2), (0.5, 0.5)

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials, (costs, _) = self._trials, self._losses()
        kinds = [np.flatnonzero(trials.target == kind) for kind in (True, False)]
        sums = [np.zeros((len(weights), 1)) for _ in kinds]
        for layer in trials.exact_layers(costs):
            for rows, total in zip(kinds, sums, strict=True):
                total += trials.form(weights, rows, layer[rows])
        counts = trials.sums(weights, trials.steps)
        return sum(ratio(total, count) for total, count in zip(sums, counts, strict=True)) / 2


def cllr(trials: Trials) -> Weighted:
    r"""Cost of scores as log-likelihood ratios, over all probabilities and costs in use: Cllr.

    .. math:: \frac{1}{2}\, \mathrm{mean}_\mathrm{targets}\, \log_2(1 + e^{-s})
              + \frac{1}{2}\, \mathrm{mean}_\mathrm{non-targets}\, \log_2(1 + e^{s})

    for scores :math:`s` that are natural logarithms of likelihood ratios. Bruemmer and du Preez (2006).
    Returns one value in bits, 0 or more, lower is better; 1 is what a system that always says 0 reaches.

    >>> cllr(Trials.of([0.0, 0.0], [True, False], ["a", "a"], ["a", "b"]))
    Statistic(1.0)
    """
    return _LogLikelihoodCost(trials)


class _MinLogLikelihoodCost(WholeCurve):
    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> float:
        """Pool adjacent steps until the share of targets rises; a pool has one likelihood ratio."""
        targets, both = np.diff(targets), np.diff(targets + others)
        drawn = np.flatnonzero(both)
        targets, both = targets[drawn], both[drawn]
        pools = scipy.optimize.isotonic_regression(targets / both, weights=both).blocks[:-1]
        targets, both = np.add.reduceat(targets, pools), np.add.reduceat(both, pools)
        of_targets, of_others = targets / targets.sum(), (both - targets) / (both - targets).sum()
        # exp(-s) is the ratio of these, and what has no share costs nothing.
        parts = (
            share * np.log2((of_targets + of_others) / np.where(share > 0, share, 1.0))
            for share in (of_targets, of_others)
        )
        return float(sum(parts).sum() / 2)


def min_cllr(trials: Trials) -> Weighted:
    """Lowest Cllr that any rising map of the scores to log-likelihood ratios reaches, from 0 to 1.

    The best map has a step for each edge of the convex hull of the curve of errors, and is found by pooling
    adjacent scores. What :func:`cllr` has more is lost by bad calibration. Bruemmer and du Preez (2006).
    If steps are joined, replicates are slightly too high.

    >>> min_cllr(Trials.of([0.9, 0.6], [True, False], ["a", "a"], ["a", "b"]))
    Statistic(0.0)
    """
    return _MinLogLikelihoodCost(trials)


@dataclasses.dataclass(frozen=True)
class AffineCalibration:
    """A straight line from scores to log-likelihood ratios."""

    slope: float  # log-likelihood ratio per score
    offset: float  # that of the score 0

    def __str__(self) -> str:
        return f"log likelihood ratio = {self.slope:.4g} × score {self.offset:+.4g}".replace("-", "−")

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Give natural logarithms of likelihood ratios, float64 ``(N,)``; NaN stays NaN."""
        return self.slope * np.clip(scores, -_LARGEST, _LARGEST) + self.offset


def fit_calibration(scores: np.ndarray, target: np.ndarray) -> AffineCalibration:
    r"""Fit the line for which both kinds of trials together cost least: logistic regression.

    .. math:: \sum_k \frac{1}{N_k} \sum_{i \in k} y_k \ln (1 + e^{-(a s_i + b)})
              + (1 - y_k) \ln (1 + e^{a s_i + b})

    over targets with :math:`y = (N + 1) / (N + 2)` and non-targets with :math:`y = 1 / (N + 2)`, the labels
    of Platt (1999), Probabilistic outputs for support vector machines: scores that separate the kinds would
    have an infinite slope otherwise. Both kinds weigh the same however many there are, so that fitted values
    are natural logarithms of likelihood ratios and not of odds.

    - ``scores, target``: float64 and bool ``(N,)``; scores that are NaN are left out.
    - Returns slope and offset 0 if all scores are equal, which says nothing about any trial.
    - Raises ValueError: if one of the kinds has no trial with a score.

    >>> str(fit_calibration(np.array([2.0, 1.0, 0.0, -1.0]), np.array([True, True, False, False])))
    'log likelihood ratio = 0.9082 × score −0.4541'
    """
    same_length(scores, target)
    known = ~np.isnan(scores)
    scores, target = np.clip(scores[known], -_LARGEST, _LARGEST), target[known]
    counts = np.array([np.sum(~target), np.sum(target)], dtype=np.float64)
    if not counts.all():
        raise ValueError("A calibration is fitted on trials of both kinds.")
    centre, scale = scores.mean(), scores.std()
    if scale <= 1e-12 * np.abs(scores).max():
        return AffineCalibration(0.0, 0.0)
    kinds = target.astype(np.intp)
    labels = (np.array([1.0, counts[1] + 1]) / (counts + 2))[kinds]
    shares = (1 / counts)[kinds]
    rows = np.stack([(scores - centre) / scale, np.ones(len(scores))])

    def cost(line: np.ndarray) -> float:
        value = line @ rows
        return float(shares @ (labels * np.logaddexp(0, -value) + (1 - labels) * np.logaddexp(0, value)))

    def gradient(line: np.ndarray) -> np.ndarray:
        return rows @ (shares * (scipy.special.expit(line @ rows) - labels))

    def curvature(line: np.ndarray) -> np.ndarray:
        likely = scipy.special.expit(line @ rows)
        return (rows * (shares * likely * (1 - likely))) @ rows.T

    start = np.zeros(2)
    line = scipy.optimize.minimize(
        cost, start, jac=gradient, hess=curvature, method="trust-exact", tol=1e-10
    ).x
    slope = float(line[0] / scale)
    return AffineCalibration(slope, float(line[1] - slope * centre))


def bayes_threshold(p_target: float, c_miss: float, c_false_alarm: float) -> float:
    """Threshold of log-likelihood ratios above which accepting costs less, from a cost and nothing else.

    >>> bayes_threshold(0.5, 1.0, 1.0)
    0.0
    """
    return float(np.log(c_false_alarm * (1 - p_target) / (c_miss * p_target)))
