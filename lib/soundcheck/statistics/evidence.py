r"""Intervals of values from their replicates, what they say about a threshold, and p-values.

Intervals and p-values use Student's t with one degree of freedom less than there are blocks, because few
speakers are few however often they are drawn again; on a scale where values are free to move:

.. math:: g^{-1}\left(g(v) \pm t_{K-1;\,0.975} \sqrt{\tfrac{K}{K-1}}\; \mathrm{sd}(g(v^*))\right)

:math:`g(x) = \log\frac{x - a}{b - x}` for values between :math:`a` and :math:`b`, :math:`\log x` for errors
without upper end and :math:`x` for differences. The factor under the root undoes that replicates of
:math:`K` blocks vary too little.

A share of replicates beyond 0 is no p-value: it is too sure with few blocks, and of a thousand replicates it
cannot be small enough to be seen among hundreds of tests. Their standard deviation has neither fault: with
:math:`K` blocks, :math:`\sqrt{K/(K-1)}` times it is the standard error that a t-test with :math:`K-1`
degrees of freedom divides by.

Hesterberg (2015), What teachers should know about the bootstrap, for the factor. Clopper and Pearson (1934),
The use of confidence or fiducial limits illustrated in the case of the binomial, for values on a limit of
their scale. Welch (1947), The generalization of Student's problem when several different population variances
are involved, for two sets of speakers.

Conventions
-----------
- With fewer than :data:`LEAST_BLOCKS` blocks differences have no p-value and no interval: NaN.
- Undefined replicates (NaN) are left out.
- Where all replicates are equal but not 0, every block differs alike; the p-value is that of the sign test
  of so many blocks, not 0.
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy  # scipy.stats is loaded when first used

from soundcheck.metrics.additive import round_significant
from soundcheck.statistics.rules import ABOVE, GAP_WITHIN, INTERVALS, WITHIN, passes

LEVEL = 0.95
LEAST_BLOCKS = 5  # of either side, below which there is no interval
MANY_BLOCKS = 20  # below, the interval of a value on a limit of its scale is that of hardly any knowledge
CLEAR_PASS, CLEAR_FAIL, OPEN, NO_INTERVAL = "clear pass", "clear fail", "open", "none"

_ON_LIMIT = 0.1  # proportion of replicates on a limit above which they say nothing about the spread


@dataclasses.dataclass(frozen=True)
class Scale:
    """Where values of a statistic may lie."""

    low: float = -np.inf  # limits; infinite if there is none. Differences have none that matters
    high: float = np.inf
    # the value of a model that does everything wrong where there is no upper end: 1 for errors by what there
    # was, 150 for words a minute
    all_wrong: float = 1.0

    def free(self, values: np.ndarray | float) -> np.ndarray:
        """Map values to a scale without limits; those on a limit become infinite."""
        values = np.asarray(values, dtype=np.float64)
        if np.isinf(self.low):
            return values
        if np.isfinite(self.high):
            return scipy.special.logit((values - self.low) / (self.high - self.low))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values - self.low)

    def back(self, values: np.ndarray) -> np.ndarray:
        """Undo :meth:`free`."""
        if np.isinf(self.low):
            return values
        if np.isfinite(self.high):
            return self.low + (self.high - self.low) * scipy.special.expit(values)
        return self.low + np.exp(values)

    def limit_of(self, replicates: np.ndarray) -> float | None:
        """Give the limit that more than a tenth of the replicates lie on; ``None`` if there is none."""
        on = {limit: np.mean(replicates == limit) for limit in (self.low, self.high) if np.isfinite(limit)}
        limit = max(on, key=on.__getitem__, default=None)
        return limit if limit is not None and on[limit] > _ON_LIMIT else None

    def proportion(self, value: float, limit: float) -> float:
        """Say how near a value lies to a limit, 1 on it and 0 at the other end of the scale.

        Errors without upper end are looked at up to :attr:`all_wrong`.
        """
        other = self._other(limit)
        return float(np.clip((value - other) / (limit - other), 0.0, 1.0))

    def value(self, proportion: float, limit: float) -> float:
        """Undo :meth:`proportion`."""
        other = self._other(limit)
        return other + proportion * (limit - other)

    def _other(self, limit: float) -> float:
        other = self.high if limit == self.low else self.low
        return other if np.isfinite(other) else self.low + self.all_wrong


FREE = Scale()


def corrected_sd(replicates: np.ndarray, blocks: int) -> float:
    r"""Give the standard deviation of a value, :math:`\sqrt{K/(K-1)}` times that of its replicates.

    NaN with fewer than two defined replicates or blocks.
    """
    defined = replicates[np.isfinite(replicates)]
    if len(defined) < 2 or blocks < 2:
        return np.nan
    # Rounded, because equal numbers have a spread of float noise, and that is none.
    return float(round_significant(np.std(defined, ddof=1) * np.sqrt(blocks / (blocks - 1))))


def interval(
    replicates: np.ndarray,
    kind: str = "percentile",
    *,
    blocks: int = 0,
    level: float = LEVEL,
    value: float = np.nan,
    scale: Scale = FREE,
    of_blocks: np.ndarray | None = None,
) -> tuple[float, float]:
    r"""Compute the confidence interval of a value from its replicates; NaN where they say nothing.

    ``"percentile"``: quantiles, linearly interpolated; Efron (1979), Bootstrap methods: another look at the
    jackknife. ``"expanded"``: quantiles at :math:`\Phi(\mp\sqrt{K/(K-1)}\, t_{K-1})`, which makes up for the
    narrowness of the percentile interval with few blocks; Hesterberg (2015). ``"gaussian"``: value plus and
    minus 1.96 standard deviations of the replicates. ``"t"``: see :func:`t_interval`, which ``scale`` and
    ``of_blocks`` are for.
    """
    if kind not in INTERVALS:
        raise ValueError(f"An interval is one of {', '.join(INTERVALS)}, not {kind!r}.")
    replicates = np.asarray(replicates, dtype=np.float64)
    replicates = replicates[~np.isnan(replicates)]
    tail = (1 - level) / 2
    if len(replicates) < 2 or (kind in ("expanded", "t") and blocks < 2):
        return np.nan, np.nan
    if kind == "t":
        bounds = np.array(t_interval(value, replicates, blocks, scale, of_blocks, level))
    elif kind == "gaussian":
        reach = scipy.special.ndtri(1 - tail) * np.std(replicates, ddof=1)
        bounds = np.array([value - reach, value + reach])
    else:
        if kind == "expanded":
            quantile = scipy.special.stdtrit(blocks - 1, 1 - tail)
            tail = scipy.special.ndtr(-np.sqrt(blocks / (blocks - 1)) * quantile)
        bounds = np.quantile(replicates, [tail, 1 - tail])
    low, high = round_significant(bounds).tolist()
    return low, high


def t_interval(
    value: float,
    replicates: np.ndarray,
    blocks: int,
    scale: Scale = FREE,
    of_blocks: np.ndarray | None = None,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Compute the t interval of a value; NaN below two blocks or two defined replicates.

    If over a tenth of the replicates lie on a limit, it is that of Clopper and Pearson for the proportion of
    blocks that reach it by ``of_blocks``, the value of each block by itself; without these all but one do, or
    all if the value lies there. An end that does not reach the value is a quantile of the replicates.

    >>> low, high = t_interval(1.0, np.ones(1000), 10, Scale(0, 1))
    >>> round(low, 3), high
    (0.692, 1.0)
    """
    replicates = replicates[~np.isnan(replicates)]
    if len(replicates) < 2 or blocks < 2:
        return np.nan, np.nan
    limit = scale.limit_of(replicates)
    if limit is not None:
        shares = scipy.stats.binomtest(*_reached(value, limit, blocks, of_blocks)).proportion_ci(level)
        low, high = sorted((scale.value(shares.low, limit), scale.value(shares.high, limit)))
        drawn = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
        return min(low if low <= value else drawn[0], value), max(high if high >= value else drawn[1], value)
    if not np.isfinite(scale.free(value)):  # on a limit that few replicates reach
        scale = FREE
    freed = _freed(replicates, scale)
    center = float(scale.free(value))
    reach = scipy.special.stdtrit(blocks - 1, (1 + level) / 2) * corrected_sd(freed, blocks)
    low, high = scale.back(np.array([center - reach, center + reach])).tolist()
    return low, high


def _freed(replicates: np.ndarray, scale: Scale) -> np.ndarray:
    """Map replicates; the few on a limit go as far as the farthest other one."""
    freed = scale.free(replicates)
    finite = freed[np.isfinite(freed)]
    return np.clip(freed, finite.min(), finite.max()) if len(finite) else freed


def _reached(value: float, limit: float, blocks: int, of_blocks: np.ndarray | None) -> tuple[int, int]:
    """Count the blocks that reach a limit, and all blocks."""
    known = np.empty(0) if of_blocks is None else of_blocks[np.isfinite(of_blocks)]
    if not len(known):
        return (blocks if value == limit else blocks - 1), blocks
    return int(np.isclose(known, limit, rtol=0, atol=1e-9).sum()), len(known)


def withheld(value: float, low: float, high: float, blocks: int, scale: Scale) -> str:
    """Say why an interval is not shown, although a verdict may use it; empty if it is shown."""
    if value in (scale.low, scale.high) and low <= high and blocks < MANY_BLOCKS:
        return f"interval withheld: all of {blocks} speakers at {value:g}, {MANY_BLOCKS} needed"
    return "interval withheld: nothing varies" if low == high else ""


def certainty(replicates: np.ndarray, rule: str, threshold: float, passed: bool) -> float:
    """Compute how sure a verdict is: the proportion of defined replicates on its side of the threshold."""
    replicates = np.asarray(replicates, dtype=np.float64)
    replicates = replicates[~np.isnan(replicates)]
    if not len(replicates):
        return np.nan
    share = np.mean(passes(rule, replicates, threshold))
    return float(round_significant(share if passed else 1 - share))


def p_value(
    value: float,
    replicates: np.ndarray,
    blocks: int,
    rule: str,
    threshold: float,
    scale: Scale = FREE,
    of_blocks: np.ndarray | None = None,
) -> float:
    """Compute how likely it is to fail by so much if the true value just passes, by Student's t."""
    replicates = replicates[~np.isnan(replicates)]
    if len(replicates) < 2 or blocks < 2:
        return np.nan
    if rule in (WITHIN, GAP_WITHIN):
        value, replicates, scale = abs(value), np.sign(value) * replicates, FREE
    limit = scale.limit_of(replicates)
    if limit is not None:
        fails = (limit == scale.low) == (rule == ABOVE)  # the more blocks reach it, the worse
        reached, share = _reached(value, limit, blocks, of_blocks), scale.proportion(threshold, limit)
        return float(scipy.stats.binomtest(*reached, share, "greater" if fails else "less").pvalue)
    if not (np.isfinite(scale.free(value)) and np.isfinite(scale.free(threshold))):
        scale = FREE
    beyond = float(scale.free(value)) - float(scale.free(threshold))
    sd = corrected_sd(_freed(replicates, scale), blocks)
    if sd == 0:  # every block is alike: the sign test of so many blocks
        least = 0.5**blocks
        return 0.5 if beyond == 0 else 1 - least if (beyond > 0) == (rule == ABOVE) else least
    return float(scipy.special.stdtr(blocks - 1, (beyond if rule == ABOVE else -beyond) / sd))


def evidence(rule: str, low: float, high: float, threshold: float) -> str:
    """Say what an interval says: all of it passes, all of it fails, or neither.

    >>> evidence("|value| <", -0.02, 0.05, 0.075), evidence("|value| <", 0.08, 0.2, 0.075)
    ('clear pass', 'clear fail')
    """
    if np.isnan(low) or np.isnan(high):
        return NO_INTERVAL
    if passes(rule, bound(rule, low, high), threshold):
        return CLEAR_PASS
    best = high if rule == ABOVE else max(low, -high) if rule in (WITHIN, GAP_WITHIN) else low
    fails = best <= threshold if rule == ABOVE else best >= threshold
    return CLEAR_FAIL if fails else OPEN


def bound(rule: str, low: float, high: float) -> float:
    """Give the worst that an interval leaves possible; NaN if there is none."""
    if rule == ABOVE:
        return low
    return max(abs(low), abs(high)) if rule in (WITHIN, GAP_WITHIN) else high


# Is a difference more than chance

Alternative = Literal["two-sided", "greater", "less"]


def standard_error(replicates: np.ndarray, blocks: int) -> float:
    r"""Compute the standard error of a value from its replicates."""
    replicates = np.asarray(replicates, dtype=np.float64)
    return corrected_sd(replicates, blocks) if blocks >= LEAST_BLOCKS else np.nan


def interval_error(low: float, high: float, blocks: int, kind: str) -> float:
    """Estimate the standard error of a value of which only the 95 % interval is left."""
    if blocks < LEAST_BLOCKS:
        return np.nan
    half = (high - low) / 2
    if kind == "t":
        return float(half / scipy.special.stdtrit(blocks - 1, 0.975))
    return float(half / scipy.special.ndtri(0.975) * np.sqrt(blocks / (blocks - 1)))


def t_test(
    estimate: float,
    error: float,
    freedom: float,
    least: float,
    alternative: Alternative = "two-sided",
    level: float = LEVEL,
) -> tuple[float, float, float]:
    """Test whether a value is 0: p-value, low and high end of the interval, NaN without an error.

    ``least`` is the one-sided p-value where nothing varies and the value is not 0.
    """
    if np.isnan(error) or np.isnan(estimate):
        return np.nan, np.nan, np.nan
    p = scipy.special.stdtr(freedom, -abs(estimate) / error) if error > 0 else least
    if error == 0 and estimate == 0:
        p = 1.0
    elif alternative == "two-sided":
        p = min(1.0, 2 * p)
    elif (estimate > 0) != (alternative == "greater"):
        p = 1 - p
    reach = scipy.special.stdtrit(freedom, (1 + level) / 2) * error
    return tuple(round_significant(np.array([p, estimate - reach, estimate + reach])).tolist())


def paired_test(
    differences: np.ndarray,
    estimate: float,
    blocks: int,
    alternative: Alternative = "two-sided",
    level: float = LEVEL,
) -> tuple[float, float, float]:
    """Test whether a difference is 0, see :func:`t_test`.

    ``differences`` are its replicates, both values on the same blocks.

    >>> round(paired_test(np.random.default_rng(0).normal(0.2, 0.1, 1000), 0.2, 20)[0], 2)
    0.06
    >>> paired_test(np.full(100, 0.1), 0.1, 10)
    (0.001953125, 0.1, 0.1)
    """
    error = standard_error(differences, blocks)
    return t_test(estimate, error, blocks - 1, 0.5**blocks, alternative, level)


def welch(
    estimate: float,
    errors: tuple[float, float],
    blocks: tuple[int, int],
    alternative: Alternative = "two-sided",
) -> tuple[float, float, float]:
    """Test whether a difference of two values on different blocks is 0, see :func:`t_test`."""
    error, freedom = joined_error(errors, np.array(blocks) - 1.0)
    return t_test(estimate, error, freedom, 0.5 ** min(blocks), alternative)


def joined_error(errors: Sequence[float], freedoms: Sequence[float]) -> tuple[float, float]:
    """Give standard error and degrees of freedom (Satterthwaite) of a difference of independent values."""
    variances = np.square(errors)
    error = float(round_significant(np.sqrt(variances.sum())))
    if not error > 0:
        return error, float(min(freedoms))
    return error, float(variances.sum() ** 2 / (variances**2 / np.asarray(freedoms)).sum())


def adjusted_p_values(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Adjust p-values: calling all tests with at most 0.05 leaves at most 5 % false ones among them.

    Benjamini and Hochberg (1995), Controlling the false discovery rate. The same numbers as those of
    ``scipy.stats.false_discovery_control``, which takes a third of the time of all that a run loads.

    >>> adjusted_p_values(np.array([0.03, 0.01, 0.04, 0.5]))
    array([0.05333333, 0.04      , 0.05333333, 0.5       ])
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p)
    scaled = p[order] * (len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.clip(adjusted, 0.0, 1.0)
