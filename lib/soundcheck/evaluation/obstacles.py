"""Why a family cannot be applied to a corpus: what it needs of the data, and of the model."""

from __future__ import annotations

import pandas as pd

from soundcheck.augment import registry
from soundcheck.common.tasks import Task
from soundcheck.suite.families import Family


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
