"""Corpora made of the demo speech: three microphones at the same time, and segments one after the other.

- *Recordings*: a headset records what was said; a boundary microphone on a table hears the room, less of the
  high frequencies and more noise; a mobile phone cuts the band, presses the loud parts and hisses. All of it
  is computed; a speaker's room is the same for all items.
- *Monologues*, for tests of what changes in time: half of the speakers say their segments in the order in
  which they were drawn and jump from one emotion to the next; the others begin with the least aroused one and
  end with the most. The samples of a segment are those of its own file.

Conventions
-----------
Signals are ``(samples,)`` at 16 kHz, all conditions of an item equally long. Tables have a row a segment; the
folder of the speech holds the files that its table names.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.common.seeds import generator
from soundcheck.corpora import audio

if TYPE_CHECKING:
    import pandas as pd

CONDITIONS = ("boundary", "headset", "mobile")
ITEMS = 5  # recorded segments of each speaker
RATE = 16000
REVERBERATION = 0.4  # seconds in which the sound of the room falls by 60 dB
DIRECT_DB = 3.0  # level of the direct sound above that of the room at the boundary microphone
NOISE_DB = {"boundary": -38.0, "headset": -60.0, "mobile": -45.0}  # relative to the speech
PEAK = 0.8

SEGMENTS = 5  # of each monologue
PAUSE = (0.3, 1.2)  # seconds of digital silence between two of them


def recordings(speech: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the first test segments of each speaker under all conditions."""
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    test = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(ITEMS)
    table = test[["file", "speaker", "sex", "language", "split", "transcript"]]
    table = table.merge(pd.Series(CONDITIONS, name="condition"), how="cross")
    table.insert(len(table.columns) - 1, "item", [Path(file).stem for file in table["file"]])
    names = zip(table["speaker"], table["item"], table["condition"], strict=True)
    return table.assign(
        file=[f"audio/{speaker}/{item}_{condition}.wav" for speaker, item, condition in names]
    )


def write_recordings(folder: Path, speech: Path, table: pd.DataFrame) -> None:
    """Record segments under their conditions."""
    for row in table.itertuples():
        said = audio.read(speech / "audio" / row.speaker / f"{row.item}.wav")
        (folder / row.file).parent.mkdir(parents=True, exist_ok=True)
        recorded = record(said, row.condition, row.speaker, row.item)
        audio.write(folder / row.file, recorded.astype(np.float32), RATE)


def record(signal: np.ndarray, condition: str, speaker: str, item: str) -> np.ndarray:
    """Record a signal under a condition; speaker and item decide the room and the noise.

    The peak of the result is at most 0.8.
    """
    signal = np.asarray(signal, dtype=np.float64)
    recorded = {"boundary": _boundary, "headset": lambda x, _: x, "mobile": _mobile}[condition](
        signal, speaker
    )
    recorded = recorded * (_level(signal) / _level(recorded))
    noise = generator(0, "recordings", condition, item).standard_normal(len(recorded))
    recorded = recorded + _level(signal) * 10 ** (NOISE_DB[condition] / 20) * noise
    return recorded * min(1.0, PEAK / np.abs(recorded).max())


def _boundary(signal: np.ndarray, speaker: str) -> np.ndarray:
    rng = generator(0, "recordings", "room", speaker)
    time = np.arange(round(REVERBERATION * RATE)) / RATE
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / REVERBERATION)
    tail[: round(0.004 * RATE)] = 0  # the first reflection comes later than the direct sound
    tail *= 10 ** (-DIRECT_DB / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1
    reverberant = scipy.signal.oaconvolve(signal, tail)[: len(signal)]
    low = scipy.signal.butter(1, 4500, "lowpass", output="sos", fs=RATE)
    return scipy.signal.sosfilt(low, reverberant)


def _mobile(signal: np.ndarray, speaker: str) -> np.ndarray:
    band = scipy.signal.butter(2, (200, 5500), "bandpass", output="sos", fs=RATE)
    filtered = scipy.signal.sosfilt(band, signal)
    return np.tanh(2.5 * filtered / np.abs(filtered).max())


def _level(signal: np.ndarray) -> float:
    return float(np.sqrt(np.mean(signal**2)))


def monologues(speech: pd.DataFrame) -> pd.DataFrame:
    """Choose half of the test speakers, as many women as men, and put their segments in order.

    The files of the speech become the column ``item``.
    """
    import pandas as pd

    test = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(SEGMENTS)
    parts = []
    for number, (name, segments) in enumerate(test.groupby("speaker", sort=False)):
        pair, second = divmod(number // 2, 2)  # a woman and a man follow each other
        if not second:
            order = segments.sort_values("arousal", kind="stable") if pair % 2 else segments
            parts.append(order.assign(item=order["file"], file=f"audio/{name}.wav"))
    return pd.concat(parts, ignore_index=True)


def write_monologues(folder: Path, speech: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Write the files; gives the segments with ``start`` and ``end`` as text, in seconds."""
    (folder / "audio").mkdir()
    times = []
    for file, segments in table.groupby("file", sort=False):
        rng, pieces, place = generator(0, "monologues", file), [], 0
        for item in segments["item"]:
            pause = round(RATE * rng.uniform(*PAUSE)) if pieces else 0
            said = audio.read(speech / item)
            pieces += [np.zeros(pause, dtype=np.float32), said]
            times.append([place + pause, place + pause + len(said)])
            place = times[-1][1]
        audio.write(folder / file, np.concatenate(pieces), RATE)
    # A sample lasts 0.0000625 s: seven digits are exact.
    start, end = zip(*([f"{samples / RATE:.7f}" for samples in pair] for pair in times), strict=True)
    table = table.drop(columns="item")
    table.insert(1, "start", start)
    table.insert(2, "end", end)
    return table
