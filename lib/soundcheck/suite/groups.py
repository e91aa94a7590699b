"""Columns by which a suite groups speech: their values, named ranges of numbers, products of two.

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
from collections.abc import Iterable
from typing import TYPE_CHECKING

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


def number_of(name: str) -> str:
    """Name the column of the segment table with the numbers that were cut into the groups of a column."""
    return f"{name} (number)"


def numbers_of(table: pd.DataFrame, name: str) -> np.ndarray:
    """Give a column of numbers of a segment table, also where a suite cuts it into groups, float64."""
    kept = number_of(name)
    return table[kept if kept in table else name].to_numpy(dtype="float64")


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
