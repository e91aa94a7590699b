r"""How exact a value is for these speakers: speakers are fixed, their recordings vary.

The variance of a value is the sum over speakers of that of their recordings' influence values :math:`u`,

.. math:: \sum_s \frac{n_s}{n_s - 1} \sum_{i \in s} (u_i - \bar u_s)^2

as in stratified sampling, with the speakers as strata (Binder 1983, On the variances of asymptotically normal
estimators from complex surveys). Nothing is drawn. What is true of new speakers is another question, see
:mod:`soundcheck.statistics.bootstrap`.

Conventions
-----------
- Intervals are score intervals: all true values :math:`\theta` from which the value is no further away than
  :math:`t` standard errors of one that is :math:`\theta`. Between limits :math:`a` and :math:`b` the variance
  is taken as proportional to :math:`(\theta - a)(b - \theta)`, above a limit to :math:`\theta - a`. Of shares
  it is the interval of Wilson (1927), Probable inference, with the effective number of recordings of Korn
  and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.
- Intervals of differences are put together from those of both sides: Newcombe (1998), Interval estimation for
  the difference between independent proportions; Zou and Donner (2008), Construction of confidence limits
  about effect measures, for sides that share recordings. p-values are those of the intervals.
- Of shares, whose variance follows from their value, :math:`t` is the normal quantile, as in Wilson's. Of
  others it is Student's with the degrees of freedom of Satterthwaite (1946) without the bias that few
  recordings of a speaker cause: Ames and Webster (1991), On estimating approximate degrees of freedom; at
  most as many as recordings with influence, which those of other classes lack.
- Speakers with one recording say nothing about how their recordings vary: together they are one stratum.
  Where they are the majority, speakers take the place of recordings. For trials the same goes for up to three
  recordings, of which each target trial is too large a part.
- Of two or three recordings, up to 2 degrees of freedom, rates of errors without upper end are taken as
  shares of what was said, at most :attr:`Scale.all_wrong`: from 1 to 400 % word errors is no knowledge.
- Where nothing varies there is no interval, but of shares of recordings.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.metrics.additive import Statistic, ratio, round_significant
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.evidence import FREE, Scale

_LEAST = 1e-9  # standard error of values of the order of 1
_NOISE = 1e-12  # of squares, below which a spread is none
SKETCH = 1000  # rows of a spread
_LEAST_TAIL, _HALVINGS = 1e-50, 60  # of p-values, and steps to find them
_FEW = 2  # degrees of freedom, up to which errors lie below those of a model that does everything wrong


Ends = Callable[[float], tuple[float, float]]  # of the interval that leaves out so much on either side


@dataclasses.dataclass(frozen=True)
class ForThese:
    """What is known of a value for these speakers."""

    ends: Ends

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the interval; NaN where nothing varies."""
        low, high = round_significant(np.array(self.ends((1 - level) / 2))).tolist()
        return (low, high) if low < high else (math.nan, math.nan)

    def p_value(self, threshold: float, side: str = "two-sided") -> float:
        """Compute how likely it is to lie so far from a threshold if the true value is on it.

        It is what the interval that ends at the threshold leaves out: on both sides, or on that where values
        count, ``"greater"`` or ``"less"`` than the threshold.
        """
        value = sum(self.ends(0.5)) / 2
        if np.isnan(self.interval()).any() or math.isnan(threshold):
            return math.nan
        least, most = math.log(_LEAST_TAIL), math.log(0.5)
        for _ in range(_HALVINGS):
            middle = (least + most) / 2
            low, high = self.ends(math.exp(middle))
            least, most = (middle, most) if low <= threshold <= high else (least, middle)
        tail = math.exp(most) if abs(value - threshold) > _LEAST else 0.5
        if side == "two-sided":
            return 2 * tail
        return tail if (value > threshold) == (side == "greater") else 1 - tail


@dataclasses.dataclass(frozen=True, eq=False)
class FixedSpeakers:
    """How exact the ``m`` values of a statistic are for these speakers."""

    error: np.ndarray  # standard errors; NaN if there is none, 0 if nothing varies
    freedom: np.ndarray  # degrees of freedom; NaN where there is no error, or an error of 0
    # ``(n, m)``, at most SKETCH rows whose squares add up to those of the errors, nearly so with more
    # recordings. The spreads of two models on the same recordings may be subtracted: what is left is the
    # spread of the difference of their values.
    spread: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))

    def value(self, n: int, value: float, scale: Scale = FREE, recordings: int = 0) -> ForThese:
        """Say what is known of value ``n``; ``recordings`` are those of a share, which may lie on a limit."""
        return ForThese(value_ends(value, self.error[n], self.freedom[n], scale, recordings))

    def difference(
        self, n: int, values: tuple[float, float], scale: Scale = FREE, recordings: tuple[int, int] = (0, 0)
    ) -> ForThese:
        """Say what is known of a difference: ``n`` of those that follow the values of two sides."""
        m = len(self.error) // 3
        errors, freedoms = (column[[n, m + n, 2 * m + n]].tolist() for column in (self.error, self.freedom))
        sides = [value_ends(values[k], errors[k], freedoms[k], scale, int(recordings[k])) for k in range(2)]
        return ForThese(difference_ends(values, errors, sides))


def fixed_speakers(
    statistic: Statistic | Weighted, blocks: np.ndarray, *, spread: bool = False
) -> FixedSpeakers:
    """Compute the standard errors of values when these speakers are recorded again.

    ``blocks`` has the speaker of each segment, whole numbers; trials bring their own. A statistic without
    influence values has no errors. ``spread`` says whether the spread is wanted, too.
    """
    m = len(statistic.labels)
    influence, speakers = _influence(statistic, blocks)
    independent = False
    if len(influence):
        strata, independent = _strata(speakers, 4 if isinstance(statistic, Weighted) else 2)
    if independent:
        influence, speakers = _influence(statistic, blocks, of_speakers=True)
        _, numbers = np.unique(speakers, return_inverse=True)
        influence = np.stack([np.bincount(numbers, column) for column in influence.T], axis=1)
        strata = np.zeros(len(influence), dtype=np.intp)
    if len(influence) < 2:
        nothing = np.full(m, np.nan)
        return FixedSpeakers(nothing, nothing)
    counts = np.bincount(strata)
    variances, columns = np.empty((m, len(counts))), []
    for n, column in enumerate(influence.T):
        sums, squares = np.bincount(strata, column), np.bincount(strata, column**2)
        around = squares - sums**2 / counts
        # Equal numbers have a spread of float noise, and that is none.
        variances[n] = counts / (counts - 1) * np.where(around > _NOISE * squares, around, 0.0)
        if spread:
            apart = column - (sums / counts)[strata]
            columns.append(apart * np.sqrt(counts / (counts - 1))[strata])
    spreads = _sketch(np.stack(columns, axis=1)) if columns else np.zeros((0, m))
    total = variances.sum(axis=1)
    total[total < _LEAST**2] = 0.0  # the noise of gradients
    # The square of a variance with n - 1 degrees of freedom is (n + 1) / (n - 1) times too large on average.
    freedom = ratio(total**2, (variances**2 / (counts + 1)).sum(axis=1))
    freedom = np.fmin(freedom, np.maximum(np.count_nonzero(influence, axis=0) - 1, 1))
    undefined = np.isnan(influence).any(axis=0)
    error = np.where(undefined, np.nan, round_significant(np.sqrt(total)))
    return FixedSpeakers(error, np.where(total > 0, freedom, np.nan), spreads)


def _influence(
    statistic: Statistic | Weighted, blocks: np.ndarray, *, of_speakers: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Give the influence values ``(n, m)`` of the recordings that take part, and their speakers ``(n,)``."""
    if isinstance(statistic, Weighted):
        nothing = np.zeros((0, len(statistic.labels))), np.zeros(0, dtype=np.intp)
        influence, speakers = statistic.influence(of_speakers=of_speakers) or nothing
        used = speakers >= 0
    else:
        influence, speakers, used = statistic.influence(), np.asarray(blocks), statistic.rows
    return (influence, speakers) if used.all() else (influence[used], speakers[used])


def _sketch(columns: np.ndarray) -> np.ndarray:
    """Add up rows with random signs in a few places, which keeps the squares of all differences.

    Charikar, Chen and Farach-Colton (2002), Finding frequent items in data streams. With 1,000 places errors
    are within 5 % in 97 of 100 cases.
    """
    if len(columns) <= SKETCH:
        return columns
    rng = np.random.default_rng(len(columns))
    places, signs = rng.integers(SKETCH, size=len(columns)), rng.choice([-1.0, 1.0], size=len(columns))
    sums = [np.bincount(places, signs * column, minlength=SKETCH) for column in columns.T]
    return np.stack(sums, axis=1)


def _strata(speakers: np.ndarray, least: int) -> tuple[np.ndarray, bool]:
    """Give strata of enough recordings numbers from 0, and say whether most speakers have fewer."""
    counts = np.bincount(speakers)
    single, several = (counts > 0) & (counts < least), counts >= least
    if single.sum() > several.sum():
        return np.zeros(len(speakers), dtype=np.intp), True
    stratum = np.cumsum(several) - 1
    # A speaker who is alone with so few recordings joins the one with the fewest.
    alone, fewest = single.sum() == 1, np.where(several, counts, counts.max() + 1).argmin()
    stratum[single] = stratum[fewest] if alone else stratum.max() + 1
    return stratum[speakers], False


def value_ends(value: float, error: float, freedom: float, scale: Scale = FREE, recordings: int = 0) -> Ends:
    """Give the ends of score intervals; ``recordings`` are those of a share, which count on its limits.

    >>> low, high = value_ends(0.9, 0.05, 40.0, Scale(0, 1))(0.025)
    >>> round(low, 3), round(high, 3)
    (0.755, 0.963)
    """
    low, high = scale.low, scale.high
    if freedom <= _FEW and value < low + scale.all_wrong:
        high = min(high, low + scale.all_wrong)
    on_limit = error == 0 and recordings > 0 and value in (low, high)
    bounded = math.isfinite(low) and (on_limit or (error > 0 and low < value < high))
    # (value - true)^2 = reach^2 unit slope(true), with slope(true) = (true - low) (high - true) or true - low
    linear, square = (high - low, 1.0) if math.isfinite(high) else (1.0, 0.0)
    x = value - low if bounded else 0.0
    slope = linear * x - square * x**2
    unit = 1 / recordings if on_limit else error**2 / slope if bounded else 0.0
    if recordings or error == 0:
        freedom = math.inf

    def ends(tail: float) -> tuple[float, float]:
        reach = -float(scipy.special.stdtrit(freedom, tail))
        if not bounded:
            return value - reach * error, value + reach * error
        factor = reach**2 * unit
        middle, root = x + factor * linear / 2, math.sqrt(factor * slope + (factor * linear / 2) ** 2)
        return tuple(low + (middle + sign * root) / (1 + factor * square) for sign in (-1, 1))

    return ends


def difference_ends(values: Sequence[float], errors: Sequence[float], sides: Sequence[Ends]) -> Ends:
    """Put the intervals of two values together; the third of the errors is that of their difference."""
    product = 2 * errors[0] * errors[1]
    shared = (errors[0] ** 2 + errors[1] ** 2 - errors[2] ** 2) / product if product > 0 else 0.0
    gap = values[0] - values[1]

    def joined(a: float, b: float) -> float:
        return math.sqrt(max(a**2 + b**2 - 2 * shared * a * b, 0.0))

    def ends(tail: float) -> tuple[float, float]:
        (low, high), (least, most) = (side(tail) for side in sides)
        return (
            gap - joined(values[0] - low, most - values[1]),
            gap + joined(high - values[0], values[1] - least),
        )

    return ends
