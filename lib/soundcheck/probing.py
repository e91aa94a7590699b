"""Corpora that probe single words: sentences around the words of a corpus, spoken by the synthesiser.

A recogniser may hear a word well or badly; whether a word that vanished under noise is really one that it
hears badly is only known from other sentences with it. So a family may ask for such sentences around the most
frequent words of each corpus (``probes`` in its threshold file). Which of them stand for robust words is left
to the notebook that finds them.

Public: :func:`probe_corpora`, :func:`frequent_words`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.demo import sentences
from soundcheck.corpora.demo.corpus import TABLE
from soundcheck.corpora.load import load_corpus
from soundcheck.entries import CorpusEntry, Suite
from soundcheck.families import Family
from soundcheck.metrics.differential import word_counts
from soundcheck.normalisation import NORMALISERS

DESCRIPTION = (
    "All speech of this corpus is synthetic. Praat's built-in synthesiser reads sentences around each of the "
    "most frequent words of another corpus of this suite, with American and British voices of women and men. "
    "They show whether a recogniser that loses a word under noise loses it in other sentences as well."
)


def frequent_words(transcripts: Iterable[str | None], count: int) -> list[str]:
    """List the most frequent words of normalised transcripts, those as frequent in alphabetical order."""
    counts = word_counts(transcripts)
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


def probe_corpora(
    suite: Suite,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    cache: Path,
    jobs: int = 1,
    progress: bool = False,
) -> list[Corpus]:
    """Speak the probes that families ask for.

    Parameters
    ----------
    suite
        For its models, normaliser and tasks.
    families
        What is tested.
    corpora
        Loaded corpora; words are taken from those with transcripts.
    cache
        Folder that keeps the sentences.
    jobs, progress
        See :func:`soundcheck.corpora.demo.sentences.build`.

    Returns
    -------
    list of Corpus
        At most one for each corpus and family; their segments hold the word in the column ``item``.
    """
    normaliser = NORMALISERS[suite.normaliser]
    found = []
    for family in families:
        for corpus in corpora if family.probes else ():
            entry = _entry(corpus.name, family.name)
            if not corpus.entry.is_for(family.name) or not _somebody_listens(suite, family, entry):
                continue
            texts = corpus.segments.get("transcript", pd.Series(dtype=object)).dropna()
            spoken = frequent_words(map(normaliser, texts), family.probes["words"])
            if spoken:
                count = family.probes["sentences"]
                folder = sentences.build(cache, spoken, count, jobs=jobs, progress=progress)
                entry = dataclasses.replace(entry, path=folder / TABLE, root=folder)
                found.append(load_corpus(entry, suite, cache, jobs, progress))
    return found


def _somebody_listens(suite: Suite, family: Family, probes: CorpusEntry) -> bool:
    return any(
        entry.is_for(family.name)
        and entry.listens_to(probes)
        and any(family.applies_to(suite.tasks[name]) for name in entry.tasks)
        for entry in suite.models.values()
    )


def _entry(corpus: str, family: str) -> CorpusEntry:
    return CorpusEntry(
        name=f"words of {corpus} for {family}",
        format="csv",
        shown_path=TABLE,
        columns={"item": "keyword"},
        title=f"words of {corpus}",
        description=DESCRIPTION,
        synthetic=True,
        families=(family,),
        probes_of=corpus,
    )
