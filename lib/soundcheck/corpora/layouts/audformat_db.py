"""Reads audformat databases on disk without running anything that lies in them.

audformat itself loads a header with a YAML loader that can execute code, prefers pickled tables, and takes
cells such as ``NA`` for missing. So the header is loaded safely here and then given to audformat, and tables
are read as text from Parquet or CSV, never from pickles.

Conventions
-----------
- A column of ours comes from a column of a table (by its name or its scheme's name) or, written with a dot,
  from the labels of a scheme: ``speaker.gender`` is what the labels of the speakers say about gender, and
  ``speaker.id`` is the label itself if they say nothing about ``id``.
  Labels are a dictionary in the header or a misc table.
- Several tables are joined under our names: each segment once, cells filled from all; tables that contradict
  each other are refused.
- A column called ``table`` that no table has is the name of the table that brought the segment.
- Times become seconds as text. Without a choice, tables of one kind are read: those whose rows are files, or
  those whose rows are segments, whichever has more columns of tasks.
- A label that the scheme does not know is left out, counted and listed.

Format: audformat documentation, version 1.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import audformat
import numpy as np
import pandas as pd
import yaml

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.corpora.layouts import audb_cache
from soundcheck.corpora.layouts.audb_cache import HEADER
from soundcheck.corpora.layouts.audformat_attributes import with_attributes
from soundcheck.corpora.segments import LABEL, Excluded, RawTable
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.entries import CorpusEntry

TABLE = "table"  # the name under which a column of ours is the name of the table that brought a segment
HEADER_BYTES = 10 * 1024**2
INDEX = ("file", "start", "end")
ATTRIBUTES = {"sex": ("sex", "gender"), "language": ("language",), "accent": ("accent", "native_language")}
HEADER_NODES = 1_000_000  # values that a header may have once its references are written out
DEFAULTS = {
    "name": "",
    "source": "",
    "usage": "unrestricted",
}  # that audformat asks for and nobody needs here

Source = tuple[str, str, str]  # column of a table, its scheme, a field of the scheme's labels


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
    wanted = [
        name
        for name in dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.further_columns])
        if name not in INDEX
    ]
    notices: list[str] = []
    tables = list(entry.tables) or database.useful(entry, wanted, tasks, notices)
    attributes = list(entry.options.get("attributes", ()))
    problems = Problems()
    for name in [*tables, *attributes]:
        if name not in database.tables:
            where = f"{shown}/{HEADER}, tables"
            problems.add(where, f"no table is called {quoted(name)}", did_you_mean(name, database.tables))
    problems.raise_if_any()
    known = [*tables, *attributes]
    for name, theirs in entry.columns.items():
        if name not in INDEX and not any(database.source(theirs, name, table) for table in known):
            what = f"corpora.{entry.name}.columns.{name} names {quoted(theirs)}, and no table has it"
            problems.add(f"{shown}/{HEADER}", what, did_you_mean(theirs, database.sources(known)))
    problems.raise_if_any()
    texts, parts, declared = [], [], {}
    for name in known:
        found = {ours: database.source(entry.columns.get(ours, ""), ours, name) for ours in wanted}
        sources = {ours: source for ours, source in found.items() if source is not None}
        for task in (task for task in tasks.values() if task.is_regression and task.name in sources):
            scale = database.scale(sources[task.name])
            if scale not in (None, (task.low, task.high)):
                declared.setdefault(task.name, {})[scale] = name
        texts.append(database.read(name))
        parts.append(database.rows(name, texts[-1], sources))
    scales = _declared(declared, entry, f"{shown}/{HEADER}", notices)
    places = [table.where(row) for table in texts[: len(tables)] for row in range(len(table))]
    frame = _join(parts[: len(tables)], texts)
    if attributes:
        whole = [database.tables[name].type != "segmented" for name in attributes]
        told = zip(attributes, whole, parts[len(tables) :], strict=True)
        frame = with_attributes(frame, list(told), notices)
    if "language" not in frame and len(database.header.languages) == 1:
        frame["language"] = str(database.header.languages[0])
    left_out = [
        Excluded(
            f"label {quoted(text)}", f"not among the labels of scheme {quoted(scheme)}: {count} rows", LABEL
        )
        for (scheme, text), count in sorted(database.unknown.items())
    ]
    return RawTable(
        frame.reset_index(drop=True),
        [places[row] for row in frame.index],
        entry.path,
        f"{shown}/{HEADER}",
        tuple(left_out),
        tuple(notices),
        offered=tuple(database.sources(known)),
        scales=scales,
    )


def _declared(
    found: Mapping[str, Mapping[tuple[float, float], str]],
    entry: CorpusEntry,
    where: str,
    notices: list[str],
) -> dict[str, tuple[float, float]]:
    """Choose the scales that schemes declare, where the suite has none: task -> scale -> a table with it."""
    chosen = {}
    for task, tables in found.items():
        listed = ", ".join(f"{low:g} to {high:g} (table {table})" for (low, high), table in tables.items())
        if task in entry.ranges:
            notices.append(f"{task}: `range:` of the suite counts; the database declares {listed}")
        elif len(tables) > 1:
            what = f"tables declare different scales of {task}: {listed}"
            raise input_error(where, what, "Choose tables of one scale with `tables:`")
        else:
            chosen[task] = next(iter(tables))
            notices.append(f"{task}: the scale is that of the scheme in the database, {listed}")
    return chosen


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
        self.header = self._header()
        self.tables = self.header.tables
        self.unknown: Counter[tuple[str, str]] = Counter()  # cells whose label the scheme does not know
        self._labels: dict[str, dict[str, dict[str, str]] | None] = {}

    def _header(self) -> audformat.Database:
        path = self.root / HEADER
        where = f"{self.shown}/{HEADER}"
        audb_cache.refuse_several(self.root, self.shown)
        files.require_regular(path, where, HEADER_BYTES)
        again = "Save the database again with audformat"
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
            raise input_error(where, "the header has no tables", again)
        try:
            database = audformat.Database.load_header_from_yaml({**DEFAULTS, **header})
        except Exception as error:  # whatever audformat trips over
            reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
            raise input_error(where, f"audformat cannot load the header ({reason})", again) from error
        for name in [*database.tables, *database.misc_tables]:
            if not isinstance(name, str) or not name or any(part in name for part in ("/", "\\", "..", "\0")):
                what = f"{quoted(name)} is not a valid name of a table"
                raise input_error(f"{where}, tables", what, "Rename the table")
        return database

    def read(self, name: str) -> TextTable:
        """Read a table by its id; Parquet before CSV as audformat does, never a pickle."""
        for suffix in (".parquet", ".csv"):
            path = files.inside(self.root, f"db.{name}{suffix}")
            if path.exists():
                return read_text_table(path, f"{self.shown}/db.{name}{suffix}")
        what = f"the table {quoted(name)} has neither a CSV nor a Parquet file; pickles are not read"
        raise input_error(
            f"{self.shown}/db.{name}.csv", what, "Save the database again with storage_format='csv'"
        )

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
            kinds[self.tables[table].type] += sum(name in tasks for name in names)
        kind = kinds.most_common(1)[0][0]
        others = [quoted(table) for table in found if self.tables[table].type != kind]
        if others:
            chosen = "name tables under `tables:` to read others"
            notices.append(f"only {kind} tables are read, not {', '.join(others)}; {chosen}")
        return [table for table in found if self.tables[table].type == kind]

    def sources(self, tables: Iterable[str]) -> list[str]:
        """List all names under which a value can be had: columns, and fields of their labels."""
        names: list[str] = []
        for table in tables:
            for column, about in self.tables[table].columns.items():
                labels = self.labels(about.scheme_id) or {}
                names += [str(column), *(f"{column}.{field}" for label in labels.values() for field in label)]
        return list(dict.fromkeys(names))

    def source(self, theirs: str, ours: str, table: str) -> Source | None:
        """Find where a column of ours comes from."""
        columns = {column: about.scheme_id or "" for column, about in self.tables[table].columns.items()}
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
        return (TABLE, "", "") if theirs == TABLE else None

    def scale(self, source: Source) -> tuple[float, float] | None:
        """Give the lowest and highest number that a scheme allows; ``None`` if it does not say."""
        _, scheme, field = source
        about = self.header.schemes.get(scheme)
        if about is None or field:
            return None
        ends = [end for end in (about.minimum, about.maximum) if end is not None]
        try:
            ends = sorted(map(float, self.labels(scheme) or ends))
        except ValueError:  # labels are words
            return None
        return (ends[0], ends[-1]) if len(ends) > 1 else None

    def labels(self, scheme: str | None) -> dict[str, dict[str, str]] | None:
        """Give the labels of a scheme with what is said about each; ``None`` if any value is allowed."""
        if scheme not in self._labels:
            known = self.header.schemes.get(scheme)
            self._labels[scheme] = self._read_labels(known.labels if known else None)
        return self._labels[scheme]

    def _read_labels(self, labels: dict | list | str | None) -> dict[str, dict[str, str]] | None:
        if labels is None:
            return None
        if isinstance(labels, str):
            table = self.read(labels)
            index = next(iter(self.header.misc_tables[labels].levels))
            others = [name for name in table.columns if name != index]
            return {
                name: {other: table.columns[other][row] for other in others if table.columns[other][row]}
                for row, name in enumerate(table.columns[index])
            }
        if isinstance(labels, list):
            return {str(name): {} for name in labels}
        return {
            str(name): {str(field): str(value) for field, value in about.items() if value is not None}
            if isinstance(about, dict)
            else {}
            for name, about in labels.items()
        }

    def rows(self, name: str, table: TextTable, sources: Mapping[str, Source]) -> pd.DataFrame:
        """Give the rows of a table under our names; labels that a scheme does not know are empty."""
        about = self.tables[name]
        needed = INDEX if about.type == "segmented" else INDEX[:1]
        own = TABLE not in self.tables[name].columns
        for column in [*needed, *(source[0] for source in sources.values())]:
            if column not in table.columns and not (own and column == TABLE):
                remedy = f"{did_you_mean(column, table.columns)}. Save the database again with audformat"
                raise input_error(f"{table.header}, column {column}", "the column is missing", remedy)
        theirs = pd.DataFrame(table.columns, dtype=object)
        if own:
            theirs[TABLE] = name
        frame = theirs.reindex(columns=INDEX, fill_value="").astype(object)
        for index in INDEX[1:]:
            frame[index] = _seconds(frame[index])
        for ours, (column, scheme, field) in sources.items():
            labels = self.labels(scheme)
            if field:
                said = {label: fields.get(field, "") for label, fields in labels.items()}
                frame[ours] = [said.get(text, "") for text in theirs[column]]
            elif labels is not None:
                frame[ours] = theirs[column].where(theirs[column].isin(list(labels)), "")
            else:
                frame[ours] = theirs[column]
        if about.split_id and "split" not in frame:
            frame["split"] = about.split_id
        for column, scheme in {source[:2] for source in sources.values()}:
            labels = self.labels(scheme)
            if labels is not None:
                strange = (text for text in table.columns[column] if text and text not in labels)
                self.unknown.update((scheme, text) for text in strange)
        return frame.astype(object)


def _seconds(texts: pd.Series) -> pd.Series:
    """Write times as pandas does them as seconds; anything else stays for the checks that name its place.

    Examples
    --------
    >>> _seconds(pd.Series(["0 days 00:00:01.500000", "0 days", "NaT", "soon"])).tolist()
    ['1.5', '0', '', 'soon']
    """
    times = pd.to_timedelta(texts.where(texts.str.match(r"\s*\d+ days?\b")), errors="coerce")
    seconds = (times / pd.Timedelta(1, "s")).map(repr).where(times.notna(), texts.replace("NaT", ""))
    return seconds.str.removesuffix(".0")


def _join(parts: list[pd.DataFrame], texts: list[TextTable]) -> pd.DataFrame:
    """Join tables on file, start and end; two different texts for the same cell are refused.

    The result's index tells which row, counted through all tables, brought each segment.
    """
    frame = pd.concat(parts, ignore_index=True).fillna("")
    table = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    line = np.concatenate([np.arange(len(part)) for part in parts])
    group = frame.groupby(list(INDEX), sort=False).ngroup().to_numpy()
    first = np.unique(group, return_index=True)[1]  # the row that brought each segment
    brought = table == table[first[group]]  # twice in one table is told later, with both lines
    contradictions = []
    for column in frame.columns[len(INDEX) :]:
        cells = frame[column].to_numpy(object, copy=True)
        rows = np.flatnonzero((cells != "") & (~brought | (first[group] == frame.index)))
        segments, position = np.unique(group[rows], return_index=True)
        origin = np.full(len(first), -1)
        origin[segments] = rows[position]
        differ = rows[cells[rows] != cells[origin[group[rows]]]]
        contradictions += [(row, column, origin[group[row]]) for row in differ]
        cells[first[segments]] = cells[rows[position]]
        frame[column] = cells
    problems = Problems()
    for row, column, other in sorted(contradictions, key=lambda contradiction: contradiction[0]):
        here, there = texts[table[row]], texts[table[other]]
        known = frame[column][first[group[row]]]
        what = f"{quoted(frame[column][row])} contradicts {quoted(known)} of {there.where(line[other])}"
        problems.add(here.where(line[row], column), what, "Choose the tables with `tables:`")
    problems.raise_if_any()
    return frame[brought]
