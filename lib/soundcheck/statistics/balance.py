r"""Groups that are alike: of equal size with equal distributions of the truth, or adjusted by strata.

The truth is cut into cells, its classes or ranges of its values, and every group gives equally many segments
of each cell. Metrics of such groups may be compared: a model that is weak on low arousal does not look unfair
to the group that has more of it.

Conventions
-----------
- Draws are numbers that belong to segments, from :func:`soundcheck.common.seeds.uniform`; so the result
  depends on the set of segments, not on their order.
- Segments without group or truth take no part.
- *Adjusting* compares a group with the others as if both had the same of something. Numbers, such as a
  signal-to-noise ratio, are cut at their quantiles into strata (cells); words, such as a device, are a cell
  each; two columns make the cells of their product. Within a cell the sides still differ a little, so ten
  leave about a twentieth of a difference that is all due to a number, and five about a tenth; Cochran (1968),
  The effectiveness of adjustment by subclassification in removing bias in observational studies.
- A cell needs :data:`LEAST_SPEAKERS` speakers (blocks) on either side, or it is left out: what only one side
  has cannot be compared. The share of the group's segments in the others is its *counterpart*, the common
  support. With less than half of the group there is no comparison. The others may lose more than half: a
  group that was recorded by telephone is compared with those of the others who were, too.
- Equal numbers are in the same cell. A number that is so frequent that two cuts fall on it, as the 0 of
  clipping, is a cell of its own.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted, quoted
from soundcheck.common.tasks import CLASSIFICATION, REGRESSION
from soundcheck.statistics.evidence import LEAST_BLOCKS

CELLS = 10  # of labels that are numbers
FEWEST = 4  # of a bin, however small the groups are


@dataclasses.dataclass(frozen=True, eq=False)
class Balanced:
    """The segments that were drawn."""

    rows: np.ndarray  # int64 `(groups * segments_per_group,)`; row numbers of the input, ascending
    segments_per_group: int  # segments in each group
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
        return Balanced(np.zeros(0, dtype=np.int64), 0, f"{names} of 2 groups needed")

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
    return Balanced(np.sort(in_turn.index[drawn].to_numpy(dtype=np.int64)), int(quota.sum()), note)


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
    known = known.agg(lambda sexes: next(iter(sexes.mode()), None)).rename("sex").reset_index()
    known = known[known["sex"].isin(list(wanted))]
    keys = [f"{group}|{speaker}" for group, speaker in zip(known["group"], known["speaker"], strict=True)]
    known = known.assign(draw=draw(keys), key=keys).sort_values(["draw", "key"], kind="stable")
    drawn = known[known.groupby(["group", "sex"]).cumcount() < known["sex"].map(wanted).astype(int)]
    sizes = [each.value_counts(["group", "sex"]) for each in (drawn, known)]
    counts = {
        str(group): {sex: tuple(int(size.get((group, sex), 0)) for size in sizes) for sex in wanted}
        for group in sorted(set(table["group"]), key=str)
    }
    pairs = pd.MultiIndex.from_frame(table[["group", "speaker"]])
    usable, chosen = (
        pairs.isin(pd.MultiIndex.from_frame(each[["group", "speaker"]])) for each in (known, drawn)
    )
    return DrawnSpeakers(table.index.to_numpy(dtype=np.int64)[chosen], counts, int((~usable).sum()))


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


# Cells in which a group and the others are alike

LEAST_SPEAKERS = LEAST_BLOCKS
LEAST_COUNTERPART = 0.5
CUTS = (10, 5)  # quantile cells of a column of numbers; the latter if the former are too small
_MOST_MISSING = 0.5


@dataclasses.dataclass(frozen=True, eq=False)
class AdjustingCells:
    """Cells of segments, or why there are none."""

    codes: np.ndarray  # int64 `(N,)`; the cell of each segment from 0, -1 for those that are left out
    n_cells: int  # number of cells that are kept
    counterpart: float  # share of the group's segments that lie in a cell that is kept, from 0 to 1
    cuts: int  # into how many quantile cells a column of numbers was cut
    reason: str = ""  # why the sides cannot be compared; else `""`


def cells_of(
    columns: Mapping[str, np.ndarray],
    group: np.ndarray,
    others: np.ndarray,
    blocks: np.ndarray,
    usable: np.ndarray,
) -> AdjustingCells:
    """Put segments into cells in which a group can be compared with the others."""
    sides, names = (group & usable, others & usable), " and ".join(columns)

    def nothing(reason: str) -> AdjustingCells:
        return AdjustingCells(np.full(len(usable), -1), 0, 0.0, 0, reason)

    for name, values in columns.items():
        if reason := _obstacle(name, values, sides):
            return nothing(reason)
    for cuts in CUTS:
        codes, n_cells = _product([_cells(values, sides[0] | sides[1], cuts) for values in columns.values()])
        if not n_cells:
            return nothing(f"no segment has both {names}")
        speakers = np.stack([_speakers(codes, n_cells, side, blocks) for side in sides])
        if not (speakers > 0).all(axis=0).any():
            return nothing(f"{names} {'together decide' if len(columns) > 1 else 'decides'} the group")
        enough = (speakers >= LEAST_SPEAKERS).all(axis=0)
        if enough.all():
            break
    number = np.where(enough, np.cumsum(enough) - 1, -1)
    codes = np.where(codes >= 0, number[codes], -1)
    counterpart = float((codes[sides[0]] >= 0).mean())
    reason = ""
    if not enough.any():
        reason = f"nowhere do {LEAST_SPEAKERS} speakers of either side have the same {names}"
    elif counterpart < LEAST_COUNTERPART:
        reason = f"only {100 * counterpart:.0f} % of the group have a counterpart"
    return AdjustingCells(codes, int(enough.sum()), counterpart, cuts, reason)


def _obstacle(name: str, values: np.ndarray, sides: tuple[np.ndarray, np.ndarray]) -> str:
    """Say why a column by itself cannot adjust anything, ``""`` if it can."""
    known = [values[side & pd.notna(values)] for side in sides]
    for side_name, side, present in zip(("the group", "the others"), sides, known, strict=True):
        missing = 1 - len(present) / max(1, int(side.sum()))
        if not len(present):
            return f"{name} is not known of {side_name}"
        if missing > _MOST_MISSING:
            return f"{name} is missing in {100 * missing:.0f} % of {side_name}"
    first, second = map(set, known)
    if len(first | second) == 1:
        return f"{name} is the same for all"
    apart = first.isdisjoint(second)
    if _is_number(values):
        apart = max(first) < min(second) or max(second) < min(first)
    return f"{name} decides the group" if apart else ""


def _is_number(values: np.ndarray) -> bool:
    return np.issubdtype(values.dtype, np.number)


def _cells(values: np.ndarray, rows: np.ndarray, cuts: int) -> np.ndarray:
    """Give each value of a column its cell from 0, int64 ``(N,)``; -1 for other rows and missing values."""
    known = rows & pd.notna(values)
    if not _is_number(values):
        return np.where(known, pd.factorize(pd.Series(values, dtype=object))[0], -1)
    at = np.quantile(values[known], np.arange(1, cuts) / cuts, method="higher")  # infinite ones, too
    edges, times = np.unique(at, return_counts=True)
    edges = np.union1d(edges, np.nextafter(edges[times > 1], np.inf))
    return np.where(known, np.searchsorted(edges, values, side="right"), -1)


def _product(columns: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Give the cells that occur of several columns together; -1 where one of them has none."""
    known = np.logical_and.reduce([column >= 0 for column in columns])
    occurring, numbers = np.unique(np.stack(columns)[:, known], axis=1, return_inverse=True)
    cells = np.full(len(known), -1)
    cells[known] = numbers
    return cells, occurring.shape[1]


def _speakers(codes: np.ndarray, n_cells: int, side: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Count the speakers of a side in each cell, int64 ``(n_cells,)``."""
    rows = side & (codes >= 0)
    n_blocks = int(blocks.max(initial=0)) + 1
    pairs = np.unique(codes[rows] * n_blocks + blocks[rows])
    return np.bincount(pairs // n_blocks, minlength=n_cells)
