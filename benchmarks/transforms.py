"""Time of each transform for three seconds at 16 kHz, beside auglib in the same run.

Run ``python benchmarks/transforms.py``. Prints the best of many calls in milliseconds and how many times
faster than auglib that is. Both get a signal of their own each time, because some of auglib's transforms
write into it. auglib's crops and gain neither copy nor check, and it has no tilt filter: it convolves with
ours in single precision, without the level match.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from soundcheck.augment.filters import tilt_filter
from soundcheck.augment.registry import TRANSFORMS

try:
    import auglib
except ImportError:
    auglib = None

RATE = 16000
SECONDS = 3
CALLS = 200
OPTIONS = {
    "additive_tone": {"frequency": 6000, "snr_db": 45},
    "append_zeros": {"samples": 500},
    "clip": {"ratio": 0.002},
    "crop_beginning": {"samples": 500},
    "crop_end": {"samples": 500},
    "gain": {"gain_db": 2},
    "highpass_filter": {"cutoff": 100, "order": 1},
    "lowpass_filter": {"cutoff": 7000, "order": 1},
    "prepend_zeros": {"samples": 500},
    "spectral_tilt": {"direction": "upward"},
    "white_noise": {"snr_db": 40},
}


def alternatives() -> dict[str, Callable]:
    if auglib is None:
        return {}
    theirs = auglib.transform
    return {
        "additive_tone": theirs.Tone(6000, snr_db=45),
        "append_zeros": theirs.AppendValue(500, unit="samples"),
        "clip": theirs.ClipByRatio(0.002),
        "crop_beginning": theirs.Trim(start_pos=500, unit="samples"),
        "crop_end": theirs.Trim(end_pos=500, unit="samples"),
        "gain": theirs.GainStage(2),
        "highpass_filter": theirs.HighPass(100, order=1),
        "lowpass_filter": theirs.LowPass(7000, order=1),
        "prepend_zeros": theirs.PrependValue(500, unit="samples"),
        "spectral_tilt": theirs.FFTConvolve(tilt_filter("upward").astype(np.float32)),
        "white_noise": theirs.WhiteNoiseGaussian(snr_db=40),
    }


def milliseconds(call: Callable[[np.ndarray], object], signal: np.ndarray) -> float:
    best = np.inf
    for _ in range(CALLS):
        own = signal.copy()
        start = time.perf_counter()
        call(own)
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def main() -> None:
    rng = np.random.default_rng(0)
    signal = rng.uniform(-0.5, 0.5, SECONDS * RATE).astype(np.float32)
    others = alternatives()
    print(f"{'transform':<18}{'ours/ms':>10}{'auglib/ms':>12}{'ratio':>8}")
    for name, entry in TRANSFORMS.items():
        if name not in OPTIONS:
            print(f"{name:<18}{'no options given here':>30}")
            continue
        ours = milliseconds(lambda own, e=entry, n=name: e.function(own, RATE, rng, **OPTIONS[n]), signal)
        if name in others:
            theirs = milliseconds(lambda own, n=name: others[n](own, RATE), signal)
            print(f"{name:<18}{ours:>10.3f}{theirs:>12.3f}{theirs / ours:>7.1f}x")
        else:
            print(f"{name:<18}{ours:>10.3f}{'-':>12}{'-':>8}")


if __name__ == "__main__":
    main()
