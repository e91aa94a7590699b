"""Groups of equal size with equal distributions of the truth, so that a difference is not one of the data.

From the smallest group segments are drawn at random; every other group gives, for each of them, a segment
with the same class or with the nearest label. Metrics of such groups may be compared: a model that is weak on
low arousal does not look unfair to the group that has more of it.

Conventions
-----------
- Result and draws depend on the set of segments, not on their order: groups are taken by sorted name,
  segments by a key that is unique among them.
- Segments without group or truth take no part.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import quoted
from soundcheck.common.precision import DECIMAL
from soundcheck.common.tasks import CLASSIFICATION, REGRESSION

__all__ = ["Balanced", "DrawnSpeakers", "at_most", "balance", "draw_speakers"]


@dataclasses.dataclass(frozen=True, eq=False)
class Balanced:
    """The segments that were drawn.

    Parameters
    ----------
    rows
        int64 ``(groups * segments_per_group,)``; row numbers of the input, in the order of their keys.
    segments_per_group
        Segments in each group.
    wanted
        Segments that were asked for.
    note
        Why there are fewer than wanted, else ``""``.
    """

    rows: np.ndarray
    segments_per_group: int
    wanted: int
    note: str


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnSpeakers:
    """The speakers that were drawn.

    Parameters
    ----------
    rows
        int64; row numbers of their segments, ascending.
    counts
        Group -> sex -> how many speakers were drawn, and how many there are.
    unknown
        Segments with a group whose speaker, or whose speaker's sex, is not among those to draw from.
    """

    rows: np.ndarray
    counts: dict[str, dict[str, tuple[int, int]]]
    unknown: int


def balance(
    truth: Sequence[float] | Sequence[str],
    groups: Sequence[str],
    wanted: int,
    rng: np.random.Generator,
    kind: str,
    order: Sequence[str],
) -> Balanced:
    """Draw equally many segments with the same distribution of the truth from each group.

    Parameters
    ----------
    truth
        Labels, ``(N,)``: numbers or class names.
    groups
        Group of each segment, ``(N,)``; missing ones take no part.
    wanted
        Segments wanted in each group.
    rng
        Makes the draws; seed it with what they are for.
    kind
        ``"regression"``: match the nearest label, of two equally near ones the lower; ``"classification"``:
        match the same class.
    order
        A key for each segment, unique, that says which one it is whatever its row.

    Returns
    -------
    Balanced
        Never more segments a group than wanted. Fewer if the smallest group has fewer or if a class runs out
        in another group: then the surplus segments of that class, the last drawn first, are given up in all
        groups. No rows if there are fewer than two groups.

    Raises
    ------
    ValueError
        If lengths differ, keys are not unique or the kind is unknown.
    """
    if kind not in (REGRESSION, CLASSIFICATION):
        raise ValueError(f"Labels are for {REGRESSION} or {CLASSIFICATION}, not {kind!r}.")
    truth = np.asarray(truth, dtype=np.float64 if kind == REGRESSION else object)
    groups = np.asarray(groups, dtype=object)
    order = np.asarray(order, dtype=object)
    if not len(truth) == len(groups) == len(order):
        raise ValueError(f"{len(truth)} labels, {len(groups)} groups and {len(order)} keys do not fit.")
    if len(set(order)) != len(order):
        raise ValueError("The keys of the segments are not unique.")
    canonical = np.argsort(order, kind="stable")
    usable = ~(pd.isna(groups) | pd.isna(truth))
    canonical = canonical[usable[canonical]]
    codes, names = pd.factorize(groups[canonical], sort=True)
    members = [canonical[codes == n] for n in range(len(names))]
    if len(members) < 2:
        return Balanced(np.zeros(0, dtype=np.int64), 0, wanted, f"{len(members)} of 2 groups needed")

    smallest = int(np.argmin([len(rows) for rows in members]))  # the first of several
    available = len(members[smallest])
    note = ""
    if available < wanted:
        note = f"{available} instead of {wanted} segments a group: {quoted(names[smallest])} has no more"
    drawn = rng.choice(members[smallest], size=min(wanted, available), replace=False)
    others = [rows for n, rows in enumerate(members) if n != smallest]
    other_names = [name for n, name in enumerate(names) if n != smallest]
    if kind == CLASSIFICATION:
        kept, short = _affordable(truth, drawn, others, other_names)
        if short:
            note = f"{len(kept)} instead of {wanted} segments a group: {short}"
        drawn = kept
        matched = [_same_class(truth, drawn, rows, rng) for rows in others]
    else:
        matched = [_nearest(truth, drawn, rows, rng) for rows in others]
    chosen = np.concatenate([drawn, *matched]).astype(np.int64)
    position = np.empty(len(order), dtype=np.int64)
    position[canonical] = np.arange(len(canonical))
    return Balanced(chosen[np.argsort(position[chosen])], len(drawn), wanted, note)


def at_most(
    groups: Sequence[object], segments_per_group: int, rng: np.random.Generator, order: Sequence[str]
) -> np.ndarray:
    """Draw so many segments of each group that has more of them.

    Parameters
    ----------
    groups
        Group of each segment, ``(N,)``; segments without group are left out.
    segments_per_group
        Segments to keep of each group.
    rng
        Makes the draws.
    order
        A unique key for each segment.

    Returns
    -------
    numpy.ndarray
        int64; kept rows, ascending.
    """
    groups, canonical = (
        np.asarray(groups, dtype=object),
        np.argsort(np.asarray(order, dtype=object), kind="stable"),
    )
    codes, names = pd.factorize(groups[canonical], sort=True)
    kept = []
    for n in range(len(names)):
        rows = canonical[codes == n]
        many = len(rows) > segments_per_group
        kept.append(rng.choice(rows, size=segments_per_group, replace=False) if many else rows)
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)


def draw_speakers(
    groups: Sequence[object],
    speakers: Sequence[object],
    sexes: Sequence[object],
    wanted: Mapping[str, int],
    draw: Callable[[list[str]], np.ndarray],
) -> DrawnSpeakers:
    """Draw so many speakers of each sex from each group, all of them where there are fewer.

    Parameters
    ----------
    groups, speakers, sexes
        Of each segment, ``(N,)``; segments without group take no part. A speaker with segments of several
        sexes has the most frequent one.
    wanted
        Sex -> how many speakers of it.
    draw
        Gives a number for each text; the speakers with the smallest ones are drawn. If the numbers depend on
        nothing but the text, another speaker more or less changes one of those drawn at most.
    """
    table = pd.DataFrame({"group": groups, "speaker": speakers, "sex": sexes}, dtype=object)
    table = table.dropna(subset="group")
    known = table.dropna(subset="speaker").groupby(["group", "speaker"], sort=False)["sex"]
    known = known.agg(_most_frequent).rename("sex").reset_index()
    known = known[known["sex"].isin(list(wanted))]
    keys = [f"{group}|{speaker}" for group, speaker in zip(known["group"], known["speaker"], strict=True)]
    known = known.assign(draw=draw(keys), key=keys).sort_values(["draw", "key"], kind="stable")
    drawn = known[known.groupby(["group", "sex"]).cumcount() < known["sex"].map(wanted).astype(int)]
    counts = {}
    for group in sorted(set(table["group"]), key=str):
        there, kept = (each.loc[each["group"] == group, "sex"].value_counts() for each in (known, drawn))
        counts[str(group)] = {sex: (int(kept.get(sex, 0)), int(there.get(sex, 0))) for sex in wanted}
    pairs = pd.MultiIndex.from_frame(table[["group", "speaker"]])
    usable, chosen = (
        pairs.isin(pd.MultiIndex.from_frame(each[["group", "speaker"]])) for each in (known, drawn)
    )
    return DrawnSpeakers(table.index.to_numpy(dtype=np.int64)[chosen], counts, int((~usable).sum()))


def _most_frequent(sexes: pd.Series) -> object:
    """Give the most frequent value, of several the first by name; ``None`` if all are missing."""
    counts = Counter(sexes.dropna())
    return min(counts, key=lambda sex: (-counts[sex], str(sex)), default=None)


def _affordable(
    truth: np.ndarray, drawn: np.ndarray, others: list[np.ndarray], names: list[str]
) -> tuple[np.ndarray, str]:
    """Keep as many drawn segments of each class as every other group can match; say what ran out."""
    stocks = [Counter(truth[rows]) for rows in others]
    left: Counter = Counter({label: min(stock[label] for stock in stocks) for label in set(truth[drawn])})
    kept, out = [], set()
    for row in drawn:
        if left[truth[row]] > 0:
            left[truth[row]] -= 1
            kept.append(row)
        else:
            out.add(truth[row])
    short = []
    for label in sorted(out, key=str):
        scarce = min(range(len(names)), key=lambda n: stocks[n][label])
        short.append(f"{quoted(names[scarce])} has {stocks[scarce][label]} of class {quoted(label)}")
    return np.array(kept, dtype=np.int64), ", ".join(short)


def _same_class(
    truth: np.ndarray, wanted: np.ndarray, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw a row with the same class for each wanted one; there are enough."""
    need = Counter(truth[wanted])
    picked = []
    for label in sorted(need, key=str):
        candidates = rows[truth[rows] == label]
        picked.append(rng.choice(candidates, size=need[label], replace=False))
    return np.concatenate(picked) if picked else np.zeros(0, dtype=np.int64)


def _nearest(truth: np.ndarray, wanted: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the row with the nearest remaining value for each wanted one, in their order.

    Rows are shuffled and then sorted by value, so taking the next row of a value is a uniform draw among
    those that share it. A value without rows points to its neighbours; following and shortening these
    pointers finds the nearest value that has rows in nearly constant time.
    """
    shuffled = rng.permutation(rows)
    by_value = shuffled[np.argsort(truth[shuffled], kind="stable")]
    distinct, starts, counts = np.unique(truth[by_value], return_index=True, return_counts=True)
    values, next_row, left = distinct.tolist(), starts.tolist(), counts.tolist()
    n = len(values)
    # Place 0 and n + 1 are guards: no value there; place i + 1 stands for values[i].
    lower, upper = list(range(n + 2)), list(range(n + 2))
    places = np.searchsorted(distinct, truth[wanted], side="right")  # the last value that is not above
    picked = np.empty(len(wanted), dtype=np.int64)
    for item, (row, place) in enumerate(zip(wanted, places.tolist(), strict=True)):
        below, above = _find(lower, place), _find(upper, place + 1)
        if above == n + 1:
            chosen = below
        elif below == 0:
            chosen = above
        else:
            to_lower = truth[row] - values[below - 1]
            to_upper = values[above - 1] - truth[row]
            # 0.3 lies as far from 0.2 as from 0.4.
            chosen = below if to_lower <= to_upper + DECIMAL else above
        i = chosen - 1
        picked[item] = by_value[next_row[i]]
        next_row[i] += 1
        left[i] -= 1
        if not left[i]:
            lower[chosen], upper[chosen] = chosen - 1, chosen + 1
    return picked


def _find(pointers: list[int], place: int) -> int:
    """Follow pointers to a place that points to itself, shortening the way."""
    while pointers[place] != place:
        pointers[place] = pointers[pointers[place]]
        place = pointers[place]
    return place
