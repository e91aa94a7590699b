"""Measures that pages about recognisers show beside their verdicts: rates of groups, words that are missed.

Conventions
-----------
A *group* is a column of the segment table and one of its values; :data:`EVERYBODY` stands for all segments.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.corpora.languages import among
from soundcheck.evaluation.recognition import Recognition, TransformedPredictions
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.combinators import difference, relative_difference, restrict
from soundcheck.metrics.differential import (
    NOT_ROBUST,
    ROBUST,
    Localised,
    frequent_words,
    localise,
    read_omega,
    word_counts,
    word_drops,
    words,
)
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import Counts, character_errors, error_rates, word_error_rate, word_errors
from soundcheck.metrics.writing import CHARACTER, MIXED, unit_of
from soundcheck.sounds.sources import speech_source
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.draws import block_codes, every_segment
from soundcheck.statistics.evidence import Scale

Group = tuple[str, str]
EVERYBODY: Group = ("", "everybody")
RATE_COLUMNS = (
    *("corpus", "column", "group", "value", "insertions", "deletions", "substitutions", "low", "high"),
    *("standard_error", "characters", "words", "segments", "blocks"),
)


def wer(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Word error rate of normalised transcripts, ``(segments,)`` each; ``None`` if missing."""
    counts = word_errors(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def cer(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Character error rate of normalised transcripts, ``(segments,)`` each; ``None`` if missing.

    Blanks are no characters where references are in scripts without blanks between words.
    """
    counts = characters_of(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def group_error_rate(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Error rate by which groups are compared: of words, or of characters if their scripts may differ."""
    return (cer if unit_of(references) == MIXED else wer)(references, hypotheses)


def characters_of(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Counts:
    """Count character errors as :func:`cer` does."""
    unit = unit_of(references)
    return character_errors(references, hypotheses, blanks=None if unit == MIXED else unit != CHARACTER)


@dataclasses.dataclass(frozen=True, eq=False)
class Compared:
    """A difference between two recognisers, with replicates of both bootstraps."""

    model: str  # names of both; the difference is ``model`` minus ``other``
    other: str
    corpus: str  # where they were compared
    unit: str  # ``"points"`` for a difference of rates, ``"%"`` for a relative one
    words: int  # words of the references that the difference rests on
    blockwise: Resampled  # the difference, with replicates of whole blocks and of single segments
    ordinary: Resampled

    def replicates(self) -> dict[str, np.ndarray]:
        """Give the replicates of each bootstrap, ``(replicates,)``; of none that has none."""
        ways = {"blockwise": self.blockwise, "ordinary": self.ordinary}
        return {way: found.replicates[:, 0] for way, found in ways.items() if len(found.replicates)}


def compare(
    evaluation: Recognition, subset: Subset, other: str, unit: str, difference: Statistic
) -> Compared:
    """Resample a difference between the tested recogniser and another one, blocks as well as segments."""
    counts = word_errors(subset.truth, subset.predictions.clean)
    return Compared(
        evaluation.model,
        other,
        subset.corpus,
        unit,
        int(counts.words[difference.rows].sum()),
        evaluation.resample(difference, subset.blocks),
        evaluation.resample(difference, every_segment(len(subset))),
    )


def group_rates(evaluation: Recognition, subset: Subset, columns: Sequence[str]) -> list[dict[str, object]]:
    """Compute the rates of everybody and of each value of some columns, and what they rest on."""
    texts = subset.truth, subset.predictions.clean
    all_words, all_characters = word_errors(*texts), characters_of(*texts)
    members = {EVERYBODY: np.arange(len(subset))}
    for column in columns:
        if column in subset.segments:
            # Each group by itself: there may be thousands of speakers, and most segments are of others.
            for name, own in sorted(subset.segments.groupby(column, sort=False).indices.items()):
                members[column, name] = own
    rows = []
    for group, own in members.items():
        errors, characters = all_words.take(own), all_characters.take(own)
        found = evaluation.resample(error_rates(errors), subset.blocks[own])
        low, high = found.interval(evaluation.interval, scale=Scale(0))
        rows.append(
            {
                **dict(zip(("corpus", "column", "group"), (subset.corpus, *group), strict=True)),
                **dict(zip(("value", "insertions", "deletions", "substitutions"), found.value, strict=True)),
                **{"low": low[0], "high": high[0], "standard_error": found.standard_error[0]},
                "characters": value(word_error_rate(characters.words, characters.errors)),
                "words": int(np.nansum(errors.words[~np.isnan(errors.errors)])),
                "segments": int(found.segments[0]),
                "blocks": int(found.blocks[0]),
            }
        )
    return rows


def group_masks(evaluation: Recognition, subset: Subset) -> dict[Group, np.ndarray]:
    """Say which segments belong to each group that the family compares, bool ``(segments,)`` each."""
    return {
        (column, group): subset.mask(column, group)
        for column in evaluation.family.options["groups"]
        for group in evaluation.groups(subset, column)
    }


def vocabulary(evaluation: Recognition, texts: np.ndarray) -> dict[str, int]:
    """Give the words that are tested, with the times that each is recognised in the signals as they are."""
    options = evaluation.family.options
    return frequent_words(word_counts(texts), options["minimum_count"], options["words"])


def counted_words(
    predictions: TransformedPredictions, transformation: str, mask: np.ndarray
) -> tuple[Counter[str], list[Counter[str]]]:
    """Count the words that a recogniser wrote for a group, for the signals as they are and for each level."""
    series = [predictions.clean, *predictions.levels(transformation)]
    known = mask & np.all([[text is not None for text in texts] for texts in series], axis=0)
    before, *changed = (word_counts(texts[known]) for texts in series)
    return before, changed


def localised_words(evaluation: Recognition, subset: Subset) -> dict[Group, list[Localised]]:
    """Tell the words that a recogniser keeps under noise from those that it loses, for each group."""
    options = evaluation.family.options
    omega = read_omega(options["omega"], evaluation.model)
    masks = group_masks(evaluation, subset) | {EVERYBODY: np.ones(len(subset), dtype=bool)}
    counted = {group: counted_words(subset.predictions, options["by"], mask) for group, mask in masks.items()}
    minimum = options["minimum_count"]
    least = {group: options.get("group_count", minimum) for group in masks} | {EVERYBODY: minimum}
    return {
        group: localise(*counts, omega, minimum=least[group], most=options["words"])
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
    evaluation: Recognition, subset: Subset, found: Mapping[Group, Sequence[Localised]]
) -> KeywordSentences:
    """Choose the words of one group that are spoken in other sentences."""
    kinds: dict[str, list[str]] = {ROBUST: [], NOT_ROBUST: []}
    wanted = next(iter((evaluation.family.options.get("probe_group") or {}).items()), None)
    if wanted is not None and wanted not in found:
        least = evaluation.family.options["minimum_segments"]
        reason = f"it has no group {': '.join(wanted)} of at least {least} segments beside others"
        return KeywordSentences(None, kinds, reason=reason)

    def promise(group: Group) -> tuple[bool, int, int]:
        own = [word.kind for word in found[group]]
        lost, kept = own.count(NOT_ROBUST), own.count(ROBUST)
        return bool(lost and kept), lost, kept

    group = wanted or max([group for group in found if group != EVERYBODY] or [EVERYBODY], key=promise)
    segments = subset.segments
    spoken = segments[group[0]].eq(group[1]) if group != EVERYBODY else pd.Series(True, index=segments.index)
    languages = segments.loc[spoken, "language"].dropna() if "language" in segments else []
    if len(languages) and 2 * sum(name is not None for name in among(list(languages), ["eng"])) < len(
        languages
    ):
        return KeywordSentences(
            group, kinds, reason="sentences are read in English, and most of its segments are not"
        )
    speech = speech_source()
    if speech is None:
        return KeywordSentences(
            group, kinds, reason="no package is installed that speaks sentences (soundcheck_demo)"
        )
    refused, surplus = {}, 0
    for kind, words_ in kinds.items():
        localised = [word.word for word in found[group] if word.kind == kind]
        refused |= {word: reason for word in sorted(localised) if (reason := speech.obstacle(word))}
        possible = [word for word in localised if word not in refused]
        draws = seeds.uniform(evaluation.seed, "probed words", keys=possible)
        words_ += [possible[n] for n in np.argsort(draws, kind="stable")]
        most = evaluation.family.probes["sentences"]
        surplus += len(words_[most:])
        del words_[most:]
    reason = "" if any(kinds.values()) else "no word is robust or not robust, and can be spoken"
    return KeywordSentences(group, kinds, refused, surplus, reason)


def missing_words(
    evaluation: Recognition, spoken: Subset, kinds: Mapping[str, Sequence[str]]
) -> list[dict[str, object]]:
    """Find in how many sentences around words of each kind the word is missing from the transcript."""
    rows = []
    for kind, chosen in kinds.items():
        own = spoken.take(np.flatnonzero(spoken.segments["item"].isin(chosen)))
        if len(own):
            sought = own.segments["item"]
            blocks = block_codes(sought.to_numpy(dtype=object))[0]
            sides = (own.predictions.clean, own.predictions.changed)
            found = [evaluation.resample(mean_value(_missing(sought, texts)), blocks) for texts in sides]
            rows.append({"kind": kind, "words": sorted(set(sought)), "found": found})
    return rows


def missing_more(
    evaluation: Recognition, spoken: Subset, kinds: Mapping[str, Sequence[str]]
) -> dict[str, list[Resampled]]:
    """Compare how often words that are not robust and robust ones are missing."""
    sought = spoken.segments["item"]
    masks = [sought.isin(kinds[kind]).to_numpy() for kind in (NOT_ROBUST, ROBUST)]
    if not all(mask.any() for mask in masks):
        return {}
    blocks = block_codes(sought.to_numpy(dtype=object))[0]
    means = [
        mean_value(_missing(sought, texts))
        for texts in (spoken.predictions.clean, spoken.predictions.changed)
    ]
    sides = [[restrict(mean, mask) for mask in masks] for mean in means]
    return {
        "difference": [evaluation.resample(difference(*side), blocks) for side in sides],
        "relative": [evaluation.resample(relative_difference(*side), blocks) for side in sides],
    }


def _missing(sought: pd.Series, texts: np.ndarray) -> np.ndarray:
    """Say for each sentence whether its word is missing, 1 or 0; NaN without a transcript."""
    pairs = zip(sought, texts, strict=True)
    return np.array([np.nan if text is None else float(word not in words(text)) for word, text in pairs])


def average_drops(evaluation: Recognition, subset: Subset) -> pd.DataFrame:
    """Average the drops of all words, for each recogniser, transformation and group."""
    masks, rows = group_masks(evaluation, subset), {}
    for name in recognisers(evaluation, subset):
        predictions = evaluation.under_settings(evaluation.series(subset, name))
        known = vocabulary(evaluation, predictions.clean)
        for transformation in evaluation.family.transformations:
            averages = []
            for mask in masks.values():
                before, levels = counted_words(predictions, transformation, mask)
                drops = word_drops({word: before[word] for word in known}, levels)
                averages.append(np.mean(list(drops.values())) if drops else np.nan)
            rows[name, transformation] = averages
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    columns = pd.MultiIndex.from_frame(pd.DataFrame(list(masks), columns=["column", "group"]))
    return pd.DataFrame(np.reshape(list(rows.values()), (len(rows), len(masks))), index, columns)


def recognisers(evaluation: Recognition, subset: Subset) -> list[str]:
    """List all recognisers that were asked about a subset's changed segments, in alphabetical order."""
    return sorted([evaluation.model, *evaluation.opponents(subset)])


def pair_violations(evaluation: Recognition, subset: Subset) -> pd.DataFrame:
    """Count how often each group is violated, over all pairs of recognisers, settings and taus."""
    recogniser_pairs = [pair for pair in evaluation.recogniser_pairs(subset) if not pair.with_transcripts]
    counted = {}
    for column in dict.fromkeys(pair.column for pair in recogniser_pairs):
        here = [pair for pair in recogniser_pairs if pair.column == column]
        total = evaluation.violation_counts(here, evaluation.excluded)["in all"].loc["all"]
        counted |= {(column, group): [int(total[group])] for group in here[0].groups}
    return pd.DataFrame(counted)
