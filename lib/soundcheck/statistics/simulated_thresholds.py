r"""Thresholds of fairness tests for groups of other numbers and sizes than the published ones.

Groups differ by chance, small ones more than large ones. A published threshold is therefore stretched by how
much more unbiased models differ in the groups at hand than in groups of the published size:

.. math:: T(n, G) = T_{published} \, \max\left(1,
    \frac{q(\min(n, n_{published}), \min(G, G_{published}))}{q(n_{published}, G_{published})}\right)

where :math:`q` is the score that 99.9 % of 10,000 unbiased random models stay below in :math:`G` groups of
:math:`n` segments. The result is rounded up to a multiple of 0.005. It is never stricter than the published
threshold, and for groups of the published number and size, or more and larger ones, it is the published
threshold itself, with all the room that its authors gave it.

What :math:`q` is for usual numbers and sizes of groups is recorded in a table beside this module; anything
else is simulated with the same number of runs and the same seed. Models and families share most sizes of
groups, so within a run the cache keeps what was simulated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from soundcheck.common import files, store
from soundcheck.common.resources import library_digest
from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import MANY_RUNS, Setting, setting_of

RECORD = Path(__file__).with_name("simulated_scores.csv")
SERIES = (  # that thresholds rest on: metric, distribution of predictions and of the truth
    ("mean", "gaussian", ""),
    ("relative_difference_per_bin", "gaussian", ""),
    ("relative_difference_per_class", "uniform", ""),
    ("mean_shift_diff", "gaussian", ""),
    ("bin_shift_diff", "gaussian", ""),
    ("class_shift_diff", "uniform", ""),
    ("ccc", "gaussian", "gaussian"),
    ("precision_per_bin", "gaussian", "gaussian"),
    ("recall_per_bin", "gaussian", "gaussian"),
    ("precision_per_class", "uniform", "sparse"),
    ("recall_per_class", "uniform", "sparse"),
    ("recall", "uniform", "sparse"),
)

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
    own_groups, own_size = published_size(simulated)
    size = min(segments_per_group, own_size)
    here = quantile(setting_of(simulated, min(groups, own_groups), size, classes))
    at_own_size = quantile(setting_of(simulated, own_groups, own_size))
    stretch = max(here / at_own_size, 1.0)
    threshold = published
    if stretch > 1.0:  # rounded up; what exceeds a multiple by less than a millionth of a step is that one
        threshold = round(math.ceil(round(published * stretch / _STEP, 6)) * _STEP, 3)
    return Stretched(threshold, stretch, here, at_own_size)


def quantile(setting: Setting) -> float:
    """Give the absolute score that 99.9 % of 10,000 unbiased random models stay below."""
    return _quantiles().get(setting) or _simulated_quantile(setting)


@functools.lru_cache(maxsize=1000)
def _simulated_quantile(setting: Setting) -> float:
    def simulated() -> dict[str, float]:
        return simulation.summary(simulation.simulate(setting, MANY_RUNS))

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
