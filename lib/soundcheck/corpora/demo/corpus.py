"""Builds the demo corpus: synthetic speech with known emotion, made on first use, kept in the cache.

The corpus is a folder with ``segments.csv`` and 16-bit mono WAV files at 16 kHz. Its name carries a
fingerprint of everything that decides its content; it appears complete or not at all, and an incomplete
one (cut or missing files) is made again.

Conventions
-----------
Columns: file, speaker, sex, language, accent, split, transcript, arousal, dominance, valence, emotion. The
dimensions lie between 0 and 1. The part ``texts`` has no accent and no labels but the column sentiment. The
bytes do not depend on the number of jobs.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import parselmouth
from joblib import Parallel, delayed
from tqdm import tqdm

from soundcheck import seeds
from soundcheck.corpora.demo import texts
from soundcheck.corpora.demo.labels import DIMENSIONS, draw
from soundcheck.corpora.demo.once import exclusive
from soundcheck.corpora.demo.synthesis import file_name, transcript
from soundcheck.corpora.demo.voices import READERS, SMALL, SPEAKERS, SPEECH, TEXTS, Speaker
from soundcheck.errors import SoundcheckError, refuse
from soundcheck.escaping import quoted
from soundcheck.files import TEMPORARY, OutputError, digest, write_text

DESCRIPTIONS = {
    SPEECH: (
        "All speech of this corpus is synthetic. Praat's built-in synthesiser reads neutral everyday "
        "sentences with 68 test and 12 training speakers: a voice, the pronunciation rules of a region or "
        "language, and a habitual pitch, rate and vocal tract each. They speak English with native accents "
        "of America, Britain and Scotland, English pronounced by the rules of German, French, Spanish, "
        "Italian, Dutch, Polish, Portuguese, Romanian, Swedish and Turkish, and German, French, Spanish and "
        "Italian. Arousal, dominance and valence are drawn around the regions of anger, happiness, neutral "
        "and sadness; they set pitch, pitch range, rate, loudness, spectral slope, breathiness and vocal "
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
}

COUNTS = {"full": {"train": 36, "test": 36}, "small": {"train": 24, "test": 16}}  # segments a speaker
TABLE = "segments.csv"
MARK = "complete.json"


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
        ``"full"`` (1160 test and 432 training segments, or 288 texts) or ``"small"`` (64, 96 or 36;
        for quick tests).
    part
        ``"speech"`` or ``"texts"``.
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
        raise refuse(f"demo corpus, size {quoted(size)}", "there is no such size", "Allowed: full, small")
    if part not in DESCRIPTIONS:
        raise refuse(f"demo corpus, part {quoted(part)}", "there is no such part", "Allowed: speech, texts")
    folder = Path(cache) / f"demo-{fingerprint(size, part)}"
    try:
        if not _complete(folder):
            with exclusive(folder) as alone:
                if not _complete(folder):
                    if alone:
                        _sweep(folder)
                    _make(folder, size, part, jobs, progress)
    except OSError as error:
        raise OutputError(
            f"Cannot write the demo corpus to {folder.parent.name}: {error.strerror or error}. "
            "Make space or choose another --out, then run again to go on."
        ) from error
    return folder


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
            else:
                label = draw(speaker, number)
                row |= {**dict(zip(DIMENSIONS, label.latent, strict=True)), "emotion": label.emotion}
            rows.append(row)
    return pd.DataFrame(rows)


def _speakers(size: str, part: str) -> list[tuple[Speaker, int]]:
    everybody = READERS if part == TEXTS else SPEAKERS
    chosen = [speaker for speaker in everybody if size == "full" or speaker.name in SMALL]
    return [(speaker, speaker.segments or COUNTS[size][speaker.split]) for speaker in chosen]


def _make(folder: Path, size: str, part: str, jobs: int, progress: bool) -> None:
    draft = Path(tempfile.mkdtemp(prefix=_part_prefix(folder), dir=folder.parent))
    try:
        speakers = _speakers(size, part)
        for speaker, _ in speakers:
            (draft / file_name(speaker, 0)).parent.mkdir(parents=True)
        # Threads only wait here; the work happens in the processes that they start.
        running = Parallel(n_jobs=max(1, jobs), backend="threading", return_as="generator")(
            delayed(_synthesise)(draft, speaker, count) for speaker, count in speakers
        )
        for _ in tqdm(running, total=len(speakers), desc="Demo speakers", disable=None if progress else True):
            pass
        segments = table(size, part)
        write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
        sizes = {name: os.stat(draft / name).st_size for name in segments["file"]}
        write_text(draft / MARK, json.dumps({"table": digest(draft / TABLE), "bytes": sizes}))
        draft.chmod(0o755)
        if folder.is_dir() and not folder.is_symlink():  # incomplete, somebody cut or removed files
            shutil.rmtree(folder)
        elif folder.exists() or folder.is_symlink():
            folder.unlink()
        os.replace(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _part_prefix(folder: Path) -> str:
    return f"{TEMPORARY}{folder.name}-"


def _sweep(folder: Path) -> None:
    """Remove what builds of this corpus left that were killed."""
    for part in folder.parent.glob(f"{_part_prefix(folder)}*"):
        shutil.rmtree(part, ignore_errors=True)


def _synthesise(folder: Path, speaker: Speaker, count: int) -> None:
    # A process of its own: see synthesis.py. -P keeps the current folder from shadowing modules.
    command = [sys.executable, "-P", "-m", "soundcheck.corpora.demo.synthesis"]
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(
        [*command, str(folder.resolve()), speaker.name, str(count)],
        env={**os.environ, **threads, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SynthesisError(f"Demo corpus, speaker {speaker.name}: the synthesis failed: {reason}")


def _complete(folder: Path) -> bool:
    """Tell whether all files are there with their sizes, and the table unchanged."""
    try:
        mark = json.loads((folder / MARK).read_text("utf-8"))
        sizes_fit = all(os.stat(folder / name).st_size == size for name, size in mark["bytes"].items())
        return sizes_fit and digest(folder / TABLE) == mark["table"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
