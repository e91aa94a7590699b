"""What changes of the sound do to transcripts: segments of lost words and of groups, to hear and to read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import soundfile

from soundcheck.augment.registry import apply, missing
from soundcheck.common.wording import counted
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.evaluation.recognition import CLEAN, RecogniserPair, Recognition
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import values
from soundcheck.metrics.differential import Localised, word_edits
from soundcheck.metrics.disagreement import Setting, degradations
from soundcheck.report.aligned_words import aligned_words, legend
from soundcheck.report.chosen_segments import TYPICAL, WORST, Chosen, choose
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import player, row, settings
from soundcheck.report.segment_player import segment_name, segment_player, signal_of

__all__ = ["lost_words", "most_violated"]

MOST_WORDS = 3  # that are lost most
AS_IT_IS = "as it is"


def lost_words(evaluation: Recognition, subset: Subset, found: Sequence[Localised]) -> Html:
    """Show segments whose transcript loses a word at the worst level of the transformation.

    Parameters
    ----------
    evaluation
        Its family's option ``by`` names the transformation.
    subset
        From :meth:`~soundcheck.evaluation.recognition.Recognition.transformed`.
    found
        Words of everybody, see :func:`soundcheck.evaluation.recognition_measures.localised_words`; those with
        the largest share lost first.
    """
    lost = [one for one in found if one.drop > 0]
    if not lost:
        return element("p", f"{subset.corpus}: no word is lost.")
    levels = [setting for setting in evaluation.settings if setting[0] == evaluation.family.options["by"]]
    shown = [legend()]
    for one in lost[:MOST_WORDS]:
        holds = {setting: _with_word(subset, setting, one.word) for setting in (CLEAN, *levels)}
        setting = min(levels, key=lambda level: int(holds[level].sum()))
        mask = holds[CLEAN] & ~holds[setting]
        chosen = choose(_edits(subset, setting), _keys(subset), mask, typical=1, worst=1)
        title = f"{subset.corpus}: “{one.word}”, lost {one.drop} of {one.count} times under {_name(setting)}"
        shown.append(_segments(evaluation, subset, setting, chosen, title, heard=one is lost[0]))
    if len(lost) > MOST_WORDS:
        more = counted(len(lost) - MOST_WORDS, "other word")
        shown.append(element("p", f"{subset.corpus}: {more} with a smaller share lost.", class_="sc-note"))
    return join(shown)


def most_violated(
    evaluation: Recognition, pairs: Sequence[RecogniserPair], counted_settings: np.ndarray
) -> Html:
    """Show segments of the group that a change makes worse by most against the others, under that change.

    Parameters
    ----------
    evaluation
        The tested recogniser.
    pairs
        Pairs of one corpus and column that it is part of. The transcripts of the corpus decide if they are
        among them, else all.
    counted_settings
        Which settings count, bool ``(settings - 1,)``: without the signals as they are.
    """
    pairs = [pair for pair in pairs if pair.with_transcripts] or list(pairs)
    place = pairs[0]
    worse = np.nanmean(
        [degradations(values(evaluation.distances(pair)), len(pair.groups)) for pair in pairs], axis=0
    )
    others = (worse.sum(axis=0, keepdims=True) - worse) / max(1, len(worse) - 1)
    excess = np.where(counted_settings[None, :], worse - others, np.nan)
    title = ", ".join(place.place)
    if not np.isfinite(excess).any():
        return element("p", f"{title}: no setting is left to be counted.")
    group, number = np.unravel_index(np.nanargmax(excess), excess.shape)
    setting = list(evaluation.settings)[1 + int(number)]
    subset, name = place.subset, place.groups[group]
    told = (
        f"{title}: {name} under {_name(setting)}, distance {100 * worse[group, number]:+.1f} points, "
        f"others {100 * others[group, number]:+.1f}"
    ).replace("-", "−")
    edits = _edits(subset, setting)
    shown = [legend()]
    own = choose(edits, _keys(subset), place.masks[group], worst=1, typical=1)
    rest = choose(edits, _keys(subset), np.logical_or.reduce(place.masks) & ~place.masks[group], typical=1)
    shown.append(_segments(evaluation, subset, setting, own, told, heard=True))
    shown.append(_segments(evaluation, subset, setting, rest, f"{title}: the other groups", heard=False))
    return join(shown)


def _segments(
    evaluation: Recognition,
    subset: Subset,
    setting: Setting,
    chosen: Sequence[Chosen],
    title: str,
    heard: bool,
) -> Html:
    """Show chosen segments, one of them to hear as it is and changed."""
    first = next((one for one in chosen if one.why == TYPICAL), None) if heard else None
    open_, folded = [element("h3", title, limit=None)] if heard else [], []
    for one in chosen:
        segment = subset.segments.iloc[one.row]
        words = _words(subset, setting, one.row)
        if one is first:
            open_.append(_both(evaluation, subset, setting, segment) + words)
        else:
            what = "most words changed" if one.why == WORST else one.why
            folded.append(element("p", f"{what}: {segment_name(segment)}", class_="sc-players-title") + words)
    if folded:
        head = element("summary", f"{counted(len(folded), 'segment')}: {title}", limit=None)
        open_.append(element("details", head, *folded, class_="sc-fold sc-segments"))
    return join(open_)


def _both(evaluation: Recognition, subset: Subset, setting: Setting, segment: pd.Series) -> Html:
    view, change = evaluation.view(subset), evaluation.settings[setting]
    players = [segment_player(evaluation.media, view, segment, AS_IT_IS)]
    if view.audio and not missing(change, evaluation.sounds):
        try:
            signal, drawn = apply(
                change,
                signal_of(subset.root, segment),
                SAMPLING_RATE,
                seed=evaluation.seed,
                content=segment["audio"],
                sounds=evaluation.sounds,
            )
        except (OSError, soundfile.LibsndfileError):  # said by the first player
            return row(players)
        caption, name = settings(drawn), _name(setting)
        players.append(
            player(evaluation.media, signal, SAMPLING_RATE, name, caption=caption, color="changed")
        )
    return row(players)


def _words(subset: Subset, setting: Setting, n: int) -> Html:
    """Align with what was said, if that is known, both transcripts; else the changed one with the other."""
    clean, changed = (subset.predictions.settings[one][n] for one in (CLEAN, setting))
    name = _name(setting)
    if subset.truth is not None and subset.truth[n] is not None:
        return aligned_words(subset.truth[n], {AS_IT_IS: clean, name: changed})
    return aligned_words(clean, {name: changed}, said=AS_IT_IS)


def _edits(subset: Subset, setting: Setting) -> np.ndarray:
    """Count the words of each segment that a change changes, float64; NaN without both transcripts."""
    both = (subset.predictions.settings[one] for one in (CLEAN, setting))
    found = [
        np.nan if one is None or other is None else word_edits(one, other)[0]
        for one, other in zip(*both, strict=True)
    ]
    return np.array(found, dtype=np.float64)


def _with_word(subset: Subset, setting: Setting, word: str) -> np.ndarray:
    texts = subset.predictions.settings[setting]
    return np.array([text is not None and word in text.split() for text in texts], dtype=bool)


def _name(setting: Setting) -> str:
    transformation, level = setting
    return f"{transformation} {level}"


def _keys(subset: Subset) -> np.ndarray:
    return subset.segments["key"].to_numpy(dtype=object)
