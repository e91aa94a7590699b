"""Numbers with the segments behind them, as pages let them be heard and read: players, words side by side.

- Of all numbers of a page only the segments of the largest are played, of groups those of each column, unless
  ``every`` one is; the others are listed. Of a model that guesses none is played.
- Segments may be played twice: as they are and changed, both sides of a pair or of a trial.
- Words stand in lines that one can select and copy: what was said, then what each recogniser wrote. What is
  marked has a sign as well as a colour, and words for those who listen to the page; signs and words that were
  left out are not copied. Each line has its own direction; so has each word that is marked.
- Transcripts of the same reference are aligned each by itself, see :mod:`soundcheck.metrics.word_errors`. Of
  a reference with several wordings one is shown, the one by which all of them are compared.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.media import EXAMPLES
from soundcheck.common.messages import counted, shorten
from soundcheck.evaluation.evaluation import Comparison, Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.alternatives import common_wording
from soundcheck.metrics.word_errors import AlignedWord, align, word_errors
from soundcheck.report import views
from soundcheck.report.formats import number, place
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import Player, Side, players_of, row, segment_name, segment_player

TYPICAL = "typical"  # as what segments are chosen that are played in the other colour
MOST_WORDS = 200  # of a line
LONGEST_WORD = 100  # characters
MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}


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

    @property
    def chosen(self) -> str:
        """As what of which side it was chosen."""
        return ", ".join(filter(None, (self.whose, self.why)))


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A number and segments behind it; functions take the row of a segment."""

    title: str  # may come from data
    subset: Subset
    examples: Sequence[Example]
    size: float = 0.0  # how large the number is: of a page the largest is played
    group: str = ""  # ``column: value`` that it is about, if any
    said: Callable[[int], str] | None = None  # what is said of a segment; default: label and prediction
    words: Callable[[int], Words] | None = None  # default: those of transcripts
    sounds: Callable[[int], Sequence[Side]] | None = None  # played in turn; default: the segment

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
        known = [] if truth is None or pd.isna(truth[n]) else [f"labelled {written(truth[n])}"]
        return "; ".join([*known, f"predicted {written(predicted)}"])


class Examples(Html):
    """Examples as a page shows them, with what is played as data beside the HTML."""

    played: Sequence[Mapping[str, object]] = ()

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return {EXAMPLES: list(self.played)} if self.played else {}


def show(
    evaluation: Evaluation | Comparison, scenes: Iterable[Scene | Sequence[Scene]], *, every: bool = False
) -> Examples:
    """Play the scene with the largest number, or every one, and list the segments that are not played."""
    flat = [scene for entry in scenes for scene in ([entry] if isinstance(entry, Scene) else entry)]
    flat = [scene for scene in flat if scene.examples]
    if not flat:
        return Examples(element("p", "There is no segment to show."))
    by_size = sorted(flat, key=lambda scene: abs(scene.size))
    largest = {scene.group.partition(": ")[0]: scene for scene in by_size}
    chosen = [] if evaluation.guesses else flat if every else [*largest.values()]
    played, records, listed = [], [], {}
    for scene in flat:
        if blocks := _played(evaluation, scene, records) if scene in chosen else []:
            played.append({"title": scene.title, "blocks": blocks})
        rest = [example for example in scene.examples if scene not in chosen or not example.played]
        if rest:
            listed.setdefault(place(scene.subset), []).append((scene, rest))
    aligned = filter(None, (scene.words_of(scene.examples[0].row) for scene in flat))
    names = dict.fromkeys(tuple(words.written) for words in aligned)
    signs = legend(names) if names else Html()
    lists = [
        {
            "summary": f"{counted(sum(len(rest) for _, rest in scenes_), 'segment')} to read: {where}",
            "parts": [_listed(*entry) for entry in scenes_],
        }
        for where, scenes_ in listed.items()
    ]
    made = Examples(templates.html("examples", legend=signs, played=played, lists=lists))
    made.played = records
    return made


def _played(
    evaluation: Evaluation | Comparison, scene: Scene, records: list[dict[str, object]]
) -> list[dict[str, object]]:
    """Make the players of a scene, side by side where there are no words; keep what they play."""
    view, blocks, alone = evaluation.view(scene.subset), [], []
    about = {"corpus": scene.subset.corpus, "task": scene.subset.task.name, "group": scene.group}

    def add(players: Sequence[Player], title: str = "", words: Words | None = None, kind: str = "") -> None:
        texts = [*({words.said: words.reference} | words.written).items()] if words else []
        sounds = [player.content for player in players]
        records.append(about | {"title": title or scene.title, "sounds": sounds, "words": texts})
        blocks.append({"heard": row(players, title, kind=kind), "words": words and aligned_words(*words)})

    for example in filter(lambda example: example.played, scene.examples):
        segment, words = scene.subset.segments.iloc[example.row], scene.words_of(example.row)
        caption = "; ".join(filter(None, (example.chosen, scene.said_of(example.row))))
        if view.audio and scene.sounds:
            add(players_of(evaluation.media, scene.sounds(example.row)), caption, words, "sc-pair")
            continue
        color, root = "changed" if example.why == TYPICAL else "original", view.root if view.audio else None
        player = segment_player(evaluation.media, root, segment, caption, color)
        if words:
            add([player], "", words)
        else:
            alone.append(player)
    if alone:
        add(alone)
    return blocks


def _listed(scene: Scene, listed: Sequence[Example]) -> Html:
    """List segments of a scene, their words aligned."""
    lines = []
    for example in listed:
        segment, words = scene.subset.segments.iloc[example.row], scene.words_of(example.row)
        speaker = segment.get("speaker")
        line = {"chosen as": example.chosen, "segment": segment_name(segment)}
        line["speaker"] = "" if pd.isna(speaker) else str(speaker)
        line["what is known"] = scene.said_of(example.row)
        lines.append(line | {"words": words and aligned_words(*words)})
    return views.table(lines, caption=scene.title, sortable=False)


def written(value: object) -> str:
    """Write a label or a prediction."""
    if isinstance(value, str):
        return value
    return "nothing" if pd.isna(value) else number(float(value), 2)


def aligned_words(reference: str, heard: Mapping[str, str | None], said: str = "said") -> Html:
    """Show what was said, and below it what one or two recognisers made of it; ``None`` = no answer."""
    written = {who: text for who, text in heard.items() if text is not None}
    reference = common_wording(reference, [*written.values()]) if written else reference
    steps = {who: align(reference, text) for who, text in written.items()}
    lines = {said: _reference(reference.split(), steps) or [_word("(nothing)", "span", "told")]}
    for who in heard:
        nothing = "(nothing)" if who in steps else "(no transcript)"
        is_empty = not any(step.hypothesis for step in steps.get(who, ()))
        lines[who] = [*map(_hypothesis, steps.get(who, ())), *([_word(nothing, "span", "told")] * is_empty)]
    cut = {who: len(line) - MOST_WORDS for who, line in lines.items() if len(line) > MOST_WORDS}
    rest = "; ".join(f"{who}: {count} more words are not shown" for who, count in cut.items())
    first = {who: line[:MOST_WORDS] for who, line in lines.items()}
    return templates.html("aligned_words", lines=first.items(), rest=f"{rest}." if rest else "")


def legend(written: Iterable[Sequence[str]]) -> Html:
    """Explain the signs, those of each two recognisers with their names."""
    lines = [f"{MARKS['substitute']} another word, {MARKS['delete']} left out, {MARKS['insert']} put in."]
    for names in written:
        if len(names) == 2:
            fates = "; ".join(f"{sign} {words}" for _, sign, words in _fates(names).values())
            lines.append(f"Of the words that were said: {fates}.")
    return join(element("p", line, class_="sc-note", limit=None) for line in lines)


def _fates(names: Sequence[str]) -> dict[tuple[bool, ...], tuple[str, str, str]]:
    """Name what two recognisers may make of a word: (wrong, wrong) -> kind, sign and words."""
    first, second = names
    return {
        (True, True): ("both", "✗", "wrong in both"),
        (False, True): ("last", "▾", f"right in {first} only"),
        (True, False): ("first", "▴", f"right in {second} only"),
    }


def _reference(words: Sequence[str], steps: Mapping[str, Sequence[AlignedWord]]) -> list[dict[str, str]]:
    """Mark the words that were said and that somebody has wrong."""
    wrong = [[step.kind != "equal" for step in each if step.kind != "insert"] for each in steps.values()]
    fates, marked = _fates(list(steps)) if len(steps) == 2 else {}, []
    for n, word in enumerate(words):
        fate = tuple(each[n] for each in wrong)
        kind, sign, meaning = fates.get(fate, ("said", "", ""))
        after = f" ({meaning})" if meaning else ""
        marked.append(_word(word, "mark", kind, sign, after=after) if any(fate) else _word(word))
    return marked


def _hypothesis(step: AlignedWord) -> dict[str, str]:
    said, heard, sign = step.reference, step.hypothesis, MARKS[step.kind]
    return {
        "equal": _word(heard),
        "substitute": _word(heard, "mark", "other", sign, f"replaced {shorten(said, LONGEST_WORD)} by "),
        "insert": _word(heard, "ins", "more", sign, "put in "),
        "delete": _word(said, "del", "less", sign, "left out "),
    }[step.kind]


def _word(
    text: str, tag: str = "", kind: str = "", sign: str = "", before: str = "", after: str = ""
) -> dict[str, str]:
    """Give a word of a line: marked by a sign for those who see it, by words for those who hear it."""
    marked = {"tag": tag, "class_": f"sc-word sc-word-{kind}", "sign": sign, "before": before, "after": after}
    return {"text": shorten(text, LONGEST_WORD)} | marked
