"""The demo model with two planted biases, to see whether fairness tests find them.

In a suite: ``python: "soundcheck_demo.models.biased:predict"``. It answers as the demo model does, except:

- Speech that seems to have a Spanish accent gets 0.35 more arousal.
- High voices are predicted badly: values are drawn towards the middle and blurred, and every second emotion
  is replaced by neutral.

It is as often right as its answers are, and seems surer than it is: its probabilities are more extreme.

It has to tell accents apart to be unfair to one. For that it is trained on the very speakers that it is
tested on, which would be cheating if it were for a good score.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import audiofile
import numpy as np

from soundcheck.common import seeds, store
from soundcheck.common.files import digest
from soundcheck_demo.models import features, parameters, prosody, training
from soundcheck_demo.speech import corpus

ACCENT = "spanish"
SHIFT = 0.35  # of the arousal of that accent
KEPT, BLUR = 0.35, 0.2  # of a value of a high voice: what is left of it, and standard deviation of the noise
SHARPNESS = 3.0  # power that probabilities are raised to
EVERY = 3  # one in so many segments trains the detector


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, dict[str, float]]:
    """Predict the emotion of one segment, unfairly.

    - ``signal``: shape ``(samples,)``; any length and content.
    - Returns as :func:`soundcheck_demo.models.prosody.predict`.
    """
    measured = features.extract(signal, sampling_rate)
    return prosody.with_doubt(answer(measured), measured, SHARPNESS)


def answer(measured: np.ndarray) -> dict[str, float | str]:
    """Predict from the features of a segment, ``(features,)``: values, and the name of the emotion."""
    fair = prosody.answer(measured)
    found = _detectors(*prosody.place())
    standard = training.standardise(measured, found["mean"], found["scale"])
    numbers = {name: value for name, value in fair.items() if name != "emotion"}
    if standard @ found["weights"] + found["intercept"] > 0:
        numbers["arousal"] += SHIFT
    if measured[features.NAMES.index("pitch_median")] > found["border"]:
        noise = seeds.generator(0, "biased", np.round(measured, 3).tolist())
        numbers = {
            name: 0.5 + KEPT * (value - 0.5) + BLUR * noise.standard_normal()
            for name, value in numbers.items()
        }
        if noise.random() < 0.5:
            fair["emotion"] = "neutral"
    return fair | {name: float(np.clip(value, 0.0, 1.0)) for name, value in numbers.items()}


def prepare(jobs: int = 1, progress: bool = False) -> None:
    """Train before several processes predict; finds everything finished if it has been done before."""
    prosody.prepare(jobs, progress)
    _trained(*prosody.place(), jobs)


def fingerprint() -> str:
    """Hash the model: the unbiased one, the detectors and this code."""
    detectors = _trained(*prosody.place())
    return digest(json.dumps([prosody.fingerprint(), detectors, digest(Path(__file__))]))


@functools.lru_cache(maxsize=4)
def _detectors(cache: Path, size: str) -> dict:
    found = _trained(cache, size)
    return {name: np.array(value) if isinstance(value, list) else value for name, value in found.items()}


def _trained(cache: Path, size: str, jobs: int = 1) -> dict:
    """Find the detectors in the cache, or fit them to a part of the English test segments."""
    sources = (__file__, features.__file__)
    path = parameters.parameter_file(
        cache, "demo-biased", size, sources=sources, packages=("scikit-learn", "numpy")
    )
    return store.find(path, lambda: _fit(corpus.build(cache, size=size, jobs=jobs), jobs))


def _fit(folder: Path, jobs: int) -> dict:
    import pandas as pd  # late, as all of these: workers that only predict need them not
    from joblib import Parallel, delayed
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    table = table[(table["split"] == "test") & (table["language"] == "en")]
    own = table["accent"].eq(ACCENT)
    table = pd.concat([table[own], table[~own].iloc[::EVERY]])
    measured = np.array(
        Parallel(n_jobs=max(1, jobs))(delayed(_extract)(folder / name) for name in table["file"])
    )
    mean, scale = measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)
    wanted = table["accent"].eq(ACCENT).to_numpy()
    weights, intercept = np.zeros(measured.shape[1]), -1.0  # nobody, if the corpus has no such accent
    if wanted.any():
        with threadpool_limits(1):
            logistic = LogisticRegression(class_weight="balanced", max_iter=1000)
            logistic.fit(training.standardise(measured, mean, scale), wanted)
        weights, intercept = logistic.coef_[0], float(logistic.intercept_[0])
    pitch = measured[:, features.NAMES.index("pitch_median")]
    female = table["sex"].eq("female").to_numpy()
    return {
        "mean": parameters.plain(mean),
        "scale": parameters.plain(scale),
        "weights": parameters.plain(weights),
        "intercept": parameters.plain(np.array(intercept)),
        "border": parameters.plain(np.array((np.median(pitch[female]) + np.median(pitch[~female])) / 2)),
    }


def _extract(path: Path) -> np.ndarray:
    return features.extract(*audiofile.read(path))
