r"""How exact a value is for these speakers: speakers are fixed, their recordings vary.

The variance of a value is the sum over speakers of that of their recordings' influence values :math:`u`,

.. math:: \sum_s \frac{n_s}{n_s - 1} \sum_{i \in s} (u_i - \bar u_s)^2

as in stratified sampling, with the speakers as strata (Binder 1983, On the variances of asymptotically normal
estimators from complex surveys). Nothing is drawn. What is true of new speakers is another question, see
:mod:`soundcheck.statistics.bootstrap`.

Conventions
-----------
- Speakers with one recording say nothing about how their recordings vary: together they are one stratum.
  Where they are the majority, all recordings count as independent. For trials the same goes for two
  recordings, whose one target trial has nothing to be compared with.
- Intervals use Student's t on the scale on which values are free, with Satterthwaite's degrees of freedom
  (1946, An approximate distribution of estimates of variance components); there are at
  most as many as recordings with influence, which those of other classes do not have.
- Where nothing varies there is no interval; a share of 0 or 1 has :func:`share_on_limit`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.metrics.additive import Statistic, ratio, round_significant
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.evidence import FREE, Scale

_LEAST = 1e-9  # standard error of values of the order of 1
_NOISE = 1e-12  # of squares, below which a spread is none
SKETCH = 1000  # rows of a spread


@dataclasses.dataclass(frozen=True, eq=False)
class FixedSpeakers:
    """How exact the ``m`` values of a statistic are for these speakers.

    Parameters
    ----------
    error
        Standard errors, float64 ``(m,)``; NaN if there is none, 0 if nothing varies.
    freedom
        Degrees of freedom, float64 ``(m,)``; NaN where there is no error, or an error of 0.
    independent
        bool ``(m,)``; whether recordings count as independent, because most speakers have one.
    spread
        float64 ``(n, m)``, at most :data:`SKETCH` rows whose squares add up to those of the errors, nearly so
        with more recordings. The spreads of two models on the same recordings may be subtracted: what is left
        is the spread of the difference of their values.
    """

    error: np.ndarray
    freedom: np.ndarray
    independent: np.ndarray
    spread: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))


def fixed_speakers(
    statistic: Statistic | Weighted, blocks: np.ndarray, *, spread: bool = False
) -> FixedSpeakers:
    """Compute the standard errors of values when these speakers are recorded again.

    Parameters
    ----------
    statistic
        The statistic; one without influence values has no errors.
    blocks
        Speaker of each segment, whole numbers ``(N,)``. Trials bring their own, and this is not looked at.
    spread
        Whether the spread is wanted, too.
    """
    m = len(statistic.labels)
    if isinstance(statistic, Weighted):
        influence, speakers = statistic.influence() or (np.zeros((0, m)), np.zeros(0, dtype=np.intp))
        used, least = speakers >= 0, 3
    else:
        influence, speakers, used, least = statistic.influence(), np.asarray(blocks), statistic.rows, 2
    if not used.all():
        influence, speakers = influence[used], speakers[used]
    if len(influence) < 2:
        nothing = np.full(m, np.nan)
        return FixedSpeakers(nothing, nothing, np.zeros(m, dtype=bool))
    strata, independent = _strata(speakers, least)
    counts = np.bincount(strata)
    variances, columns = np.empty((m, len(counts))), []
    for n, own in enumerate(influence.T):
        sums, squares = np.bincount(strata, own), np.bincount(strata, own**2)
        around = squares - sums**2 / counts
        # Equal numbers have a spread of float noise, and that is none.
        variances[n] = counts / (counts - 1) * np.where(around > _NOISE * squares, around, 0.0)
        if spread:
            columns.append(_sketch((own - (sums / counts)[strata]) * np.sqrt(counts / (counts - 1))[strata]))
    wanted = np.stack(columns, axis=1) if columns else np.zeros((0, m))
    total = variances.sum(axis=1)
    total[total < _LEAST**2] = 0.0  # the noise of gradients
    freedom = ratio(total**2, (variances**2 / (counts - 1)).sum(axis=1))
    freedom = np.fmin(freedom, np.maximum(np.count_nonzero(influence, axis=0) - 1, 1))
    undefined = np.isnan(influence).any(axis=0)
    error = np.where(undefined, np.nan, round_significant(np.sqrt(total)))
    return FixedSpeakers(error, np.where(total > 0, freedom, np.nan), np.full(m, independent), wanted)


def _sketch(values: np.ndarray) -> np.ndarray:
    """Add up values with random signs in a few places, which keeps the squares of all differences.

    Charikar, Chen and Farach-Colton (2002), Finding frequent items in data streams. With 1,000 places errors
    are within 5 % in 97 of 100 cases.
    """
    if len(values) <= SKETCH:
        return values
    rng = np.random.default_rng(len(values))
    places, signs = rng.integers(SKETCH, size=len(values)), rng.choice([-1.0, 1.0], size=len(values))
    return np.bincount(places, signs * values, minlength=SKETCH)


def _strata(speakers: np.ndarray, least: int) -> tuple[np.ndarray, bool]:
    """Give strata of enough recordings numbers from 0, and say whether all recordings are in one."""
    counts = np.bincount(speakers)
    there, single = counts > 0, (counts > 0) & (counts < least)
    if 2 * single.sum() > there.sum():
        return np.zeros(len(speakers), dtype=np.intp), True
    own = np.cumsum(there & ~single) - 1
    # A speaker who is alone with so few recordings joins the one with the fewest.
    alone = single.sum() == 1
    largest = counts.max() + 1
    own[single] = own[np.where(there & ~single, counts, largest).argmin()] if alone else own.max() + 1
    return own[speakers], False


def sample_interval(
    value: float, error: float, freedom: float, scale: Scale = FREE, level: float = 0.95
) -> tuple[float, float]:
    """Compute the t interval of a value for these speakers; NaN where nothing varies.

    Examples
    --------
    >>> low, high = sample_interval(0.9, 0.05, 40.0, Scale(0, 1))
    >>> round(low, 3), round(high, 3)
    (0.745, 0.965)
    """
    if not (np.isfinite(value) and error > 0):
        return np.nan, np.nan
    center, spread, free = _freed(value, error, scale)
    reach = scipy.special.stdtrit(freedom, (1 + level) / 2) * spread
    bounds = np.clip(free.back(np.array([center - reach, center + reach])), scale.low, scale.high)
    low, high = round_significant(bounds).tolist()
    return low, high


def sample_p_value(
    value: float,
    threshold: float,
    error: float,
    freedom: float,
    scale: Scale = FREE,
    side: str = "two-sided",
) -> float:
    """Compute how likely it is to lie so far from a threshold if the true value for these speakers is on it.

    Parameters
    ----------
    side
        ``"two-sided"``, or where values count: ``"greater"`` or ``"less"`` than the threshold.
    """
    if not (np.isfinite(value) and np.isfinite(threshold) and error > 0):
        return np.nan
    if not np.isfinite(scale.free(threshold)):
        scale = FREE
    center, spread, scale = _freed(value, error, scale)
    beyond = (center - float(scale.free(threshold))) / spread
    if side == "two-sided":
        return float(2 * scipy.special.stdtr(freedom, -abs(beyond)))
    return float(scipy.special.stdtr(freedom, -beyond if side == "greater" else beyond))


def _freed(value: float, error: float, scale: Scale) -> tuple[float, float, Scale]:
    """Map a value and its standard error to the scale without limits; the plain one for values on a limit."""
    if not np.isfinite(scale.free(value)):
        return value, error, FREE
    slope = 1 / (value - scale.low) if np.isfinite(scale.low) else 0.0
    slope += 1 / (scale.high - value) if np.isfinite(scale.high) else 0.0
    return float(scale.free(value)), error * (slope or 1.0), scale


def share_on_limit(count: int, value: float, level: float = 0.95) -> tuple[float, float]:
    """Give the interval of Clopper and Pearson for a share of 0 or 1 among ``count`` recordings.

    Examples
    --------
    >>> low, high = share_on_limit(292, 1.0)
    >>> round(low, 3), high
    (0.987, 1.0)
    """
    if count < 1:
        return np.nan, np.nan
    found = scipy.stats.binomtest(count if value == 1 else 0, count).proportion_ci(level)
    return float(found.low), float(found.high)


def share_p_value(count: int, value: float, threshold: float, side: str) -> float:
    """Give the p-value of a share of 0 or 1 among ``count`` recordings, see :func:`sample_p_value`."""
    if side == "two-sided" or (value == 1) != (side == "greater"):
        return 1.0
    return float(np.clip(threshold if value == 1 else 1 - threshold, 0, 1) ** count)
