"""Whether a family can be applied to a corpus, and whether a group is large enough; if not, why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def trials_needed(options: dict, subset: Subset, mask: np.ndarray) -> list[tuple[int, str, int]]:
    """Count what a group of trials needs: trials of two speakers, trials of one, and speakers."""
    targets = int(subset.truth[mask].sum())
    speakers = len(np.unique(subset.segments.loc[mask, ["first", "second"]]))
    least = options["minimum_trials"]
    return [
        (int(mask.sum()) - targets, "non-target trial", least),
        (targets, "target trial", least),
        (speakers, "speaker", options["minimum_speakers"]),
    ]


def lacks(evaluation: Judging, subset: Subset, column: str) -> dict[str, str]:
    """Say of each group of a column what it lacks, empty if nothing; see :func:`eligible`.

    The family's options decide: ``minimum_segments`` and perhaps ``minimum_words``; of trials
    ``minimum_trials`` and ``minimum_speakers``.
    """
    if column not in subset.segments:
        return {}
    options = evaluation.family.options
    if subset.task.is_embedding:
        names = sorted(subset.segments[column].dropna().unique())
        return {name: eligible(trials_needed(options, subset, subset.mask(column, name))) for name in names}
    least, least_words = (options.get(name, 0) for name in ("minimum_segments", "minimum_words"))
    here = subset.segments[column].value_counts()

    def needed(name: str, possible: int) -> Iterator[tuple[int, str, int]]:
        yield possible, "segment", least
        yield int(here.get(name, 0)), "transformed segment", least
        if least_words:
            texts = subset.truth[subset.mask(column, name)]
            yield sum(len(text.split()) for text in texts), "word", least_words

    sizes = _possible(evaluation, subset)[column].value_counts()
    return {name: eligible(needed(name, int(sizes[name]))) for name in sorted(sizes.index)}


def skip_small_groups(evaluation: Judging, subset: Subset, tests: Iterable[str]) -> list[tuple[object, ...]]:
    """Skip tests of groups that are too small: their corpus, column, name, segments, speakers, and lack."""
    possible, rows = _possible(evaluation, subset), []
    for column in evaluation.family.options["groups"]:
        for group, lack in lacks(evaluation, subset, column).items():
            if lack:
                own = possible[possible[column].eq(group)]
                speakers = own["speaker"].nunique() if "speaker" in own else ""
                rows.append((subset.corpus, column, group, len(own), speakers, lack))
                for test in tests:
                    evaluation.skip(subset, lack, test, f"{column}: {group}")
    return rows


def _possible(evaluation: Judging, subset: Subset) -> pd.DataFrame:
    """Give the segments of a subset's corpus that the family could have used."""
    segments = next(view.segments for view in evaluation.corpora if view.name == subset.corpus)
    return segments[
        changed_segments.changed_rows(evaluation.family, evaluation.tasks, segments, evaluation.seed)
    ]


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
