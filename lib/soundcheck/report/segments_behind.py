"""The segments behind a number of a page: a few to hear, more to read.

A notebook says what the number is about, and shows all at once::

    segments_behind.show(evaluation, [segments_behind.of_errors(subset) for subset in subsets])

Conventions
-----------
- How segments are chosen, and what *typical* is, says :mod:`soundcheck.report.chosen_segments`.
- Of all numbers of a page only the segments of the largest gap are heard, of a model that guesses none: it
  hears nothing, so its errors tell nothing about a sound.
- A group whose mean differs most from that of the others has the largest gap; see :data:`MOST_GROUPS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import BINS, bin_numbers
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.report import tables
from soundcheck.report.chosen_segments import TYPICAL, WORST, Chosen, choose, gaps, segment_errors
from soundcheck.report.segment_lists import Behind, place_of, show

__all__ = [
    "Behind",
    "of_distribution",
    "of_errors",
    "of_groups",
    "of_predictions",
    "of_ranges",
    "of_shifts",
    "of_speakers",
    "show",
]

MOST_GROUPS = 2  # with the largest gaps, of a corpus and task
MOST_SPEAKERS = 3  # that are furthest off
READ, HEARD = 4, 1  # segments of a kind
FURTHEST = "furthest"  # where there is no error: in the direction of the gap


def of_errors(subset: Subset) -> Behind:
    """Choose the segments with the largest error, typical ones and the best of a corpus and task."""
    scores = segment_errors(subset)
    chosen = choose(scores, _keys(subset), worst=READ, typical=READ, best=READ)
    error = float(np.nanmean(scores)) if np.isfinite(scores).any() else 0.0
    told = f"mean error {tables.number(error)}" if subset.task.is_regression else f"{_percent(error)} wrong"
    return _number(subset, told, {"": chosen}, error, {"": {WORST: 2, TYPICAL: HEARD}})


def of_distribution(subset: Subset) -> Behind:
    """Choose segments of the bin or class whose share among the predictions differs most from the labels'.

    They are those that are wrongly in it if there are too many predictions, else those wrongly not in it.
    """
    names, truth, predicted = _parts(subset)
    known = (truth >= 0) & (predicted >= 0)
    shares = [
        np.bincount(codes[known], minlength=len(names)) / max(1, known.sum()) for codes in (truth, predicted)
    ]
    excess = shares[1] - shares[0]
    n = int(np.argmax(np.abs(excess)))
    wrong = known & ((predicted == n) != (truth == n))
    mask = wrong & ((predicted == n) if excess[n] > 0 else (truth == n))
    of_labels, of_predictions = (_percent(own[n]) for own in shares)
    told = f"{tables.label(names[n])}, {of_predictions} of predictions and {of_labels} of labels"
    chosen = choose(segment_errors(subset), _keys(subset), mask, worst=READ, typical=READ)
    side = "wrongly in it" if excess[n] > 0 else "wrongly not in it"
    return _number(subset, told, {side: chosen}, float(excess[n]))


def of_groups(subset: Subset, column: str, groups: Sequence[str]) -> list[Behind]:
    """Choose worst and typical segments of the groups with the largest gaps in error, and of the others."""
    scores = segment_errors(subset)
    masks = {group: subset.mask(column, group) for group in groups}
    return _largest_gaps(subset, masks, scores, column, "mean error", WORST)


def of_predictions(subset: Subset, column: str, groups: Sequence[str]) -> list[Behind]:
    """Choose segments of the groups whose predictions differ most from those of the others, without labels.

    Of values those furthest in the direction of the gap and typical ones; of classes the one whose share
    differs most decides, and segments that were predicted to be it come first.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    if subset.task.is_regression:
        return _largest_gaps(subset, masks, subset.predictions.clean, column, "mean prediction", FURTHEST)
    found = []
    for name in subset.task.classes:
        scores = _is_class(subset, name)
        largest = gaps(scores, masks)[:1]
        found += [(-abs(gap), name, scores) for gap, _ in largest]
    if not found:
        return []
    _, name, scores = min(found, key=lambda entry: entry[:2])
    return _largest_gaps(subset, masks, scores, column, f"share of {name}", FURTHEST)


def of_shifts(
    subset: Subset, column: str, groups: Sequence[str], context: str, values: Sequence[str]
) -> list[Behind]:
    """Choose segments of the group that a context moves most unlike the others, and of these in that context.

    Parameters
    ----------
    subset
        Rows of the groups.
    column, groups
        Column of the segment table that holds the group, and the groups.
    context, values
        Column of the context, and its values.
    """
    numeric = subset.task.is_regression
    candidates = (
        {"mean prediction": subset.predictions.clean}
        if numeric
        else {f"share of {name}": _is_class(subset, name) for name in subset.task.classes}
    )
    masks = {group: subset.mask(column, group) for group in groups}
    found = []
    for what, scores in candidates.items():
        known = np.isfinite(scores)
        for value in values:
            inside = known & subset.mask(context, value)
            shifts = {
                group: scores[inside & mask].mean() - scores[known & mask].mean()
                for group, mask in masks.items()
                if (inside & mask).any()
            }
            for group, moved in shifts.items():
                gap = float(moved - np.mean(list(shifts.values())))
                found.append((-abs(gap), what, group, value, gap, inside, scores))
    if not found:
        return []
    _, what, group, value, gap, inside, scores = min(found, key=lambda entry: entry[:4])
    told = f"{group}, {context} {value}: {what} moves {_signed(gap)} more than on average"
    own = {f"{column}: {group}": masks[group] & inside, "the others": ~masks[group] & inside}
    return [_two_sides(subset, told, own, scores, gap, FURTHEST)]


def of_ranges(subset: Subset, wanted: Mapping[str, tuple[float, float]], column: str = "category") -> Behind:
    """Choose segments of the category that lies least often in the range that is expected of it.

    Parameters
    ----------
    subset
        Segments with predictions of values.
    wanted
        Category -> lowest and highest expected prediction.
    column
        Column of the segment table that holds the category.
    """
    predicted = subset.predictions.clean
    found = []
    for category, (low, high) in wanted.items():
        outside = np.maximum(np.maximum(low - predicted, predicted - high), 0.0)
        mask = subset.mask(column, category) & np.isfinite(outside)
        if mask.any():
            found.append((float(np.mean(outside[mask] > 0)), category, outside, mask))
    if not found:
        return Behind(place_of(subset), subset, {}, 0.0)
    share, category, outside, mask = min(found, key=lambda entry: (-entry[0], entry[1]))
    told = f"{category}, {_percent(share)} outside of the expected range"
    chosen = choose(outside, _keys(subset), mask, worst=READ, typical=READ)
    return _number(subset, told, {f"{column}: {category}": chosen}, share)


def of_speakers(subset: Subset, found: SpeakerValues, *, by_rank: bool = False) -> Behind:
    """Choose the speakers that are furthest off, and of each the segments with a typical error.

    Parameters
    ----------
    subset
        The segments.
    found
        Values of the speakers, from :func:`soundcheck.evaluation.speakers.speaker_values`.
    by_rank
        Whether a speaker is off by ranks, or by values.
    """
    truth, predicted = found.truth, found.prediction
    if by_rank:
        truth, predicted = (pd.DataFrame(values).rank().to_numpy() for values in (truth, predicted))
    off = np.abs(predicted - truth)
    names = np.array(found.names, dtype=object)
    if not len(names) or not np.isfinite(off).any():
        return Behind(place_of(subset), subset, {}, 0.0)
    largest = np.nan_to_num(off, nan=-1.0)
    speakers = choose(
        np.where(largest.max(axis=1) >= 0, largest.max(axis=1), np.nan), names, worst=MOST_SPEAKERS
    )
    scores, sides = segment_errors(subset), {}
    for place, _ in speakers:
        n = int(largest[place].argmax())
        label = found.labels[n]
        form = (lambda value: f"{value:g}") if by_rank else (lambda value: f"{value:.2f}")
        what = " ".join(filter(None, ("rank by" if by_rank else "share of" if label else "mean of", label)))
        told = (
            f"{names[place]}: {what} labels {form(truth[place, n])}, predictions {form(predicted[place, n])}"
        )
        sides[told] = choose(scores, _keys(subset), subset.mask("speaker", names[place]), typical=2)
    first = next(iter(sides))
    note = f"The {counted(len(sides), 'speaker')} furthest off, of {len(found)}."
    return Behind(place_of(subset), subset, sides, float(largest.max()), note, {first: {TYPICAL: HEARD}})


def _largest_gaps(
    subset: Subset, masks: Mapping[str, np.ndarray], scores: np.ndarray, column: str, what: str, why: str
) -> list[Behind]:
    """Take the groups with the largest gaps, each beside all others; the last says how many more."""
    everybody = np.logical_or.reduce(list(masks.values())) if masks else None
    ranked, found = gaps(scores, masks), []
    for gap, group in ranked[:MOST_GROUPS]:
        told = f"{group}: {what} {_signed(gap)} against the others"
        own = {f"{column}: {group}": masks[group], "the others": everybody & ~masks[group]}
        found.append(_two_sides(subset, told, own, scores, gap, why))
        if len(masks) == 2:  # the gap of one is that of the other
            return found
    more = len(ranked) - MOST_GROUPS
    if more > 0:
        note = f"{counted(more, 'other group')} with smaller differences: not listed."
        found[-1] = dataclasses.replace(found[-1], note=note)
    return found


def _two_sides(
    subset: Subset, told: str, masks: Mapping[str, np.ndarray], scores: np.ndarray, gap: float, why: str
) -> Behind:
    """Choose of a group what is worst, or furthest in the direction of the gap; of all others the same."""
    directed = scores if why == WORST or gap >= 0 else -scores
    sides = {}
    for name, mask in masks.items():
        chosen = choose(directed, _keys(subset), mask, worst=2, typical=1)
        sides[name] = [one._replace(why=why) if one.why == WORST else one for one in chosen]
    group, others = masks
    return _number(subset, told, sides, gap, {group: {why: HEARD, TYPICAL: HEARD}, others: {TYPICAL: HEARD}})


def _number(
    subset: Subset,
    told: str,
    sides: Mapping[str, Sequence[Chosen]],
    gap: float,
    heard: Mapping[str, Mapping[str, int]] | None = None,
) -> Behind:
    usual = {name: {WORST: HEARD, TYPICAL: HEARD} for name in sides}
    return Behind(f"{place_of(subset)}: {told}", subset, sides, gap, heard=heard or usual)


def _parts(subset: Subset) -> tuple[Sequence[str], np.ndarray, np.ndarray]:
    """Give the names of bins or classes, and their numbers in labels and predictions, -1 if missing."""
    both = subset.truth, subset.predictions.clean
    if subset.task.is_regression:
        return BINS, *(bin_numbers(values) for values in both)
    classes = subset.task.classes
    codes = [class_numbers(values, classes) for values in both]
    return classes, *(np.where(own < len(classes), own, -1) for own in codes)


def _is_class(subset: Subset, name: str) -> np.ndarray:
    """Say whether each segment was predicted to be of a class, float64; NaN without a prediction."""
    predicted = subset.predictions.clean
    return np.where(pd.notna(predicted), (predicted == name).astype(float), np.nan)


def _keys(subset: Subset) -> np.ndarray:
    return subset.segments["key"].to_numpy(dtype=object)


def _percent(share: float) -> str:
    return f"{tables.number(100 * share, 0)} %"


def _signed(gap: float) -> str:
    return ("+" if gap > 0 else "") + tables.number(gap, 3)
