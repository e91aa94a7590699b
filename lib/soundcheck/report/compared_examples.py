"""Segments that are heard or read twice: as they are and changed, by two models, both sides of a trial.

Each function gives scenes for :func:`soundcheck.report.examples.show`, which are all played.
"""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.augment.registry import apply, missing
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.evaluation.comparison import Pair
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Subset
from soundcheck.metrics.additive import values
from soundcheck.metrics.change import EVENTS, impact_codes
from soundcheck.metrics.differential import Localised, Setting, degradations, word_edits
from soundcheck.metrics.word_changes import word_changes
from soundcheck.metrics.word_rates import missing_as_empty
from soundcheck.report.examples import TYPICAL, Example, Scene, Words, choose
from soundcheck.report.formats import number
from soundcheck.report.players import Side, settings, signal_of
from soundcheck.suite.families import Perturbation

MOST_WORDS = 3  # that are lost most
AS_IT_IS = "as it is"


def moved(evaluation: Evaluation, subsets: Sequence[Subset], count: int = 5) -> list[Scene]:
    """Choose the segments whose prediction a change moves most, each once; of values if there are any."""
    found = []
    for subset in [one for one in subsets if one.task.is_regression] or subsets:
        clean, changed = (pd.Series(own) for own in (subset.predictions.clean, subset.predictions.changed))
        size = (changed - clean).abs() if subset.task.is_regression else (changed != clean).astype(float)
        for n in np.flatnonzero(clean.notna() & changed.notna() & (size > 0)):
            found.append((-size[n], subset.segments["key"].iloc[n], subset.change, int(n), subset))
    first: dict[str, Scene] = {}
    for _, key, _, n, subset in sorted(found, key=lambda entry: entry[:3]):
        if len(first) < count and key not in first:
            first[key] = _moved(evaluation, subset, n)
    return [*first.values()]


def _moved(evaluation: Evaluation, subset: Subset, n: int) -> Scene:
    name, (first, second), segment = subset.task.name, subset.sides, subset.segments.iloc[n]
    texts = [_written(own[n]) for own in (subset.predictions.clean, subset.predictions.changed)]
    before, after = (f"{name} {text}" for text in texts)
    sides = [(segment, subset.base, first, before), (segment, second, second, after)]
    if subset.partner is not None:
        sides = [(segment, None, first, before), (subset.partner.iloc[n], None, second, after)]
    elif subset.base:
        sides.insert(0, (segment, None, "original", ""))
    else:
        sides[0] = (segment, None, "original", before)

    def sounds(_: int) -> list[Side]:
        return [
            side(evaluation, subset, own, evaluation.change(change) if change else None, *words)
            for own, change, *words in sides
        ]

    said = f"{segment['file']} under {subset.change}: {name} {' → '.join(texts)}"
    return Scene("", subset, [Example(n)], said=lambda _: said, sounds=sounds)


def side(
    evaluation: Evaluation,
    where: Subset | CorpusView,
    segment: pd.Series,
    change: Perturbation | None,
    name: str,
    caption: str = "",
) -> Side:
    """Give a segment to be heard as it is, or changed with what is drawn for it."""
    signal, drawn = signal_of(where.root, segment), {}
    if change is not None:
        if why := missing(change, evaluation.sounds):
            return Side(None, name, why)
        options = {"seed": evaluation.seed, "content": segment["audio"], "sounds": evaluation.sounds}
        signal, drawn = apply(change, signal, SAMPLING_RATE, **options)
    return Side(signal, name, "; ".join(filter(None, (caption, settings(drawn)))))


def recordings(subset: Subset, most: int) -> dict[str, np.ndarray]:
    """Give condition -> recordings of the same pairs one after the other, float32 ``(samples,)``.

    Of many pairs ``most`` are read, evenly spread over the subset.
    """
    rows = np.unique(np.linspace(0, len(subset) - 1, min(most, len(subset))).round().astype(int))
    sides = zip(subset.sides, (subset.segments, subset.partner), strict=True)
    return {
        name: np.concatenate([signal_of(subset.root, segments.iloc[n]) for n in rows])
        for name, segments in sides
    }


def of_two_models(pair: Pair, count: int = 4) -> Scene:
    """Choose the segments on which two models differ most; first of classes that the candidate breaks."""
    texts = {"baseline": pair.baseline, "candidate": pair.candidate, "truth": pair.truth}
    codes = impact_codes(pair.truth, pair.baseline, pair.candidate)
    if pair.task.is_regression:
        size = np.abs(pair.candidate - pair.baseline)
    else:
        size = (pair.candidate != pair.baseline) * (1.0 + (codes == 2) + 2 * (codes == 0))
        size[pd.isna(pair.baseline) | pd.isna(pair.candidate)] = np.nan

    def said(n: int) -> str:
        own = [f"{name} {_written(side[n])}" for name, side in texts.items() if pd.notna(side[n])]
        own += [EVENTS[codes[n]].removesuffix("s")] if 0 <= codes[n] < len(EVENTS) else []
        return ", ".join(own)

    chosen = choose(np.where(size > 0, size, np.nan), pair.segments, worst=count, played=count)
    return Scene(f"{pair.corpus}, {pair.task.name}", pair, chosen, said=said)


def of_two_recognisers(
    subset: Subset | Pair, texts: Mapping[str, np.ndarray], played: int = 1, count: int = 3
) -> list[Scene]:
    """Choose the segments of which the second of two recognisers breaks most words, then corrects most."""
    (first, before), (second, after) = texts.items()
    changes, scenes = word_changes(subset.truth, before, after), []

    def said(n: int) -> str:
        return ", ".join(f"{changes[name].iloc[n]:.0f} {name}" for name in ("broken", "corrected", "words"))

    def words(n: int) -> Words:
        return Words(subset.truth[n], {first: before[n], second: after[n]})

    for kind, other in (("broken", "corrected"), ("corrected", "broken")):
        seen = [one.row for scene in scenes for one in scene.examples]
        scores = (changes[kind].where(changes[kind] > 0) - changes[other] / 1000).drop(seen)
        chosen = choose(scores.reindex(changes.index).to_numpy(), subset.segments, worst=count, played=played)
        chosen = [one._replace(why="") for one in chosen]
        title = f"{subset.corpus}: most words {kind} by {second}"
        scenes.append(Scene(title, subset, chosen, said=said, words=words))
    return scenes


def hardest_trials(evaluation: Evaluation, subset: Subset, threshold: float, count: int = 4) -> list[Scene]:
    """Choose non-targets that sound alike and targets that do not; each speaker on the tested side once."""
    scores, target = subset.predictions.clean, subset.truth
    one = "One speaker who does not sound like the same speaker to the model"
    kinds = {"Two speakers that sound alike to the model": (scores, ~target), one: (-scores, target)}
    return [_trials(evaluation, subset, threshold, title, *own, count) for title, own in kinds.items()]


def harmed_trials(
    evaluation: Evaluation, subset: Subset, settings_: Sequence[Setting], threshold: float
) -> list[Scene]:
    """Choose trials that are decided rightly as they are and wrongly when the tested side is changed.

    Under each setting one of a speaker and one of two, whose scores move furthest across the threshold.
    """
    clean, target, scenes = subset.predictions.clean, subset.truth, []
    right = np.where(target, clean > threshold, clean <= threshold) & np.isfinite(clean)
    for setting in settings_:
        wrong = (threshold - subset.predictions.settings[setting]) * np.where(target, 1, -1)
        wrong = np.where(right & (wrong > 0), wrong, np.nan)
        both = ((subset.corpus, wrong, mask, 1, setting) for mask in (target, ~target))
        scenes += [_trials(evaluation, subset, threshold, *own) for own in both]
    return scenes


def _trials(
    evaluation: Evaluation,
    subset: Subset,
    threshold: float,
    title: str,
    scores: np.ndarray,
    mask: np.ndarray,
    count: int,
    setting: Setting = CLEAN,
) -> Scene:
    """Choose trials with the largest scores, to hear both recordings, and the tested one changed."""
    corpus, predictions = evaluation.view(subset), subset.predictions
    trials = subset.segments.assign(key=range(len(subset)), speaker=subset.segments["test_speaker"])
    both = {"": predictions.clean}
    both |= {} if setting == CLEAN else {f"under {_name(setting)} ": predictions.settings[setting]}

    def said(n: int) -> str:
        decided = ["accepted" if own[n] > threshold else "rejected" for own in both.values()]
        each = zip(both.items(), decided, strict=True)
        parts = [f"{name}score {number(own[n])}, {decision}" for (name, own), decision in each]
        return "; ".join([*parts, trials["kind"].iloc[n]])

    def sounds(n: int) -> list[Side]:
        trial, sides = trials.iloc[n], []
        for role, place, who in (("enrolled", "enrolled", "enrol"), ("tested", "segment", "test")):
            segment = corpus.segments.iloc[trial[place]]
            speaker = f"{role}: speaker {trial[f'{who}_speaker']}"
            sides.append(side(evaluation, corpus, segment, None, segment["file"], speaker))
        if setting != CLEAN:
            sides.append(side(evaluation, corpus, segment, evaluation.settings[setting], _name(setting)))
        return sides

    chosen = [one._replace(why="") for one in choose(scores, trials, mask, worst=count, played=count)]
    return Scene(title, subset, chosen, said=said, sounds=sounds)


def lost_words(evaluation: Evaluation, subset: Subset, found: Sequence[Localised]) -> list[Scene]:
    """Choose segments whose transcript loses a word at the worst level of the transformation.

    ``found`` are words of everybody; those with the largest share lost first.
    """
    series, scenes = subset.predictions.settings, []
    levels = [setting for setting in evaluation.settings if setting[0] == evaluation.family.options["by"]]
    for one in [one for one in found if one.drop > 0][:MOST_WORDS]:
        with_it = {
            setting: np.array([one.word in (text or "").split() for text in series[setting]])
            for setting in (CLEAN, *levels)
        }
        setting = min(levels, key=lambda level: int(with_it[level].sum()))
        mask = with_it[CLEAN] & ~with_it[setting]
        title = f"{subset.corpus}: “{one.word}”, lost {one.drop} of {one.count} times under {_name(setting)}"
        apart = _apart(series[CLEAN], series[setting])
        scenes.append(_changed(evaluation, subset, setting, apart, title, mask, not scenes))
    return scenes


def most_harmed(evaluation: Evaluation, subset: Subset, settings_: Sequence[Setting]) -> list[Scene]:
    """Choose a typical segment under each of some settings, and the one that loses most words."""
    scenes, texts = [], {one: missing_as_empty(own) for one, own in subset.predictions.settings.items()}
    before = _apart(subset.truth, texts[CLEAN])
    for setting in settings_:
        growth, title = _apart(subset.truth, texts[setting]) - before, f"{subset.corpus}: {_name(setting)}"
        scenes.append(_changed(evaluation, subset, setting, growth, title))
    return scenes


def most_violated(
    evaluation: Evaluation, pairs: Sequence[RecogniserPair], counted: Mapping[str, np.ndarray]
) -> list[Scene]:
    """Choose segments of the group that a change makes worse by most against the others, and of these.

    ``pairs`` are those of the tested recogniser; with transcripts, if any are. ``counted`` says of each
    corpus which settings count, bool ``(settings - 1,)``: without the signals as they are.
    """
    places: dict[tuple[str, str], list[RecogniserPair]] = {}
    for pair in pairs:
        places.setdefault(pair.place, []).append(pair)
    scenes = []
    for place, own in places.items():
        judging = [pair for pair in own if pair.with_transcripts] or own
        further = [degradations(values(evaluation.distances(pair)), len(pair.groups)) for pair in judging]
        worse = np.mean(further, axis=0)
        others = (worse.sum(axis=0, keepdims=True) - worse) / max(1, len(worse) - 1)
        excess = np.where(counted[place[0]][None, :], worse - others, np.nan)
        if not np.isfinite(excess).any():
            continue
        group, n = map(int, np.unravel_index(np.nanargmax(excess), excess.shape))
        points = [f"{100 * one[group, n]:+.1f}".replace("-", "−") for one in (worse, others)]
        setting, subset = list(evaluation.settings)[1 + n], judging[0].subset
        growth = np.mean([_growth(evaluation, pair, 1 + n) for pair in judging], axis=0)
        mask = judging[0].masks[group]
        rest = np.logical_or.reduce(judging[0].masks) & ~mask
        name = f"{', '.join(place)}: {judging[0].groups[group]} under {_name(setting)}"
        name += f", distance {points[0]} points, others {points[1]}"
        one = _changed(evaluation, subset, setting, growth, name, mask)
        name = f"{', '.join(place)}: the other groups"
        scenes += [one, _changed(evaluation, subset, setting, growth, name, rest, played=False)]
    return scenes


def _changed(
    evaluation: Evaluation,
    subset: Subset,
    setting: Setting,
    scores: np.ndarray,
    title: str,
    mask: np.ndarray | bool = True,
    played: bool = True,
) -> Scene:
    """Choose a typical segment under a setting, to hear as it is and changed, and the most changed one."""
    name, truth = _name(setting), subset.truth
    clean, changed = (subset.predictions.settings[own] for own in (CLEAN, setting))

    def words(n: int) -> Words:
        if truth is None or truth[n] is None:
            return Words(clean[n], {name: changed[n]}, AS_IT_IS)
        return Words(truth[n], {AS_IT_IS: clean[n], name: changed[n]})

    def sounds(n: int) -> list[Side]:
        heard = functools.partial(side, evaluation, subset, subset.segments.iloc[n])
        return [heard(None, AS_IT_IS), heard(evaluation.settings[setting], name)]

    chosen = choose(scores, subset.segments, mask, typical=1, worst=1)
    chosen = [one._replace(played=played and one.why == TYPICAL) for one in chosen]
    return Scene(title, subset, chosen, said=lambda _: "", words=words, sounds=sounds)


def _growth(evaluation: Evaluation, pair: RecogniserPair, number: int) -> np.ndarray:
    """Count by how many words a setting moves a pair apart; float64 ``(segments,)``."""
    sides = [evaluation.series(pair.subset, name) for name in (pair.recogniser, pair.opponent)]
    clean, changed = (_apart(*(own[place] for own in sides)) for place in (0, number))
    return changed - clean


def _apart(first: Sequence[str | None], second: Sequence[str | None]) -> np.ndarray:
    """Count the words in which texts differ, float64; NaN where one is missing."""
    both = zip(first, second, strict=True)
    found = [np.nan if one is None or other is None else word_edits(one, other)[0] for one, other in both]
    return np.array(found, dtype=np.float64)


def _name(setting: Setting) -> str:
    return f"{setting[0]} {setting[1]}"


def _written(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"
