"""Measures that pages about recognisers show beside their verdicts: rates of groups, words that are missed.

Public: :func:`group_rates`, :data:`RATE_COLUMNS`, :func:`missing_words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.bootstrap import block_codes
from soundcheck.metrics.additive import value
from soundcheck.metrics.combinators import within
from soundcheck.metrics.differential import words
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import character_errors, error_rates, word_error_rate, word_errors
from soundcheck.recognition import Recognition
from soundcheck.sample import Sample

RATE_COLUMNS = (
    *("corpus", "column", "group", "value", "insertions", "deletions", "substitutions", "low", "high"),
    *("standard_error", "characters", "words", "segments", "blocks"),
)


def group_rates(evaluation: Recognition, sample: Sample, columns: Sequence[str]) -> list[dict[str, object]]:
    """Compute the rates of everybody and of each value of some columns, with their company.

    Parameters
    ----------
    evaluation
        For its bootstrap.
    sample
        Segments with transcripts.
    columns
        Columns of the segment table; those that the corpus does not have are passed over.

    Returns
    -------
    list of dict
        One for each group, with the keys :data:`RATE_COLUMNS`; rates as shares.
    """
    counts = word_errors(sample.truth, sample.answers.clean)
    letters = character_errors(sample.truth, sample.answers.clean)
    characters = word_error_rate(letters.words, letters.errors)
    masks = {("", "everybody"): np.ones(len(sample), dtype=bool)}
    for column in columns:
        if column in sample.segments:
            for name in sorted(sample.segments[column].dropna().unique()):
                masks[column, name] = sample.mask(column, name)
    rows = []
    for group, mask in masks.items():
        found = evaluation.resample(within(error_rates(counts), mask), sample.blocks)
        low, high = found.interval(evaluation.interval)
        rows.append(
            {
                **dict(zip(("corpus", "column", "group"), (sample.corpus, *group), strict=True)),
                **dict(zip(("value", "insertions", "deletions", "substitutions"), found.value, strict=True)),
                **{"low": low[0], "high": high[0], "standard_error": found.standard_error[0]},
                "characters": value(within(characters, mask)),
                "words": int(np.nansum(counts.words[mask & ~np.isnan(counts.errors)])),
                "segments": int(found.segments[0]),
                "blocks": int(found.blocks[0]),
            }
        )
    return rows


def missing_words(
    evaluation: Recognition, probe: Sample, bags: Mapping[str, Sequence[str]]
) -> list[dict[str, object]]:
    """Find in how many sentences around words of each kind the word is missing from the transcript.

    Parameters
    ----------
    evaluation
        For its bootstrap; whole words are resampled.
    probe
        Sentences with the word in the column ``item``, with clean and changed transcripts.
    bags
        Kind of word -> words; kinds without a sentence are passed over.

    Returns
    -------
    list of dict
        One for each kind: ``kind``, its ``words``, and ``found``, the share of sentences without the word
        for clean and for changed signals, with replicates.
    """
    rows = []
    for kind, chosen in bags.items():
        own = probe.take(np.flatnonzero(probe.segments["item"].isin(chosen)))
        if len(own):
            sought = own.segments["item"]
            blocks = block_codes(sought.to_numpy(dtype=object))[0]
            sides = (own.answers.clean, own.answers.changed)
            found = [evaluation.resample(mean_value(_missing(sought, texts)), blocks) for texts in sides]
            rows.append({"kind": kind, "words": sorted(set(sought)), "found": found})
    return rows


def _missing(sought: pd.Series, texts: np.ndarray) -> np.ndarray:
    """Say for each sentence whether its word is missing, 1 or 0; NaN without an answer."""
    pairs = zip(sought, texts, strict=True)
    return np.array([np.nan if text is None else float(word not in words(text)) for word, text in pairs])
