"""Makes the sound material of suites that name none, once, and keeps it in the cache.

Conventions
-----------
One folder a kind of sound with 16-bit WAV files at 16 kHz, peak 0.7; every sound is drawn by a generator of
its own, so it does not depend on the others. The folder's name carries a fingerprint of the code and the
libraries that make the sounds.
"""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from soundcheck.augment import recordings
from soundcheck.common import seeds, store
from soundcheck.common.files import digest, write_text
from soundcheck.corpora import audio
from soundcheck_demo.sounds import rooms, synthesised
from soundcheck_demo.speech import corpus as demo
from soundcheck_demo.speech import texts
from soundcheck_demo.speech.voices import READERS

PEAK = 0.7
VOICES = 12
SENTENCES = 5  # that a voice of the babble reads
COUGHS, SNEEZES, PIECES, TAKES = 16, 12, 8, 2

SOURCES = {
    "babble": "synthesised: readers of the demo corpus, with Praat's synthesiser",
    "coughing": "synthesised: bursts of shaped noise",
    "environmental": "synthesised: telephone signals, weather, footsteps, an engine, paper, animals",
    "music": "synthesised: chords, melody, bass and drums",
    "other_language": "synthesised: voices of the babble in seven languages, English not among them",
    "positions": "computed: image sources in a room of 6.6 × 5.9 × 2.9 m, microphones at 1 to 3 m",
    "rooms": "computed: image sources in a booth, an office, a meeting room, a lecture room and a stairway",
    "sneezing": "synthesised: bursts of shaped noise",
}


def build(cache: Path, *, jobs: int = 1, progress: bool = False) -> Path:
    """Find the synthesised sounds in the cache, or make them; gives a folder with a folder for each kind.

    Raises OutputError: if the cache cannot be written.
    """
    folder = Path(cache) / f"sounds-{fingerprint()}"
    return store.folder(folder, lambda draft: _make(draft, jobs, progress), "the synthesised sounds")


def fingerprint() -> str:
    """Hash everything that decides the sounds: their code and the libraries that make them."""
    versions = [importlib.metadata.version(name) for name in ("numpy", "scipy", "pyroomacoustics")]
    sources = [digest(path) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return digest(json.dumps([demo.fingerprint("full", "texts"), versions, sources]))[:16]


def _make(folder: Path, jobs: int, progress: bool) -> None:
    read = [(voice, list(texts.SENTENCES[voice.language][:SENTENCES])) for voice in _voices()]
    with concurrent.futures.ThreadPoolExecutor(1) as beside:  # speech is made by other processes
        spoken = beside.submit(
            demo.write_speakers, folder, read, max(1, jobs - 1), progress, "voices of babble"
        )
        _compute(folder)
        spoken.result()
    _join_voices(folder)


def _compute(folder: Path) -> None:
    """Write all sounds but the babble."""
    import pyroomacoustics  # late: takes a second, and sounds are made once

    _draw(folder / "coughing", "cough", COUGHS, synthesised.cough)
    _draw(folder / "sneezing", "sneeze", SNEEZES, synthesised.sneeze)
    _draw(folder / "music", "piece", PIECES, synthesised.music)
    for name, scene in synthesised.SCENES.items():
        _draw(folder / "environmental", name, TAKES, scene)
    # The image sources are found with as many threads as there are cores unless told otherwise.
    pyroomacoustics.constants.set("num_threads", 1)
    for kind, measured in (("rooms", rooms.rooms()), ("positions", rooms.positions())):
        rows = ["file,label,distance"]
        for (label, distance), signal in measured.items():
            name = f"{label} {distance} m"
            rows.append(f"{name}.wav,{name if kind == 'positions' else label},{distance}")
            _write(folder / kind / f"{name}.wav", signal)
        write_text(folder / kind / recordings.TABLE, "\n".join(rows) + "\n")


def _voices() -> list:
    """Choose readers of as many languages as there are, women and men alike."""
    step = len(READERS) / VOICES
    pairs = [int(n * step) // 2 * 2 for n in range(VOICES)]  # a woman and a man
    return [READERS[pair + n % 2] for n, pair in enumerate(pairs)]


def _join_voices(folder: Path) -> None:
    """Make one sound of all sentences of a voice; those in other languages than English stand by language."""
    languages = {voice.name: voice.language for voice in _voices()}
    for voice in sorted((folder / "audio").iterdir()):
        spoken = [audio.read(path) for path in sorted(voice.glob("*.wav"))]
        _write(folder / "babble" / f"{voice.name}.wav", np.concatenate(spoken))
        if (language := languages[voice.name]) != "en":
            _write(folder / "other_language" / language / f"{voice.name}.wav", np.concatenate(spoken))
    shutil.rmtree(folder / "audio")


def _draw(folder: Path, name: str, count: int, make: Callable[[np.random.Generator], np.ndarray]) -> None:
    for number in range(1, count + 1):
        signal = make(seeds.generator(0, "sounds", name, number))
        _write(folder / f"{name}_{number:02d}.wav", signal)


def _write(path: Path, signal: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    audio.write(path, (PEAK * signal / np.abs(signal).max()).astype(np.float32), audio.SAMPLING_RATE)
