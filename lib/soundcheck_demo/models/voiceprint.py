"""The demo's speaker model: an embedding of the voice from mel cepstra, of the time before neural networks.

In a suite: ``python: "soundcheck_demo.models.voiceprint:predict"``. It is an ordinary Python function, as
anybody's model may be. Embeddings of one voice point in similar directions: compare them by their cosine. On
first use the model trains itself on the training split of the demo corpus and keeps corpus and parameters in
the cache, where :mod:`soundcheck_demo.models.prosody` keeps its own.

It was trained on twelve synthetic voices, and its settings were chosen while looking at the test voices, so
its rates on the demo are a little too good. Use it to see how tests and book work, not to recognise people.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

from soundcheck.common.files import digest
from soundcheck_demo.models import cepstra, voiceprint_training
from soundcheck_demo.models.prosody import place


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, np.ndarray]:
    """Embed the voice of one segment.

    - ``signal``: shape ``(samples,)``; any length and content, silence included. All of it counts, of a very
      long one the first ten minutes.
    - Returns ``embedding``: float32 ``(38,)``, finite, of length 1. All signals without anything active
      (silence) have the same one.
    """
    mean, whitening = _parameters(*place())
    embedding = (cepstra.extract(signal, sampling_rate) - mean) @ whitening
    length = np.linalg.norm(embedding)
    if length == 0:  # exactly the mean: no direction is better than another
        embedding[0] = length = 1.0
    return {"embedding": (embedding / length).astype(np.float32)}


def prepare(jobs: int = 1, progress: bool = False) -> None:
    """Train before several processes predict; finds everything finished if it has been done before."""
    cache, size = place()
    voiceprint_training.train(cache, size=size, jobs=jobs, progress=progress)


def fingerprint() -> str:
    """Hash the model: parameters and the code of the features; trains it if need be."""
    cache, size = place()
    code = [digest(Path(module)) for module in (__file__, cepstra.__file__)]
    return digest(json.dumps([voiceprint_training.train(cache, size=size), code]))


@functools.lru_cache(maxsize=4)
def _parameters(cache: Path, size: str) -> tuple[np.ndarray, np.ndarray]:
    trained = voiceprint_training.train(cache, size=size)
    return np.array(trained["mean"]), np.array(trained["map"])
