"""Speaks given words inside sentences, to see how a recogniser does on each of them.

The sentences are the probes of :mod:`soundcheck.corpora.demo.commands`, such as "anna says kitchen again".
They are made on first use and kept in the cache, in a folder with ``segments.csv`` and 16-bit mono WAV files
at 16 kHz.

Conventions
-----------
Columns: file, speaker, sex, language, accent, transcript, keyword. Read the table without looking for missing
values: a keyword may be any text, such as ``null``. Files are numbered, their names hold no words. The bytes
do not depend on the number of jobs.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import parselmouth

from soundcheck import seeds
from soundcheck.corpora.demo import commands
from soundcheck.corpora.demo.corpus import TABLE, write_speakers
from soundcheck.corpora.demo.made import made
from soundcheck.corpora.demo.synthesis import file_name
from soundcheck.corpora.demo.voices import BY_NAME
from soundcheck.files import digest, write_text

# Americans and Britons, women and men. Names in the sentences take turns too: in this order every two
# sentences have both accents, and every four all pairs of the speaker's sex and the name's.
SPEAKERS = tuple(BY_NAME[name] for name in ("c01", "c06", "c02", "c05"))


def build(cache: Path, words: Sequence[str], per_word: int, *, jobs: int = 1, progress: bool = False) -> Path:
    """Find sentences around words in the cache, or speak them.

    Parameters
    ----------
    cache
        Folder that keeps them.
    words
        Any texts, best in lower case; what the synthesiser makes of them is not judged.
    per_word
        Sentences around each word, at most 96.
    jobs
        Speakers that are made at the same time, of four.
    progress
        Whether to show a progress bar.

    Returns
    -------
    pathlib.Path
        The folder with ``segments.csv``, below ``cache``: the sentences of the first word, then those of the
        second, and so on.

    Raises
    ------
    OutputError
        If the cache cannot be written.
    SynthesisError
        If the synthesiser fails.
    ValueError
        If there are not so many sentences for a word.
    """
    folder = Path(cache) / f"sentences-{fingerprint(words, per_word)}"
    segments = table(words, per_word)
    return made(folder, lambda draft: _make(draft, segments, jobs, progress), "spoken sentences")


def fingerprint(words: Sequence[str], per_word: int) -> str:
    """Hash everything that decides the sentences: words, number, code and the libraries that speak."""
    sources = [Path(seeds.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
    versions = [parselmouth.PRAAT_VERSION]
    versions += [importlib.metadata.version(name) for name in ("praat-parselmouth", "numpy")]
    return digest(json.dumps([list(words), per_word, versions, [digest(path) for path in sources]]))[:16]


def table(words: Sequence[str], per_word: int) -> pd.DataFrame:
    """Tabulate the sentences; needs no audio.

    Returns
    -------
    pandas.DataFrame
        One row a sentence, word after word.
    """
    columns = ["file", "speaker", "sex", "language", "accent", "transcript", "keyword"]
    rows = []
    spoken = dict.fromkeys(SPEAKERS, 0)
    for word in words:
        word = word.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written
        for n, sentence in enumerate(commands.sentences(word, per_word)):
            speaker = SPEAKERS[n % len(SPEAKERS)]
            file = file_name(speaker, spoken[speaker])
            spoken[speaker] += 1
            known = [speaker.name, speaker.sex, speaker.language, speaker.accent]
            rows.append([file, *known, sentence, word])
    return pd.DataFrame(rows, columns=columns)


def _make(draft: Path, segments: pd.DataFrame, jobs: int, progress: bool) -> None:
    own = [
        (speaker, segments.loc[segments["speaker"].eq(speaker.name), "transcript"]) for speaker in SPEAKERS
    ]
    speakers = [(speaker, texts.tolist()) for speaker, texts in own if len(texts)]
    write_speakers(draft, speakers, jobs, progress, "Spoken words")
    write_text(draft / TABLE, segments.to_csv(index=False, lineterminator="\n"))
