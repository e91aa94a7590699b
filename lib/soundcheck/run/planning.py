"""Which notebooks a run executes, and what each of them is told.

A notebook sees nothing but its description, so everything in it, and the files that it names, is in the
fingerprint that decides whether the last execution is still good.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from soundcheck.augment.registry import kind_of_sounds, missing
from soundcheck.common import files, resources
from soundcheck.common.errors import input_error
from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.evaluation.evaluation import changed_segments
from soundcheck.run import record
from soundcheck.run.output import Output
from soundcheck.run.runner import Job
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ComparisonEntry, ModelEntry, Suite
from soundcheck.suite.families import Family, Perturbation

__all__ = [
    "supported_tasks",
    "predicted_corpora",
    "changes_of",
    "comparison_jobs",
    "family_jobs",
    "evaluated_corpora",
    "notebook_of",
    "sounds_of",
    "study_jobs",
    "tasks_of",
    "wanted",
]

STUDIES = ("confidence_intervals", "fairness_thresholds")
STUDY_SECONDS = 600.0  # that a cell of such a page may take
COMPARISON = "comparison"  # the notebook that compares two models
UNTOLD = ("title", "studies")  # settings that no notebook depends on


def tasks_of(suite: Suite, entry: ModelEntry) -> list[Task]:
    """List the tasks of a model."""
    return [suite.tasks[name] for name in entry.tasks]


def supported_tasks(family: Family, tasks: Iterable[Task]) -> list[Task]:
    """Keep the tasks that a family has tests for."""
    return [task for task in tasks if family.applies_to(task)]


def changes_of(
    families: Iterable[Family], tasks: Sequence[Task], sounds: Sounds | None = None
) -> dict[str, Perturbation]:
    """Collect the changes of the signal that families need for some tasks, each once.

    Not those that this machine or, if given, the sound material cannot make.
    """
    return {
        change.identity: change
        for family in families
        if supported_tasks(family, tasks)
        for change in family.all_changes
        if not missing(change, sounds)
    }


def evaluated_corpora(family: Family, entry: ModelEntry, corpora: Iterable[Corpus]) -> list[Corpus]:
    """Keep the corpora that a family looks at to test a model."""
    return [
        corpus for corpus in corpora if corpus.entry.is_for(family.name) and entry.listens_to(corpus.entry)
    ]


def predicted_corpora(
    suite: Suite, entry: ModelEntry, families: Sequence[Family], corpora: Iterable[Corpus]
) -> list[Corpus]:
    """Keep the corpora that a model is asked about.

    Those are the ones that the suite names for it, but for those that it keeps for families that do not test
    the model.
    """
    tasks = tasks_of(suite, entry)
    own = [family for family in families if entry.is_for(family.name) and supported_tasks(family, tasks)]
    return [
        corpus
        for corpus in corpora
        if entry.listens_to(corpus.entry)
        and (not corpus.entry.families or any(corpus.entry.is_for(family.name) for family in own))
    ]


def sounds_of(families: Iterable[Family]) -> set[str]:
    """Collect the kinds of sounds that changes draw from."""
    return {kind for family in families for change in family.all_changes for kind in kind_of_sounds(change)}


def wanted(
    families: Iterable[Family], tasks: Sequence[Task], seed: int, corpus: Corpus
) -> dict[str, np.ndarray]:
    """Say for each change which segments of a corpus any family will look at, bool ``(segments,)``.

    Nobody needs answers for the others; see :mod:`soundcheck.evaluation.changed_segments`. Changes of a
    family with probes are for the probes, its steps for the corpora.
    """
    table = corpus.segments
    nobody = np.zeros(len(table), dtype=bool)
    masks = {change.identity: nobody for family in families for change in family.all_changes}
    for family in families:
        if not corpus.entry.is_for(family.name):
            continue
        own = supported_tasks(family, tasks)
        if family.trials and corpus.trials is None and "speaker" not in table.columns:
            continue  # there is nothing to compare
        if not family.probes or corpus.entry.probes_of:
            rows = changed_segments.changed_rows(family, own, table, seed)
            for change in family.changes.values():
                masks[change.identity] = masks.get(change.identity, False) | rows
        if family.stepped and not corpus.entry.probes_of:
            rows = changed_segments.swept_rows(family, own, table, corpus.entry.blocks, seed)
            for change in family.stepped:
                masks[change.identity] = masks.get(change.identity, False) | rows
    return masks


def notebook_of(name: str, own: Path) -> Path:
    """Find a notebook; the folder of the suite comes first."""
    path = resources.find(f"notebooks/{name}.ipynb", own)
    if path is None:
        what = f"the notebook notebooks/{name}.ipynb is missing"
        raise input_error(f"family {name}", what, "Write it")
    return path


def family_jobs(
    suite: Suite, families: Iterable[Family], corpora: Sequence[Corpus], output: Output, sounds: Sounds
) -> list[Job]:
    """Describe one notebook for each model and each family that applies to one of its tasks.

    What stands in the description is all that the notebook sees; words are localised with the same.
    """
    library = record.library_digest()
    sounds.write(output.sounds)
    jobs = []
    for entry in suite.models.values():
        for family in families:
            tasks = supported_tasks(family, tasks_of(suite, entry))
            heard = evaluated_corpora(family, entry, corpora)
            if not tasks or not heard or not entry.is_for(family.name):
                continue
            views = _views(entry.name, heard, output, family.name)
            others = {
                other.name: _views(other.name, evaluated_corpora(family, other, heard), output, family.name)
                for other in (_others(suite, entry, tasks, family) if family.others else ())
            }
            description = {
                "model": entry.name,
                "family": family.name,
                **_settings(suite, tasks),
                "balance_samples": suite.balance_samples,
                "seconds": suite.notebook_seconds,
                "answers_changes": entry.answers_changes,
                "prefix": "../../media/",
            }
            notebook = notebook_of(family.name, suite.root)
            material = [sounds.digest(kind) for kind in sorted(sounds_of([family]))]
            absent = [missing(change, sounds) for change in family.all_changes]
            parts = [
                library,
                files.digest(notebook),
                family.digest,
                *_seen(views),
                [[name, *_seen(own)] for name, own in others.items()],
                material,
                absent,
                description,
            ]
            stem = files.slug(family.name)
            jobs.append(
                Job(
                    model=entry.name,
                    family=family.name,
                    source=notebook,
                    target=output.notebooks / files.slug(entry.name) / f"{stem}.ipynb",
                    description=description
                    | {
                        "own": str(suite.root),
                        "media": str(output.media),
                        "sounds": str(output.sounds),
                        "corpora": views,
                        "others": others,
                    },
                    fingerprint=files.digest(repr(parts)),
                    limit=suite.notebook_seconds,
                )
            )
    return jobs


def _others(suite: Suite, entry: ModelEntry, tasks: Sequence[Task], family: Family) -> list[ModelEntry]:
    """List the other models that a family tests for any of the tasks."""
    return [
        other
        for other in suite.models.values()
        if other.name != entry.name
        and other.is_for(family.name)
        and {task.name for task in tasks} & set(other.tasks)
    ]


def comparison_jobs(
    suite: Suite,
    families: Iterable[Family],
    corpora: Sequence[Corpus],
    output: Output,
    judged: Sequence[Job],
) -> list[Job]:
    """Describe one notebook for each comparison of the suite.

    Parameters
    ----------
    suite, families, corpora, output
        What is run.
    judged
        The families' notebooks that ended well; their rows and replicates are compared.
    """
    library = record.library_digest()
    titles = {family.name: family.title for family in families}
    by_model = {(job.model, job.family): job for job in judged}
    jobs = []
    for entry in suite.comparisons.values():
        both = (entry.baseline, entry.candidate)
        tasks = _common_tasks(suite, entry)
        common = list(corpora)
        for model in both:
            common = predicted_corpora(suite, suite.models[model], families, common)
        views = {model: _views(model, common, output) for model in both}
        pairs = [
            [by_model[model, family] for model in both]
            for family in titles
            if all((model, family) in by_model for model in both)
        ]
        rows = [path for pair in pairs for job in pair for path in (job.rows, job.replicates)]
        description = {
            "comparison": entry.name,
            "baseline": entry.baseline,
            "candidate": entry.candidate,
            "titles": titles,
            **_settings(suite, tasks),
            "prefix": "../media/",
        }
        notebook = notebook_of(COMPARISON, suite.root)
        seen = [digest for model in both for digest in _seen(views[model])]
        parts = [library, files.digest(notebook), *map(files.digest, rows), *seen, description]
        jobs.append(
            Job(
                model=entry.name,
                family=COMPARISON,
                source=notebook,
                target=output.comparisons / f"{files.slug(entry.name)}.ipynb",
                description=description
                | {
                    "media": str(output.media),
                    "pairs": [[str(job.rows) for job in pair] for pair in pairs],
                    "corpora": [list(pair) for pair in zip(*(views[model] for model in both), strict=True)],
                },
                fingerprint=files.digest(repr(parts)),
                limit=suite.notebook_seconds,
            )
        )
    return jobs


def study_jobs(output: Output) -> list[Job]:
    """Describe the notebooks of the book that depend on no model and no corpus.

    Their executions are kept in the cache: all books of one version share them.
    """
    library = record.library_digest()
    folder = output.studies
    jobs = []
    for name in STUDIES:
        notebook = resources.root() / "book" / f"{name}.ipynb"
        jobs.append(
            Job(
                model="",
                family=name,
                source=notebook,
                target=folder / f"{name}.ipynb",
                description={"media": str(folder / "media"), "prefix": "media/"},
                fingerprint=files.digest(repr([library, files.digest(notebook)])),
                limit=STUDY_SECONDS,
                judges=False,
            )
        )
    return jobs


def _common_tasks(suite: Suite, entry: ComparisonEntry) -> list[Task]:
    first, second = (suite.models[name].tasks for name in (entry.baseline, entry.candidate))
    return [suite.tasks[name] for name in first if name in second]


def _settings(suite: Suite, tasks: Iterable[Task]) -> dict:
    return {
        "tasks": [dataclasses.asdict(task) for task in tasks],
        **{name: getattr(suite, name) for name in suite.settings() if name not in UNTOLD},
    }


def _views(model: str, corpora: Iterable[Corpus], output: Output, family: str = "") -> list[dict]:
    """Describe each corpus with the predictions of a model, and the trials of a family."""
    folder = output.predictions / files.slug(model)
    views = []
    for corpus in corpora:
        name = f"{files.slug(corpus.name)}.parquet"
        trials = output.trials(corpus.name, family)
        views.append(
            {
                "name": corpus.name,
                "title": corpus.entry.title,
                "synthetic": corpus.synthetic,
                "blocks": corpus.entry.blocks,
                "base_condition": corpus.entry.base_condition,
                "probes_of": corpus.entry.probes_of,
                "root": str(corpus.root),
                "segments": str(output.corpora / name),
                "predictions": str(folder / name),
                "audio": corpus.entry.audio,
                "trials": str(trials) if trials.is_file() else "",
            }
        )
    return views


def _seen(views: Iterable[dict]) -> list:
    """Say what a notebook sees of its corpora: names, properties, and digests of the tables."""
    return [
        part
        for view in views
        for part in (
            *(view[key] for key in ("name", "title", "synthetic", "blocks", "base_condition")),
            files.digest(Path(view["segments"])),
            files.digest(Path(view["predictions"])),
            files.digest(Path(view["trials"])) if view["trials"] else "",
        )
    ]
