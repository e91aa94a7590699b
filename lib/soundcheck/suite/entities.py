"""Reads the names that a suite wants to see recognised: classes of names, each a list or a file.

Conventions
-----------
- ``entities: {person: [Anna, Peter], room: rooms.csv}``; a file is a CSV table in UTF-8 with a column
  ``name``.
- Names are compared as :mod:`soundcheck.metrics.entities` writes them, so case and punctuation do not matter.
"""

from __future__ import annotations

import os

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import read_text_table
from soundcheck.metrics.entities import CLASSES, read
from soundcheck.suite import schema
from soundcheck.suite.entry_reader import EntryReader

COLUMN = "name"
_EXAMPLE = "Write entities: {person: [Anna, Peter], room: rooms.csv}"


def read_entities(reader: EntryReader, value: object) -> dict[str, tuple[str, ...]]:
    """Read and check the names of all classes.

    - ``reader``: reads the suite; takes what is wrong: a class that is found without names, no names, no such
      file, no column ``name``, a name without letters or digits, one of two classes.
    - Returns class -> names as written.
    """
    if value is None:
        return {}
    if not isinstance(value, dict) or not value:
        reader.note(("entities",), "this is not a mapping of classes", _EXAMPLE)
        return {}
    found: dict[str, tuple[str, ...]] = {}
    of_class: dict[tuple[str, ...], str] = {}
    for kind, given in value.items():
        path = ("entities", kind)
        reader.check_names(("entities",), [kind])
        if kind in CLASSES:
            reader.note(path, "entities of this class are found without names", "Call the class otherwise")
            continue
        names = _listed(reader, path, given) if isinstance(given, list) else _in_file(reader, path, given)
        for name, place in names:
            tokens = read(name).tokens
            other = of_class.setdefault(tokens, kind)
            if not tokens:
                reader.problems.add(place, f"{quoted(name)} has no letter or digit", "Remove it")
            elif other != kind:
                what = f"{quoted(name)} is of the class {quoted(other)} already"
                reader.problems.add(place, what, "Keep it in one of them")
        found[kind] = tuple(dict.fromkeys(name for name, _ in names))
    return found


def _listed(reader: EntryReader, path: tuple[str, ...], given: list[object]) -> list[tuple[str, str]]:
    """Read names from a list, each with its place."""
    names = [reader.check((*path, n), name, schema.Text) for n, name in enumerate(given)]
    if not names:
        reader.note(path, "there are no names", _EXAMPLE)
    return [(name, reader.document.where((*path, n))) for n, name in enumerate(names) if name is not None]


def _in_file(reader: EntryReader, path: tuple[str, ...], given: object) -> list[tuple[str, str]]:
    """Read names from a table, each with its place."""
    shown = reader.check(path, given, schema.Text)
    if shown is None:
        return []
    try:
        table = read_text_table(reader.file.parent / os.path.expanduser(shown), shown)
    except InputError as error:
        reader.problems.extend(error)
        return []
    if COLUMN not in table.columns:
        reader.problems.add(table.header, f"there is no column {COLUMN}", "Write name in the first row")
        return []
    return [(name, table.where(n, COLUMN)) for n, name in enumerate(table.columns[COLUMN])]
