"""How often 95 % intervals hold the truth, and how often verdicts are right about not being sure.

Run ``python benchmarks/interval_studies.py [data sets a row]``, 1000 by default, a few minutes. The full size
also writes the tables in ``book/tables``, which the page *confidence intervals* shows. Ends with 1 if what
the product promises does not hold; each bar is widened by 2.6 standard errors of the study:

- With at least 40 speakers, percentile intervals hold the truth in 92 to 97 % of the data sets.
- With at least 20 speakers, t intervals hold the truth in 93 to 98 %.
- Verdicts on values that lie exactly on the threshold are certain to any degree equally often, and 93 to 97 %
  of them are inconclusive.
- Table 1 of Liu and Peng (2019), Statistical Testing on ASR Performance via Blockwise Bootstrap, comes out
  again: blockwise coverage between 93 and 97 %, ordinary coverage within 3 points and widths within 5 % of
  the published ones.

Conventions
-----------
- Data sets are drawn from models in which segments of a speaker are alike; true values follow from the
  parameters by a formula. Each data set goes through the metrics and the bootstrap that judge speech models.
- Data and draws of blocks follow from the seed and the name of the study alone; the first data sets are the
  same whatever their number. 50 of them share the draws of blocks, so that the error of 1000 draws averages
  out over a study.
- Designs: every speaker has 20 segments, and speakers are the blocks. The part ``rho`` of the variance of
  truth and of error, and of what makes a class or a change, belongs to the speaker, the rest to the segment.
- Word errors: sizes that the publication leaves open are chosen so that they give its widths, 3000 utterances
  of 100 words, word error rates of 0.10 and 0.095. A difference is the second recogniser minus the first.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from soundcheck.common import seeds
from soundcheck.metrics.additive import Statistic, ratio
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.combinators import difference, paired_difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, pearson_cc
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.metrics.weighted import Weighted
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report.method_views import monte_carlo_error
from soundcheck.statistics.bootstrap import FEW_BLOCKS, REPLICATES, Resampled, resample_all
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.rules import INTERVALS

TABLES = Path(__file__).parents[1] / "book" / "tables"
SEED = 0
DATA_SETS = 1000  # a row of the tables
JUDGED = 500  # data sets of a study of verdicts
SHOWN = 50  # data sets whose intervals are drawn
BATCH = 50  # data sets that share the draws of blocks

Make = Callable[[np.random.Generator], Statistic | Weighted]


# Intervals and verdicts of many data sets that have the same truth


def resampled(
    make: Make, blocks: Sequence[np.ndarray], data_sets: int, replicates: int, purpose: object
) -> Iterator[tuple[Resampled, ...]]:
    """Draw data sets and resample each, once for each way of dividing it into blocks.

    - ``make``: draws a data set with a generator and gives its statistic over ``N`` segments.
    - ``blocks``: ways of dividing the segments, each integers ``(N,)``.
    - ``replicates``: see :func:`soundcheck.statistics.bootstrap.resample`.
    - ``purpose``: names the study; studies with different names draw different data.
    - Yields one data set's results, one for each way.
    """
    data = seeds.generator(SEED, "study", "data", purpose)
    draws = seeds.generator(SEED, "study", "draws", purpose)
    for start in range(0, data_sets, BATCH):
        statistics = [make(data) for _ in range(min(BATCH, data_sets - start))]
        draw = int(draws.integers(2**63))
        yield from zip(*(resample_all(statistics, each, replicates, draw) for each in blocks), strict=True)


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of a value in data sets that have the same truth; arrays ``(data_sets,)``.

    - ``low, high``: bounds; NaN where the interval is withheld.
    """

    true: float  # what the intervals ought to hold
    value: np.ndarray  # the value in each data set
    low: np.ndarray
    high: np.ndarray

    @property
    def withheld(self) -> float:
        """Share of data sets without an interval."""
        return float(np.isnan(self.low).mean())

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth; NaN if all are withheld."""
        defined = ~np.isnan(self.low)
        holds = (self.low <= self.true) & (self.true <= self.high)
        return float(ratio(holds.sum(), defined.sum()))

    @property
    def missed(self) -> tuple[float, float]:
        """Share of the intervals that lie wholly below the truth, and wholly above it."""
        count = (~np.isnan(self.low)).sum()
        return tuple(
            float(ratio(side.sum(), count)) for side in (self.high < self.true, self.low > self.true)
        )

    @property
    def width(self) -> float:
        """Mean width; NaN if all are withheld."""
        defined = ~np.isnan(self.low)
        return float(ratio((self.high - self.low)[defined].sum(), defined.sum()))


def intervals(
    true: float, data_sets: Sequence[Resampled], kind: str, label: int = 0, scale: Scale = FREE
) -> Intervals:
    """Collect the intervals of one label from resampled data sets."""
    low, high = np.array([drawn.interval(kind, scale=scale) for drawn in data_sets])[..., label].T
    return Intervals(true, np.array([drawn.value[label] for drawn in data_sets]), low, high)


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration:
    """What verdicts say if the truth lies exactly on the threshold."""

    passing: np.ndarray  # share of replicates that pass, one a data set; ideally uniform on 0 to 1
    # share of data sets whose interval holds the threshold; ideally the level of the interval
    inconclusive: float

    @property
    def p_value(self) -> float:
        """Probability of shares at least as far from uniform (Kolmogorov-Smirnov) if they are uniform."""
        return float(stats.kstest(self.passing, "uniform").pvalue)


# Designs

EACH = 20  # segments a speaker
CLASSES = ("anger", "happiness", "neutral", "sadness")

_TRUTH, _ERROR, _CHANGE = 0.15, 0.1, 0.05  # standard deviations
_SHARE = 0.93  # of unchanged predictions
_FREQUENCY = (0.2, 0.3, 0.4, 0.1)  # of the classes
_RECALL = (0.7, 0.6, 0.8, 0.5)  # of the classes
_GROUPS = (0.12, 0.1)  # standard deviations of the error in the two groups
_MODELS = (0.06, 0.04)  # standard deviations of the error that two models do not have in common
_SEPARATION = 2.0  # of targets and non-targets, in standard deviations of either
_COMMON = 0.08  # and of the one that they have
_MEAN_SIZE = np.sqrt(2 / np.pi)  # of a standard normal number


@dataclasses.dataclass(frozen=True)
class Design:
    """A way to draw data sets whose true value is known."""

    title: str  # what is measured, in words; names the draws
    true: float  # the true value, the same for any ``rho``
    # ``draw(rng, speakers, rho)`` draws a data set and gives its statistic, which covers 20 segments of each
    # speaker, speaker by speaker
    draw: Callable[[np.random.Generator, int, float], Statistic | Weighted]
    label: int = 0  # which of the statistic's values is meant
    sides: int = 1  # 2 if the data set has two samples of ``speakers`` speakers each
    scale: Scale = FREE  # where the values may lie

    def resampled(
        self,
        speakers: int,
        rho: float,
        data_sets: int,
        replicates: int = REPLICATES,
        *,
        each_segment: bool = False,
    ) -> list[Resampled]:
        """Draw data sets and resample speakers, or segments as if those of a speaker were independent."""
        make = functools.partial(self.draw, speakers=speakers, rho=rho)
        blocks = np.repeat(np.arange(self.sides * speakers), EACH)
        blocks = np.arange(len(blocks)) if each_segment else blocks
        results = resampled(make, [blocks], data_sets, replicates, [self.title, speakers, rho])
        return [each for (each,) in results]

    def coverage(
        self, *given: float, kinds: Sequence[str] = INTERVALS, **options: object
    ) -> dict[str, Intervals]:
        """Give the intervals of each kind; takes what :meth:`resampled` takes."""
        results = self.resampled(*given, **options)
        return {kind: intervals(self.true, results, kind, self.label, self.scale) for kind in kinds}

    def calibration(self, speakers: int, rho: float, data_sets: int) -> Calibration:
        """Judge data sets by a threshold that is the true value."""
        results = self.resampled(speakers, rho, data_sets)
        return Calibration(
            np.array([each.certainty(self.label, ">", self.true, passed=True) for each in results]),
            intervals(self.true, results, "percentile", self.label).coverage,
        )


def _correlated(rng: np.random.Generator, speakers: int, rho: float) -> np.ndarray:
    """Draw standard normal numbers of which the part ``rho`` of the variance belongs to the speaker."""
    speaker = np.repeat(rng.normal(size=speakers), EACH)
    return np.sqrt(rho) * speaker + np.sqrt(1 - rho) * rng.normal(size=speakers * EACH)


def _numbers(rng: np.random.Generator, speakers: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, rho)
    return truth, truth + _ERROR * _correlated(rng, speakers, rho)


def _names(rng: np.random.Generator, speakers: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and answers; a speaker has classes and mistakes of their own."""
    places = stats.norm.cdf(_correlated(rng, speakers, rho))
    truth = np.searchsorted(np.cumsum(_FREQUENCY)[:-1], places)
    right = stats.norm.cdf(_correlated(rng, speakers, rho)) < np.asarray(_RECALL)[truth]
    other = (truth + rng.integers(1, len(CLASSES), size=len(truth))) % len(CLASSES)
    names = np.array(CLASSES, dtype=object)
    return names[truth], names[np.where(right, truth, other)]


def _draw_ccc(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    return concordance_cc(*_numbers(rng, speakers, rho))


def _draw_pearson(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    return pearson_cc(*_numbers(rng, speakers, rho))


def _draw_mae(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    return mean_absolute_error(*_numbers(rng, speakers, rho))


def _draw_uar(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    return unweighted_average_recall(*_names(rng, speakers, rho), CLASSES)


def _draw_recall(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    return recall_per_class(*_names(rng, speakers, rho), CLASSES)


def _draw_unchanged(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    changed = _correlated(rng, speakers, rho) > stats.norm.ppf(_SHARE)
    return unchanged(np.zeros(len(changed)), changed.astype(np.float64))


def _draw_group(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    """Draw two groups of speakers, about as many in each, of which the first is predicted worse."""
    first = np.repeat(rng.random(speakers) < 0.5, EACH)
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, rho)
    error = np.where(first, *_GROUPS) * _correlated(rng, speakers, rho)
    metric = mean_absolute_error(truth, truth + error)
    return difference(restrict(metric, first), metric)


def _draw_change(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    truth, clean = _numbers(rng, speakers, rho)
    changed = clean + _CHANGE * _correlated(rng, speakers, rho)
    return paired_difference(concordance_cc(truth, changed), concordance_cc(truth, clean))


def _models(rng: np.random.Generator, speakers: int, rho: float) -> tuple[np.ndarray, ...]:
    """Draw the truth and the predictions of two models that err alike in part."""
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, rho)
    common = _COMMON * _correlated(rng, speakers, rho)
    return truth, *(truth + common + size * _correlated(rng, speakers, rho) for size in _MODELS)


def _draw_paired(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    truth, a, b = _models(rng, speakers, rho)
    return paired_difference(mean_absolute_error(truth, a), mean_absolute_error(truth, b))


def _draw_unpaired(rng: np.random.Generator, speakers: int, rho: float) -> Statistic:
    """Draw the same, with the predictions of the models beside each other as if of different speakers."""
    truth, a, b = _models(rng, speakers, rho)
    both = mean_absolute_error(np.tile(truth, 2), np.concatenate([a, b]))
    first = np.arange(2 * len(truth)) < len(truth)
    return difference(restrict(both, first), restrict(both, ~first))


def _trials(rng: np.random.Generator, speakers: int, rho: float) -> Trials:
    """Draw as many trials of a speaker as of two; both have unit variance around their means.

    The part ``rho`` of the variance belongs to the speaker, or half of it to either of the two.
    """
    first = np.repeat(np.arange(speakers), EACH)
    second = (first + rng.integers(1, speakers, size=first.size)) % speakers
    alike, apart = rng.normal(size=(2, speakers))
    noise = np.sqrt(1 - rho) * rng.normal(size=(2, first.size))
    targets = _SEPARATION + np.sqrt(rho) * alike[first] + noise[0]
    others = np.sqrt(rho / 2) * (apart[first] + apart[second]) + noise[1]
    return Trials(
        np.concatenate([targets, others]),
        np.arange(2 * first.size) < first.size,
        np.concatenate([first, first]),
        np.concatenate([first, second]),
        speakers,
    )


def _draw_eer(rng: np.random.Generator, speakers: int, rho: float) -> Weighted:
    return equal_error_rate(_trials(rng, speakers, rho))


def _draw_eer_by_trial(rng: np.random.Generator, speakers: int, rho: float) -> Weighted:
    """Draw the same, as if each trial had a speaker of its own."""
    trials = _trials(rng, speakers, rho)
    each = np.arange(len(trials))
    return equal_error_rate(dataclasses.replace(trials, first=each, second=each, speakers=len(trials)))


def _ccc(error_variance: float) -> float:
    return 2 * _TRUTH**2 / (2 * _TRUTH**2 + error_variance)


_TRUE_MODELS = _MEAN_SIZE * float(np.subtract(*(np.hypot(_COMMON, size) for size in _MODELS)))

CORRELATION, SHARE = Scale(-1, 1), Scale(0, 1)
DESIGNS = {
    "ccc": Design("concordance correlation coefficient", _ccc(_ERROR**2), _draw_ccc, scale=CORRELATION),
    "uar": Design("unweighted average recall", float(np.mean(_RECALL)), _draw_uar, scale=SHARE),
    "unchanged": Design("share of unchanged predictions", _SHARE, _draw_unchanged, scale=SHARE),
    "pearson": Design(
        "Pearson correlation coefficient", _TRUTH / np.hypot(_TRUTH, _ERROR), _draw_pearson, scale=CORRELATION
    ),
    "mae": Design("mean absolute error", _ERROR * _MEAN_SIZE, _draw_mae, scale=SHARE),
    "recall": Design("recall of a class of 10 %", _RECALL[3], _draw_recall, label=3, scale=SHARE),
    "group": Design("mean absolute error, group - all", -np.diff(_GROUPS)[0] / 2 * _MEAN_SIZE, _draw_group),
    "change": Design(
        "concordance correlation coefficient, changed - clean",
        _ccc(_ERROR**2 + _CHANGE**2) - _ccc(_ERROR**2),
        _draw_change,
    ),
    "paired": Design("mean absolute error, model - model", _TRUE_MODELS, _draw_paired),
    "eer": Design("equal error rate", float(stats.norm.cdf(-_SEPARATION / 2)), _draw_eer, scale=SHARE),
    "eer by trial": Design(
        "equal error rate, trials drawn",
        float(stats.norm.cdf(-_SEPARATION / 2)),
        _draw_eer_by_trial,
        scale=SHARE,
    ),
    "unpaired": Design("the same, not paired", _TRUE_MODELS, _draw_unpaired, sides=2),
}


# Word errors of two recognisers

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

    - ``block_size``: utterances a block; blocks are consecutive and divide ``utterances``.
    - ``correlation``: correlation of the normal numbers within a block, from 0 to 1.
    - ``rates``: probability that a word is wrong, one a recogniser.
    - Returns int64 ``(recognisers, utterances)``; wrong words, from 0 to ``words``.
    """
    blocks, rest = divmod(utterances, block_size)
    if rest or not 0 <= correlation <= 1:
        raise ValueError(
            f"Blocks of {block_size} must divide {utterances} utterances, "
            f"and a correlation of {correlation} must lie between 0 and 1."
        )
    block = rng.standard_normal((len(rates), blocks, 1))
    normal = np.sqrt(1 - correlation) * rng.standard_normal((len(rates), blocks, block_size))
    normal += np.sqrt(correlation) * block
    errors = np.empty((len(rates), utterances), dtype=np.int64)
    for row, numbers, rate in zip(errors, normal.reshape(len(rates), -1), rates, strict=True):
        # The smallest count whose probability of at most that many reaches the one of the normal number.
        bounds = stats.norm.ppf(stats.binom.cdf(np.arange(words), words, rate))
        row[:] = np.searchsorted(bounds, numbers)
    return errors


def word_error_difference(errors: np.ndarray, words: np.ndarray) -> Statistic:
    """Absolute difference of two word error rates, the second minus the first.

    - ``errors``: wrong words, ``(2, utterances)``.
    - ``words``: words of each utterance, ``(utterances,)``.
    """
    first, second = (word_error_rate(words, each) for each in errors)
    return difference(second, first)


def coverage_of_word_errors(
    block_size: int, correlation: float, data_sets: int, replicates: int = REPLICATES
) -> dict[str, dict[str, Intervals]]:
    """Give the intervals of many data sets: ``ordinary`` and ``blockwise`` ones, of each kind."""
    words = np.full(UTTERANCES, WORDS)

    def make(rng: np.random.Generator) -> Statistic:
        return word_error_difference(word_error_data(rng, block_size, correlation), words)

    ways = [np.arange(UTTERANCES), np.arange(UTTERANCES) // block_size]
    results = resampled(make, ways, data_sets, replicates, ["word errors", block_size, correlation])
    return {
        way: {kind: intervals(TRUE_DIFFERENCE, way_results, kind) for kind in ("percentile", "gaussian")}
        for way, way_results in zip(("ordinary", "blockwise"), zip(*results, strict=True), strict=True)
    }


# The tables, and what must hold

RHOS = (0.0, 0.2, 0.5)
SHOWN_RHO = 0.2  # what the page compares with draws of segments
SPEAKERS = (5, 10, 20, 40, 100)
ENOUGH = 40  # speakers
EVERY_SIZE = ("ccc", "uar", "unchanged", "mae")  # designs that show what few speakers do
EER = ("eer", "eer by trial")
CONSERVATIVE = ("unpaired",)  # wider than needed on purpose
WIDE_IF_INDEPENDENT = ("eer",)  # a product of weights varies more than independent trials do
TOO_NARROW = ("eer by trial",)  # shows what goes wrong
BINS = 10  # of the proportion of replicates that pass


def near(rate: float, low: float, high: float, data_sets: int) -> bool:
    """Say whether a rate lies between two bars, give or take 2.6 standard errors."""
    slack = 2.6 * monte_carlo_error(data_sets)
    return low - slack <= rate <= high + slack


def word_errors(data_sets: int) -> tuple[list[dict], list[dict], list[str]]:
    """Give the rows of the published table, intervals of its last row, and what is off."""
    rows, wrong, drawn = [], [], []
    print("block   rho   width and coverage, ordinary and blockwise; (published)")
    for block_size, correlation in PUBLISHED:
        study = coverage_of_word_errors(block_size, correlation, data_sets)
        row = {"block_size": block_size, "correlation": correlation, "data_sets": data_sets}
        for way, kinds in study.items():
            row |= {
                f"{way}_width": kinds["percentile"].width,
                f"{way}_coverage": kinds["percentile"].coverage,
            }
        published = dict(zip(list(row)[3:], PUBLISHED[block_size, correlation], strict=True))
        fine = {
            "ordinary_width": abs(row["ordinary_width"] / published["ordinary_width"] - 1) <= 0.05,
            "ordinary_coverage": abs(row["ordinary_coverage"] - published["ordinary_coverage"]) <= 0.03,
            "blockwise_width": abs(row["blockwise_width"] / published["blockwise_width"] - 1) <= 0.05,
            "blockwise_coverage": 0.93 <= row["blockwise_coverage"] <= 0.97,
        }
        wrong += [f"blocks of {block_size}, rho {correlation}: {name}" for name in fine if not fine[name]]
        print(f"{block_size:5} {correlation:5}", *(f"{row[n]:9.4f} ({published[n]:.4f})" for n in fine))
        row["blockwise_gaussian"] = study["blockwise"]["gaussian"].coverage
        rows.append(row | {f"published_{name}": figure for name, figure in published.items()})
        drawn = [
            {"way": way, "data_set": n + 1, "low": low, "high": high, "true": kinds["percentile"].true}
            for way, kinds in study.items()
            for n, (low, high) in enumerate(
                zip(kinds["percentile"].low, kinds["percentile"].high, strict=True)
            )
            if n < SHOWN
        ]
    return rows, drawn, wrong


def coverages(data_sets: int) -> tuple[list[dict], list[str]]:
    """Give the coverage of all designs, and what is off."""
    rows, wrong = [], []
    print("\n" + " " * 16 + "blocks", *(f"rho={rho}".rjust(15) for rho in RHOS), "   expanded in brackets")
    for name, design in DESIGNS.items():
        for speakers in SPEAKERS:
            if (
                speakers < ENOUGH
                and name not in EVERY_SIZE
                and (speakers, name) not in ((10, n) for n in EER)
            ):
                continue
            cells = []
            for rho in RHOS:
                compared = name in EVERY_SIZE and rho == SHOWN_RHO
                for blocks in ("speakers", "segments") if compared else ("speakers",):
                    kinds = design.coverage(speakers, rho, data_sets, each_segment=blocks == "segments")
                    row = {"design": name, "speakers": speakers, "rho": rho, "blocks": blocks}
                    row |= {"data_sets": data_sets} | {kind: each.coverage for kind, each in kinds.items()}
                    row |= dict(zip(("t_below", "t_above"), kinds["t"].missed, strict=True))
                    row["width"] = kinds["percentile"].width
                    row |= {
                        f"{kind}_width": kinds[kind].width if compared else "" for kind in ("expanded", "t")
                    }
                    rows.append(row | {"withheld": kinds["percentile"].withheld})
                    if blocks == "segments":
                        continue
                    cells.append(f"{100 * row['percentile']:.1f} ({100 * row['expanded']:.1f})".rjust(15))
                    if name in TOO_NARROW:
                        continue
                    wide = name in CONSERVATIVE or (name in WIDE_IF_INDEPENDENT and rho == 0)
                    high = 1.0 if wide else 0.97
                    if speakers >= ENOUGH and not near(row["percentile"], 0.92, high, data_sets):
                        wrong.append(f"{name}, {speakers} speakers, rho {rho}: {row['percentile']:.3f}")
                    if speakers >= FEW_BLOCKS and not near(row["t"], 0.93, 1.0 if wide else 0.98, data_sets):
                        wrong.append(f"{name}, {speakers} speakers, rho {rho}: t intervals {row['t']:.3f}")
            print(f"{name:16}{speakers:6}", *cells, flush=True)
    width = {(row["design"], row["speakers"], row["rho"]): row["width"] for row in rows}
    wrong += [
        f"paired, {place[1]} speakers, rho {place[2]}: not narrower than unpaired"
        for place in width
        if place[0] == "paired" and width[place] >= width["unpaired", *place[1:]]
    ]
    return rows, wrong


def verdicts(data_sets: int) -> tuple[list[dict], list[str]]:
    """Judge values that lie exactly on their threshold, 100 speakers; give rows, and what is off."""
    rows, wrong = [], []
    print("\ntrue value on the threshold, 100 speakers, rho=0.2   inconclusive   KS p of certainty")
    for name, design in DESIGNS.items():
        if name in CONSERVATIVE + TOO_NARROW:
            continue
        judged = design.calibration(100, 0.2, data_sets)
        print(f"{name:50}{100 * judged.inconclusive:12.1f} % {judged.p_value:18.3f}", flush=True)
        if judged.p_value <= 0.001 or not near(judged.inconclusive, 0.93, 0.97, data_sets):
            wrong.append(
                f"verdicts on {name}: {judged.inconclusive:.3f} inconclusive, p {judged.p_value:.2g}"
            )
        row = {
            "design": name,
            "data_sets": data_sets,
            "inconclusive": judged.inconclusive,
            "p": judged.p_value,
        }
        counts, _ = np.histogram(judged.passing, BINS, (0, 1))
        rows.append(row | {f"tenth_{n + 1}": int(count) for n, count in enumerate(counts)})
    return rows, wrong


def record(name: str, about: str, rows: Sequence[dict]) -> None:
    """Write a table of the book, with a head that says how it was made."""
    with open(TABLES / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        file.write(f"# {about}\n# python benchmarks/interval_studies.py\n")
        file.write(
            f"# seed {SEED}; {REPLICATES} replicates; NumPy {np.__version__}; {datetime.date.today()}\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow(f"{x:.6g}" if isinstance(x, float) else x for x in row.values())


def main() -> None:
    """Run all studies; with the full number of data sets, record them."""
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    start = time.perf_counter()
    published, drawn, wrong = word_errors(data_sets)
    covered, off = coverages(data_sets)
    judged, undecided = verdicts(JUDGED if data_sets == DATA_SETS else data_sets)
    print(f"{data_sets} data sets a row, {time.perf_counter() - start:.0f} s")
    if data_sets == DATA_SETS:
        record(
            "word_errors", "95 % intervals of a difference of word error rates, and published ones", published
        )
        record("word_error_intervals", "Percentile intervals of the last row of word_errors.csv", drawn)
        record("coverage", "How often 95 % intervals hold the true value", covered)
        record("verdicts", "Verdicts on values that lie on their threshold, 100 speakers, rho 0.2", judged)
    wrong += off + undecided
    if wrong:
        sys.exit("off: " + "; ".join(wrong))
    print("all within the bars")


if __name__ == "__main__":
    main()
