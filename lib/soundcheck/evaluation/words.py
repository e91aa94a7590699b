"""What recognisers write: errors of words and characters, words that they lose, punctuation and capitals.

- Rates fit a script: where references are in scripts without blanks, *units* are characters. Lengths count
  units of the reference; speaking rates divide them by the duration, pauses included.
- Words are lost under changes of the sound. A *group* is a column of the segment table and one of its values;
  :data:`EVERYBODY` stands for all segments.
- Formatted transcripts are compared as they were written; of several wordings of a reference the first
  counts. A column ``transcript_written`` is what marks and capitals are compared with; entities with it or
  with the transcript, whichever has fewer errors. Segments in another language than English have names as
  entities, and no others.
"""

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.augment.sources import speech_source
from soundcheck.common import seeds
from soundcheck.corpora.labels import match_languages
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset, once
from soundcheck.metrics import differential, word_rates
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.combinators import (
    difference,
    mean_of,
    paired,
    paired_difference,
    relative_difference,
    restrict,
    stack,
)
from soundcheck.metrics.entities import Entity, closest, compare_entities, find_entities, read
from soundcheck.metrics.formatting import MARKS, format_errors, has_capitals, has_marks, split_marks
from soundcheck.metrics.normalisation import NORMALISERS, fold_case
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import (
    CHARACTER,
    MIXED,
    WORD,
    Counts,
    error_rates,
    named_units,
    unit_of,
    without_blanks,
    word_error_rate,
    word_errors,
)
from soundcheck.results.rows import ALL
from soundcheck.statistics.bootstrap import Resampled, block_codes
from soundcheck.statistics.evidence import Scale

Group = tuple[str, str]
EVERYBODY: Group = ("", "everybody")


def group_masks(evaluation: Evaluation, subset: Subset) -> dict[Group, np.ndarray]:
    """Say which segments belong to each group that the family compares, bool ``(segments,)`` each."""
    return {
        (column, group): subset.mask(column, group)
        for column in evaluation.family.options["groups"]
        for group in evaluation.groups(subset, column)
    }


def vocabulary(evaluation: Evaluation, texts: np.ndarray) -> dict[str, int]:
    """Give the words that are tested, with the times that each is recognised in the signals as they are."""
    options = evaluation.family.options
    return differential.frequent_words(
        differential.word_counts(texts), options["minimum_count"], options["words"]
    )


def dropped(known: Iterable[str], transformation: str) -> Measure:
    """Measure the share of the recognised words that vanish at the worst level, labelled by the change."""
    return lambda _, p: stack(
        {transformation: differential.dropped_words(p.clean, p.levels(transformation), list(known))}
    )


def mean_dropped(evaluation: Evaluation, known: Iterable[str]) -> Measure:
    """Measure the share of the recognised words that vanish, averaged over the transformations."""
    names = list(evaluation.family.transformations)
    return lambda _, p: mean_of(
        [differential.dropped_words(p.clean, p.levels(name), list(known)) for name in names]
    )


def counted_words(
    predictions: Predictions, transformation: str, mask: np.ndarray
) -> tuple[Counter[str], list[Counter[str]]]:
    """Count the words that a recogniser wrote for a group, for the signals as they are and for each level."""
    series = [predictions.clean, *predictions.levels(transformation)]
    known = mask & np.all([[text is not None for text in texts] for texts in series], axis=0)
    before, *changed = (differential.word_counts(texts[known]) for texts in series)
    return before, changed


def localised_words(evaluation: Evaluation, subset: Subset) -> dict[Group, list[differential.Localised]]:
    """Tell the words that a recogniser keeps under noise from those that it loses, for each group."""
    options = evaluation.family.options
    omega = differential.read_omega(options["omega"], evaluation.model)
    masks = group_masks(evaluation, subset) | {EVERYBODY: np.ones(len(subset), dtype=bool)}
    counted = {group: counted_words(subset.predictions, options["by"], mask) for group, mask in masks.items()}
    minimum = options["minimum_count"]
    least = {group: options.get("group_count", minimum) for group in masks} | {EVERYBODY: minimum}
    return {
        group: differential.localise(*counts, omega, minimum=least[group], most=options["words"])
        for group, counts in counted.items()
    }


@dataclasses.dataclass(frozen=True)
class KeywordSentences:
    """Words that are spoken in other sentences."""

    group: Group | None  # column and name of the group that they come from; ``None`` if there is none
    # kind of word -> words that are spoken, in the order in which they get sentences
    kinds: dict[str, list[str]]
    # word of either kind that cannot be spoken -> why not
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    surplus: int = 0  # words for which there are not enough sentences
    reason: str = ""  # why nothing at all is spoken, if so


def words_to_speak(
    evaluation: Evaluation, subset: Subset, result: Mapping[Group, Sequence[differential.Localised]]
) -> KeywordSentences:
    """Choose the words of one group that are spoken in other sentences."""
    kinds: dict[str, list[str]] = {differential.ROBUST: [], differential.NOT_ROBUST: []}
    options = evaluation.family.options
    wanted = next(iter((options.get("probe_group") or {}).items()), None)
    if wanted is not None and wanted not in result:
        least = f"of at least {options['minimum_segments']} segments beside others"
        return KeywordSentences(None, kinds, reason=f"it has no group {': '.join(wanted)} {least}")

    def promise(group: Group) -> tuple[bool, int, int]:
        kinds_of = Counter(word.kind for word in result[group])
        lost, chosen = kinds_of[differential.NOT_ROBUST], kinds_of[differential.ROBUST]
        return bool(lost and chosen), lost, chosen

    group = wanted or max([group for group in result if group != EVERYBODY] or [EVERYBODY], key=promise)
    segments = subset.segments
    if group != EVERYBODY:
        segments = segments[segments[group[0]].eq(group[1])]
    languages = segments["language"].dropna() if "language" in segments else []
    english = sum(name is not None for name in match_languages(list(languages), ["eng"]))
    speech, reason = speech_source(), ""
    if 2 * english < len(languages):
        reason = "sentences are read in English, and most of its segments are not"
    elif speech is None:
        reason = "no package is installed that speaks sentences (soundcheck_demo)"
    refused, surplus, most = {}, 0, evaluation.family.probes["sentences"]
    for kind in () if reason else kinds:
        localised = sorted(word.word for word in result[group] if word.kind == kind)
        refused |= {word: why for word in localised if (why := speech.obstacle(word))}
        possible = [word for word in localised if word not in refused]
        order = np.argsort(seeds.uniform(evaluation.seed, "probed words", keys=possible), kind="stable")
        kinds[kind] = [possible[n] for n in order[:most]]
        surplus += len(order[most:])
    if not any(kinds.values()):
        reason = reason or "no word is robust or not robust, and can be spoken"
    return KeywordSentences(group, kinds, refused, surplus, reason)


def missing_words(evaluation: Evaluation, spoken: Subset, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Find in how many sentences around words of each kind the word is missing from the transcript."""
    sought, rows = spoken.segments["item"], {}
    masks = {kind: sought.isin(sought_words).to_numpy() for kind, sought_words in kinds.items()}
    for kind, mask in masks.items():
        if mask.any():
            tested = sorted(set(sought[mask]))
            rows[kind] = {"unit": "%", "words": tested, "sentences": int(mask.sum()), "fewest": len(tested)}
    if len(rows) == len(kinds):
        both = {"words": [], "sentences": "", "fewest": min(row["fewest"] for row in rows.values())}
        rows |= {"difference": {"unit": "points"} | both, "relative difference": {"unit": "%"} | both}
    blocks, _ = block_codes(sought.to_numpy(dtype=object))
    for side, texts in (("clean", spoken.predictions.clean), ("changed", spoken.predictions.changed)):
        pairs = zip(sought, texts, strict=True)
        gone = [
            np.nan if text is None else float(word not in differential.words(text)) for word, text in pairs
        ]
        shares = {kind: restrict(mean_value(np.array(gone)), mask) for kind, mask in masks.items()}
        both = shares[differential.NOT_ROBUST], shares[differential.ROBUST]
        shares |= {"difference": difference(*both), "relative difference": relative_difference(*both)}
        for kind, row in rows.items():
            resampled = evaluation.resample(shares[kind], blocks)
            (low,), (high,) = resampled.interval()
            row |= {side: resampled.value[0], f"{side}_low": low, f"{side}_high": high}
            row[f"{side}_why"] = resampled.reasons[0]
    return pd.DataFrame([{"kind": kind} | row for kind, row in rows.items()])


def average_drops(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Average the drops of all words, for each recogniser, transformation and group."""
    masks, rows = group_masks(evaluation, subset), {}
    for name in evaluation.recognisers(subset):
        predictions = evaluation.under_settings(evaluation.series(subset, name))
        known = vocabulary(evaluation, predictions.clean)
        for transformation in evaluation.family.transformations:
            averages = []
            for mask in masks.values():
                before, levels = counted_words(predictions, transformation, mask)
                drops = differential.word_drops({word: before[word] for word in known}, levels)
                averages.append(np.mean(list(drops.values())) if drops else np.nan)
            rows[name, transformation] = averages
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    columns = pd.MultiIndex.from_frame(pd.DataFrame(list(masks), columns=["column", "group"]))
    return pd.DataFrame(np.reshape(list(rows.values()), (len(rows), len(masks))), index, columns)


def pair_violations(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Count how often each group is violated, over all pairs of recognisers, settings and taus."""
    by_column, result = {}, {}
    for pair in evaluation.recogniser_pairs(subset):
        if not pair.with_transcripts:
            by_column.setdefault(pair.column, []).append(pair)
    for column, pairs in by_column.items():
        total = evaluation.violation_counts(pairs, evaluation.excluded)["in all"].loc["all"]
        result |= {(column, group): [int(total[group])] for group in pairs[0].groups}
    return pd.DataFrame(result)


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
    named = zip(PROFILE, [*(word_error_rate(counts.words, errors) for errors in kinds), empty], strict=True)
    measures = {name: lambda _subset, _predictions, rate=rate: rate for name, rate in named}
    parts = {
        f"{column}: {name}": subset.mask(column, name)
        for column, groups in columns.items()
        for name in groups
    }
    return evaluation.estimates(subset, measures, {ALL: None} | parts)


def _counts(subset: Subset) -> Counts:
    count = word_rates.characters_of if unit_of(subset.truth) == CHARACTER else word_errors
    return count(subset.truth, subset.predictions.clean)


def _of_texts(rate: Callable[[Sequence, Sequence], Statistic]) -> Measure:
    return lambda subset, predictions: rate(subset.truth, predictions.clean)


def _of_words(rate: Callable[[Counts], Statistic], count: Callable[..., Counts] = word_errors) -> Measure:
    return _of_texts(lambda *texts: rate(count(*texts)))


_WITH_MISSING = _of_texts(word_rates.error_rate_with_missing)
_CHARACTERS_WITH_MISSING = _of_texts(
    functools.partial(word_rates.error_rate_with_missing, count=word_rates.characters_of)
)
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


WRITTEN = "transcript_written"
NO_MARKS = "no reference has punctuation"
NO_CAPITALS = "no reference has capitals beside other letters"
NO_ENTITIES = "no reference has an entity"
NO_WORDS = "the references are written without blanks, so words cannot be told apart"


class Formatting:
    """The transcripts of a recogniser as they were written, and what is measured on them."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.normaliser = evaluation, evaluation.normaliser
        prepare = self.normaliser.prepare
        self._first = WordingReader(NORMALISERS["none"], evaluation.texts.alternatives, prepare=prepare).plain
        named = [(name, kind) for kind, names in evaluation.entities.items() for name in names]
        self.names = {read(name, english).tokens: kind for name, kind in named for english in (False, True)}
        self.entities = once(self._entities)

    def subsets(self) -> Iterator[Subset]:
        """Give the segments of each corpus with their texts as they were written."""
        for subset in self.evaluation.subsets(as_written=True):
            truth = self._firsts(subset.truth)
            if WRITTEN in subset.segments:
                written = subset.segments[WRITTEN].to_numpy(dtype=object)
                truth = np.where(pd.isna(written), truth, self._firsts(written))
            result = dataclasses.replace(subset, truth=truth)
            random = Predictions(self.evaluation.random_predictions(result), random=True)
            result = dataclasses.replace(result, reference=random)
            without = without_blanks(truth)
            if without.any() and unit_of(truth) == MIXED:
                text = f"{without.sum()} of {len(truth)} references are written without blanks between words"
                self.evaluation.note(f"{text}; they are left out", subset)
                result = result.take(np.flatnonzero(~without))
            yield result

    def _firsts(self, texts: Sequence[str | None]) -> np.ndarray:
        return np.fromiter((None if pd.isna(text) else self._first(text) for text in texts), dtype=object)

    def references(self, subset: Subset) -> list[np.ndarray]:
        """Give the written references, and the spoken ones of a corpus that has both."""
        spoken = [self._firsts(subset.segments[subset.task.name])] if WRITTEN in subset.segments else []
        return [subset.truth, *spoken]

    def by_reference(self, subset: Subset, write: Callable[[str], str]) -> dict[str, Counts]:
        """Count word errors against spoken, written and closer references of segments that have both."""
        written, *spoken = self.references(subset)
        if not spoken or unit_of(written) != WORD:
            return {}
        both = pd.notna(spoken[0]) & pd.notna(subset.segments[WRITTEN].to_numpy(dtype=object))
        if not both.any():
            return {}
        hypotheses = _each(write, subset.predictions.clean)
        sides = [np.where(both, _each(write, side), None) for side in (spoken[0], written)]
        errors = [word_errors(side, hypotheses) for side in sides]
        result = dict(zip(("spoken", "written"), errors, strict=True))
        closer = np.where(errors[0].errors < errors[1].errors, *sides)
        return result | {"whichever is closer": word_errors(closer, hypotheses)}

    def english(self, subset: Subset) -> np.ndarray:
        """Say which segments are in English, bool ``(segments,)``: all of which nothing else is known."""
        if "language" not in subset.segments:
            return np.ones(len(subset), dtype=bool)
        languages = subset.segments["language"].to_numpy(dtype=object)
        return pd.isna(languages) | (match_languages(languages, ["eng"]) == "eng")

    def _entities(self, subset: Subset, predictions: Predictions) -> list[list[Entity] | None]:
        """Say what became of the entities of each segment; ``None`` without an answer."""
        result = []
        rows = zip(predictions.clean, self.english(subset).tolist(), *self.references(subset), strict=True)
        for text, english, *references in rows:
            if text is None:
                result.append(None)
                continue
            hypothesis = read(text, english)
            reference = closest([read(text, english) for text in dict.fromkeys(references)], hypothesis)
            result.append(compare_entities(reference, hypothesis, self.names))
        return result

    def classes(self, subset: Subset) -> list[str]:
        """List the classes of the entities of the references, in alphabetical order."""
        english = self.english(subset).tolist()
        pairs = {pair for texts in self.references(subset) for pair in zip(texts, english, strict=True)}
        return sorted({kind for pair in pairs for kind, *_ in find_entities(read(*pair), self.names)})

    @property
    def measures(self) -> dict[str, Measure]:
        """Measures of the tests, in their order; words are compared without punctuation."""

        def words(write: Callable[[str], str]) -> Measure:
            return lambda s, p: word_rates.wer(_each(write, s.truth), _each(write, p.clean))

        return {
            "Punctuation Error Rate": _punctuation,
            "Punctuation Error Rate Per Mark": _each_mark,
            "Capital Error Rate": _capitals,
            "Word Error Rate With Capitals": words(lambda text: " ".join(split_marks(text)[0])),
            "Word Error Rate Without Capitals": words(plain),
            "Entity Error Rate": self._lost_entities,
        }

    def _lost_entities(self, subset: Subset, predictions: Predictions) -> Statistic:
        result = self.entities(subset, predictions)

        def counts(kind: str, *right: bool) -> list[float]:
            return [
                np.nan if row is None else sum(item.kind == kind and item.right in right for item in row)
                for row in result
            ]

        rates = {
            kind: word_rates.ratio_of_sums(
                counts(kind, False), np.nan_to_num(counts(kind, False, True)), NO_ENTITIES
            )
            for kind in self.classes(subset)
        }
        return stack(rates)


def _punctuation(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    marks = np.nan_to_num(result.marks[:, :, 0].sum(axis=1))
    return word_rates.ratio_of_sums(result.mark_errors.sum(axis=1), marks, NO_MARKS)


def _each_mark(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    present = format_errors(subset.truth, subset.truth).marks[:, :, 0].sum(axis=0)
    marks = np.nan_to_num(result.marks[:, :, 0])
    rates = {
        name: word_rates.ratio_of_sums(result.mark_errors[:, n], marks[:, n], NO_MARKS)
        for n, name in enumerate(MARKS)
        if present[n]
    }
    return stack(rates)


def _capitals(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    nothing = "no word with a capital was recognised"
    return word_rates.ratio_of_sums(result.capital_errors, np.nan_to_num(result.capitals), nothing)


def _each(write: Callable[[str], str], texts: Sequence[str | None]) -> np.ndarray:
    return np.fromiter((None if text is None else write(text) for text in texts), dtype=object)


def plain(text: str) -> str:
    """Write a text in lower case without punctuation."""
    return fold_case(" ".join(split_marks(text)[0]))


def errors_of(formatting: Formatting, subset: Subset) -> np.ndarray:
    """Count errors of marks and capitals and entities lost of each segment; NaN without an answer."""
    result = format_errors(subset.truth, subset.predictions.clean)
    lost = [
        np.nan if entities is None else sum(not item.right for item in entities)
        for entities in formatting.entities(subset, subset.predictions)
    ]
    return result.mark_errors.sum(axis=1) + result.capital_errors + lost


def plain_writer(subset: Subset) -> Predictions:
    """Give the references in lower case without marks: every word right, and nothing formatted."""
    return Predictions(_each(plain, subset.truth))


def formatting_tests(formatting: Formatting) -> Iterator[tuple[Subset, dict[str, Measure]]]:
    """Give each corpus and the tests that its references allow; the others are skipped, with the reason."""
    evaluation = formatting.evaluation
    for subset in formatting.subsets():
        apart = unit_of(subset.truth) == WORD
        obstacles = {
            "Punctuation": "" if any(map(has_marks, subset.truth)) else NO_MARKS,
            "Entity": "" if formatting.classes(subset) else NO_ENTITIES,
        }
        no_capitals = "" if any(map(has_capitals, subset.truth)) else NO_CAPITALS
        tests = dict(formatting.measures)
        for test in formatting.measures:
            why = obstacles.get(test.split()[0], no_capitals)
            if why or not apart:
                evaluation.skip(subset, why if apart else NO_WORDS, test)
                del tests[test]
        what = "segments are not in English, of them only names are entities"
        evaluation.note_share(subset.corpus, ~formatting.english(subset), what)
        yield subset, tests
