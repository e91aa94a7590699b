"""What pages show of words where nobody speaks: counts by kind, the words, and sounds with what came out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.augment.registry import apply
from soundcheck.common.escaping import shorten
from soundcheck.corpora.audio import SAMPLING_RATE, read
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.unspoken import Kind
from soundcheck.metrics.made_up import character_counts, words_made_up
from soundcheck.report.html import Html, element
from soundcheck.report.players import player, row
from soundcheck.report.tables import number, table

MOST_CHARACTERS = 300  # of an answer that is shown
LONGEST_WORD = 40


def summary_table(evaluation: Evaluation, kinds: Sequence[Kind]) -> Html:
    """Show for each kind of sound how many answers are empty, and how much the others say."""
    options = evaluation.family.options
    limit = options["characters_a_minute"]
    rows = []
    for kind in [*map(Kind.of_speech, _first_of_corpora(kinds)), *kinds]:
        found = kind.summary(limit, options["repeats"])
        rates = [number(found[name], 1) for name in ("words", "characters")]
        counts = [found[name] for name in ("runaway", "repeating", "missing")]
        name = kind.name or "the speech as it is"
        rows.append([kind.subset.corpus, name, found["answers"], found["empty"], *rates, *counts])
    columns = ["corpus", "what is heard", "answers", "empty", "words a minute", "characters a minute"]
    columns += [f"above {limit:g} characters a minute", "with words that repeat", "no answer"]
    return table(rows, columns, caption="What is written, by kind of sound")


def _first_of_corpora(kinds: Sequence[Kind]) -> list[Kind]:
    return list({kind.subset.corpus: kind for kind in reversed(kinds)}.values())[::-1]


def made_up_words(kinds: Sequence[Kind], count: int = 8) -> Html:
    """Show the words that are written most often for each kind of sound in which nobody speaks."""
    rows = []
    for kind in kinds:
        found = words_made_up(kind.subset.predictions.changed, count) if kind.silent else []
        if found:
            told = ", ".join(f"{shorten(word, LONGEST_WORD)} ({times})" for word, times in found)
            rows.append([kind.subset.corpus, kind.name, element("span", told, limit=None)])
    if not rows:
        return element("p", "No word was written where nobody speaks.")
    columns = ["corpus", "what is heard", "words and how often they are written"]
    return table(rows, columns, caption="Words that are written most often where nobody says them")


def heard_and_written(evaluation: Evaluation, kinds: Sequence[Kind], count: int = 6) -> Html:
    """Play for each kind of sound what the most is written for, the worst kinds first.

    Parameters
    ----------
    evaluation
        For sounds, seed and the media store.
    kinds
        From :func:`soundcheck.evaluation.unspoken.kinds`; those in which somebody speaks are passed over
        unless nothing is spoken for some time.
    count
        How many sounds to play.
    """
    worst = []
    for kind in kinds:
        rates = np.nan_to_num(60 * character_counts(kind.subset.predictions.changed) / kind.heard)
        if (kind.silent or kind.followed) and rates.size and rates.max() > 0:
            best = int(np.argmax(rates))  # the first of equals: segments are in canonical order
            worst.append((not kind.silent, -float(rates[best]), kind.name, kind.subset.corpus, best, kind))
    worst.sort(key=lambda found: found[:5])
    if not worst:
        return element("p", "Nothing was written where nobody speaks, so there is nothing to hear.")
    shown = [_played(evaluation, kind, place) for *_, place, kind in worst[:count]]
    return row(shown, title="What was heard, and what was written")


def _played(evaluation: Evaluation, kind: Kind, place: int) -> Html:
    segment = kind.subset.segments.iloc[place]
    said = f"written: {shorten(kind.subset.predictions.changed[place], MOST_CHARACTERS)}"
    name = segment["file"]
    replaced = kind.silent and kind.name in evaluation.family.changes
    title = f"{kind.name} in the place of {name}" if replaced else f"{name}: {kind.name}"
    if not evaluation.view(kind.subset).audio:
        return element("p", f"{title}; {said}", limit=None)
    signal = read(kind.subset.root / segment["file"], segment["start"], segment["end"])
    if kind.name in evaluation.family.changes:
        signal, _ = apply(
            evaluation.change(kind.name),
            signal,
            SAMPLING_RATE,
            seed=evaluation.seed,
            content=segment["audio"],
            sounds=evaluation.sounds,
        )
    return player(evaluation.media, signal, SAMPLING_RATE, title, caption=said, color="changed")
