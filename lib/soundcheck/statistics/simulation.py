r"""What models without any bias score in fairness tests by chance, and thresholds that follow from it.

Groups of finite size differ even if the model treats them alike. Random models show by how much: truth and
predictions of all groups come from the same distributions, independent of each other, and the score of the
first group against all groups together is computed as the fairness tests do. The largest of 1000 such scores
oriented the published thresholds: what an unbiased model does not reach in 1000 corpora is a sign of bias.

Small groups differ by chance more than large ones. For groups of other numbers and sizes a published
threshold is therefore stretched by how much more unbiased models differ in them than in groups of the
published size:

.. math:: T(n, G) = T_{published} \, \max\left(1,
    \frac{q(\min(n, n_{published}), \min(G, G_{published}))}{q(n_{published}, G_{published})}\right)

where :math:`q` is the score that 99.9 % of 10,000 unbiased random models stay below in :math:`G` groups of
:math:`n` segments. The result is rounded up to a multiple of 0.005. It is never stricter than the published
threshold, and for groups of the published number and size, or more and larger ones, it is the published
threshold itself, with all the room that its authors gave it.

What :math:`q` is for usual numbers and sizes of groups is recorded in a table beside this module; anything
else is simulated with the same number of runs and the same seed. Models and families share most sizes of
groups, so within a run the cache keeps what was simulated.

Method and distributions: ``fairness thresholds`` of the speech emotion test suite's method page.

Conventions
-----------
- Numbers come from the normal distribution with mean 0.5 and standard deviation 1/6, cut off at 0 and 1.
  Classes are ``uniform`` or ``sparse``. Of four classes sparse ones have 5, 5, 30 and 60 %; any other number
  of classes shares out the same inequality: the Lorenz curve is the same.
- ``varied``: each group has a truth of its own, a mean of 0.5, 0.55 or 0.6, or the sparse proportions in
  another order; the prediction stays the same for all.
- Scores need counts only, or moments, of a group. Counts of classes, bins and confusion cells are
  multinomial, so they are drawn as such and not segment by segment; means, errors and correlations draw every
  segment. Nothing is skipped, and a proportion of nothing is 0.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.common import files, seeds, store
from soundcheck.common.resources import library_digest
from soundcheck.common.tasks import RANDOM_DEVIATION, RANDOM_MEAN
from soundcheck.metrics.classification import precisions, recalls
from soundcheck.metrics.regression import EDGES, Moments, concordance

RUNS, MANY_RUNS = 1000, 10_000  # for maxima, as published; for quantiles that thresholds rest on
SPARSE = (0.05, 0.05, 0.3, 0.6)
VARIED_MEANS = (0.5, 0.55, 0.6)
GROUPS = (2, 3, 6, 8, 20, 30)
SAMPLES = (*range(20, 301, 20), 400, 600, 800, 1000)
CONTEXTS = 3  # sentiments
OF_CLASSES = ("uniform", "sparse")  # distributions of predictions
OF_NUMBERS = ("gaussian",)

MOST_CLASSES = 50  # of which 10,000 random models can be simulated while a notebook runs
_AT_A_TIME = 2**20  # numbers that are drawn at a time
_COUNTS_AT_A_TIME = 2**24


# Scores of fairness tests from sums over groups


@dataclasses.dataclass(frozen=True)
class Metric:
    """How a score is made."""

    title: str  # what is compared, in words
    predictions: tuple[str, ...]  # distributions that the predictions may have
    # maps the sums of a group in many runs and its number of segments, in each context if there are such, to
    # scores `(runs, cells)`. Sums are one of: counts or sums of predictions `(runs, contexts, cells)`;
    # confusion counts `(runs, truth, prediction)`; moments `(runs, 6)` in the order truth, prediction, their
    # squares, their product and the absolute error
    score: Callable[[np.ndarray, int], np.ndarray]
    needs_truth: bool = False  # whether the truth matters
    contexts: int = 1  # 1, or 3 if a group's segments come in contexts
    cells: bool = True  # whether counts of classes or bins suffice; else every segment is drawn


def _shift(sums: np.ndarray, segments: int) -> np.ndarray:
    return sums[:, 0] / segments - sums.sum(axis=1) / (sums.shape[1] * segments)


def _recall(sums: np.ndarray, segments: int) -> np.ndarray:
    return np.nan_to_num(recalls(sums))


def _precision(sums: np.ndarray, segments: int) -> np.ndarray:
    return np.nan_to_num(precisions(sums))


def _concordance(sums: np.ndarray, segments: int) -> np.ndarray:
    x, y, xx, yy, xy, _ = (sums / segments).T[..., np.newaxis]
    return concordance(Moments(np.ones_like(x), xx - x * x, yy - y * y, xy - x * y, y - x))


def _averaged(score: Callable[[np.ndarray, int], np.ndarray]) -> Callable[[np.ndarray, int], np.ndarray]:
    return lambda sums, segments: score(sums, segments).mean(axis=1, keepdims=True)


_of_share = functools.partial(Metric, score=lambda sums, segments: sums[:, 0] / segments)
_of_shift = functools.partial(Metric, score=_shift, contexts=CONTEXTS)
_with_truth = functools.partial(Metric, needs_truth=True)
METRICS = {
    "mean": _of_share("mean prediction", OF_NUMBERS, cells=False),
    "relative_difference_per_bin": _of_share("share of a bin among the predictions", OF_NUMBERS),
    "relative_difference_per_class": _of_share("share of a class among the predictions", OF_CLASSES),
    "mean_shift_diff": _of_shift("shift of the mean prediction in a context", OF_NUMBERS, cells=False),
    "bin_shift_diff": _of_shift("shift of the share of a bin in a context", OF_NUMBERS),
    "class_shift_diff": _of_shift("shift of the share of a class in a context", OF_CLASSES),
    "ccc": _with_truth("concordance correlation coefficient", OF_NUMBERS, _concordance, cells=False),
    "mae": _with_truth(
        "mean absolute error", OF_NUMBERS, lambda sums, segments: sums[:, 5:] / segments, cells=False
    ),
    "mde": _with_truth(
        "mean error", OF_NUMBERS, lambda sums, segments: (sums[:, 1:2] - sums[:, :1]) / segments, cells=False
    ),
    "precision_per_bin": _with_truth("precision of a bin", OF_NUMBERS, _precision),
    "recall_per_bin": _with_truth("recall of a bin", OF_NUMBERS, _recall),
    "precision_per_class": _with_truth("precision of a class", OF_CLASSES, _precision),
    "recall_per_class": _with_truth("recall of a class", OF_CLASSES, _recall),
    "precision": _with_truth("unweighted average precision", OF_CLASSES, _averaged(_precision)),
    "recall": _with_truth("unweighted average recall", OF_CLASSES, _averaged(_recall)),
}


def score(setting: Setting, tested: np.ndarray, everyone: np.ndarray) -> np.ndarray:
    """Compare a group with all groups: largest absolute difference of its classes or bins, ``(runs,)``."""
    of_group, size = METRICS[setting.metric].score, setting.segments_per_group
    differences = of_group(tested, size) - of_group(everyone, setting.groups * size)
    return np.abs(differences).max(axis=1)


def summary(scores: np.ndarray) -> dict[str, float]:
    """Give the largest score, and those that 99 and 99.9 % of the runs stay below, linearly interpolated."""
    percentiles = {"percentile_99": 99, "percentile_999": 99.9}
    return {"maximum": float(scores.max())} | {
        name: float(np.percentile(scores, share)) for name, share in percentiles.items()
    }


# Random models


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
        metric = METRICS[self.metric]
        for name, allowed in (
            ("prediction", metric.predictions),
            ("truth", metric.predictions if metric.needs_truth else ("",)),
        ):
            if (value := getattr(self, name)) not in allowed:
                listed = ", ".join(allowed) or "none"
                raise ValueError(f"{name} of {self.metric} is {value!r}, allowed: {listed}")
        if self.groups < 2 or self.segments_per_group < 2:
            raise ValueError("at least 2 groups of at least 2 segments are compared")
        if self.varied and self.truth not in ("gaussian", "sparse"):
            raise ValueError(f"the truth of {self.metric} cannot vary")
        if not 2 <= self.classes <= MOST_CLASSES or (self.classes != 4 and metric.predictions == OF_NUMBERS):
            raise ValueError(f"{self.metric} cannot be of {self.classes} classes")


def setting_of(
    simulation: Mapping[str, Any], groups: int, segments_per_group: int, classes: int = 4
) -> Setting:
    """Give the setting that a threshold file names, for other numbers of groups and segments."""
    name = simulation["name"]
    metric = METRICS.get(name)
    usual = metric.predictions[0] if metric else ""
    prediction = simulation.get("prediction", usual)
    truth = simulation.get("truth", usual if metric and metric.needs_truth else "")
    return Setting(name, groups, segments_per_group, prediction, truth, classes=classes)


def grid(
    metrics: tuple[str, ...] = tuple(METRICS),
    groups: tuple[int, ...] = GROUPS,
    sizes: tuple[int, ...] = SAMPLES,
) -> Iterator[Setting]:
    """Give all settings of metrics: every pair of distributions, varied where they can vary."""
    for name in metrics:
        metric = METRICS[name]
        for truth in metric.predictions if metric.needs_truth else ("",):
            for prediction in metric.predictions:
                for varied in (False, True) if truth in ("gaussian", "sparse") else (False,):
                    for g in groups:
                        yield from (Setting(name, g, n, prediction, truth, varied) for n in sizes)


def minimum_per_bin(segments: int) -> int:
    """Give the number of a group's segments that may be expected in each outer bin: 4 of 60, 67 of 1000."""
    return round(float(scipy.special.ndtr((EDGES[0] - RANDOM_MEAN) / RANDOM_DEVIATION)) * segments)


@functools.lru_cache(maxsize=256)
def simulate(setting: Setting, runs: int = RUNS, seed: int = 0) -> np.ndarray:
    """Simulate random models: their absolute scores ``(runs,)``, the largest of the classes or bins."""
    purpose = dataclasses.asdict(setting)
    purpose["samples"] = purpose.pop("segments_per_group")  # as in tables and threshold files
    if setting.classes == 4:
        del purpose["classes"]  # draws of published settings are named as they were
    rng = seeds.generator(seed, "simulation", purpose)
    metric = METRICS[setting.metric]
    if not metric.cells:
        return score(setting, *_segment_by_segment(rng, setting, runs))
    draw = _confusions if metric.needs_truth else _counts
    counts = setting.classes**2 * (setting.groups if setting.varied else 1)
    sizes = _parts(runs, _COUNTS_AT_A_TIME // counts)
    return np.concatenate([score(setting, *draw(rng, setting, n)) for n in sizes])


def _parts(runs: int, at_a_time: int) -> list[int]:
    at_a_time = max(1, at_a_time)
    return [min(at_a_time, runs - start) for start in range(0, runs, at_a_time)]


def simulate_all(settings: Sequence[Setting], runs: int = RUNS, seed: int = 0, jobs: int = 1) -> pd.DataFrame:
    """Simulate many settings."""
    from joblib import Parallel, delayed  # late: only what is simulated anew needs it

    tasks = (delayed(_row)(setting, runs, seed) for setting in settings)
    return pd.DataFrame(Parallel(n_jobs=min(jobs, max(1, len(settings))))(tasks))


def _row(setting: Setting, runs: int, seed: int) -> dict[str, Any]:
    columns = {name: getattr(setting, name) for name in ("metric", "truth", "prediction", "varied", "groups")}
    sizes = {"samples": setting.segments_per_group, "runs": runs}
    return columns | sizes | summary(simulate(setting, runs, seed))


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
    odds = np.broadcast_to(
        _probabilities(setting.prediction, classes=setting.classes), (runs, setting.classes)
    )
    if contexts > 1 and setting.prediction in OF_CLASSES:
        odds = rng.permuted(odds, axis=1)  # each run has another order of the classes

    def counts(groups: int) -> np.ndarray:
        drawn = np.zeros((runs, contexts, setting.classes), dtype=np.int64)
        drawn[:, 0] = rng.multinomial(groups * setting.segments_per_group, odds)
        if contexts > 1:  # of the others only their sum matters
            drawn[:, 1] = rng.multinomial((contexts - 1) * groups * setting.segments_per_group, odds)
        return drawn

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
    """Draw every prediction, and the truth; give sums as :class:`Metric` describes them."""
    metric = METRICS[setting.metric]
    shape = (setting.groups, metric.contexts, setting.segments_per_group)
    tested, everyone = [], []
    for part in _parts(runs, _AT_A_TIME // int(np.prod(shape))):
        size = (part, *shape)
        prediction = _truncated_normal(rng, size)
        if metric.needs_truth:
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
    pairs = ((truth, truth), (prediction, prediction), (truth, prediction))
    products = [np.einsum("...n,...n->...", a, b) for a, b in pairs]
    errors = np.abs(prediction - truth).sum(axis=-1)
    return np.stack([truth.sum(axis=-1), prediction.sum(axis=-1), *products, errors], axis=-1)


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
        centres = means[np.unravel_index(outside, shape)]
        flat[outside] = drawn = centres + RANDOM_DEVIATION * rng.standard_normal(centres.shape)
        outside = outside[(drawn < 0.0) | (drawn > 1.0)]
    return numbers


# Thresholds for groups of other numbers and sizes than the published ones

RECORD = Path(__file__).with_name("simulated_scores.csv")

_STEP = 0.005  # thresholds are multiples of it


@dataclasses.dataclass(frozen=True)
class Stretched:
    """A threshold for groups of some number and size."""

    threshold: float  # what an absolute score must stay below
    # by how much more unbiased models differ by chance than in groups of the published number and size
    stretch: float
    # score that 99.9 % of them stay below in groups of this number and size (at most the published ones), and
    # in groups of the published number and size
    here: float
    published: float


def published_size(simulated: Mapping[str, Any]) -> tuple[int, int]:
    """Give number and size of the groups that a published threshold judges."""
    return simulated["groups"], simulated.get("tested_samples", simulated["samples"])


def simulated_threshold(
    published: float, simulated: Mapping[str, Any], groups: int, segments_per_group: int, classes: int = 4
) -> Stretched:
    """Stretch a published threshold to groups of other numbers and sizes."""
    published_groups, most = published_size(simulated)
    size = min(segments_per_group, most)
    here = quantile(setting_of(simulated, min(groups, published_groups), size, classes))
    at_published_size = quantile(setting_of(simulated, published_groups, most))
    stretch = max(here / at_published_size, 1.0)
    threshold = published
    if stretch > 1.0:  # rounded up; what exceeds a multiple by less than a millionth of a step is that one
        threshold = round(math.ceil(round(published * stretch / _STEP, 6)) * _STEP, 3)
    return Stretched(threshold, stretch, here, at_published_size)


def quantile(setting: Setting) -> float:
    """Give the absolute score that 99.9 % of 10,000 unbiased random models stay below."""
    return _quantiles().get(setting) or _simulated_quantile(setting)


@functools.lru_cache(maxsize=1000)
def _simulated_quantile(setting: Setting) -> float:
    def simulated() -> dict[str, float]:
        return summary(simulate(setting, MANY_RUNS))

    cache, cached = os.environ.get(store.CACHE_VARIABLE), None
    if cache:
        name = files.digest(repr([setting, MANY_RUNS, library_digest(), np.__version__, scipy.__version__]))
        with contextlib.suppress(OSError):  # a cache that cannot be written
            cached = store.find(Path(cache, "simulated", f"{name}.json"), simulated)
    return (cached or simulated())["percentile_999"]


@functools.cache
def recorded() -> pd.DataFrame:
    """Read the recorded scores of unbiased random models."""
    return pd.read_csv(RECORD, comment="#", keep_default_na=False, na_values={"percentile_999": [""]})


@functools.cache
def _quantiles() -> dict[Setting, float]:
    names = ["metric", "groups", "samples", "prediction", "truth"]
    frame = recorded().dropna()
    rows = frame[names].itertuples(index=False, name=None)
    return {Setting(*row): value for row, value in zip(rows, frame["percentile_999"].tolist(), strict=True)}
