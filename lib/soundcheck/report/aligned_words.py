"""What was said and what recognisers wrote, word by word, as lines that one can select and copy.

- A line is a text: of what was said, then of what each recogniser wrote. What is marked has a sign as well as
  a colour, and words for those who listen to the page; signs and words that were left out are not copied.
- Each line has its own direction; so has each word that is marked.
- Transcripts of the same reference are aligned each by itself, see :mod:`soundcheck.metrics.word_errors`. Of
  a reference with several wordings one is shown, the one by which all of them are compared.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.metrics.alternatives import common_wording
from soundcheck.metrics.word_errors import AlignedWord, align
from soundcheck.report.html import Html, element

MOST_WORDS = 200  # of a line
LONGEST_WORD = 100  # characters
MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}


class _Word(NamedTuple):
    """A word of a line: marked by a sign for those who see it and by words for those who hear it."""

    text: str
    tag: str = ""
    class_: str = ""
    sign: str = ""
    before: str = ""
    after: str = ""


_NOTHING, _MISSING = (_Word(text, "span", "sc-words-told") for text in ("(nothing)", "(no transcript)"))


def aligned_words(reference: str, heard: Mapping[str, str | None], said: str = "said") -> Html:
    """Show what was said, and below it what one or two recognisers made of it; ``None`` = no answer."""
    written = {who: text for who, text in heard.items() if text is not None}
    reference = common_wording(reference, [*written.values()]) if written else reference
    steps = {who: align(reference, text) for who, text in written.items()}
    words = reference.split()
    lines = {said: _reference(words, steps) or [_NOTHING]}
    for who in heard:
        nothing = [] if any(step.hypothesis for step in steps.get(who, ())) else [_NOTHING]
        lines[who] = [*map(_written, steps[who][:MOST_WORDS]), *nothing] if who in steps else [_MISSING]
    lengths = {said: len(words)} | {who: len(each) for who, each in steps.items()}
    cut = [
        f"{who}: {n - MOST_WORDS} more words are not shown" for who, n in lengths.items() if n > MOST_WORDS
    ]
    rest = f"{'; '.join(cut)}." if cut else ""
    return templates.html("aligned_words", lines=lines.items(), rest=rest)


def legend(names: Sequence[str] = ()) -> Html:
    """Explain the signs, of two recognisers with their names."""
    words = [f"{MARKS['substitute']} another word, {MARKS['delete']} left out, {MARKS['insert']} put in"]
    if len(names) == 2:
        both, *fates = (f"{sign} {words}" for _, sign, words in _fates(names).values())
        words += [f"of the words that were said: {both}", *fates]
    return element("p", "; ".join(words) + ".", class_="sc-note", limit=None)


def _fates(names: Sequence[str]) -> dict[tuple[bool, ...], tuple[str, str, str]]:
    """Name what two recognisers may make of a word: (wrong, wrong) -> kind, sign and words."""
    first, second = names
    return {
        (True, True): ("both", "✗", "wrong in both"),
        (False, True): ("last", "▾", f"right in {first} only"),
        (True, False): ("first", "▴", f"right in {second} only"),
    }


def _reference(words: Sequence[str], steps: Mapping[str, Sequence[AlignedWord]]) -> list[_Word]:
    """Mark the words that were said and that somebody has wrong."""
    wrong = [[step.kind != "equal" for step in each if step.kind != "insert"] for each in steps.values()]
    fates = _fates(list(steps)) if len(steps) == 2 else {}
    marked = []
    for place, word in enumerate(words[:MOST_WORDS]):
        fate = tuple(each[place] for each in wrong)
        kind, sign, words_ = fates.get(fate, ("said", "", ""))
        after = f" ({words_})" if words_ else ""
        text = shorten(word, LONGEST_WORD)
        marked.append(_marked(text, "mark", kind, sign, after=after) if any(fate) else _Word(text))
    return marked


def _written(step: AlignedWord) -> _Word:
    said, heard = (shorten(word, LONGEST_WORD) for word in (step.reference, step.hypothesis))
    return {
        "equal": _Word(heard),
        "substitute": _marked(heard, "mark", "other", MARKS["substitute"], f"replaced {said} by "),
        "insert": _marked(heard, "ins", "more", MARKS["insert"], "put in "),
        "delete": _marked(said, "del", "less", MARKS["delete"], "left out "),
    }[step.kind]


def _marked(text: str, tag: str, kind: str, sign: str, before: str = "", after: str = "") -> _Word:
    return _Word(text, tag, f"sc-word sc-word-{kind}", sign, before, after)
