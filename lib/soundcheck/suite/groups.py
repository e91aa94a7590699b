"""Columns by which a suite groups speech: their values, named ranges of numbers, products of two.

The keys ``groups:`` and ``adjust:`` of a suite and of its corpora name them.

::

    groups: [device, {accent: {against: us}}, {age: {young: [0, 29], old: [60, 120], against: young}}]
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
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from soundcheck.common.escaping import quoted
from soundcheck.suite import schema

if TYPE_CHECKING:  # neither who reads a suite nor a model's process needs them
    import numpy as np
    import pandas as pd

    from soundcheck.suite.families import Family

BOTH = " × "  # between two columns, and between their values
OTHERS = "others"  # all other groups, which a group is compared with unless the suite names a reference group
MEASURED_COLUMNS = (
    *("bandwidth", "clipping", "duration", "level", "pitch", "signal_to_noise", "silence", "speaking_rate"),
    *("speech_share", "predicted_quality"),  # by networks that are installed apart
)
UNUSABLE = {  # column -> why its values are no groups
    **dict.fromkeys(("start", "end"), "it is a time"),
    **dict.fromkeys(("key", "audio", "place"), "the name is taken"),
    "file": "each file would be a group",
    "item": "each item would be a group",
    "transcript": "each text would be a group",
    "speaker": "each speaker would be a group, and of one speaker nobody knows how much speakers differ",
}
MOST_ADJUSTED = 2
AGAINST = "against"  # a key among the ranges of a column, so that no range is called so
_PRODUCT = re.compile(r"\s+[x×]\s+")
_LIST = "Write a list such as [device, sex × accent], or column: {name: [low, high]} below it"


def number_of(name: str) -> str:
    """Name the column of the segment table with the numbers that were cut into the groups of a column."""
    return f"{name} (number)"


def numbers_of(table: pd.DataFrame, name: str) -> np.ndarray:
    """Give a column of numbers of a segment table, also where a suite cuts it into groups, float64."""
    numbers = number_of(name)
    return table[numbers if numbers in table else name].to_numpy(dtype="float64")


def with_suite_groups(family: Family, names: Iterable[str]) -> Family:
    """Let a family compare the groups of a suite, too, if its option ``groups_of_suite`` says so.

    - ``family``: from the threshold file; its option ``groups`` lists columns.
    """
    if not family.options.get("groups_of_suite"):
        return family
    columns = list(dict.fromkeys([*family.options["groups"], *names]))
    return dataclasses.replace(family, options=family.options | {"groups": columns})


@dataclasses.dataclass(frozen=True)
class NumberRange:
    """Numbers that make a group.

    - ``low, high``: both belong to it, but for a border that a lower range has.
    """

    name: str
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class GroupColumn:
    """A column whose values are groups."""

    name: str  # as shown: ``"age"``, ``"sex × accent"``
    columns: tuple[str, ...]  # the columns of the segment table that it is made of, one or two
    # column -> ranges that its numbers are cut into, from low to high; others hold words
    ranges: dict[str, tuple[NumberRange, ...]] = dataclasses.field(default_factory=dict)


def read_groups(
    reader: schema.EntryReader, path: tuple, value: object, known: tuple[GroupColumn, ...] = ()
) -> tuple[tuple[GroupColumn, ...], dict[str, str]]:
    """Read a list of columns, products and ranges, or a mapping of them; with the reference groups named.

    - ``path, value``: place in the document, and what stands there; ``None`` = nothing.
    - ``known``: of a corpus: the groups of the suite, whose ranges hold unless it gives others.
    """
    items = [((*path, place), item) for place, item in enumerate(value)] if isinstance(value, list) else []
    if isinstance(value, dict) and value:
        items = [(path, value)]
    if not items and value is not None:
        reader.note(path, f"{schema.display(value)} names no columns", _LIST)
    entries = []  # place, columns as written, what the suite says of them
    for place, item in items:
        of_item = item.items() if isinstance(item, dict) else [(item, "")]
        entries += [((*place, name) if isinstance(item, dict) else place, name, cut) for name, cut in of_item]
    ranges = {column: cut for group in known for column, cut in group.ranges.items()}
    against: dict[str, str] = {}
    named: list[tuple[tuple, tuple[str, ...]]] = []
    for place, name, cut in entries:
        columns = _columns(reader, place, name)
        if isinstance(cut, dict) and AGAINST in cut:
            against[BOTH.join(columns)] = _reference(reader, (*place, AGAINST), cut[AGAINST], columns)
            cut = {key: item for key, item in cut.items() if key != AGAINST} or ""
            if not cut and name == "pitch" and name not in ranges:
                continue  # a family makes low, medium and high voices
        named += [(place, columns)] if columns else []
        if cut != "" and len(columns) == 1:
            ranges[columns[0]] = _ranges(reader, place, cut)
        elif cut != "":
            remedy = "Give the ranges to its columns, each by itself"
            reader.note(place, "a product has no ranges of its own", remedy)
    groups: dict[frozenset[str], GroupColumn] = {}
    for place, columns in named:
        if frozenset(columns) in groups:
            reader.note(place, f"{quoted(BOTH.join(columns))} is named twice", "Name it once")
        for column in columns:
            _check_column(reader, place, column, column in ranges)
        cuts = {column: ranges[column] for column in columns if column in ranges}
        groups[frozenset(columns)] = GroupColumn(BOTH.join(columns), columns, cuts)
    return tuple(groups.values()), against


def read_adjust(reader: schema.EntryReader, value: object, path: tuple = ()) -> tuple[str, ...]:
    """Read the columns by which differences are adjusted, in a suite or below the path of a corpus."""
    path = (*path, "adjust")
    columns = reader.check(path, value, schema.Names) or ()
    if len(columns) > MOST_ADJUSTED:
        what = f"{len(columns)} columns are more than the {MOST_ADJUSTED} that can be adjusted for at once"
        reader.note(path, what, "Name those that matter most")
    reader.check_repeated(path, columns)
    for column in [column for column in columns if column in UNUSABLE]:
        reader.note(path, f"nothing can be adjusted by {column}", "Name another column")
    return columns


def _columns(reader: schema.EntryReader, path: tuple, item: object) -> tuple[str, ...]:
    """Read a column, or a product: ``sex × accent`` or ``[sex, accent]``."""
    parts = _PRODUCT.split(item) if isinstance(item, str) else item
    columns = reader.check(path, parts, schema.Texts) or ()
    product = quoted(BOTH.join(columns))
    if not all(column.strip() for column in columns):
        reader.note(path, "a column without a name", "Write the names of columns")
        return ()
    if len(columns) > 2:
        reader.note(path, f"{product} has {len(columns)} columns", "Name products of two")
    if len(set(columns)) < len(columns):
        reader.note(path, f"{product} names a column twice", "Name two columns, or one")
        return ()
    return columns


def _reference(reader: schema.EntryReader, path: tuple, value: object, columns: Sequence[str]) -> str:
    """Read the group that others are compared with: a word, or of a product two."""
    if value == "all":
        reader.note(path, "each group is a part of all", f"Write {OTHERS}, or the name of a group")
    word = reader.check(path, value, schema.Text) or ""
    return BOTH.join(_PRODUCT.split(word)) if len(columns) > 1 else word


def _check_column(reader: schema.EntryReader, path: tuple, column: str, has_ranges: bool) -> None:
    """Note a column whose values cannot be groups."""
    task, reason = reader.tasks.get(column), UNUSABLE.get(column, "")
    if task is not None and not task.classes:
        reason = "it is what models predict; tests of bins look at parts of the scale"
    if reason:
        reader.note(path, f"{column} cannot be a group: {reason}", "Name another column")
    elif column in MEASURED_COLUMNS and not has_ranges:
        remedy = f"Write {{{column}: {{low: [0, 10], high: [10, 100]}}}} with bounds of your own"
        reader.note(path, f"{column} is measured: a number, and no ranges are given", remedy)


def _ranges(reader: schema.EntryReader, path: tuple, value: object) -> tuple[NumberRange, ...]:
    """Read the ranges of a column of numbers."""
    for word in value.values() if isinstance(value, dict) else [value]:
        if isinstance(schema.plain_value(word), str):
            remedy = f"Write {AGAINST}: {word} if it is the reference group, else name: [low, high]"
            reader.note(path, f"{quoted(word)} is no range of numbers", remedy)
            return ()
    known = reader.check(path, value, dict[str, schema.Range])
    if known is None:
        return ()
    reader.check_names(path, list(known))
    if len(known) < 2:
        what = "one range makes one group" if known else "no range is given"
        reader.note(path, what, "Write two ranges or more")
    ranges = sorted((NumberRange(name, *bounds) for name, bounds in known.items()), key=lambda r: r.low)
    for before, after in pairwise(ranges):
        if after.low < before.high:
            both = " and ".join(f"{r.name} [{r.low:g}, {r.high:g}]" for r in (before, after))
            reader.note(path, f"the ranges {both} overlap", "End one where the other begins")
    return tuple(ranges)
