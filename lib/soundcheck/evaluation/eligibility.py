"""Whether a family can be applied to a corpus, and whether a group is large enough; if not, why."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.augment import registry
from soundcheck.common.tasks import Task
from soundcheck.common.wording import counted
from soundcheck.evaluation import changed_segments
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import Subset
from soundcheck.suite.families import Family


def eligible(needed: Iterable[tuple[int | None, str, int]]) -> str:
    """Say what a part has too few of; empty if it is large enough.

    ``needed`` are numbers, of what, and the least of each; ``None`` is not known, and enough.

    >>> eligible([(40, "segment", 25), (1, "speaker", 2)])
    '1 speaker, 2 needed'
    """
    for count, noun, least in needed:
        if count is not None and count < least:
            return f"{counted(count, noun)}, {least} needed"
    return ""


@dataclasses.dataclass(frozen=True)
class GroupCount:
    """How large a group is."""

    group: str  # empty for segments that have no value
    segments: int  # with a label if there are labels; of trials those of two speakers
    speakers: int | str | None = None  # or which ones were drawn; ``None`` if they are not known
    lacks: str = ""  # why it is not compared, empty if it is
    targets: int | None = None  # trials of one speaker; ``None`` for segments


def trial_count(options: Mapping[str, Any], subset: Subset, column: str, group: str) -> GroupCount:
    """Count a group of trials, which needs trials of two speakers, trials of one, and speakers."""
    mask, least = subset.mask(column, group), options["minimum_trials"]
    targets = int(subset.truth[mask].sum())
    others = int(mask.sum()) - targets
    speakers = len(np.unique(subset.segments.loc[mask, ["first", "second"]]))
    needed = [(others, "non-target trial", least), (targets, "target trial", least)]
    lack = eligible([*needed, (speakers, "speaker", options["minimum_speakers"])])
    return GroupCount(group, others, speakers, lack, targets)


def group_counts(evaluation: Judging, subset: Subset, column: str) -> list[GroupCount]:
    """Count the groups of a column, and say of each what it lacks by the family's options."""
    options, family = evaluation.family.options, evaluation.family
    if column not in subset.segments:
        return []
    if subset.task.is_embedding:
        names = sorted(subset.segments[column].dropna().unique())
        return [trial_count(options, subset, column, name) for name in names]
    least, least_words = (options.get(name, 0) for name in ("minimum_segments", "minimum_words"))
    table = evaluation.view(subset).segments
    possible = table[changed_segments.changed_rows(family, evaluation.tasks, table, evaluation.seed)]
    counts = []
    for name, rows in possible.groupby(column, observed=True):
        mask = subset.mask(column, name)
        needed = [(len(rows), "segment", least), (int(mask.sum()), "transformed segment", least)]
        if least_words:
            needed.append((sum(len(text.split()) for text in subset.truth[mask]), "word", least_words))
        speakers = rows["speaker"].nunique() if "speaker" in rows else None
        counts.append(GroupCount(name, len(rows), speakers, eligible(needed)))
    return counts


def obstacle(
    family: Family, task: Task, segments: pd.DataFrame, *, audio: bool = True, predicts_changes: bool = True
) -> str:
    """Say why a family cannot be applied; empty if it can."""
    for column in family.columns:
        if column not in segments.columns or segments[column].isna().all():
            return f"the corpus has no column {'emotion' if column == 'category' else column}"
    if family.label:
        if task.name not in segments.columns:
            return f"the corpus has no column {task.name}"
        if segments[task.name].isna().all():
            return f"no segment has a label for {task.name}"
    measured = [name for name in family.measured if name in segments.columns]
    alone = not family.options.get("columns")  # else what the table brings will do
    if not audio and alone and measured and segments[measured].isna().all(axis=None):
        return f"the corpus has no audio on which {' and '.join(measured)} could be measured"
    needed = [*family.changes.values(), *family.transformed]
    if needed and not predicts_changes:
        return "a table of predictions cannot answer for changed signals"
    if needed and not audio:
        return "the corpus has no audio that could be changed"
    return next(filter(None, map(registry.missing, needed)), "")
