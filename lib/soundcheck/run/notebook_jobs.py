"""Which notebooks a run executes, and what each of them gets.

A notebook sees nothing but its description, so everything in it, and the content of the files that it names,
is in the fingerprint that decides whether the last execution is still good.

A run keeps the replicates of every test beside its notebooks, so what two runs say of a model, before and
after a change, is compared as two models of one run are. Where speakers or seeds are not the same, the
comparison is unpaired.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from soundcheck.augment.registry import missing
from soundcheck.common import files, resources
from soundcheck.common.media import Description
from soundcheck.common.messages import input_error, quoted
from soundcheck.common.resources import library_digest
from soundcheck.common.store import made_of
from soundcheck.common.tasks import TRANSCRIPTION, Task
from soundcheck.corpora.load import Corpus
from soundcheck.evaluation.evaluation import Comparison, ComparisonDescription, EvaluationDescription
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.models.answers import stated_names
from soundcheck.predict.tables import column_names, reduced
from soundcheck.results import history
from soundcheck.results.finished_run import FinishedRun, rows_file
from soundcheck.results.rows import Estimate, SavedRows
from soundcheck.run.material import (
    Material,
    answers_changes,
    evaluated_corpora,
    predicted_corpora,
    sounds_of,
    supported_tasks,
)
from soundcheck.run.notebooks import Job, Outcome
from soundcheck.run.output import Output
from soundcheck.suite.entries import ERROR, LEFT_OUT, SPEECH_KINDS, ComparisonEntry, ModelEntry, Suite
from soundcheck.suite.families import Family

STUDIES = ("confidence_intervals", "fairness_thresholds")
STUDY_SECONDS = 600.0  # that a cell of such a page may take
MOST_TRIAL_SECONDS = 0.002  # that a notebook may take more for each trial; on a quiet core it needs a tenth
COMPARISON = "comparison"  # the notebook that compares two models
UNSEEN = ("rows", "sounds")  # what the notebook writes; a list of sounds, of which it needs some kinds


def notebook_of(name: str, folder: Path) -> Path:
    """Find a notebook; the folder of the suite comes first."""
    path = resources.find(f"notebooks/{name}.ipynb", folder)
    if path is None:
        what = f"the notebook notebooks/{name}.ipynb is missing"
        raise input_error(f"family {name}", what, "Write it")
    return path


def family_jobs(material: Material, families: Iterable[Family]) -> list[Job]:
    """Describe one notebook for each model and each family that applies to one of its tasks.

    What stands in the description is all that the notebook sees; words are localised with the same.
    """
    suite, output, sounds = material.suite, material.output, material.sounds
    sounds.write(output.sounds)
    jobs = []
    for entry in suite.models.values():
        for family in families:
            tasks = supported_tasks(family, suite.tasks_of(entry))
            evaluated = evaluated_corpora(family, entry, material.corpora)
            if not tasks or not evaluated or not entry.is_for(family.name):
                continue
            if family.stated and not _says_of_itself(entry, tasks, evaluated, output):
                continue
            target = output.notebooks / files.slug(entry.name) / f"{files.slug(family.name)}.ipynb"
            described = _with_predictions(entry, evaluated, output, family.name)
            trials = sum(pq.read_metadata(corpus.trials).num_rows for corpus in described if corpus.trials)
            limit = suite.notebook_seconds + MOST_TRIAL_SECONDS * trials
            description = made_of(
                EvaluationDescription,
                suite,
                model=entry.name,
                family=family.name,
                suite_root=suite.root,
                sounds=output.sounds,
                corpora=described,
                others={
                    other.name: _with_predictions(
                        other, evaluated_corpora(family, other, evaluated), output, family.name
                    )
                    for other in (_others(suite, entry, tasks, family) if family.others else ())
                },
                seconds=limit,
                predicts_changes=answers_changes(entry, family, sounds),
                media=output.media,
                prefix="../../media/",
                rows=target.with_suffix(".json"),
                tasks=tuple(tasks),
                tests=suite.tests.get(family.name, {}),
                guesses=entry.kind == "random",
                languages=_languages(entry, suite, family),
            )
            digests = [sounds.digest(kind) for kind in sorted(sounds_of([family]))]
            absent = [missing(change, sounds) for change in family.all_changes]
            notebook, seen = notebook_of(family.name, suite.root), (family.digest, digests, absent)
            job = _job(entry.name, family.name, notebook, target, description, *seen, limit=limit)
            jobs.append(dataclasses.replace(job, weight=_weight(description)))
    return jobs


def _job(
    model: str, family: str, source: Path, target: Path, description: Description, *seen: object, limit: float
) -> Job:
    """Make a job; ``seen`` is what its notebook depends on besides its description."""
    fingerprint = _fingerprint(source, description, *seen)
    return Job(model, family, source, target, description, fingerprint, limit)


def _says_of_itself(
    entry: ModelEntry, tasks: Sequence[Task], corpora: Sequence[Corpus], output: Output
) -> bool:
    """Whether a model says of any answer how sure it is."""
    wanted = {*stated_names(tasks)}
    tables = [described.predictions for described in _with_predictions(entry, corpora, output, "")]
    return any(path.is_file() and wanted & {*column_names(path)} for path in tables)


def _languages(entry: ModelEntry, suite: Suite, family: Family) -> tuple[str, ...]:
    """Say which languages a model knows: the one that it is told to write, else those of its card.

    Only for families that speak other languages: no other page changes with a card.
    """
    if sounds_of([family]).isdisjoint(SPEECH_KINDS):
        return ()
    language = entry.options.get("language")
    return (str(language),) if language else entry.card.over(suite.card).languages


def _weight(description: EvaluationDescription) -> int:
    """Guess the time that a notebook takes by the size of the tables that it reads."""
    corpora = [corpus for group in (description.corpora, *description.others.values()) for corpus in group]
    tables = [path for corpus in corpora for path in (corpus.predictions, corpus.trials)]
    return sum(path.stat().st_size for path in tables if path is not None and path.is_file())


def _others(suite: Suite, entry: ModelEntry, tasks: Sequence[Task], family: Family) -> list[ModelEntry]:
    """List the other models that a family tests for any of the tasks."""
    return [
        other
        for other in suite.models.values()
        if other.name != entry.name
        and other.is_for(family.name)
        and {task.name for task in tasks} & set(other.tasks)
    ]


def comparison_job(
    entry: ComparisonEntry, material: Material, judged: Iterable[Outcome], again: Iterable[Outcome]
) -> Job:
    """Describe the notebook of a comparison, which reads rows and replicates of notebooks that ended well.

    ``again`` are those on the segments that both models of a comparison answered: of all comparisons.
    """
    suite, output, evaluated = material.suite, material.output, material.corpora
    titles = {family.name: family.title for family in material.families}
    by_model = {(ended.job.model, ended.job.family): ended.job for ended in judged if not ended.failed}
    folder = output.comparisons / files.slug(entry.name)
    again = [outcome for outcome in again if folder in outcome.job.target.parents]
    lost = {outcome.job.family for outcome in again if outcome.failed}
    common = [outcome.job for outcome in again if outcome.job.family not in lost]
    both = [suite.models[name] for name in (entry.baseline, entry.candidate)]
    for model in both:
        evaluated = predicted_corpora(suite, model, material.families, evaluated)

    def paired(jobs: Mapping[tuple[str, str], Job], tested: Iterable[str]) -> list[list[Job]]:
        places = ([(model.name, family) for model in both] for family in tested)
        return [[jobs[place] for place in pair] for pair in places if by_model.keys() >= {*pair}]

    pairs = paired(by_model, titles)
    shared = by_model | {(job.model, job.family): job for job in common}
    on_common = paired(shared, dict.fromkeys(job.family for job in common))
    tasks = [suite.tasks[name] for name in both[0].tasks if name in both[1].tasks]
    target = output.comparisons / f"{files.slug(entry.name)}.ipynb"
    description = made_of(
        ComparisonDescription,
        entry,
        suite,
        comparison=entry.name,
        titles=titles,
        corpora=tuple(zip(*(_with_predictions(model, evaluated, output) for model in both), strict=True)),
        pairs=tuple((old.rows, new.rows) for old, new in pairs),
        common=tuple((old.rows, new.rows) for old, new in on_common),
        media=output.media,
        prefix="../media/",
        rows=target.with_suffix(".json"),
        tasks=tuple(tasks),
    )
    replicates = [files.digest(job.replicates) for pair in (*pairs, *on_common) for job in pair]
    notebook, limit = notebook_of(COMPARISON, suite.root), suite.notebook_seconds
    return _job(entry.name, COMPARISON, notebook, target, description, replicates, limit=limit)


def study_jobs(output: Output) -> list[Job]:
    """Describe the notebooks of the book that depend on no model and no corpus.

    Their executions are kept in the cache: all books of one version share them.
    """
    folder, jobs = output.studies, []
    for name in STUDIES:
        notebook, target = resources.root() / "book" / f"{name}.ipynb", folder / f"{name}.ipynb"
        description = Description(media=folder / "media", prefix="media/", rows=target.with_suffix(".json"))
        job = _job("", name, notebook, target, description, limit=STUDY_SECONDS)
        jobs.append(dataclasses.replace(job, judges=False))
    return jobs


def _with_predictions(
    model: ModelEntry, corpora: Iterable[Corpus], output: Output, family: str = ""
) -> tuple[CorpusDescription, ...]:
    """Describe corpora with the predictions of a model, and the trials of a family."""
    descriptions = []
    for corpus in corpora:
        segments, trials = output.segments(corpus.name), output.trials(corpus.name, family)
        description = made_of(
            CorpusDescription,
            corpus,
            corpus.entry,
            title=corpus.entry.title,
            segments=segments,
            predictions=output.predictions / files.slug(model.name) / segments.name,
            trials=trials if trials.is_file() else None,
            missing=model.missing,
        )
        descriptions.append(description)
    return tuple(descriptions)


def _fingerprint(notebook: Path, description: Description, *more: object) -> str:
    """Digest of all that a notebook sees, with what is not among the fields of its description."""
    fields = [field.name for field in dataclasses.fields(description) if field.name not in UNSEEN]
    seen = [(name, _seen(getattr(description, name))) for name in fields]
    return files.digest(repr([library_digest(), files.digest(notebook), seen, *more]))


def _seen(value: object) -> object:
    """Put the content of files in the place of their paths; where folders are makes no difference."""
    if isinstance(value, Path):
        return files.digest(value) if value.is_file() else ""
    if dataclasses.is_dataclass(value):
        return [(field.name, _seen(getattr(value, field.name))) for field in dataclasses.fields(value)]
    if isinstance(value, Mapping):
        return [(key, _seen(item)) for key, item in value.items()]
    return [_seen(item) for item in value] if isinstance(value, tuple) else value


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
            tables = [side.predictions for side in both]
            counted = tuple(side.missing == ERROR for side in both)
            if all(path.is_file() for path in tables) and judged & _write(*tables, counted, folder):
                corpus = dataclasses.replace(corpus, predictions=folder / corpus.predictions.name)
            corpora.append(corpus)
        if tuple(corpora) != job.description.corpora:
            target = folder / job.target.name
            replaced = {"corpora": tuple(corpora), "rows": target.with_suffix(".json"), "voices": "none"}
            seen = [job.fingerprint, *(files.digest(corpus.predictions) for corpus in corpora)]
            yield dataclasses.replace(
                job,
                target=target,
                description=dataclasses.replace(job.description, **replaced),
                fingerprint=files.digest(repr(seen)),
            )


def common_estimates(job: Job, comparisons: Mapping[str, ComparisonEntry]) -> Iterator[Estimate]:
    """Give what a model scored on the segments that another one answered as well.

    Rates with missing count what either never got as missed by both; they have a value of their own alone.
    """
    folder = job.target.parent.parent.name
    entry = next(entry for name, entry in comparisons.items() if files.slug(name) == folder)
    other = entry.candidate if job.model == entry.baseline else entry.baseline
    for row in SavedRows.read(job.rows).estimates:
        if not (row.condition or row.measure.endswith("_with_missing")):
            yield dataclasses.replace(row, condition=f"common with {other}")


@functools.lru_cache(maxsize=64)
def _write(first: Path, second: Path, counted: tuple[bool, bool], folder: Path) -> frozenset[str]:
    """Write the table of what both answered, if that is less; gives the columns that lost answers."""
    table, lost = reduced(first, second, counted)
    if lost:
        with files.replacing(folder / first.name) as part:
            pq.write_table(table, part, compression="zstd")
    return frozenset(lost)


# The models of two runs -------------------------------------------------------------------------------------


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
