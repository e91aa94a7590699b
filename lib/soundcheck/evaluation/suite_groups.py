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

import numpy as np
import pandas as pd

from soundcheck.evaluation.eligibility import eligible, trials_needed
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import GroupCount, Groups, compared
from soundcheck.evaluation.measure_sets import of_suite_groups
from soundcheck.evaluation.subset import Subset
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


def suite_groups(evaluation: Evaluation) -> list[Groups]:
    """Find the groups of each column that the suite names for a corpus; skip what cannot be judged."""
    found = []
    for subset in [labelled(evaluation, subset) for subset in evaluation.subsets()]:
        tests = of_suite_groups(evaluation, subset)
        columns = evaluation.view(subset).groups
        if not columns:
            evaluation.not_applicable(subset, NO_GROUPS)
            continue
        for test, definition in evaluation.family.tests.items():
            if test not in tests and definition.fits(subset.task):
                evaluation.skip(subset, _other_test(subset), test)
        own = [_groups(evaluation, subset, column) for column in columns]
        for one in own:
            _tell(evaluation, one)
            if not one.names:
                for test in tests:
                    evaluation.skip(subset, _obstacle(one), test, one.column)
            small = [count for count in one.counts if count.group and count.lacks]
            for count in small if tests and len(one.counts) > 1 else ():
                # One row a group: products have many, and the reason is the same for all tests.
                evaluation.skip(subset, count.lacks, next(iter(tests)), f"{one.column}: {count.group}")
        found += own
    return found


def labelled(evaluation: Evaluation, subset: Subset) -> Subset:
    """Keep the segments with a label if there are any, with a note about the others; else all of them."""
    if subset.task.is_embedding or subset.truth is None:
        return subset
    known = pd.notna(subset.truth)
    if not known.all():
        what = "transcript" if subset.task.is_transcription else f"label for {subset.task.name}"
        evaluation.note(f"{subset.corpus}: {int((~known).sum())} of {len(known)} segments have no {what}")
    return subset.take(np.flatnonzero(known))


def _other_test(subset: Subset) -> str:
    if subset.task.is_transcription:
        return "the corpus has no transcripts"
    if subset.truth is None:
        return f"no segment has a label for {subset.task.name}: predictions are compared instead"
    return "segments are labelled: the agreement with the labels is judged instead"


def _groups(evaluation: Evaluation, subset: Subset, column: str) -> Groups:
    if _confused(subset, column):
        return compared(subset, column, [])
    values, options, of_trials = subset.segments[column], evaluation.family.options, subset.task.is_embedding
    counts = []
    for group in sorted(values.dropna().unique()):
        mask, targets, speakers = subset.mask(column, group), None, None
        segments = int(mask.sum())
        if of_trials:
            needed = trials_needed(options, subset, mask)
            (segments, *_), (targets, *_), (speakers, *_) = needed
        else:
            if "speaker" in subset.segments and subset.segments.loc[mask, "speaker"].notna().any():
                speakers = subset.segments.loc[mask, "speaker"].nunique()
            needed = [(segments, "segment", options["minimum_segments"])]
            needed.append((speakers, "speaker", FEWEST_SPEAKERS))
        counts.append(GroupCount(group, segments, speakers, eligible(needed), targets))
    names = [count.group for count in counts if not count.lacks]
    missing = values.isna().to_numpy()
    if missing.any():
        targets = int(subset.truth[missing].sum()) if of_trials else None
        why = "not within one group" if of_trials else "no value"
        counts.append(GroupCount("", int(missing.sum()) - (targets or 0), None, why, targets))
    return compared(subset, column, names, counts)


def _obstacle(found: Groups) -> str:
    """Say why none of the groups of a column are found."""
    if confused := _confused(found.subset, found.column):
        return confused
    there = [count for count in found.counts if count.group]
    trials = found.subset.task.is_embedding
    if not there:
        what = "no trial lies within a group" if trials else "no segment has a value"
        return f"{what} of {found.column}"
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


def _tell(evaluation: Evaluation, found: Groups) -> None:
    """Note what has no value, what is too small, and which groups have one sex, accent or language only."""
    subset, column = found.subset, found.column
    if subset.task.is_embedding:
        threshold = evaluation.threshold(subset, subset.predictions.clean)
        evaluation.note(f"{subset.corpus}: trials are accepted above a score of {threshold:.4g}")
        return  # what lies within no group is in the table
    missing = next((count.segments for count in found.counts if not count.group), 0)
    total = len(found.everything)
    if missing:
        evaluation.note(f"{subset.corpus}: {missing} of {total} segments have no value of {column}")
    segments = subset.segments
    for other, words in _NESTED.items():
        if other in column.split(BOTH) or other not in segments or segments[other].nunique() < 2:
            continue
        for group, mask in found.masks.items():
            values = segments.loc[mask, other]
            if values.nunique(dropna=False) == 1 and values.notna().all():
                told = words.format(group=f"{column} {group}", value=values.iloc[0])
                evaluation.note(f"{subset.corpus}: {told}")
