"""References that allow several wordings: alternatives, words that may be missing, synonyms.

The forms are those of NIST's sclite: ``{ um / uh / @ }`` stands for one of several texts, ``@`` for none,
and alternatives may contain others; ``(uh)`` is a word that may be left out. A hypothesis is compared with
the wording that it has the fewest errors with.

Conventions
-----------
- Braces need no blanks around them; a slash does, as *and/or* is a word. ``@`` is special only where it is
  all of an alternative, parentheses only around a single word.
- A *wording* is a tuple of elements, one after the other: words as a tuple of texts, or a :class:`Choice`.
- Of wordings with as few word errors the first that is written is taken. So the words of a reference, by
  which errors are divided, may depend on what was recognised. sclite counts a word in parentheses that is
  left out as right; here it is no word.
- Each part between braces and slashes is normalised by itself. Synonyms are looked for within such a part
  from the left, the longest first; they do not overlap.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

NOTHING = "@"
_TOKENS = re.compile(r"[{}]|[^\s{}]+")
_OPTIONAL = re.compile(r"\(([^\s()]+)\)")
_DEEPEST = 20  # alternatives within alternatives


@dataclasses.dataclass(frozen=True)
class Choice:
    """One of several wordings."""

    options: tuple[Wording, ...]  # at least two, in the order in which they are preferred


Words = tuple[str, ...]
Wording = tuple["Words | Choice", ...]


class Reference(str):
    """A reference that allows several wordings; as a text it is the first of them."""

    __slots__ = ("wording",)
    wording: Wording  # words as they are compared, with at least one choice

    def __new__(cls, wording: Wording) -> Reference:
        """Make the text of the first wording."""
        reference = super().__new__(cls, " ".join(_first(wording)))
        reference.wording = wording
        return reference

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self.wording == other.wording

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.wording)

    def __getnewargs__(self) -> tuple[Wording]:
        return (self.wording,)


def parse(text: str) -> Wording:
    """Read a reference with alternatives and words that may be missing.

    Raises ValueError: if braces do not match, an alternative is empty or alone, or they are nested too
    deeply.

    >>> parse("go { left / right }")
    (('go',), Choice(options=((('left',),), (('right',),))))
    """
    stack: list[list[list[list[str] | Choice]]] = [[[]]]  # open braces -> alternatives -> elements
    for token in _TOKENS.findall(text):
        options = stack[-1]
        if token == "{":
            if len(stack) > _DEEPEST:
                raise ValueError(f"alternatives are nested more than {_DEEPEST} deep")
            stack.append([[]])
        elif token == "}":
            if len(stack) == 1:
                raise ValueError("an alternative is closed by } that { did not open")
            stack.pop()
            stack[-1][-1].append(_choice(options))
        elif token == "/" and len(stack) > 1:
            options.append([])
        elif optional := _OPTIONAL.fullmatch(token):
            options[-1].append(Choice((((optional[1],),), ())))
        elif options[-1] and isinstance(options[-1][-1], list):
            options[-1][-1].append(token)
        else:
            options[-1].append([token])
    if len(stack) > 1:
        raise ValueError("an alternative is opened by { and not closed")
    return _frozen(stack[0][0])


def _choice(options: list[list[list[str] | Choice]]) -> Choice:
    if len(options) < 2:
        raise ValueError("there is only one alternative between { and }; blanks stand around each /")
    if not all(options):
        raise ValueError(f"an alternative is empty; {NOTHING} stands for nothing")
    return Choice(tuple(() if option == [[NOTHING]] else _frozen(option) for option in options))


def _frozen(elements: list[list[str] | Choice]) -> Wording:
    return tuple(tuple(element) if isinstance(element, list) else element for element in elements)


def _first(wording: Wording) -> Iterator[str]:
    for element in wording:
        yield from _first(element.options[0]) if isinstance(element, Choice) else element


# Normalised references


def synonym_sets(pairs: Sequence[tuple[str, str]]) -> dict[Words, tuple[Words, ...]]:
    """Put normalised phrases that mean the same together: words of each -> words of all others.

    Raises ValueError: if a pair says what others say already; its text is the number of the pair, from 0.

    >>> synonym_sets([("going to", "gonna")])
    {('going', 'to'): (('gonna',),), ('gonna',): (('going', 'to'),)}
    """
    sets: dict[Words, list[Words]] = {}
    for n, pair in enumerate(pairs):
        one, other = (sets.setdefault(words, [words]) for words in (tuple(text.split()) for text in pair))
        if one is other:
            raise ValueError(n)
        one += other
        for words in other:
            sets[words] = one
    return {words: tuple(phrase for phrase in same if phrase != words) for words, same in sets.items()}


class WordingReader:
    """Normalises references with all their wordings; call it with a text."""

    def __init__(
        self,
        normalise: Callable[[str], str],
        alternatives: bool = False,
        synonyms: Sequence[tuple[str, str]] = (),
        prepare: Callable[[str], str] = str,
    ) -> None:
        """Take a normaliser, whether braces and parentheses mean alternatives, and pairs of phrases.

        ``prepare`` is what is done to a text before alternatives are read.
        """
        self._normalise, self._alternatives, self._prepare = normalise, alternatives, prepare
        pairs = [(normalise(phrase), normalise(equivalent)) for phrase, equivalent in synonyms]
        self._synonyms: Mapping[Words, tuple[Words, ...]] = synonym_sets(pairs)
        self._longest = max(map(len, self._synonyms), default=0)

    def __call__(self, text: str) -> str:
        """Give the normalised text; a :class:`Reference` if it allows several wordings."""
        if self._alternatives and re.search("[{}(]", text):
            wording = self._normalised(parse(self._prepare(text)))
        elif self._synonyms:
            wording = self._with_synonyms(self._normalise(text).split())
        else:
            return self._normalise(text)
        if any(isinstance(element, Choice) for element in wording):
            return Reference(wording)
        return " ".join(_first(wording)) if self._synonyms else self._normalise(text)

    def plain(self, text: str) -> str:
        """Give the first wording of a text, as the random reference has it."""
        return " ".join(self(text).split())

    def _normalised(self, wording: Wording) -> Wording:
        elements: list[Words | Choice] = []
        for element in wording:
            if isinstance(element, Choice):
                elements.append(Choice(tuple(map(self._normalised, element.options))))
            else:
                elements += self._with_synonyms(self._normalise(" ".join(element)).split())
        return tuple(elements)

    def _with_synonyms(self, words: list[str]) -> Wording:
        elements: list[Words | Choice] = []
        start = place = 0
        while place < len(words):
            lengths = range(min(self._longest, len(words) - place), 0, -1)
            phrases = (tuple(words[place : place + length]) for length in lengths)
            phrase = next((phrase for phrase in phrases if phrase in self._synonyms), None)
            if phrase is None:
                place += 1
                continue
            elements += [tuple(words[start:place])] if start < place else []
            elements.append(Choice(tuple((each,) for each in (phrase, *self._synonyms[phrase]))))
            start = place = place + len(phrase)
        return (*elements, tuple(words[start:])) if start < len(words) else tuple(elements)


# The wording with the fewest errors


def cheapest(reference: str, hypothesis: str) -> str:
    """Give the wording of a reference that a hypothesis has the fewest word errors with.

    >>> cheapest(WordingReader(str, alternatives=True)("i've { um / uh / @ } seen it"), "i've seen it")
    "i've seen it"
    """
    if not isinstance(reference, Reference):
        return reference
    words = np.array([*hypothesis.split(), None], dtype=object)[:-1]
    lattice = _Lattice(words)
    _, _, steps = lattice.through(reference.wording, np.arange(len(words) + 1))
    return " ".join(lattice.words(reference.wording, steps, len(words)))


def common_wording(reference: str, hypotheses: Sequence[str]) -> str:
    """Give one wording of a reference by which several hypotheses are compared word by word.

    Of the wordings that are the cheapest for one of them that with the fewest errors of all; of several the
    one of the earliest hypothesis.
    """
    if not isinstance(reference, Reference):
        return reference
    splits = [hypothesis.split() for hypothesis in hypotheses]
    possible = [cheapest(reference, hypothesis) for hypothesis in hypotheses]
    return min(possible, key=lambda text: sum(Levenshtein.distance(text.split(), words) for words in splits))


class _Lattice:
    """Finds the way through a wording that costs the fewest errors against some words.

    Costs are int64 ``(n + 1,)``: the fewest errors with the first 0 to n words of the hypothesis, whatever
    follows. Entries, of the same shape, say at which word of the hypothesis the best way there began.
    """

    def __init__(self, words: np.ndarray) -> None:
        self._words = words
        self._base = len(words) + 1  # a cost and an entry are one number, so that one minimum keeps both

    def through(self, wording: Wording, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[tuple]]:
        """Go through all elements; gives costs, entries, and what :meth:`words` needs of each element."""
        entries, steps = np.arange(self._base), []
        for element in wording:
            best = below = None
            if isinstance(element, Choice):
                every, starts, below = zip(
                    *(self.through(option, costs) for option in element.options), strict=True
                )
                best = np.argmin(every, axis=0)  # of equal ones the first
                costs = np.min(every, axis=0)
                start = np.stack(starts)[best, np.arange(self._base)]
            else:
                costs, start = self._along(element, costs)
            steps.append((start, best, below))
            entries = entries[start]
        return costs, entries, steps

    def _along(self, words: Words, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        base, places = self._base, np.arange(self._base)
        keys = costs * base + places
        for word in words:
            deleted = keys + base
            deleted[1:] = np.minimum(deleted[1:], keys[:-1] + base * (self._words != word))
            keys = np.minimum.accumulate(deleted - places * base) + places * base  # inserted words
        return np.divmod(keys, base)

    def words(self, wording: Wording, steps: list[tuple], place: int) -> list[str]:
        """Give the words of the best way that ends at a word of the hypothesis."""
        parts: list[list[str]] = []
        for element, (start, best, below) in zip(reversed(wording), reversed(steps), strict=True):
            if isinstance(element, Choice):
                chosen = best[place]
                parts.insert(0, self.words(element.options[chosen], below[chosen], place))
            else:
                parts.insert(0, list(element))
            place = int(start[place])
        return sum(parts, [])
