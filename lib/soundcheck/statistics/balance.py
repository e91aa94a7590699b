"""Groups of equal size with equal distributions of the truth, so that a difference is not one of the data.

The truth is cut into cells, its classes or ranges of its values, and every group gives equally many segments
of each cell. Metrics of such groups may be compared: a model that is weak on low arousal does not look unfair
to the group that has more of it.

Conventions
-----------
- Draws are numbers that belong to segments, from :func:`soundcheck.common.seeds.uniform`; so the result
  depends on the set of segments, not on their order.
- Segments without group or truth take no part.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import CLASSIFICATION, REGRESSION
from soundcheck.common.wording import counted

CELLS = 10  # of labels that are numbers


@dataclasses.dataclass(frozen=True, eq=False)
class Balanced:
    """The segments that were drawn."""

    rows: np.ndarray  # int64 `(groups * segments_per_group,)`; row numbers of the input, ascending
    segments_per_group: int  # segments in each group
    wanted: int  # the most that was asked for
    note: str  # how many segments were not drawn, and why; `""` if all were


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnSpeakers:
    """The speakers that were drawn."""

    rows: np.ndarray  # int64; row numbers of their segments, ascending
    # group -> sex -> how many speakers were drawn, and how many there are
    counts: dict[str, dict[str, tuple[int, int]]]
    # segments with a group whose speaker, or whose speaker's sex, is not among those to draw from
    unknown: int


def balance(
    truth: Sequence[float] | Sequence[str],
    groups: Sequence[str],
    wanted: int,
    draws: Sequence[float],
    kind: str,
    blocks: Sequence[object] | None = None,
    edges: Sequence[float] = (),
) -> Balanced:
    """Draw equally many segments of each cell of the truth from each group.

    As many as the group with the fewest has in a cell; of these, if they are more than wanted in all cells
    together, the same proportion of each cell.
    """
    if kind not in (REGRESSION, CLASSIFICATION):
        raise ValueError(f"Labels are for {REGRESSION} or {CLASSIFICATION}, not {kind!r}.")
    columns = {"truth": truth, "group": groups, "draw": draws}
    columns["block"] = np.zeros(len(draws)) if blocks is None else blocks
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Lengths differ: {lengths}.")
    frame = pd.DataFrame({name: np.asarray(values, dtype=object) for name, values in columns.items()})
    frame = frame.dropna(subset=["group", "truth"]).astype({"draw": float})
    names = sorted(frame["group"].unique())
    if len(names) < 2:
        return Balanced(np.zeros(0, dtype=np.int64), 0, wanted, f"{len(names)} of 2 groups needed")

    labels = frame["truth"]
    frame["cell"] = (
        label_cells(labels.astype(float), edges) if kind == REGRESSION else labels.factorize(sort=True)[0]
    )
    sizes = frame.groupby(["group", "cell"]).size().unstack(fill_value=0)
    shared = sizes.min(axis=0)
    found = int(shared.sum())
    quota = _shares(shared.to_numpy(), min(wanted, found))
    turn = frame.groupby(["group", "cell", "block"])["draw"].rank(method="first")
    in_turn = frame.assign(turn=turn).sort_values(["turn", "draw"])
    place = in_turn.groupby(["group", "cell"]).cumcount()
    drawn = place.to_numpy() < quota[sizes.columns.get_indexer(in_turn["cell"])]
    note = _not_drawn(
        sizes.sum(axis=1), found, wanted, "of that class" if kind == CLASSIFICATION else "with such labels"
    )
    return Balanced(np.sort(in_turn.index[drawn].to_numpy(dtype=np.int64)), int(quota.sum()), wanted, note)


def label_cells(labels: Sequence[float], edges: Sequence[float] = ()) -> np.ndarray:
    """Cut labels into ten cells with about as many of them each, int64 ``(N,)``; numbers rise with labels.

    Equal labels are in the same cell. Of up to ten different labels each is a cell of its own.

    >>> label_cells([0.5, 0.25, 0.5, 0.75]).tolist()
    [1, 0, 1, 2]
    """
    labels = np.asarray(labels, dtype=np.float64)
    highest = np.unique(labels)  # label of each cell
    if len(highest) > CELLS:
        quantiles = np.quantile(labels, np.arange(1, CELLS) / CELLS, method="inverted_cdf")
        highest = np.unique([*quantiles, *edges])
    return np.searchsorted(highest, labels, side="left")


def _shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """Split a total in proportion to sizes, whole numbers; what is left goes to the largest fractions."""
    exact = sizes * (total / max(1, sizes.sum()))
    whole = np.floor(exact).astype(np.int64)
    largest = np.argsort(whole - exact, kind="stable")[: total - whole.sum()]
    whole[largest] += 1
    return whole


def _not_drawn(sizes: pd.Series, found: int, wanted: int, what: str) -> str:
    """Say how many segments of each group were not drawn, and why."""
    told = []
    if alone := {name: size - found for name, size in sizes.items() if size > found}:
        listed = ", ".join(f"{alone[name]} of {sizes[name]} {quoted(name)}" for name in alone)
        told.append(f"not used, because another group has fewer {what}: {listed}")
    if found > wanted:
        told.append(f"of {found} each only the {wanted} that the suite wants were drawn")
    if told and found < wanted:
        told.insert(0, f"{counted(found, 'segment')} a group instead of {wanted}")
    return "; ".join(told)


def at_most(
    groups: Sequence[object], segments_per_group: int, rng: np.random.Generator, order: Sequence[str]
) -> np.ndarray:
    """Draw so many segments of each group that has more of them."""
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
    """Draw so many speakers of each sex from each group, all of them where there are fewer."""
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
