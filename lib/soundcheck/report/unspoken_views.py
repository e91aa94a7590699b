"""What pages show of words where nobody speaks: counts by kind, the words, and sounds with what came out."""

from collections.abc import Sequence

import numpy as np

from soundcheck.common.escaping import shorten
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.unspoken import Kind
from soundcheck.metrics.word_rates import character_counts, words_made_up
from soundcheck.report import views
from soundcheck.report.compared_examples import side
from soundcheck.report.examples import Example, Scene
from soundcheck.report.formats import number
from soundcheck.report.html import Html, element

MOST_CHARACTERS = 300  # of an answer that is shown
LONGEST_WORD = 40


def summary_table(evaluation: Evaluation, kinds: Sequence[Kind]) -> Html:
    """Show for each kind of sound how many answers are empty, and how much the others say."""
    options = evaluation.family.options
    limit = options["characters_a_minute"]
    speech = {kind.subset.corpus: kind for kind in reversed(kinds)}.values()
    named = [(one.of_speech(), "the speech as it is") for one in reversed(speech)]
    rows = [
        {"corpus": kind.subset.corpus, "sound": name} | kind.summary(limit, options["repeats"])
        for kind, name in [*named, *((kind, kind.name) for kind in kinds)]
    ]
    columns = {"corpus": "corpus", "sound": "sound", "transcripts": "answers", "empty": "empty"}
    columns |= {
        "words a minute": lambda row: number(row.words, 1),
        "characters a minute": lambda row: number(row.characters, 1),
        f"above {limit:g} characters a minute": "runaway",
        "with words that repeat": "repeating",
        "no transcript": "missing",
    }
    return views.table(rows, columns, caption="What is written, by kind of sound")


def made_up_words(kinds: Sequence[Kind], count: int = 8) -> Html:
    """Show the words that are written most often for each kind of sound in which nobody speaks."""
    rows = []
    for kind in kinds:
        found = words_made_up(kind.subset.predictions.changed, count) if kind.silent else []
        words = ", ".join(f"{shorten(word, LONGEST_WORD)} ({times})" for word, times in found)
        rows += [(kind.subset.corpus, kind.name, element("span", words, limit=None))] if found else []
    about = {"caption": "Words that are written most often where nobody says them"}
    about["none"] = "No word was written where nobody speaks."
    return views.listed(rows, ["corpus", "sound", "words and how often they are written"], **about)


def most_written(evaluation: Evaluation, kinds: Sequence[Kind], count: int = 6) -> list[Scene]:
    """Choose for each kind of sound what the most is written for, the worst kinds first.

    Kinds in which somebody speaks do not count unless nothing is spoken for some time.
    """
    worst = []
    for kind in kinds:
        rates = np.nan_to_num(60 * character_counts(kind.subset.predictions.changed) / kind.heard)
        if (kind.silent or kind.followed) and rates.size and rates.max() > 0:
            n = int(np.argmax(rates))  # the first of equals: segments are in canonical order
            order = (not kind.silent, -float(rates[n]), kind.name, kind.subset.corpus)
            worst.append((order, _scene(evaluation, kind, n)))
    return [scene for _, scene in sorted(worst, key=lambda found: found[0])[:count]]


def _scene(evaluation: Evaluation, kind: Kind, n: int) -> Scene:
    subset, changed = kind.subset, kind.name in evaluation.family.changes
    name = subset.segments["file"].iloc[n]
    title = f"{kind.name} in the place of {name}" if kind.silent and changed else f"{name}: {kind.name}"
    said = f"written: {shorten(subset.predictions.changed[n], MOST_CHARACTERS)}"
    change = evaluation.change(kind.name) if changed else None
    about = {"said": lambda _: said, "words": lambda _: None}
    about["sounds"] = lambda n: [side(evaluation, subset, subset.segments.iloc[n], change, title, said)]
    return Scene(subset.corpus, subset, [Example(n)], **about)
