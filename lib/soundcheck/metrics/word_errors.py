r"""Word and character errors of transcripts: rates, alignments, words that are confused, corrected, broken.

Conventions
-----------
- Words are what white space separates; lower case, punctuation and numerals are the caller's to settle, for
  instance with :mod:`soundcheck.metrics.normalisation`. Missing texts are ``None`` or NaN.
- Characters are those of the words, joined by one blank each; these blanks count, as they do for jiwer, but
  where the caller says that they do not.
- Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan put blanks between sentences or parts of them, if
  anywhere: a word error rate would be a sentence error rate, so characters are counted, without blanks. The
  script of the letters decides, not what a corpus says about its language: words may have been separated
  beforehand, but nobody knows how. Korean and Vietnamese are written with blanks.
- Each reference has a unit of its own, that of which it has more: characters of such scripts, or words of the
  others. Where a corpus has both, or references of words with more than 5 % of such characters, its unit is
  *mixed*, as in the mixed error rate of speech that switches between two languages.
- White space around the text and more of it between words do not, only the former of which jiwer drops.
- The alignment has as few errors as possible; where several have, it is RapidFuzz's, as it is for jiwer.
- Rates divide sums by sums: errors of all segments by words of all references. They may exceed 1.
- Words inserted where the reference is empty are errors, without adding words; a note counts such references.
  Without a single reference word there is no rate.
- An empty hypothesis is a prediction: all words are deleted.
- References may allow several wordings, see :mod:`soundcheck.metrics.alternatives`: the one with the fewest
  word errors counts, and where there is no hypothesis, the first.
- A word of the reference is right if it is equal in the alignment. *Corrected*: wrong in the baseline's
  transcript, right in the candidate's. *Broken*: the reverse. Words that a model inserts have no place in the
  reference; they are counted by themselves.
- **Time grows with the product of the lengths.** Two transcripts of 20,000 words, which is two hours of
  speech, take 0.2 s; two of 200,000 words half a minute. What they share at the beginning and at the end
  takes no time. Memory grows with the lengths only.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.common.messages import counted
from soundcheck.metrics.additive import (
    Numbers,
    Statistic,
    Texts,
    numbers,
    of_columns,
    ratio,
    same_length,
    segments,
)
from soundcheck.metrics.alternatives import cheapest, common_wording
from soundcheck.metrics.normalisation import Translation

RATES = ("word error rate", "insertions", "deletions", "substitutions")
NO_WORDS = "no reference words"
CONFUSIONS = ("kind", "reference", "hypothesis", "count", "share")
CHANGES = ("corrected", "broken", "words", "put_in_baseline", "put_in_candidate")

Kind = Literal["equal", "substitute", "delete", "insert"]


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """Errors of ``N`` segments, float64 ``(N,)`` each; NaN if unknown."""

    words: np.ndarray  # words of the references, or their characters; NaN if there is no reference
    substitutions: np.ndarray  # errors of each kind; NaN if there is no reference or no hypothesis
    deletions: np.ndarray
    insertions: np.ndarray
    unit: str = "word"  # what is counted: ``word`` or ``character``

    @property
    def errors(self) -> np.ndarray:
        """Errors of all kinds."""
        return self.substitutions + self.deletions + self.insertions

    def take(self, rows: np.ndarray) -> Counts:
        """Keep some segments, by their numbers.

        >>> word_errors(["go on", "stop"], ["go", "stop"]).take([1]).words
        array([1.])
        """
        kinds = (self.words, self.substitutions, self.deletions, self.insertions)
        return Counts(*(counts[rows] for counts in kinds), unit=self.unit)


def word_errors(references: Texts, hypotheses: Texts) -> Counts:
    """Count the word errors of segments, for :func:`error_rates`.

    >>> counts = word_errors(["the cat sat down"], ["the mat sat"])
    >>> counts.words, counts.substitutions, counts.deletions, counts.insertions
    (array([4.]), array([1.]), array([1.]), array([0.]))
    """
    return _errors(references, hypotheses, str.split, "word")


def character_errors(references: Texts, hypotheses: Texts, *, blanks: bool | None = True) -> Counts:
    """Count the character errors of segments, blanks between words included, for :func:`error_rates`.

    A character is a code point: a letter and a combining mark are two unless they are composed.

    - ``blanks``: whether blanks between words are characters; where a language is written without, they are
      not, see :mod:`soundcheck.metrics.word_errors`. ``None`` = only those of other scripts are.

    >>> character_errors(["go  on"], ["go an"]).substitutions
    array([1.])
    """
    units = closed_up if blanks is None else _characters if blanks else _joined
    return _errors(references, hypotheses, units, "character")


def _characters(text: str) -> str:
    return " ".join(text.split())


def _joined(text: str) -> str:
    return "".join(text.split())


def _errors(references: Texts, hypotheses: Texts, units: Callable[[str], Sequence[str]], unit: str) -> Counts:
    """Count the errors of segments in what a text is made of: a list of words or a string of characters."""
    references, hypotheses = (np.asarray(texts, dtype=object) for texts in (references, hypotheses))
    same_length(references, hypotheses)
    # A page needs the errors of the same texts many times, and comparing texts takes no time beside that.
    return _counted(tuple(references.tolist()), tuple(hypotheses.tolist()), units, unit)


@functools.lru_cache(maxsize=8)
def _counted(
    references: tuple[str | None, ...],
    hypotheses: tuple[str | None, ...],
    units: Callable[[str], Sequence[str]],
    unit: str,
) -> Counts:
    pairs = list(zip(references, hypotheses, strict=True))
    counts = {pair: _count(*pair, units) for pair in dict.fromkeys(pairs)}  # short commands come again
    table = np.array([counts[pair] for pair in pairs], dtype=np.float64).reshape(-1, 4).T.copy()
    table.setflags(write=False)  # several callers have it
    return Counts(*table, unit=unit)


def _count(reference: object, hypothesis: object, units: Callable[[str], Sequence[str]]) -> tuple[float, ...]:
    """Count units of the reference, substitutions, deletions and insertions; NaN where a text is missing."""
    if not (isinstance(reference, str) and isinstance(hypothesis, str)):
        return len(units(reference)) if isinstance(reference, str) else np.nan, np.nan, np.nan, np.nan
    reference, hypothesis = units(cheapest(reference, hypothesis)), units(hypothesis)
    kinds = [edit.tag for edit in Levenshtein.editops(reference, hypothesis)]
    return len(reference), kinds.count("replace"), kinds.count("delete"), kinds.count("insert")


def word_error_rate(words: Numbers, errors: Numbers) -> Statistic:
    r"""Word error rate, :math:`\sum e_i / \sum m_i`, counting segments.

    - ``words``: words :math:`m_i` of each reference, ``(N,)``; NaN leaves a segment out.
    - ``errors``: errors :math:`e_i` of each segment, ``(N,)``; NaN where there is no hypothesis.

    >>> word_error_rate([4, 1], [1, 1])
    Statistic(0.4)
    """
    return _rates(words, [errors], ("",), "word")


def error_rates(counts: Counts) -> Statistic:
    r"""Word error rate and its parts, each in errors a word of the reference; the same for characters.

    .. math:: \mathrm{WER} = \frac{I}{N} + \frac{D}{N} + \frac{S}{N}

    with insertions, deletions, substitutions and :math:`N` words of the references. Returns four values,
    labels :data:`RATES`, or those of characters.

    >>> error_rates(word_errors(["the cat sat down"], ["the mat sat"]))
    Statistic({'word error rate': 0.5, 'insertions': 0.0, 'deletions': 0.25, 'substitutions': 0.25})
    """
    columns = [counts.errors, counts.insertions, counts.deletions, counts.substitutions]
    return _rates(counts.words, columns, (f"{counts.unit} error rate", *RATES[1:]), counts.unit)


def _rates(words: Numbers, columns: Sequence[Numbers], labels: tuple[str, ...], unit: str) -> Statistic:
    words, *columns = (numbers(column) for column in (words, *columns))
    for column in columns:
        same_length(words, column)
    known, predicted = ~np.isnan(words), ~np.isnan(columns[0])

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        text = segments(0) if sums[0] == 0 else f"{NO_WORDS.replace('word', unit)}, {sums[2]:.0f} insertions"
        return ("" if sums[1] > 0 else text,) * len(labels)

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        empty = round(float(sums[-1]))
        return (counted(empty, "empty reference") if empty else "",) * len(labels)

    return of_columns(
        known & predicted,
        known & ~predicted,
        (words, *columns, (words == 0).astype(np.float64)),
        lambda sums: ratio(sums[..., 2:-1], sums[..., 1:2]),
        labels,
        reasons=reasons,
        notes=notes,
        units=lambda sums: np.repeat(sums[..., 1:2], len(labels), axis=-1),
    )


# Which words an ASR model confuses


class AlignedWord(NamedTuple):
    """One step of an alignment."""

    kind: Kind  # what became of the word
    reference: str  # word of the reference; empty if inserted
    hypothesis: str  # word of the hypothesis; empty if deleted


def align(reference: str, hypothesis: str) -> list[AlignedWord]:
    """Align two transcripts with as few errors as possible, in their order.

    >>> for word in align("the cat sat", "a cat sat down"):
    ...     print(*word, sep="|")
    substitute|the|a
    equal|cat|cat
    equal|sat|sat
    insert||down
    """
    left, right = cheapest(reference, hypothesis).split(), hypothesis.split()
    aligned: list[AlignedWord] = []
    for tag, start, end, from_, to in Levenshtein.opcodes(left, right):
        kind: Kind = "substitute" if tag == "replace" else tag
        pairs = itertools.zip_longest(left[start:end], right[from_:to], fillvalue="")
        aligned += [AlignedWord(kind, *pair) for pair in pairs]
    return aligned


def confusions(references: Texts, hypotheses: Texts) -> pd.DataFrame:
    """Count which words an ASR model confuses, leaves out and adds.

    Segments without reference or hypothesis are passed over.

    Returns one row a different error, columns :data:`CONFUSIONS`: ``kind`` is ``substitute``, ``delete`` or
    ``insert``; words are empty where there is none; ``share`` is the count by all words of the references
    that were compared, NaN if they have none. The most frequent come first, equally frequent ones
    alphabetically, column by column.

    >>> confusions(["go on", "go"], ["no on", "no"])
             kind reference hypothesis  count     share
    0  substitute        go         no      2  0.666667
    """
    steps: Counter[AlignedWord] = Counter()
    for pair, times in Counter(pair for _, pair in _complete(references, hypotheses)).items():
        for step in align(*pair):
            steps[step] += times
    words = sum(count for step, count in steps.items() if step.kind != "insert")
    errors = sorted((-count, step) for step, count in steps.items() if step.kind != "equal")
    table = pd.DataFrame([step for _, step in errors], columns=CONFUSIONS[:3], dtype=object)
    counts = np.array([-count for count, _ in errors], dtype=np.int64)
    return table.assign(count=counts, share=ratio(counts, words))


def _complete(*texts: Texts) -> list[tuple[int, tuple[str, ...]]]:
    """Give the numbers of the segments that have all texts, with these."""
    arrays = [np.asarray(each, dtype=object) for each in texts]
    for array in arrays[1:]:
        same_length(arrays[0], array)
    known = ~np.any([pd.isna(array) for array in arrays], axis=0)
    return [(int(n), tuple(array[n] for array in arrays)) for n in np.flatnonzero(known)]


# Which words one ASR model has right and another one wrong


def word_changes(references: Texts, baselines: Texts, candidates: Texts) -> pd.DataFrame:
    """Count for each segment how many of its words the candidate corrects and breaks.

    Returns float64 columns :data:`CHANGES`, one row a segment: words corrected and broken, words of the
    reference, and words that each model inserts; NaN where a text is missing.

    >>> word_changes(["go on now"], ["no on now"], ["go on"])
       corrected  broken  words  put_in_baseline  put_in_candidate
    0        1.0     1.0    3.0              0.0               0.0
    """
    counts = np.full((len(references), len(CHANGES)), np.nan)
    for n, texts in _complete(references, baselines, candidates):
        words, (before, after), inserted = _missed(*texts)
        counts[n] = [len(before - after), len(after - before), len(words), *inserted]
    return pd.DataFrame(counts, columns=CHANGES)


def changed_words(references: Texts, baselines: Texts, candidates: Texts) -> pd.DataFrame:
    """Count for each word how often the candidate corrects and breaks it.

    Returns one row a word that is corrected or broken at least once: ``word``, ``said`` (how often),
    ``corrected``, ``broken``, ``wrong`` (by both). Those with the most changes come first, then
    alphabetically.

    >>> changed_words(["go on", "go up"], ["no on", "go up"], ["go on", "no up"])
      word  said  corrected  broken  wrong
    0   go     2          1       1      0
    """

    def kinds(before: set[int], after: set[int]) -> tuple[set[int], ...]:
        return before - after, after - before, before & after

    return _tally(references, [baselines, candidates], ("corrected", "broken", "wrong"), kinds, changes=2)


def wrong_words(references: Texts, hypotheses: Mapping[str, Texts]) -> pd.DataFrame:
    """Count for each word how often some ASR models, name -> transcripts, have it wrong.

    Segments that any of them has no prediction for do not count. Returns one row a word that any has wrong:
    ``word``, ``said`` (how often), and for each model how often it is wrong. Those that are wrong most often,
    over all models, come first, then alphabetically.

    >>> wrong_words(["go on", "go up"], {"a": ["no on", "no up"], "b": ["go on", "go on"]})
      word  said  a  b
    0   go     2  2  0
    1   up     1  0  1
    """
    return _tally(references, list(hypotheses.values()), tuple(hypotheses), lambda *missed: missed)


def _tally(
    references: Texts,
    hypotheses: Sequence[Texts],
    names: Sequence[str],
    kinds: Callable[..., Sequence[set[int]]],
    changes: int | None = None,
) -> pd.DataFrame:
    """Count for each word how often its places are of each kind, which ``kinds`` makes of missed places.

    The words with the most of the first so many kinds come first, then alphabetically.
    """
    said, counters = Counter(), [Counter() for _ in names]
    for _, texts in _complete(references, *hypotheses):
        words, missed, _ = _missed(*texts)
        said.update(words)
        for counter, places in zip(counters, kinds(*missed), strict=True):
            counter.update(words[n] for n in places)
    changed = sum(counters[:changes], Counter())
    words = sorted(changed, key=lambda word: (-changed[word], word))
    rows = [(word, *(counter[word] for counter in (said, *counters))) for word in words]
    return pd.DataFrame(rows, columns=["word", "said", *names])


def _missed(reference: str, *hypotheses: str) -> tuple[list[str], list[set[int]], list[int]]:
    """Give the reference's words, the places of those that each model misses, and how many each inserts."""
    words = common_wording(reference, hypotheses).split()
    errors = [Levenshtein.editops(words, text.split()) for text in hypotheses]
    missed = [{place for kind, place, _ in edits if kind != "insert"} for edits in errors]
    return words, missed, [len(edits) - len(places) for edits, places in zip(errors, missed, strict=True)]


# Scripts that are written without blanks between words

CHARACTER, MIXED, WORD = "character", "mixed", "word"  # units of error

# What Unicode's names of letters of such scripts begin with
_SCRIPTS = (
    *("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"),
    *("IDEOGRAPHIC", "TIBETAN", "TAI ", "NEW TAI"),
)
_SWITCHED = 0.05  # share of such characters from which on speech switches between two kinds of scripts


def _kind(character: str) -> str:
    """Tell letters of such scripts (u) and their marks (m) from other letters (s)."""
    kind = unicodedata.category(character)[0]
    without = kind in "LM" and unicodedata.name(character, "").startswith(_SCRIPTS)
    return ("u" if without else "s") if kind == "L" else "m" if without else " "


_KINDS = Translation(_kind)
_ASCII_WORD = re.compile(r"[A-Za-z]\S*")  # from the first letter of what stands between blanks


def without_blanks(texts: Iterable[str | None]) -> np.ndarray:
    """Say of each text whether it has more characters of scripts without blanks than words of others.

    Missing texts (``None`` or NaN) and those without letters have not.

    >>> without_blanks(["今日はいい天気", "오늘 날씨", "go left", None]).tolist()
    [True, False, False, False]
    """
    counts = (_counts(text) if isinstance(text, str) else (0, 0) for text in texts)
    return np.array([signs > words for signs, words in counts], dtype=bool)


def unit_of(references: Sequence[str | None]) -> str:
    """Say what is counted where these are the references: :data:`CHARACTER`, :data:`WORD` or :data:`MIXED`.

    >>> unit_of(["左转", "ok", None]), unit_of(["左转", "123"]), unit_of([])
    ('mixed', 'character', 'word')
    """
    texts = [text for text in references if isinstance(text, str)]
    if all(map(str.isascii, texts)):
        return WORD
    counts = [_counts(text) for text in texts]
    kinds = {signs > words for signs, words in counts if signs or words}
    if kinds == {False} and sum(signs for signs, _ in counts) > _SWITCHED * sum(map(sum, counts)):
        return MIXED
    return MIXED if len(kinds) > 1 else CHARACTER if True in kinds else WORD


def named_units(unit: str) -> str:
    """Name several units in words."""
    return "words or characters" if unit == MIXED else f"{unit}s"


def characters_apart(text: str) -> str:
    """Put blanks around the characters of such scripts, so that each is a word.

    >>> characters_apart("我要去 new york")
    '我 要 去 new york'
    """
    kinds = "" if text.isascii() else text.translate(_KINDS)
    if "u" not in kinds and "m" not in kinds:
        return text
    parts = (text[part.start() : part.end()] for part in re.finditer("[um]|[^um]+", kinds))
    return " ".join(" ".join(parts).split())


def closed_up(text: str) -> str:
    """Take out blanks beside the characters of such scripts, which writers do not put there.

    >>> closed_up("我 要 去 new york")
    '我要去new york'
    """
    text = " ".join(text.split())
    kinds = f" {text.translate(_KINDS)} "
    beside = (not {kinds[n], kinds[n + 2]}.isdisjoint("um") for n in range(len(text)))
    return "".join(sign for sign, close in zip(text, beside, strict=True) if sign != " " or not close)


def _counts(text: str) -> tuple[int, int]:
    """Count letters of such scripts, and words of others."""
    if text.isascii():
        return 0, len(_ASCII_WORD.findall(text))
    kinds = text.translate(_KINDS)
    return kinds.count("u"), len(re.findall("s+", kinds))
