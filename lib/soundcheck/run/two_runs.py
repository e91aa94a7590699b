"""Compares two output folders: the same models before and after a change, without running them.

A run keeps the replicates of every test beside its notebooks, so what two runs say of a model is compared as
two models of one run are. Where speakers or seeds are not the same, the comparison is unpaired.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from soundcheck.common import files, resources
from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import TRANSCRIPTION, Task
from soundcheck.evaluation.comparison import ComparisonDescription
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.predict.tables import differ
from soundcheck.results import history
from soundcheck.results.finished_run import FinishedRun, read_run, rows_file
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import Judged, load_judged
from soundcheck.run.notebook_jobs import COMPARISON, notebook_of
from soundcheck.run.notebooks import Job
from soundcheck.run.output import Output
from soundcheck.run.selection import refuse_unknown
from soundcheck.suite.entries import ERROR, LEFT_OUT

_RANDOM = "random"  # kind of the reference models
_SECONDS = 600.0  # that a cell of the notebook may take


@dataclasses.dataclass(frozen=True)
class Run:
    """An output folder: its record, and the files with the rows of each model and family."""

    folder: Path
    finished: FinishedRun
    rows: dict[tuple[str, str], Path]

    @property
    def record(self) -> RunRecord:
        """What the run says of itself."""
        return self.finished.record

    def judged(self, model: str, families: Sequence[str]) -> list[Judged]:
        """Read the judged tests of a model with their replicates; of all families if none is named."""
        tests = []
        for (name, family), path in self.rows.items():
            if name != model or (families and family not in families):
                continue
            try:
                tests += load_judged(path, parts=True)
            except (OSError, ValueError) as error:
                what = f"the rows of {family} of {model} cannot be read ({type(error).__name__})"
                remedy = f"Run the suite again; that run was made with Soundcheck {self.record.version}"
                raise input_error(str(path), what, remedy) from error
        return tests


def read(folder: Path) -> Run:
    """Read what a run left in its output folder.

    Raises InputError: if the folder is not that of a run, or was changed after it.
    """
    files.require_regular(folder / "run.json")
    finished = read_run(folder)
    rows = {
        (one.model, one.family): rows_file(folder, one.model, one.family)
        for one in finished.record.notebooks
        if not one.failed
    }
    return Run(folder, finished, rows)


def check_families(families: Sequence[str], runs: Sequence[Run]) -> None:
    """Refuse names of families that neither run has.

    Raises InputError: naming all of them.
    """
    known = list(dict.fromkeys(family.name for run in runs for family in run.record.families))
    places = ((f"--family {quoted(name)}", name, known) for name in families)
    refuse_unknown(places, "neither run has such a family")


def differences(first: Run, second: Run) -> list[str]:
    """Say what else is not the same in the two runs."""
    sentences = [f"The runs differ: {what}." for what in history.differences(second.finished, first.finished)]
    if unlike(first, second):
        sentences.append("Word errors are not compared: run both with one `normaliser:`.")
    return sentences


def unlike(first: Run, second: Run) -> tuple[str, ...]:
    """Name the tasks of which the two runs do not measure the same."""
    tasks = second.record.suite["tasks"]
    if first.record.suite["normaliser"] == second.record.suite["normaliser"]:
        return ()
    return tuple(name for name, task in tasks.items() if task["kind"] == TRANSCRIPTION)


def pair(first: Run, second: Run) -> list[ModelTwice]:
    """Pair the models of the same name, or the only model of each; random references have nothing to show.

    Raises InputError: if there is no such pair.
    """
    names = [[m.name for m in run.record.models if m.kind != _RANDOM] for run in (first, second)]
    common = [(name, name) for name in names[0] if name in names[1]]
    if not common and len(names[0]) == len(names[1]) == 1:
        common = [(names[0][0], names[1][0])]
    if not common:
        listed = [", ".join(map(quoted, one)) or "none" for one in names]
        what = f"no model has the same name in both runs ({listed[0]} against {listed[1]})"
        raise input_error(str(second.folder), what, "Give models the same name, or run one model in each")
    return [ModelTwice((first, before), (second, after)) for before, after in common]


class ModelTwice:
    """A model of two runs, with its name in each of them."""

    def __init__(self, before: tuple[Run, str], after: tuple[Run, str]) -> None:
        self.sides = before, after
        self.name = after[1] if before[1] == after[1] else f"{after[1]} against {before[1]}"
        # what the two are called in tables and on pages
        self.names = f"{before[1]} (before)", f"{after[1]} (after)"

    def judged(self, families: Sequence[str]) -> list[list[Judged]]:
        """Read the judged tests of both under their names here, of tasks that were measured alike."""
        excluded = unlike(*(run for run, _ in self.sides))
        return [
            [one.of(named) for one in run.judged(name, families) if one.verdict.task not in excluded]
            for (run, name), named in zip(self.sides, self.names, strict=True)
        ]

    def apart(self) -> set[str]:
        """Name the corpora of which the model did not answer the same segments in both runs."""
        return {
            one.name
            for one, other in self._corpora()
            if differ(one.predictions, other.predictions, (one.missing == ERROR, other.missing == ERROR))
        }

    def job(self, families: Sequence[str], output: Output) -> Job:
        """Describe the notebook that compares them.

        The recordings are not among what a run keeps, so there is nothing to listen to.
        """
        runs, excluded = [run for run, _ in self.sides], unlike(*(run for run, _ in self.sides))
        first, record = runs[0].record, runs[1].record
        titles = {family.name: family.title for family in record.families}
        rows = [
            [run.rows.get((name, family)) for run, name in self.sides]
            for family in titles
            if not families or family in families
        ]
        known = [run.record.suite["models"][name]["tasks"] for run, name in self.sides]
        names = [name for name in known[0] if name in known[1] and name not in excluded]
        tasks = [record.suite["tasks"][name] for name in names]
        target = output.comparisons / f"{files.slug(self.name)}.ipynb"
        description = ComparisonDescription(
            comparison=self.name,
            baseline=self.names[0],
            candidate=self.names[1],
            titles=titles,
            corpora=tuple(self._corpora()),
            pairs=tuple((old.absolute(), new.absolute()) for old, new in rows if old and new),
            same_draws=first.seed == record.seed,
            media=output.media,
            prefix="../media/",
            rows=target.with_suffix(".json"),
            tasks=tuple(Task(**task | {"classes": tuple(task["classes"])}) for task in tasks),
            unlike=excluded,
            seed=record.seed,
            replicates=record.replicates,
            interval=record.interval,
            normaliser=record.suite["normaliser"],
            alternatives=record.suite.get("alternatives", False),  # runs of before know neither
            synonyms=tuple(map(tuple, record.suite.get("synonyms", ()))),
        )
        notebook = notebook_of(COMPARISON, resources.root())
        return Job(self.name, COMPARISON, notebook, target, description, fingerprint="", limit=_SECONDS)

    def _corpora(self) -> Iterator[tuple[CorpusDescription, CorpusDescription]]:
        """Describe the corpora of which both runs keep the same segments, and predictions of the model."""
        record = self.sides[1][0].record
        for corpus in record.corpora:
            table = f"{files.slug(corpus.name)}.parquet"
            segments = [run.folder / "corpora" / table for run, _ in self.sides]
            predictions = [run.folder / "predictions" / files.slug(name) / table for run, name in self.sides]
            about = record.suite["corpora"].get(corpus.name)
            if about is None or not all(path.is_file() for path in (*segments, *predictions)):
                continue  # not in both, or spoken around words that the model of one run lost
            if files.digest(segments[0]) != files.digest(segments[1]):
                continue
            blocks = about["blocks"]
            yield tuple(
                CorpusDescription(
                    name=corpus.name,
                    title=corpus.title,
                    synthetic=corpus.synthetic,
                    blocks=(blocks,) if isinstance(blocks, str) else tuple(blocks),
                    base_condition=about["base_condition"],
                    audio=False,
                    root=run.folder.absolute(),
                    segments=segments[1].absolute(),
                    predictions=path.absolute(),
                    missing=run.record.suite["models"][name].get("missing", LEFT_OUT),
                )
                for (run, name), path in zip(self.sides, predictions, strict=True)
            )
