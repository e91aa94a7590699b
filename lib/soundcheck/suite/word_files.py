"""Reads words that a suite names in files of their own: synonyms, and names to recognise.

Conventions
-----------
- ``synonyms: words.csv``: a CSV table in UTF-8 with the columns ``phrase`` and ``synonym``, one pair a row.
  Either may stand for the other, and for all that the other may stand for. Phrases go through the suite's
  normaliser before they are compared.
- ``entities: {person: [Anna, Peter], room: rooms.csv}``: classes of names, each a list or a CSV table with a
  column ``name``. Names are compared as :mod:`soundcheck.metrics.entities` writes them, so case and
  punctuation do not matter.
"""

from __future__ import annotations

import os

from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.metrics.alternatives import synonym_sets
from soundcheck.metrics.entities import CLASSES, read
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite import schema

COLUMNS = ["phrase", "synonym"]
COLUMN = "name"
_PAIRS = "Write phrase,synonym in the first row and pairs such as gonna,going to below"
_ENTITIES = "Write entities: {person: [Anna, Peter], room: rooms.csv}"


def read_synonyms(reader: schema.EntryReader, value: object, normaliser: str) -> tuple[tuple[str, str], ...]:
    """Read and check a file of synonyms.

    Problems are no such file, other columns, an empty side, a pair that rows before say already, which makes
    a circle.
    """
    table = _read_table(reader, ("synonyms",), value)
    if table is None:
        return ()
    if list(table.columns) != COLUMNS:
        reader.problems.add(table.header, "the columns are not phrase and synonym", _PAIRS)
        return ()
    normalise = NORMALISERS[normaliser]
    rows = dict(enumerate(zip(*table.columns.values(), strict=True)))
    for n, pair in [*rows.items()]:
        empty = [name for name, cell in zip(COLUMNS, pair, strict=True) if not normalise(cell).strip()]
        if empty:
            what = "it is empty" + (" once it is normalised" if all(pair) else "")
            remedy = "Write a phrase on both sides, or remove the row"
            reader.problems.add(table.where(n, empty[0]), what, remedy)
            del rows[n]
    pairs = [(normalise(one), normalise(other)) for one, other in rows.values()]
    try:
        synonym_sets(pairs)
    except ValueError as error:
        place = error.args[0]
        row, (one, other) = [*rows.items()][place]
        alike = pairs[place][0] == pairs[place][1]
        why = "once they are normalised" if alike else "by rows before, which makes a circle"
        what = f"{quoted(one)} and {quoted(other)} are the same already {why}"
        reader.problems.add(table.where(row), what, "Remove the row")
    return tuple(rows.values())


def _read_table(reader: schema.EntryReader, path: tuple, value: object) -> TextTable | None:
    """Read a table that a suite names; ``None`` if there is none, or it cannot be read."""
    text = reader.check(path, value, schema.Text)
    with reader.problems.collected():
        return text and read_text_table(reader.root / os.path.expanduser(text), text)


def read_entities(reader: schema.EntryReader, value: object) -> dict[str, tuple[str, ...]]:
    """Read and check the names of all classes: class -> names as written.

    Problems are a class that is recognised without names, no names, no such file, no column ``name``, a name
    without letters or digits, one of two classes.
    """
    if value is None:
        return {}
    if not isinstance(value, dict) or not value:
        reader.note(("entities",), "this is not a mapping of classes", _ENTITIES)
        return {}
    entities: dict[str, tuple[str, ...]] = {}
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
        entities[kind] = tuple(dict.fromkeys(name for name, _ in names))
    return entities


def _listed(reader: schema.EntryReader, path: tuple[str, ...], given: list[object]) -> list[tuple[str, str]]:
    """Read names from a list, each with its place."""
    names = [reader.check((*path, n), name, schema.Text) for n, name in enumerate(given)]
    if not names:
        reader.note(path, "there are no names", _ENTITIES)
    return [(name, reader.document.where((*path, n))) for n, name in enumerate(names) if name is not None]


def _in_file(reader: schema.EntryReader, path: tuple[str, ...], given: object) -> list[tuple[str, str]]:
    """Read names from a table, each with its place."""
    table = _read_table(reader, path, given)
    if table is not None and COLUMN not in table.columns:
        reader.problems.add(table.header, f"there is no column {COLUMN}", "Write name in the first row")
    names = table.columns.get(COLUMN, ()) if table is not None else ()
    return [(name, table.where(n, COLUMN)) for n, name in enumerate(names)]
