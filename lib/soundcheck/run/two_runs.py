"""Compares two output folders: the same models before and after a change, without running them.

A run keeps the replicates of every test beside its notebooks, so what two runs say of a model is compared as
two models of one run are. Where speakers or seeds are not the same, the comparison is unpaired.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pandas as pd

from soundcheck.common import files, resources
from soundcheck.common.messages import input_error, quoted
from soundcheck.common.store import made_of
from soundcheck.common.tasks import TRANSCRIPTION, Task
from soundcheck.evaluation.comparison import Comparison, ComparisonDescription
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.results import history
from soundcheck.results.finished_run import FinishedRun, rows_file
from soundcheck.run.notebook_jobs import COMPARISON, notebook_of
from soundcheck.run.notebooks import Job
from soundcheck.run.output import Output
from soundcheck.suite.entries import LEFT_OUT

_SECONDS = 600.0  # that a cell of the notebook may take


def differences(first: FinishedRun, second: FinishedRun) -> list[str]:
    """Say what else is not the same in the two runs."""
    sentences = [f"The runs differ: {difference}." for difference in history.differences(second, first)]
    if unlike(first, second):
        sentences.append("Word errors are not compared: run both with one `normaliser:`.")
    return sentences


def unlike(first: FinishedRun, second: FinishedRun) -> tuple[str, ...]:
    """Name the tasks of which the two runs do not measure the same."""
    tasks = second.record.suite["tasks"]
    if first.record.suite["normaliser"] == second.record.suite["normaliser"]:
        return ()
    return tuple(name for name, task in tasks.items() if task["kind"] == TRANSCRIPTION)


def pair(first: FinishedRun, second: FinishedRun) -> list[ModelTwice]:
    """Pair the models of the same name, or the only model of each; random references have nothing to show.

    Raises InputError: if there is no such pair.
    """
    runs = first, second
    names = [[name for name in run.models if name not in run.record.references] for run in runs]
    common = [(name, name) for name in names[0] if name in names[1]]
    if not common and len(names[0]) == len(names[1]) == 1:
        common = [(names[0][0], names[1][0])]
    if not common:
        listed = [", ".join(map(quoted, of_run)) or "none" for of_run in names]
        what = f"no model has the same name in both runs ({listed[0]} against {listed[1]})"
        remedy = "Give models the same name, or run one model in each"
        raise input_error(str(second.path.parent), what, remedy)
    return [ModelTwice(((first, before), (second, after))) for before, after in common]


@dataclasses.dataclass(frozen=True)
class ModelTwice:
    """A model of two runs."""

    sides: tuple[tuple[FinishedRun, str], tuple[FinishedRun, str]]  # with its name in each of them

    @property
    def name(self) -> str:
        """Its name, or both."""
        (_, before), (_, after) = self.sides
        return after if before == after else f"{after} against {before}"

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called in tables and on pages."""
        (_, before), (_, after) = self.sides
        return f"{before} (before)", f"{after} (after)"

    def job(self, families: Sequence[str], output: Output) -> Job:
        """Describe the notebook that compares them, by some families or, if none is named, all.

        The recordings are not among what a run keeps, so there is nothing to listen to.
        """
        runs = [run for run, _ in self.sides]
        (first, second), excluded = [run.record for run in runs], unlike(*runs)
        titles = {family.name: family.title for record in (first, second) for family in record.families}
        rows = [
            {
                notebook.family: rows_file(run.path.parent.absolute(), name, notebook.family)
                for notebook in run.record.notebooks
                if notebook.model == name and not notebook.failed and notebook.family in (families or titles)
            }
            for run, name in self.sides
        ]
        known = [run.record.suite["models"][name]["tasks"] for run, name in self.sides]
        names = [name for name in known[0] if name in known[1] and name not in excluded]
        tasks = [second.suite["tasks"][name] for name in names]
        target = output.comparisons / f"{files.slug(self.name)}.ipynb"
        description = made_of(
            ComparisonDescription,
            second,
            comparison=self.name,
            baseline=self.names[0],
            candidate=self.names[1],
            titles=titles,
            corpora=tuple(self._corpora()),
            pairs=tuple(tuple(of_run.get(family) for of_run in rows) for family in titles),
            same_draws=first.seed == second.seed,
            media=output.media,
            prefix="../media/",
            rows=target.with_suffix(".json"),
            tasks=tuple(Task(**task | {"classes": tuple(task["classes"])}) for task in tasks),
            unlike=excluded,
            normaliser=second.suite["normaliser"],
            alternatives=second.suite.get("alternatives", False),  # runs of before know neither
            synonyms=tuple(map(tuple, second.suite.get("synonyms", ()))),
        )
        source = notebook_of(COMPARISON, resources.root())
        return Job(self.name, COMPARISON, source, target, description, fingerprint="", limit=_SECONDS)

    def contrasts(self, job: Job) -> pd.DataFrame:
        """Give what its notebook compares, as a table.

        Raises InputError: if the files with rows and replicates of a run cannot be read.
        """
        try:
            return Comparison(job.description).frame()
        except (OSError, ValueError) as error:
            versions = " and ".join(run.record.version for run, _ in self.sides)
            remedy = f"Run the suite again; the runs were made with Soundcheck {versions}"
            raise input_error(self.name, str(error), remedy) from error

    def _corpora(self) -> Iterator[tuple[CorpusDescription, CorpusDescription]]:
        """Describe the corpora of which both runs keep the same segments, and predictions of the model."""
        record, folders = self.sides[1][0].record, [run.path.parent.absolute() for run, _ in self.sides]
        for corpus in record.corpora:
            table = f"{files.slug(corpus.name)}.parquet"
            segments = [folder / "corpora" / table for folder in folders]
            predictions = [
                folder / "predictions" / files.slug(name) / table
                for folder, (_, name) in zip(folders, self.sides, strict=True)
            ]
            about = record.suite["corpora"].get(corpus.name)
            if about is None or not all(path.is_file() for path in (*segments, *predictions)):
                continue  # not in both, or spoken around words that the model of one run lost
            if files.digest(segments[0]) != files.digest(segments[1]):
                continue
            blocks = about["blocks"]
            yield tuple(
                made_of(
                    CorpusDescription,
                    corpus,
                    blocks=(blocks,) if isinstance(blocks, str) else tuple(blocks),
                    base_condition=about["base_condition"],
                    audio=False,
                    root=folders[1],
                    segments=segments[1],
                    predictions=path,
                    missing=run.record.suite["models"][name].get("missing", LEFT_OUT),
                )
                for (run, name), path in zip(self.sides, predictions, strict=True)
            )
