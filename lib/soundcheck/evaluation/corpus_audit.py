"""Is the corpus itself the explanation? Groups that were recorded otherwise, labels that differ, and copies.

Each group of a column is compared with all other segments of that column by the mean of what was measured
on the sounds and of the labels: the gap with its interval by resampled speakers, and whether as large a gap
would come about if its members were any speakers (see :mod:`soundcheck.evaluation.conclusions`, which judges
models the same way).

Conventions
-----------
- A difference is *found* if it is beyond chance among all differences of the corpus that were looked at, by
  the false discovery rate, and large enough to be noticed.
- What is the same in all segments is compared nowhere; it is named.
- Of corpora with more sound than :data:`MOST` and :data:`SECONDS` a part is listened to, drawn by content.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measured import listened
from soundcheck.corpora.measures import FINGERPRINT, MEASURES
from soundcheck.corpora.other_splits import heard_elsewhere
from soundcheck.corpora.repeats import Repeats, find_repeats, speakers_in_splits
from soundcheck.corpora.sound_sample import drawn, is_known, sampled
from soundcheck.evaluation.conclusions import Resample, compared_sides
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict, stack
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.bootstrap import Resampled, resample
from soundcheck.statistics.draws import blocks_of
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.false_discovery import adjusted_p_values
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.groups import BOTH, numbers_of

MOST, SECONDS = 20_000, 72_000.0  # sounds that are listened to, and how much of them
COLUMNS = ("sex", "accent", "language", "condition", "split")  # beside the groups of the suite
QUICK = ("level", "clipping", "silence")  # measured of all sounds, the others of a sample
SAMPLED = ("signal_to_noise", "bandwidth")
NOTICED = 0.1  # difference of labels, or of shares of a class, that is worth a word
BEYOND_CHANCE = 0.05
MOST_GROUPS = 50  # of a column
FEWEST = 2  # segments of either side
ASKED = ("speech_share", "predicted_quality")  # measured where a suite asks for it
RECORDED = ("signal_to_noise", "bandwidth", "level", "clipping", "silence", "duration", *ASKED)
SHARE = "share"


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Something that segments of groups may differ in."""

    name: str  # of the measure, or of the task, with the class behind a colon
    title: str  # as shown
    unit: str
    noticeable: float  # smallest difference worth a word
    values: np.ndarray  # float64 ``(segments,)``, NaN where it is not known

    def mean(self) -> Statistic:
        """Give the mean of what is known; the rest is no missing answer of a model, so it is not counted."""
        return restrict(mean_value(self.values), np.isfinite(self.values))

    @property
    def unchanging(self) -> bool:
        """Whether it is the same wherever it is known."""
        known = self.values[np.isfinite(self.values)]
        return bool(len(known)) and known.min() == known.max()


@dataclasses.dataclass(frozen=True)
class MeanOf:
    """The mean of a group in one quantity."""

    column: str  # the group; both empty for all segments
    group: str
    name: str  # of the quantity
    title: str
    unit: str
    value: float  # mean and its 95 % interval, NaN where there are too few speakers
    low: float
    high: float
    segments: int  # that it rests on
    speakers: int

    @property
    def recorded(self) -> bool:
        """Whether it was measured on the recordings, and is no label."""
        return self.name in RECORDED


@dataclasses.dataclass(frozen=True)
class Difference:
    """How a group differs from all others of its column in one quantity."""

    column: str  # the group
    group: str
    name: str  # of the quantity
    title: str
    unit: str
    value: float  # means of both sides
    others: float
    low: float  # interval of their difference; NaN if there are too few speakers
    high: float
    # chance of such a difference with any speakers, alone and among all that were looked at; NaN if it
    # cannot be told
    p_value: float
    segments: int  # of the group, that the value rests on
    speakers: int
    noticed: bool  # whether the difference is large enough to be noticed
    adjusted: float = np.nan

    @property
    def found(self) -> bool:
        """Whether the difference is beyond chance and large enough to be noticed."""
        return self.noticed and self.adjusted <= BEYOND_CHANCE

    @property
    def recorded(self) -> bool:
        """Whether it lies in the recordings, and not in labels."""
        return self.name in RECORDED


@dataclasses.dataclass(frozen=True)
class Audit:
    """What was found out about a corpus."""

    differences: tuple[Difference, ...]  # of all groups and quantities
    means: tuple[MeanOf, ...]  # of all segments, and of each group
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

    def found(self, column: str = "") -> list[Difference]:
        """Give the differences that were found, of all columns or of one, the least likely ones first."""
        own = [one for one in self.differences if one.found and column in ("", one.column)]
        return sorted(own, key=lambda one: (one.adjusted, -abs(one.value - one.others)))


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
    table, labelled = corpus.segments, [name for name, task in tasks.items() if task.is_labelled]
    heard: dict[str, dict[str, float | str | None]] = {}
    unreadable = 0
    if corpus.entry.audio:
        part = drawn(table, MOST, SECONDS)
        name = corpus.name if len(part) == table["audio"].nunique() else f"{corpus.name} audit"
        own = dataclasses.replace(corpus, name=name, segments=part)
        heard, unreadable = listened(own, (*QUICK, FINGERPRINT), cache, jobs, progress=True)
        known = [name for name in (*SAMPLED, *ASKED) if is_known(table, name)]
        whole = {name: dict(zip(table["audio"], numbers_of(table, name), strict=True)) for name in known}
        sample = sampled(corpus, SAMPLED, cache).set_index("audio") if not {*SAMPLED} <= {*known} else table
        heard |= {name: whole.get(name) or sample[name].to_dict() for name in SAMPLED}
        heard |= {name: whole[name] for name in ASKED if name in whole}
    everything = [*_recorded(table, heard), *_labels(table, tasks)]
    quantities = [one for one in everything if not one.unchanging]
    columns = [name for name in dict.fromkeys((*COLUMNS, *corpus.groups)) if name in table]
    there = set(corpus.entry.blocks) <= set(table.columns)
    blocks = blocks_of(table, corpus.entry.blocks)
    draw = functools.partial(resample, replicates=replicates, seed=seed)
    found = [
        one
        for column in columns
        for group, rows in _groups(table[column])
        for one in _compared(quantities, column, group, rows, blocks, draw, interval, seed)
    ]
    others = corpus.elsewhere
    splits, shared = speakers_in_splits(pd.concat([table, others]) if len(others) else table)
    prints, compared = heard.get(FINGERPRINT, {}), None
    if corpus.entry.audio and len(others):
        compared, more = heard_elsewhere(corpus, cache, jobs)
        prints = prints | more
    groups = {column: dict(_groups(table[column], both=True)) for column in columns}
    return Audit(
        _settled(found),
        tuple(means_of(quantities, groups, blocks, draw, interval)),
        tuple((one.title, float(np.nanmax(one.values)), one.unit) for one in everything if one.unchanging),
        find_repeats(table, prints, [name for name in labelled if name in table], compared),
        tuple(splits),
        tuple(shared),
        {one.name: _counted(table, one, heard) for one in everything if one.name in RECORDED},
        " and ".join(corpus.entry.blocks) if there else "file",
        int(blocks.max(initial=-1)) + 1,
        tuple(corpus.entry.adjust),
        unreadable,
        len(others),
    )


def _recorded(table: pd.DataFrame, heard: Mapping[str, Mapping]) -> Iterator[Quantity]:
    for name in RECORDED:
        measure = MEASURES[name]
        if name in heard or name == "duration":
            known = table["audio"].map(heard[name]) if name in heard else table["duration"]
            numbers = known.astype(np.float64).to_numpy()
            yield Quantity(name, measure.title, measure.unit, measure.noticeable, numbers)


def _labels(table: pd.DataFrame, tasks: Mapping[str, Task]) -> Iterator[Quantity]:
    for name, task in tasks.items():
        if not task.is_labelled or name not in table or not table[name].notna().any():
            continue
        if task.is_regression:
            yield Quantity(name, f"mean {name}", "", NOTICED, table[name].to_numpy(dtype=np.float64))
            continue
        for one in task.classes:
            share = np.where(table[name].notna(), table[name].eq(one), np.nan).astype(np.float64)
            yield Quantity(f"{name}: {one}", f"{name} {one}", "share", NOTICED, share)


def _groups(column: pd.Series, *, both: bool = False) -> Iterator[tuple[str, np.ndarray]]:
    """Give the groups of a column with their rows and those of the others; of two groups only the first.

    With ``both``, both of two.
    """
    counts = column.value_counts()
    names = sorted(counts.index[:MOST_GROUPS], key=str)
    only = 1 if len(counts) == 2 and not both else len(names)
    for name in names[:only] if len(counts) > 1 else []:
        yield name, np.stack([column.eq(name).to_numpy(), (column.notna() & column.ne(name)).to_numpy()])


def _compared(
    quantities: Sequence[Quantity],
    column: str,
    group: str,
    rows: np.ndarray,
    blocks: np.ndarray,
    draw: Resample,
    interval: str,
    seed: int,
) -> Iterator[Difference]:
    """Compare a group with the others in all quantities."""
    own, _ = rows
    measures = column.split(BOTH)
    taken = [
        one
        for one in quantities
        if one.name not in measures and min((np.isfinite(one.values) & side).sum() for side in rows) >= FEWEST
    ]
    if not taken:
        return

    base = stack({one.name: one.mean() for one in taken})
    sides = [restrict(base, side) for side in rows]
    gaps = compared_sides(*sides, rows, blocks, TestDefinition("", WITHIN, {}), draw, interval, seed)
    for n, one in enumerate(taken):
        there = own & np.isfinite(one.values)
        value, others = (float(gaps.resampled.value[place]) for place in (n, len(taken) + n))
        yield Difference(
            *(column, str(group), one.name, one.title, one.unit, value, others),
            *(float(numbers[n]) for numbers in (gaps.low, gaps.high, gaps.p_values)),
            int(there.sum()),
            len(np.unique(blocks[there])),
            bool(abs(value - others) >= one.noticeable),
        )


def _settled(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Add the p-values among all differences that have one."""
    p = np.array([one.p_value for one in found], dtype=np.float64)
    known = np.isfinite(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = adjusted_p_values(p[known])
    return tuple(dataclasses.replace(one, adjusted=float(q)) for one, q in zip(found, adjusted, strict=True))


def _counted(table: pd.DataFrame, one: Quantity, heard: Mapping[str, Mapping]) -> tuple[int, int]:
    asked = table["audio"].isin(list(heard[one.name])).sum() if one.name in heard else len(table)
    return int(np.isfinite(one.values).sum()), int(asked)


def means_of(
    quantities: Sequence[Quantity],
    groups: Mapping[str, Mapping[str, np.ndarray]],
    blocks: np.ndarray,
    draw: Callable[[Statistic, np.ndarray], Resampled],
    interval: str,
) -> Iterator[MeanOf]:
    """Compute the means of all segments and of each group."""
    every = np.ones(len(blocks), dtype=bool)
    parts = [("", "", every), *((c, g, own[0]) for c, found in groups.items() for g, own in found.items())]
    for one in quantities:
        base, scale = one.mean(), Scale(0.0, 1.0) if one.unit == SHARE else FREE
        for column, group, rows in parts:
            found = draw(restrict(base, rows), blocks)
            if found.reasons[0]:
                continue
            low, high = (float(end[0]) for end in found.interval(interval, scale=scale))
            about = (column, str(group), one.name, one.title, one.unit)
            yield MeanOf(
                *about, float(found.value[0]), low, high, int(found.segments[0]), int(found.blocks[0])
            )
