"""Segments to listen to: chosen by a score, with labels, predictions, and words where there are any.

- Scores are float64 ``(segments,)``, NaN where nothing is known; the larger, the worse. *Typical* are the
  segments whose score is closest to the median of those that are chosen from.
- Of equal scores the smallest key comes first. A speaker is heard a second time when the others among the
  next ones have been.
- Of all numbers of a page only the segments of the largest are played, of groups those of each column, unless
  ``every`` one is; the others are listed. Of a model that guesses none is played.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.common import templates
from soundcheck.common.media import EXAMPLES
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
from soundcheck.report.html import Html, element, join
from soundcheck.report.names import label
from soundcheck.report.players import Player, Side, players_of, row, segment_name, segment_player

WORST, TYPICAL, BEST = "worst", "typical", "best"
OTHERS = "the others"
MOST_GROUPS = 2  # with the largest differences, of a corpus and task
MOST_SPEAKERS = 3  # that are furthest off
READ = 4  # segments of a kind
AHEAD = 2  # times as many segments as are shown are looked at for other speakers


class Words(NamedTuple):
    """Transcripts to align: what was said, and name -> what was written; ``None`` if nothing was."""

    reference: str
    written: Mapping[str, str | None]
    said: str = "said"


class Example(NamedTuple):
    """A row of a scene's segments."""

    row: int
    why: str = ""  # as what it was chosen, such as ``"worst"``
    whose: str = ""  # of several sides of a number
    played: bool = True  # if its scene is


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A number and segments behind it; functions take the row of a segment."""

    title: str  # may come from data
    subset: Subset | Pair
    examples: Sequence[Example]
    size: float = 0.0  # how large the number is: of a page the largest is played
    group: str = ""  # ``column: value`` that it is about, if any
    said: Callable[[int], str] | None = None  # what is said of a segment; default: label and prediction
    words: Callable[[int], Words] | None = None  # default: those of transcripts
    sounds: Callable[[int], Sequence[Side]] | None = None  # heard in turn; default: the segment

    @property
    def place(self) -> str:
        """Corpus and task of the segments."""
        task = self.subset.task
        return self.subset.corpus if task.is_transcription else f"{self.subset.corpus}, {task.name}"

    def words_of(self, n: int) -> Words | None:
        """Give the words of a segment to align."""
        if self.words:
            return self.words(n)
        truth = self.subset.truth[n] if self.subset.task.is_transcription else None
        if not isinstance(truth, str):
            return None  # also of two models, whose predictions stand apart
        return Words(truth, {"recognised": self.subset.predictions.clean[n]})

    def said_of(self, n: int) -> str:
        """Say of a segment what it comes with, else its errors, or label and prediction."""
        if self.said:
            return self.said(n)
        if words := self.words_of(n):
            counts = word_errors([words.reference], [*words.written.values()][:1])
            return f"{counted(int(counts.errors[0]), 'error')}, {counted(int(counts.words[0]), 'word')}"
        truth, predicted = self.subset.truth, self.subset.predictions.clean[n]
        known = [] if truth is None or pd.isna(truth[n]) else [f"labelled {_written(truth[n])}"]
        return "; ".join([*known, f"predicted {_written(predicted)}"])


class Examples(Html):
    """Examples as a page shows them, with what is played as data beside the HTML."""

    played: Sequence[Mapping[str, object]] = ()

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return {EXAMPLES: list(self.played)} if self.played else {}


def show(
    evaluation: Evaluation | Comparison, scenes: Iterable[Scene | Sequence[Scene]], *, every: bool = False
) -> Examples:
    """Play the scene with the largest number, or every one, and list the segments that are not played."""
    flat = [one for entry in scenes for one in ([entry] if isinstance(entry, Scene) else entry)]
    flat = [scene for scene in flat if scene.examples]
    if not flat:
        return Examples(element("p", "There is no segment to show."))
    largest = {one.group.partition(": ")[0]: one for one in sorted(flat, key=lambda one: abs(one.size))}
    heard = flat if every else [*largest.values()]
    played, records, listed = [], [], {}
    for scene in flat:
        rest = scene.examples
        if scene in heard and not evaluation.guesses:
            blocks = _played(evaluation, scene, records)
            played += [{"title": scene.title, "blocks": blocks}] if blocks else []
            rest = [one for one in rest if not (one.played and (scene.sounds or scene.words_of(one.row)))]
        if rest:
            place = scene.title if scene.words_of(rest[0].row) else scene.place
            listed.setdefault(place, []).append(dataclasses.replace(scene, examples=rest))
    aligned = filter(None, (scene.words_of(scene.examples[0].row) for scene in flat))
    signs = join(map(legend, dict.fromkeys(tuple(words.written) for words in aligned)))
    lists = map(_listed, listed.values())
    made = Examples(templates.html("examples", legend=signs, played=played, lists=lists))
    made.played = records
    return made


def _played(
    evaluation: Evaluation | Comparison, scene: Scene, records: list[dict[str, object]]
) -> list[dict[str, object]]:
    """Make the players of a scene, side by side where there are no words; keep what they play."""
    view, blocks, beside = evaluation.view(scene.subset), [], []
    about = {"corpus": scene.subset.corpus, "task": scene.subset.task.name, "group": scene.group}

    def add(players: Sequence[Player], title: str = "", words: Words | None = None, kind: str = "") -> None:
        texts = [*({words.said: words.reference} | words.written).items()] if words else []
        sounds = [player.shown for player in players]
        records.append(about | {"title": title or scene.title, "sounds": sounds, "words": texts})
        blocks.append({"heard": row(players, title, kind=kind), "words": words and aligned_words(*words)})

    for one in filter(lambda one: one.played, scene.examples):
        segment, words = scene.subset.segments.iloc[one.row], scene.words_of(one.row)
        chosen = ", ".join(filter(None, (one.whose, one.why)))
        caption = "; ".join(filter(None, (chosen, scene.said_of(one.row))))
        if not view.audio:
            text = element("p", f"{segment_name(segment)}: {caption}", limit=None)
            blocks.append({"heard": text, "words": words and aligned_words(*words)})
        elif scene.sounds:
            add(players_of(evaluation.media, scene.sounds(one.row)), caption, words, "sc-pair")
        else:
            color = "changed" if one.why == TYPICAL else "original"
            player = segment_player(evaluation.media, view.root, segment, caption, color)
            if words:
                add([player], "", words)
            else:
                beside.append(player)
    if beside:
        add(beside)
    return blocks


def _listed(scenes: Sequence[Scene]) -> dict[str, object]:
    """List the segments of the scenes of one place: words aligned, everything else in tables."""
    parts: list[Html] = []
    for scene in scenes:
        lines = []
        for one in scene.examples:
            segment, words = scene.subset.segments.iloc[one.row], scene.words_of(one.row)
            said = scene.said_of(one.row)
            line = {"whose": one.whose, "chosen as": one.why, "segment": segment_name(segment)}
            if words:
                named = ": ".join(filter(None, (", ".join(filter(None, line.values())), said)))
                parts += [element("p", named, class_="sc-players-title", limit=None), aligned_words(*words)]
            else:
                speaker = segment.get("speaker")
                line["speaker"] = "" if pd.isna(speaker) else str(speaker)
                lines.append(line | {"label and prediction": said})
        columns = [name for name in (lines or [{}])[0] if any(line[name] for line in lines)]
        parts.append(views.table(lines, columns, caption=scene.title, sortable=False, none=""))
    count = counted(sum(len(scene.examples) for scene in scenes), "segment")
    more = f"; and {counted(len(scenes) - 1, 'other group')}" if len(scenes) > 1 else ""
    return {"summary": f"{count}: {scenes[0].title}{more}", "parts": parts}


def choose(
    scores: np.ndarray, segments: pd.DataFrame, mask: object = True, whose: str = "", **most: int
) -> list[Example]:
    """Choose segments with the largest scores, typical ones and those with the smallest; each once.

    ``segments`` has the columns ``key`` and perhaps ``speaker``; ``mask`` says which are chosen from.
    ``most`` are ``worst, typical, best``: how many of each, and ``played``: how many of each are heard,
    by default 1.
    """
    played, rows = most.pop("played", 1), np.flatnonzero(np.isfinite(scores) & mask)
    if not len(rows):
        return []
    own = segments.iloc[rows].reindex(columns=["key", "speaker"]).assign(row=rows, score=scores[rows])
    own = own.reset_index(drop=True)
    own["speaker"] = own["speaker"].where(own["speaker"].notna(), own["key"])
    worse = own[own["score"] > 0] if own["score"].min() == 0 else own  # what has no error is not worst
    orders = {
        WORST: -(worse if len(worse) else own)["score"],
        TYPICAL: (own["score"] - own["score"].median()).abs(),
        BEST: own["score"],
    }
    queues = {why: iter(_first(own, orders[why], sum(most.values()))) for why in most}
    taken: dict[str, list[int]] = {why: [] for why in most}
    for turn in range(max(most.values())):  # in turn, so that a few segments are not all of one kind
        for why, queue in queues.items():
            new = (n for n in queue if all(n not in own for own in taken.values()))
            taken[why] += [n for n in [next(new, None)] if n is not None] if turn < most[why] else []
    return [
        Example(n, why, whose, place < played) for why, own in taken.items() for place, n in enumerate(own)
    ]


def _first(segments: pd.DataFrame, order: pd.Series, count: int) -> list[int]:
    """Give the rows that come first in an order, speakers in turn among the next ones."""
    near = order.nsmallest(AHEAD * count, keep="all")
    near = segments.loc[near.index].assign(order=near).sort_values(["order", "key"]).head(AHEAD * count)
    turns = near.groupby("speaker").cumcount()
    return near.loc[turns.sort_values(kind="stable").index, "row"].head(count).tolist()


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
    if errors is not None:
        chosen = choose(np.where(errors > 0, errors, np.nan), subset.segments, worst=2 * READ, played=3)
        return _about(subset, "most errors", chosen, float(np.nanmax(errors)))
    scores, words = segment_errors(subset), subset.task.is_transcription
    mean = float(np.nanmean(scores)) if np.isfinite(scores).any() else 0.0
    kinds = {WORST: READ, TYPICAL: READ} | ({} if words else {BEST: READ})
    chosen = choose(scores, subset.segments, **kinds, played=2 if words else 1)
    return _about(subset, f"{_error(subset)} {number(mean)}", chosen, mean)


def of_distribution(subset: Subset) -> Scene:
    """Choose segments of the bin or class whose share among the predictions differs most from the labels'.

    They are those that are wrongly in it if there are too many predictions, else those wrongly not in it.
    """
    names = BINS if subset.task.is_regression else subset.task.classes
    both = (subset.truth, subset.predictions.clean)
    truth, predicted = (
        bin_numbers(own) if subset.task.is_regression else class_numbers(own, names) for own in both
    )
    known = (truth >= 0) & (predicted >= 0) & (truth < len(names)) & (predicted < len(names))
    labels, given = (
        np.bincount(own[known], minlength=len(names)) / max(1, known.sum()) for own in (truth, predicted)
    )
    excess = given - labels
    n = int(np.argmax(np.abs(excess)))
    sides = {"wrongly in it": predicted, "wrongly not in it": truth}
    whose = "wrongly in it" if excess[n] > 0 else "wrongly not in it"
    mask = known & (sides[whose] == n) & (predicted != truth)
    about = f"{label(names[n])}, {_percent(given[n])} of predictions and {_percent(labels[n])} of labels"
    chosen = choose(segment_errors(subset), subset.segments, mask, whose, worst=READ, typical=READ)
    return _about(subset, about, chosen, float(excess[n]))


def of_groups(
    subset: Subset, column: str, groups: Sequence[str], scores: np.ndarray | None = None, what: str = ""
) -> list[Scene]:
    """Choose segments of the groups whose mean score differs most from the others', beside these.

    By default scores are errors, and the worst are chosen; of other scores those that are furthest in the
    direction of the difference.
    """
    masks = {group: subset.mask(column, group) for group in groups}
    everybody = np.logical_or.reduce([np.zeros(len(subset), bool), *masks.values()])
    ranked = gaps(segment_errors(subset) if scores is None else scores, masks)
    scenes = []
    for gap, group in ranked[: 1 if len(masks) == 2 else MOST_GROUPS]:  # of two groups one is the other's
        about = f"{group}: {what or _error(subset)} {_signed(gap)} against the others"
        about += f" (of {len(ranked)} groups)" if len(ranked) > 2 else ""
        sides = {f"{column}: {group}": masks[group], OTHERS: everybody & ~masks[group]}
        scenes.append(_two_sides(subset, about, sides, scores, gap))
    return scenes


def of_predictions(subset: Subset, column: str, groups: Sequence[str]) -> list[Scene]:
    """Choose segments of the groups whose predictions differ most from those of the others, without labels.

    Of classes the one whose share differs most decides, and segments that are predicted to be it come first.
    """
    masks, predicted = {group: subset.mask(column, group) for group in groups}, _predicted(subset)
    found = [(-abs(gap), what) for what, own in predicted.items() for gap, _ in gaps(own, masks)[:1]]
    what = min(found)[1] if found else ""
    return of_groups(subset, column, groups, predicted[what], what) if found else []


def of_shifts(
    subset: Subset, column: str, groups: Sequence[str], context: str, values: Sequence[str]
) -> list[Scene]:
    """Choose segments of the group that a context moves most unlike the others, and of these in that context.

    ``context`` is a column, ``values`` those of it that are compared with all.
    """
    masks, predicted = {group: subset.mask(column, group) for group in groups}, _predicted(subset)
    found = []
    for what, scores in predicted.items():
        for value in values:
            inside = subset.mask(context, value) & np.isfinite(scores)
            known = {group: mask for group, mask in masks.items() if (mask & inside).any()}
            moves = [scores[mask & inside].mean() - np.nanmean(scores[mask]) for mask in known.values()]
            extra = np.subtract(moves, sum(moves) / max(1, len(moves)))
            found += [(-abs(own), what, group, value, own) for group, own in zip(known, extra, strict=True)]
    if not found:
        return []
    _, what, group, value, gap = min(found)
    inside = subset.mask(context, value)
    sides = {f"{column}: {group}": masks[group] & inside, OTHERS: ~masks[group] & inside}
    about = f"{group}, {context} {value}: {what} moves {_signed(gap)} more than on average"
    return [_two_sides(subset, about, sides, predicted[what], float(gap))]


def of_ranges(subset: Subset, wanted: Mapping[str, tuple[float, float]], column: str = "category") -> Scene:
    """Choose segments of the category that lies least often in the range that is expected of its predictions.

    ``wanted`` has the lowest and the highest expected prediction of each category of the column.
    """
    predicted, found = subset.predictions.clean, []
    for category, (low, high) in wanted.items():
        outside = np.maximum(np.maximum(low - predicted, predicted - high), 0.0)
        mask = subset.mask(column, category) & np.isfinite(outside)
        if mask.any():
            found.append((-float(np.mean(outside[mask] > 0)), category, outside, mask))
    if not found:
        return _about(subset, "", [], 0.0)
    share, category, outside, mask = min(found, key=lambda one: one[:2])
    chosen = choose(outside, subset.segments, mask, f"{column}: {category}", worst=READ, typical=READ)
    return _about(subset, f"{category}, {_percent(-share)} outside of the expected range", chosen, -share)


def of_speakers(subset: Subset, found: SpeakerValues, *, by_rank: bool = False) -> Scene:
    """Choose the speakers that are furthest off, by values or by ranks, and segments with a typical error."""
    values = [found.truth, found.prediction]
    if by_rank:
        values = [pd.DataFrame(own).rank().to_numpy() for own in values]
    off = np.nan_to_num(np.abs(values[1] - values[0]), nan=-1.0)
    order = sorted(range(len(found.names)), key=lambda n: (-off[n].max(), found.names[n]))
    order = [n for n in order if off[n].max() >= 0][:MOST_SPEAKERS]
    errors, chosen = segment_errors(subset), []
    for place in order:
        n, name = int(off[place].argmax()), found.names[place]
        what = "rank by" if by_rank else "share of" if found.labels[n] else "mean of"
        truth, predicted = (f"{own[place, n]:{'g' if by_rank else '.2f'}}" for own in values)
        whose = f"{name}: {f'{what} {found.labels[n]}'.strip()} labels {truth}, predictions {predicted}"
        mask = subset.mask("speaker", name)
        chosen += choose(errors, subset.segments, mask, whose, typical=2, played=int(not chosen))
    about = f"the {counted(len(order), 'speaker')} furthest off, of {len(found)}"
    return _about(subset, about, chosen, float(off.max(initial=0.0)))


def gaps(scores: np.ndarray, masks: Mapping[str, np.ndarray]) -> list[tuple[float, str]]:
    """Say how far the mean score of each group is from that of the other groups, the largest gap first."""
    found, known = [], np.isfinite(scores)
    everybody = np.logical_or.reduce([~known, *masks.values()])
    for group, mask in masks.items():
        own, others = known & mask, known & everybody & ~mask
        if own.any() and others.any():
            found.append((float(scores[own].mean() - scores[others].mean()), group))
    return sorted(found, key=lambda entry: (-abs(entry[0]), entry[1]))


def _predicted(subset: Subset) -> dict[str, np.ndarray]:
    """Give the predictions, of classes whether each was predicted, with what a mean of them is called."""
    predicted, known = subset.predictions.clean, pd.notna(subset.predictions.clean)
    if subset.task.is_regression:
        return {"mean prediction": predicted}
    classes = subset.task.classes
    return {f"share of {name}": np.where(known, predicted == name, np.nan) for name in classes}


def _two_sides(
    subset: Subset, about: str, masks: Mapping[str, np.ndarray], scores: np.ndarray | None, gap: float
) -> Scene:
    """Choose of a group what is worst, or furthest in the direction of the gap; of all others the same."""
    directed = segment_errors(subset) if scores is None else np.copysign(1, gap) * scores
    chosen = []
    for whose, mask in masks.items():
        for one in choose(directed, subset.segments, mask, whose, worst=2, typical=1):
            why = "furthest" if scores is not None and one.why == WORST else one.why
            played = one.played and (whose != OTHERS or why == TYPICAL)
            chosen.append(one._replace(why=why, played=played))
    return _about(subset, about, chosen, gap, next(iter(masks)))


def _about(subset: Subset, about: str, chosen: Sequence[Example], size: float, group: str = "") -> Scene:
    scene = Scene(about, subset, chosen, size, group)
    return dataclasses.replace(scene, title=f"{scene.place}: {about}")


def _error(subset: Subset) -> str:
    """Name the mean of :func:`segment_errors`."""
    if subset.task.is_transcription:
        return "mean share of wrong words"
    return "mean error" if subset.task.is_regression else "share of errors"


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return "nothing" if pd.isna(value) else number(float(value), 2)


def _percent(share: float) -> str:
    return f"{number(100 * share, 0)} %"


def _signed(gap: float) -> str:
    return ("+" if gap > 0 else "") + number(gap, 3)
