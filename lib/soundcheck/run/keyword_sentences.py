"""Corpora that probe single words: sentences around words of a corpus, spoken by an installed package.

Words that vanish from a recogniser's transcripts under noise may be words that it hears badly, or have stood
in bad places. Other sentences tell. So a family may ask for sentences (``probes`` in its threshold file)
around the words that each recogniser keeps and around those that it loses; they are localised in its answers
by the function that the notebook uses as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from soundcheck.augment.sources import SpeechSource, speech_digest, speech_source
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.load import load_corpus
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.fault_localisation import localised_words, vocabulary, words_to_speak
from soundcheck.run.derived import Derived, of_notebooks
from soundcheck.run.notebooks import Job
from soundcheck.suite.entries import CorpusEntry, Suite


def keyword_corpora(
    suite: Suite,
    jobs: Iterable[Job],
    cache: Path,
    workers: int = 1,
    progress: bool = False,
    derived: Derived | None = None,
) -> list[Corpus]:
    """Speak the probes that families ask for."""
    found, jobs = [], list(jobs)
    several = len({job.family for job in jobs}) > 1
    for job in jobs:
        if not suite.models[job.model].about.changes_audio:
            continue
        make = functools.partial(_spoken, job)
        spoken = derived.find("words", [of_notebooks([job]), speech_digest()], make) if derived else make()
        for corpus, kinds, count, complements in spoken:
            speech = speech_source()
            about = {"seed": suite.seed, "complements": complements, "jobs": workers, "progress": progress}
            table = speech.sentences(cache, kinds, count, **about)
            entry = _entry(corpus, job, speech, table, several)
            found.append(load_corpus(entry, suite, cache, workers, progress))
    return found


def _spoken(job: Job) -> list[list]:
    """Choose what is spoken for a recogniser: corpus, words by kind, how many sentences, complements."""
    evaluation = Evaluation(job.description)
    family, found = evaluation.family, []
    for subset in evaluation.transformed():
        if not vocabulary(evaluation, subset.predictions.clean):
            continue  # nothing is tested then
        probed = words_to_speak(evaluation, subset, localised_words(evaluation, subset))
        if any(probed.kinds.values()):
            complements = family.options.get("complements")
            found.append([subset.corpus, dict(probed.kinds), family.probes["sentences"], complements])
    return found


def _entry(corpus: str, job: Job, speech: type[SpeechSource], table: Path, several: bool) -> CorpusEntry:
    title = f"words of {corpus} for {job.model}"
    return CorpusEntry(
        name=f"{title}, {job.family}" if several else title,
        format="csv",
        path=table,
        root=table.parent,
        shown_path=table.name,
        columns={"item": "keyword"},
        title=title,
        description=speech.description,
        synthetic=True,
        families=(job.family,),
        probes_of=corpus,
        listener=job.model,
    )
