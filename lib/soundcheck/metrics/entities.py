r"""Entities of transcripts: numbers, money, dates, times, telephone numbers, spelled letters and names.

A word error rate makes nothing of it whether a recogniser misses *the* or *fifteen*. So entities are found in
the reference by a small grammar, and each is right if the words aligned with it are the same.

Conventions
-----------
- Both texts become *tokens* first: lower case without punctuation; digits for English number words, by the
  rules of the package whisper-normalizer (twenty five dollars is $25, nineteen eighty four 1984, two point
  five 2.5, five oh one 501); groups of a telephone number and letters said one by one as one; days behind
  months (5th of May is may 5). So it does not matter whether an entity is spoken or written in figures.
- In other languages than English figures stay as they are written, and only names are entities.
- Entities do not overlap: the longest wins, of equal ones a name, then the more special class.
- *One*, *first*, *second* and *zero* alone are no entities: they are more often none, as "oh" is.
- A time may lack its colon: "ten thirty" is read as 1030. Half past ten and 10:30 are not the same.
- An entity is right if its tokens are aligned with the same ones, nothing stands between them, and no figure
  was put in beside it.
"""

import contextlib
import dataclasses
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.normalisation import APOSTROPHES, fold_case

CLASSES = ("number", "money", "date", "time", "telephone number", "spelled letters")
Names = Mapping[tuple[str, ...], str]  # tokens of a name -> its class
_ALONE = ("0", "1", "one", "ones", "1st", "2nd", "12nd")  # the last is "one second", by those rules

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SHORT = {month[:3]: month for month in _MONTHS if month != "may"} | {"sept": "september"}
_MONTH = "|".join([*_MONTHS, *_SHORT])
_DAY = r"(\d{1,2})(st|nd|rd|th)?"
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([/.])\d{1,2}\1\d{2,4}")
_NUMBER = re.compile(r"\d+(\.\d+)?(st|nd|rd|th|s)?%?")
_MONEY = re.compile(r"[$€£¢]\d+(\.\d+)?")
_CLOCK = re.compile(r"\d{1,2}:?(\d\d)?")
_GROUPS = re.compile(r"(?<![\w.,:/$€£-])\+?\(?\d[\d()./ -]{5,24}\d(?![\w:%]|[.,/-]\d)")
_WRITTEN = (  # in this order, on lower case
    (re.compile(r"\b([ap])\.\s?m\b\.?"), r"\1m"),
    (re.compile(r"(\d)([ap]m)\b"), r"\1 \2"),
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),
    (re.compile(r"(\d[\d.]{0,20})\s?([$€£])(?!\d)"), r"\2\1"),
    (re.compile(r"([$€£])\s+(?=\d)"), r"\1"),
    (re.compile(r"\b(?:[a-z]\.\s?){2,12}(?![a-z]\b)"), lambda match: _letters(match[0])),
    (re.compile(r"\b[a-z](?:-[a-z]){1,12}\b"), lambda match: match[0].replace("-", " ")),
    (_DATE, lambda match: match[0].translate(_HIDDEN)),
    (_GROUPS, lambda match: _telephone(match[0])),
    (re.compile("[^\\w\\s'$€£¢%.:\ue000\ue001]|(?<!\\d)[.:]|[.:](?!\\d)|(?<!\\w)'|'(?!\\w)"), " "),
    (re.compile(r"(?<!\d)%|[$€£¢](?!\d)"), " "),
)
_READ = (  # after number words have become digits
    (re.compile(r"([$€£])one\b"), r"\g<1>1"),
    (re.compile(r"([$€£]\d+)\.00\b"), r"\1"),
    (re.compile(r"\bone (?=o'clock\b|[ap]m\b)"), "1 "),
    (re.compile(r"\b(\d{1,2}) o'clock\b"), r"\1:00"),
    (re.compile(rf"\b{_DAY} of ({_MONTH})\b"), lambda match: f"{_month(match[3])} {match[1]}"),
    (re.compile(rf"\b{_DAY} ({_MONTH})\b(?: (\d{{4}})\b)?"), lambda match: _day_first(match)),
    (re.compile(rf"\b({_MONTH}) (?:the )?{_DAY}(?![\d:])\b"), lambda f: f"{_month(f[1])} {f[2]}"),
)
_SLASH, _DASH = "\ue000", "\ue001"  # stand for the signs of a date while others are dropped
_HIDDEN, _BACK = str.maketrans("/-", _SLASH + _DASH), str.maketrans(_SLASH + _DASH, "/-")
_PUBLIC = dict.fromkeys(map(ord, (_SLASH, _DASH)))


def _letters(text: str) -> str:
    return " ".join(re.findall("[a-z]", text)) + " "


def _telephone(text: str) -> str:
    """Join the groups of a telephone number; other rows of figures stay."""
    digits = "".join(filter(str.isdigit, text))
    grouped = all(len(group) > 1 for group in re.findall(r"\d+", text.lstrip("+1")))
    return f" {digits} " if 7 <= len(digits) <= 15 and (grouped or text[0] == "+") else text


def _month(name: str) -> str:
    return _SHORT.get(name, name)


def _day_first(match: re.Match[str]) -> str:
    """Put the day behind the month; "10 may" may be a verb, so it needs an ending or a year."""
    verb = match[3] in ("may", "march", "mar", "dec", "sep") and not match[2] and not match[4]
    return match[0] if verb else f"{_month(match[3])} {match[1]} {match[4] or ''}"


@functools.cache
def _numerals() -> object:
    from whisper_normalizer.english import EnglishNumberNormalizer  # late: it takes a while to load

    return EnglishNumberNormalizer()


@dataclasses.dataclass(frozen=True)
class Reading:
    """A text in which entities can be found and compared."""

    tokens: tuple[str, ...]
    spelled: frozenset[int]  # places of tokens whose letters were said one by one
    english: bool = True  # whether number words are English ones, and so more than names can be found


@functools.lru_cache(maxsize=2**14)  # short commands come again and again
def read(text: str, english: bool = True) -> Reading:
    """Write a text in a form in which entities can be found and compared.

    - ``text``: what was said or written.
    - ``english``: whether number words are English ones.

    >>> read("Call 555-1234 on the 5th of May, at ten o'clock: it's twenty-five dollars.").tokens
    ('call', '5551234', 'on', 'the', 'may', '5', 'at', '10:00', "it's", '$25')
    """
    text = "".join(_digit(sign) for sign in fold_case(text).translate(_PUBLIC))
    for pattern, replacement in _WRITTEN:
        text = pattern.sub(replacement, text)
    if english:
        # Numbers that are thousands of digits long stay as they are.
        with contextlib.suppress(AssertionError, ValueError):
            text = _numerals()(text)
        for pattern, replacement in _READ:
            text = pattern.sub(replacement, text)
    tokens: list[str] = []
    spelled = set()
    is_letter = re.compile("[a-z]").fullmatch
    for single, group in itertools.groupby(text.translate(_BACK).split(), lambda word: bool(is_letter(word))):
        words = list(group)
        tokens += ["".join(words)] if single else words
        if single and len(tokens[-1]) > 1:
            spelled.add(len(tokens) - 1)
    return Reading(tuple(tokens), frozenset(spelled), english)


def _digit(sign: str) -> str:
    """Write digits of all scripts and apostrophes of all kinds in one way."""
    if sign in APOSTROPHES:
        return "'"
    digit = None if sign.isascii() else unicodedata.decimal(sign, None)
    return sign if digit is None else str(digit)


def find_entities(reading: Reading, names: Names) -> list[tuple[str, int, int]]:
    """Find the entities of a reference.

    - ``names``: tokens of names -> their class.
    - Returns class, first token and the one behind the last, in the order of the text; they do not overlap.

    >>> find_entities(read("Anna pays $20 on May 5, 2021"), {("anna",): "person"})
    [('person', 0, 1), ('money', 2, 3), ('date', 4, 7)]
    """
    possible = list(_names(reading.tokens, names))
    if reading.english:
        possible += _of_classes(reading)
    taken: set[int] = set()
    entities = []
    for _, _, start, end, kind in sorted(possible):
        if taken.isdisjoint(range(start, end)):
            taken |= set(range(start, end))
            entities.append((kind, start, end))
    return sorted(entities, key=lambda entity: entity[1])


Possible = tuple[int, int, int, int, str]  # sorts the longest first, then the most special


def _names(words: Sequence[str], names: Names) -> Iterator[Possible]:
    for size in {len(name) for name in names}:
        for start in range(len(words) - size + 1):
            kind = names.get(tuple(words[start : start + size]))
            if kind is not None:
                yield -size, 0, start, start + size, kind


def _of_classes(reading: Reading) -> Iterator[Possible]:
    words = reading.tokens

    def possible(kind: str, start: int, end: int) -> Possible:
        return start - end, len(CLASSES) - CLASSES.index(kind), start, end, kind

    for n, word in enumerate(words):
        behind = words[n + 1] if n + 1 < len(words) else ""
        if n in reading.spelled:
            yield possible("spelled letters", n, n + 1)
        if word in _MONTHS and behind.isdecimal() and (len(behind) < 3 or _year(behind)):
            year = len(behind) < 3 and _year("".join(words[n + 2 : n + 3]))
            yield possible("date", n, n + 3 if year else n + 2)
        if not word[-1:].isdecimal() and not word[:1].isdecimal():
            continue
        if _DATE.fullmatch(word):
            yield possible("date", n, n + 1)
        elif _MONEY.fullmatch(word):
            yield possible("money", n, n + 1)
        elif _CLOCK.fullmatch(word) and (":" in word or behind in ("am", "pm")):
            yield possible("time", n, n + 2 if behind in ("am", "pm") else n + 1)
        elif _NUMBER.fullmatch(word) and word not in _ALONE:
            telephone = word.isdecimal() and 7 <= len(word) <= 15 and not word.endswith("000")
            yield possible("telephone number" if telephone else "number", n, n + 1)


def _year(word: str) -> bool:
    return word.isdecimal() and len(word) == 4


@dataclasses.dataclass(frozen=True)
class Entity:
    """What became of an entity."""

    kind: str  # its class: one of :data:`CLASSES`, or that of a name
    said: str
    written: str  # the tokens that are aligned with it
    right: bool  # whether they are the same


def compare_entities(reference: Reading, hypothesis: Reading, names: Names) -> list[Entity]:
    """Say of each entity of a reference what was written for it.

    - ``reference, hypothesis``: what was said and what was recognised.
    - ``names``: tokens of names -> their class.

    >>> compare_entities(read("set it to twenty five"), read("Set it to 20."), {})
    [Entity(kind='number', said='25', written='20', right=False)]
    """
    left, right = reference.tokens, hypothesis.tokens
    entities = find_entities(reference, names)
    if not entities:
        return []
    place = np.full(len(left), -1)  # of the token that each is aligned with
    for tag, start, end, from_, to in Levenshtein.opcodes(_keys(left), _keys(right)):
        if tag in ("equal", "replace"):
            place[start:end] = np.arange(from_, to)
    compared = []
    for kind, start, end in entities:
        low = int(place[:start].max(initial=-1)) + 1
        behind = place[end:][place[end:] >= 0]
        high = int(behind[0]) if len(behind) else len(right)
        compared.append(_entity(kind, left[start:end], right, place[start:end], low, high))
    return compared


def _keys(words: Sequence[str]) -> list[str]:
    """Give what is compared: 10:30 may have been "ten thirty", which is 1030, and 10:00 just "ten"."""
    return [word.removesuffix(":00").replace(":", "") for word in words]


def _entity(
    kind: str, left: Sequence[str], right: Sequence[str], place: np.ndarray, low: int, high: int
) -> Entity:
    """Compare the tokens ``left`` of an entity with those aligned with it, and with figures beside these.

    ``place`` are the places of its aligned tokens; what is aligned with others ends at ``low`` and ``high``.
    """
    place = place[place >= 0]
    first, last = (int(place[0]), int(place[-1]) + 1) if len(place) else (low, high)
    if any(map(str.isdecimal, "".join(left))):
        while first > low and right[first - 1][-1].isdecimal():
            first -= 1
        while last < high and right[last][0].isdecimal():
            last += 1
    written = right[first:last]
    return Entity(kind, " ".join(left), " ".join(written), _keys(written) == _keys(left))


def closest(references: Sequence[Reading], hypothesis: Reading) -> Reading:
    """Give the reference that a hypothesis has the fewest token errors with, the first of equals."""
    written = _keys(hypothesis.tokens)
    return min(references, key=lambda reference: Levenshtein.distance(_keys(reference.tokens), written))
