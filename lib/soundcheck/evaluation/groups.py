"""Groups of speakers: draws them, says which are large enough, and judges each of them against all.

One call judges measures for every group of a column; a measure knows nothing of groups::

    tests = {"Mean Value": lambda subset, predictions: mean_value(predictions.clean)}
    judge_groups(evaluation, subset, "accent", ["irish", "welsh"], tests, against=AVERAGE)

What it judges gets the group in a column of its own: ``accent: irish``.

Conventions
-----------
- A value is that of the group minus that of all groups, the group included, on the same replicates. *All* is
  either everybody together (:data:`EVERYBODY`; for groups of the same size, see :func:`balanced`) or the
  average of the groups (:data:`AVERAGE`), in which each weighs the same. Its gap is that of the group minus
  that of all others together, see :mod:`soundcheck.evaluation.conclusions`.
- Draws depend on the suite's seed, the family, the corpus and keys of segments or speakers, not on the order
  of rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.evaluation.conclusions import GroupGap
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset, once
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import against_all, against_average
from soundcheck.metrics.regression import EDGES
from soundcheck.metrics.shift import shift, shift_difference
from soundcheck.statistics import balance, group_sizes

EVERYBODY, AVERAGE = "everybody", "average"


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
    inside = subset.mask(*context) if context else np.ones(len(subset), dtype=bool)
    sizes = [int((mask & inside).sum()) for mask in masks.values()]
    measures = {
        test: once(called) for test, called in tests.items()
    }  # asked for the same statistic several times
    bases = measures
    if context:
        bases = {test: functools.partial(_moved, measure, inside) for test, measure in measures.items()}
    names = {
        group: ", ".join(": ".join(pair) for pair in ((column, group), context) if pair) for group in groups
    }
    evaluation.estimate_groups(subset, bases, {names[group]: mask for group, mask in masks.items()})
    rows = list(masks.values())
    for place, group in enumerate(groups):
        sized = subset.sized(len(groups), group_sizes.equal_size(sizes, place))
        for test, measure in measures.items():
            if context:
                compared = functools.partial(_shifted, measure, rows, place, inside)
            else:
                compared = functools.partial(_compared, measure, rows, place, against)
            gap = GroupGap(bases[test], masks[group], *evaluation.reference(subset, column, masks, group))
            evaluation.judge(sized, test, compared, names[group], gap=gap)


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


def _compared(
    measure: Measure,
    masks: Sequence[np.ndarray],
    place: int,
    against: str,
    subset: Subset,
    predictions: Predictions,
) -> Statistic:
    statistic = measure(subset, predictions)
    if against == AVERAGE:
        return against_average(statistic, masks, place)
    return against_all(statistic, masks[place])


def _shifted(
    measure: Callable[[Subset, Predictions, np.ndarray], Statistic],
    masks: Sequence[np.ndarray],
    place: int,
    inside: np.ndarray,
    subset: Subset,
    predictions: Predictions,
) -> Statistic:
    return shift_difference(measure(subset, predictions, inside), masks, place, inside)


def _moved(
    measure: Callable[[Subset, Predictions, np.ndarray], Statistic],
    inside: np.ndarray,
    subset: Subset,
    predictions: Predictions,
) -> Statistic:
    everybody = np.ones(len(subset), dtype=bool)
    return shift(measure(subset, predictions, inside), everybody, inside)


def least_per_bin(evaluation: Evaluation, subset: Subset) -> int:
    """Give the fewest segments that a bin needs in all groups together to be judged.

    The family's option ``bin_minimum`` holds the published number and size of groups; the average size of
    the groups decides, see :func:`soundcheck.statistics.group_sizes.least_per_bin`.
    """
    return _least(evaluation, subset, group_sizes.least_per_bin)


def least_predictions(evaluation: Evaluation, subset: Subset) -> int:
    """Give the fewest predictions of a bin or class, in all groups together, whose precision is judged.

    See :func:`soundcheck.statistics.group_sizes.least_predictions` and :func:`least_per_bin`.
    """
    return _least(evaluation, subset, group_sizes.least_predictions)


def _least(evaluation: Evaluation, subset: Subset, rule: Callable[[Mapping[str, int], float], int]) -> int:
    return rule(evaluation.family.options["bin_minimum"], len(subset) / subset.group_size[0])


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


def balanced(
    evaluation: Evaluation, subsets: Iterable[Subset], column: str
) -> list[tuple[Subset, list[str]]]:
    """Draw equally large groups with the same distribution of labels from each subset.

    See :mod:`soundcheck.statistics.balance`. Notes say how many segments were not drawn, and why; subsets
    with fewer than two groups are left out, and their tests skipped.
    """
    found = []
    for subset in subsets:
        drawn, note = balanced_rows(evaluation, subset, column)
        if not len(drawn):
            evaluation.skip(subset, note)
        there = set(drawn.segments[column])
        groups = [group for group in evaluation.family.options["groups"] if group in there]
        if groups:
            found.append((restricted(drawn, column, groups), groups))
    return found


def balanced_rows(evaluation: Evaluation, subset: Subset, column: str) -> tuple[Subset, str]:
    """Draw equally large groups from one subset; the text says how many segments were not drawn, and why."""
    segments = subset.segments
    groups = segments[column].where(segments[column].isin(evaluation.family.options["groups"]))
    purpose = ("balance", evaluation.family.name, subset.corpus, subset.task.name)
    drawn = balance.balance(
        subset.truth,
        groups.to_numpy(dtype=object),
        evaluation.balance_samples,
        seeds.uniform(evaluation.seed, *purpose, keys=segments["key"].tolist()),
        subset.task.kind,
        subset.blocks,
        EDGES,
    )
    if drawn.note:
        evaluation.note(f"{subset.corpus}, {subset.task.name}: {drawn.note}")
    found = evaluation.drawn(subset, drawn.rows)
    return found.sized(found.segments[column].nunique(), drawn.segments_per_group), drawn.note


def at_most(evaluation: Evaluation, subset: Subset, column: str, segments: int) -> Subset:
    """Keep so many random segments of each group; a note tells how many were not drawn."""
    groups = subset.segments[column].to_numpy(dtype=object)
    rng = seeds.generator(evaluation.seed, "at most", evaluation.family.name, subset.corpus)
    rows = balance.at_most(groups, segments, rng, subset.segments["key"].to_numpy(dtype=object))
    surplus = int(pd.notna(groups).sum()) - len(rows)
    if surplus:
        evaluation.note(
            f"{subset.corpus}: {surplus} segments of groups with more than {segments} were not drawn"
        )
    return evaluation.drawn(subset, rows)


def drawn_speakers(
    evaluation: Evaluation, subset: Subset, column: str
) -> tuple[Subset, dict[str, tuple[str, str]]]:
    """Keep the segments of so many speakers of each sex in each group.

    The family's option ``speakers`` says how many: ``{female: 5, male: 5}``; without it all segments are
    kept. If the corpus does not know the sex of its speakers, as many are drawn whatever their sex; if it
    does not know the speakers, all segments are kept. Notes say so.
    """
    subset = subset.take(np.flatnonzero(subset.segments[column].notna()))
    segments, corpus = subset.segments, subset.corpus
    needed = evaluation.family.options.get("speakers")
    known = {name for name in ("speaker", "sex") if name in segments and segments[name].notna().any()}
    if not needed or "speaker" not in known:
        if needed:
            evaluation.note(f"{corpus}: speakers are not known, so all segments of each {column} are used")
        return subset, dict.fromkeys(sorted(segments[column].unique()), ("all", ""))
    sexes = segments["sex"] if "sex" in known else pd.Series("", index=segments.index)
    if "sex" not in known:
        needed = {"": sum(needed.values())}
        evaluation.note(
            f"{corpus}: the sex of speakers is not known, so {needed['']} speakers of each {column} are "
            "drawn whatever their sex"
        )
    drawn = balance.draw_speakers(
        *(values.to_numpy(dtype=object) for values in (segments[column], segments["speaker"], sexes)),
        needed,
        lambda keys: seeds.uniform(evaluation.seed, "speakers", evaluation.family.name, corpus, keys=keys),
    )
    if drawn.unknown:
        what = "speaker" if "" in needed else f"speaker, or not of {' or '.join(needed)} sex"
        evaluation.note(
            f"{corpus}: {drawn.unknown} of {len(subset)} segments with {column} are without {what}"
        )
    counts = {}
    for group, found in drawn.counts.items():
        proportions = [f"{n} of {there} {sex}".strip() for sex, (n, there) in found.items()]
        lacks = [f"{n} of {needed[sex]} {sex}".strip() for sex, (n, _) in found.items() if n < needed[sex]]
        counts[group] = ", ".join(proportions), f"{' and '.join(lacks)} speakers" if lacks else ""
    return evaluation.drawn(subset, drawn.rows), counts
