"""Groups of speakers that are too small to be judged: what they lack, and their skipped rows."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation import changed_segments
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset


def lacks(evaluation: Evaluation, subset: Subset, column: str) -> dict[str, str]:
    """Say of each group of a column what it lacks to be judged, empty if nothing."""
    if column not in subset.segments:
        return {}
    options = evaluation.family.options
    least, least_words = (options.get(name, 0) for name in ("minimum_segments", "minimum_words"))
    sizes = _possible(evaluation, subset)[column].value_counts()
    here = subset.segments[column].value_counts()
    found = {}
    for group in sorted(sizes.index):
        there, count = int(sizes[group]), int(here.get(group, 0))
        found[group] = ""
        if there < least:
            found[group] = f"{counted(there, 'segment')}, {least} needed"
        elif count < least:
            found[group] = f"{count} of {counted(there, 'segment')} looked at, {least} needed"
        elif least_words:
            words = sum(len(text.split()) for text in subset.truth[subset.mask(column, group)])
            if words < least_words:
                found[group] = f"{counted(words, 'word')}, {least_words} needed"
    return found


def skip_small_groups(
    evaluation: Evaluation, subset: Subset, tests: Iterable[str]
) -> list[tuple[object, ...]]:
    """Skip tests for all groups that are too small to be judged."""
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


def _possible(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Give the segments of a subset's corpus that the family could have looked at."""
    segments = next(view.segments for view in evaluation.corpora if view.name == subset.corpus)
    return segments[
        changed_segments.changed_rows(evaluation.family, evaluation.tasks, segments, evaluation.seed)
    ]
