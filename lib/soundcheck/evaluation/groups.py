"""Groups of speakers or recordings: which are compared, how large they are, and each judged against all.

One call judges measures for every group of a column; a measure knows nothing of groups::

    tests = {"Mean Value": lambda subset, predictions: mean_value(predictions.clean)}
    judge_groups(evaluation, subset, "accent", ["irish", "welsh"], tests, against=AVERAGE)

What it judges gets the group in a column of its own: ``accent: irish``.

Conventions
-----------
- A value is that of the group minus that of all groups, the group included, on the same replicates. *All* is
  either everybody together (:data:`EVERYBODY`; for groups of the same size, see
  :func:`soundcheck.evaluation.drawn_groups.balanced`) or the average of the groups (:data:`AVERAGE`), in
  which each weighs the same. Its gap is that of the group minus that of all others together, see
  :mod:`soundcheck.evaluation.conclusions`.
- Every group has a value among the estimates, those that are too small to be compared without interval.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from soundcheck.evaluation.conclusions import GroupGap
from soundcheck.evaluation.eligibility import skip_small_groups
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.measure_sets import MeasureSet
from soundcheck.evaluation.subset import Measure, Predictions, Subset, once
from soundcheck.evaluation.trials import judge_trial_groups, rates_in_use
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import against_all, against_average
from soundcheck.metrics.shift import shift, shift_difference
from soundcheck.statistics import group_sizes

EVERYBODY, AVERAGE = "everybody", "average"


@dataclasses.dataclass(frozen=True)
class GroupCount:
    """How large a group is."""

    group: str  # empty for segments that have no value
    segments: int  # with a label if there are labels; of trials those of two speakers
    speakers: int | str | None = None  # or which ones were drawn; ``None`` if they are not known
    lacks: str = ""  # why it is not compared, empty if it is
    targets: int | None = None  # trials of one speaker; ``None`` for segments


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one column in one subset."""

    subset: Subset  # rows of the groups that are compared; of trials all, which give the threshold in use
    column: str
    names: list[str]  # groups that are compared: none, or two and more
    counts: Sequence[GroupCount]  # of all groups, and at the end of what has no value
    everything: Subset  # also rows of groups that are not compared

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """Rows of each group that is compared, bool ``(rows,)``."""
        return {group: self.subset.mask(self.column, group) for group in self.names}


def compared(subset: Subset, column: str, names: Sequence[str], counts: Sequence[GroupCount] = ()) -> Groups:
    """Compare some groups of a subset, if there are two or more of them."""
    names = list(names) if len(names) > 1 else []
    of_trials = subset.task.is_embedding
    own = subset if of_trials or not names else restricted(subset, column, names)
    return Groups(own, column, names, counts, subset)


def compare(
    evaluation: Evaluation, found: Sequence[Groups], measures: MeasureSet, *, against: str = EVERYBODY
) -> None:
    """Judge a set of measures for all groups; those that are too small get their values."""
    for one in found:
        tests = measures(evaluation, one.everything)
        if one.everything.task.is_embedding:
            tests = rates_in_use(evaluation, tests)
        lacks = {count.group: count.lacks for count in one.counts if count.group}
        estimate_others(evaluation, one.everything, one.column, lacks, tests, one.names)
    for one in found:
        tests = measures(evaluation, one.subset)
        if one.names and one.subset.task.is_embedding:
            judge_trial_groups(evaluation, one.subset, one.column, one.names, tests)
        elif one.names:
            judge_groups(evaluation, one.subset, one.column, one.names, tests, against=against)


def compare_in_contexts(
    evaluation: Evaluation, found: Iterable[Groups], measures: MeasureSet, context: str, values: Sequence[str]
) -> None:
    """Judge by how much each value of a column, such as a sentiment, shifts the measures of each group."""
    for one in found:
        for value in values if one.names else ():
            tests = measures(evaluation, one.subset)
            judge_groups(evaluation, one.subset, one.column, one.names, tests, context=(context, value))


def judge_groups(
    evaluation: Evaluation,
    subset: Subset,
    column: str,
    groups: Sequence[str],
    tests: Mapping[str, Measure],
    *,
    against: str = EVERYBODY,
    context: tuple[str, str] | None = None,
) -> None:
    """Judge measures for each group of a column against all groups.

    Simulated thresholds are those for groups of equal size whose differences would vary as much by chance,
    see :func:`soundcheck.statistics.group_sizes.equal_size`.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    rows, everybody = list(masks.values()), np.ones(len(subset), dtype=bool)
    inside = subset.mask(*context) if context else everybody
    sizes = [int((mask & inside).sum()) for mask in rows]
    where = f", {': '.join(context)}" if context else ""
    names = {group: f"{column}: {group}{where}" for group in groups}

    def own(measure: Measure, s: Subset, p: Predictions) -> Statistic:
        return shift(measure(s, p, inside), everybody, inside) if context else measure(s, p)

    def difference(measure: Measure, place: int, s: Subset, p: Predictions) -> Statistic:
        if context:
            return shift_difference(measure(s, p, inside), rows, place, inside)
        if against == AVERAGE:
            return against_average(measure(s, p), rows, place)
        return against_all(measure(s, p), rows[place])

    called = {test: once(measure) for test, measure in tests.items()}  # once, not for each group
    bases = {test: functools.partial(own, measure) for test, measure in called.items()}
    evaluation.estimate_groups(subset, bases, {names[group]: mask for group, mask in masks.items()})
    for place, group in enumerate(groups):
        sized = subset.sized(len(groups), group_sizes.equal_size(sizes, place))
        for test, measure in called.items():
            gap = GroupGap(bases[test], masks[group], *evaluation.reference(subset, column, masks, group))
            against_others = functools.partial(difference, measure, place)
            evaluation.judge(sized, test, against_others, names[group], gap=gap)


def estimate_others(
    evaluation: Evaluation,
    subset: Subset,
    column: str,
    lacks: Mapping[str, str],
    tests: Mapping[str, Measure],
    compared: Collection[str] = (),
) -> None:
    """Estimate measures of the groups that are not compared, each with what it ``lacks``."""
    done = compared if len(compared) > 1 else ()
    parts = {group: f"{column}: {group}" for group in lacks if group not in done}
    if parts:
        masks = {part: subset.mask(column, group) for group, part in parts.items()}
        why = {part: lacks[group] or "no other group is large enough" for group, part in parts.items()}
        sized = subset.sized(len(lacks), len(subset) // len(lacks))
        evaluation.estimate_groups(sized, tests, masks, why)


def restricted(subset: Subset, column: str, groups: Sequence[str]) -> Subset:
    """Keep the rows of some groups, at least one."""
    found = subset.take(np.flatnonzero(subset.segments[column].isin(groups)))
    return found.sized(len(groups), len(found) // len(groups))


def compared_columns(
    evaluation: Evaluation,
    subset: Subset,
    tests: Iterable[str],
    groups_of: Callable[[Subset, str], list[str]],
    reason: str,
) -> dict[str, list[str]]:
    """List the columns of the family's option ``groups`` that a corpus has, and their groups.

    Tests get a skipped row for every other column.
    """
    found = {}
    for column in evaluation.family.options["groups"]:
        known = column in subset.segments and subset.segments[column].notna().any()
        groups = groups_of(subset, column) if known else []
        if len(groups) > 1:
            found[column] = groups
            continue
        for test in tests:
            evaluation.skip(subset, reason if known else f"the corpus has no column {column}", test, column)
    return found


def judge_columns(
    evaluation: Evaluation,
    subset: Subset,
    tests: Mapping[str, Measure],
    few: str = "",
    against: str = EVERYBODY,
) -> tuple[list[tuple[object, ...]], dict[str, list[str]]]:
    """Judge the groups of each column of the family; gives those that are too small, and those compared."""
    few = few or f"fewer than 2 groups with {evaluation.family.options['minimum_segments']} segments"
    small = skip_small_groups(evaluation, subset, tests)
    compared = compared_columns(evaluation, subset, tests, evaluation.groups, few)
    for column, groups in compared.items():
        judge_groups(evaluation, subset, column, groups, tests, against=against)
    return small, compared
