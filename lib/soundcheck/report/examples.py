"""Segments to listen to: chosen by a score, with labels, predictions, and words where there are any.

A notebook gives what its numbers are about, and shows all at once::

    examples.show(evaluation, [examples.of_errors(subset) for subset in subsets])
    examples.show(evaluation, [examples.of_groups(s, "sex", groups) for s, groups in compared])
    examples.show(evaluation, [examples.of_scores(subset, confidence * wrong, said=...)], every=True)

- Scores are float64 ``(segments,)``, NaN where nothing is known; the larger, the worse. *Typical* are the
  segments whose score is closest to the median of those that are chosen from.
- Of equal scores the smallest key comes first. A speaker is heard a second time when the others among the
  next ones have been.
- Of all numbers of a page only the segments of the largest are played, unless ``every`` one is; the others
  are listed. Of a model that guesses none is played: it hears nothing.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.common import templates
from soundcheck.common.wording import counted
from soundcheck.evaluation.comparison import Comparison, Pair
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import BINS, bin_numbers
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.metrics.word_errors import word_errors
from soundcheck.report import views
from soundcheck.report.aligned_words import aligned_words, legend
from soundcheck.report.formats import number
from soundcheck.report.html import Html, element
from soundcheck.report.names import label
from soundcheck.report.players import Side, players_of, row, segment_name, segment_player

WORST, TYPICAL, BEST = "worst", "typical", "best"
OTHERS = "the others"
MOST_GROUPS = 2  # with the largest gaps, of a corpus and task
MOST_SPEAKERS = 3  # that are furthest off
READ = 4  # segments of a kind
AHEAD = 2  # times as many segments as are shown are looked at for other speakers
DATA = "application/vnd.soundcheck.examples+json"  # output of a notebook: what is played, for the sheet


class Words(NamedTuple):
    """Transcripts to align: what was said, and name -> what was written; ``None`` if nothing was."""

    reference: str
    written: Mapping[str, str | None]
    said: str = "said"


@dataclasses.dataclass(frozen=True, eq=False)
class Example:
    """A row of a scene's segments."""

    row: int
    why: str = ""  # as what it was chosen, such as ``"worst"``
    whose: str = ""  # of several sides of a number
    said: str | None = None  # what is said about it; default: label and prediction
    words: Words | None = None
    sounds: Callable[[], Sequence[Side]] | None = None  # to be heard in turn; default: the segment
    played: bool = False  # if its scene is


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A number and segments behind it."""

    title: str  # may come from data
    subset: Subset | Pair
    examples: Sequence[Example]
    size: float = 0.0  # how large the number is: of a page the largest is played
    group: str = ""  # ``column: value`` that it is about, if any
    note: str = ""


class Examples(Html):
    """Examples as a page shows them, with what is played as data beside the HTML."""

    played: Sequence[Mapping[str, object]] = ()

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return {DATA: list(self.played)} if self.played else {}


def show(
    evaluation: Evaluation | Comparison, scenes: Iterable[Scene | Sequence[Scene]], *, every: bool = False
) -> Examples:
    """Play the scene with the largest number, or every one, and list the segments that are not played."""
    flat = [one for entry in scenes for one in ([entry] if isinstance(entry, Scene) else entry)]
    flat = [scene for scene in flat if scene.examples]
    if not flat:
        return Examples(element("p", "There is no segment to show."))
    heard = flat if every else [max(flat, key=lambda scene: abs(scene.size))]
    heard = [] if evaluation.guesses else heard
    records: list[dict[str, object]] = []
    played = [_played(evaluation, scene, records) for scene in heard]
    listed: dict[str, list[Scene]] = {}
    for scene in flat:
        rest = [one for one in scene.examples if not (one.played and one.words and scene in heard)]
        if rest:
            place = scene.title if scene.examples[0].words else place_of(scene.subset)
            listed.setdefault(place, []).append(dataclasses.replace(scene, examples=rest))
    names = next((own.words.written for scene in flat for own in scene.examples if own.words), None)
    words = Html() if names is None else legend(list(names))
    shown = templates.html("examples", played=played, lists=map(_listed, listed.values()))
    made = Examples(words + shown)
    made.played = records
    return made


def choose(
    scores: np.ndarray,
    segments: pd.DataFrame,
    mask: np.ndarray | None = None,
    *,
    worst: int = 0,
    typical: int = 0,
    best: int = 0,
    said: Callable[[int], str] | None = None,
    words: Callable[[int], Words | None] = lambda _: None,
    sounds: Callable[[int], Sequence[Side]] | None = None,
    whose: str = "",
    played: Mapping[str, int] | int = 0,
) -> list[Example]:
    """Choose segments with the largest scores, typical ones and those with the smallest; each once.

    ``segments`` has the columns ``key`` and perhaps ``speaker``; ``mask`` says which are chosen from.
    ``said``, ``words`` and ``sounds`` are functions of a row. ``played`` is the number of segments of each
    kind that are heard.
    """
    rows = np.flatnonzero(np.isfinite(scores) & (True if mask is None else mask))
    if not len(rows):
        return []
    wanted = {WORST: worst, TYPICAL: typical, BEST: best}
    off = np.abs(scores - np.median(scores[rows]))
    worse = rows[scores[rows] > scores[rows].min()]
    places = {
        WORST: (-scores, worse if len(worse) else rows),
        TYPICAL: (off, rows),
        BEST: (scores, rows),
    }
    every = sum(wanted.values())
    queues = {why: iter(_smallest(*places[why], segments, every)) for why in wanted}
    taken: dict[int, str] = {}
    for turn in range(max(wanted.values())):  # in turn, so that a few segments are not all of one kind
        for why, queue in queues.items():
            found = next((n for n in queue if n not in taken), None) if turn < wanted[why] else None
            if found is not None:
                taken[found] = why
    left = Counter(played) if isinstance(played, Mapping) else Counter(dict.fromkeys(wanted, played))
    chosen = []
    for n, why in sorted(taken.items(), key=lambda one: list(wanted).index(one[1])):
        left[why] -= 1
        about = {"said": said and said(n), "words": words(n), "sounds": sounds and _later(sounds, n)}
        chosen.append(Example(n, why, whose, **about, played=left[why] >= 0))
    return chosen


def _smallest(scores: np.ndarray, rows: np.ndarray, segments: pd.DataFrame, count: int) -> list[int]:
    """Give the rows with the smallest scores, speakers in turn among the next ones."""
    keys, most = segments["key"].to_numpy(dtype=object), AHEAD * count
    if len(rows) > most:  # only those that may be among them are compared one by one
        rows = rows[scores[rows] <= np.partition(scores[rows], most - 1)[most - 1]]
    order = sorted(rows.tolist(), key=lambda n: (scores[n], keys[n]))[:most]
    if "speaker" not in segments:
        return order[:count]
    speakers, before, turns = segments["speaker"].to_numpy(dtype=object), Counter(), {}
    for n in order:
        turns[n] = 0 if pd.isna(speakers[n]) else before[speakers[n]]
        before[speakers[n]] += 1
    return sorted(order, key=turns.__getitem__)[:count]


def _later(sounds: Callable[[int], Sequence[Side]], n: int) -> Callable[[], Sequence[Side]]:
    return lambda: sounds(n)


def of_scores(subset: Subset | Pair, scores: np.ndarray, title: str = "", **about: object) -> Scene:
    """Show the segments with the largest scores: ``about`` as in :func:`choose`, by default six worst."""
    about = {"worst": 6, "played": {WORST: 3, TYPICAL: 1}} | about
    group = str(about.pop("group", ""))
    chosen = choose(scores, subset.segments, **about)
    size = float(np.nanmax(scores)) if np.isfinite(scores).any() else 0.0
    return Scene(title or place_of(subset), subset, chosen, size, group)


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


def of_errors(subset: Subset) -> Scene:
    """Choose the segments with the largest error, typical ones and the best."""
    scores = segment_errors(subset)
    error = float(np.nanmean(scores)) if np.isfinite(scores).any() else 0.0
    mean = f"mean error {number(error)}" if subset.task.is_regression else f"{_percent(error)} wrong"
    kinds = {"worst": READ, "typical": READ, "best": READ, "played": {WORST: 2, TYPICAL: 1}}
    chosen = choose(scores, subset.segments, **kinds)
    return Scene(f"{place_of(subset)}: {mean}", subset, chosen, error)


def of_distribution(subset: Subset) -> Scene:
    """Choose segments of the bin or class whose share among the predictions differs most from the labels'.

    They are those that are wrongly in it if there are too many predictions, else those wrongly not in it.
    """
    both = subset.truth, subset.predictions.clean
    names = BINS if subset.task.is_regression else subset.task.classes
    truth, predicted = (
        bin_numbers(own) if subset.task.is_regression else class_numbers(own, names) for own in both
    )
    known = (truth >= 0) & (predicted >= 0) & (truth < len(names)) & (predicted < len(names))
    shares = [
        np.bincount(codes[known], minlength=len(names)) / max(1, known.sum()) for codes in (truth, predicted)
    ]
    excess = shares[1] - shares[0]
    n = int(np.argmax(np.abs(excess)))
    many = excess[n] > 0
    mask = known & ((predicted if many else truth) == n) & (predicted != truth)
    about = (
        f"{label(names[n])}, {_percent(shares[1][n])} of predictions and {_percent(shares[0][n])} of labels"
    )
    kinds = {"worst": READ, "typical": READ, "whose": "wrongly in it" if many else "wrongly not in it"}
    chosen = choose(segment_errors(subset), subset.segments, mask, **kinds, played=1)
    return Scene(f"{place_of(subset)}: {about}", subset, chosen, float(excess[n]))


def of_groups(
    subset: Subset,
    column: str,
    groups: Sequence[str],
    scores: np.ndarray | None = None,
    what: str = "mean error",
    **about: object,
) -> list[Scene]:
    """Choose segments of the groups whose mean score differs most from the others', beside these.

    Without ``scores`` the errors count, and the worst are chosen; of other scores those that are furthest in
    the direction of the difference. ``about`` as in :func:`choose`.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    errors = segment_errors(subset) if scores is None else scores
    return _largest_gaps(subset, masks, errors, column, what, scores is not None, about)


def of_predictions(subset: Subset, column: str, groups: Sequence[str]) -> list[Scene]:
    """Choose segments of the groups whose predictions differ most from those of the others, without labels.

    Of classes the one whose share differs most decides, and segments that are predicted to be it come first.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    found = []
    for what, scores in _predicted(subset).items():
        found += [(-abs(gap), what, scores) for gap, _ in gaps(scores, masks)[:1]]
    if not found:
        return []
    _, what, scores = min(found, key=lambda entry: entry[:2])
    return of_groups(subset, column, groups, scores, what)


def of_shifts(
    subset: Subset, column: str, groups: Sequence[str], context: str, values: Sequence[str]
) -> list[Scene]:
    """Choose segments of the group that a context moves most unlike the others, and of these in that context.

    ``context`` is a column, ``values`` those of it that are compared with all.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    found = []
    for what, scores in _predicted(subset).items():
        known = np.isfinite(scores)
        for value in values:
            inside = known & subset.mask(context, value)
            shifts = {
                group: scores[inside & mask].mean() - scores[known & mask].mean()
                for group, mask in masks.items()
                if (inside & mask).any()
            }
            for group, moved in shifts.items():
                gap = float(moved - np.mean(list(shifts.values())))
                found.append((-abs(gap), what, group, value, gap, inside, scores))
    if not found:
        return []
    _, what, group, value, gap, inside, scores = min(found, key=lambda entry: entry[:4])
    about = f"{group}, {context} {value}: {what} moves {_signed(gap)} more than on average"
    own = {f"{column}: {group}": masks[group] & inside, OTHERS: ~masks[group] & inside}
    return [_two_sides(subset, about, own, scores, gap, True, {})]


def of_ranges(subset: Subset, wanted: Mapping[str, tuple[float, float]], column: str = "category") -> Scene:
    """Choose segments of the category that lies least often in the range that is expected of its predictions.

    ``wanted`` has the lowest and the highest expected prediction of each category of the column.
    """
    predicted, found = subset.predictions.clean, []
    for category, (low, high) in wanted.items():
        outside = np.maximum(np.maximum(low - predicted, predicted - high), 0.0)
        mask = subset.mask(column, category) & np.isfinite(outside)
        if mask.any():
            found.append((float(np.mean(outside[mask] > 0)), category, outside, mask))
    if not found:
        return Scene(place_of(subset), subset, [])
    share, category, outside, mask = min(found, key=lambda entry: (-entry[0], entry[1]))
    about = f"{category}, {_percent(share)} outside of the expected range"
    kinds = {"worst": READ, "typical": READ, "whose": f"{column}: {category}", "played": 1}
    chosen = choose(outside, subset.segments, mask, **kinds)
    return Scene(f"{place_of(subset)}: {about}", subset, chosen, share)


def of_speakers(subset: Subset, found: SpeakerValues, *, by_rank: bool = False) -> Scene:
    """Choose the speakers that are furthest off, by values or by ranks, and segments with a typical error."""
    values = [found.truth, found.prediction]
    if by_rank:
        values = [pd.DataFrame(own).rank().to_numpy() for own in values]
    off = np.nan_to_num(np.abs(values[1] - values[0]), nan=-1.0)
    order = sorted(range(len(found.names)), key=lambda n: (-off[n].max(), found.names[n]))
    chosen: list[Example] = []
    for place in [n for n in order if off[n].max() >= 0][:MOST_SPEAKERS]:
        n = int(off[place].argmax())
        what = "rank by" if by_rank else "share of" if found.labels[n] else "mean of"
        truth, predicted = (f"{own[place, n]:{'g' if by_rank else '.2f'}}" for own in values)
        about = " ".join(filter(None, (what, found.labels[n])))
        whose = f"{found.names[place]}: {about} labels {truth}, predictions {predicted}"
        mask = subset.mask("speaker", found.names[place])
        kinds = {"typical": 2, "whose": whose, "played": 0 if chosen else 1}
        chosen += choose(segment_errors(subset), subset.segments, mask, **kinds)
    speakers = counted(len({one.whose for one in chosen}), "speaker")
    note = f"The {speakers} furthest off, of {len(found)}."
    return Scene(place_of(subset), subset, chosen, float(off.max(initial=0.0)), note=note)


def gaps(scores: np.ndarray, masks: Mapping[str, np.ndarray]) -> list[tuple[float, str]]:
    """Say how far the mean score of each group is from that of the other groups, the largest gap first."""
    found, known = [], np.isfinite(scores)
    everybody = np.logical_or.reduce(list(masks.values())) if masks else known
    for group, mask in masks.items():
        own, others = known & mask, known & everybody & ~mask
        if own.any() and others.any():
            found.append((float(scores[own].mean() - scores[others].mean()), group))
    return sorted(found, key=lambda entry: (-abs(entry[0]), entry[1]))


def place_of(subset: Subset | Pair) -> str:
    """Name the corpus and the task of segments."""
    return subset.corpus if subset.task.is_transcription else f"{subset.corpus}, {subset.task.name}"


def _predicted(subset: Subset) -> dict[str, np.ndarray]:
    """Give the predictions, of classes whether each was predicted, with what a mean of them is called."""
    predicted = subset.predictions.clean
    if subset.task.is_regression:
        return {"mean prediction": predicted}
    known = pd.notna(predicted)
    return {
        f"share of {name}": np.where(known, (predicted == name).astype(float), np.nan)
        for name in subset.task.classes
    }


def _largest_gaps(
    subset: Subset,
    masks: Mapping[str, np.ndarray],
    scores: np.ndarray,
    column: str,
    what: str,
    directed: bool,
    about: Mapping[str, object],
) -> list[Scene]:
    """Take the groups with the largest gaps, each beside all others; the last says how many more."""
    ranked, found = gaps(scores, masks), []
    everybody = np.logical_or.reduce(list(masks.values())) if masks else None
    most = 1 if len(masks) == 2 else MOST_GROUPS  # of two groups the gap of one is that of the other
    for gap, group in ranked[:most]:
        title = f"{group}: {what} {_signed(gap)} against the others"
        own = {f"{column}: {group}": masks[group], OTHERS: everybody & ~masks[group]}
        found.append(_two_sides(subset, title, own, scores, gap, directed, about))
    if len(masks) > 2 and len(ranked) > most:
        note = f"{counted(len(ranked) - most, 'other group')} with smaller differences: not listed."
        found[-1] = dataclasses.replace(found[-1], note=note)
    return found


def _two_sides(
    subset: Subset,
    title: str,
    masks: Mapping[str, np.ndarray],
    scores: np.ndarray,
    gap: float,
    directed: bool,
    about: Mapping[str, object],
) -> Scene:
    """Choose of a group what is worst, or furthest in the direction of the gap; of all others the same."""
    scores = -scores if directed and gap < 0 else scores
    chosen = []
    for whose, mask in masks.items():
        played = {WORST: 0 if whose == OTHERS else 1, TYPICAL: 1}
        own = choose(scores, subset.segments, mask, worst=2, typical=1, whose=whose, played=played, **about)
        named = {WORST: "furthest"} if directed else {}  # where there is no error
        chosen += [dataclasses.replace(one, why=named.get(one.why, one.why)) for one in own]
    return Scene(f"{place_of(subset)}: {title}", subset, chosen, gap, next(iter(masks)))


def _played(
    evaluation: Evaluation | Comparison, scene: Scene, records: list[dict[str, object]]
) -> dict[str, object]:
    """Make the players of a scene, those of single segments side by side, and keep what they play."""
    view, blocks, beside = evaluation.view(scene.subset), [], []
    for one in filter(lambda one: one.played, scene.examples):
        segment = scene.subset.segments.iloc[one.row]
        caption = "; ".join(filter(None, (", ".join(filter(None, (one.whose, one.why))), _said(scene, one))))
        words = aligned_words(*one.words) if one.words else ""
        if not view.audio:
            text = element("p", f"{segment['file']}: {caption}", limit=None)
            blocks.append(SimpleNamespace(heard=text, words=words))
            continue
        if one.sounds is None:
            color = "changed" if one.why == TYPICAL else "original"
            players = [segment_player(evaluation.media, view.root, segment, caption, color)]
        else:
            players = players_of(evaluation.media, one.sounds())
        shown = [own.shown for own in players]
        if one.words:
            lines = {one.words.said: one.words.reference, **one.words.written}
            texts = [[who, text] for who, text in lines.items()]
        else:
            texts = []
        if one.words or one.sounds:
            title = _said(scene, one) if one.sounds else ""
            kind = "sc-pair" if one.sounds else ""
            blocks.append(SimpleNamespace(heard=row(players, title, kind=kind), words=words))
            records.append(_record(scene, shown, texts, title))
        else:
            beside += players
    if beside:
        blocks.append(SimpleNamespace(heard=row(beside), words=""))
        records.append(_record(scene, [own.shown for own in beside], [], ""))
    return {"title": scene.title, "blocks": blocks}


def _record(
    scene: Scene, sounds: Sequence[Mapping[str, object]], words: Sequence[Sequence[str]], title: str
) -> dict[str, object]:
    place = {"corpus": scene.subset.corpus, "task": scene.subset.task.name, "group": scene.group}
    return place | {"title": title or scene.title, "sounds": list(sounds), "words": list(words)}


def _said(scene: Scene, one: Example) -> str:
    """Say of a segment what its scene has to say, else label and prediction."""
    if one.said is not None:
        return one.said
    truth, predicted = _values(scene.subset, one.row)[:2]
    return "; ".join([*([f"labelled {truth}"] if truth else []), f"predicted {predicted}"])


def _values(subset: Subset, n: int) -> list[str]:
    """Write label, prediction and, of values, how far it is off."""
    truth = None if subset.truth is None else subset.truth[n]
    predicted = subset.predictions.clean[n]
    if not subset.task.is_regression:
        return ["" if pd.isna(one) else str(one) for one in (truth, predicted)]
    off = None if truth is None else float(abs(predicted - truth))
    return ["" if one is None else number(float(one), 2) for one in (truth, predicted, off)]


def _listed(scenes: Sequence[Scene]) -> dict[str, object]:
    """List the segments of the scenes of one place: words aligned, everything else in tables."""
    parts: list[Html] = []
    for scene in scenes:
        rows = [_row(scene, one) for one in scene.examples]
        if scene.examples[0].words:
            for one, row in zip(scene.examples, rows, strict=True):
                about = ", ".join(filter(None, (one.whose, one.why, row["segment"])))
                title = f"{about}: {one.said}" if one.said else about
                parts += [element("p", title, class_="sc-players-title"), aligned_words(*one.words)]
        else:
            columns = {name: name for name in rows[0] if any(row[name] for row in rows)}
            parts.append(views.table(pd.DataFrame(rows), columns, caption=scene.title, sortable=False))
        if scene.note:
            parts.append(element("p", scene.note, class_="sc-note", limit=None))
    count = counted(sum(len(scene.examples) for scene in scenes), "segment")
    more = f"; and {counted(len(scenes) - 1, 'other group')}" if len(scenes) > 1 else ""
    return {"summary": f"{count}: {scenes[0].title}{more}", "parts": parts}


def _row(scene: Scene, one: Example) -> dict[str, str]:
    """Give the cells of a list; columns that no row fills are not shown."""
    segment = scene.subset.segments.iloc[one.row]
    speaker = segment.get("speaker")
    row = {"whose": one.whose, "chosen as": one.why, "segment": segment_name(segment)}
    row["speaker"] = "" if pd.isna(speaker) else str(speaker)
    if one.said is not None:
        return row | {"": one.said}
    return row | dict(
        zip(("label", "prediction", "off by"), [*_values(scene.subset, one.row), ""], strict=False)
    )


def _percent(share: float) -> str:
    return f"{number(100 * share, 0)} %"


def _signed(gap: float) -> str:
    return ("+" if gap > 0 else "") + number(gap, 3)
