"""The demo model with two planted biases, to see whether fairness tests find them.

In a suite: ``python: "soundcheck_demo.models.biased:predict"``. It answers as the demo model does, except:

- Speech that seems to have a Spanish accent gets 0.35 more arousal.
- High voices are predicted badly: values are drawn towards the middle and blurred, and every second emotion
  is replaced by neutral.

It is as often right as its answers are, and seems surer than it is: its probabilities are more extreme.

It has to tell accents apart to be unfair to one. For that it is trained on a part of the English test
segments, the very speakers that it is tested on, which would be cheating if it were for a good score.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from soundcheck.common import seeds
from soundcheck_demo.models import features, prosody
from soundcheck_demo.models.training import Training, measure, plain, segments, standard_scale, standardise

ACCENT = "spanish"
SHIFT = 0.35  # of the arousal of that accent
REMAINDER, BLUR = 0.35, 0.2  # of a value of a high voice: what is left of it, and deviation of the noise
SHARPNESS = 3.0  # power that probabilities are raised to
EVERY = 3  # one in so many segments trains the detector
PITCH = features.NAMES.index("pitch_median")


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, dict[str, float]]:
    """Predict the emotion of one segment, unfairly; otherwise as the demo model does."""
    measured = features.extract(signal, sampling_rate)
    return prosody.with_doubt(answer(measured), measured, SHARPNESS)


def answer(measured: np.ndarray) -> dict[str, float | str]:
    """Predict from the features of a segment, ``(features,)``: values, and the name of the emotion."""
    fair, detectors = prosody.answer(measured), TRAINING.parameters()
    standard = standardise(measured, detectors["mean"], detectors["scale"])
    values = {name: value for name, value in fair.items() if name != "emotion"}
    if standard @ detectors["weights"] + detectors["intercept"] > 0:
        values["arousal"] += SHIFT
    if measured[PITCH] > detectors["border"]:
        noise = seeds.generator(0, "biased", np.round(measured, 3).tolist())
        values = {
            name: 0.5 + REMAINDER * (value - 0.5) + BLUR * noise.standard_normal()
            for name, value in values.items()
        }
        if noise.random() < 0.5:
            fair["emotion"] = "neutral"
    return fair | {name: float(np.clip(value, 0.0, 1.0)) for name, value in values.items()}


def _fit(folder: Path, jobs: int, progress: bool) -> dict:
    import pandas as pd  # late, as all of these: workers that only predict need them not
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    table = segments(folder, "test")
    table = table[table["language"] == "en"]
    has_accent = table["accent"].eq(ACCENT)
    table = pd.concat([table[has_accent], table[~has_accent].iloc[::EVERY]])
    measured = measure(folder, table["file"], features.extract, jobs)
    mean, scale = standard_scale(measured)
    accented = table["accent"].eq(ACCENT).to_numpy()
    weights, intercept = np.zeros(measured.shape[1]), -1.0  # nobody, if the corpus has no such accent
    if accented.any():
        with threadpool_limits(1):
            logistic = LogisticRegression(class_weight="balanced", max_iter=1000)
            logistic.fit(standardise(measured, mean, scale), accented)
        weights, intercept = logistic.coef_[0], float(logistic.intercept_[0])
    pitch, female = measured[:, PITCH], table["sex"].eq("female").to_numpy()
    border = (np.median(pitch[female]) + np.median(pitch[~female])) / 2
    numbers = {"mean": mean, "scale": scale, "weights": weights, "intercept": intercept, "border": border}
    return {name: plain(value) for name, value in numbers.items()}


TRAINING = Training(
    "demo-biased", _fit, (__file__, features.__file__), ("scikit-learn", "numpy"), (prosody.TRAINING,)
)
prepare, fingerprint = TRAINING.prepare, TRAINING.fingerprint
