"""What families want to know of a sound that no table tells: its pitch.

A family asks for a measured column by ``measured:`` in its threshold file. It is computed once for each
sound, whatever models and families look at it, and stands in the segment table like a column of the data.

Conventions
-----------
- Signals are read as models get them: mono, 16 kHz, whole segment.
- What cannot be measured is NaN.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import parselmouth
from joblib import Parallel, delayed
from tqdm import tqdm

from soundcheck.common import files, store
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus

__all__ = ["MEASURES", "mean_pitch", "measure"]


def mean_pitch(signal: np.ndarray, sampling_rate: int) -> float:
    """Mean fundamental frequency of the voiced frames, by Praat's default pitch analysis.

    Parameters
    ----------
    signal
        Shape ``(samples,)``.
    sampling_rate
        In Hz.

    Returns
    -------
    float
        In Hz, rounded to 2 decimals; Praat looks from 75 to 600 Hz. NaN without voiced frame, and for signals
        that are too short to analyse.
    """
    if len(signal) < 3 / 75 * sampling_rate or not np.any(signal):  # three periods of the lowest pitch
        return math.nan
    sound = parselmouth.Sound(np.asarray(signal, dtype=np.float64), sampling_frequency=sampling_rate)
    frequency = sound.to_pitch().selected_array["frequency"]
    voiced = frequency[frequency > 0]
    return round(float(voiced.mean()), 2) if len(voiced) else math.nan


MEASURES: dict[str, Callable[[np.ndarray, int], float]] = {"pitch": mean_pitch}


def measure(
    corpus: Corpus, names: Sequence[str], cache: Path, jobs: int = 1, progress: bool = False
) -> Corpus:
    """Add measured columns to a corpus.

    Parameters
    ----------
    corpus
        Whose segments.
    names
        Names of :data:`MEASURES`; a column that the data bring stays as it is.
    cache
        Folder that keeps what was measured, by the content of the sound.
    jobs
        Processes.
    progress
        Whether to show a progress bar on a terminal.
    """
    table = corpus.segments
    for name in names:
        if name in table.columns:
            continue
        path = cache / "measured" / f"{files.slug(corpus.name)}-{name}.json"
        library = importlib.metadata.version("praat-parselmouth")
        version = files.digest(f"{name} {library} {files.digest(Path(__file__))}")
        known = store.read(path, version) or {}
        todo = table[~table["audio"].isin(known.keys())].drop_duplicates("audio")
        places = zip(todo["file"], todo["start"], todo["end"], strict=True)
        running = Parallel(n_jobs=min(jobs, max(1, len(todo) // 50 + 1)), return_as="generator")(
            delayed(_measure_one)(name, corpus.root / file, start, end) for file, start, end in places
        )
        title = f"{name} of {corpus.name[:20]}"
        bar = tqdm(running, total=len(todo), desc=title, unit="", disable=None if progress else True)
        known |= {key: None if math.isnan(v) else v for key, v in zip(todo["audio"], bar, strict=True)}
        if len(todo):
            store.write(path, {key: known[key] for key in table["audio"]}, version)
        table = table.assign(**{name: table["audio"].map(known).astype(np.float64)})
    return dataclasses.replace(corpus, segments=table)


def _measure_one(name: str, path: Path, start: float, end: float) -> float:
    return MEASURES[name](audio.read(path, start, end), audio.SAMPLING_RATE)
