r"""Differential tests of recognisers without transcripts: how much two of them disagree, and about whom.

Two recognisers that hear the same should write the same. Where a change of the signal makes them disagree
more, one of them fails; where that happens to one group more than to another, the change is unfair to it
:cite:`rajan2022`.

Conventions
-----------
- The *distance* of a group is micro-averaged: word edits of all its clips by the words of the longer
  transcripts. Two empty transcripts add nothing.
- The *degradation* of a group is its distance under a change minus its distance for the signals as they are.
- A base group is *violated* against another group if its degradation exceeds the other's by more than
  :math:`\tau`: strictly, and in this direction only. Every group is the base once.
- Counts are cumulative: what exceeds 0.15 exceeds 0.01 as well, and counts for both.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.common.precision import DECIMAL

TAUS = (0.01, 0.05, 0.1, 0.15)
COLUMNS = ("pair", "transformation", "level", "group", "distance")
FILLERS = ("%hesitation",)
ROBUST, NOT_ROBUST, BETWEEN = "robust", "not robust", "in between"  # kinds of words
MEAN = "mean of these"  # row of :func:`against_base`
_FOUND = ("tau", "base", "other", "excess")
_BETWEEN = re.compile(r"(?:[\s\-,;.]|:(?![^\W\d_]))+")  # a colon before a letter is inside of a word: EU:n


def words(transcript: str) -> list[str]:
    """Split a transcript: lower case, at white space and ``- : , ; .``, without tags of hesitation.

    >>> words("Please, call Stella. %HESITATION Six spoons")
    ['please', 'call', 'stella', 'six', 'spoons']
    """
    return [word for word in _BETWEEN.split(transcript.lower()) if word and word not in FILLERS]


def word_edits(first: str, second: str) -> tuple[int, int]:
    """Compare the transcripts of two recognisers for one clip.

    Returns word edits, and words of the longer transcript.

    >>> word_edits("six thick slabs", "six thin slabs of")
    (2, 4)
    """
    left, right = words(first), words(second)
    return Levenshtein.distance(left, right), max(len(left), len(right))


def exceeds(excess: np.ndarray, tau: float) -> np.ndarray:
    r"""Say whether degradations are larger than others by more than :math:`\tau`; 0.35 - 0.25 is not."""
    return excess > tau + DECIMAL


def dropped(counts: np.ndarray) -> np.ndarray:
    """Give the drop of each word at the worst level, at least 0, ``(..., words)``.

    - ``counts``: how often each word is recognised, ``(..., 1 + levels, words)``; first in the signals as
      they are.
    """
    return np.maximum(counts[..., 0, :] - counts[..., 1:, :].min(axis=-2), 0)


def violations(
    distances: pd.DataFrame,
    taus: Sequence[float] = TAUS,
    excluded: Collection[tuple[str, float]] = (),
) -> pd.DataFrame:
    """Find all violations of fairness in a table of distances (Algorithm 1 of the paper).

    - ``distances``: one row a pair of recognisers, transformation, level and group, columns ``pair``,
      ``transformation``, ``level``, ``group``, ``distance``. Rows with an empty transformation hold the
      distances for the signals as they are. A setting that a group has no distance for (NaN, or no row) is
      not compared.
    - ``taus``: by how much a degradation may exceed another one.
    - ``excluded``: transformation and level of settings that are left out.
    - Returns one row a violation: ``pair, transformation, level, tau, base, other, excess``; the last is the
      degradation of the base minus that of the other group.
    - Raises ValueError: if a column is missing, a row is a duplicate, or a group has no distance for the
      signals as they are.
    """
    missing = [name for name in COLUMNS if name not in distances.columns]
    if missing:
        raise ValueError(f"The table of distances has no column {', '.join(missing)}.")
    if distances.duplicated(["pair", "transformation", "level", "group"]).any():
        raise ValueError("The table of distances has a pair, transformation, level and group twice.")
    plain = distances["transformation"].isna() | distances["transformation"].eq("")
    before = distances[plain].set_index(["pair", "group"])["distance"]
    changed = distances[~plain]
    places = pd.MultiIndex.from_frame(changed[["pair", "group"]])
    unknown = places[~places.isin(before.index)].unique()
    if len(unknown):
        pair, group = unknown[0]
        raise ValueError(f"Group {group!r} has no distance of {pair!r} for the signals as they are.")
    degradation = changed["distance"].to_numpy(dtype=float) - before.reindex(places).to_numpy(dtype=float)
    changed = changed.assign(degradation=degradation)
    rows = []
    for (pair, transformation, level), own in changed.groupby(
        ["pair", "transformation", "level"], sort=False
    ):
        if (transformation, level) in excluded:
            continue
        exceeding = _exceeding(own["group"].to_numpy(), own["degradation"].to_numpy(), taus)
        rows += [(pair, transformation, level, *row) for row in exceeding]
    return pd.DataFrame(rows, columns=["pair", "transformation", "level", *_FOUND])


def differences(distances: pd.DataFrame, taus: Sequence[float] = TAUS) -> pd.DataFrame:
    """Find groups that two recognisers disagree more about than about others before anything is changed.

    - ``distances``: see :func:`violations`; only the rows with an empty transformation are looked at.
    - ``taus``: by how much a distance may exceed another one.
    - Returns one row a difference: ``pair, tau, base, other, excess``; the last is the distance of the base
      minus that of the other group.
    """
    plain = distances[distances["transformation"].isna() | distances["transformation"].eq("")]
    rows = []
    for pair, own in plain.groupby("pair", sort=False):
        exceeding = _exceeding(own["group"].to_numpy(), own["distance"].to_numpy(dtype=float), taus)
        rows += [(pair, *row) for row in exceeding]
    return pd.DataFrame(rows, columns=["pair", *_FOUND])


def _exceeding(
    groups: np.ndarray, values: np.ndarray, taus: Sequence[float]
) -> Iterator[tuple[float, str, str, float]]:
    """Give each tau with the groups whose value exceeds another one's by more, that group and the excess."""
    excess = values[:, None] - values[None, :]
    for tau in taus:
        for base, other in zip(*np.nonzero(exceeds(excess, tau)), strict=True):
            yield tau, groups[base], groups[other], excess[base, other]


def counts(
    found: pd.DataFrame, groups: Sequence[str], by: str = "", rows: Sequence[Hashable] | None = None
) -> pd.DataFrame:
    """Count violations by base group, in the layout of the paper's table.

    - ``found``: what :func:`violations` or :func:`differences` returned.
    - ``groups``: all groups, in the order of the columns; one without violations counts 0.
    - ``by``: ``"tau"``, ``"pair"`` or ``"transformation"`` for a row each; empty for one row, ``"all"``.
    - ``rows``: the rows in order; one without violations counts 0. Default: those that have any, sorted.
    - Returns whole numbers; rows as asked for, one column a group.
    """
    kinds = found[by] if by else pd.Series("all", index=found.index)
    table = pd.crosstab(kinds, found["base"]) if len(found) else pd.DataFrame(index=[] if by else ["all"])
    if rows is not None:
        table = table.reindex(index=list(rows))
    return table.reindex(columns=list(groups)).fillna(0).astype(int)


def against_base(counted: Mapping[str, int] | pd.Series, base: str = "") -> tuple[str, pd.DataFrame]:
    """Compare the violations of all groups with those of one of them, as the paper does.

    - ``counted``: group -> number of violations, at least one group.
    - ``base``: the group that the others are compared with; if it is not there, the first of those with the
      fewest.
    - Returns the base, and a table with a row for each other group: ``violations``, and ``times`` as many as
      those of the base (NaN if it has none). More than one other group is followed by the mean of them.

    >>> against_base({"male": 28, "female": 176}, "male")[1]["times"].round(3).to_dict()
    {'female': 6.286}
    """
    counted = dict(counted)
    base = base if base in counted else min(counted, key=counted.__getitem__)
    others = {group: float(number) for group, number in counted.items() if group != base}
    if len(others) > 1:
        others[MEAN] = float(np.mean(list(others.values())))
    frame = pd.DataFrame({"violations": others}, dtype=float)
    return base, frame.assign(times=frame["violations"] / (counted[base] or np.nan))


def word_counts(transcripts: Iterable[str | None]) -> Counter[str]:
    """Count how often each word stands in transcripts; missing ones are passed over."""
    return Counter(word for text in transcripts if text is not None for word in words(text))


def frequent_words(counts: Mapping[str, int], minimum: int = 1, most: int | None = None) -> dict[str, int]:
    """Keep frequent words, the most frequent first, those as frequent in alphabetical order.

    - ``minimum``: count that a word needs.
    - ``most``: how many words are kept; default all.

    >>> frequent_words({"b": 2, "a": 2, "c": 3, "d": 1}, minimum=2, most=2)
    {'c': 3, 'a': 2}
    """
    kept = sorted((-count, word) for word, count in counts.items() if count >= minimum)
    return {word: int(-count) for count, word in kept[:most]}


def word_drops(original: Mapping[str, int], changed: Iterable[Mapping[str, int]]) -> dict[str, int]:
    r"""Find by how much words vanish under a transformation (Algorithm 2 of the paper).

    The drop of a word is how often it was recognised in the signals as they are minus the lowest count over
    the levels of the transformation, at least 0.

    - ``original``: word -> count over all transcripts of a group.
    - ``changed``: the same for each level of the transformation, at least one.
    - Returns word -> drop, for every word of ``original``.

    >>> word_drops({"bags": 4, "six": 4}, [{"bags": 3, "six": 4}, {"bags": 1, "six": 5}])
    {'bags': 3, 'six': 0}
    """
    levels = list(changed)
    if not levels:
        raise ValueError("There is no level of the transformation.")
    counts = np.array([[level.get(word, 0) for word in original] for level in (original, *levels)], dtype=int)
    return dict(zip(original, dropped(counts).tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class Omega:
    r"""The :math:`\omega` of Algorithm 2: the drop from which on a word is not robust."""

    # a count, at least 1; or a share of the times that a word is recognised, above 0 and at most 1
    value: float
    share: bool  # which of them it is

    def is_reached(self, count: int, drop: int) -> bool:
        """Say whether a word that was recognised ``count`` times drops far enough."""
        return drop > 0 and drop >= (self.value * count if self.share else self.value) - DECIMAL

    def __str__(self) -> str:
        return f"{100 * self.value:g}\xa0%" if self.share else f"{self.value:g}"


def read_omega(given: object, model: str = "") -> Omega:
    r"""Read :math:`\omega` as threshold files write it.

    - ``given``: ``{"count": 3}`` or ``{"share": 0.5}``; a number below 1 is a share, a whole one from 1 on a
      count; or a mapping of models to any of these, with one for all others under ``default``.
    - ``model``: for which it is read.
    - Raises ValueError: if it is none of these; the message says what is wrong.

    >>> str(read_omega({"count": 3})), str(read_omega(0.5))
    ('3', '50\xa0%')
    >>> read_omega({"default": 3, "ibm": 2}, "ibm").value
    2
    """
    if isinstance(given, Mapping) and not {"count", "share"} & set(given):
        if "default" not in given:
            raise ValueError("ω has no default for models that are not named")
        for name, own in given.items():
            if isinstance(own, Mapping) and not {"count", "share"} & set(own):
                raise ValueError(f"ω of {name} is neither a count nor a share")
            read_omega(own)
        return read_omega(given.get(model, given["default"]))
    share = None
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise ValueError("ω is either a count or a share, not both")
        ((kind, given),) = given.items()
        share = kind == "share"
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise ValueError("ω is not a number")
    if share is None:
        share = given < 1
    if share and not 0 < given <= 1:
        raise ValueError(f"ω as a share lies above 0 and is at most 1, not {given:g}")
    if not share and (given < 1 or given != int(given)):
        raise ValueError(f"ω as a count is a whole number from 1 on, not {given:g}")
    return Omega(given, share)


class Localised(NamedTuple):
    """A word with the times that it is recognised in the signals as they are, its drop, and its kind."""

    word: str
    count: int
    drop: int
    kind: str


def localise(
    original: Mapping[str, int],
    changed: Iterable[Mapping[str, int]],
    omega: Omega,
    *,
    minimum: int = 1,
    most: int | None = None,
) -> list[Localised]:
    r"""Tell robust words of a group from others (Algorithm 2 of the paper).

    A word that drops by :math:`\omega` or more is not robust, one that never drops is robust, and others are
    in between; see :func:`word_drops`. The algorithm as printed asks for more than :math:`\omega`, but the
    words that the paper chose need this.

    - ``original``: word -> count over all transcripts of a recogniser for one group.
    - ``changed``: the same for each level of the transformation, at least one.
    - ``omega``: as a count or as a share of the word's count.
    - ``minimum``: words that are recognised less often are left out, but none that a smaller count of
      ``omega`` needs.
    - ``most``: only so many of the most frequent words are looked at; those as frequent in alphabetical
      order.
    - Returns those that lose the largest share first, then the most frequent ones.
    - Raises ValueError: if there is no level.

    >>> levels = [{"bags": 3, "six": 4}, {"bags": 1, "six": 5}]
    >>> found = localise({"bags": 4, "six": 4}, levels, Omega(3, False))
    >>> [(word.word, word.drop, word.kind) for word in found]
    [('bags', 3, 'not robust'), ('six', 0, 'robust')]
    """
    known = frequent_words(original, minimum if omega.share else min(minimum, int(omega.value)), most)
    drops = word_drops(known, changed)

    def kind(word: str) -> str:
        if drops[word] == 0:
            return ROBUST
        return NOT_ROBUST if omega.is_reached(known[word], drops[word]) else BETWEEN

    found = [Localised(word, known[word], drops[word], kind(word)) for word in known]
    return sorted(found, key=lambda own: (-own.drop / own.count, -own.count, own.word))
