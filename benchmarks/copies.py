"""How many copies are found, how many are made up, and how long it takes with 10,000 signals.

Run ``python benchmarks/copies.py [signals]``, 10,000 by default, half a minute. Signals are made like
speech: eight sounds of a gliding pulse train or hiss through two resonances, 1.5 s in all, from known
numbers. A hundred of them are there twice at each change. Ends with 1 if a copy is made up, or fewer than 95
of 100 are found.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy

from soundcheck.common.seeds import generator
from soundcheck.corpora.repeats import codes, copies, fingerprint

SIGNALS, COPIES, RATE = 10_000, 100, 16000
CHANGES = {
    "quieter by 20 dB": lambda signal: 0.1 * signal,
    "8 bit": lambda signal: np.round(signal * 2**7) / 2**7,
    "50 ms cut": lambda signal: signal[800:],
}


def babbled(rng: np.random.Generator) -> np.ndarray:
    """Make a signal of eight sounds, float32 ``(24000,)``."""
    sounds = []
    for length in rng.multinomial(24000, np.full(8, 1 / 8)):
        pitch = np.linspace(*rng.uniform(90, 280, 2), length)
        phase = np.cumsum(pitch) / RATE
        source = (
            np.diff(np.floor(phase), prepend=0) if rng.random() < 0.7 else rng.standard_normal(length) / 20
        )
        for centre, width in ((rng.uniform(250, 900), 80), (rng.uniform(900, 3000), 120)):
            pole = np.exp(-np.pi * width / RATE)
            turn = 2 * np.pi * centre / RATE
            source = scipy.signal.lfilter([1 - pole], [1, -2 * pole * np.cos(turn), pole**2], source)
        sounds.append(source * np.hanning(length) * rng.uniform(0.1, 1) / (np.abs(source).max() + 1e-9))
    return np.concatenate(sounds).astype(np.float32)


def main(count: int) -> int:
    """Compare signals; gives the exit code."""
    begin, prints, planted = time.process_time(), [], {name: [] for name in CHANGES}
    for n in range(count):
        signal = babbled(generator(0, "copies", n))
        prints.append(codes(fingerprint(signal, RATE)))
        if n < COPIES:
            for name, change in CHANGES.items():
                planted[name].append(codes(fingerprint(change(signal).astype(np.float32), RATE)))
    made = time.process_time() - begin
    begin = time.process_time()
    invented = len(copies(prints))
    print(f"{count} different signals: {invented} copies made up")
    print(f"signals and fingerprints {made:.1f} s, comparing {time.process_time() - begin:.1f} s of CPU")
    enough = True
    for name, copied in planted.items():
        pairs = copies([*prints, *copied])
        right = sum(second - count == first for first, second in pairs)
        print(f"{name}: {right} of {len(copied)} found, {len(pairs) - right} made up")
        enough &= right >= 0.95 * len(copied) and right == len(pairs)
    return int(invented > 0 or not enough)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SIGNALS))
