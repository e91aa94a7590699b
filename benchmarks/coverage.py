"""How often 95 % intervals contain the truth: the table behind the warning below 20 blocks.

Run ``python benchmarks/coverage.py [data sets a cell]``, 400 by default, a minute. Segments come from
speakers with 20 segments each; a share of the variance of truth and error belongs to the speaker.
Percentile intervals of 1000 replicates; in brackets the expanded percentile interval.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

from soundcheck.bootstrap import resample
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.regression import concordance_cc

EACH = 20
TRUTH, ERROR = 0.15, 0.1  # standard deviations
TRUE_CCC = 2 * TRUTH**2 / (2 * TRUTH**2 + ERROR**2)
TRUE_SHARE = 0.93


def correlated(rng: np.random.Generator, blocks: int, share: float) -> np.ndarray:
    """Draw standard normal numbers of which a share of the variance belongs to the block."""
    own = np.repeat(rng.normal(size=blocks), EACH)
    return np.sqrt(share) * own + np.sqrt(1 - share) * rng.normal(size=blocks * EACH)


def agreement(rng: np.random.Generator, blocks: int, share: float) -> Statistic:
    truth = 0.5 + TRUTH * correlated(rng, blocks, share)
    return concordance_cc(truth, truth + ERROR * correlated(rng, blocks, share))


def stability(rng: np.random.Generator, blocks: int, share: float) -> Statistic:
    changed = correlated(rng, blocks, share) > stats.norm.ppf(TRUE_SHARE)
    return unchanged(np.zeros(len(changed)), changed.astype(float))


def coverage(make, true: float, blocks: int, share: float, data_sets: int) -> tuple[float, float]:
    """Share of percentile and of expanded intervals that hold the true value."""
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(blocks), EACH)
    hits = np.zeros(2)
    for n in range(data_sets):
        found = resample(make(rng, blocks, share), block, seed=n)
        for place, kind in enumerate(("percentile", "expanded")):
            low, high = found.interval(kind)
            hits[place] += low[0] <= true <= high[0]
    return tuple(100 * hits / data_sets)


def main() -> None:
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    start = time.perf_counter()
    shares = (0.0, 0.2, 0.5)
    print("blocks".rjust(6), *(f"{name} rho={s}".rjust(15) for name in ("CCC", "share") for s in shares))
    for blocks in (5, 10, 20, 40, 100):
        cells = []
        for make, true in ((agreement, TRUE_CCC), (stability, TRUE_SHARE)):
            for share in shares:
                plain, expanded = coverage(make, true, blocks, share, data_sets)
                cells.append(f"{plain:.1f} ({expanded:.1f})".rjust(15))
        print(f"{blocks:6}", *cells, flush=True)
    print(f"{data_sets} data sets a cell, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
