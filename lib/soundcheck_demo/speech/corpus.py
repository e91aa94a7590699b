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
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import parselmouth

from soundcheck.common import seeds, store
from soundcheck.common.errors import SoundcheckError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, write_text
from soundcheck.common.progress import Progress
from soundcheck_demo.speech import derived, texts
from soundcheck_demo.speech.emotions import DIMENSIONS, draw
from soundcheck_demo.speech.synthesis import file_name, transcript
from soundcheck_demo.speech.voices import (
    CALLERS,
    COMMANDS,
    MONOLOGUES,
    READERS,
    RECORDINGS,
    SPEAKERS,
    SPEECH,
    TEXTS,
    Speaker,
)

if TYPE_CHECKING:
    import pandas as pd

PARTS = (SPEECH, TEXTS, RECORDINGS, COMMANDS, MONOLOGUES)
SIZES = ("full", "small")
TABLE = "segments.csv"


class SynthesisError(SoundcheckError):
    """Praat's synthesiser failed; the text says for whom and why."""


def build(
    cache: Path, *, size: str = "full", part: str = SPEECH, jobs: int = 1, progress: bool = False
) -> Path:
    """Find the demo corpus in the cache, or make it; gives the folder with ``segments.csv``.

    - ``size``: one of :data:`SIZES`; the small one is for quick tests.
    - ``part``: one of :data:`PARTS`.
    - ``jobs``: speakers that are made at the same time.
    - Raises InputError: if there is no such size or part.
    - Raises OutputError: if the cache cannot be written.
    """
    for name, value, allowed in (("size", size, SIZES), ("part", part, PARTS)):
        if value not in allowed:
            where, what = f"demo corpus, {name} {quoted(value)}", f"there is no such {name}"
            raise input_error(where, what, f"Allowed: {', '.join(allowed)}")
    speech = None
    if part in (RECORDINGS, MONOLOGUES):
        speech = build(cache, size=size, jobs=jobs, progress=progress)

    def make(draft: Path) -> None:
        segments = table(size, part)
        if part == MONOLOGUES:
            segments = derived.write_monologues(draft, speech, derived.monologues(table(size)))
        elif part == RECORDINGS:
            derived.write_recordings(draft, speech, segments)
        else:
            write_speakers(draft, speakers(size, part), jobs, progress, "voices of the demo corpus")
        write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))

    return store.folder(Path(cache) / f"demo-{fingerprint(size, part)}", make, "the demo corpus")


def first(cache: Path) -> Path:
    """Find the file of the first segment in the cache, or speak that segment alone; all sizes have it.

    Raises OutputError: if the cache cannot be written.
    """
    folder = store.folder(
        Path(cache) / f"demo-{fingerprint('first')}",
        lambda draft: write_speakers(draft, [(SPEAKERS[0], 1)]),
        "the first segment of the demo corpus",
    )
    return folder / file_name(SPEAKERS[0], 0)


def fingerprint(*what: object) -> str:
    """Hash what is spoken with all that decides how it sounds: code and data, libraries that speak."""
    data = (path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".csv", ".toml"))
    versions = [importlib.metadata.version(name) for name in ("praat-parselmouth", "numpy")]
    sources = [digest(path) for path in (Path(seeds.__file__), *sorted(data))]
    return digest(json.dumps([*what, parselmouth.PRAAT_VERSION, versions, sources]))[:16]


def table(size: str = "full", part: str = SPEECH) -> pd.DataFrame:
    """Tabulate the segments with their labels, ordered by file; needs no audio."""
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    if part == RECORDINGS:
        return derived.recordings(table(size))
    if part == MONOLOGUES:
        return derived.monologues(table(size)).drop(columns="item")
    rows = []
    for speaker, count in speakers(size, part):
        about = {key: getattr(speaker, key) for key in ("sex", "language", "accent", "split")}
        for number in range(count):
            row = {"file": file_name(speaker, number), "speaker": speaker.name, **about}
            row["transcript"] = transcript(speaker, number)
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
    group = {TEXTS: READERS, COMMANDS: CALLERS}.get(part, SPEAKERS)
    counted = [(speaker, speaker.segments if size == "full" else speaker.small) for speaker in group]
    return [(speaker, count) for speaker, count in counted if count]


def write_speakers(
    folder: Path,
    speakers: Sequence[tuple[Speaker, int | list[str]]],
    jobs: int = 1,
    progress: bool = False,
    title: str = "",
) -> None:
    """Write segments of some speakers below a folder, in a process of its own: see synthesis.py.

    - ``speakers``: each with the number of the first segments, or with texts to speak instead.
    - ``jobs``: speakers that are made at the same time.
    - ``title``: whose voices progress is shown of.
    - Raises SynthesisError: naming the speaker that failed.
    """
    for speaker, _ in speakers:
        (folder / file_name(speaker, 0)).parent.mkdir(parents=True, exist_ok=True)
    # -P keeps the current folder from shadowing modules.
    command = [sys.executable, "-P", "-m", "soundcheck_demo.speech.synthesis"]
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    waiting, reason = [speaker.name for speaker, _ in speakers], ""
    process = subprocess.Popen(
        [*command, str(folder.resolve()), str(max(1, jobs))],
        env={**os.environ, **threads, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    with process, Progress("speaking", title, len(speakers), visible=progress) as bar:
        with contextlib.suppress(BrokenPipeError), process.stdin as requests:  # it has ended: it tells why
            json.dump([(speaker.name, said) for speaker, said in speakers], requests)
        for line in process.stdout:
            name, _, problem = line.strip().partition(" ")
            if problem:
                reason = problem if name in waiting else line.strip()
                waiting.sort(key=lambda other, failed=name: other != failed)
            elif name in waiting:
                waiting.remove(name)
                bar.update()
    if process.returncode:
        why = reason or f"exit code {process.returncode}"
        raise SynthesisError(f"Demo corpus, speaker {waiting[0]}: the synthesis failed: {why}")
