"""Speaks given words inside sentences, to see how a recogniser does on each of them.

The sentences are the probes of :mod:`soundcheck_demo.speech.texts`, such as "anna says the word kitchen
again". Words come in kinds, and each kind gets as many sentences, by the same voices. They are made on first
use and kept in the cache, in a folder with ``segments.csv`` and 16-bit mono WAV files at 16 kHz.

Conventions
-----------
Columns: file, speaker, sex, language, accent, transcript, keyword. Read the table without looking for missing
values: a keyword may be any text, such as ``null``. Files are numbered, their names hold no words. The bytes
do not depend on the number of jobs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import store
from soundcheck.common.files import write_text
from soundcheck_demo.speech import corpus, texts
from soundcheck_demo.speech.synthesis import file_name
from soundcheck_demo.speech.voices import BY_NAME

# Americans and Britons, women and men. Names in the sentences take turns too: in this order every two
# sentences have both accents, and every four all pairs of the speaker's sex and the name's.
SPEAKERS = tuple(BY_NAME[name] for name in ("c01", "c12", "c02", "c11"))

LONGEST = 30  # letters of a word


def obstacle(word: str) -> str:
    """Say why a word of a transcript cannot be tested in spoken sentences; empty if it can.

    English voices read plain letters, with apostrophes inside of words. What they make of anything else is
    not what a recogniser would write.

    >>> obstacle("don't"), obstacle("42"), obstacle("ποῦ")
    ('', 'it holds digits', 'it holds letters that are not English')
    """
    if any(character.isdigit() for character in word):
        return "it holds digits"
    if any(character.isalpha() and not character.isascii() for character in word):
        return "it holds letters that are not English"
    if not re.fullmatch(r"[a-z]+(['’][a-z]+)*", word, re.IGNORECASE):
        return "it holds signs that cannot be spoken"
    if len(word) == 1 and word.lower() not in ("a", "i", "o"):
        return "a single letter is written in many ways"
    return f"it has more than {LONGEST} letters" if len(word) > LONGEST else ""


def build(
    cache: Path,
    kinds: Mapping[str, Sequence[str]],
    count: int,
    *,
    jobs: int = 1,
    progress: bool = False,
    **chosen: object,
) -> Path:
    """Find sentences around words in the cache, or speak them; gives the folder with ``segments.csv``.

    - ``kinds, count, chosen``: what :func:`table` takes.
    - ``jobs``: speakers that are made at the same time, of four.
    - Raises OutputError: if the cache cannot be written.
    """
    segments = table(kinds, count, **chosen)

    def make(draft: Path) -> None:
        lines = {
            speaker: segments.loc[segments["speaker"] == speaker.name, "transcript"] for speaker in SPEAKERS
        }
        spoken = [(speaker, said.tolist()) for speaker, said in lines.items() if len(said)]
        corpus.write_speakers(draft, spoken, jobs, progress, "voices of words in sentences")
        write_text(draft / corpus.TABLE, segments.to_csv(index=False, lineterminator="\n"))

    key = corpus.fingerprint(segments.to_numpy(dtype=object).tolist())
    return store.folder(Path(cache) / f"sentences-{key}", make, "spoken sentences")


def table(
    kinds: Mapping[str, Sequence[str]],
    count: int,
    *,
    seed: int = 0,
    complements: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Tabulate the sentences, those of the first word, then those of the second, and so on; needs no audio.

    - ``kinds``: kind of word -> words. Any texts, best in lower case; what the synthesiser makes of them is
      not judged here, see :func:`obstacle`.
    - ``count``: sentences of each kind, dealt evenly to its words; the first ones get one more where that
      does not come out even, and the last ones none where there are more words than sentences. A word with
      few possible sentences has fewer than its part.
    - ``seed``: decides with each word which sentences it gets.
    - ``complements``: word -> ends of sentences that suit it; see
      :func:`soundcheck_demo.speech.texts.sentences`.
    """
    columns = ["file", "speaker", "sex", "language", "accent", "transcript", "keyword"]
    rows = []
    spoken = dict.fromkeys(SPEAKERS, 0)
    for words in kinds.values():
        number = 0  # of the sentence within its kind, so that all kinds have the same voices
        for place, word in enumerate(words[:count]):
            word = word.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written
            ends = tuple((complements or {}).get(word, ()))
            part = count // len(words) + (place < count % len(words))
            part = min(part, texts.possible(word, ends))
            for sentence in texts.sentences(word, part, seed=seed, first=number, complements=ends):
                speaker = SPEAKERS[number % len(SPEAKERS)]
                about = [speaker.name, speaker.sex, speaker.language, speaker.accent]
                rows.append([file_name(speaker, spoken[speaker]), *about, sentence, word])
                spoken[speaker] += 1
                number += 1
    return pd.DataFrame(rows, columns=columns)
