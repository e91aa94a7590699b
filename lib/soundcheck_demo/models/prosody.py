"""The demo model: arousal, dominance, valence and emotion from prosody.

In a suite: ``python: "soundcheck_demo.models.prosody:predict"``. It is an ordinary Python function, as
anybody's model may be. On first use it trains itself on the training split of the demo corpus and keeps
corpus and parameters in the cache: the folder named by the environment variable ``SOUNDCHECK_CACHE``, else
``build/cache`` below the current folder. ``SOUNDCHECK_DEMO_SIZE=small`` trains on the small demo corpus, for
quick tests.

How sure it is of emotions was set while looking at the test voices, so it is a little better calibrated than
it would be for others; intervals of values were not, and are too narrow for voices that it has not heard.

It knows synthetic voices only. Use it to see how tests and book work, not to judge people.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import numpy as np

from soundcheck.common.files import digest
from soundcheck_demo.models import features, training

SHARPNESS = 0.75  # power that probabilities are raised to: voices that it has not heard make it too sure
WIDTH = 1.645  # standard deviations on either side of a value: 9 of 10 errors would lie within


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, dict[str, float]]:
    """Predict the emotion of one segment.

    - ``signal``: shape ``(samples,)``; any length and content, silence included.
    - Returns ``arousal``, ``dominance``, ``valence``: value between 0 and 1 with the bounds of a 90 %
      interval; ``emotion``: probabilities of anger, happiness, neutral, sadness.
    """
    measured = features.extract(signal, sampling_rate)
    return with_doubt(answer(measured), measured)


def answer(measured: np.ndarray) -> dict[str, float | str]:
    """Predict from the features of a segment, ``(features,)``: values, and the name of the emotion."""
    parameters = _arrays(*place())
    standard = training.standardise(measured, parameters["mean"], parameters["scale"])
    dimensions = np.clip(parameters["weights"] @ standard + parameters["intercepts"], 0.0, 1.0)
    scores = parameters["class_weights"] @ standard + parameters["class_intercepts"]
    found: dict[str, float | str] = dict(zip(parameters["names"], dimensions.tolist(), strict=True))
    found["emotion"] = parameters["classes"][int(np.argmax(scores))]
    return found


def with_doubt(
    found: dict[str, float | str], measured: np.ndarray, sharpness: float = SHARPNESS
) -> dict[str, dict[str, float]]:
    """Say how sure an answer is.

    - ``found``: what :func:`answer` gives for the features, or something made of it: another emotion takes
      the probability of the likeliest one.
    - ``measured``: the features, ``(features,)``.
    - ``sharpness``: power that probabilities are raised to: above 1 they are more extreme, and the model
      seems surer.
    """
    parameters = _arrays(*place())
    standard = training.standardise(measured, parameters["mean"], parameters["scale"])
    scores = sharpness * (parameters["class_weights"] @ standard + parameters["class_intercepts"])
    shares = np.exp(scores - scores.max())
    named = parameters["classes"].index(found["emotion"])
    shares[[named, np.argmax(scores)]] = shares[[np.argmax(scores), named]]
    said = {
        name: {
            "value": found[name],
            "low": found[name] - WIDTH * spread,
            "high": found[name] + WIDTH * spread,
        }
        for name, spread in parameters["spreads"].items()
    }
    said["emotion"] = dict(zip(parameters["classes"], (shares / shares.sum()).tolist(), strict=True))
    return said


def prepare(jobs: int = 1, progress: bool = False) -> None:
    """Train before several processes predict; finds everything finished if it has been done before."""
    cache, size = place()
    training.train(cache, size=size, jobs=jobs, progress=progress)


def fingerprint() -> str:
    """Hash the model: parameters and the code of the features; trains it if need be."""
    cache, size = place()
    code = [digest(Path(module)) for module in (__file__, features.__file__)]
    return digest(json.dumps([training.train(cache, size=size), code]))


def place() -> tuple[Path, str]:
    """Say where corpus and parameters are kept, and how large the corpus is."""
    cache = Path(os.environ.get("SOUNDCHECK_CACHE") or Path("build") / "cache")
    return cache.absolute(), os.environ.get("SOUNDCHECK_DEMO_SIZE") or "full"


@functools.lru_cache(maxsize=4)
def _arrays(cache: Path, size: str) -> dict:
    trained = training.train(cache, size=size)
    regression, emotion = trained["regression"], trained["emotion"]
    return {
        "mean": np.array(trained["mean"]),
        "scale": np.array(trained["scale"]),
        "names": tuple(regression),
        "weights": np.array([part["weights"] for part in regression.values()]),
        "intercepts": np.array([part["intercept"] for part in regression.values()]),
        "spreads": {name: part["spread"] for name, part in regression.items()},
        "classes": tuple(emotion["classes"]),
        "class_weights": np.array(emotion["weights"]),
        "class_intercepts": np.array(emotion["intercepts"]),
    }
