"""Trains the demo model on the training split of the demo corpus, once, and keeps its parameters as JSON.

The model is linear in standardised features that are limited to three standard deviations: ridge regression
for the dimensions, multinomial logistic regression for the emotion. Its parameters are a few plain lists,
rounded to six digits; see :mod:`soundcheck_demo.models.parameters`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import store
from soundcheck_demo.models import features, parameters
from soundcheck_demo.models.parameters import plain
from soundcheck_demo.speech import corpus
from soundcheck_demo.speech.labels import DIMENSIONS

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 3.0  # standard deviations; what lies farther out is not in the training data
RIDGE = 0.25  # penalty a training segment
LOGISTIC = 0.07  # penalty a training segment


def parameter_file(cache: Path, size: str = "full") -> Path:
    """Name the file of the parameters; the name changes with everything that decides them."""
    sources, packages = (__file__, features.__file__), ("scikit-learn", "praat-parselmouth", "numpy")
    return parameters.parameter_file(cache, "demo-prosody", size, sources=sources, packages=packages)


def train(cache: Path, *, size: str = "full", jobs: int = 1, progress: bool = False) -> dict:
    """Find the parameters in the cache, or build the corpus and fit them.

    - ``cache``: folder that keeps corpus and parameters. Several processes may train at once; one does the
      work.
    - ``size``: size of the demo corpus.
    - ``progress``: whether to show progress bars.
    - Returns ``mean``, ``scale`` (one number a feature), ``regression`` (weights and intercept a dimension,
      and the standard deviation of its errors), ``emotion`` (classes, one list of weights and one intercept a
      class), ``segments`` (how many trained).
    """

    def make() -> dict:
        return fit(*_measure(corpus.build(cache, size=size, jobs=jobs, progress=progress), jobs, progress))

    return store.find(parameter_file(cache, size), make)


def fit(table: pd.DataFrame, measured: np.ndarray) -> dict:
    """Fit the model.

    - ``table``: one row a segment, with the dimensions and ``emotion``.
    - ``measured``: features, shape ``(segments, features)``.
    - Returns parameters as :func:`train` describes them.
    """
    from sklearn.linear_model import LogisticRegression, Ridge  # late: workers that only predict need it not
    from threadpoolctl import threadpool_limits

    mean, scale = measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)
    standard = standardise(measured, mean, scale)
    regression = {}
    with threadpool_limits(1):
        for name in DIMENSIONS:
            ridge = Ridge(RIDGE * len(table), solver="cholesky").fit(standard, table[name].to_numpy())
            spread = np.std(table[name].to_numpy() - ridge.predict(standard))
            regression[name] = {
                "weights": plain(ridge.coef_),
                "intercept": plain(ridge.intercept_),
                "spread": plain(spread),
            }
        logistic = LogisticRegression(C=1 / (LOGISTIC * len(table)), max_iter=1000)
        logistic.fit(standard, table["emotion"].to_numpy(dtype=object))
    emotion = {
        "classes": [str(name) for name in logistic.classes_],
        "weights": plain(logistic.coef_),
        "intercepts": plain(logistic.intercept_),
    }
    return {
        "features": list(features.NAMES),
        "mean": plain(mean),
        "scale": plain(scale),
        "regression": regression,
        "emotion": emotion,
        "segments": len(table),
    }


def standardise(measured: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Standardise features (last axis) and limit them."""
    return np.clip((measured - mean) / scale, -LIMIT, LIMIT)


def _measure(folder: Path, jobs: int, progress: bool) -> tuple[pd.DataFrame, np.ndarray]:
    return parameters.measure(folder, features.extract, jobs=jobs, progress=progress)
