"""What a recogniser says of its words and transcripts, beside what was said.

:func:`word_subsets` gives subsets with one row a recognised word, :func:`transcript_subsets` with one a
transcript. Both have tables in the place of predictions, as in :mod:`soundcheck.evaluation.certainty`, with
the columns ``confidence`` and ``correct``.

Conventions
-----------
- Words are compared as families of recognisers do: normalised. Each word is normalised alone, and may become
  several or none; where they then do not make up the normalised transcript the segment is left out, and
  counted.
- The truth of a row of words is the step of the alignment, with what was said and what was recognised.
- A transcript is right if no word of it is wrong.
- The reference hears nothing and knows how often the recogniser is right: it is as sure of everything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from soundcheck.common.wording import counted
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.alignment import AlignedWord, align
from soundcheck.metrics.word_confidence import recognised_words
from soundcheck.models.stated import CONFIDENCE, word_names
from soundcheck.models.stated_words import read_words

NO_WORDS = "the model says nothing of how sure its words are"
OF_TRANSCRIPTS = "Transcript "  # what names of tests begin with
NO_TRANSCRIPTS = "the model says nothing of how sure its transcripts are"


def word_subsets(evaluation: Recognition) -> list[Subset]:
    """Give the words of all corpora for which the model says how sure it is of them."""
    return [_of_words(evaluation, subset, said) for subset, said in _stated(evaluation) if said]


def _stated(evaluation: Recognition) -> Iterator[tuple[Subset, dict[int, list[tuple[str, float]]]]]:
    """Give each subset of segments, and what is said of the words of which of them."""
    for subset in evaluation.subsets():
        view = evaluation.view(subset)
        texts = dict(zip(view.segments["key"], view.said_of_words(word_names([subset.task])[0]), strict=True))
        said = {row: read_words(texts[key]) for row, key in enumerate(subset.segments["key"])}
        yield subset, {row: words for row, words in said.items() if words}


def _of_words(evaluation: Recognition, subset: Subset, said: dict[int, list[tuple[str, float]]]) -> Subset:
    rows: list[int] = []
    steps: list[AlignedWord] = []
    sure: list[float] = []
    written = subset.predictions.clean
    apart = 0
    for row, text in enumerate(written):
        words = said.get(row)
        pieces = [(word, np.nan) for word in (text or "").split()]  # of which nothing is said
        if words:
            pieces = [
                (piece, number) for word, number in words for piece in evaluation.words_of(subset, row, word)
            ]
        if text is None or [piece for piece, _ in pieces] != text.split():
            apart += bool(words)
            continue
        rows += [row] * len(pieces)
        steps += recognised_words(subset.truth[row], text)
        sure += [number for _, number in pieces]
    silent = sum(bool(text) for text in written) - len(said)
    for count, what in (
        (silent, "without confidences of words: left out, as if these were missing"),
        (apart, "whose words are written otherwise: left out"),
    ):
        if count > 0:
            evaluation.note(f"{subset.corpus}: {counted(count, 'transcript')} {what}")
    truth = np.empty(len(steps), dtype=object)
    for place, step in enumerate(steps):
        truth[place] = step
    correct = np.array([step.kind == "equal" for step in steps], dtype=np.float64)
    taken = np.array(rows, dtype=np.intp)
    return _with_table(
        dataclasses.replace(
            subset,
            segments=subset.segments.iloc[taken].reset_index(drop=True),
            truth=truth,
            blocks=subset.blocks[taken],
        ),
        np.array(sure, dtype=np.float64),
        correct,
    )


def transcript_subsets(evaluation: Recognition) -> list[Subset]:
    """Give the transcripts of all corpora for which the model says how sure it is of them."""
    found = []
    for subset in evaluation.subsets():
        view = evaluation.view(subset)
        rows = view.segments["key"].isin(subset.segments["key"]).to_numpy()
        sure = view.said([CONFIDENCE], "")[rows, 0]
        if np.isnan(sure).all():
            continue
        correct = [
            np.nan if text is None else float(all(step.kind == "equal" for step in align(said, text)))
            for said, text in zip(subset.truth, subset.predictions.clean, strict=True)
        ]
        found.append(_with_table(subset, sure, np.array(correct)))
    return found


def skip_what_is_not_said(
    evaluation: Recognition, words: Sequence[Subset], transcripts: Sequence[Subset]
) -> None:
    """Say why tests of words, or those of transcripts, are skipped where the model says nothing of them."""
    told = [{subset.corpus for subset in found} for found in (words, transcripts)]
    for subset in evaluation.subsets():
        for test in evaluation.family.tests:
            of_transcripts = test.startswith(OF_TRANSCRIPTS)
            if subset.corpus not in told[of_transcripts]:
                evaluation.skip(subset, NO_TRANSCRIPTS if of_transcripts else NO_WORDS, test)


def _with_table(subset: Subset, sure: np.ndarray, correct: np.ndarray) -> Subset:
    known = ~np.isnan(sure + correct)
    share = correct[known].mean() if known.any() else np.nan
    usual = np.where(known, share, np.nan)
    return dataclasses.replace(
        subset,
        predictions=Predictions(np.column_stack([sure, correct])),
        reference=Predictions(np.column_stack([usual, correct]), random=True),
    )
