"""Corpora that probe single words: sentences around words of a corpus, spoken by the synthesiser.

Words that vanish from a recogniser's transcripts under noise may be words that it hears badly, or have stood
in bad places. Other sentences tell. So a family may ask for sentences (``probes`` in its threshold file)
around the words that each recogniser keeps and around those that it loses; they are localised in its answers
by the function that the notebook uses as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.load import load_corpus
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.recognition_measures import localised_words, vocabulary, words_to_probe
from soundcheck.run.runner import Job
from soundcheck.suite.entries import CorpusEntry, Suite
from soundcheck_demo.speech import sentences
from soundcheck_demo.speech.corpus import TABLE

__all__ = ["probe_corpora"]

DESCRIPTION = (
    "All speech of this corpus is synthetic. Praat's built-in synthesiser reads sentences around words that "
    "one recogniser of this suite keeps under noise, and around words that it loses, with American and "
    "British voices of women and men. They show whether it loses the words in other sentences as well."
)


def probe_corpora(
    suite: Suite, jobs: Iterable[Job], cache: Path, workers: int = 1, progress: bool = False
) -> list[Corpus]:
    """Speak the probes that families ask for.

    Parameters
    ----------
    suite
        For its tasks and limits.
    jobs
        The notebooks of families with probes, with the answers that their models gave so far.
    cache
        Folder that keeps the sentences.
    workers, progress
        See :func:`soundcheck_demo.speech.sentences.build`.

    Returns
    -------
    list of Corpus
        At most one for each model, corpus and family; their segments hold the word in the column ``item``.
    """
    found, jobs = [], list(jobs)
    several = len({job.family for job in jobs}) > 1
    for job in jobs:
        if not suite.models[job.model].answers_changes:
            continue
        evaluation = Recognition(job.description | {"rows": str(job.rows)})
        options = evaluation.family.options
        for subset in evaluation.transformed():
            if not vocabulary(evaluation, subset.predictions.clean):
                continue  # nothing is tested then
            probed = words_to_probe(evaluation, subset, localised_words(evaluation, subset))
            if not any(probed.kinds.values()):
                continue
            folder = sentences.build(
                cache,
                probed.kinds,
                evaluation.family.probes["sentences"],
                seed=evaluation.seed,
                complements=options.get("complements"),
                jobs=workers,
                progress=progress,
            )
            entry = _entry(subset.corpus, job, folder, several)
            found.append(load_corpus(entry, suite, cache, workers, progress))
    return found


def _entry(corpus: str, job: Job, folder: Path, several: bool) -> CorpusEntry:
    title = f"words of {corpus} for {job.model}"
    return CorpusEntry(
        name=f"{title}, {job.family}" if several else title,
        format="csv",
        path=folder / TABLE,
        root=folder,
        shown_path=TABLE,
        columns={"item": "keyword"},
        title=title,
        description=DESCRIPTION,
        synthetic=True,
        families=(job.family,),
        probes_of=corpus,
        listener=job.model,
    )
