"""Chooses segments to listen to by a score: the worst, typical ones, and those that a change harms most.

- Scores are float64 ``(segments,)``, NaN where nothing is known; the larger, the worse. *Typical* are the
  segments whose score is closest to the median of those that are chosen from.
- Of equal scores the smallest key comes first. A speaker comes a second time when the others among the
  next ones have been.
"""

import collections
import dataclasses
import functools
import heapq
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Subset
from soundcheck.metrics.additive import ratio, values
from soundcheck.metrics.change import EVENTS, impact_codes
from soundcheck.metrics.differential import Localised, Setting, degradations, word_edits
from soundcheck.metrics.word_errors import word_changes, word_errors
from soundcheck.metrics.word_rates import missing_as_empty
from soundcheck.report.formats import label, number, place
from soundcheck.report.listening import TYPICAL, Example, Scene, Words, written
from soundcheck.report.players import Side, side

WORST, BEST = "worst", "best"
OTHERS = "the others"
MOST_GROUPS = 2  # with the largest differences, of a corpus and task
MOST_WORDS = 3  # that are lost most
MOST_MOVED = 5
READ = 4  # segments of a kind
AHEAD = 2  # times as many segments as are shown are looked at for other speakers
AS_IT_IS = "as it is"


def choose(
    scores: np.ndarray,
    segments: pd.DataFrame,
    mask: object = True,
    whose: str = "",
    *,
    worst: int = 0,
    typical: int = 0,
    best: int = 0,
    played: int = 1,
    called: str = WORST,
) -> list[Example]:
    """Choose segments with the largest scores, typical ones and those with the smallest; each once.

    ``segments`` has the columns ``key`` and perhaps ``speaker``; ``mask`` says which are chosen from,
    ``played`` how many of each kind are played, ``called`` what those with the largest scores are. What has
    no error is not among them.
    """
    rows = np.flatnonzero(np.isfinite(scores) & mask)
    known, left = scores[rows], np.ones(len(rows), dtype=bool)
    if not len(rows):
        return []
    kinds = {
        WORST: (worst, -known),
        TYPICAL: (typical, np.abs(known - np.median(known))),
        BEST: (best, known),
    }
    about = segments.reindex(columns=["key", "speaker"]).iloc[rows]
    share = min(1.0, len(rows) / max(1, worst + typical + best))  # so that few are not all of one kind
    examples: list[Example] = []
    for why, (most, order) in kinds.items():
        some = left & (known > 0) if why == WORST and known.min() == 0 and known.any() else left
        chosen = _first(order, some, about, math.ceil(share * most)) if most else []
        left[chosen] = False
        why = called if why == WORST else why
        examples += [Example(int(rows[n]), why, whose, rank < played) for rank, n in enumerate(chosen)]
    return examples


def _first(order: np.ndarray, some: np.ndarray, about: pd.DataFrame, count: int) -> list[int]:
    """Give the places of the segments that come first, by order and key, of those that are left."""
    ahead, places = AHEAD * count, np.flatnonzero(some)
    if len(places) > ahead:  # few, so that sorting by key is quick
        places = places[order[places] <= np.partition(order[places], ahead - 1)[ahead - 1]]
    keys = about["key"].iloc[places]
    near = heapq.nsmallest(ahead, zip(order[places].tolist(), keys, places.tolist(), strict=True))
    _, keys, places = zip(*near, strict=True) if near else ((), (), ())
    turns, seen = [], collections.Counter()
    for n, key, speaker in zip(places, keys, about["speaker"].iloc[[*places]], strict=True):
        who = key if pd.isna(speaker) else speaker
        turns.append((seen[who], len(turns), n))
        seen[who] += 1
    return [n for *_, n in sorted(turns)[:count]]


def segment_errors(subset: Subset) -> np.ndarray:
    """Say how wrong each prediction is, float64 ``(segments,)``; NaN where nothing is known.

    The absolute error of values, whether a class is wrong, or the word errors divided by the words.
    """
    truth, predicted = subset.truth, subset.predictions.clean
    if truth is None:
        return np.full(len(subset), np.nan)
    if subset.task.is_transcription:
        counts = word_errors(truth, predicted)
        return np.where(counts.words > 0, counts.errors / np.maximum(counts.words, 1), np.nan)
    if subset.task.is_regression:
        return np.abs(predicted - truth)
    known = pd.notna(truth) & pd.notna(predicted)
    return np.where(known, truth != predicted, np.nan)


def of_errors(subset: Subset, errors: np.ndarray | None = None) -> Scene:
    """Choose the segments with the largest error, typical ones and the best; of other errors the worst."""
    usual, words = errors is None, subset.task.is_transcription
    errors = segment_errors(subset) if usual else np.where(errors > 0, errors, np.nan)
    mean = float(np.nanmean(errors)) if np.isfinite(errors).any() else 0.0
    title, kinds = place(subset), {"worst": 2 * READ, "played": 3}
    if usual:
        title = f"{place(subset)}: {_error(subset)} {number(mean)}"
        kinds = {"worst": READ, "typical": READ, "best": 0 if words else READ, "played": 2 if words else 1}
    return Scene(title, subset, choose(errors, subset.segments, **kinds), mean)


def of_ranges(subset: Subset, wanted: Mapping[str, tuple[float, float]]) -> Scene:
    """Choose segments whose predictions are furthest outside of the range expected of their category."""
    ends = [wanted.get(name, (np.nan, np.nan)) for name in subset.segments["category"]]
    low, high = np.array(ends, dtype=float).reshape(-1, 2).T
    predicted = subset.predictions.clean
    scene = of_errors(subset, np.maximum(low - predicted, predicted - high))

    def said(n: int) -> str:
        category = subset.segments["category"].iloc[n]
        expected = label(f"({low[n]:g}, {high[n]:g}]").replace("above", "from")  # both ends belong to it
        return f"{category}, expected {expected}; predicted {written(predicted[n])}"

    return dataclasses.replace(scene, said=said)


def of_groups(
    subset: Subset, column: str, groups: Sequence[str], scores: np.ndarray | None = None, what: str = ""
) -> list[Scene]:
    """Choose segments of the groups whose mean score differs most from the others', beside these.

    By default scores are errors: groups with more than the others come first, and the worst segments. Of
    other scores it is the segments that are furthest in the direction of the difference.
    """
    masks, errors = {group: subset.mask(column, group) for group in groups}, scores is None
    scores = segment_errors(subset) if errors else scores
    ranked, scenes = gaps(scores, masks), []
    everybody = np.logical_or.reduce([*masks.values()])
    if errors:
        ranked.sort(key=lambda entry: -entry[0])
    for gap, group in ranked[: 1 if len(masks) == 2 else MOST_GROUPS]:  # of two groups one is the other's
        size, whose = f"{gap:+.3f}".replace("-", "−"), f"{column}: {group}"
        about = f"{place(subset)}: {group}: {what or _error(subset)} {size} against the others"
        about += f" (of {len(ranked)} groups)" if len(ranked) > 2 else ""
        directed, others = scores if errors else np.copysign(1, gap) * scores, everybody & ~masks[group]
        kinds = {"worst": 2, "typical": 1, "called": WORST if errors else "furthest"}
        chosen = choose(directed, subset.segments, masks[group], whose, **kinds)
        chosen += choose(directed, subset.segments, others, OTHERS, typical=1)
        scenes.append(Scene(about, subset, chosen, gap, whose))
    return scenes


def of_predictions(
    subset: Subset, column: str, groups: Sequence[str], context: str = "", value: str = ""
) -> list[Scene]:
    """Choose segments of the groups whose predictions differ most from those of the others, without labels.

    Of classes the one whose share differs most decides, and segments that are predicted to be it come first.
    In a context, a ``value`` of the column ``context``, it is how far this moves the mean of a group.
    """
    masks, clean = {group: subset.mask(column, group) for group in groups}, subset.predictions.clean
    known, ranked = pd.notna(clean), []
    for name in subset.task.classes or ("",):
        scores = np.where(known, clean == name if name else clean, np.nan).astype(float)
        if context:
            for mask in masks.values():
                if (known & mask).any():
                    scores[mask] -= np.nanmean(scores[mask])
            scores[~subset.mask(context, value)] = np.nan
        what = f"share of {name}" if name else "mean prediction"
        ranked += [(-abs(gap), what, scores) for gap, _ in gaps(scores, masks)[:1]]
    if not ranked:
        return []
    _, what, scores = min(ranked, key=lambda entry: entry[:2])
    about = f"{context} {value}: {what} moves" if context else what
    return of_groups(subset, column, groups, scores, about)


def gaps(scores: np.ndarray, masks: Mapping[str, np.ndarray]) -> list[tuple[float, str]]:
    """Say how far the mean score of each group is from that of the other groups, the largest gap first."""
    known, codes = np.isfinite(scores), np.full(len(scores), len(masks))
    for n, mask in enumerate(masks.values()):
        codes[mask] = n
    counts = np.bincount(codes[known], minlength=len(masks) + 1)[:-1]
    sums = np.bincount(codes[known], scores[known], minlength=len(masks) + 1)[:-1]
    of_group, of_others = ratio(sums, counts), ratio(sums.sum() - sums, counts.sum() - counts)
    result = [
        (float(gap), name) for gap, name in zip(of_group - of_others, masks, strict=True) if np.isfinite(gap)
    ]
    return sorted(result, key=lambda entry: (-abs(entry[0]), entry[1]))


def moved(evaluation: Evaluation, subsets: Sequence[Subset]) -> list[Scene]:
    """Choose the segments whose prediction a change moves most, each once; of values if there are any."""
    parts, subsets = [], [subset for subset in subsets if subset.task.is_regression] or subsets
    for n, subset in enumerate(subsets):
        clean, changed = map(pd.Series, (subset.predictions.clean, subset.predictions.changed))
        size = (changed - clean).abs() if subset.task.is_regression else 1.0 * changed.ne(clean)
        about = {"key": subset.segments["key"].to_numpy(), "change": subset.change, "subset": n}
        part = pd.DataFrame(about | {"size": size, "row": range(len(subset))})
        parts.append(part[clean.notna() & changed.notna() & size.gt(0)])
    if not parts:
        return []
    order = {"size": False, "key": True, "change": True}
    frame = pd.concat(parts).sort_values(list(order), ascending=list(order.values()))
    largest = frame.drop_duplicates("key").head(MOST_MOVED).to_dict("records")
    return [_moved(evaluation, subsets[row["subset"]], row["row"]) for row in largest]


def _moved(evaluation: Evaluation, subset: Subset, n: int) -> Scene:
    name, (first, second), segment = subset.task.name, subset.sides, subset.segments.iloc[n]
    texts = [written(part[n]) for part in (subset.predictions.clean, subset.predictions.changed)]
    before, after = (f"{name} {text}" for text in texts)
    if subset.partner is not None:
        sides = [(segment, "", first, before), (subset.partner.iloc[n], "", second, after)]
    else:
        sides = [(segment, subset.base, first, before)] if subset.base else []
        sides = [(segment, "", "original", "" if sides else before), *sides, (segment, second, second, after)]

    def sounds(_: int) -> list[Side]:
        return [
            side(evaluation, subset, part, evaluation.family.changes.get(change), *words)
            for part, change, *words in sides
        ]

    said = f"{segment['file']} under {subset.change}: {name} {' → '.join(texts)}"
    return Scene("", subset, [Example(n)], said=lambda _: said, sounds=sounds)


def of_two_models(pair: Subset) -> Scene:
    """Choose the segments on which two models differ most; first of classes that the candidate breaks."""
    before, after = pair.predictions.clean, pair.predictions.changed
    texts = pd.DataFrame({"baseline": before, "candidate": after, "truth": pair.truth})
    codes = impact_codes(pair.truth, before, after)
    if pair.task.is_regression:
        size = np.abs(after - before)
    else:
        size = (after != before) * (1.0 + (codes == 2) + 2 * (codes == 0))
        size[pd.isna(before) | pd.isna(after)] = np.nan

    def said(n: int) -> str:
        parts = [f"{name} {written(text)}" for name, text in texts.iloc[n].dropna().items()]
        parts += [EVENTS[codes[n]].removesuffix("s")] if 0 <= codes[n] < len(EVENTS) else []
        return ", ".join(parts)

    chosen = choose(np.where(size > 0, size, np.nan), pair.segments, worst=READ, played=READ)
    return Scene(place(pair), pair, chosen, said=said)


def of_two_recognisers(subset: Subset, texts: Mapping[str, np.ndarray], played: int = 1) -> list[Scene]:
    """Choose the segments of which the second of two recognisers breaks most words, then corrects most."""
    (first, before), (second, after) = texts.items()
    changes, scenes = word_changes(subset.truth, before, after), []

    def said(n: int) -> str:
        return ", ".join(f"{changes[name].iloc[n]:.0f} {name}" for name in ("broken", "corrected", "words"))

    def words(n: int) -> Words:
        return Words(subset.truth[n], {first: before[n], second: after[n]})

    for kind, other in (("broken", "corrected"), ("corrected", "broken")):
        seen = [example.row for scene in scenes for example in scene.examples]
        scores = (changes[kind].where(changes[kind] > 0) - changes[other] / 1000).drop(seen)
        scores = scores.reindex(changes.index).to_numpy()
        chosen = choose(scores, subset.segments, worst=MOST_WORDS, played=played, called="")
        title = f"{subset.corpus}: most words {kind} by {second}"
        scenes.append(Scene(title, subset, chosen, said=said, words=words))
    return scenes


def hardest_trials(evaluation: Evaluation, subset: Subset, threshold: float, count: int = 4) -> list[Scene]:
    """Choose accepted non-targets and rejected targets; each speaker on the tested side once."""
    scores, target, accepted = subset.predictions.clean, subset.truth, subset.predictions.clean > threshold
    alike = "Two speakers that sound alike to the model"
    unlike = "One speaker who does not sound like the same speaker to the model"
    kinds = {alike: (scores, accepted & ~target), unlike: (-scores, ~accepted & target)}
    return [_trials(evaluation, subset, threshold, title, *chosen, count) for title, chosen in kinds.items()]


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
        scenes += [_trials(evaluation, subset, threshold, *chosen) for chosen in both]
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
    """Choose trials with the largest scores, to play both recordings, and the tested one changed."""
    corpus, predictions = evaluation.view(subset), subset.predictions
    trials = subset.segments.assign(key=range(len(subset)), speaker=subset.segments["test_speaker"])
    both = {"": predictions.clean}
    both |= {} if setting == CLEAN else {f"under {_name(setting)} ": predictions.settings[setting]}

    def said(n: int) -> str:
        decisions = {
            name: "accepted" if scores[n] > threshold else "rejected" for name, scores in both.items()
        }
        parts = [f"{name}score {number(both[name][n])}, {what}" for name, what in decisions.items()]
        return "; ".join([*parts, trials["kind"].iloc[n]])

    def sounds(n: int) -> list[Side]:
        trial = trials.iloc[n]
        segments = corpus.segments.iloc[[trial["enrolled"], trial["segment"]]]
        names = f"enrolled: speaker {trial['enrol_speaker']}", f"tested: speaker {trial['test_speaker']}"
        both = zip(segments.to_dict("records"), names, strict=True)
        sides = [side(evaluation, corpus, segment, None, segment["file"], name) for segment, name in both]
        if setting != CLEAN:
            tested = segments.iloc[1]
            sides.append(side(evaluation, corpus, tested, evaluation.settings[setting], _name(setting)))
        return sides

    chosen = choose(scores, trials, mask, worst=count, played=count, called="")
    return Scene(title, subset, chosen, said=said, sounds=sounds)


def lost_words(evaluation: Evaluation, subset: Subset, localised: Sequence[Localised]) -> list[Scene]:
    """Choose segments whose transcript loses a word at the worst level of the transformation.

    ``found`` are words of everybody; those with the largest share lost first.
    """
    series, scenes = subset.predictions.settings, []
    levels = [setting for setting in evaluation.settings if setting[0] == evaluation.family.options["by"]]
    for lost in [lost for lost in localised if lost.drop > 0][:MOST_WORDS]:
        with_it = {
            setting: np.array([lost.word in (text or "").split() for text in series[setting]])
            for setting in (CLEAN, *levels)
        }
        setting = min(levels, key=lambda level: int(with_it[level].sum()))
        mask = with_it[CLEAN] & ~with_it[setting]
        times = f"lost {lost.drop} of {lost.count} times"
        title = f"{subset.corpus}: “{lost.word}”, {times} under {_name(setting)}"
        apart = _apart(series[CLEAN], series[setting])
        scenes.append(_changed(evaluation, subset, setting, apart, title, mask, not scenes))
    return scenes


def most_harmed(evaluation: Evaluation, subset: Subset, settings_: Sequence[Setting]) -> list[Scene]:
    """Choose a typical segment under each of some settings, and the one that loses most words."""
    errors, scenes = {}, []
    for setting in (CLEAN, *settings_):
        texts = missing_as_empty(subset.predictions.settings[setting])
        errors[setting] = _apart(subset.truth, texts)
    for setting in settings_:
        growth, title = errors[setting] - errors[CLEAN], f"{subset.corpus}: {_name(setting)}"
        scenes.append(_changed(evaluation, subset, setting, growth, title))
    return scenes


def most_violated(
    evaluation: Evaluation, pairs: Sequence[RecogniserPair], counted_: Mapping[str, np.ndarray]
) -> list[Scene]:
    """Choose segments of the group that a change makes worse by most against the others, and of these.

    ``pairs`` are those of the tested recogniser; with transcripts, if any are. ``counted_`` says of each
    corpus which settings count, bool ``(settings - 1,)``: without the signals as they are.
    """
    scenes = []
    for where in dict.fromkeys(pair.place for pair in pairs):
        here = [pair for pair in pairs if pair.place == where]
        judging = [pair for pair in here if pair.with_transcripts] or here
        further = [degradations(values(evaluation.distances(pair)), len(pair.groups)) for pair in judging]
        worse, first = np.mean(further, axis=0), judging[0]
        others = (worse.sum(axis=0, keepdims=True) - worse) / max(1, len(worse) - 1)
        excess = np.where(counted_[where[0]], worse - others, np.nan)
        if not np.isfinite(excess).any():
            continue
        group, n = map(int, np.unravel_index(np.nanargmax(excess), excess.shape))
        points = [f"{100 * distances[group, n]:+.1f}".replace("-", "−") for distances in (worse, others)]
        setting, mask = list(evaluation.settings)[1 + n], first.masks[group]
        grown = []  # by how many words the setting moves each pair apart
        for pair in judging:
            sides = [evaluation.series(pair.subset, name) for name in (pair.recogniser, pair.opponent)]
            clean, changed = (_apart(*(series[place] for series in sides)) for place in (0, 1 + n))
            grown.append(changed - clean)
        rest = np.logical_or.reduce(first.masks) & ~mask
        title = f"{', '.join(where)}: {first.groups[group]} under {_name(setting)}"
        title += f", distance {points[0]} points, others {points[1]}"
        about = evaluation, first.subset, setting, np.mean(grown, axis=0)
        scenes += [_changed(*about, title, mask)]
        scenes += [_changed(*about, f"{', '.join(where)}: the other groups", rest, played=False)]
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
    """Choose a typical segment under a setting, to play as it is and changed, and the most changed one."""
    name, truth = _name(setting), subset.truth
    clean, changed = (subset.predictions.settings[level] for level in (CLEAN, setting))

    def words(n: int) -> Words:
        if truth is None or truth[n] is None:
            return Words(clean[n], {name: changed[n]}, AS_IT_IS)
        return Words(truth[n], {AS_IT_IS: clean[n], name: changed[n]})

    def sounds(n: int) -> list[Side]:
        of = functools.partial(side, evaluation, subset, subset.segments.iloc[n])
        return [of(None, AS_IT_IS), of(evaluation.settings[setting], name)]

    chosen = choose(scores, subset.segments, mask, typical=1, worst=1)
    chosen = [example._replace(played=played and example.why == TYPICAL) for example in chosen]
    return Scene(title, subset, chosen, said=lambda _: "", words=words, sounds=sounds)


def _apart(first: Sequence[str | None], second: Sequence[str | None]) -> np.ndarray:
    """Count the words in which texts differ, float64; NaN where one is missing."""
    both = zip(first, second, strict=True)
    edits = [np.nan if text is None or other is None else word_edits(text, other)[0] for text, other in both]
    return np.array(edits, dtype=np.float64)


def _name(setting: Setting) -> str:
    return f"{setting[0]} {setting[1]}"


def _error(subset: Subset) -> str:
    """Name the mean of :func:`segment_errors`."""
    names = {"regression": "mean error", "transcription": "mean share of wrong words"}
    return names.get(subset.task.kind, "share of errors")
