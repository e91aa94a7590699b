"""How far estimated signal-to-noise ratios are from the true ones, and what each measure costs.

Run ``SOUNDCHECK_SPEECH=FOLDER python benchmarks/measured.py [signals a row]``, 20 by default, a few minutes;
the folder holds recordings of spoken digits. The full size also writes ``book/tables/signal_to_noise.csv``,
which the page *measured columns* shows. Ends with 1 if an estimate for syllables with pauses in steady noise
is off by 1 dB or more on average, or a measure needs more than a hundredth of the duration of the sound.

Conventions
-----------
- *Syllables* are harmonics and hiss in bursts like those of speech, with pauses between phrases: 5 seconds.
- *Synthesised* is speech of the demo's voices, without the noise that their recordings have: 2 to 4 seconds.
- *Digits* are spoken by the speaker whose recordings have the least noise: about half a second, no pauses.
- A ratio compares root mean squares of the whole signals, pauses included.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

from soundcheck.common.seeds import generator
from soundcheck.corpora import audio
from soundcheck.corpora.columns import MEASURES
from soundcheck_demo.speech.synthesis import SECONDS, speak, transcript
from soundcheck_demo.speech.voices import SPEAKERS, SPEECH, UNMOVED, settings

TABLE = Path(__file__).parents[1] / "book" / "tables" / "signal_to_noise.csv"
SEED, SIGNALS, RATE = 0, 20, 16000
RATIOS = (0, 10, 20, 30, 40)  # dB
QUIET = ("lucas", 40.0)  # speaker of the digits, and the ratio in dB that a recording has to have itself
STEADY = ("white", "pink", "telephone", "hum")
KINDS = (*STEADY, "rumble", "babble")


def syllables(rng: np.random.Generator, seconds: float = 5.0) -> np.ndarray:
    """Make bursts of a voice and of hiss, with pauses between phrases, between stretches of silence."""
    count = round(seconds * RATE)
    seconds_of = np.arange(count) / RATE
    pitch = rng.uniform(100, 200) * np.exp(0.1 * np.sin(2 * np.pi * 0.7 * seconds_of))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    voice = sum(np.cos(n * phase) / n**1.2 for n in range(1, 35))
    high = scipy.signal.butter(2, 2500, "highpass", output="sos", fs=RATE)
    hiss = scipy.signal.sosfilt(high, rng.standard_normal(count)) / 2
    loudness, hissing = np.zeros(count), np.zeros(count)
    now = 0.2
    while now < seconds - 0.5:
        for _ in range(rng.integers(2, 6)):
            last = _burst(loudness, now, rng.uniform(0.12, 0.25), rng.uniform(0.3, 1))
            if rng.random() < 0.4:
                _burst(hissing, last, 0.06, rng.uniform(0.1, 0.5))
            now = last + rng.uniform(0, 0.06)
        now += rng.uniform(0.2, 0.6)
    return voice * loudness + hiss * hissing


def _burst(loudness: np.ndarray, start: float, seconds: float, peak: float) -> float:
    part = loudness[round(start * RATE) : round((start + seconds) * RATE)]
    part[:] = peak * np.hanning(len(part)) ** 0.7
    return start + seconds


def synthesised(number: int) -> np.ndarray:
    """Let one of the demo's voices speak, without noise."""
    speaker = SPEAKERS[number % len(SPEAKERS)]
    rng = generator(SEED, "measured", number)
    chosen = dataclasses.replace(settings(speaker, UNMOVED, rng), floor_db=-300.0)
    return speak(speaker, transcript(speaker, number), chosen, rng, SECONDS[SPEECH])


def noise(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Make noise of one of :data:`KINDS`."""
    white = rng.standard_normal(count)
    if kind == "telephone":
        band = scipy.signal.butter(4, (300, 3400), "bandpass", output="sos", fs=RATE)
        return scipy.signal.sosfilt(band, white)
    if kind == "hum":
        angle = 2 * np.pi * 50 * np.arange(count) / RATE
        return sum(np.sin(n * angle + n) / n for n in range(1, 8)) + 0.1 * white
    if kind == "babble":
        return sum(np.resize(np.roll(syllables(rng), rng.integers(0, RATE)), count) for _ in range(6))
    slope = {"white": 0.0, "pink": 0.5, "rumble": 1.0}[kind]
    frequencies = np.fft.rfftfreq(count, 1 / RATE)
    spectrum = np.fft.rfft(white) * np.maximum(frequencies, 20) ** -slope
    spectrum[frequencies < 20] = 0
    return np.fft.irfft(spectrum, count)


def mixed(speech: np.ndarray, added: np.ndarray, ratio: float) -> np.ndarray:
    """Add noise at a signal-to-noise ratio in dB."""
    scale = np.sqrt(np.mean(speech**2) / np.mean(added**2)) * 10 ** (-ratio / 20)
    return (speech + added * scale).astype(np.float32)


def digits(count: int) -> list[np.ndarray]:
    """Read the recordings with the least noise; empty without recordings of people."""
    folder = os.environ.get("SOUNDCHECK_SPEECH")
    if not folder:
        return []
    table = pd.read_csv(Path(folder) / "segments.csv", dtype=str)
    signals = [audio.read(Path(folder) / file) for file in table["file"][table["speaker"].eq(QUIET[0])]]
    return [signal for signal in signals if MEASURES["signal_to_noise"](signal, RATE) > QUIET[1]][:count]


def study(speech: Mapping[str, list[np.ndarray]]) -> pd.DataFrame:
    """Add noise of each kind at each ratio, and estimate the ratio."""
    rows = []
    for kind_of_speech, signals in speech.items():
        for kind in KINDS:
            for ratio in RATIOS:
                errors = []
                for number, signal in enumerate(signals):
                    rng = generator(SEED, "measured", kind_of_speech, kind, number)
                    heard = mixed(signal, noise(kind, len(signal), rng), ratio)
                    errors.append(MEASURES["signal_to_noise"](heard, RATE) - ratio)
                errors = np.array(errors)
                row = {"speech": kind_of_speech, "noise": kind, "ratio": ratio, "signals": len(errors)}
                row |= {"error": np.nanmean(errors).round(2), "spread": np.nanstd(errors).round(2)}
                rows.append(row | {"within_1_dB": np.mean(np.abs(errors) < 1).round(2)})
    return pd.DataFrame(rows)


def seconds_an_hour(measure: Callable, signals: list[np.ndarray]) -> float:
    """Say how many seconds a measure takes for an hour of such segments; none is the one it saw last."""
    times = []
    for signal in signals:
        start = time.process_time()  # others may keep the machine busy
        measure(signal, RATE)
        times.append(time.process_time() - start)
    return 3600 * min(times) / (len(signals[0]) / RATE)


def main() -> None:
    """Run the study; with the full number of signals, record it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SIGNALS
    made = [syllables(generator(SEED, "measured", "syllables", n)) for n in range(count)]
    timed = [syllables(generator(SEED, "measured", "timed", n)) for n in range(5)]
    costs = {name: seconds_an_hour(function, timed) for name, function in MEASURES.items()}
    print(pd.Series(costs).round(1).rename("seconds for an hour of sound").to_string())
    people = digits(count)
    speech = {"syllables": made, "synthesised": [synthesised(n) for n in range(count)]}
    table = study(speech | ({"digits": people} if people else {}))
    print(table.to_string(index=False))
    if count == SIGNALS and people:
        about = "Estimated minus true signal-to-noise ratio in dB, noise added to clean speech"
        versions = f"seed {SEED}; NumPy {np.__version__}; {datetime.date.today()}"
        head = f"# {about}\n# SOUNDCHECK_SPEECH=FOLDER python benchmarks/measured.py\n# {versions}\n"
        TABLE.write_text(head + table.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
    known = table[table["speech"].eq("syllables") & table["noise"].isin(STEADY)]
    if (known["error"].abs() >= 1).any():
        sys.exit("off: an estimate is 1 dB from the truth")
    if max(costs.values()) > 36:
        sys.exit("off: a measure is slower than 100 times real time")
    print("all within the bars")


if __name__ == "__main__":
    main()
