r"""Word error rates of two recognisers: ordinary intervals beside blockwise ones.

Repeats the simulation of Liu and Peng (2019), Statistical Testing on ASR Performance via Blockwise Bootstrap:
consecutive utterances are alike within a block, and only intervals that draw whole blocks hold the true
difference as often as they should.

Conventions
-----------
- Sizes that the publication leaves open are chosen so that they give its widths: 3000 utterances of 100
  words, word error rates of 0.10 and 0.095.
- A difference is the second recogniser minus the first; negative if the second is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy import stats

from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import difference
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.bootstrap import REPLICATES, every_segment
from soundcheck.studies.intervals import Intervals, intervals, resampled

__all__ = [
    "BLOCK_SIZES",
    "CORRELATIONS",
    "PUBLISHED",
    "TRUE_DIFFERENCE",
    "WordErrorStudy",
    "coverage_of_word_errors",
    "word_error_data",
    "word_error_difference",
]

UTTERANCES = 3000
WORDS = 100  # an utterance
RATES = (0.10, 0.095)  # of the two recognisers
TRUE_DIFFERENCE = -0.005
BLOCK_SIZES = (5, 30)
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.4)

# (block size, correlation) -> ordinary width and coverage, blockwise width and coverage
PUBLISHED = {
    (5, 0.0): (0.0030, 0.941, 0.0030, 0.947),
    (5, 0.05): (0.0030, 0.927, 0.0033, 0.952),
    (5, 0.1): (0.0030, 0.901, 0.0035, 0.943),
    (5, 0.2): (0.0030, 0.862, 0.0040, 0.949),
    (5, 0.4): (0.0030, 0.769, 0.0048, 0.940),
    (30, 0.0): (0.0030, 0.941, 0.0030, 0.947),
    (30, 0.05): (0.0030, 0.781, 0.0046, 0.952),
    (30, 0.1): (0.0030, 0.692, 0.0058, 0.949),
    (30, 0.2): (0.0030, 0.544, 0.0077, 0.947),
    (30, 0.4): (0.0030, 0.412, 0.0105, 0.959),
}


def word_error_data(
    rng: np.random.Generator,
    block_size: int,
    correlation: float,
    *,
    utterances: int = UTTERANCES,
    words: int = WORDS,
    rates: Sequence[float] = RATES,
) -> np.ndarray:
    """Draw the word errors of recognisers on utterances that are alike within a block.

    Numbers that are normal and equally correlated within a block become binomial counts with the same
    probabilities (a Gaussian copula); recognisers are independent.

    Parameters
    ----------
    rng
        The generator.
    block_size
        Utterances a block; blocks are consecutive and divide ``utterances``.
    correlation
        Correlation of the normal numbers within a block, from 0 to 1.
    utterances
        Number of utterances.
    words
        Words of each utterance.
    rates
        Probability that a word is wrong, one a recogniser.

    Returns
    -------
    numpy.ndarray
        int64 ``(recognisers, utterances)``; wrong words, from 0 to ``words``.
    """
    blocks, rest = divmod(utterances, block_size)
    if rest or not 0 <= correlation <= 1:
        raise ValueError(
            f"Blocks of {block_size} must divide {utterances} utterances, "
            f"and a correlation of {correlation} must lie between 0 and 1."
        )
    own = rng.standard_normal((len(rates), blocks, 1))
    normal = np.sqrt(1 - correlation) * rng.standard_normal((len(rates), blocks, block_size))
    normal += np.sqrt(correlation) * own
    errors = np.empty((len(rates), utterances), dtype=np.int64)
    for row, numbers, rate in zip(errors, normal.reshape(len(rates), -1), rates, strict=True):
        # The smallest count whose probability of at most that many reaches the one of the normal number.
        bounds = stats.norm.ppf(stats.binom.cdf(np.arange(words), words, rate))
        row[:] = np.searchsorted(bounds, numbers)
    return errors


def word_error_difference(errors: np.ndarray, words: np.ndarray) -> Statistic:
    """Absolute difference of the word error rates of two recognisers, the second minus the first.

    Parameters
    ----------
    errors
        Wrong words, ``(2, utterances)``.
    words
        Words of each utterance, ``(utterances,)``.

    Returns
    -------
    Statistic
        One value; undefined without words.
    """
    first, second = (word_error_rate(words, each) for each in errors)
    return difference(second, first)


@dataclasses.dataclass(frozen=True, eq=False)
class WordErrorStudy:
    """One row of the table: ordinary and blockwise intervals of the same data sets.

    Parameters
    ----------
    block_size
        Utterances a block.
    correlation
        Correlation within a block.
    ordinary, blockwise
        Kind of interval -> intervals of all data sets.
    """

    block_size: int
    correlation: float
    ordinary: dict[str, Intervals]
    blockwise: dict[str, Intervals]


def coverage_of_word_errors(
    block_size: int,
    correlation: float,
    data_sets: int,
    replicates: int = REPLICATES,
    seed: int = 0,
    kinds: Sequence[str] = ("percentile", "gaussian"),
) -> WordErrorStudy:
    """Compute ordinary and blockwise intervals of many data sets.

    Parameters
    ----------
    block_size, correlation
        See :func:`word_error_data`.
    data_sets
        How many to draw.
    replicates, seed
        See :func:`soundcheck.statistics.bootstrap.resample`.
    kinds
        Kinds of interval, see :func:`soundcheck.statistics.bootstrap.interval`.
    """
    words = np.full(UTTERANCES, WORDS)

    def make(rng: np.random.Generator) -> Statistic:
        return word_error_difference(word_error_data(rng, block_size, correlation), words)

    ways = [every_segment(UTTERANCES), np.arange(UTTERANCES) // block_size]
    purpose = ["word errors", block_size, correlation]
    ordinary, blockwise = zip(*resampled(make, ways, data_sets, replicates, seed, purpose), strict=True)
    return WordErrorStudy(
        block_size,
        correlation,
        {kind: intervals(TRUE_DIFFERENCE, ordinary, kind) for kind in kinds},
        {kind: intervals(TRUE_DIFFERENCE, blockwise, kind) for kind in kinds},
    )
