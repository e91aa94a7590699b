"""The notebooks of two models once more, on what both answered: a comparison needs the same segments."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.models.answers import stated_names
from soundcheck.predict.common_answers import reduced
from soundcheck.results.estimates import Estimate
from soundcheck.results.judged import load_all
from soundcheck.run.notebooks import Job
from soundcheck.run.output import Output
from soundcheck.suite.entries import ERROR, ComparisonEntry


def common_jobs(entry: ComparisonEntry, judging: Sequence[Job], output: Output) -> Iterator[Job]:
    """Describe again the notebooks for which a model of a comparison gave more answers than the other one.

    ``judging`` are the notebooks of all models. The tables of what both answered are written below the
    output's folder of comparisons.
    """
    by_name = {(job.model, job.family): job for job in judging}
    others = {entry.baseline: entry.candidate, entry.candidate: entry.baseline}
    for job in judging:
        partner = by_name.get((others.get(job.model, ""), job.family))
        if partner is None:
            continue
        folder = output.comparisons / files.slug(entry.name) / files.slug(job.model)
        tasks = job.description.tasks
        judged = {*(task.name for task in tasks), *stated_names(tasks)}
        theirs = {corpus.name: corpus for corpus in partner.description.corpora}
        corpora = []
        for corpus in job.description.corpora:
            both = corpus, theirs.get(corpus.name, corpus)
            tables = [one.predictions for one in both]
            counted = tuple(one.missing == ERROR for one in both)
            if all(path.is_file() for path in tables) and judged & _write(*tables, counted, folder):
                corpus = dataclasses.replace(corpus, predictions=folder / corpus.predictions.name)
            corpora.append(corpus)
        if tuple(corpora) != job.description.corpora:
            target = folder / job.target.name
            own = {"corpora": tuple(corpora), "rows": target.with_suffix(".json"), "voices": "none"}
            seen = [job.fingerprint, *(files.digest(corpus.predictions) for corpus in corpora)]
            yield dataclasses.replace(
                job,
                target=target,
                description=dataclasses.replace(job.description, **own),
                fingerprint=files.digest(repr(seen)),
            )


def common_estimates(job: Job, comparisons: Mapping[str, ComparisonEntry]) -> Iterator[Estimate]:
    """Give what a model scored on the segments that another one answered as well."""
    folder = job.target.parent.parent.name
    entry = next(entry for name, entry in comparisons.items() if files.slug(name) == folder)
    other = entry.candidate if job.model == entry.baseline else entry.baseline
    for row in load_all(job.rows)[1]:
        if not row.condition:
            yield dataclasses.replace(row, condition=f"common with {other}")


@functools.lru_cache(maxsize=64)
def _write(own: Path, other: Path, counted: tuple[bool, bool], folder: Path) -> frozenset[str]:
    """Write the table of what both answered, if that is less; gives the columns that lost answers."""
    table, lost = reduced(own, other, counted)
    if lost:
        with files.replacing(folder / own.name) as part:
            pq.write_table(table, part, compression="zstd")
    return frozenset(lost)
