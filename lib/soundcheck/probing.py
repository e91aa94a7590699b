"""Corpora that probe single words: sentences around the words of a corpus, spoken by the synthesiser.

A recogniser may hear a word well or badly; whether a word that vanished under noise is really one that it
hears badly is only known from other sentences with it. So a family may ask for such sentences around the most
frequent words of each corpus (``probes`` in its threshold file). Which of them stand for robust words is left
to the notebook that finds them.

Public: :func:`probe_corpora`, :func:`frequent_words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from soundcheck.corpora.demo import sentences
from soundcheck.corpora.demo.corpus import TABLE
from soundcheck.corpora.load import load_corpus
from soundcheck.corpora.segments import Corpus
from soundcheck.entries import CorpusEntry, Suite
from soundcheck.escaping import shorten
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
    found = []
    for family in families:
        listeners = [
            entry
            for entry in suite.models.values()
            if entry.is_for(family.name) and any(family.applies_to(suite.tasks[name]) for name in entry.tasks)
        ]
        if not family.probes or not listeners:
            continue
        for corpus in corpora:
            if not corpus.entry.is_for(family.name) or "transcript" not in corpus.segments.columns:
                continue
            normaliser = NORMALISERS[suite.normaliser]
            texts = [normaliser(text) for text in corpus.segments["transcript"].dropna()]
            spoken = frequent_words(texts, family.probes["words"])
            if spoken:
                folder = sentences.build(
                    cache, spoken, family.probes["sentences"], jobs=jobs, progress=progress
                )
                entry = _entry(corpus.name, family.name, folder)
                found.append(load_corpus(entry, suite, cache, jobs, progress))
    return found


def _entry(name: str, family: str, folder: Path) -> CorpusEntry:
    own = shorten(f"words of {name}", 80)
    return CorpusEntry(
        name=own,
        format="csv",
        path=folder / TABLE,
        shown_path=TABLE,
        columns={"item": "keyword"},
        title=own,
        description=DESCRIPTION,
        synthetic=True,
        root=folder,
        families=(family,),
        probes_of=name,
    )
