r"""Groups of equal size with equal distributions of the truth, so that a difference is not one of the data.

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
FEWEST = 4  # of a bin, however small the groups are


@dataclasses.dataclass(frozen=True, eq=False)
class Balanced:
    """The segments that were drawn."""

    rows: np.ndarray  # int64 `(groups * segments_per_group,)`; row numbers of the input, ascending
    segments_per_group: int  # segments in each group
    wanted: int  # the most that was requested
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
    columns = {"truth": truth, "group": groups, "draw": draws}
    columns["block"] = np.zeros(len(draws)) if blocks is None else blocks
    frame = pd.DataFrame({name: np.asarray(values, dtype=object) for name, values in columns.items()})
    frame = frame.dropna(subset=["group", "truth"]).astype({"draw": float})
    names = frame["group"].nunique()
    if names < 2:
        return Balanced(np.zeros(0, dtype=np.int64), 0, wanted, f"{names} of 2 groups needed")

    labels = frame["truth"]
    numeric = kind == REGRESSION
    frame["cell"] = label_cells(labels.astype(float), edges) if numeric else labels.factorize(sort=True)[0]
    sizes = frame.groupby(["group", "cell"]).size().unstack(fill_value=0)
    shared = sizes.min(axis=0)
    most = int(shared.sum())
    quota = _shares(shared.to_numpy(), min(wanted, most))
    turn = frame.groupby(["group", "cell", "block"])["draw"].rank(method="first")
    in_turn = frame.assign(turn=turn).sort_values(["turn", "draw"])
    place = in_turn.groupby(["group", "cell"]).cumcount()
    drawn = place.to_numpy() < quota[sizes.columns.get_indexer(in_turn["cell"])]
    what = "of that class" if kind == CLASSIFICATION else "with such labels"
    note = _not_drawn(sizes.sum(axis=1), most, wanted, what)
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
    whole[np.argsort(whole - exact, kind="stable")[: total - whole.sum()]] += 1
    return whole


def _not_drawn(sizes: pd.Series, most: int, wanted: int, what: str) -> str:
    """Say how many segments of each group were not drawn, and why."""
    notes = []
    if alone := {name: size - most for name, size in sizes.items() if size > most}:
        listed = ", ".join(f"{alone[name]} of {sizes[name]} {quoted(name)}" for name in alone)
        notes.append(f"not used, because another group has fewer {what}: {listed}")
    if most > wanted:
        notes.append(f"of {most} each only the {wanted} that the suite wants were drawn")
    if notes and most < wanted:
        notes.insert(0, f"{counted(most, 'segment')} a group instead of {wanted}")
    return "; ".join(notes)


def at_most(
    groups: Sequence[object], segments_per_group: int, rng: np.random.Generator, order: Sequence[str]
) -> np.ndarray:
    """Draw so many segments of each group that has more of them."""
    canonical = np.argsort(np.asarray(order, dtype=object), kind="stable")
    codes, names = pd.factorize(np.asarray(groups, dtype=object)[canonical], sort=True)
    drawn = [np.zeros(0, dtype=np.int64)]
    for n in range(len(names)):
        rows = canonical[codes == n]
        many = len(rows) > segments_per_group
        drawn.append(rng.choice(rows, size=segments_per_group, replace=False) if many else rows)
    return np.sort(np.concatenate(drawn))


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
        of_drawn, of_known = (
            each.loc[each["group"] == group, "sex"].value_counts() for each in (drawn, known)
        )
        counts[str(group)] = {sex: (int(of_drawn.get(sex, 0)), int(of_known.get(sex, 0))) for sex in wanted}
    pairs = pd.MultiIndex.from_frame(table[["group", "speaker"]])
    usable, chosen = (
        pairs.isin(pd.MultiIndex.from_frame(each[["group", "speaker"]])) for each in (known, drawn)
    )
    return DrawnSpeakers(table.index.to_numpy(dtype=np.int64)[chosen], counts, int((~usable).sum()))


def _most_frequent(sexes: pd.Series) -> object:
    """Give the most frequent value, of several the first by name; ``None`` if all are missing."""
    counts = Counter(sexes.dropna())
    return min(counts, key=lambda sex: (-counts[sex], str(sex)), default=None)


# What sizes of groups decide: least numbers of bins, and the equal sizes that unequal ones equal


def least_per_bin(published: Mapping[str, int], size: float) -> int:
    """Give the fewest segments that a bin needs in all groups together to be judged.

    >>> [least_per_bin({"count": 67, "segments": 2000}, size) for size in (4000, 2000, 1000, 10)]
    [67, 67, 34, 4]
    """
    count = published["count"]
    if size >= published["segments"]:
        return count
    return min(count, max(FEWEST, round(count * size / published["segments"])))


def least_predictions(published: Mapping[str, int], size: float) -> int:
    """Give the fewest predictions of a bin or class, in all groups together, whose precision is judged.

    Of groups of the published size labels alone decide, as published; smaller groups need as many predictions
    as :func:`least_per_bin` wants of labels.

    >>> [least_predictions({"count": 67, "segments": 1000}, size) for size in (1000, 500, 10)]
    [0, 34, 4]
    """
    return 0 if size >= published["segments"] else least_per_bin(published, size)


def equal_size(sizes: Sequence[int], tested: int) -> int:
    r"""Give the size of equal groups whose differences by chance are as large as those of unequal groups.

    A mean over :math:`n` independent segments has a variance in proportion to :math:`1/n`. So the mean of
    group :math:`g` minus the average over the means of all :math:`G` groups varies as much as with groups of

    .. math:: \frac{1 - 1/G}{(1 - 1/G)^2 / n_g + \sum_{j \neq g} 1 / (G^2 n_j)}

    segments each.

    >>> equal_size([60, 60, 60], 0), equal_size([800, 90, 90], 0), equal_size([800, 90, 90], 1)
    (60, 220, 106)
    """
    counts = np.asarray(sizes, dtype=np.float64)
    if len(counts) < 2 or counts.min() < 1:
        raise ValueError("Two groups or more with at least one segment each are needed.")
    of_tested = 1 - 1 / len(counts)
    weights = np.full(len(counts), 1 / len(counts))
    weights[tested] = of_tested
    return round(of_tested / float((weights**2 / counts).sum()))
