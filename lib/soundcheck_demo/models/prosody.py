"""The demo model: arousal, dominance, valence and emotion from prosody.

In a suite: ``python: "soundcheck_demo.models.prosody:predict"``. It is an ordinary Python function, as
anybody's model may be. On first use it trains itself on the training split of the demo corpus, see
:mod:`soundcheck_demo.models.training`. It is linear in standardised features that are limited to three
standard deviations: ridge regression for the dimensions, multinomial logistic regression for the emotion.

How sure it is of emotions was set while looking at the test voices, so it is a little better calibrated than
it would be for others; intervals of values were not, and are too narrow for voices that it has not heard.

It knows synthetic voices only. Use it to see how tests and book work, not to judge people.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck_demo.models import features
from soundcheck_demo.models.training import Training, measure, plain, segments, standard_scale, standardise
from soundcheck_demo.speech.voices import DIMENSIONS

if TYPE_CHECKING:
    import pandas as pd

SHARPNESS = 0.75  # power that probabilities are raised to: voices that it has not heard make it too sure
WIDTH = 1.645  # standard deviations on either side of a value: 9 of 10 errors would lie within
RIDGE = 0.25  # penalty a training segment
LOGISTIC = 0.07  # penalty a training segment


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, dict[str, float]]:
    """Predict the emotion of one segment of any length and content, silence included.

    Returns ``arousal``, ``dominance``, ``valence``: value between 0 and 1 with the bounds of a 90 %
    interval; ``emotion``: probabilities of anger, happiness, neutral, sadness.
    """
    measured = features.extract(signal, sampling_rate)
    return with_doubt(answer(measured), measured)


def answer(measured: np.ndarray) -> dict[str, float | str]:
    """Predict from the features of a segment, ``(features,)``: values, and the name of the emotion."""
    fitted, scores = TRAINING.parameters(), _scores(measured)
    standard = standardise(measured, fitted["mean"], fitted["scale"])
    dimensions = np.clip(fitted["weights"] @ standard + fitted["intercepts"], 0.0, 1.0)
    values: dict[str, float | str] = dict(zip(DIMENSIONS, dimensions.tolist(), strict=True))
    return values | {"emotion": fitted["classes"][int(np.argmax(scores))]}


def _scores(measured: np.ndarray) -> np.ndarray:
    fitted = TRAINING.parameters()
    standard = standardise(measured, fitted["mean"], fitted["scale"])
    return fitted["class_weights"] @ standard + fitted["class_intercepts"]


def with_doubt(
    values: dict[str, float | str], measured: np.ndarray, sharpness: float = SHARPNESS
) -> dict[str, dict[str, float]]:
    """Say how sure a prediction is.

    - ``values``: what :func:`answer` gives for the features, or something made of it: another emotion takes
      the probability of the likeliest one.
    - ``sharpness``: power that probabilities are raised to: above 1 they are more extreme, and the model
      seems surer.
    """
    fitted, scores = TRAINING.parameters(), sharpness * _scores(measured)
    shares = np.exp(scores - scores.max())
    named = fitted["classes"].index(values["emotion"])
    shares[[named, np.argmax(scores)]] = shares[[np.argmax(scores), named]]
    prediction = {}
    for name, spread in zip(DIMENSIONS, fitted["spreads"], strict=True):
        low, high = values[name] - WIDTH * spread, values[name] + WIDTH * spread
        prediction[name] = {"value": values[name], "low": low, "high": high}
    prediction["emotion"] = dict(zip(fitted["classes"], (shares / shares.sum()).tolist(), strict=True))
    return prediction


def fit(table: pd.DataFrame, measured: np.ndarray) -> dict:
    """Fit the model to the features of segments, ``(segments, features)``, and their table with the labels.

    Returns ``mean`` and ``scale`` (one number a feature), ``weights``, ``intercepts`` and ``spreads`` (the
    standard deviation of the errors) of the dimensions, ``classes`` with ``class_weights`` and
    ``class_intercepts``, ``features`` (names), ``segments`` (how many trained).
    """
    from sklearn.linear_model import LogisticRegression, Ridge  # late: workers that only predict need it not
    from threadpoolctl import threadpool_limits

    mean, scale = standard_scale(measured)
    standard = standardise(measured, mean, scale)
    with threadpool_limits(1):
        ridges, spreads = [], []
        for name in DIMENSIONS:
            ridge = Ridge(RIDGE * len(table), solver="cholesky").fit(standard, table[name].to_numpy())
            ridges.append(ridge)
            spreads.append(np.std(table[name].to_numpy() - ridge.predict(standard)))
        logistic = LogisticRegression(C=1 / (LOGISTIC * len(table)), max_iter=1000)
        logistic.fit(standard, table["emotion"].to_numpy(dtype=object))
    return {
        "features": list(features.NAMES),
        "mean": plain(mean),
        "scale": plain(scale),
        "weights": plain([ridge.coef_ for ridge in ridges]),
        "intercepts": plain([ridge.intercept_ for ridge in ridges]),
        "spreads": plain(spreads),
        "classes": [str(name) for name in logistic.classes_],
        "class_weights": plain(logistic.coef_),
        "class_intercepts": plain(logistic.intercept_),
        "segments": len(table),
    }


def _fit(folder: Path, jobs: int, progress: bool) -> dict:
    table = segments(folder, "train")
    return fit(table, measure(folder, table["file"], features.extract, jobs, progress))


TRAINING = Training(
    "demo-prosody", _fit, (__file__, features.__file__), ("scikit-learn", "praat-parselmouth", "numpy")
)
prepare, fingerprint = TRAINING.prepare, TRAINING.fingerprint
