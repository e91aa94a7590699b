"""What was said and what recognisers wrote, word by word, as lines that one can select and copy.

- A line is a text: of what was said, then of what each recogniser wrote. What is marked has a sign as well as
  a colour, and words for those who listen to the page; signs and words that were left out are not copied.
- Each line has its own direction; so has each word that is marked.
- Transcripts of the same reference are aligned each by itself, see :mod:`soundcheck.metrics.word_errors`. Of
  a reference with several wordings one is shown, the one by which all of them are compared.
"""

from collections.abc import Mapping, Sequence

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.metrics.alternatives import common_wording
from soundcheck.metrics.word_errors import AlignedWord, align
from soundcheck.report.html import Html, element

MOST_WORDS = 200  # of a line
LONGEST_WORD = 100  # characters
MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}


def aligned_words(reference: str, heard: Mapping[str, str | None], said: str = "said") -> Html:
    """Show what was said, and below it what one or two recognisers made of it; ``None`` = no answer."""
    written = {who: text for who, text in heard.items() if text is not None}
    reference = common_wording(reference, [*written.values()]) if written else reference
    steps = {who: align(reference, text) for who, text in written.items()}
    lines = {said: _reference(reference.split(), steps) or [_word("(nothing)", "span", "told")]}
    for who in heard:
        nothing = "(nothing)" if who in steps else "(no transcript)"
        is_empty = not any(step.hypothesis for step in steps.get(who, ()))
        lines[who] = [*map(_written, steps.get(who, ())), *([_word(nothing, "span", "told")] * is_empty)]
    cut = {who: len(line) - MOST_WORDS for who, line in lines.items() if len(line) > MOST_WORDS}
    rest = "; ".join(f"{who}: {count} more words are not shown" for who, count in cut.items())
    first = {who: line[:MOST_WORDS] for who, line in lines.items()}
    return templates.html("aligned_words", lines=first.items(), rest=f"{rest}." if rest else "")


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


def _reference(words: Sequence[str], steps: Mapping[str, Sequence[AlignedWord]]) -> list[dict[str, str]]:
    """Mark the words that were said and that somebody has wrong."""
    wrong = [[step.kind != "equal" for step in each if step.kind != "insert"] for each in steps.values()]
    fates, marked = _fates(list(steps)) if len(steps) == 2 else {}, []
    for place, word in enumerate(words):
        fate = tuple(each[place] for each in wrong)
        kind, sign, meaning = fates.get(fate, ("said", "", ""))
        after = f" ({meaning})" if meaning else ""
        marked.append(_word(word, "mark", kind, sign, after=after) if any(fate) else _word(word))
    return marked


def _written(step: AlignedWord) -> dict[str, str]:
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
