"""What recognisers made of segments: to hear, with the words that were said and those that were written.

Conventions
-----------
- Of segments that are equally bad those with fewer words come first, then the smallest key.
- What is not heard is folded, so that words of more segments can be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.media import MediaStore
from soundcheck.common.wording import counted
from soundcheck.evaluation.comparison import Comparison, Pair
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.word_changes import word_changes
from soundcheck.metrics.word_errors import word_errors
from soundcheck.report.aligned_words import aligned_words, legend
from soundcheck.report.chosen_segments import choose, gaps, segment_errors
from soundcheck.report.html import Html, element, join
from soundcheck.report.segment_player import beside, segment_name, segment_player

MOST_GROUPS = 2  # of a column, those with the largest gaps
READ = 2  # segments of a kind of a group


def worst_recognised(
    evaluation: Evaluation, subset: Subset, heard: int = 3, read: int = 3, errors: np.ndarray | None = None
) -> Html:
    """Play the segments with the most word errors, each with its words aligned.

    Parameters
    ----------
    evaluation
        For the media store.
    subset
        Segments with transcripts.
    heard, read
        How many segments are heard, and how many more are only read; those with the same number of errors by
        their share of the words.
    errors
        Errors of each segment; default: of words.
    """
    counts = word_errors(subset.truth, subset.predictions.clean)
    errors = np.nan_to_num(counts.errors if errors is None else errors, nan=-1.0)
    keys = subset.segments["key"].to_numpy()
    order = sorted(np.flatnonzero(errors > 0), key=lambda n: (-errors[n], counts.words[n], keys[n]))[
        : heard + read
    ]
    if not order:
        return element("p", f"{subset.corpus}: no word was recognised wrongly.")
    shown, folded = [legend()], []
    for place, n in enumerate(order):
        segment = subset.segments.iloc[n]
        about = [str(segment[name]) for name in ("speaker", "accent") if pd.notna(segment.get(name))]
        about += [counted(int(errors[n]), "error"), counted(int(counts.words[n]), "word")]
        caption = ", ".join(about)
        words = aligned_words(subset.truth[n], {"recognised": subset.predictions.clean[n]})
        if place < heard:
            view = evaluation.view(subset)
            shown.append(beside(segment_player(evaluation.media, view, segment, caption), words))
        else:
            folded.append(_named(f"{segment_name(segment)}: {caption}") + words)
    if folded:
        shown.append(_folded(f"{counted(len(folded), 'more segment')} with many errors", folded))
    return join(shown)


def groups_recognised(subset: Subset, columns: Mapping[str, Sequence[str]]) -> Html:
    """Show the words of the worst and typical segments, of the groups with the largest gaps of each column.

    Parameters
    ----------
    subset
        Segments with transcripts.
    columns
        Column of the segment table -> groups that are compared.
    """
    scores, keys = segment_errors(subset), subset.segments["key"].to_numpy(dtype=object)
    shown = []
    for column, groups in columns.items():
        masks = {group: subset.mask(column, group) for group in groups}
        ranked = gaps(scores, masks)
        for gap, group in ranked[:MOST_GROUPS]:
            told = f"{subset.corpus}, {column}: {group}: mean word errors {_points(gap)} against the others"
            parts = []
            for n, why in choose(scores, keys, masks[group], worst=READ, typical=READ):
                words = aligned_words(subset.truth[n], {"recognised": subset.predictions.clean[n]})
                parts.append(_named(f"{why}: {segment_name(subset.segments.iloc[n])}") + words)
            shown.append(_folded(told, parts))
        if len(ranked) > MOST_GROUPS:
            more = counted(len(ranked) - MOST_GROUPS, "other group")
            shown.append(
                element("p", f"{subset.corpus}, {column}: {more} with smaller differences.", class_="sc-note")
            )
    return join(shown) if shown else element("p", "No groups are compared.")


def most_changed_words(comparison: Comparison, pair: Pair, count: int = 3) -> Html:
    """Play the segments with the most words broken by the candidate, then those with the most corrected.

    Parameters
    ----------
    comparison
        The comparison, for the media store.
    pair
        Transcripts, see :meth:`soundcheck.evaluation.comparison.Comparison.transcripts`.
    count
        How many segments of each kind; each segment once.
    """
    texts = {"baseline": pair.baseline, "candidate": pair.candidate}
    return _changed(comparison.media, pair, pair.corpus, pair.segments, pair.truth, texts, count, count)


def changed_by_two(evaluation: Evaluation, subset: Subset, other: str, heard: int = 1, read: int = 2) -> Html:
    """Play segments with the most words that another recogniser has right and this one wrong; the reverse.

    Parameters
    ----------
    evaluation
        The tested recogniser.
    subset
        Segments with transcripts.
    other
        Name of the other recogniser.
    heard, read
        How many segments of each kind are heard, and how many more are only read.
    """
    texts = {other: evaluation.transcripts(subset, other), evaluation.model: subset.predictions.clean}
    return _changed(
        evaluation.media,
        evaluation.view(subset),
        subset.corpus,
        subset.segments,
        subset.truth,
        texts,
        heard,
        heard + read,
    )


def _changed(
    media: MediaStore,
    where: Pair | CorpusView,
    corpus: str,
    segments: pd.DataFrame,
    truth: np.ndarray,
    texts: Mapping[str, np.ndarray],
    heard: int,
    count: int,
) -> Html:
    """Show what the second recogniser breaks and corrects of the words that the first one wrote."""
    (first, baseline), (second, candidate) = texts.items()
    changes = word_changes(truth, baseline, candidate).assign(key=segments["key"].tolist())
    shown, seen = [legend((first, second))], set()
    for kind, other in (("broken", "corrected"), ("corrected", "broken")):
        own = changes[(changes[kind] > 0) & ~changes.index.isin(seen)]
        own = own.sort_values([kind, other, "key"], ascending=[False, True, True], kind="stable").head(count)
        seen |= set(own.index)
        shown.append(_named(f"{corpus}: most words {kind} by {second}"))
        if own.empty:
            none = f"There is no other segment with words {kind}." if seen else f"No word is {kind}."
            shown.append(element("p", none))
        folded = []
        for place, (n, counts) in enumerate(own.iterrows()):
            segment = segments.iloc[n]
            caption = f"{counts[kind]:.0f} {kind}, {counts[other]:.0f} {other}, {counts['words']:.0f} words"
            words = aligned_words(truth[n], {first: baseline[n], second: candidate[n]})
            if place < heard:
                shown.append(beside(segment_player(media, where, segment, caption), words))
            else:
                folded.append(_named(f"{segment_name(segment)}: {caption}") + words)
        if folded:
            shown.append(_folded(f"{counted(len(folded), 'more segment')} with words {kind}", folded))
    return join(shown)


def _named(text: str) -> Html:
    return element("p", text, class_="sc-players-title", limit=None)


def _folded(title: str, parts: Sequence[Html]) -> Html:
    return element("details", element("summary", title, limit=None), *parts, class_="sc-fold sc-segments")


def _points(gap: float) -> str:
    return f"{'+' if gap > 0 else '−' if gap < 0 else ''}{abs(100 * gap):.1f} points"
