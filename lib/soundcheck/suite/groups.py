"""Columns by which a suite groups speech: their values, named ranges of numbers, products of two.

::

    groups: [device, sex × accent, {age: {young: [0, 29], old: [60, 120]}}]
    adjust: [signal_to_noise]

Conventions
-----------
- Both ends belong to a range; a border that two ranges share belongs to the lower one.
- What is measured on the sound is a column, too, and is a number: its groups are ranges.
- A group column stands in the segment table under its name; the numbers that were cut stand beside it, under
  :func:`number_of` the name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import Family

if TYPE_CHECKING:  # reading a suite needs none of them
    import numpy as np
    import pandas as pd

__all__ = [
    "BOTH",
    "MEASURED_COLUMNS",
    "GroupColumn",
    "GroupsReader",
    "NumberRange",
    "number_of",
    "numbers_of",
    "with_suite_groups",
]

BOTH = " × "  # between two columns, and between their values
MEASURED_COLUMNS = (
    *("bandwidth", "clipping", "duration", "level", "pitch", "signal_to_noise", "speaking_rate"),
)
UNUSABLE = {
    "file": "each file would be a group",
    "start": "it is a time",
    "end": "it is a time",
    "key": "the name is taken",
    "audio": "the name is taken",
    "place": "the name is taken",
    "item": "each item would be a group",
    "transcript": "each text would be a group",
    "speaker": "each speaker would be a group, and of one speaker nobody knows how much speakers differ",
}
MOST_ADJUSTED = 2

_PRODUCT = re.compile(r"\s+[x×]\s+")
_RANGES = dict[str, schema.Range]


def number_of(name: str) -> str:
    """Name the column of the segment table with the numbers that were cut into the groups of a column."""
    return f"{name} (number)"


def numbers_of(table: pd.DataFrame, name: str) -> np.ndarray:
    """Give a column of numbers of a segment table, also where a suite cuts it into groups, float64."""
    kept = number_of(name)
    return table[kept if kept in table else name].to_numpy(dtype="float64")


def with_suite_groups(family: Family, names: Iterable[str]) -> Family:
    """Let a family compare the groups of a suite, too, if its option ``groups_of_suite`` says so.

    Parameters
    ----------
    family
        From the threshold file; its option ``groups`` lists columns.
    names
        Names of group columns.
    """
    if not family.options.get("groups_of_suite"):
        return family
    columns = list(dict.fromkeys([*family.options["groups"], *names]))
    return dataclasses.replace(family, options=family.options | {"groups": columns})


@dataclasses.dataclass(frozen=True)
class NumberRange:
    """Numbers that make a group.

    Parameters
    ----------
    name
        Of the group.
    low, high
        Both belong to it, but for a border that a lower range has.
    """

    name: str
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class GroupColumn:
    """A column whose values are groups.

    Parameters
    ----------
    name
        As shown: ``"age"``, ``"sex × accent"``.
    columns
        The columns of the segment table that it is made of, one or two.
    ranges
        Column -> ranges that its numbers are cut into, from low to high; others hold words.
    """

    name: str
    columns: tuple[str, ...]
    ranges: dict[str, tuple[NumberRange, ...]] = dataclasses.field(default_factory=dict)


class GroupsReader:
    """Reads ``groups:`` and ``adjust:`` of a suite, or of one of its corpora.

    Parameters
    ----------
    reader
        Reads the document, and notes problems.
    tasks
        Tasks of the suite by name.
    """

    def __init__(self, reader: DocumentReader, tasks: dict[str, Task]) -> None:
        self._reader = reader
        self._tasks = tasks

    def read_groups(
        self, path: tuple, value: object, known: tuple[GroupColumn, ...] = ()
    ) -> tuple[GroupColumn, ...]:
        """Read a list of columns, products and ranges, or a mapping of them.

        Parameters
        ----------
        path, value
            Place in the document, and what stands there; ``None`` = nothing.
        known
            Of a corpus: the groups of the suite, whose ranges hold unless it gives others.
        """
        if value is None:
            return ()
        items = [(path, value)] if isinstance(value, dict) else []
        if isinstance(value, list) and value:
            items = [((*path, place), item) for place, item in enumerate(value)]
        if not items or value == {}:
            remedy = "Write a list such as [device, sex × accent], or column: {name: [low, high]} below it"
            self._reader.note(path, f"{schema.shown(value)} names no columns", remedy)
            return ()
        ranges = {column: cut for group in known for column, cut in group.ranges.items()}
        named: list[tuple[tuple, tuple[str, ...]]] = []
        for place, item in items:
            if isinstance(item, dict):
                for name, cut in item.items():
                    where = (*place, name)
                    named.append((where, self._columns(where, str(name))))
                    given = cut is not None and cut != ""
                    if given and len(named[-1][1]) == 1:
                        ranges[str(name)] = self._ranges(where, cut)
                    elif given:
                        remedy = "Give the ranges to its columns, each by itself"
                        self._reader.note(where, "a product has no ranges of its own", remedy)
            else:
                named.append((place, self._columns(place, item)))
        found: dict[frozenset[str], GroupColumn] = {}
        for place, columns in filter(lambda pair: pair[1], named):
            if frozenset(columns) in found:
                self._reader.note(place, f"{quoted(BOTH.join(columns))} is named twice", "Name it once")
            for column in columns:
                self._check_column(place, column, ranges)
            own = {column: ranges[column] for column in columns if column in ranges}
            found[frozenset(columns)] = GroupColumn(BOTH.join(columns), columns, own)
        return tuple(found.values())

    def read_adjust(self, path: tuple, value: object) -> tuple[str, ...]:
        """Read the columns by which differences are adjusted."""
        if value is None:
            return ()
        columns = tuple(map(str, self._reader.check(path, value, schema.Names) or ()))
        if len(columns) > MOST_ADJUSTED:
            what = (
                f"{len(columns)} columns are more than the {MOST_ADJUSTED} that can be adjusted for at once"
            )
            self._reader.note(path, what, "Name those that matter most")
        self._reader.check_repeated(path, columns)
        for column in columns:
            if column in UNUSABLE:
                self._reader.note(path, f"nothing can be adjusted by {column}", "Name another column")
        return columns

    def _columns(self, path: tuple, item: object) -> tuple[str, ...]:
        """Read a column, or a product: ``sex × accent`` or ``[sex, accent]``."""
        parts = _PRODUCT.split(item) if isinstance(item, str) else item
        columns = tuple(map(str, self._reader.check(path, parts, schema.Texts) or ()))
        if not all(column.strip() for column in columns):
            self._reader.note(path, "a column without a name", "Write the names of columns")
            return ()
        if len(columns) > 2:
            what = f"{quoted(BOTH.join(columns))} has {len(columns)} columns"
            self._reader.note(path, what, "Name products of two")
        if len(set(columns)) < len(columns):
            what = f"{quoted(BOTH.join(columns))} names a column twice"
            self._reader.note(path, what, "Name two columns, or one")
            return ()
        return columns

    def _check_column(self, path: tuple, column: str, ranges: dict[str, tuple[NumberRange, ...]]) -> None:
        """Note a column whose values cannot be groups."""
        task = self._tasks.get(column)
        reason = UNUSABLE.get(column, "")
        if task is not None and not task.classes:
            reason = "it is what models predict; tests of bins look at parts of the scale"
        if reason:
            self._reader.note(path, f"{column} cannot be a group: {reason}", "Name another column")
        elif column in MEASURED_COLUMNS and column not in ranges:
            remedy = f"Write {{{column}: {{low: [0, 10], high: [10, 100]}}}} with bounds of your own"
            self._reader.note(path, f"{column} is measured: a number, and no ranges are given", remedy)

    def _ranges(self, path: tuple, value: object) -> tuple[NumberRange, ...]:
        """Read the ranges of a column of numbers."""
        known = self._reader.check(path, value, _RANGES)
        if known is None:
            return ()
        self._reader.check_names(path, list(known))
        if len(known) < 2:
            what = "one range makes one group" if known else "no range is given"
            self._reader.note(path, what, "Write two ranges or more")
        found = [NumberRange(str(name), low, high) for name, (low, high) in known.items()]
        found.sort(key=lambda own: own.low)
        for before, after in zip(found, found[1:], strict=False):
            if after.low < before.high:
                both = " and ".join(f"{r.name} [{r.low:g}, {r.high:g}]" for r in (before, after))
                self._reader.note(path, f"the ranges {both} overlap", "End one where the other begins")
        return tuple(found)
