"""How often the interval of the level where an equal error rate doubles holds the true level.

Run ``python benchmarks/doubling.py``. Scores of trials are normal: a speaker sounds more or less like herself
and like the others, and suffers more or less from a change. So the true rates, and the level where they are
twice the one without a change, are known by formula. Each speaker tests one recording against four of her own
and twenty-four of others, as in the demo.

Ends with 1 if fewer than 90 % of the t intervals hold the true level with any number of speakers.
"""

from __future__ import annotations

import sys

import numpy as np
import scipy

from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.metrics.weighted import weighted_sums
from soundcheck.statistics.bootstrap import Crossing, crossing, first_reached, resample

RUNS, REPLICATES, GOAL = 400, 200, 0.9
SPEAKERS = (10, 20, 40, 80)
OWN, OTHERS = 4, 24  # trials of each tested recording
DISTANCE = 2.9  # between the means of targets and non-targets as they are, in units of the noise of a trial
LOSSES = np.array([0.2, 0.6, 1.1, 1.7, 2.3])  # of that distance, at each level
LIKE_SELF, LIKE_OTHERS, SUFFERS = (
    0.45,
    0.3,
    0.35,
)  # standard deviations of speakers; the last one times the loss
KINDS = ("t", "percentile")


def true_level() -> float:
    """Give the place where the rate doubles, from the formula of the rates, interpolated linearly."""
    spread = np.sqrt(1 + 2 * LIKE_OTHERS**2)
    target_spread = np.sqrt(1 + LIKE_SELF**2 + (SUFFERS * LOSSES) ** 2)
    clean = scipy.special.ndtr(-DISTANCE / (np.sqrt(1 + LIKE_SELF**2) + spread))
    rates = scipy.special.ndtr(-(DISTANCE - LOSSES) / (target_spread + spread))
    return first_reached(rates - 2 * clean, np.arange(len(LOSSES), dtype=float))


def found_levels(speakers: int, seed: int) -> dict[str, Crossing]:
    """Simulate trials of some speakers and look for the level, with each kind of interval."""
    rng = np.random.default_rng([speakers, seed])
    like_self, like_others, suffers = rng.normal(0, 1, (3, speakers)) * [
        [LIKE_SELF],
        [LIKE_OTHERS],
        [SUFFERS],
    ]
    second = np.repeat(np.arange(speakers), OWN + OTHERS)
    target = np.tile(np.arange(OWN + OTHERS) < OWN, speakers)
    first = np.where(target, second, (second + rng.integers(1, speakers, len(second))) % speakers)
    noise = rng.normal(0, 1, len(second))
    base = np.where(target, DISTANCE + like_self[second], like_others[first] + like_others[second])
    rates = []
    for loss in (0.0, *LOSSES):
        fresh = noise if loss == 0 else 0.8 * noise + 0.6 * rng.normal(0, 1, len(second))
        scores = base + fresh - target * loss * (1 + suffers[second])
        rates.append(equal_error_rate(Trials(scores, target, first, second, speakers)))
    excess = weighted_sums({str(n): [(1, rate), (-2, rates[0])] for n, rate in enumerate(rates[1:])})
    drawn = resample(excess, np.zeros(0, dtype=np.intp), REPLICATES, seed)
    return {kind: crossing(drawn, kind) for kind in KINDS}


def main() -> int:
    """Count, print and compare with the goal."""
    true, lowest = true_level(), 1.0
    print(f"true level: {true:.2f} of 0 to {len(LOSSES) - 1}; {RUNS} runs each")
    for speakers in SPEAKERS:
        runs = [found_levels(speakers, seed) for seed in range(RUNS)]
        covered = {kind: np.mean([run[kind].low <= true <= run[kind].high for run in runs]) for kind in KINDS}
        open_ended = np.mean([np.isinf(run["t"].high) for run in runs])
        listed = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in covered.items())
        print(f"{speakers} speakers: {listed} hold it; not reached at one end in {100 * open_ended:.0f} %")
        lowest = min(lowest, covered["t"])
    return int(lowest < GOAL)


if __name__ == "__main__":
    sys.exit(main())
