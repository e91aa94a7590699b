"""Which predictions a run needs: of which models, for which corpora, changes and segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from soundcheck.augment.registry import kind_of_sounds, missing
from soundcheck.augment.sounds import Sounds
from soundcheck.common.tasks import Task
from soundcheck.corpora.load import Corpus
from soundcheck.evaluation import changed_segments
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Family, Perturbation


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


def answers_changes(entry: ModelEntry, family: Family, sounds: Sounds | None = None) -> bool:
    """Say whether a model has answers for all changes of a family that can be made here."""
    known = entry.known_changes
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
    tasks = tasks_of(suite, entry)
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
