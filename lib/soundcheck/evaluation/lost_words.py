"""Words that a recogniser loses under changes of the sound, and other sentences around these words.

A *group* is a column of the segment table and one of its values; ``EVERYBODY`` stands for all segments.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.augment.sources import speech_source
from soundcheck.common import seeds
from soundcheck.corpora.labels import match_languages
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.evaluation.words import EVERYBODY, Group
from soundcheck.metrics import differential
from soundcheck.metrics.combinators import difference, mean_of, relative_difference, restrict, stack
from soundcheck.metrics.differential import NOT_ROBUST, ROBUST, Localised
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.bootstrap import block_codes


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


def localised_words(evaluation: Evaluation, subset: Subset) -> dict[Group, list[Localised]]:
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
    evaluation: Evaluation, subset: Subset, result: Mapping[Group, Sequence[Localised]]
) -> KeywordSentences:
    """Choose the words of one group that are spoken in other sentences."""
    kinds: dict[str, list[str]] = {ROBUST: [], NOT_ROBUST: []}
    options = evaluation.family.options
    wanted = next(iter((options.get("probe_group") or {}).items()), None)
    if wanted is not None and wanted not in result:
        least = f"of at least {options['minimum_segments']} segments beside others"
        return KeywordSentences(None, kinds, reason=f"it has no group {': '.join(wanted)} {least}")

    def promise(group: Group) -> tuple[bool, int, int]:
        kinds_of = Counter(word.kind for word in result[group])
        lost, chosen = kinds_of[NOT_ROBUST], kinds_of[ROBUST]
        return bool(lost and chosen), lost, chosen

    group = wanted or max((each for each in result if each != EVERYBODY), key=promise, default=EVERYBODY)
    segments = subset.segments
    if group != EVERYBODY:
        segments = segments[segments[group[0]].eq(group[1])]
    languages = list(segments["language"].dropna()) if "language" in segments else []
    english = sum(name is not None for name in match_languages(languages, ["eng"]))
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
        gone = [
            np.nan if text is None else float(word not in differential.words(text))
            for word, text in zip(sought, texts, strict=True)
        ]
        shares = {kind: restrict(mean_value(np.array(gone)), mask) for kind, mask in masks.items()}
        both = shares[NOT_ROBUST], shares[ROBUST]
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
