"""What changes of the sound do to transcripts: segments of lost words and of groups, to hear and to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import soundfile

from soundcheck.augment.registry import apply, missing
from soundcheck.common.wording import counted
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Subset
from soundcheck.metrics.additive import values
from soundcheck.metrics.differential import Localised, word_edits
from soundcheck.metrics.disagreement import Setting, degradations
from soundcheck.metrics.word_rates import missing_as_empty
from soundcheck.report.aligned_words import aligned_words, legend
from soundcheck.report.chosen_segments import TYPICAL, WORST, Chosen, choose
from soundcheck.report.html import Html, element, join
from soundcheck.report.pair_player import Side, switched
from soundcheck.report.players import row, settings
from soundcheck.report.segment_player import segment_name, segment_player, signal_of

MOST_WORDS = 3  # that are lost most
AS_IT_IS = "as it is"


def lost_words(evaluation: Evaluation, subset: Subset, found: Sequence[Localised]) -> Html:
    """Show segments whose transcript loses a word at the worst level of the transformation.

    Parameters
    ----------
    evaluation
        Its family's option ``by`` names the transformation.
    subset
        From :meth:`~soundcheck.evaluation.evaluation.Evaluation.transformed`.
    found
        Words of everybody, see :func:`soundcheck.evaluation.fault_localisation.localised_words`; those with
        the largest share lost first.
    """
    lost = [one for one in found if one.drop > 0]
    if not lost:
        return element("p", f"{subset.corpus}: no word is lost.")
    levels = [setting for setting in evaluation.settings if setting[0] == evaluation.family.options["by"]]
    known = subset.truth is not None
    shown = []
    for one in lost[:MOST_WORDS]:
        holds = {setting: _with_word(subset, setting, one.word) for setting in (CLEAN, *levels)}
        setting = min(levels, key=lambda level: int(holds[level].sum()))
        mask = holds[CLEAN] & ~holds[setting]
        texts = (subset.predictions.settings[one] for one in (CLEAN, setting))
        chosen = choose(_apart(*texts), _keys(subset), mask, typical=1, worst=1)
        shown += [legend((AS_IT_IS, "the changed one") if known else ())] if one is lost[0] else []
        title = f"{subset.corpus}: “{one.word}”, lost {one.drop} of {one.count} times under {_name(setting)}"
        shown.append(_segments(evaluation, subset, setting, chosen, title, heard=one is lost[0]))
    if len(lost) > MOST_WORDS:
        more = counted(len(lost) - MOST_WORDS, "other word")
        shown.append(element("p", f"{subset.corpus}: {more} with a smaller share lost.", class_="sc-note"))
    return join(shown)


def most_harmed(evaluation: Evaluation, subset: Subset, settings: Sequence[Setting]) -> Html:
    """Play a typical segment under each of some settings, with its words, and the one that loses most."""
    if not settings:
        return element("p", f"{subset.corpus}: under no change more words are wrong.")
    shown = []
    for setting in settings:
        texts = (subset.predictions.settings[one] for one in (CLEAN, setting))
        before, after = (_apart(subset.truth, missing_as_empty(own)) for own in texts)
        chosen = choose(after - before, _keys(subset), worst=1, typical=1)
        title = f"{subset.corpus}: {_name(setting)}"
        shown.append(_segments(evaluation, subset, setting, chosen, title, heard=True))
    return legend((AS_IT_IS, "the changed one")) + join(shown)


def most_violated(
    evaluation: Evaluation, pairs: Sequence[RecogniserPair], counted_settings: Mapping[str, np.ndarray]
) -> Html:
    """Show segments of the group that a change makes worse by most against the others, under that change.

    Parameters
    ----------
    evaluation
        The tested recogniser.
    pairs
        Pairs that it is part of. Of a corpus and column its transcripts decide if they are among
        them, else all. The corpus and column where the most is found is heard.
    counted_settings
        Corpus -> which settings count, bool ``(settings - 1,)``: without the signals as they are.
    """
    places: dict[tuple[str, str], list[RecogniserPair]] = {}
    for pair in pairs:
        places.setdefault(pair.place, []).append(pair)
    found = []
    for place, own in places.items():
        judging = [pair for pair in own if pair.with_transcripts] or own
        moved = [degradations(values(evaluation.distances(pair)), len(pair.groups)) for pair in judging]
        worse = np.mean(moved, axis=0)
        others = (worse.sum(axis=0, keepdims=True) - worse) / max(1, len(worse) - 1)
        excess = np.where(counted_settings[place[0]][None, :], worse - others, np.nan)
        if np.isfinite(excess).any():
            group, number = np.unravel_index(np.nanargmax(excess), excess.shape)
            points = [f"{100 * one[group, number]:+.1f}".replace("-", "−") for one in (worse, others)]
            found.append((float(excess[group, number]), judging, int(group), 1 + int(number), points))
    if not found:
        return element("p", "No setting is left to be counted.")
    largest = max(entry[0] for entry in found)
    return join(_of_group(evaluation, *entry[1:], heard=entry[0] == largest) for entry in found)


def _of_group(
    evaluation: Evaluation,
    pairs: Sequence[RecogniserPair],
    group: int,
    number: int,
    points: Sequence[str],
    heard: bool,
) -> Html:
    """Show segments of a group and one of the others under a setting, by their numbers."""
    place = pairs[0]
    setting, title, subset = list(evaluation.settings)[number], ", ".join(place.place), place.subset
    growth, own = _growth(evaluation, pairs, number), place.masks[group]
    rest = np.logical_or.reduce(place.masks) & ~own
    told = f"{title}: {place.groups[group]} under {_name(setting)}"
    told = f"{told}, distance {points[0]} points, others {points[1]}"
    first = choose(growth, _keys(subset), own, worst=1, typical=1)
    second = choose(growth, _keys(subset), rest, typical=1)
    return join(
        [
            legend((AS_IT_IS, _name(setting)) if subset.truth is not None else ()) if heard else Html(),
            _segments(evaluation, subset, setting, first, told, heard=heard),
            _segments(evaluation, subset, setting, second, f"{title}: the other groups", heard=False),
        ]
    )


def _segments(
    evaluation: Evaluation,
    subset: Subset,
    setting: Setting,
    chosen: Sequence[Chosen],
    title: str,
    heard: bool,
) -> Html:
    """Show chosen segments, one of them to hear as it is and changed."""
    first = next((one for one in chosen if one.why == TYPICAL), None) if heard else None
    open_, folded = [element("p", title, class_="sc-players-title", limit=None)] if heard else [], []
    for one in chosen:
        segment = subset.segments.iloc[one.row]
        words = _words(subset, setting, one.row)
        if one is first:
            open_.append(_both(evaluation, subset, setting, segment) + words)
        else:
            what = "moved furthest" if one.why == WORST else one.why
            folded.append(element("p", f"{what}: {segment_name(segment)}", class_="sc-players-title") + words)
    if folded:
        head = element("summary", f"{counted(len(folded), 'segment')}: {title}", limit=None)
        open_.append(element("details", head, *folded, class_="sc-fold sc-segments"))
    return join(open_)


def _both(evaluation: Evaluation, subset: Subset, setting: Setting, segment: pd.Series) -> Html:
    """Let a segment be heard as it is and changed, in turn; where it cannot be heard, say so."""
    view, change = evaluation.view(subset), evaluation.settings[setting]
    try:
        signal = signal_of(subset.root, segment) if view.audio else None
    except (OSError, soundfile.LibsndfileError):
        signal = None
    if signal is None or missing(change, evaluation.sounds):
        return row([segment_player(evaluation.media, view, segment, AS_IT_IS)])  # says what cannot be heard
    options = {"seed": evaluation.seed, "content": segment["audio"], "sounds": evaluation.sounds}
    changed, drawn = apply(change, signal, SAMPLING_RATE, **options)
    sides = [Side(signal, segment_name(segment), AS_IT_IS), Side(changed, _name(setting), settings(drawn))]
    return switched(evaluation.media, sides)


def _words(subset: Subset, setting: Setting, n: int) -> Html:
    """Align with what was said, if that is known, both transcripts; else the changed one with the other."""
    clean, changed = (subset.predictions.settings[one][n] for one in (CLEAN, setting))
    name = _name(setting)
    if subset.truth is not None and subset.truth[n] is not None:
        return aligned_words(subset.truth[n], {AS_IT_IS: clean, name: changed})
    return aligned_words(clean, {name: changed}, said=AS_IT_IS)


def _growth(evaluation: Evaluation, pairs: Sequence[RecogniserPair], number: int) -> np.ndarray:
    """Count by how many words a setting moves pairs apart, on average; float64 ``(segments,)``."""
    found = []
    for pair in pairs:
        sides = [evaluation.series(pair.subset, name) for name in (pair.recogniser, pair.opponent)]
        clean, changed = (_apart(*(side[place] for side in sides)) for place in (0, number))
        found.append(changed - clean)
    return np.mean(found, axis=0)


def _apart(first: Sequence[str | None], second: Sequence[str | None]) -> np.ndarray:
    """Count the words in which texts differ, float64; NaN where one is missing."""
    both = zip(first, second, strict=True)
    found = [np.nan if one is None or other is None else word_edits(one, other)[0] for one, other in both]
    return np.array(found, dtype=np.float64)


def _with_word(subset: Subset, setting: Setting, word: str) -> np.ndarray:
    texts = subset.predictions.settings[setting]
    return np.array([text is not None and word in text.split() for text in texts], dtype=bool)


def _name(setting: Setting) -> str:
    transformation, level = setting
    return f"{transformation} {level}"


def _keys(subset: Subset) -> np.ndarray:
    return subset.segments["key"].to_numpy(dtype=object)
