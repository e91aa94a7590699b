"""Trains the demo model on the training split of the demo corpus, once, and keeps its parameters as JSON.

The model is linear in standardised features that are limited to three standard deviations: ridge regression
for the dimensions, multinomial logistic regression for the emotion. Its parameters are a few plain lists,
rounded to six digits, so that they can be read, compared and loaded without running code.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from pathlib import Path

import audiofile
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from soundcheck.corpora.demo import corpus
from soundcheck.corpora.demo.labels import DIMENSIONS
from soundcheck.corpora.demo.once import exclusive
from soundcheck.files import digest, write_text
from soundcheck.models.demo import features

LIMIT = 3.0  # standard deviations; what lies farther out is not in the training data
RIDGE = 0.25  # penalty a training segment
LOGISTIC = 0.07  # penalty a training segment
DIGITS = 6


def parameter_file(cache: Path, size: str = "full") -> Path:
    """Name the file of the parameters; the name changes with everything that decides them."""
    sources = [digest(Path(module)) for module in (__file__, features.__file__)]
    versions = [importlib.metadata.version(name) for name in ("scikit-learn", "praat-parselmouth", "numpy")]
    key = digest(json.dumps([corpus.fingerprint(size), sources, versions]))[:16]
    return Path(cache) / f"demo-prosody-{key}.json"


def train(cache: Path, *, size: str = "full", jobs: int = 1, progress: bool = False) -> dict:
    """Find the parameters in the cache, or build the corpus and fit them.

    Parameters
    ----------
    cache
        Folder that keeps corpus and parameters. Several processes may train at once; one does the work.
    size
        Size of the demo corpus.
    jobs
        Processes.
    progress
        Whether to show progress bars.

    Returns
    -------
    dict
        ``mean``, ``scale`` (one number a feature), ``regression`` (weights and intercept a dimension),
        ``emotion`` (classes, one list of weights and one intercept a class), ``segments`` (how many trained).
    """
    path = parameter_file(cache, size)
    found = load(path)
    if found is None:
        with exclusive(path):
            found = load(path)
            if found is None:
                folder = corpus.build(cache, size=size, jobs=jobs, progress=progress)
                table, measured = _measure(folder, jobs, progress)
                found = fit(table, measured)
                content = json.dumps(found)
                if path.is_dir():  # somebody's mistake, in a cache
                    shutil.rmtree(path)
                write_text(path, json.dumps({"digest": digest(content), "parameters": found}))
    return found


def load(path: Path) -> dict | None:
    """Read parameters; ``None`` if there are none or the file is damaged."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        parameters = stored["parameters"]
        return parameters if stored["digest"] == digest(json.dumps(parameters)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fit(table: pd.DataFrame, measured: np.ndarray) -> dict:
    """Fit the model.

    Parameters
    ----------
    table
        One row a segment, with the dimensions and ``emotion``.
    measured
        Features, shape ``(segments, features)``.

    Returns
    -------
    dict
        Parameters as :func:`train` describes them.
    """
    from sklearn.linear_model import LogisticRegression, Ridge  # late: workers that only predict need it not
    from threadpoolctl import threadpool_limits

    mean, scale = measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)
    standard = standardise(measured, mean, scale)
    regression = {}
    with threadpool_limits(1):
        for name in DIMENSIONS:
            ridge = Ridge(RIDGE * len(table), solver="cholesky").fit(standard, table[name].to_numpy())
            regression[name] = {"weights": plain(ridge.coef_), "intercept": plain(ridge.intercept_)}
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
    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    table = table[table["split"] == "train"].reset_index(drop=True)
    running = Parallel(n_jobs=max(1, jobs), return_as="generator")(
        delayed(_extract)(folder / name) for name in table["file"]
    )
    bar = tqdm(
        running, total=len(table), desc="Demo model, training segments", disable=None if progress else True
    )
    return table, np.array(list(bar))


def _extract(path: Path) -> np.ndarray:
    return features.extract(*audiofile.read(path))


def plain(values: np.ndarray) -> list | float:
    """Round to a few significant digits, so that the last bits of another processor change nothing."""
    array = np.asarray(values, dtype=np.float64)
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel()])
    return rounded.reshape(array.shape).tolist()
