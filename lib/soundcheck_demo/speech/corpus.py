"""Builds the demo corpus: synthetic speech with known emotion, made on first use, kept in the cache.

The corpus is a folder with ``segments.csv`` and 16-bit mono WAV files at 16 kHz. Its name carries a
fingerprint of everything that decides its content; it appears complete or not at all, and an incomplete
one (cut or missing files) is made again.

Conventions
-----------
Columns: file, speaker, sex, language, accent, split, transcript, arousal, dominance, valence, emotion. The
dimensions lie between 0 and 1. The part ``texts`` has no accent and no labels but the column sentiment; the
part ``recordings`` neither, but the columns item and condition; the part ``commands`` has an accent but no
labels; the part ``monologues`` has the columns start and end. The bytes do not depend on the number of jobs.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import parselmouth

from soundcheck.common import seeds, store
from soundcheck.common.errors import SoundcheckError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, write_text
from soundcheck.common.progress import Progress
from soundcheck.corpora import audio
from soundcheck_demo.speech import monologues, texts
from soundcheck_demo.speech.labels import DIMENSIONS, draw
from soundcheck_demo.speech.recordings import CONDITIONS, ITEMS, record
from soundcheck_demo.speech.synthesis import file_name, transcript
from soundcheck_demo.speech.voices import (
    CALLERS,
    COMMANDS,
    MONOLOGUES,
    READERS,
    RECORDINGS,
    SMALL,
    SPEAKERS,
    SPEECH,
    TEXTS,
    Speaker,
)

if TYPE_CHECKING:
    import pandas as pd

PARTS = (SPEECH, TEXTS, RECORDINGS, COMMANDS, MONOLOGUES)
# Segments of a speaker of a split or part at most.
MOST: dict[str, dict[str, int]] = {"full": {}, "small": {"train": 24, "test": 16, COMMANDS: 2}}
TABLE = "segments.csv"


class SynthesisError(SoundcheckError):
    """Praat's synthesiser failed; the text says for whom and why."""


def build(
    cache: Path, *, size: str = "full", part: str = SPEECH, jobs: int = 1, progress: bool = False
) -> Path:
    """Find the demo corpus in the cache, or make it.

    - ``size``: ``"full"`` or ``"small"``; the small one is for quick tests.
    - ``part``: ``"speech"``, ``"texts"``, ``"recordings"``, ``"commands"`` or ``"monologues"``.
    - ``jobs``: speakers that are made at the same time.
    - ``progress``: whether to show a progress bar.
    - Returns the folder with ``segments.csv``, below ``cache``.
    - Raises InputError: if there is no such size or part.
    - Raises OutputError: if the cache cannot be written.
    """
    if size not in MOST:
        raise input_error(
            f"demo corpus, size {quoted(size)}", "there is no such size", "Allowed: full, small"
        )
    if part not in PARTS:
        allowed = f"Allowed: {', '.join(PARTS)}"
        raise input_error(f"demo corpus, part {quoted(part)}", "there is no such part", allowed)
    folder = Path(cache) / f"demo-{fingerprint(size, part)}"
    speech = None
    if part in (RECORDINGS, MONOLOGUES):
        speech = build(cache, size=size, jobs=jobs, progress=progress)
    return store.folder(
        folder, lambda draft: _make(draft, size, part, speech, jobs, progress), "the demo corpus"
    )


def first(cache: Path) -> Path:
    """Find the file of the first segment in the cache, or speak that segment alone; all sizes have it.

    Raises OutputError: if the cache cannot be written.
    """
    speaker = speakers("small", SPEECH)[0][0]
    folder = store.folder(
        Path(cache) / f"demo-{fingerprint('first')}",
        lambda draft: write_speakers(draft, [(speaker, 1)], 1, False, ""),
        "the first segment of the demo corpus",
    )
    return folder / file_name(speaker, 0)


def fingerprint(size: str = "full", part: str = SPEECH) -> str:
    """Hash everything that decides the corpus: its code, the libraries that make the signals, its size."""
    return hashed(size, part)


def hashed(*what: object) -> str:
    """Hash what is spoken with all that decides how it sounds: code and data, libraries that speak."""
    own = (path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".csv"))
    versions = [importlib.metadata.version(name) for name in ("praat-parselmouth", "numpy")]
    sources = [digest(path) for path in (Path(seeds.__file__), *sorted(own))]
    return digest(json.dumps([*what, parselmouth.PRAAT_VERSION, versions, sources]))[:16]


def table(size: str = "full", part: str = SPEECH) -> pd.DataFrame:
    """Tabulate the segments with their labels; needs no audio.

    Returns one row a segment, ordered by file.
    """
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    if part == RECORDINGS:
        return _recordings(size)
    if part == MONOLOGUES:
        return monologues.chosen(table(size)).drop(columns="item")
    rows = []
    for speaker, count in speakers(size, part):
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


def speakers(size: str, part: str) -> list[tuple[Speaker, int]]:
    """List the speakers of a corpus, each with its number of segments.

    Those of recordings and monologues are those of speech.
    """
    everybody = {TEXTS: READERS, COMMANDS: CALLERS}.get(part, SPEAKERS)
    most = MOST[size]
    return [
        (
            speaker,
            min(
                speaker.segments, most.get(COMMANDS if part == COMMANDS else speaker.split, speaker.segments)
            ),
        )
        for speaker in everybody
        if size == "full" or speaker.name in SMALL
    ]


def _recordings(size: str) -> pd.DataFrame:
    import pandas as pd

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
    from joblib import Parallel, delayed

    if part == MONOLOGUES:
        segments = monologues.write(draft, speech, monologues.chosen(table(size)))
        write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
        return
    if part == RECORDINGS:
        items = _recordings(size).groupby("item", sort=False)
        Parallel(n_jobs=max(1, jobs), backend="threading")(
            delayed(_record)(draft, speech, rows) for _, rows in items
        )
    else:
        write_speakers(draft, speakers(size, part), jobs, progress, "voices of the demo corpus")
    segments = table(size, part)
    write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))


def _record(draft: Path, speech: Path, rows: pd.DataFrame) -> None:
    """Record one segment under all conditions."""
    for row in rows.itertuples():
        said = audio.read(speech / "audio" / row.speaker / f"{row.item}.wav")
        (draft / row.file).parent.mkdir(parents=True, exist_ok=True)
        heard = record(said, row.condition, row.speaker, row.item)
        audio.write(draft / row.file, heard.astype(np.float32), audio.SAMPLING_RATE)


def write_speakers(
    folder: Path, speakers: Sequence[tuple[Speaker, int | list[str]]], jobs: int, progress: bool, title: str
) -> None:
    """Write segments of some speakers below a folder.

    - ``speakers``: each with the number of the first segments, or with texts to speak instead.
    - ``jobs``: speakers that are made at the same time.
    - ``progress, title``: whether to tell how far it is, and whose voices are heard.
    """
    from joblib import Parallel, delayed

    for speaker, _ in speakers:
        (folder / file_name(speaker, 0)).parent.mkdir(parents=True)
    # One process forks all speakers; where that is not possible, threads wait for a process of each.
    together = [speakers] if hasattr(os, "fork") else [[each] for each in speakers]
    with Progress("speaking", title, len(speakers), shown=progress) as bar:
        Parallel(n_jobs=max(1, jobs), backend="threading")(
            delayed(_synthesise)(folder, some, jobs, bar.update) for some in together
        )


def _synthesise(
    folder: Path,
    speakers: Sequence[tuple[Speaker, int | list[str]]],
    jobs: int = 1,
    finished: Callable[[], object] = lambda: None,
) -> None:
    # A process of its own: see synthesis.py. -P keeps the current folder from shadowing modules.
    command = [sys.executable, "-P", "-m", "soundcheck_demo.speech.synthesis"]
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    waiting, reason = [speaker.name for speaker, _ in speakers], ""
    with subprocess.Popen(
        [*command, str(folder.resolve()), str(max(1, jobs))],
        env={**os.environ, **threads, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        with contextlib.suppress(BrokenPipeError), process.stdin as asked:  # it has ended: it tells why
            json.dump([(speaker.name, said) for speaker, said in speakers], asked)
        for line in process.stdout:
            name, _, problem = line.strip().partition(" ")
            if problem:
                reason = problem if name in waiting else line.strip()
                waiting.sort(key=lambda other, failed=name: other != failed)
            elif name in waiting:
                waiting.remove(name)
                finished()
    if process.returncode:
        why = reason or f"exit code {process.returncode}"
        raise SynthesisError(f"Demo corpus, speaker {waiting[0]}: the synthesis failed: {why}")
