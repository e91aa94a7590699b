"""Groups of the columns that a suite names: which are large enough, what is missing, what each scores.

Conventions
-----------
- All labelled segments are used, or all that there are without labels; nothing is balanced. Of embeddings the
  trials are used of which both sides belong to the group.
- A group that is too small, or that is one speaker, is counted and never judged. *Everybody* are the groups
  of a column that are judged.
- What is not judged has a skipped row that says why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.eligibility import eligible, trials_needed
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import estimate_others, restricted
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.evaluation.trials import Rate, rates_in_use
from soundcheck.evaluation.verification import TRIAL_COLUMNS
from soundcheck.suite.groups import BOTH

NO_GROUPS = (
    "the suite names no groups that this corpus has; name columns under groups:, such as "
    "groups: [device, sex × accent]"
)
FEWEST_SPEAKERS = 2  # of one nobody knows whether the group differs or the speaker
_NESTED = {
    "sex": "every speaker of {group} is {value}: what differs may be the sex",
    "accent": "every speaker of {group} has the accent {value}: what differs may be the accent",
    "language": "all speech of {group} has the language {value}: what differs may be the language",
}


@dataclasses.dataclass(frozen=True)
class GroupCount:
    """How large a group is."""

    group: str  # empty for segments that have no value
    segments: int  # with a label if there are labels; of trials those of two speakers
    targets: int | None  # trials of one speaker; ``None`` for segments
    speakers: int | None  # ``None`` if they are not known
    lacks: str  # why it is not judged, empty if it is

    @property
    def words(self) -> str:
        """How large it is, for people."""
        rows = "segment" if self.targets is None else "trial"
        found = [counted(self.segments + (self.targets or 0), rows)]
        return ", ".join(found + [counted(self.speakers, "speaker")] * (self.speakers is not None))


@dataclasses.dataclass(frozen=True, eq=False)
class Compared:
    """The groups of one column in one subset."""

    # rows of the groups that are judged; of trials all of them, because the threshold in use is taken
    # from all
    subset: Subset
    column: str  # column of the groups
    groups: list[str]  # groups that are judged: none, or two and more
    counts: list[GroupCount]  # all groups, and at the end what has no value

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """Rows of each group that is judged, bool ``(rows,)``."""
        return {group: self.subset.mask(self.column, group) for group in self.groups}


def labelled(evaluation: Evaluation, subset: Subset) -> Subset:
    """Keep the segments with a label if there are any, with a note about the others; else all of them."""
    if subset.task.is_embedding or subset.truth is None:
        return subset
    known = pd.notna(subset.truth)
    if not known.all():
        what = "transcript" if subset.task.is_transcription else f"label for {subset.task.name}"
        evaluation.note(f"{subset.corpus}: {int((~known).sum())} of {len(known)} segments have no {what}")
    return subset.take(np.flatnonzero(known))


def compared_groups(
    evaluation: Evaluation, subset: Subset, tests: Mapping[str, Measure | Rate]
) -> list[Compared]:
    """Find the groups of each column that the suite names for a corpus; skip what cannot be judged."""
    columns = evaluation.view(subset).groups
    if not columns:
        evaluation.not_applicable(subset, NO_GROUPS)
        return []
    for test, definition in evaluation.family.tests.items():
        if test not in tests and definition.fits(subset.task):
            evaluation.skip(subset, _other_test(subset), test)
    found = [_compared(evaluation, subset, column) for column in columns]
    for compared in found:
        _tell(evaluation, compared, len(subset))
        if not compared.groups:
            for test in tests:
                evaluation.skip(subset, _obstacle(compared), test, compared.column)
        small = [count for count in compared.counts if count.group and count.lacks]
        for count in small if tests and len(compared.counts) > 1 else ():
            # One row a group: products have many, and the reason is the same for all tests.
            evaluation.skip(subset, count.lacks, next(iter(tests)), f"{compared.column}: {count.group}")
        lacks = {count.group: count.lacks for count in compared.counts if count.group}
        measures = rates_in_use(evaluation, tests) if subset.task.is_embedding else tests
        estimate_others(evaluation, subset, compared.column, lacks, measures, compared.groups)
    return found


def _other_test(subset: Subset) -> str:
    if subset.task.is_transcription:
        return "the corpus has no transcripts"
    if subset.truth is None:
        return f"no segment has a label for {subset.task.name}: predictions are compared instead"
    return "segments are labelled: the agreement with the labels is judged instead"


def _compared(evaluation: Evaluation, subset: Subset, column: str) -> Compared:
    if _confused(subset, column):
        return Compared(subset, column, [], [])
    values = subset.segments[column]
    counts = [_count(evaluation, subset, column, group) for group in sorted(values.dropna().unique())]
    groups = [count.group for count in counts if not count.lacks]
    missing = values.isna().to_numpy()
    if missing.any():
        of_trials = subset.task.is_embedding
        targets = int(subset.truth[missing].sum()) if of_trials else None
        why = "not within one group" if of_trials else "no value"
        counts.append(GroupCount("", int(missing.sum()) - (targets or 0), targets, None, why))
    if len(groups) < 2:
        groups = []
    elif not subset.task.is_embedding:
        subset = restricted(subset, column, groups)
    return Compared(subset, column, groups, counts)


def _count(evaluation: Evaluation, subset: Subset, column: str, group: str) -> GroupCount:
    """Count a group and say what it lacks."""
    options, mask = evaluation.family.options, subset.mask(column, group)
    if subset.task.is_embedding:
        needed = trials_needed(options, subset, mask)
        (others, *_), (targets, *_), (speakers, *_) = needed
        return GroupCount(group, others, targets, speakers, eligible(needed))
    count, speakers = int(mask.sum()), None
    if "speaker" in subset.segments and subset.segments.loc[mask, "speaker"].notna().any():
        speakers = subset.segments.loc[mask, "speaker"].nunique()
    needed = [(count, "segment", options["minimum_segments"]), (speakers, "speaker", FEWEST_SPEAKERS)]
    return GroupCount(group, count, None, speakers, eligible(needed))


def _obstacle(compared: Compared) -> str:
    """Say why none of the groups of a column are compared."""
    if confused := _confused(compared.subset, compared.column):
        return confused
    there = [count for count in compared.counts if count.group]
    trials = compared.subset.task.is_embedding
    if not there:
        what = "no trial lies within a group" if trials else "no segment has a value"
        return f"{what} of {compared.column}"
    if len(there) == 1:
        return f"everything is one group: {there[0].group}"
    enough = sum(not count.lacks for count in there)
    return f"{enough} of {len(there)} groups are large enough, 2 needed"


def _confused(subset: Subset, column: str) -> str:
    """Say why a column of groups is something else for a task; empty if it is not."""
    if subset.task.is_embedding and column in TRIAL_COLUMNS:
        return f"trials have a column {column} of their own; give it another name in the data"
    if subset.task.name in column.split(BOTH):
        return f"{subset.task.name} is what is predicted: its groups have one label each"
    return ""


def _tell(evaluation: Evaluation, compared: Compared, total: int) -> None:
    """Note what has no value, what is too small, and which groups have one sex, accent or language only."""
    subset, column = compared.subset, compared.column
    if subset.task.is_embedding:
        threshold = evaluation.threshold(subset, subset.predictions.clean)
        evaluation.note(f"{subset.corpus}: trials are accepted above a score of {threshold:.4g}")
        return  # what lies within no group is in the table
    missing = next((count.segments for count in compared.counts if not count.group), 0)
    if missing:
        evaluation.note(f"{subset.corpus}: {missing} of {total} segments have no value of {column}")
    segments = subset.segments
    for other, words in _NESTED.items():
        if other in column.split(BOTH) or other not in segments or segments[other].nunique() < 2:
            continue
        for group, mask in compared.masks.items():
            values = segments.loc[mask, other]
            if values.nunique(dropna=False) == 1 and values.notna().all():
                told = words.format(group=f"{column} {group}", value=values.iloc[0])
                evaluation.note(f"{subset.corpus}: {told}")
