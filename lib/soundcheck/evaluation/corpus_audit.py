"""Is the corpus itself the explanation? Groups that were recorded otherwise, labels that differ, and copies.

Each group of a column is compared with all other segments of that column by the mean of what was measured on
the sounds and of the labels, as models are (see :mod:`soundcheck.evaluation.conclusions`). A difference is
*found* if it is significant among all of the corpus, by the false discovery rate, and large enough. What is
the same in all segments is named. Of more sound than :data:`MOST` and :data:`SECONDS` a part is measured.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task
from soundcheck.corpora.columns import (
    FINGERPRINT,
    MEASURES,
    drawn,
    fingerprint_unused_splits,
    is_known,
    measured_values,
    sampled,
)
from soundcheck.corpora.load import Corpus
from soundcheck.corpora.repeats import Repeats, find_repeats, speakers_in_splits
from soundcheck.evaluation.conclusions import compared_sides
from soundcheck.metrics.combinators import restrict, stack
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.bootstrap import blocks_of, resample
from soundcheck.statistics.evidence import FREE, Scale, adjusted_p_values
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite.corpus_format import BOTH, numbers_of
from soundcheck.suite.families import TestDefinition

MOST, SECONDS = 20_000, 72_000.0  # sounds that are listened to, and how much of them
COLUMNS = ("sex", "accent", "language", "condition", "split")  # beside the groups of the suite
QUICK = ("level", "clipping", "silence")  # measured of all sounds, the others of a sample
SAMPLED = ("signal_to_noise", "bandwidth")
OPTIONAL = ("speech_share", "predicted_quality")  # measured where a suite asks for it
RECORDED = ("signal_to_noise", "bandwidth", "level", "clipping", "silence", "duration", *OPTIONAL)
SHARE = "share"  # unit of clipping, silence and classes
NOTICED = 0.1  # difference of labels, or of shares of a class, that is worth a word
SIGNIFICANT = 0.05
MOST_GROUPS = 50  # of a column
FEWEST = 2  # segments of either side
ROW = ("column", "group", "name", "title", "unit", "noticeable", "recorded", "value", "low", "high")
GAP = ("others", "gap_low", "gap_high", "p_value", "adjusted")

Measured = Mapping[str, Mapping[str, float | str | None]]  # measure -> sound -> its number


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Something that segments of groups may differ in."""

    name: str  # of the measure, or of the task, with the class behind a colon
    title: str  # as shown
    unit: str
    noticeable: float  # smallest difference worth a word
    values: np.ndarray  # float64 ``(segments,)``, NaN where it is not known
    recorded: bool = False  # whether it was measured on recordings, and is no label

    @property
    def known(self) -> np.ndarray:
        """Rows that have a number; the others are no missing predictions, so they are not counted."""
        return np.isfinite(self.values)

    @property
    def unchanging(self) -> bool:
        """Whether it is the same wherever it is known."""
        return self.known.any() and np.ptp(self.values[self.known]) == 0


@dataclasses.dataclass(frozen=True)
class Audit:
    """What was found out about a corpus."""

    frame: pd.DataFrame  # means of all segments, then of each group, see :func:`compared`
    # quantities that are the same in all segments: title, value and unit
    unchanging: tuple[tuple[str, float, str], ...]
    repeats: Repeats  # what is there more than once
    # splits of the corpus, evaluated or not, and the speakers that are in more than one
    splits: tuple[str, ...]
    shared: tuple[str, ...]
    # name of the measure -> segments that gave a number, and segments that were listened to for it
    measured: Mapping[str, tuple[int, int]]
    block: str  # what is resampled and permuted: ``"speaker"``, or other columns, or ``"file"``
    blocks: int  # how many of them there are
    adjust: tuple[str, ...]  # what the suite adjusts differences by
    unreadable: int  # sounds that could not be read when they were listened to
    unused: int = 0  # segments of splits that are not evaluated

    @property
    def differences(self) -> pd.DataFrame:
        """The significant differences that are large enough to be noticed, the least likely first."""
        rows = self.frame[self.frame["found"]]
        return rows.assign(size=-rows["gap"].abs()).sort_values(["adjusted", "size"], kind="stable")


def compared(means: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Say which means of groups differ from those of the other groups of their column.

    ``column`` and ``group`` are empty for all segments; ``recorded`` is what was measured on recordings and
    is no label. ``low, high`` are NaN where there are too few speakers; ``others, gap, gap_low, gap_high,
    p_value, adjusted`` where nothing is compared or known.
    """
    frame = pd.DataFrame(means, columns=[*ROW, "segments", "speakers", *GAP])
    frame[list(GAP)] = frame[list(GAP)].astype(float)
    known = frame["p_value"].notna()
    frame.loc[known, "adjusted"] = adjusted_p_values(frame.loc[known, "p_value"].to_numpy())
    gap = frame["value"] - frame["others"]
    noticed = gap.abs() >= frame["noticeable"]
    return frame.assign(gap=gap, noticed=noticed, found=noticed & frame["adjusted"].le(SIGNIFICANT))


def audit(
    corpus: Corpus,
    tasks: Mapping[str, Task],
    cache: Path,
    *,
    seed: int = 0,
    replicates: int = 1000,
    interval: str = "t",
    jobs: int = 1,
) -> Audit:
    """Audit a corpus."""
    table, others = corpus.segments, corpus.elsewhere
    sounds, unreadable = _measured(corpus, cache, jobs) if corpus.entry.audio else ({}, 0)
    everything = list(_quantities(table, sounds, tasks))
    quantities = [quantity for quantity in everything if not quantity.unchanging]
    columns = [name for name in dict.fromkeys((*COLUMNS, *corpus.groups)) if name in table]
    blocks = blocks_of(table, corpus.entry.blocks)
    draw = functools.partial(resample, replicates=replicates, seed=seed)
    means: list[dict[str, Any]] = []
    for column, group, members, rest in _parts(table, columns):
        gaps = {}
        if rest is not None:
            fitting = [quantity for quantity in quantities if quantity.name not in column.split(BOTH)]
            gaps = _gaps(fitting, (members, rest), blocks, draw, interval, seed)
        for quantity in quantities:
            resampled = draw(restrict(mean_value(quantity.values), quantity.known & members), blocks)
            if not resampled.reasons[0]:
                scale = Scale(0.0, 1.0) if quantity.unit == SHARE else FREE
                row = vars(quantity) | {"column": column, "group": group} | resampled.row(interval, scale)
                means.append(row | {"speakers": row["blocks"]} | gaps.get(quantity.name, {}))
    splits, shared = speakers_in_splits(pd.concat([table, others]) if len(others) else table)
    prints, compared_sounds = sounds.get(FINGERPRINT, {}), None
    if corpus.entry.audio and len(others):
        compared_sounds, more = fingerprint_unused_splits(corpus, cache, jobs)
        prints = prints | more
    labelled = [name for name, task in tasks.items() if task.is_labelled and name in table]
    listened = {name: int(table["audio"].isin(list(known)).sum()) for name, known in sounds.items()}
    recorded = {quantity.name: int(quantity.known.sum()) for quantity in everything if quantity.recorded}
    return Audit(
        compared(means),
        tuple((same.title, np.nanmax(same.values), same.unit) for same in everything if same.unchanging),
        find_repeats(table, prints, labelled, compared_sounds),
        tuple(splits),
        tuple(shared),
        {name: (known, listened.get(name, len(table))) for name, known in recorded.items()},
        " and ".join(corpus.entry.blocks) if {*corpus.entry.blocks} <= {*table.columns} else "file",
        int(blocks.max(initial=-1)) + 1,
        tuple(corpus.entry.adjust),
        unreadable,
        len(others),
    )


def _measured(corpus: Corpus, cache: Path, jobs: int) -> tuple[dict[str, Mapping], int]:
    table, part = corpus.segments, drawn(corpus.segments, MOST, SECONDS)
    name = corpus.name if len(part) == table["audio"].nunique() else f"{corpus.name} audit"
    part_corpus = dataclasses.replace(corpus, name=name, segments=part)
    sounds, unreadable = measured_values(part_corpus, (*QUICK, FINGERPRINT), cache, jobs, progress=True)
    known = [name for name in (*SAMPLED, *OPTIONAL) if is_known(table, name)]
    whole = {name: dict(zip(table["audio"], numbers_of(table, name), strict=True)) for name in known}
    if not {*SAMPLED} <= {*known}:
        # Of the part, whose first sounds are those of the sample: drawn by the same digests.
        sample = sampled(dataclasses.replace(corpus, segments=part), SAMPLED, cache).set_index("audio")
        sounds = sounds | {name: sample[name].to_dict() for name in SAMPLED}
    return sounds | whole, unreadable


def _quantities(table: pd.DataFrame, sounds: Measured, tasks: Mapping[str, Task]) -> Iterator[Quantity]:
    for name in RECORDED:
        measure = MEASURES[name]
        if name in sounds or name == "duration":
            known = table["audio"].map(sounds[name]) if name in sounds else table["duration"]
            numbers = known.astype(np.float64).to_numpy()
            yield Quantity(name, measure.title, measure.unit, measure.noticeable, numbers, recorded=True)
    for name, task in tasks.items():
        if not task.is_labelled or name not in table or not table[name].notna().any():
            continue
        if task.is_regression:
            yield Quantity(name, f"mean {name}", "", NOTICED, table[name].to_numpy(dtype=np.float64))
        for label in task.classes:
            share = np.where(table[name].notna(), table[name].eq(label), np.nan).astype(np.float64)
            yield Quantity(f"{name}: {label}", f"share of {label} ({name})", SHARE, NOTICED, share)


def _parts(
    table: pd.DataFrame, columns: Sequence[str]
) -> Iterator[tuple[str, str, np.ndarray, np.ndarray | None]]:
    """Give all segments, then each group with its rows and those it is compared with; of two groups once."""
    yield "", "", np.ones(len(table), dtype=bool), None
    for column in columns:
        values = table[column]
        counts = values.value_counts()
        groups = sorted(counts.index[:MOST_GROUPS], key=str) if len(counts) > 1 else []
        for place, group in enumerate(groups):
            others = (values.notna() & values.ne(group)).to_numpy()
            once = len(counts) == 2 and place
            yield column, str(group), values.eq(group).to_numpy(), None if once else others


def _gaps(
    quantities: Sequence[Quantity],
    rows: tuple[np.ndarray, np.ndarray],
    blocks: np.ndarray,
    draw: Callable,
    interval: str,
    seed: int,
) -> dict[str, dict[str, float]]:
    base = {
        quantity.name: restrict(mean_value(quantity.values), quantity.known)
        for quantity in quantities
        if all((quantity.known & side).sum() >= FEWEST for side in rows)
    }
    if not base:
        return {}
    sides = [restrict(stack(base), side) for side in rows]
    gaps = compared_sides(*sides, rows, blocks, TestDefinition("", WITHIN, {}), draw, interval, seed)
    others = gaps.resampled.value[len(base) : 2 * len(base)]
    numbers = np.stack([others, gaps.low, gaps.high, gaps.p_values], axis=1).tolist()
    return {name: dict(zip(GAP, row, strict=False)) for name, row in zip(base, numbers, strict=True)}
