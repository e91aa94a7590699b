r"""Differential tests of ASR models without transcripts: how much two of them disagree, and about whom.

Two models that hear the same should write the same. Where a change of the signal makes them disagree more,
one of them fails; where that happens to one group more than to another, the change is unfair to it
:cite:`rajan2022`.

Conventions
-----------
- A *setting* is what was done to the signals, a transformation and a level; the first one, ``("", "")``, is
  the signals as they are. Distances are ordered by group, then by setting.
- The *distance* of a group under a setting is an average over its segments: *micro* (word edits of all
  segments by the words of the longer transcripts) or *macro* (the mean of the segments' own distances). A
  segment in which neither model wrote a word has none and counts for neither. Segments need the predictions
  of both models under every setting that counts.
- The *degradation* of a group is its distance under a setting minus its distance for the signals as they are.
- A base group is *violated* against another group if its degradation exceeds the other's by more than
  :math:`\tau`: strictly, and in this direction only. Every group is the base once.
- Counts are cumulative: what exceeds 0.15 exceeds 0.01 as well, and counts for both.
- A word *drops* by how often it was recognised in the signals as they are minus the lowest count over the
  levels of a transformation, at least 0.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.common.tasks import DECIMAL
from soundcheck.metrics.additive import Columns, Statistic, Texts, of_columns, ratio
from soundcheck.metrics.word_errors import characters_apart

AVERAGES = ("micro", "macro")
TAUS = (0.01, 0.05, 0.1, 0.15)
COLUMNS = ("pair", "transformation", "level", "group", "distance")
NO_WORDS = ("", "%hesitation")
ROBUST, NOT_ROBUST, BETWEEN = "robust", "not robust", "in between"  # kinds of words
MEAN = "mean of these"  # row of :func:`against_base`

_BETWEEN = re.compile(r"(?:[\s\-,;.]|:(?![^\W\d_]))+")  # a colon before a letter is inside of a word: EU:n

Setting = tuple[str, Hashable]


def words(transcript: str) -> list[str]:
    """Split a transcript in lower case: at blanks, ``- : , ; .``, and where a script has none; no fillers.

    >>> words("Please, call Stella. %HESITATION Six spoons")
    ['please', 'call', 'stella', 'six', 'spoons']
    """
    return [word for word in _BETWEEN.split(characters_apart(transcript.lower())) if word not in NO_WORDS]


def word_edits(first: str, second: str) -> tuple[int, int]:
    """Compare two transcripts: word edits, and words of the longer one.

    >>> word_edits("six thick slabs", "six thin slabs of")
    (2, 4)
    """
    left, right = words(first), words(second)
    return Levenshtein.distance(left, right), max(len(left), len(right))


def exceeds(excess: np.ndarray, tau: float) -> np.ndarray:
    r"""Say whether degradations are larger than others by more than :math:`\tau`; 0.35 - 0.25 is not."""
    return excess > tau + DECIMAL


def group_distances(
    first: Sequence[Texts],
    second: Sequence[Texts],
    groups: Sequence[np.ndarray],
    average: str = "micro",
    needed: Sequence[bool] | None = None,
) -> Statistic:
    """Measure how much two models disagree on each group under each setting.

    - ``first, second``: transcripts of both, one sequence of ``N`` texts a setting; ``None`` if missing.
    - ``groups``: masks of the ``G`` groups, bool ``(N,)`` each.
    - ``needed``: settings under which a segment needs both predictions to count, bool ``(S,)``; default all.
      Under others a segment without both adds nothing.
    - Returns ``G * S`` distances from 0 to 1, NaN where nobody wrote a word.

    >>> plain, noisy = ["go on", "stop"], ["go in", "stop"]
    >>> masks = [np.array([True, False]), np.array([False, True])]
    >>> group_distances([plain, plain], [plain, noisy], masks)
    Statistic({'0': 0.0, '1': 0.5, '2': 0.0, '3': 0.0})
    """
    if average not in AVERAGES:
        raise ValueError(f"unknown average {average!r}, allowed: {', '.join(AVERAGES)}")
    settings, length = len(first), len(groups[0])
    edits, longer = np.zeros((2, settings, length))
    complete = np.ones(length, dtype=bool)
    for place, (first_texts, second_texts) in enumerate(zip(first, second, strict=True)):
        for n, (left, right) in enumerate(zip(first_texts, second_texts, strict=True)):
            if left is None or right is None:
                complete[n] &= needed is not None and not needed[place]
                continue
            edits[place, n], longer[place, n] = word_edits(left, right)
    if average == "macro":  # sums of distances, and of segments that have one
        edits, longer = np.divide(edits, longer, out=np.zeros_like(edits), where=longer > 0), longer > 0
    columns = tuple(np.concatenate([edits, longer]))

    def split(sums: np.ndarray) -> np.ndarray:
        return sums.reshape(*sums.shape[:-1], len(groups), 1 + 2 * settings)

    def compute(sums: np.ndarray) -> np.ndarray:
        of_groups = split(sums)
        distances = ratio(of_groups[..., 1 : 1 + settings], of_groups[..., 1 + settings :])
        return distances.reshape(*sums.shape[:-1], -1)

    return Statistic(
        tuple(Columns(mask & complete, mask & ~complete, columns) for mask in groups),
        compute,
        lambda sums: np.repeat(split(sums)[..., 0], settings, axis=-1),
        tuple(str(n) for n in range(len(groups) * settings)),
    )


def degradations(distances: np.ndarray, groups: int) -> np.ndarray:
    """Subtract the distances for the signals as they are: ``(..., G * S)`` to ``(..., G, S - 1)``."""
    table = np.reshape(distances, (*distances.shape[:-1], groups, -1))
    return table[..., 1:] - table[..., :1]


def violation_proportions(
    distances: Statistic, names: Sequence[str], tau: float, counted: np.ndarray | None = None
) -> Statistic:
    r"""Proportion of comparisons with other groups, under every setting, in which a group is violated.

    - ``distances``: from :func:`group_distances`; ``names``: of the ``G`` groups, the labels of the values.
    - ``counted``: settings that count, bool ``(S - 1,)``; default all.
    - Returns ``G`` proportions from 0 to 1; NaN where there is nothing to compare with.

    >>> plain, noisy = ["go on", "stop"], ["go in", "stop"]
    >>> masks = [np.array([True, False]), np.array([False, True])]
    >>> distances = group_distances([plain, plain], [plain, noisy], masks)
    >>> violation_proportions(distances, ["a", "b"], 0.1)
    Statistic({'a': 1.0, 'b': 0.0})
    """
    groups = len(names)

    def compute(sums: np.ndarray) -> np.ndarray:
        change = degradations(distances.compute(sums), groups)
        if counted is not None:
            change = change[..., counted]
        proportions = np.full((*change.shape[:-2], groups), np.nan)
        for base in range(groups):  # one at a time: all pairs of groups in all replicates are too many
            excess = change[..., base : base + 1, :] - np.delete(change, base, axis=-2)
            known = np.isfinite(excess).sum(axis=(-2, -1))
            proportions[..., base] = ratio(exceeds(excess, tau).sum(axis=(-2, -1)), known)
        return proportions

    def count(sums: np.ndarray) -> np.ndarray:
        return distances.count(sums)[..., :: len(distances.labels) // groups]

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return tuple(
            "" if np.isfinite(value) else "no other group to compare with" for value in compute(sums)
        )

    return Statistic(distances.parts, compute, count, tuple(names), reasons)


# Tables of violations (Algorithm 1 of the paper)


def distance_table(
    distances: np.ndarray, pair: str, settings: Sequence[Setting], groups: Sequence[str]
) -> pd.DataFrame:
    """Write the values of :func:`group_distances` as a table, columns :data:`COLUMNS`."""
    table = np.reshape(distances, (len(groups), len(settings)))
    rows = [
        (pair, *setting, group, table[g, s])
        for s, setting in enumerate(settings)
        for g, group in enumerate(groups)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def violations(
    distances: pd.DataFrame, taus: Sequence[float] = TAUS, excluded: Collection[Setting] = ()
) -> pd.DataFrame:
    """Find all violations of fairness in tables of distances, from :func:`distance_table`.

    A setting that a group has no distance for (NaN) is not compared. Returns one row a violation:
    ``pair, transformation, level, tau, base, other, excess``; the last is the degradation of the base minus
    that of the other group.
    """
    by_group = distances.groupby(["pair", "group"], sort=False)["distance"]
    changes = distances.assign(distance=by_group.transform(lambda settings: settings - settings.iloc[0]))
    settings = zip(changes["transformation"], changes["level"], strict=True)
    counted = [setting[0] != "" and setting not in excluded for setting in settings]
    return _exceeding(changes.loc[counted], ["pair", "transformation", "level"], taus)


def differences(distances: pd.DataFrame, taus: Sequence[float] = TAUS) -> pd.DataFrame:
    """Find groups that two models disagree more about than about others before anything is changed.

    Returns one row a difference: ``pair, tau, base, other, excess``; the last is the distance of the base
    minus that of the other group.
    """
    return _exceeding(distances[distances["transformation"].eq("")], ["pair"], taus)


def _exceeding(table: pd.DataFrame, places: list[str], taus: Sequence[float]) -> pd.DataFrame:
    """List within each place, for each tau, the groups whose distance exceeds another one's by more."""
    rows = []
    for place, part in table.groupby(places, sort=False):
        groups, values = part["group"].to_numpy(), part["distance"].to_numpy(dtype=float)
        excess = values[:, None] - values[None, :]
        for tau in taus:
            for base, other in zip(*np.nonzero(exceeds(excess, tau)), strict=True):
                rows.append((*place, tau, groups[base], groups[other], excess[base, other]))
    return pd.DataFrame(rows, columns=[*places, "tau", "base", "other", "excess"])


def violation_certainties(
    replicates: np.ndarray, violations: pd.DataFrame, settings: Sequence[Setting], groups: Sequence[str]
) -> np.ndarray:
    """Say how sure violations of one pair are: the proportion of replicates in which the excess exceeds tau.

    - ``replicates``: of :func:`group_distances`, ``(replicates, G * S)``; NaN without any.
    - ``settings, groups``: see :func:`distance_table`.
    """
    if not len(replicates) or not len(violations):
        return np.full(len(violations), np.nan)
    settings, groups = list(settings), list(groups)
    change = degradations(replicates, len(groups))
    shares = []
    for row in violations.itertuples():
        s = settings.index((row.transformation, row.level)) - 1
        base, other = (change[:, groups.index(group), s] for group in (row.base, row.other))
        excess = base - other
        known = np.isfinite(excess)
        shares.append(exceeds(excess[known], row.tau).mean() if known.any() else np.nan)
    return np.array(shares)


def counts(
    violations: pd.DataFrame, groups: Sequence[str], by: str = "", rows: Sequence[Hashable] | None = None
) -> pd.DataFrame:
    """Count violations, or differences, by base group, in the layout of the paper's table.

    - ``groups``: all groups, in the order of the columns; one without violations counts 0.
    - ``by``: ``"tau"``, ``"pair"`` or ``"transformation"`` for a row each; empty for one row, ``"all"``.
    - ``rows``: the rows in order; one without violations counts 0. Default: those that have any, sorted.
    """
    kinds = violations[by] if by else pd.Series("all", index=violations.index)
    empty = pd.DataFrame(index=[] if by else ["all"])
    table = pd.crosstab(kinds, violations["base"]) if len(violations) else empty
    if rows is not None:
        table = table.reindex(index=list(rows))
    return table.reindex(columns=list(groups)).fillna(0).astype(int)


def against_base(counted: Mapping[str, int] | pd.Series, base: str = "") -> tuple[str, pd.DataFrame]:
    """Compare the violations of all groups with those of one of them, as the paper does.

    - ``base``: the group that the others are compared with; if it is none of them, the first of those with
      the fewest.
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


# Words that vanish (Algorithm 2 of the paper)


def _drops(counts: np.ndarray) -> np.ndarray:
    """Give the drop of each word from counts ``(..., 1 + levels, words)``; the signals as they are first."""
    return np.maximum(counts[..., 0, :] - counts[..., 1:, :].min(axis=-2), 0)


def dropped_words(original: Texts, changed: Sequence[Texts], vocabulary: Sequence[str]) -> Statistic:
    r"""Proportion of recognised words that vanish at the worst level of a transformation.

    :math:`\sum_w \max(c_w - \min_\theta c_{w\theta}, 0) / \sum_w c_w` with the counts :math:`c_w` of each
    word in the transcripts of the signals as they are, and :math:`c_{w\theta}` under each level. It grows by
    chance where a word occurs seldom, so groups of very different sizes cannot be compared.

    - ``original, changed``: transcripts ``(N,)`` of the signals as they are, and for each level; ``None`` if
      missing.

    >>> dropped_words(["go on", "go"], [["go", "go"], ["on", "go"]], ["go", "on"])
    Statistic(0.666666666667)
    """
    levels = [original, *changed]
    length, size = len(original), len(vocabulary)
    complete = np.array([all(texts[n] is not None for texts in levels) for n in range(length)], dtype=bool)
    place = {word: n for n, word in enumerate(vocabulary)}
    columns = np.zeros((len(levels), size, length))
    for level, texts in enumerate(levels):
        for n in np.flatnonzero(complete):
            for word, count in Counter(words(texts[n])).items():
                if word in place:
                    columns[level, place[word], n] = count

    def compute(sums: np.ndarray) -> np.ndarray:
        counts = sums[..., 1:].reshape(*sums.shape[:-1], len(levels), size)
        return ratio(*(part.sum(axis=-1, keepdims=True) for part in (_drops(counts), counts[..., 0, :])))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[1 : 1 + size].sum() > 0 else "no words are recognised",)

    return of_columns(complete, ~complete, columns.reshape(-1, length), compute, reasons=reasons)


def word_counts(transcripts: Iterable[str | None]) -> Counter[str]:
    """Count how often each word stands in transcripts; missing ones are passed over."""
    return Counter(word for text in transcripts if text is not None for word in words(text))


def frequent_words(counts: Mapping[str, int], minimum: int = 1, most: int | None = None) -> dict[str, int]:
    """Keep words with at least ``minimum``, the ``most`` most frequent; equals in alphabetical order.

    >>> frequent_words({"b": 2, "a": 2, "c": 3, "d": 1}, minimum=2, most=2)
    {'c': 3, 'a': 2}
    """
    frequent = sorted((-count, word) for word, count in counts.items() if count >= minimum)
    return {word: int(-count) for count, word in frequent[:most]}


def word_drops(original: Mapping[str, int], changed: Iterable[Mapping[str, int]]) -> dict[str, int]:
    r"""Give the drop of every word of ``original`` from counts of words, for each level in ``changed``.

    >>> word_drops({"bags": 4, "six": 4}, [{"bags": 3, "six": 4}, {"bags": 1, "six": 5}])
    {'bags': 3, 'six': 0}
    """
    levels = [original, *changed]
    counts = np.array([[level.get(word, 0) for word in original] for level in levels], dtype=int)
    return dict(zip(original, _drops(counts).tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class Omega:
    r"""The :math:`\omega` of Algorithm 2: the drop from which on a word is not robust."""

    # a count, at least 1; or a share of the times that a word is recognised, above 0 and at most 1
    value: float
    share: bool  # which of them it is

    def __str__(self) -> str:
        return f"{100 * self.value:g}\xa0%" if self.share else f"{self.value:g}"


def read_omega(given: object, model: str = "") -> Omega:
    r"""Read :math:`\omega` as threshold files write it; raises ValueError that says what is wrong.

    - ``given``: ``{"count": 3}`` or ``{"share": 0.5}``; a number below 1 is a share, a whole one from 1 on a
      count; or a mapping of models to any of these, with one for all others under ``default``.

    >>> str(read_omega({"count": 3})), str(read_omega(0.5))
    ('3', '50\xa0%')
    >>> read_omega({"default": 3, "ibm": 2}, "ibm").value
    2
    """
    if isinstance(given, Mapping) and not {"count", "share"} & set(given):
        if "default" not in given:
            raise ValueError("ω has no default for models that are not named")
        for name, of_model in given.items():
            if isinstance(of_model, Mapping) and not {"count", "share"} & set(of_model):
                raise ValueError(f"ω of {name} is neither a count nor a share")
            read_omega(of_model)
        return read_omega(given.get(model, given["default"]))
    kind = None
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise ValueError("ω is either a count or a share, not both")
        ((kind, given),) = given.items()
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise ValueError("ω is not a number")
    share = kind == "share" if kind else given < 1
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
    r"""Tell robust words of a group from others, from counts of words as in :func:`word_drops`.

    A word that drops by :math:`\omega` or more is not robust, one that never drops is robust, and others are
    in between. The algorithm as printed asks for more than :math:`\omega`, but the words that the paper chose
    need this.

    - ``minimum``: words that are recognised less often are left out, but none that a smaller count of
      ``omega`` needs.
    - ``most``: only so many of the most frequent words are looked at.
    - Returns those that lose the largest share first, then the most frequent ones.

    >>> levels = [{"bags": 3, "six": 4}, {"bags": 1, "six": 5}]
    >>> words = localise({"bags": 4, "six": 4}, levels, Omega(3, False))
    >>> [(word.word, word.drop, word.kind) for word in words]
    [('bags', 3, 'not robust'), ('six', 0, 'robust')]
    """
    known = frequent_words(original, minimum if omega.share else min(minimum, int(omega.value)), most)
    localised = []
    for word, drop in word_drops(known, changed).items():
        enough = (omega.value * known[word] if omega.share else omega.value) - DECIMAL
        kind = ROBUST if drop == 0 else NOT_ROBUST if drop >= enough else BETWEEN
        localised.append(Localised(word, known[word], drop, kind))
    return sorted(localised, key=lambda word: (-word.drop / word.count, -word.count, word.word))
