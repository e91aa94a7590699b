"""What a reader wants to hear: segments whose prediction moved most, or on which two models differ most."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.augment.registry import apply
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.evaluation.comparison import Comparison, Pair
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.disagreement import Setting
from soundcheck.metrics.impact import EVENTS, impact_codes
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.pair_player import Side, switched
from soundcheck.report.players import row
from soundcheck.report.players import settings as settings_of
from soundcheck.report.segment_player import segment_player, signal_of


def most_moved(evaluation: Evaluation, subsets: Sequence[Subset], count: int = 5) -> Html:
    """Play the segments whose prediction a change moved most: original and changed, with both predictions.

    Parameters
    ----------
    evaluation
        The evaluation, for the family's changes and the media store.
    subsets
        Subsets with a change. Regression tasks count by the size of the movement; classes, if there is no
        regression task, by whether they changed.
    count
        How many segments to play, each segment once.
    """
    numeric = [subset for subset in subsets if subset.task.is_regression]
    moved = [entry for subset in numeric or subsets for entry in _movements(subset)]
    moved.sort(key=lambda entry: (-entry[0], entry[1], entry[3].change))
    chosen, heard = [], set()
    for movement, key, position, subset in moved:
        if key not in heard and len(chosen) < count:
            heard.add(key)
            chosen.append((movement, position, subset))
    if not chosen:
        return element("p", "No prediction moved.")
    return join(_pair(evaluation, subset, position) for _, position, subset in chosen)


def recordings(subset: Subset, most: int) -> dict[str, np.ndarray]:
    """Give what was recorded under both conditions of a subset of pairs, to compare their spectra.

    Parameters
    ----------
    subset
        From :meth:`soundcheck.evaluation.evaluation.Evaluation.pairs`.
    most
        Pairs to read at most, evenly spread over the subset.

    Returns
    -------
    dict
        Name of the condition -> the recordings of the same pairs one after the other, float32 ``(samples,)``.
    """
    rows = np.unique(np.linspace(0, len(subset) - 1, min(most, len(subset))).round().astype(int))
    sides = zip(subset.sides, (subset.segments, subset.partner), strict=True)
    return {
        name: np.concatenate([signal_of(subset.root, segments.iloc[n]) for n in rows])
        for name, segments in sides
    }


def _movements(subset: Subset) -> list[tuple[float, str, int, Subset]]:
    """List how far each prediction moved, with segment, row and subset; only those that moved."""
    clean, changed = subset.predictions.clean, subset.predictions.changed
    both = pd.notna(clean) & pd.notna(changed)
    moved = np.zeros(len(subset))
    if subset.task.is_regression:
        moved[both] = np.abs(changed[both] - clean[both])
    else:
        moved[both] = (changed[both] != clean[both]).astype(float)
    keys = subset.segments["key"].to_numpy()
    return [(float(moved[n]), str(keys[n]), int(n), subset) for n in np.flatnonzero(moved > 0)]


def _pair(evaluation: Evaluation, subset: Subset, position: int) -> Html:
    segment = subset.segments.iloc[position]
    partner = segment if subset.partner is None else subset.partner.iloc[position]
    task, predictions = subset.task, subset.predictions
    before, after = _written(predictions.clean[position]), _written(predictions.changed[position])
    title = f"{segment['file']} under {subset.change}: {task.name} {before} → {after}"
    if not evaluation.view(subset).audio or evaluation.guesses:  # who guesses has heard nothing
        return element("p", title)
    if subset.partner is not None:
        heard = [(segment, "", subset.sides[0], before), (partner, "", subset.sides[1], after)]
    else:
        heard = [(segment, "", "original", "" if subset.base else before)]
        heard += [(segment, subset.base, subset.base, before)] if subset.base else []
        heard.append((segment, subset.change, subset.change, after))
    sides = []
    for one, change, name, said in heard:
        signal, drawn = _heard(evaluation, subset, one, change)
        words = [f"{task.name} {said}" if said else "", settings_of(drawn) if drawn else ""]
        sides.append(Side(signal, name, "; ".join(filter(None, words))))
    return switched(evaluation.media, sides, title)


def _heard(
    evaluation: Evaluation, subset: Subset, segment: pd.Series, change: str
) -> tuple[np.ndarray, dict[str, object]]:
    """Give what the model heard, and what was drawn for it."""
    signal = signal_of(subset.root, segment)
    if not change:
        return signal, {}
    return apply(
        evaluation.change(change),
        signal,
        SAMPLING_RATE,
        seed=evaluation.seed,
        content=segment["audio"],
        sounds=evaluation.sounds,
    )


def most_different(comparison: Comparison, pair: Pair, count: int = 4) -> Html:
    """Play the segments on which two models differ most, with both predictions and the truth.

    Parameters
    ----------
    comparison
        The comparison, for the media store.
    pair
        What the models say. Numbers count by the size of the difference; of classes that changed, those that
        the candidate breaks come first, then those that it corrects.
    count
        How many segments to play.
    """
    both = pd.notna(pair.baseline) & pd.notna(pair.candidate)
    size = np.zeros(len(both))
    codes = impact_codes(pair.truth, pair.baseline, pair.candidate)
    if pair.task.is_regression:
        size[both] = np.abs(pair.candidate[both] - pair.baseline[both])
    else:
        size[both] = (pair.candidate[both] != pair.baseline[both]) * (
            1.0 + (codes[both] == 2) + 2 * (codes[both] == 0)
        )
    title = f"{pair.corpus}, {pair.task.name}"
    keys = pair.segments["key"].to_numpy(dtype=object)
    order = heapq.nsmallest(count, np.flatnonzero(size > 0), key=lambda n: (-size[n], keys[n]))
    if not order:
        return element("p", f"{title}: both models say the same of every segment.")
    shown = []
    for position in order:
        segment = pair.segments.iloc[position]
        said = [
            f"baseline {_written(pair.baseline[position])}",
            f"candidate {_written(pair.candidate[position])}",
        ]
        if pd.notna(pair.truth[position]):
            said.append(f"truth {_written(pair.truth[position])}")
        if 0 <= codes[position] < len(EVENTS):
            said.append(EVENTS[codes[position]].removesuffix("s"))
        shown.append(segment_player(comparison.media, pair, segment, ", ".join(said)))
    return row(shown, title=title)


def hardest_trials(evaluation: Evaluation, subset: Subset, threshold: float, count: int = 4) -> Html:
    """Play the trials that the model got most wrong: non-targets that sound alike, targets that do not.

    Parameters
    ----------
    evaluation
        For the media store and the corpus.
    subset
        Trials.
    threshold
        The threshold in use.
    count
        How many trials of each kind; each speaker on the tested side once.
    """
    scores, target = subset.predictions.clean, subset.truth
    corpus = evaluation.view(subset)
    kinds = (
        ("Two speakers that sound alike to the model", ~target, -1),
        ("One speaker who does not sound like the same speaker to the model", target, 1),
    )
    shown = []
    for title, own, sign in kinds:
        rows = np.flatnonzero(own & np.isfinite(scores))
        rows = rows[np.argsort(sign * scores[rows], kind="stable")]
        chosen = subset.segments.iloc[rows].drop_duplicates("test_speaker").index[:count]
        shown.append(element("h3", title))
        for n in chosen:
            trial = subset.segments.iloc[n]
            verdict = "accepted" if scores[n] > threshold else "rejected"
            words = f"score {tables.number(scores[n])}, {verdict}; {trial['kind']}"
            if not corpus.audio:
                shown.append(element("p", f"{trial['enrol']} with {trial['test']}: {words}"))
                continue
            sides = _sides(corpus, trial)
            shown.append(switched(evaluation.media, sides, words))
    return join(shown)


def harmed_trials(
    evaluation: Evaluation, subset: Subset, settings: Sequence[Setting], threshold: float
) -> Html:
    """Play trials that are decided rightly as they are and wrongly when the tested side is changed.

    Parameters
    ----------
    evaluation
        For the media store, the corpus and the changes.
    subset
        From :meth:`~soundcheck.evaluation.evaluation.Evaluation.transformed`.
    settings
        Under each of them one trial of a speaker and one of two speakers are heard, those whose scores move
        furthest across the threshold.
    threshold
        The threshold in use.
    """
    corpus, target = evaluation.view(subset), subset.truth
    clean, shown = subset.predictions.clean, []
    right = np.where(target, clean > threshold, clean <= threshold) & np.isfinite(clean)
    for transformation, level in settings:
        change = evaluation.family.transformations[transformation].steps[level]
        scores, name = subset.predictions.settings[transformation, level], f"{transformation} {level}"
        wrong = np.where(target, threshold - scores, scores - threshold)
        for own in (target, ~target):
            rows = np.flatnonzero(right & own & (wrong > 0))
            if not len(rows):
                continue
            n = int(rows[np.argmax(wrong[rows])])
            trial = subset.segments.iloc[n]
            first, second = ("accepted", "rejected") if target[n] else ("rejected", "accepted")
            words = f"{subset.corpus}: score {tables.number(clean[n])}, {first}; under {name}"
            words = f"{words} {tables.number(scores[n])}, {second}; {trial['kind']}"
            enrolled, tested = _sides(corpus, trial)
            content = corpus.segments.iloc[trial["segment"]]["audio"]
            options = {"seed": evaluation.seed, "content": content, "sounds": evaluation.sounds}
            changed, drawn = apply(change, tested.signal, SAMPLING_RATE, **options)
            sides = [enrolled, tested, Side(changed, name, settings_of(drawn))]
            shown.append(switched(evaluation.media, sides, words))
    nothing = element("p", f"{subset.corpus}: no change makes a decision wrong that was right.")
    return join(shown) if shown else nothing


def _sides(corpus: CorpusView, trial: pd.Series) -> list[Side]:
    """Give both recordings of a trial to hear, the enrolled one first."""
    sides = []
    for role, place, speaker in (
        ("enrolled", trial["enrolled"], trial["enrol_speaker"]),
        ("tested", trial["segment"], trial["test_speaker"]),
    ):
        segment = corpus.segments.iloc[place]
        signal = signal_of(corpus.root, segment)
        sides.append(Side(signal, segment["file"], f"{role}: speaker {speaker}"))
    return sides


def _written(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"
