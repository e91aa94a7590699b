"""How good a recording sounds, as a network judges it."""

from __future__ import annotations

import math

import numpy as np

from soundcheck.corpora.measures.networks import network

INPUT = 144_160  # samples that the network hears: 9.01 s at 16 kHz
HOP = 16_000  # samples from one judgement to the next; the last whole second begins none
OVERALL = 2  # of the three judgements: speech, background, overall
COMPARABLE = (-0.06766283, 1.11546468, 0.04602535)  # polynomial of the package, highest power first


def predicted_quality(signal: np.ndarray, sampling_rate: int) -> float:
    """Predict the mean opinion score of the overall quality by DNSMOS (P.835).

    A recording below 9.01 s is doubled until it is as long; of a longer one each second begins a judgement,
    and their mean counts. Samples beyond full scale are clipped.

    - ``sampling_rate``: 16000 Hz; the network knows no other.
    - Returns about 1, bad, to 5, excellent; NaN without samples.
    - Raises InputError: if the package is not installed.
    """
    if not len(signal):
        return math.nan
    session = network("speechmos", "dnsmos_models/sig_bak_ovr.onnx", "dnsmos")
    heard = np.clip(np.asarray(signal, dtype=np.float32), -1, 1)
    while len(heard) < INPUT:
        heard = np.concatenate([heard, heard])
    count = max(1, len(heard) // HOP - INPUT // HOP)
    pieces = [heard[start : start + INPUT] for start in range(0, count * HOP, HOP)]
    judged = [session.run(None, {"input_1": piece[np.newaxis]})[0][0, OVERALL] for piece in pieces]
    return round(float(np.mean(np.polyval(COMPARABLE, judged))), 3)
