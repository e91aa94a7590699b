"""Trains the demo's voiceprints on the training split of the demo corpus, once; keeps the parameters as JSON.

The training is one linear map. It makes the covariance within speakers the identity, so that what changes
from one utterance of a speaker to the next (words, emotion, recording) counts less, and what stays the same
counts more: Hatch, Kajarekar and Stolcke (2006), Within-class covariance normalization for SVM-based speaker
recognition. The covariance is drawn towards a multiple of the identity first, because speakers are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from soundcheck.common import store
from soundcheck_demo.models import cepstra, features, parameters
from soundcheck_demo.speech import corpus

SHRINKAGE = 0.2  # share of the identity in the covariance within speakers


def parameter_file(cache: Path, size: str = "full") -> Path:
    """Name the file of the parameters; the name changes with everything that decides them."""
    sources, packages = (__file__, cepstra.__file__, features.__file__), ("numpy", "scipy")
    return parameters.parameter_file(cache, "demo-voiceprint", size, sources=sources, packages=packages)


def train(cache: Path, *, size: str = "full", jobs: int = 1, progress: bool = False) -> dict:
    """Find the parameters in the cache, or build the corpus and fit them.

    - ``cache``: folder that keeps corpus and parameters. Several processes may train at once; one does the
      work.
    - ``size``: size of the demo corpus.
    - ``progress``: whether to show progress bars.
    - Returns as :func:`fit` describes it.
    """

    def make() -> dict:
        folder = corpus.build(cache, size=size, jobs=jobs, progress=progress)
        title = "training segments of demo voiceprints"
        table, measured = parameters.measure(
            folder, cepstra.extract, jobs=jobs, progress=progress, title=title
        )
        return fit(measured, table["speaker"])

    return store.find(parameter_file(cache, size), make)


def fit(measured: np.ndarray, speakers: Sequence[str], shrinkage: float = SHRINKAGE) -> dict:
    """Fit the linear map.

    - ``measured``: features, shape ``(segments, features)``.
    - ``speakers``: speaker of each segment, ``(segments,)``; more segments than speakers.
    - ``shrinkage``: share of the identity, times the mean variance, in the covariance within speakers; 0..1.
    - Returns ``features`` (names), ``mean`` (one number a feature), ``map`` (one row a feature), ``speakers``
      and ``segments`` (how many trained).
    """
    names, own = np.unique(np.asarray(speakers, dtype=str), return_inverse=True)
    mean, scale = measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)
    standard = (measured - mean) / scale
    with threadpool_limits(1):
        centres = np.array([standard[own == number].mean(axis=0) for number in range(len(names))])
        rest = standard - centres[own]
        within = rest.T @ rest / (len(measured) - len(names))
        identity = np.eye(len(mean)) * np.trace(within) / len(mean)
        lower = np.linalg.cholesky((1 - shrinkage) * within + shrinkage * identity)
        whitening = solve_triangular(lower, np.diag(1 / scale), lower=True).T
    return {
        "features": list(cepstra.NAMES),
        "mean": parameters.plain(mean),
        "map": parameters.plain(whitening),
        "speakers": len(names),
        "segments": len(measured),
    }
