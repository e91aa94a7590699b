"""Errors of words and characters: of all segments, of groups, by length, and beside another recogniser.

Rates fit a script: where references are in scripts without blanks, *units* are characters. Lengths count
units of the reference; speaking rates divide them by the duration, pauses included.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.metrics import word_rates
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.combinators import paired, paired_difference, relative_difference, restrict, stack
from soundcheck.metrics.word_errors import (
    CHARACTER,
    MIXED,
    WORD,
    Counts,
    error_rates,
    named_units,
    unit_of,
    word_error_rate,
    word_errors,
)
from soundcheck.results.rows import ALL
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import Scale

Group = tuple[str, str]  # a column of the segment table and one of its values
EVERYBODY: Group = ("", "everybody")


@dataclasses.dataclass(frozen=True, eq=False)
class Compared:
    """A difference between two recognisers, with replicates of both bootstraps."""

    model: str  # names of both; the difference is ``model`` minus ``other``
    other: str
    unit: str  # ``"points"`` for a difference of rates, ``"%"`` for a relative one
    words: int  # words of the references that the difference rests on
    blockwise: Resampled  # the difference, with replicates of whole blocks and of single segments
    ordinary: Resampled


def _difference(kind: Callable[..., Statistic]) -> Callable[..., Statistic]:
    return lambda truth, ours, theirs, other: stack(
        {other: kind(word_rates.wer(truth, ours), word_rates.wer(truth, theirs))}
    )


COMPARISONS = {  # this recogniser's rate beside that of another one
    "Word Error Rate Difference": _difference(paired_difference),
    "Relative Word Error Rate Difference": _difference(lambda *both: relative_difference(*paired(*both))),
}


def compare(evaluation: Evaluation, subset: Subset, other: str, others: np.ndarray, test: str) -> Compared:
    """Resample a difference between the tested recogniser and another one, blocks as well as segments."""
    texts = subset.truth, subset.predictions.clean
    difference = COMPARISONS[test](*texts, others, other)
    return Compared(
        evaluation.model,
        other,
        "%" if test.startswith("Relative") else "points",
        int(word_errors(*texts).words[difference.rows].sum()),
        evaluation.resample(difference, subset.blocks),
        evaluation.resample(difference, np.arange(len(subset))),
    )


def group_rates(evaluation: Evaluation, subset: Subset, columns: Sequence[str]) -> list[dict[str, object]]:
    """Compute the rates of everybody and of each value of some columns, and what they rest on."""
    texts = subset.truth, subset.predictions.clean
    words, characters = word_errors(*texts), word_rates.characters_of(*texts)
    members = {EVERYBODY: np.arange(len(subset))}
    for column in filter(subset.segments.__contains__, columns):
        # Each group by itself: there may be thousands of speakers, and most segments are of others.
        rows_of = subset.segments.groupby(column, sort=False).indices
        members |= {(column, name): rows_of[name] for name in sorted(rows_of)}
    rows = []
    for (column, group), places in members.items():
        errors, other = words.take(places), characters.take(places)
        resampled = evaluation.resample(error_rates(errors), subset.blocks[places])
        (low, *_), (high, *_) = resampled.interval(evaluation.interval, scale=Scale(0))
        row = {"corpus": subset.corpus, "column": column, "group": group}
        row |= zip(("value", "insertions", "deletions", "substitutions"), resampled.value, strict=True)
        row |= {"low": low, "high": high, "standard_error": resampled.standard_error[0]}
        row["characters"] = value(word_error_rate(other.words, other.errors))
        row["words"] = int(np.nansum(errors.words[~np.isnan(errors.errors)]))
        rows.append(row | {"segments": int(resampled.segments[0]), "blocks": int(resampled.blocks[0])})
    return rows


PROFILE = ("substitution_rate", "deletion_rate", "insertion_rate", "empty_answer_rate")


def error_profile(
    evaluation: Evaluation, subset: Subset, columns: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Estimate which errors everybody and each group of some columns has, as shares of units or segments."""
    counts = _counts(subset)
    kinds = (counts.substitutions, counts.deletions, counts.insertions)
    empty = restrict(word_rates.empty_answers(subset.predictions.clean), counts.words > 0)  # of what was said
    rates = zip(PROFILE, [*(word_error_rate(counts.words, errors) for errors in kinds), empty], strict=True)
    measures = {name: lambda _subset, _predictions, rate=rate: rate for name, rate in rates}
    named = [(column, name) for column, groups in columns.items() for name in groups]
    parts = {f"{column}: {name}": subset.mask(column, name) for column, name in named}
    return evaluation.estimates(subset, measures, {ALL: None} | parts)


def _counts(subset: Subset) -> Counts:
    count = word_rates.characters_of if unit_of(subset.truth) == CHARACTER else word_errors
    return count(subset.truth, subset.predictions.clean)


def _of_texts(rate: Callable[..., Statistic], **options: Callable) -> Measure:
    return lambda subset, predictions: rate(subset.truth, predictions.clean, **options)


def _of_words(rate: Callable[[Counts], Statistic], count: Callable[..., Counts] = word_errors) -> Measure:
    return _of_texts(lambda *texts: rate(count(*texts)))


_WITH_MISSING = _of_texts(word_rates.error_rate_with_missing)
_CHARACTERS_WITH_MISSING = _of_texts(word_rates.error_rate_with_missing, count=word_rates.characters_of)
RATES = {  # test -> its measure
    "Word Error Rate": _of_texts(word_rates.wer),
    "Character Error Rate": _of_texts(word_rates.cer),
    "Mixed Error Rate": _of_texts(word_rates.wer),
    "Word Error Rate With Missing": _WITH_MISSING,
    "Character Error Rate With Missing": _CHARACTERS_WITH_MISSING,
    "Mixed Error Rate With Missing": _WITH_MISSING,
    "Sentence Error Rate": _of_words(word_rates.sentence_error_rate, word_rates.characters_of),
    "Match Error Rate": _of_words(word_rates.match_error_rate),
    "Word Information Lost": _of_words(word_rates.word_information_lost),
}
DIFFERENCES = {
    name: RATES[name.removesuffix(" Difference")]
    for name in ("Word Error Rate Difference", "Character Error Rate Difference")
}  # test of groups -> the measure that is compared

INSTEAD = {  # unit of a corpus -> test that does not fit it -> the one that takes its place
    WORD: {
        "Character Error Rate With Missing": "Word Error Rate With Missing",
        "Character Error Rate Difference": "Word Error Rate Difference",
        "Mixed Error Rate": "Word Error Rate",
        "Mixed Error Rate With Missing": "Word Error Rate With Missing",
    },
    CHARACTER: {
        "Word Error Rate": "Character Error Rate",
        "Word Error Rate With Missing": "Character Error Rate With Missing",
        "Word Error Rate Difference": "Character Error Rate Difference",
        "Match Error Rate": "Character Error Rate",
        "Word Information Lost": "Character Error Rate",
        "Mixed Error Rate": "Character Error Rate",
        "Mixed Error Rate With Missing": "Character Error Rate With Missing",
    },
    MIXED: {
        "Word Error Rate": "Mixed Error Rate",
        "Word Error Rate With Missing": "Mixed Error Rate With Missing",
        "Character Error Rate With Missing": "Mixed Error Rate With Missing",
        "Word Error Rate Difference": "Character Error Rate Difference",  # what fits all groups
    },
}
WHY = {
    WORD: "words are told apart by blanks: see {}",
    CHARACTER: "written without blanks, so words cannot be told apart: see {}",
    MIXED: "some references are written without blanks: see {}",
}

# Ends of bins, the upper one included
LENGTHS = {"word": (1, 2, 3, 5, 10, 20, 40), "character": (5, 10, 20, 40, 80)}
SPEAKING_RATES = {"word": (1, 2, 3, 4, 5), "character": (2, 4, 6, 8, 10)}  # a second


def fitting_tests(
    evaluation: Evaluation, subsets: Sequence[Subset], tests: Mapping[str, Measure]
) -> Iterator[tuple[Subset, dict[str, Measure]]]:
    """Choose for each corpus the tests that mean something in its script."""
    units = [unit_of(subset.truth) for subset in subsets]
    fit_nobody = set.intersection(*(set(INSTEAD[unit]) for unit in units)) if units else set()
    unneeded = fit_nobody & set(INSTEAD[WORD])  # of tests of words a skipped row says what stands for them
    chosen = {name: test for name, test in evaluation.family.tests.items() if name not in unneeded}
    evaluation.family = dataclasses.replace(evaluation.family, tests=chosen)
    for subset, unit in zip(subsets, units, strict=True):
        for test in filter(chosen.__contains__, tests):
            if other := INSTEAD[unit].get(test):
                evaluation.skip(subset, WHY[unit].format(other), test)
        yield subset, {test: tests[test] for test in tests if test in chosen and test not in INSTEAD[unit]}


def speech_rates(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Compute the error rate by length of the reference and by speaking rate."""
    unit, options = unit_of(subset.truth), evaluation.family.options
    kind = CHARACTER if unit == CHARACTER else WORD
    counts = _counts(subset)
    measure = f"{unit}_error_rate"
    places = {"length": (counts.words, options.get("lengths", LENGTHS)[kind])}
    if "duration" in subset.segments:
        seconds = subset.segments["duration"].to_numpy(dtype=np.float64)
        rate = np.divide(counts.words, seconds, out=np.full(len(subset), np.nan), where=seconds > 0)
        places["speaking rate"] = (rate, options.get("speaking_rates", SPEAKING_RATES)[kind])
    rows = []
    for column, (numbers, ends) in places.items():
        bins = np.digitize(numbers, ends, right=True)
        for n, name in enumerate(_names(ends, whole=column == "length")):
            members = np.flatnonzero((bins == n) & (counts.words > 0) & np.isfinite(numbers))
            if len(members):
                errors = counts.take(members)
                rate = word_error_rate(errors.words, errors.errors)
                group = f"{name} {named_units(unit)}{'' if column == 'length' else ' a second'}"
                condition = f"{column}: {group}"
                (estimate,) = evaluation.estimate(subset.take(members), measure, rate, condition=condition)
                units = int(errors.words[~np.isnan(errors.errors)].sum())
                blocks = estimate.speakers or len(np.unique(subset.blocks[members]))
                about = {"unit": unit, "column": column, "bin": name, "group": group}
                rows.append(vars(estimate) | about | {"units": units, "blocks": blocks})
    return pd.DataFrame(rows)


def _names(ends: Sequence[float], *, whole: bool) -> list[str]:
    """Name the bins between some ends.

    >>> _names((1, 2, 5), whole=True)
    ['1', '2', '3 to 5', 'more than 5']
    >>> _names((1, 2.5), whole=False)
    ['up to 1', '1 to 2.5', 'more than 2.5']
    """
    names = [f"up to {ends[0]:g}"]
    if whole:
        names = ["1" if ends[0] == 1 else f"1 to {ends[0]:g}"]
    for low, high in itertools.pairwise(ends):
        first = low + 1 if whole else low
        names.append(f"{high:g}" if whole and first == high else f"{first:g} to {high:g}")
    return [*names, f"more than {ends[-1]:g}"]
