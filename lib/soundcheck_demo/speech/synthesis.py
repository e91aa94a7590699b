"""Speaks the segments of demo speakers with Praat's built-in synthesiser, and writes them.

Run as a program, ``python -m soundcheck_demo.speech.synthesis FOLDER JOBS``, because the synthesiser
remembers: the flutter of its pitch goes on from one utterance to the next. Only in a process of its own does
a speaker sound the same however many speakers are made beside it. For the same reason the segments of a
speaker are made in order, without gaps. Standard input holds the speakers as a JSON list, each a name with
the number of its first segments or with texts to speak instead. The program has loaded everything and spoken
nothing when it forks a process for each of them, JOBS at a time.

Conventions
-----------
Signals are float64, shape ``(samples,)``, at 16 kHz; levels in dB relative to full scale are root mean
squares.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import scipy  # scipy.fft, loaded when first used, takes half of the time of NumPy's where lengths are prime
from parselmouth.praat import call

from soundcheck.common.seeds import generator
from soundcheck.corpora import audio
from soundcheck_demo.speech import texts
from soundcheck_demo.speech.voices import (
    BY_NAME,
    COMMANDS,
    SPEECH,
    TEXTS,
    UNMOVED,
    Settings,
    Speaker,
    draw,
    settings,
)

SAMPLING_RATE = 16000
SECONDS = {SPEECH: (1.6, 3.9), TEXTS: (1.6, 3.9), COMMANDS: (1.0, 3.5)}  # that a segment of a part may last
PEAK = 0.8  # leaves room for changes of the level
PAUSE = 0.1  # seconds of pause before and after the words
FADE = 0.01  # seconds
REFERENCE_HERTZ = 1000.0  # the spectral slope turns around it
# Praat's pitch factor does not move the pitch in proportion: its logarithm counts 0.75.
PITCH_EXPONENT = 0.75


def transcript(speaker: Speaker, number: int) -> str:
    """Choose the sentence of a speaker's segment; each round through the script has an order of its own.

    Readers read their texts in order, commands come from a grammar.
    """
    if speaker.part == COMMANDS:
        return texts.draw_command(speaker, number)
    if speaker.part == TEXTS:
        return texts.SENTENCES[speaker.language][texts.place(speaker.name, number)]
    lines = texts.SCRIPT[speaker.split]
    round_, place = divmod(number, len(lines))
    return lines[generator(0, "demo", speaker.name, "script", round_).permutation(len(lines))[place]]


def file_name(speaker: Speaker, number: int) -> str:
    """Name a segment's file, relative to the corpus."""
    return f"audio/{speaker.name}/{speaker.name}_{number:03d}.wav"


def speak(
    speaker: Speaker,
    text: str,
    chosen: Settings,
    rng: np.random.Generator,
    seconds: tuple[float, float] | None = None,
) -> np.ndarray:
    """Speak a text; the peak of the signal is at most 0.8.

    - ``seconds``: shortest and longest duration; the rate is changed until it fits, else RuntimeError.
    """
    words_per_minute = chosen.words_per_minute
    shortest, longest = seconds or (0.0, np.inf)
    for _ in range(6):
        signal = _synthesise(speaker, text, chosen, words_per_minute)
        loud = np.flatnonzero(np.abs(signal) > 0.01 * np.abs(signal).max())
        signal = signal[loud[0] : loud[-1] + 1]
        duration = len(signal) * chosen.tract / SAMPLING_RATE + 2 * PAUSE
        if shortest <= duration <= longest:
            break
        words_per_minute *= 1.1 if duration > longest else 0.9
    else:
        raise RuntimeError(f"{speaker.name}: {text!r} takes {duration:.2f} s at any rate tried")
    signal = _colour(signal, chosen.tract, chosen.tilt_db)
    signal = signal + _breath(signal, chosen.breath_db, rng)
    signal = signal * (10 ** (chosen.level_db / 20) / level(signal))
    margin = round(PAUSE * SAMPLING_RATE)
    signal = np.pad(signal, margin)
    noise = rng.standard_normal(len(signal))
    signal = signal + noise * (10 ** ((chosen.level_db + chosen.floor_db) / 20))
    fade = np.sin(np.linspace(0, np.pi / 2, round(FADE * SAMPLING_RATE))) ** 2
    signal[: len(fade)] *= fade
    signal[-len(fade) :] *= fade[::-1]
    return signal * min(1.0, PEAK / np.abs(signal).max())


def _synthesise(speaker: Speaker, text: str, chosen: Settings, words_per_minute: float) -> np.ndarray:
    # A shorter vocal tract is made by playing faster; pitch and rate are lowered beforehand for that.
    pitch = 2 ** (chosen.semitones / 12 / PITCH_EXPONENT) * chosen.tract ** (1 / PITCH_EXPONENT)
    synthesiser = call("Create SpeechSynthesizer", speaker.rules, speaker.voice)
    call(
        synthesiser,
        "Speech output settings",
        SAMPLING_RATE,
        chosen.word_gap,
        float(np.clip(pitch, 0.5, 2.0)),
        chosen.range_factor,
        float(np.clip(words_per_minute * chosen.tract, 80, 450)),
        "IPA",
    )
    spoken = call(synthesiser, "To Sound", text, "no")
    sound = spoken[0] if isinstance(spoken, list) else spoken
    return sound.values[0]


def _colour(signal: np.ndarray, tract: float, tilt_db: float) -> np.ndarray:
    """Scale the vocal tract and tilt the spectrum, both on the whole signal's spectrum."""
    length = round(len(signal) * tract)
    spectrum = scipy.fft.rfft(signal)
    bins = length // 2 + 1
    stretched = np.zeros(bins, dtype=complex)
    filled = min(bins, len(spectrum))
    stretched[:filled] = spectrum[:filled]
    hertz = np.linspace(0, SAMPLING_RATE / 2, bins)
    octaves = np.log2(np.clip(hertz, 100, 8000) / REFERENCE_HERTZ)
    return scipy.fft.irfft(stretched * 10 ** (tilt_db * octaves / 20), length) * (length / len(signal))


def _breath(signal: np.ndarray, level_db: float, rng: np.random.Generator) -> np.ndarray:
    """Make noise that follows the loudness of the voice; a difference filter brightens it."""
    window = np.hanning(round(0.03 * SAMPLING_RATE))
    envelope = np.sqrt(np.maximum(_smoothed(signal**2, window / window.sum()), 0))
    noise = np.diff(rng.standard_normal(len(signal) + 1)) * envelope
    return noise * (level(signal) * 10 ** (level_db / 20) / level(noise))


def _smoothed(values: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Convolve as ``np.convolve`` with mode "same", by spectra."""
    size = scipy.fft.next_fast_len(len(values) + len(window) - 1, real=True)
    product = scipy.fft.rfft(values, size) * scipy.fft.rfft(window, size)
    return scipy.fft.irfft(product, size)[(len(window) - 1) // 2 :][: len(values)]


def level(signal: np.ndarray) -> float:
    """Compute the root mean square."""
    return float(np.sqrt(np.mean(signal**2)))


def write(folder: Path, speaker: Speaker, said: int | Sequence[str]) -> None:
    """Write the first segments of a speaker, or given texts without emotion, below a folder: 16-bit WAV.

    The speaker's own folder must exist: if it is gone, nobody waits for the result any more. Call this once
    in a process, before anything else is synthesised there.
    """
    from_corpus = isinstance(said, int)
    for number in range(said if from_corpus else len(said)):
        text = transcript(speaker, number) if from_corpus else said[number]
        rng = generator(0, "demo", *([] if from_corpus else ["texts"]), speaker.name, number)
        shows = draw(speaker, number).expressed if from_corpus and speaker.part == SPEECH else UNMOVED
        seconds = SECONDS[speaker.part] if from_corpus else None
        signal = speak(speaker, text, settings(speaker, shows, rng), rng, seconds)
        audio.write(folder / file_name(speaker, number), signal.astype(np.float32), SAMPLING_RATE)


def write_forked(folder: Path, wanted: Sequence[tuple[str, int | list[str]]], jobs: int) -> int:
    """Write several speakers, each in a fork of this process, in which nothing must have been spoken.

    Tells on standard output who is finished, a name a line, and with a reason behind the name who failed;
    then no other speaker is begun. Ends when nobody listens any more. Gives the exit code: 1 if one failed.
    """
    importlib.import_module("scipy.fft")  # once, and not in each of them
    waiting, running, failed = list(wanted)[::-1], {}, 0
    while running or (waiting and not failed):
        while waiting and not failed and len(running) < jobs:
            name, said = waiting.pop()
            child = os.fork()
            if not child:
                _be_child(folder, name, said)
            running[child] = name
        child, status = os.wait()
        name, code = running.pop(child), os.waitstatus_to_exitcode(status)
        if code < 0:  # others have told their reason
            print(name, f"exit code {code}", flush=True)
        elif not code:
            print(name, flush=True)
        failed |= bool(code)
    return failed


def _be_child(folder: Path, name: str, said: int | list[str]) -> NoReturn:
    """Write a speaker and end; what the parent has registered for its own end is not done here."""
    code = 1
    try:
        write(folder, BY_NAME[name], said)
        code = 0
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(sys.stdout.fileno(), f"{name} {reason}\n".encode("utf-8", "replace"))
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(write_forked(Path(sys.argv[1]), json.load(sys.stdin), int(sys.argv[2])))
