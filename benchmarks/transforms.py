"""Time of each transform for three seconds at 16 kHz, beside auglib in the same run.

Run ``python benchmarks/transforms.py``. Prints the best of many calls in milliseconds, taken in turn, and how
many times faster than auglib that is. Both get a new copy of the signal each time, because some of auglib's
transforms write into it; noises and responses are in memory on both sides. auglib has no tilt filter: it
convolves with ours in single precision, without the level match. Its babble has a fixed number of voices. It
needs other programs for codecs and the telephone line, so ours stand alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.augment.noise import mix, pink
from soundcheck.augment.registry import TRANSFORMS
from soundcheck.augment.sounds import Sound, Sounds, SoundSet
from soundcheck.augment.transmission import tilt_filter

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
    "background_noise": {"noise": "babble", "snr_db": 20},
    "codec": {"name": "amr-nb", "bit_rate": 7400},
    "low_quality_phone": {"bit_rate": 7400},
    "reverberation": {"responses": "rooms", "role": "base"},
    "sound_event": {"event": "coughing", "snr_db": 10},
}
SLOW = ("codec", "low_quality_phone")  # fewer calls


def material(folder: Path) -> Sounds:
    """Write sounds of noise: seven voices of ten seconds, a cough, a response of half a second."""
    rng = np.random.default_rng(1)
    sets = {}
    for kind, each in {"babble": 7 * [10.0], "coughing": [0.5], "rooms": [0.5]}.items():
        sounds = [
            Sound(f"{kind} {n}", folder / f"{kind}_{n}.wav", s, role="base") for n, s in enumerate(each)
        ]
        for sound in sounds:
            signal = 0.1 * rng.standard_normal(round(RATE * sound.duration))
            soundfile.write(sound.path, signal, RATE, subtype="FLOAT")
        sets[kind] = SoundSet(kind, tuple(sounds))
    return Sounds(sets)


def alternatives(sounds: Sounds) -> dict[str, Callable]:
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
        "pink": theirs.PinkNoise(snr_db=20),
        "reverberation": theirs.FFTConvolve(sounds.of("rooms")[0].read(RATE), keep_tail=False),
        "background_noise": theirs.BabbleNoise(
            [sound.read(RATE) for sound in sounds.of("babble")], num_speakers=7, snr_db=20
        ),
    }


def milliseconds(calls: Sequence[Callable | None], signal: np.ndarray, rounds: int = CALLS) -> list[float]:
    """Best time of each call, ``nan`` for none; all are called once in every round."""
    best = [np.inf if call else np.nan for call in calls]
    for _ in range(rounds):
        for which, call in enumerate(calls):
            if call is not None:
                copied = signal.copy()
                start = time.perf_counter()
                call(copied)
                best[which] = min(best[which], time.perf_counter() - start)
    return [1000 * seconds for seconds in best]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        compare(material(Path(folder)))


def compare(sounds: Sounds) -> None:
    rng = np.random.default_rng(0)
    signal = rng.uniform(-0.5, 0.5, SECONDS * RATE).astype(np.float32)
    others = alternatives(sounds)
    print(f"{'transform':<18}{'ours/ms':>10}{'auglib/ms':>12}{'ratio':>8}")
    for name, options in OPTIONS.items():
        entry = TRANSFORMS[name]
        options = options | ({"sounds": sounds} if entry.sounds else {})
        show(name, lambda sound, e=entry, o=options: e.function(sound, RATE, rng, **o), others, signal)
    # Pink noise is no transform of its own here; both are mixed with the signal.
    show("pink", lambda sound: mix(sound, pink(len(sound), rng), 20), others, signal)


def show(name: str, ours: Callable, others: dict[str, Callable], signal: np.ndarray) -> None:
    other = others.get(name)
    rounds = CALLS // 10 if name in SLOW else CALLS
    soundcheck, auglib_ = milliseconds([ours, other and (lambda sound: other(sound, RATE))], signal, rounds)
    compared = f"{auglib_:>12.3f}{auglib_ / soundcheck:>7.1f}x" if other else f"{'-':>12}{'-':>8}"
    print(f"{name:<18}{soundcheck:>10.3f}{compared}")


if __name__ == "__main__":
    main()
