"""Reads audformat databases on disk without running anything that lies in them.

audformat itself loads the header with a YAML loader that can execute code and prefers pickled tables, so it
is not used here: the header is read with a safe loader, tables as text from Parquet or CSV, never pickles.

Conventions
-----------
- A column of ours comes from a column of a table (by its name or its scheme's name) or, written with a dot,
  from the labels of a scheme: ``speaker.gender`` is what the labels of the speakers say about gender, and
  ``speaker.id`` is the label itself if they say nothing about ``id``.
  Labels are a dictionary in the header or a misc table.
- Several tables are joined under our names: each segment once, cells filled from all; tables that contradict
  each other are refused.
- Times become seconds as text. Without a choice, tables of one kind are read: those whose rows are files, or
  those whose rows are segments, whichever has more columns of tasks.
- A label that the scheme does not know is left out, counted and listed.

Format: audformat documentation, version 1.4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import yaml

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.corpora.segments import Excluded, RawTable
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.entries import CorpusEntry

HEADER = "db.yaml"
HEADER_BYTES = 10 * 1024**2
INDEX = ("file", "start", "end")
ATTRIBUTES = {"sex": ("sex", "gender"), "language": ("language",), "accent": ("accent", "native_language")}


HEADER_NODES = 1_000_000  # values that a header may have once its references are written out

_TIMEDELTA = re.compile(r"(\d+) days?(?: \+?(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?")

Cells = dict[str, str]  # our column -> text
Place = tuple[TextTable, int]  # where a row stands


class _HeaderLoader(yaml.SafeLoader):
    """A safe loader that refuses references by which a small header grows without bound."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _weigh(node, {}) > HEADER_NODES:
            raise yaml.YAMLError("its references (&, *) write out to too many values")
        return node


def _weigh(node: yaml.Node, known: dict[int, int | None]) -> int:
    """Count the values below a node as if its references were written out."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = None
        mapping = isinstance(node, yaml.MappingNode)
        below = [part for pair in node.value for part in pair] if mapping else node.value
        known[id(node)] = 1 + sum(_weigh(part, known) for part in below)
    if known[id(node)] is None:
        raise yaml.YAMLError("a reference (*) leads into itself")
    return known[id(node)]


def read_database(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read a database under our column names.

    Parameters
    ----------
    entry
        The suite's entry: folder, tables, columns.
    tasks
        Tasks of the suite by name.

    Raises
    ------
    InputError
        If the header cannot be trusted or read, or a table, column or field is missing.
    """
    shown = entry.shown_path or entry.path.name
    database = _Database(entry.path, shown)
    wanted = [name for name in dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.blocks]) if name not in INDEX]
    notices: list[str] = []
    tables = list(entry.tables) or database.useful(entry, wanted, tasks, notices)
    problems = Problems()
    for name in tables:
        if name not in database.tables:
            where = f"{shown}/{HEADER}, tables"
            problems.add(where, f"no table is called {quoted(name)}", did_you_mean(name, database.tables))
    problems.raise_if_any()
    for name, theirs in entry.columns.items():
        if name not in INDEX and not any(database.source(theirs, name, table) for table in tables):
            what = f"corpora.{entry.name}.columns.{name} names {quoted(theirs)}, and no table has it"
            problems.add(f"{shown}/{HEADER}", what, did_you_mean(theirs, database.sources(tables)))
    problems.raise_if_any()
    unknown: Counter[tuple[str, str]] = Counter()
    parts = []
    for table in tables:
        found = {name: database.source(entry.columns.get(name, ""), name, table) for name in wanted}
        sources = {name: source for name, source in found.items() if source is not None}
        parts.append((table, database.read(table), sources))
    frame, places = _join([(part[1], database.rows(*part)) for part in parts])
    for _, table, sources in parts:
        unknown.update(database.unknown_labels(table, sources))
    if "language" not in frame and len(database.languages) == 1:
        frame["language"] = database.languages[0]
    left_out = [
        Excluded(
            f"label {quoted(text)}", f"not among the labels of scheme {quoted(scheme)}: {count} rows", "label"
        )
        for (scheme, text), count in sorted(unknown.items())
    ]
    shown_places = [table.where(row) for table, row in places]
    return RawTable(frame, shown_places, entry.path, f"{shown}/{HEADER}", tuple(left_out), tuple(notices))


class _Database:
    """A database's header and tables.

    Parameters
    ----------
    root
        Folder with ``db.yaml``.
    shown
        How messages call it.
    """

    def __init__(self, root: Path, shown: str) -> None:
        self.root = root
        self.shown = shown
        header = self._header()
        self.tables: dict[str, dict] = _mapping(header.get("tables"))
        self.misc: dict[str, dict] = _mapping(header.get("misc_tables"))
        self.schemes: dict[str, dict] = _mapping(header.get("schemes"))
        languages = header.get("languages") or []
        self.languages = [
            str(language) for language in (languages if isinstance(languages, list) else [languages])
        ]
        self._labels: dict[str, dict[str, dict[str, str]] | None] = {}

    def _header(self) -> dict:
        path = self.root / HEADER
        where = f"{self.shown}/{HEADER}"
        files.require_regular(path, where, HEADER_BYTES)
        try:
            header = yaml.load(path.read_text(encoding="utf-8"), Loader=_HeaderLoader)  # a SafeLoader
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            line = f" line {mark.line + 1}" if mark else ""
            reason = str(getattr(error, "problem", None) or error).splitlines()[0]
            remedy = "Only plain YAML without tags is read; save the database again with audformat"
            raise input_error(
                f"{where}{line}", f"the header cannot be read safely ({reason})", remedy
            ) from error
        if not isinstance(header, dict) or not isinstance(header.get("tables"), dict):
            raise input_error(where, "the header has no tables", "Save the database again with audformat")
        return header

    def read(self, name: str) -> TextTable:
        """Read a table by its id; Parquet before CSV as audformat does, never a pickle."""
        if not name or any(part in name for part in ("/", "\\", "..", "\0")):
            raise input_error(
                f"{self.shown}/{HEADER}, tables", f"{quoted(name)} is no name of a table", "Rename the table"
            )
        for suffix in (".parquet", ".csv"):
            path = files.inside(self.root, f"db.{name}{suffix}")
            if path.exists():
                return read_text_table(path, f"{self.shown}/db.{name}{suffix}")
        what = f"the table {quoted(name)} has neither a CSV nor a Parquet file; pickles are not read"
        raise input_error(
            f"{self.shown}/db.{name}.csv", what, "Save the database again with storage_format='csv'"
        )

    def _columns(self, table: str) -> dict[str, dict]:
        known = self.tables.get(table) or self.misc.get(table) or {}
        return {name: value or {} for name, value in _mapping(known.get("columns")).items()}

    def useful(
        self, entry: CorpusEntry, wanted: list[str], tasks: Mapping[str, Task], notices: list[str]
    ) -> list[str]:
        """List the tables of one kind that have at least one column of use."""
        found: dict[str, list[str]] = {}
        for table in self.tables:
            names = [name for name in wanted if self.source(entry.columns.get(name, ""), name, table)]
            if names:
                found[table] = names
        if not found:
            theirs = ", ".join(self.sources(self.tables))
            remedy = f"Map columns with `columns: {{arousal: <theirs>}}`. Theirs: {theirs}"
            raise input_error(f"{self.shown}/{HEADER}", "no table has a column that can be tested", remedy)
        kinds: Counter[str] = Counter()
        for table, names in found.items():
            kinds[self._kind(table)] += sum(name in tasks for name in names)
        kind = kinds.most_common(1)[0][0]
        others = [quoted(table) for table in found if self._kind(table) != kind]
        if others:
            chosen = "name tables under `tables:` to read others"
            notices.append(f"only {kind} tables are read, not {', '.join(others)}; {chosen}")
        return [table for table in found if self._kind(table) == kind]

    def _kind(self, table: str) -> str:
        return str(_mapping(self.tables[table]).get("type", "filewise"))

    def sources(self, tables: object) -> list[str]:
        """List all names under which a value can be had: columns, and fields of their labels."""
        names: list[str] = []
        for table in tables:
            for column, about in self._columns(table).items():
                names.append(column)
                labels = self.labels(about.get("scheme_id"))
                fields = dict.fromkeys(field for label in (labels or {}).values() for field in label)
                names += [f"{column}.{field}" for field in fields]
        return list(dict.fromkeys(names))

    def source(self, theirs: str, ours: str, table: str) -> tuple[str, str, str] | None:
        """Find where a column of ours comes from: column, scheme and field of the scheme's labels."""
        columns = {
            column: str(about.get("scheme_id") or "") for column, about in self._columns(table).items()
        }
        name = theirs or ours
        if name in columns:
            return name, columns[name], ""
        for column, scheme in columns.items():
            if name == scheme:
                return column, scheme, ""
        paths = [theirs] if theirs else [f"speaker.{field}" for field in ATTRIBUTES.get(ours, ())]
        for path in paths:
            for column, scheme in columns.items():
                labels = self.labels(scheme) or {}
                for prefix in (column, scheme):
                    field = path.removeprefix(f"{prefix}.")
                    if field != path and any(field in label for label in labels.values()):
                        return column, scheme, field
                    if field == "id" and field != path:
                        return column, scheme, ""
        return None

    def labels(self, scheme: str | None) -> dict[str, dict[str, str]] | None:
        """Give the labels of a scheme with what is said about each; ``None`` if any value is allowed."""
        if not scheme:
            return None
        if scheme not in self._labels:
            self._labels[scheme] = self._read_labels((self.schemes.get(scheme) or {}).get("labels"))
        return self._labels[scheme]

    def _read_labels(self, labels: object) -> dict[str, dict[str, str]] | None:
        if isinstance(labels, dict):
            return {
                str(name): {str(k): str(v) for k, v in about.items() if v is not None}
                if isinstance(about, dict)
                else {}
                for name, about in labels.items()
            }
        if isinstance(labels, list):
            return {str(name): {} for name in labels}
        if isinstance(labels, str) and labels in self.misc:
            table = self.read(labels)
            levels = self.misc[labels].get("levels")
            index = (
                next(iter(levels))
                if isinstance(levels, dict | list) and levels
                else next(iter(table.columns))
            )
            others = [name for name in table.columns if name != index]
            return {
                name: {other: table.columns[other][row] for other in others if table.columns[other][row]}
                for row, name in enumerate(table.columns[index])
            }
        return None

    def rows(self, name: str, table: TextTable, sources: dict[str, tuple[str, str, str]]) -> list[Cells]:
        """Give the rows of a table under our names; labels that a scheme does not know are empty."""
        needed = ["file"] + ["start", "end"] * (self._kind(name) == "segmented")
        for column in [*needed, *(source[0] for source in sources.values())]:
            if column not in table.columns:
                remedy = f"{did_you_mean(column, table.columns)}. Save the database again with audformat"
                raise input_error(f"{table.header}, column {column}", "the column is missing", remedy)
        cells: dict[str, list[str]] = {"file": list(table.columns["file"])}
        for index in ("start", "end"):
            cells[index] = [_seconds(text) for text in table.columns.get(index, [""] * len(table))]
        for ours, (column, scheme, field) in sources.items():
            labels, texts = self.labels(scheme), table.columns[column]
            if field:
                cells[ours] = [(labels or {}).get(text, {}).get(field, "") for text in texts]
            else:
                cells[ours] = [text if labels is None or text in labels else "" for text in texts]
        split = _mapping(self.tables[name]).get("split_id")
        if split and "split" not in cells:
            cells["split"] = [str(split)] * len(table)
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]

    def unknown_labels(
        self, table: TextTable, sources: dict[str, tuple[str, str, str]]
    ) -> Counter[tuple[str, str]]:
        """Count the cells whose label the scheme does not know, each column once."""
        unknown: Counter[tuple[str, str]] = Counter()
        for column, scheme in sorted({source[:2] for source in sources.values()}):
            labels = self.labels(scheme)
            if labels is not None:
                unknown.update(
                    (scheme, text) for text in table.columns[column] if text and text not in labels
                )
        return unknown


def _mapping(value: object) -> dict:
    return {str(name): about for name, about in value.items()} if isinstance(value, dict) else {}


def _seconds(text: str) -> str:
    """Write a time as pandas does it as seconds; anything else stays for the checks that name its place.

    Examples
    --------
    >>> _seconds("0 days 00:00:01.500000"), _seconds("0 days"), _seconds("NaT")
    ('1.5', '0', '')
    """
    if text == "NaT":
        return ""
    if not (match := _TIMEDELTA.fullmatch(text.strip())):
        return text.removesuffix(".0")  # as Parquet has it
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    fraction = (match[5] or "").rstrip("0")
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return f"{whole}.{fraction}" if fraction else str(whole)


def _join(parts: list[tuple[TextTable, list[Cells]]]) -> tuple[pd.DataFrame, list[Place]]:
    """Join tables on file, start and end; two different texts for the same cell are refused."""
    rows: list[Cells] = []
    places: list[Place] = []
    first: dict[tuple[str, ...], int] = {}
    origins: dict[tuple[int, str], Place] = {}  # who filled a cell, if not the table that brought the row
    problems = Problems()
    for table, part in parts:
        for row, cells in enumerate(part):
            key = tuple(cells[index] for index in INDEX)
            at = first.get(key)
            if at is None or places[at][0] is table:  # twice in one table is told later, with both lines
                first.setdefault(key, len(rows))
                rows.append(cells)
                places.append((table, row))
                continue
            for column, text in cells.items():
                known = rows[at].get(column, "")
                if text and known and text != known:
                    origin, line = origins.get((at, column), places[at])
                    what = f"{quoted(text)} contradicts {quoted(known)} of {origin.where(line)}"
                    problems.add(table.where(row, column), what, "Choose the tables with `tables:`")
                elif text and not known:
                    rows[at][column] = text
                    origins[at, column] = (table, row)
    problems.raise_if_any()
    names = dict.fromkeys([*INDEX, *(name for _, part in parts for name in (part[0] if part else ()))])
    columns = {name: [cells.get(name, "") for cells in rows] for name in names}
    return pd.DataFrame(columns, dtype=object), places
