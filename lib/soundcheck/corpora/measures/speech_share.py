"""How much of a recording somebody speaks in, as a network hears it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from soundcheck.corpora.measures.networks import network

WINDOW, CONTEXT = 512, 64  # samples at 16 kHz that the network hears at a time, and again from before
BEGINS, ENDS = 0.5, 0.35  # probability from which on there is speech, and below which there is none
SHORTEST, PAUSE, AROUND = 4000, 1600, 480  # samples: of speech, of a pause in it, and added at both ends


def speech_share(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of a recording that Silero takes for speech, with the settings of its package.

    Speech begins where the probability reaches 0.5 and ends where it lies below 0.35 for 0.1 s; it lasts more
    than 0.25 s, and 30 ms around it belong to it.

    - ``sampling_rate``: 16000 Hz; the network knows no other.
    - Returns from 0 to 1; NaN without samples.
    - Raises InputError: if the package is not installed.
    """
    if not len(signal):
        return math.nan
    spans = _spans(_probabilities(signal), len(signal))
    heard = sum(min(len(signal), end + AROUND) - max(0, start - AROUND) for start, end in spans)
    return round(heard / len(signal), 4)


def _probabilities(signal: np.ndarray) -> list[float]:
    """Ask for the probability of speech in each window, one after the other: the network remembers."""
    silero = network("silero_vad", "data/silero_vad.onnx", "silero")
    padded = np.pad(np.asarray(signal, dtype=np.float32), (CONTEXT, -len(signal) % WINDOW))
    state, rate = np.zeros((2, 1, 128), dtype=np.float32), np.array(16000, dtype=np.int64)
    found = []
    for start in range(0, len(padded) - CONTEXT, WINDOW):
        window = padded[np.newaxis, start : start + CONTEXT + WINDOW]
        probability, state = silero.run(None, {"input": window, "state": state, "sr": rate})
        found.append(float(probability[0, 0]))
    return found


def _spans(probabilities: list[float], samples: int) -> Iterator[tuple[int, int]]:
    """Give beginning and end of each piece of speech that is long enough, in samples."""
    start = quiet = None
    for n, probability in enumerate(probabilities):
        here = n * WINDOW
        if probability >= BEGINS:
            start, quiet = here if start is None else start, None
        elif probability < ENDS and start is not None:
            quiet = here if quiet is None else quiet
            if here - quiet >= PAUSE:
                if quiet - start > SHORTEST:
                    yield start, quiet
                start = quiet = None
    if start is not None and samples - start > SHORTEST:
        yield start, samples
