"""What was said and what recognisers wrote, word by word, as lines that one can select and copy.

Conventions
-----------
- A line is a text: of what was said, then of what each recogniser wrote. What is marked has a sign as well as
  a colour, and words for those who listen to the page; signs and words that were left out are not copied.
- Each line has its own direction; so has each word that is marked.
- Transcripts of the same reference are aligned each by itself, see :mod:`soundcheck.metrics.alignment`. Of a
  reference with several wordings one is shown, the one by which all of them are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from soundcheck.common.escaping import shorten
from soundcheck.metrics.alignment import AlignedWord, align
from soundcheck.metrics.alternatives import common_wording
from soundcheck.report.html import Html, element

MOST_WORDS = 200  # of a line
LONGEST_WORD = 100  # characters
MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}
NOTHING, MISSING = "(nothing)", "(no transcript)"


def aligned_words(reference: str, heard: Mapping[str, str | None], said: str = "said") -> Html:
    """Show what was said, and below it what one or two recognisers made of it.

    Parameters
    ----------
    reference
        What was said.
    heard
        Name of a recogniser -> what it wrote; ``None`` if it gave no answer.
    said
        What the reference is called.
    """
    written = {who: text for who, text in heard.items() if text is not None}
    reference = common_wording(reference, [*written.values()]) if written else reference
    steps = {who: align(reference, text) for who, text in written.items()}
    words = reference.split()
    lines = [_line(said, _reference(words, steps))]
    lengths = {said: len(words)}
    for who in heard:
        if who not in steps:
            lines.append(_line(who, [_told(MISSING)]))
            continue
        shown = _transcript(steps[who][:MOST_WORDS])
        nothing = not any(step.hypothesis for step in steps[who])
        lines.append(_line(who, [*shown, _told(NOTHING)] if nothing else shown))
        lengths[who] = len(steps[who])
    cut = [
        f"{who}: {n - MOST_WORDS} more words are not shown" for who, n in lengths.items() if n > MOST_WORDS
    ]
    rest = element("p", "; ".join(cut) + ".", class_="sc-note", limit=None) if cut else Html()
    return element("dl", *lines, class_="sc-words") + rest


def legend(names: Sequence[str] = ()) -> Html:
    """Explain the signs, of two recognisers with their names."""
    words = [f"{MARKS['substitute']} another word, {MARKS['delete']} left out, {MARKS['insert']} put in"]
    if len(names) == 2:
        words += [f"{sign} {told}" for _, sign, told in _fates(names).values()]
        words[1] = f"of the words that were said: {words[1]}"
    return element("p", "; ".join(words) + ".", class_="sc-note", limit=None)


def _fates(names: Sequence[str]) -> dict[tuple[bool, ...], tuple[str, str, str]]:
    """Name what two recognisers may make of a word: (wrong, wrong) -> kind, sign and words."""
    first, second = names
    return {
        (True, True): ("both", "✗", "wrong in both"),
        (False, True): ("last", "▾", f"right in {first} only"),
        (True, False): ("first", "▴", f"right in {second} only"),
    }


def _line(who: str, parts: Sequence[Html | str]) -> Html:
    """Write a line; of very long words only the beginning."""
    spaced = [part for one in parts for part in (one, " ")][:-1]
    return element("dt", who) + element("dd", *spaced, dir="auto", limit=LONGEST_WORD)


def _told(text: str) -> Html:
    return element("span", text, class_="sc-words-told", dir="ltr")


def _reference(words: Sequence[str], steps: Mapping[str, Sequence[AlignedWord]]) -> list[Html | str]:
    """Mark the words that were said and that somebody has wrong."""
    wrong = [[step.kind != "equal" for step in own if step.kind != "insert"] for own in steps.values()]
    fates = _fates(list(steps)) if len(steps) == 2 else {}
    shown: list[Html | str] = []
    for place, word in enumerate(words[:MOST_WORDS]):
        fate = tuple(own[place] for own in wrong)
        if not any(fate):
            shown.append(word)
        elif fate in fates:
            kind, sign, told = fates[fate]
            shown.append(_marked("mark", kind, sign, "", word, f" ({told})"))
        else:
            shown.append(_marked("mark", "said", "", "", word))
    return shown or [_told(NOTHING)]


def _transcript(steps: Sequence[AlignedWord]) -> list[Html | str]:
    shown: list[Html | str] = []
    for kind, said, heard in steps:
        sign = MARKS[kind]
        if kind == "equal":
            shown.append(heard)
        elif kind == "substitute":
            told = f"replaced {shorten(said, LONGEST_WORD)} by "
            shown.append(_marked("mark", "other", sign, told, heard))
        elif kind == "insert":
            shown.append(_marked("ins", "more", sign, "put in ", heard))
        else:
            shown.append(_marked("del", "less", sign, "left out ", said))
    return shown


def _marked(tag: str, kind: str, sign: str, before: str, word: str, after: str = "") -> Html:
    """Mark a word by a sign for those who see it and by words for those who hear it."""
    parts: list[Html | str] = [element("span", sign, class_="sc-sign", aria_hidden="true")] if sign else []
    spoken = [
        element("span", text, class_="sc-spoken", dir="ltr", limit=None) if text else ""
        for text in (before, after)
    ]
    parts += [spoken[0], word, spoken[1]]
    return element(tag, *parts, class_=f"sc-word sc-word-{kind}", limit=LONGEST_WORD)
