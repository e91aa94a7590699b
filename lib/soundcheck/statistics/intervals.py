"""Intervals of a value from its replicates, and how sure they make a verdict.

Efron (1979), Bootstrap methods: another look at the jackknife. Hesterberg (2015), What teachers should know
about the bootstrap, for the expanded percentile interval.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.metrics.additive import round_significant
from soundcheck.statistics.evidence import FREE, Scale, t_interval
from soundcheck.statistics.rules import INTERVALS, passes

LEVEL = 0.95


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

    ``"percentile"``: quantiles, linearly interpolated. ``"expanded"``: quantiles at
    :math:`\Phi(\mp\sqrt{K/(K-1)}\, t_{K-1})`, which makes up for the narrowness of the percentile interval
    with few blocks. ``"gaussian"``: value plus and minus 1.96 standard deviations of the replicates. ``"t"``:
    see :func:`soundcheck.statistics.evidence.t_interval`, which ``scale`` and ``of_blocks`` are for.
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


def certainty(replicates: np.ndarray, rule: str, threshold: float, passed: bool) -> float:
    """Compute how sure a verdict is: the proportion of defined replicates on its side of the threshold."""
    replicates = np.asarray(replicates, dtype=np.float64)
    replicates = replicates[~np.isnan(replicates)]
    if not len(replicates):
        return np.nan
    share = np.mean(passes(rule, replicates, threshold))
    return float(round_significant(share if passed else 1 - share))
