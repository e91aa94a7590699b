"""What a run works with: families, corpora, sounds and models, loaded and checked, and what is predicted."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from soundcheck.augment.recordings import load_sounds
from soundcheck.augment.registry import kind_of_sounds, missing
from soundcheck.augment.sounds import Sounds
from soundcheck.common.messages import InputError, Problems
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.tasks import Task
from soundcheck.corpora.columns import add_groups, check_groups, check_installed, measure, measured_columns
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.corpora.trials.trial_design import trial_lists
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation import changed_segments
from soundcheck.models import processes
from soundcheck.models.base import LookUpModel, check_model, load_checked
from soundcheck.predict.report import PredictionReport
from soundcheck.run.output import Output
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Family, Perturbation


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run is about."""

    suite: Suite  # what the book is about afterwards
    chosen: frozenset[str]  # models
    fingerprints: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of the others, last time
    notices: tuple[str, ...] = ()  # what happens to the book, in sentences


class Opened(NamedTuple):
    """An output folder that nobody else writes to."""

    plan: Plan
    families: list[Family]
    output: Output


@dataclasses.dataclass(frozen=True)
class Material:
    """What a run works with."""

    plan: Plan
    families: Sequence[Family]
    output: Output  # the folder that it writes to
    corpora: Sequence[Corpus]  # loaded, with measured columns and groups
    sounds: Sounds  # noises and impulse responses
    fingerprints: Mapping[str, str]  # of the models
    looking_up: Mapping[str, LookUpModel]  # models that do not listen, until they have predicted
    lists: Mapping[tuple[str, str], TrialTable]  # corpus and family -> trials
    unloaded: Mapping[str, str]  # model that cannot be loaded here, but was elsewhere or earlier -> why
    # model -> what became of its inputs; empty before models are asked
    reports: Mapping[str, PredictionReport] = dataclasses.field(default_factory=dict)

    @property
    def suite(self) -> Suite:
        """What the book is about."""
        return self.plan.suite


def load(opened: Opened, jobs: int, answered: Mapping[str, str] | None = None) -> Material:
    """Load all corpora and sounds, check the models, and name all problems at once.

    A model whose fingerprint is known, of a shard (``answered``) or of the book that is added to, need not
    load here.

    Raises InputError: if anything that the suite names cannot be used.
    """
    plan, families, output = opened
    os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things, and for all children
    suite, problems = plan.suite, Problems()
    known = {**plan.fingerprints, **(answered or {})}
    sounds = Sounds()
    corpora, fingerprints, looking_up, unloaded = [], {}, {}, {}
    # Threads only wait: models are imported, and train themselves on first use, in processes of their own.
    with processes.threads(max(1, jobs)) as pool:
        entries = suite.models.values()
        listening = {e.name: pool.submit(check_model, e, suite) for e in entries if e.about.needs_audio}
        for entry in suite.corpora.values():
            with problems.collected():
                corpora.append(load_corpus(entry, suite, output.cache, jobs, progress=True))
        if not len(problems):
            with problems.collected():
                check_groups(suite, corpora)
        others = [entry for entry in entries if entry.name not in listening]
        loading = {entry.name: pool.submit(load_checked, entry, suite, corpora) for entry in others}
    for name in suite.models:
        try:
            if name in loading:
                looking_up[name], fingerprints[name] = loading[name].result()
            else:
                fingerprints[name] = listening[name].result()
        except InputError as error:
            if name in known:
                fingerprints[name], unloaded[name] = known[name], str(error)
            else:
                problems.extend(error)
    measured = [measured_columns(corpus.entry, families, suite.measured) for corpus in corpora]
    with problems.collected():
        check_installed(name for names in measured for name in names)
    if suite.sounds or not len(problems):  # nothing is synthesised for a suite that is refused
        with problems.collected():
            kinds = sounds_of(families)
            sounds = load_sounds(suite, kinds, output.cache, jobs=jobs, progress=True)
    problems.raise_if_any()
    corpora = [
        measure(corpus, names, output.cache, jobs, progress=True)
        for corpus, names in zip(corpora, measured, strict=True)
    ]
    corpora = [add_groups(corpus) for corpus in corpora]
    lists = trial_lists(suite, families, corpora)
    return Material(*opened, corpora, sounds, fingerprints, looking_up, lists, unloaded)


# Which predictions a run needs ------------------------------------------------------------------------------


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


def answers_changes(entry: ModelEntry, family: Family, sounds: Sounds | None = None) -> bool:
    """Say whether a model has answers for all changes of a family that can be made here."""
    known = entry.about.known_changes(entry.path)
    if known is None:
        return True
    return bool(known) and all(
        change.identity in known for change in family.all_changes if not missing(change, sounds)
    )


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
    tasks = suite.tasks_of(entry)
    testing = [family for family in families if entry.is_for(family.name) and supported_tasks(family, tasks)]
    return [
        corpus
        for corpus in corpora
        if entry.listens_to(corpus.entry)
        and (not corpus.entry.families or any(corpus.entry.is_for(family.name) for family in testing))
    ]


def sounds_of(families: Iterable[Family]) -> set[str]:
    """Collect the kinds of sounds that changes draw from."""
    return {kind for family in families for change in family.all_changes for kind in kind_of_sounds(change)}


def needed_segments(
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
        family_tasks = supported_tasks(family, tasks)
        if family.trials and corpus.trials is None and "speaker" not in table.columns:
            continue  # there is nothing to compare
        if not family.probes or corpus.entry.probes_of:
            rows = changed_segments.changed_rows(family, family_tasks, table, seed)
            for change in family.changes.values():
                masks[change.identity] = masks.get(change.identity, False) | rows
        if family.stepped and not corpus.entry.probes_of:
            rows = changed_segments.swept_rows(
                family, family_tasks, table, corpus.entry.blocks, seed, corpus.trials
            )
            for series in family.series.values():
                at = changed_segments.growing_steps(family, table, rows, len(series.steps))
                for number, change in enumerate(series.steps.values(), start=1):
                    segments = rows if at is None else at == number
                    masks[change.identity] = masks.get(change.identity, False) | segments
    return masks
