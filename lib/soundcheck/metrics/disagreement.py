r"""How much two recognisers disagree about groups of speakers, as statistics with intervals.

The computations are those of :mod:`soundcheck.metrics.differential`, written as sums over segments: so the
distances of all groups and settings, the proportion of comparisons in which a group is violated and that of
words which vanish have replicates like any other statistic, and a violation has a certainty.

Conventions
-----------
- A *setting* is what was done to the signals; the first one stands for the signals as they are.
- A segment counts only if both recognisers answered under every setting that is needed, so that all distances
  of a group under these rest on the same segments.
- Averages over segments are *micro* (edits of all segments by words of all segments) or *macro* (the mean of
  the segments' own distances). A segment in which neither wrote a word has none and counts for neither.
- Distances are ordered by group, then by setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Columns, Contributions, Statistic, Tallies, ratio
from soundcheck.metrics.differential import COLUMNS, dropped, exceeds, word_edits, words

AVERAGES = ("micro", "macro")

Texts = Sequence[str | None]
Setting = tuple[str, Hashable]  # transformation and level; the first setting is ("", "")


def group_distances(
    first: Sequence[Texts],
    second: Sequence[Texts],
    groups: Sequence[np.ndarray],
    average: str = "micro",
    needed: Sequence[bool] | None = None,
) -> Statistic:
    """Measure how much two recognisers disagree on each group under each setting.

    - ``first, second``: transcripts of both, ``(S, N)``: one sequence of ``N`` texts a setting; ``None`` = no
      answer.
    - ``groups``: masks of the ``G`` groups, bool ``(N,)`` each.
    - ``average``: ``"micro"`` or ``"macro"``; see the conventions of this module.
    - ``needed``: settings under which a segment needs both answers to count, bool ``(S,)``; default all.
      Under others a segment without both adds nothing.
    - Returns ``G * S`` distances from 0 to 1, NaN where nobody wrote a word; see the conventions of this
      module.
    """
    if average not in AVERAGES:
        raise ValueError(f"unknown average {average!r}, allowed: {', '.join(AVERAGES)}")
    settings, length = len(first), len(groups[0])
    edits, longer = np.zeros((2, settings, length))
    answered = np.ones(length, dtype=bool)
    for place, (one, two) in enumerate(zip(first, second, strict=True)):
        for n, (left, right) in enumerate(zip(one, two, strict=True)):
            if left is None or right is None:
                answered[n] &= needed is not None and not needed[place]
                continue
            edits[place, n], longer[place, n] = word_edits(left, right)
    parts: tuple[Contributions, ...]
    if average == "macro":  # sums of distances, and of segments that have one
        known = longer > 0
        each = np.divide(edits, longer, out=np.zeros_like(edits), where=known)
        columns = tuple(np.concatenate([each, known]))
        parts = tuple(Columns(mask & answered, mask & ~answered, columns) for mask in groups)
    else:
        tallies = np.concatenate([edits, longer]).T.copy()
        parts = tuple(Tallies(mask & answered, mask & ~answered, tallies) for mask in groups)

    def split(sums: np.ndarray) -> np.ndarray:
        return sums.reshape(*sums.shape[:-1], len(groups), 1 + 2 * settings)

    def compute(sums: np.ndarray) -> np.ndarray:
        own = split(sums)
        found = ratio(own[..., 1 : 1 + settings], own[..., 1 + settings :])
        return found.reshape(*sums.shape[:-1], -1)

    def count(sums: np.ndarray) -> np.ndarray:
        return np.repeat(split(sums)[..., 0], settings, axis=-1)

    return Statistic(parts, compute, count, tuple(str(n) for n in range(len(groups) * settings)))


def distance_table(
    distances: np.ndarray, pair: str, settings: Sequence[Setting], groups: Sequence[str]
) -> pd.DataFrame:
    """Write distances as :func:`soundcheck.metrics.differential.violations` wants them.

    - ``distances``: values of :func:`group_distances`, ``(G * S,)``.
    - ``settings``: the settings, in order; the first is ``("", "")``.
    - ``groups``: names of the groups, in order.
    """
    table = np.reshape(distances, (len(groups), len(settings)))
    rows = [
        (pair, *setting, group, table[g, s])
        for s, setting in enumerate(settings)
        for g, group in enumerate(groups)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def degradations(distances: np.ndarray, groups: int) -> np.ndarray:
    """Subtract from the distances of each group that for the signals as they are.

    - ``distances``: ``(..., G * S)``.
    - ``groups``: number ``G`` of groups.
    - Returns ``(..., G, S - 1)``.
    """
    table = np.reshape(distances, (*distances.shape[:-1], groups, -1))
    return table[..., 1:] - table[..., :1]


def violation_proportions(
    distances: Statistic, names: Sequence[str], tau: float, counted: np.ndarray | None = None
) -> Statistic:
    r"""Compute in which proportion of all comparisons each group is violated.

    Group ``B`` is violated against another one under a setting if its degradation is larger by more than
    :math:`\tau`. A group is compared with every other group under every setting.

    - ``distances``: from :func:`group_distances`.
    - ``names``: names of the ``G`` groups, the labels of the values.
    - ``tau``: by how much degradations may differ.
    - ``counted``: settings that count, bool ``(S - 1,)``; default all.
    - Returns ``G`` proportions from 0 to 1; NaN where there is nothing to compare with.
    """
    groups = len(names)

    def compute(sums: np.ndarray) -> np.ndarray:
        found = degradations(distances.compute(sums), groups)
        if counted is not None:
            found = found[..., counted]
        shares = np.full((*found.shape[:-2], groups), np.nan)
        for base in range(groups):  # one at a time: all pairs of groups in all replicates are too many
            others = np.delete(found, base, axis=-2)
            excess = found[..., base : base + 1, :] - others
            known = np.isfinite(excess).sum(axis=(-2, -1))
            shares[..., base] = ratio(exceeds(excess, tau).sum(axis=(-2, -1)), known)
        return shares

    def count(sums: np.ndarray) -> np.ndarray:
        settings = len(distances.labels) // groups
        return distances.count(sums)[..., ::settings]

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        known = compute(sums)
        return tuple("" if np.isfinite(value) else "no other group to compare with" for value in known)

    return Statistic(distances.parts, compute, count, tuple(names), reasons)


def violation_certainties(
    replicates: np.ndarray, found: pd.DataFrame, settings: Sequence[Setting], groups: Sequence[str]
) -> np.ndarray:
    """Say how sure violations are: the proportion of replicates in which the excess exceeds its tau.

    - ``replicates``: replicates of :func:`group_distances`, ``(replicates, G * S)``.
    - ``found``: rows of :func:`soundcheck.metrics.differential.violations`, of one pair.
    - ``settings, groups``: see :func:`distance_table`.
    - Returns proportions from 0 to 1, ``(len(found),)``; NaN without replicates.
    """
    if not len(replicates) or not len(found):
        return np.full(len(found), np.nan)
    change = degradations(replicates, len(groups))
    place = {setting: n for n, setting in enumerate(settings[1:])}
    number = {group: n for n, group in enumerate(groups)}
    shares = []
    for row in found.itertuples():
        s = place[row.transformation, row.level]
        excess = change[:, number[row.base], s] - change[:, number[row.other], s]
        known = np.isfinite(excess)
        shares.append(exceeds(excess[known], row.tau).mean() if known.any() else np.nan)
    return np.array(shares)


def dropped_words(original: Texts, changed: Sequence[Texts], vocabulary: Sequence[str]) -> Statistic:
    r"""Compute the proportion of recognised words that vanish at the worst level of a transformation.

    :math:`\sum_w \max(c_w - \min_\theta c_{w\theta}, 0) / \sum_w c_w` with the counts :math:`c_w` of each
    word in the transcripts of the signals as they are, and :math:`c_{w\theta}` under each level.

    - ``original``: transcripts of the signals as they are, ``(N,)``; ``None`` = no answer.
    - ``changed``: the same for each level of the transformation.
    - Returns one proportion from 0 to 1; it grows by chance where a word occurs seldom, so groups of very
      different sizes cannot be compared.
    """
    series = [original, *changed]
    length, size = len(original), len(vocabulary)
    answered = np.array([all(texts[n] is not None for texts in series) for n in range(length)], dtype=bool)
    place = {word: n for n, word in enumerate(vocabulary)}
    columns = np.zeros((len(series), size, length))
    for level, texts in enumerate(series):
        for n in np.flatnonzero(answered):
            for word, count in Counter(words(texts[n])).items():
                if word in place:
                    columns[level, place[word], n] = count

    def compute(sums: np.ndarray) -> np.ndarray:
        counts = sums[..., 1:].reshape(*sums.shape[:-1], len(series), size)
        drops, before = dropped(counts), counts[..., 0, :]
        return ratio(*(part.sum(axis=-1, keepdims=True) for part in (drops, before)))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[1 : 1 + size].sum() > 0 else "no words are recognised",)

    part = Tallies(answered, ~answered, columns.reshape(-1, length).T.copy())
    return Statistic((part,), compute, lambda sums: sums[..., :1], ("",), reasons)
