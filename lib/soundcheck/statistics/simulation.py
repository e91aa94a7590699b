r"""What models without any bias score in fairness tests by chance.

Groups of finite size differ even if the model treats them alike. Random models show by how much: truth and
predictions of all groups come from the same distributions, independent of each other, and the score of the
first group against all groups together is computed as the fairness tests do. The largest of 1000 such scores
oriented the published thresholds: what an unbiased model does not reach in 1000 corpora is a sign of bias.
Thresholds for groups of other sizes are made in :mod:`soundcheck.statistics.simulated_thresholds`.

Method and distributions: ``fairness thresholds`` of the speech emotion test suite's method page.

Conventions
-----------
- Numbers come from the normal distribution with mean 0.5 and standard deviation 1/6, cut off at 0 and 1.
  Classes are ``uniform`` or ``sparse``. Of four classes sparse ones have 5, 5, 30 and 60 %; any other number
  of classes shares out the same inequality: the Lorenz curve is the same.
- ``varied``: each group has a truth of its own, a mean of 0.5, 0.55 or 0.6, or the sparse proportions in
  another order; the prediction stays the same for all.
- Scores need counts only. Counts of classes, bins and confusion cells are multinomial, so they are drawn as
  such and not segment by segment; means, errors and correlations draw every segment.
- Nothing is skipped, and a proportion of nothing is 0.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.common import seeds
from soundcheck.common.tasks import RANDOM_DEVIATION, RANDOM_MEAN
from soundcheck.metrics.regression import EDGES
from soundcheck.statistics.simulated_metrics import METRICS, OF_CLASSES, OF_NUMBERS, Sums, score

RUNS, MANY_RUNS = 1000, 10_000  # for maxima, as published; for quantiles that thresholds rest on
SPARSE = (0.05, 0.05, 0.3, 0.6)
VARIED_MEANS = (0.5, 0.55, 0.6)
GROUPS = (2, 3, 6, 8, 20, 30)
SAMPLES = (*range(20, 301, 20), 400, 600, 800, 1000)

MOST_CLASSES = 50  # of which 10,000 random models can be simulated while a notebook runs
_AT_A_TIME = 2**20  # numbers that are drawn at a time
_COUNTS_AT_A_TIME = 2**24


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is simulated."""

    metric: str  # one of :data:`METRICS`
    groups: int  # number of groups, at least 2
    segments_per_group: int  # segments of each group, in each context, at least 2
    prediction: str  # distributions; `truth` is `""` for metrics that need none
    truth: str = ""
    varied: bool = False  # whether each group has a truth of its own; uniform classes cannot vary
    classes: int = 4  # number of classes, from 2 to 50; numbers have four bins

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(f"unknown metric {self.metric!r}; there are {', '.join(METRICS)}")
        own = METRICS[self.metric]
        for name, value, allowed in (
            ("prediction", self.prediction, own.predictions),
            ("truth", self.truth, own.predictions if own.needs_truth else ("",)),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name} of {self.metric} is {value!r}, allowed: {', '.join(allowed) or 'none'}"
                )
        if self.groups < 2 or self.segments_per_group < 2:
            raise ValueError("at least 2 groups of at least 2 segments are compared")
        if self.varied and self.truth not in ("gaussian", "sparse"):
            raise ValueError(f"the truth of {self.metric} cannot vary")
        if not 2 <= self.classes <= MOST_CLASSES or (self.classes != 4 and own.predictions == OF_NUMBERS):
            raise ValueError(f"{self.metric} cannot be of {self.classes} classes")


def setting_of(
    simulation: Mapping[str, Any], groups: int, segments_per_group: int, classes: int = 4
) -> Setting:
    """Give the setting that a threshold file names, for other numbers of groups and segments."""
    name = simulation["name"]
    own = METRICS.get(name)
    usual = own.predictions[0] if own else ""
    needs_truth = bool(own and own.needs_truth)
    return Setting(
        name,
        groups,
        segments_per_group,
        simulation.get("prediction", usual),
        simulation.get("truth", usual if needs_truth else ""),
        classes=classes,
    )


def grid(
    metrics: tuple[str, ...] = tuple(METRICS),
    groups: tuple[int, ...] = GROUPS,
    sizes: tuple[int, ...] = SAMPLES,
) -> Iterator[Setting]:
    """Give all settings of metrics: every pair of distributions, varied where they can vary."""
    for metric in metrics:
        own = METRICS[metric]
        for truth in own.predictions if own.needs_truth else ("",):
            for prediction in own.predictions:
                for varied in (False, True) if truth in ("gaussian", "sparse") else (False,):
                    for g in groups:
                        yield from (Setting(metric, g, n, prediction, truth, varied) for n in sizes)


@dataclasses.dataclass(frozen=True, eq=False)
class Simulated:
    """Absolute scores of unbiased random models."""

    setting: Setting  # what was simulated
    scores: np.ndarray  # float64 `(runs,)`; the largest over the classes or bins of each run

    @property
    def maximum(self) -> float:
        """Largest score."""
        return float(self.scores.max())

    @property
    def percentile_99(self) -> float:
        """Score that 99 % of the runs stay below, linearly interpolated."""
        return float(np.percentile(self.scores, 99))

    @property
    def percentile_999(self) -> float:
        """Score that 99.9 % of the runs stay below, linearly interpolated."""
        return float(np.percentile(self.scores, 99.9))


def minimum_per_bin(segments: int) -> int:
    """Give the number of a group's segments that may be expected in each outer bin: 4 of 60, 67 of 1000."""
    return round(float(scipy.special.ndtr((EDGES[0] - RANDOM_MEAN) / RANDOM_DEVIATION)) * segments)


@functools.lru_cache(maxsize=256)
def simulate(setting: Setting, runs: int = RUNS, seed: int = 0) -> Simulated:
    """Simulate random models."""
    purpose = dataclasses.asdict(setting)
    purpose["samples"] = purpose.pop("segments_per_group")  # as in tables and threshold files
    if setting.classes == 4:
        del purpose["classes"]  # draws of published settings are named as they were
    rng = seeds.generator(seed, "simulation", purpose)
    own = METRICS[setting.metric]
    if not own.cells:
        return Simulated(setting, _scores(setting, *_segment_by_segment(rng, setting, runs)))
    draw = _confusions if own.needs_truth else _counts
    counts = setting.classes**2 * (setting.groups if setting.varied else 1)
    at_a_time = max(1, _COUNTS_AT_A_TIME // counts)
    sizes = [min(at_a_time, runs - start) for start in range(0, runs, at_a_time)]
    return Simulated(setting, np.concatenate([_scores(setting, *draw(rng, setting, n)) for n in sizes]))


def _scores(setting: Setting, tested: np.ndarray, everyone: np.ndarray) -> np.ndarray:
    size = setting.segments_per_group
    return score(setting.metric, Sums(size, tested), Sums(setting.groups * size, everyone))


def simulate_all(settings: Sequence[Setting], runs: int = RUNS, seed: int = 0, jobs: int = 1) -> pd.DataFrame:
    """Simulate many settings."""
    one = functools.partial(_row, runs=runs, seed=seed)
    if jobs == 1 or len(settings) < 2:
        return pd.DataFrame([one(setting) for setting in settings])
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        return pd.DataFrame(list(pool.map(one, settings, chunksize=8)))


def _row(setting: Setting, runs: int, seed: int) -> dict[str, Any]:
    found = simulate(setting, runs, seed)
    return {
        "metric": setting.metric,
        "truth": setting.truth,
        "prediction": setting.prediction,
        "varied": setting.varied,
        "groups": setting.groups,
        "samples": setting.segments_per_group,
        "runs": runs,
        "maximum": found.maximum,
        "percentile_99": found.percentile_99,
        "percentile_999": found.percentile_999,
    }


@functools.cache
def _probabilities(distribution: str, mean: float = RANDOM_MEAN, classes: int = 4) -> np.ndarray:
    """Give the probabilities of the classes, or of the four bins."""
    if distribution == "uniform":
        return np.full(classes, 1 / classes)
    if distribution == "sparse":
        if classes == len(SPARSE):
            return np.array(SPARSE)
        lorenz = np.cumsum([0.0, *SPARSE])
        shares = np.linspace(0, 1, len(lorenz))
        return np.diff(np.interp(np.linspace(0, 1, classes + 1), shares, lorenz))
    places = (np.array([0.0, *EDGES, 1.0]) - mean) / RANDOM_DEVIATION
    steps = np.diff(scipy.special.ndtr(places))
    return steps / steps.sum()


def _counts(rng: np.random.Generator, setting: Setting, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw counts ``(runs, contexts, cells)`` of the tested group and of all; later contexts as one."""
    contexts = METRICS[setting.metric].contexts
    odds = _probabilities(setting.prediction, classes=setting.classes)
    odds = np.broadcast_to(odds, (runs, setting.classes))
    if contexts > 1 and setting.prediction in OF_CLASSES:
        odds = rng.permuted(odds, axis=1)  # each run has another order of the classes

    def counts(groups: int) -> np.ndarray:
        first = rng.multinomial(groups * setting.segments_per_group, odds)[:, np.newaxis]
        if contexts == 1:
            return first
        others = rng.multinomial((contexts - 1) * groups * setting.segments_per_group, odds)[:, np.newaxis]
        zeros = np.zeros((runs, contexts - 2, setting.classes), dtype=others.dtype)  # only their sum matters
        return np.concatenate([first, others, zeros], axis=1)

    tested = counts(1)
    return tested, tested + counts(setting.groups - 1)


def _confusions(rng: np.random.Generator, setting: Setting, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw confusion counts ``(runs, classes, classes)`` of the tested group and of all."""
    size = setting.classes
    prediction = _probabilities(setting.prediction, classes=size)
    if not setting.varied:
        joint = np.outer(_probabilities(setting.truth, classes=size), prediction).ravel()
        tested = rng.multinomial(setting.segments_per_group, joint, size=runs)
        rest = rng.multinomial((setting.groups - 1) * setting.segments_per_group, joint, size=runs)
        return tested.reshape(runs, size, size), (tested + rest).reshape(runs, size, size)
    if setting.truth == "gaussian":
        odds = np.stack([_probabilities("gaussian", mean) for mean in VARIED_MEANS])
        truth = odds[rng.integers(len(odds), size=(runs, setting.groups))]
    else:
        sparse = _probabilities("sparse", classes=size)
        truth = rng.permuted(np.broadcast_to(sparse, (runs, setting.groups, size)), axis=2)
    joint = (truth[..., np.newaxis] * prediction).reshape(runs, setting.groups, size**2)
    drawn = rng.multinomial(setting.segments_per_group, joint).reshape(runs, setting.groups, size, size)
    return drawn[:, 0], drawn.sum(axis=1)


def _segment_by_segment(
    rng: np.random.Generator, setting: Setting, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw every prediction, and the truth; give sums as :class:`Sums` describes them."""
    own = METRICS[setting.metric]
    shape = (setting.groups, own.contexts, setting.segments_per_group)
    at_a_time = max(1, _AT_A_TIME // int(np.prod(shape)))
    tested, everyone = [], []
    for start in range(0, runs, at_a_time):
        size = (min(at_a_time, runs - start), *shape)
        prediction = _truncated_normal(rng, size)
        if own.needs_truth:
            means = np.full((*size[:2], 1, 1), RANDOM_MEAN)
            if setting.varied:
                means = rng.choice(VARIED_MEANS, size=means.shape)
            sums = _moments(_truncated_normal(rng, size, means)[:, :, 0], prediction[:, :, 0])
        else:
            sums = prediction.sum(axis=-1)[..., np.newaxis]
        tested.append(sums[:, 0])
        everyone.append(sums.sum(axis=1))
    return np.concatenate(tested), np.concatenate(everyone)


def _moments(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Sum over the last axis; the six sums become the last axis."""

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum("...n,...n->...", a, b)

    return np.stack(
        [
            truth.sum(axis=-1),
            prediction.sum(axis=-1),
            product(truth, truth),
            product(prediction, prediction),
            product(truth, prediction),
            np.abs(prediction - truth).sum(axis=-1),
        ],
        axis=-1,
    )


def _truncated_normal(
    rng: np.random.Generator, shape: tuple[int, ...], means: np.ndarray | float = RANDOM_MEAN
) -> np.ndarray:
    """Draw numbers from 0 to 1; what falls outside is drawn again."""
    numbers = rng.standard_normal(shape)
    numbers *= RANDOM_DEVIATION
    numbers += means
    flat, means = numbers.reshape(-1), np.broadcast_to(means, shape)
    outside = np.flatnonzero((flat < 0.0) | (flat > 1.0))
    while outside.size:
        own = means[np.unravel_index(outside, shape)]
        flat[outside] = drawn = own + RANDOM_DEVIATION * rng.standard_normal(own.shape)
        outside = outside[(drawn < 0.0) | (drawn > 1.0)]
    return numbers
