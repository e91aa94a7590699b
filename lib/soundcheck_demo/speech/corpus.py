"""Builds the demo corpus: synthetic speech with known emotion, made on first use, kept in the cache.

The corpus is a folder with ``segments.csv`` and 16-bit mono WAV files at 16 kHz. Its name carries a
fingerprint of everything that decides its content; it appears complete or not at all, and an incomplete
one (cut or missing files) is made again.

Conventions
-----------
Columns: file, speaker, sex, language, accent, split, transcript, arousal, dominance, valence, emotion. The
dimensions lie between 0 and 1. The part ``texts`` has no accent and no labels but the column sentiment; the
part ``recordings`` neither, but the columns item and condition; the part ``commands`` has an accent but no
labels. The bytes do not depend on the number of jobs.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import parselmouth
from joblib import Parallel, delayed
from tqdm import tqdm

from soundcheck.common import seeds, store
from soundcheck.common.errors import SoundcheckError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, write_text
from soundcheck.corpora import audio
from soundcheck_demo.speech import commands, texts
from soundcheck_demo.speech.labels import DIMENSIONS, draw
from soundcheck_demo.speech.recordings import CONDITIONS, ITEMS, record
from soundcheck_demo.speech.synthesis import file_name, transcript
from soundcheck_demo.speech.voices import (
    CALLERS,
    COMMANDS,
    READERS,
    RECORDINGS,
    SMALL,
    SPEAKERS,
    SPEECH,
    TEXTS,
    Speaker,
)

DESCRIPTIONS = {
    SPEECH: (
        "All speech of this corpus is synthetic. Praat's built-in synthesiser reads neutral everyday "
        "sentences with 78 test and 12 training speakers: a voice, the pronunciation rules of a region or "
        "language, and a habitual pitch, rate and vocal tract each. In the test split five women and five "
        "men each speak English as in America, Britain and Scotland and by the rules of French, German and "
        "Spanish, 104 segments an accent, and a woman and a man by those of Italian; two women and two men "
        "each speak French, German, Italian and Spanish. Arousal, dominance and valence are drawn around the "
        "regions of anger, happiness, neutral and sadness; they set pitch, pitch range, rate, loudness, "
        "spectral slope, breathiness and vocal "
        "tract, with errors of expression, and every recording has a gain and a noise floor of its own. So "
        "the labels are known exactly, voices and sentences of the test split do not occur in training, and "
        "the corpus can show that the tests work, how a book reads, and how a model of prosody reacts to "
        "changes of a signal. It cannot show how a model does on people: real emotion, real rooms and real "
        "speakers vary in ways that this corpus does not have, and nobody was asked what they hear."
    ),
    TEXTS: (
        "All speech of this corpus is synthetic. Praat's built-in synthesiser reads sentences of negative, "
        "neutral and positive sentiment in German, English, Spanish, French, Italian, Japanese, Portuguese "
        "and Chinese, six sentences each with a female and a male voice. They say the same in all languages "
        "and are read without emotion, so that only the words differ between sentiments, and only language "
        "and synthesiser between languages. The translations are ours. The corpus shows that the tests "
        "work; it cannot show how a model does on people."
    ),
    RECORDINGS: (
        "All speech of this corpus is synthetic, and so are its recordings: segments of the demo corpus as a "
        "headset, a boundary microphone on a table and a mobile phone would record them at the same time. "
        "Room, filters, compression and noise are computed. The corpus shows that the tests of recording "
        "conditions work; it cannot show how a model does with real microphones."
    ),
    COMMANDS: (
        "All speech of this corpus is synthetic. Praat's built-in synthesiser speaks short commands, such as "
        "turn the kitchen light on, with 40 speakers: two women and two men for each of five native accents "
        "of English (America, Britain, the Caribbean, Lancashire, Scotland) and for English pronounced by "
        "the rules of Dutch, French, German, Italian and Spanish. The same four voices speak all accents, "
        "with small differences of pitch, so that accents differ in their pronunciation only. The commands "
        "come from a small grammar of 49 words, each about equally frequent in every accent, and the "
        "transcripts are exact. They are spoken without emotion and recorded with little noise. Foreign "
        "accents are strong: the synthesiser reads English spelling as if it were the other language. The "
        "corpus shows that the tests of speech recognition work, and what changes of a signal do to a "
        "recogniser; it cannot show how a recogniser does on people."
    ),
}

# Segments a speaker.
COUNTS = {
    "full": {"train": 36, "test": 36, COMMANDS: commands.EACH},
    "small": {"train": 24, "test": 16, COMMANDS: 2},
}
TABLE = "segments.csv"


class SynthesisError(SoundcheckError):
    """Praat's synthesiser failed; the text says for whom and why."""


def build(
    cache: Path, *, size: str = "full", part: str = SPEECH, jobs: int = 1, progress: bool = False
) -> Path:
    """Find the demo corpus in the cache, or make it.

    Parameters
    ----------
    cache
        Folder that keeps it.
    size
        ``"full"`` (1048 test and 432 training segments, or 288 texts, or 1026 recordings, or 240 commands)
        or ``"small"`` (64, 96, 36, 60 or 24; for quick tests).
    part
        ``"speech"``, ``"texts"``, ``"recordings"`` or ``"commands"``.
    jobs
        Speakers that are made at the same time.
    progress
        Whether to show a progress bar.

    Returns
    -------
    pathlib.Path
        The folder with ``segments.csv``, below ``cache``.

    Raises
    ------
    InputError
        If there is no such size or part.
    OutputError
        If the cache cannot be written.
    SynthesisError
        If the synthesiser fails.
    """
    if size not in COUNTS:
        raise input_error(
            f"demo corpus, size {quoted(size)}", "there is no such size", "Allowed: full, small"
        )
    if part not in DESCRIPTIONS:
        allowed = f"Allowed: {', '.join(DESCRIPTIONS)}"
        raise input_error(f"demo corpus, part {quoted(part)}", "there is no such part", allowed)
    folder = Path(cache) / f"demo-{fingerprint(size, part)}"
    speech = None
    if part == RECORDINGS:
        speech = build(cache, size=size, jobs=jobs, progress=progress)
    return store.folder(
        folder, lambda draft: _make(draft, size, part, speech, jobs, progress), "the demo corpus"
    )


def fingerprint(size: str = "full", part: str = SPEECH) -> str:
    """Hash everything that decides the corpus: its code, the libraries that make the signals, its size."""
    sources = [Path(seeds.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
    versions = [parselmouth.PRAAT_VERSION]
    versions += [importlib.metadata.version(name) for name in ("praat-parselmouth", "numpy")]
    content = [size, part, COUNTS[size], versions, [digest(path) for path in sources]]
    return digest(json.dumps(content))[:16]


def table(size: str = "full", part: str = SPEECH) -> pd.DataFrame:
    """Tabulate the segments with their labels; needs no audio.

    Returns
    -------
    pandas.DataFrame
        One row a segment, ordered by file.
    """
    if part == RECORDINGS:
        return _recordings(size)
    rows = []
    for speaker, count in _speakers(size, part):
        for number in range(count):
            row = {
                "file": file_name(speaker, number),
                "speaker": speaker.name,
                "sex": speaker.sex,
                "language": speaker.language,
                "accent": speaker.accent,
                "split": speaker.split,
                "transcript": transcript(speaker, number),
            }
            if part == TEXTS:
                del row["accent"]
                row["sentiment"] = texts.sentiment(texts.place(speaker.name, number))
            elif part == SPEECH:
                label = draw(speaker, number)
                row |= {**dict(zip(DIMENSIONS, label.latent, strict=True)), "emotion": label.emotion}
            rows.append(row)
    return pd.DataFrame(rows)


def _speakers(size: str, part: str) -> list[tuple[Speaker, int]]:
    everybody = {TEXTS: READERS, COMMANDS: CALLERS}.get(part, SPEAKERS)
    chosen = [speaker for speaker in everybody if size == "full" or speaker.name in SMALL]
    return [
        (speaker, speaker.segments or COUNTS[size][COMMANDS if part == COMMANDS else speaker.split])
        for speaker in chosen
    ]


def _recordings(size: str) -> pd.DataFrame:
    speech = table(size)
    speech = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(ITEMS)
    rows = []
    for segment in speech.itertuples():
        item = Path(segment.file).stem
        for condition in CONDITIONS:
            file = f"audio/{segment.speaker}/{item}_{condition}.wav"
            known = {name: getattr(segment, name) for name in ("speaker", "sex", "language", "split")}
            rows.append({"file": file, **known, "transcript": segment.transcript, "item": item})
            rows[-1]["condition"] = condition
    return pd.DataFrame(rows)


def _make(draft: Path, size: str, part: str, speech: Path | None, jobs: int, progress: bool) -> None:
    if part == RECORDINGS:
        for row in _recordings(size).itertuples():
            said = audio.read(speech / "audio" / row.speaker / f"{row.item}.wav")
            (draft / row.file).parent.mkdir(parents=True, exist_ok=True)
            heard = record(said, row.condition, row.speaker, row.item)
            audio.write(draft / row.file, heard.astype(np.float32), audio.SAMPLING_RATE)
    else:
        write_speakers(draft, _speakers(size, part), jobs, progress, "Demo speakers")
    segments = table(size, part)
    write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))


def write_speakers(
    folder: Path, speakers: Sequence[tuple[Speaker, int | list[str]]], jobs: int, progress: bool, title: str
) -> None:
    """Write segments of some speakers below a folder.

    Parameters
    ----------
    folder
        An existing folder.
    speakers
        Each with the number of the first segments, or with texts to speak instead.
    jobs
        Speakers that are made at the same time.
    progress, title
        Whether to show a progress bar, and what it says.

    Raises
    ------
    SynthesisError
        If the synthesiser fails.
    """
    for speaker, _ in speakers:
        (folder / file_name(speaker, 0)).parent.mkdir(parents=True)
    # Threads only wait here; the work happens in the processes that they start.
    running = Parallel(n_jobs=max(1, jobs), backend="threading", return_as="generator")(
        delayed(_synthesise)(folder, speaker, count) for speaker, count in speakers
    )
    for _ in tqdm(running, total=len(speakers), desc=title, disable=None if progress else True):
        pass


def _synthesise(folder: Path, speaker: Speaker, count: int | list[str]) -> None:
    # A process of its own: see synthesis.py. -P keeps the current folder from shadowing modules.
    command = [sys.executable, "-P", "-m", "soundcheck_demo.speech.synthesis"]
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    number, given = ([str(count)], "") if isinstance(count, int) else ([], json.dumps(count))
    done = subprocess.run(
        [*command, str(folder.resolve()), speaker.name, *number],
        env={**os.environ, **threads, "PYTHONPATH": paths},
        input=given,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SynthesisError(f"Demo corpus, speaker {speaker.name}: the synthesis failed: {reason}")
