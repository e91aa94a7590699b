"""Reads ``groups:`` and ``adjust:``, the columns by which a suite groups speech, see :mod:`.groups`."""

from __future__ import annotations

import re

from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.groups import BOTH, MEASURED_COLUMNS, OTHERS, UNUSABLE, GroupColumn, NumberRange

MOST_ADJUSTED = 2
AGAINST = "against"  # a key among the ranges of a column, so that no range is called so

_PRODUCT = re.compile(r"\s+[x×]\s+")
_RANGES = dict[str, schema.Range]


class GroupsReader:
    """Reads ``groups:`` and ``adjust:`` of a suite, or of one of its corpora.

    - ``reader``: reads the document, and notes problems.
    - ``tasks``: tasks of the suite by name.
    """

    def __init__(self, reader: DocumentReader, tasks: dict[str, Task]) -> None:
        self._reader = reader
        self._tasks = tasks

    def read_groups(
        self, path: tuple, value: object, known: tuple[GroupColumn, ...] = ()
    ) -> tuple[tuple[GroupColumn, ...], dict[str, str]]:
        """Read a list of columns, products and ranges, or a mapping of them; with the reference groups named.

        - ``path, value``: place in the document, and what stands there; ``None`` = nothing.
        - ``known``: of a corpus: the groups of the suite, whose ranges hold unless it gives others.
        """
        if value is None:
            return (), {}
        items = [(path, value)] if isinstance(value, dict) else []
        if isinstance(value, list) and value:
            items = [((*path, place), item) for place, item in enumerate(value)]
        if not items or value == {}:
            remedy = "Write a list such as [device, sex × accent], or column: {name: [low, high]} below it"
            self._reader.note(path, f"{schema.shown(value)} names no columns", remedy)
            return (), {}
        ranges = {column: cut for group in known for column, cut in group.ranges.items()}
        named: list[tuple[tuple, tuple[str, ...]]] = []
        against: dict[str, str] = {}
        for place, item in items:
            if isinstance(item, dict):
                for name, cut in item.items():
                    where = (*place, name)
                    columns = self._columns(where, str(name))
                    given = cut is not None and cut != ""
                    if isinstance(cut, dict) and AGAINST in cut:
                        reference = self._reference((*where, AGAINST), cut[AGAINST])
                        against[BOTH.join(columns)] = reference
                        cut = {key: item for key, item in cut.items() if key != AGAINST}
                        given = bool(cut)
                        if not given and name == "pitch" and name not in ranges:
                            continue  # a family makes low, medium and high voices
                    named.append((where, columns))
                    if given and len(columns) == 1:
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
        return tuple(found.values()), against

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

    def _reference(self, path: tuple, value: object) -> str:
        """Read the group that others are compared with: a word, or of a product two."""
        if value == "all":
            self._reader.note(path, "each group is a part of all", f"Write {OTHERS}, or the name of a group")
        word = self._reader.check(path, value, schema.Text)
        return "" if word is None else BOTH.join(_PRODUCT.split(word))

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
        for word in value.values() if isinstance(value, dict) else [value]:
            if isinstance(schema.plain_value(word), str):
                remedy = f"Write {AGAINST}: {word} if it is the reference group, else name: [low, high]"
                self._reader.note(path, f"{quoted(word)} is no range of numbers", remedy)
                return ()
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
