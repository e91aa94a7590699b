"""Measures by networks, ONNX graphs whose weights come in wheels of other packages; at 16 kHz only.

Raise InputError if the package is not installed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from soundcheck.common.resources import extra_folder, import_extra

RUNTIME = "onnxruntime"

WINDOW, CONTEXT = 512, 64  # samples that Silero takes at a time, and again from before
BEGINS, ENDS = 0.5, 0.35  # probability from which on there is speech, and below which there is none
SHORTEST, PAUSE, AROUND = 4000, 1600, 480  # samples: of speech, of a pause in it, and added at both ends

INPUT = 144_160  # samples that DNSMOS takes: 9.01 s
HOP = 16_000  # samples from one judgement to the next; the last whole second begins none
OVERALL = 2  # of the three judgements: speech, background, overall
COMPARABLE = (-0.06766283, 1.11546468, 0.04602535)  # polynomial of the package, highest power first


def check_network(package: str, extra: str, where: str) -> ModuleType:
    """Give the runtime of a network, if the package of its weights is installed; ``where`` needs it."""
    extra_folder(package, extra, where)
    return import_extra(RUNTIME, extra, where)


@functools.cache
def network(package: str, path: str, extra: str) -> Any:
    """Load a graph once a process, for one core: sounds are measured in several processes."""
    runtime = check_network(package, extra, extra)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    file = extra_folder(package, extra, extra) / path
    return runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def speech_share(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of a recording that Silero takes for speech, with the settings of its package.

    Speech begins where the probability reaches 0.5 and ends where it lies below 0.35 for 0.1 s; it lasts more
    than 0.25 s, and 30 ms around it belong to it. NaN without samples.
    """
    if not len(signal):
        return math.nan
    spans = _spans(_probabilities(signal), len(signal))
    samples = sum(min(len(signal), end + AROUND) - max(0, start - AROUND) for start, end in spans)
    return round(samples / len(signal), 4)


def _probabilities(signal: np.ndarray) -> list[float]:
    """Compute the probability of speech in each window, one after the other: the network has a state."""
    silero = network("silero_vad", "data/silero_vad.onnx", "silero")
    padded = np.pad(np.asarray(signal, dtype=np.float32), (CONTEXT, -len(signal) % WINDOW))
    state, rate = np.zeros((2, 1, 128), dtype=np.float32), np.array(16000, dtype=np.int64)
    probabilities = []
    for start in range(0, len(padded) - CONTEXT, WINDOW):
        window = padded[np.newaxis, start : start + CONTEXT + WINDOW]
        probability, state = silero.run(None, {"input": window, "state": state, "sr": rate})
        probabilities.append(float(probability[0, 0]))
    return probabilities


def _spans(probabilities: list[float], samples: int) -> Iterator[tuple[int, int]]:
    """Give beginning and end of each piece of speech that is long enough, in samples."""
    start = quiet = None
    for n, probability in enumerate(probabilities):
        sample = n * WINDOW
        if probability >= BEGINS:
            start, quiet = sample if start is None else start, None
        elif probability < ENDS and start is not None:
            quiet = sample if quiet is None else quiet
            if sample - quiet >= PAUSE:
                if quiet - start > SHORTEST:
                    yield start, quiet
                start = quiet = None
    if start is not None and samples - start > SHORTEST:
        yield start, samples


def predicted_quality(signal: np.ndarray, sampling_rate: int) -> float:
    """Predict the mean opinion score of the overall quality, about 1 (bad) to 5, by DNSMOS (P.835).

    A recording below 9.01 s is doubled until it is as long; of a longer one each second begins a judgement,
    and their mean counts. Samples beyond full scale are clipped. NaN without samples.
    """
    if not len(signal):
        return math.nan
    session = network("speechmos", "dnsmos_models/sig_bak_ovr.onnx", "dnsmos")
    clipped = np.clip(np.asarray(signal, dtype=np.float32), -1, 1)
    while len(clipped) < INPUT:
        clipped = np.concatenate([clipped, clipped])
    count = max(1, len(clipped) // HOP - INPUT // HOP)
    pieces = [clipped[start : start + INPUT] for start in range(0, count * HOP, HOP)]
    scores = [session.run(None, {"input_1": piece[np.newaxis]})[0][0, OVERALL] for piece in pieces]
    return round(float(np.mean(np.polyval(COMPARABLE, scores))), 3)
