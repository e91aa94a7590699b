"""The notebooks of two models once more, on what both answered: a comparison needs the same segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.evaluation.description import CorpusDescription
from soundcheck.models.stated import stated_names
from soundcheck.predict.common_answers import reduced
from soundcheck.run.output import Output
from soundcheck.run.runner import Job
from soundcheck.suite.entries import ComparisonEntry

__all__ = ["common_jobs"]


def common_jobs(entry: ComparisonEntry, judging: Sequence[Job], output: Output) -> Iterator[Job]:
    """Describe again the notebooks that a model of a comparison answers more for than the other one.

    Parameters
    ----------
    entry
        The comparison.
    judging
        The notebooks of all models.
    output
        Its folder of comparisons gets the tables of what both answered.
    """
    by_name = {(job.model, job.family): job for job in judging}
    for model, other in ((entry.baseline, entry.candidate), (entry.candidate, entry.baseline)):
        folder = output.comparisons / files.slug(entry.name) / files.slug(model)
        tables: dict[Path, tuple[Path, set[str]]] = {}
        for job in judging:
            partner = by_name.get((other, job.family))
            if job.model != model or partner is None:
                continue
            tasks = job.description.tasks
            judged = {*(task.name for task in tasks), *stated_names(tasks)}
            theirs = {corpus.name: corpus.predictions for corpus in partner.description.corpora}
            corpora = []
            for corpus in job.description.corpora:
                path, lost = _table(corpus, theirs.get(corpus.name), folder, tables)
                corpora.append(dataclasses.replace(corpus, predictions=path) if judged & lost else corpus)
            if tuple(corpora) != job.description.corpora:
                yield _again(job, tuple(corpora), folder)


def _table(
    corpus: CorpusDescription, other: Path | None, folder: Path, known: dict[Path, tuple[Path, set[str]]]
) -> tuple[Path, set[str]]:
    """Write the table of what both answered; gives its path and the columns with fewer answers."""
    if other is None or not (corpus.predictions.is_file() and other.is_file()):
        return corpus.predictions, set()
    if corpus.predictions not in known:
        table, lost = reduced(corpus.predictions, other)
        path = folder / corpus.predictions.name
        if lost:
            with files.replacing(path) as part:
                pq.write_table(table, part, compression="zstd")
        known[corpus.predictions] = path, lost
    return known[corpus.predictions]


def _again(job: Job, corpora: tuple[CorpusDescription, ...], folder: Path) -> Job:
    target = folder / job.target.name
    description = dataclasses.replace(
        job.description, corpora=corpora, rows=target.with_suffix(".json"), voices="none"
    )
    seen = [job.fingerprint, *(files.digest(corpus.predictions) for corpus in corpora)]
    return dataclasses.replace(
        job, target=target, description=description, fingerprint=files.digest(repr(seen))
    )
