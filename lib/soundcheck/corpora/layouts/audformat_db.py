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
- Labels may be codes that stand for texts. Transcripts, classes and groups are then the texts, as far as they
  fit the column as well as the codes do; speakers and items are the codes.
- Several tables are joined under our names: each segment once, cells filled from all; tables that contradict
  each other are refused.
- Splits are what the header says they are for, whatever they are called. Without one, a table that nobody
  chose is the split that its name tells, as in ``emotion.test``.
- A column called ``table`` that no table has is the name of the table that brought the segment.
- Times become seconds as text. Without a choice, tables of one kind are read: those whose rows are files, or
  those whose rows are segments, whichever has more columns of tasks.
- A label that the scheme does not know is left out, counted and listed.

Format: audformat documentation, version 1.4.
"""

from __future__ import annotations

import re
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
from soundcheck.common.text_table import NUMBER, TextTable, read_text_table
from soundcheck.corpora.layouts import audb_cache
from soundcheck.corpora.layouts.audb_cache import HEADER
from soundcheck.corpora.segments import LABEL, SEX, Excluded, RawTable
from soundcheck.corpora.splits import ALL, DEV, TEST, TRAIN, split_class
from soundcheck.corpora.table_keys import split_column, unused
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.entries import CorpusEntry

TABLE = "table"  # the name under which a column of ours is the name of the table that brought a segment
HEADER_BYTES = 10 * 1024**2
INDEX = ("file", "start", "end")
ATTRIBUTES = {"sex": ("sex", "gender"), "language": ("language",), "accent": ("accent", "native_language")}
TEXT = "."  # behind the name of a field: the text that its code stands for
IDENTITIES = ("speaker", "item")  # for which a code is as good as a text, and surely unique
SPOKEN = ("transcript", "transcript_written")
SPOKEN_FIELDS = ("transcript", "transcription", "text", "sentence")  # of labels that stand for what is said
HEADER_NODES = 1_000_000  # values that a header may have once its references are written out
# That audformat asks for and nobody needs here
DEFAULTS = {"name": "", "source": "", "usage": "unrestricted"}

_LANGUAGE = re.compile(r"[a-z]{2,3}([-_]\w+)?")  # a code of ISO 639

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

    - ``entry``: the suite's entry: folder, tables, columns.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if the header cannot be trusted or read, or a table, column or field is missing.
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
    texts, parts, used, declared = [], [], set(), {}
    for name in known:
        texts.append(database.read(name))
        found = {ours: database.source(entry.columns.get(ours, ""), ours, name) for ours in wanted}
        if found["split"] is None and (theirs := split_column(texts[-1], entry)):
            found["split"] = database.source(theirs, "split", name)
            notices.append(f"split is the column {theirs}; `columns:` takes another")
        sources = {
            ours: database.meant(ours, source, entry, tasks.get(ours), notices)
            for ours, source in found.items()
            if source is not None
        }
        used |= {source[0] for source in sources.values()}
        for task in (task for task in tasks.values() if task.is_regression and task.name in sources):
            scale = database.scale(sources[task.name])
            if scale not in (None, (task.low, task.high)):
                declared.setdefault(task.name, {})[scale] = name
        parts.append(database.rows(name, texts[-1], sources))
        if entry.split != (ALL,) and not entry.tables and "split" not in parts[-1] and split_class(name):
            parts[-1]["split"] = split_class(name)
    scales = _declared(declared, entry, f"{shown}/{HEADER}", notices)
    places = [table.where(row) for table in texts[: len(tables)] for row in range(len(table))]
    frame = _join(parts[: len(tables)], texts)
    brought = {*frame}
    for name, part in zip(attributes, parts[len(tables) :], strict=True):
        keys = INDEX if database.tables[name].type == "segmented" else INDEX[:1]
        further = part.drop(columns=[column for column in part if column in brought and column not in keys])
        _add_attributes(frame, name, further.set_index(list(keys)), notices)
    if "language" not in frame and len(database.header.languages) == 1:
        frame["language"] = str(database.header.languages[0])
    notices += unused((column for name in known for column in database.tables[name].columns), used)
    notices += unused(database.tables, known, "tables")
    left_out = [
        Excluded(
            f"label {quoted(text)}", f"not among the labels of scheme {quoted(scheme)}: {count} rows", LABEL
        )
        for (scheme, text), count in sorted(database.unknown.items())
    ]
    splits = database.header.splits.items()
    return RawTable(
        frame.reset_index(drop=True),
        [places[row] for row in frame.index],
        entry.path,
        f"{shown}/{HEADER}",
        tuple(left_out),
        tuple(notices),
        offered=tuple(database.sources(known)),
        split_kinds={name: about.type for name, about in splits if about.type in (TRAIN, DEV, TEST)},
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

    - ``root``: folder with ``db.yaml``.
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
                fields = (field for label in labels.values() for field in label)
                names += [str(column), *self._paths(str(column), fields)]
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
        paths = [theirs] if theirs else [ours, *(f"speaker.{field}" for field in ATTRIBUTES.get(ours, ()))]
        for path in paths:
            for column, scheme in columns.items():
                labels = self.labels(scheme) or {}
                for prefix in (column, scheme):
                    field = path.removeprefix(f"{prefix}.")
                    if field != path and any(field in label for label in labels.values()):
                        return column, scheme, field
        return (TABLE, "", "") if theirs == TABLE else None

    def meant(
        self, ours: str, source: Source, entry: CorpusEntry, task: Task | None, notices: list[str]
    ) -> Source:
        """Choose between codes and what they stand for, and say so."""
        column, scheme, field = source
        labels = list((self.labels(scheme) or {}).values())
        if ours in IDENTITIES or ours in entry.blocks or not labels:
            return source
        fields = dict.fromkeys(name for about in labels for name in about)
        spoken = [name for name in (*SPOKEN_FIELDS, scheme) if name in fields and ours in SPOKEN]
        codes, texts = ([about.get(name, "") for about in labels] for name in (field, field + TEXT))
        chosen = field
        if field + TEXT in fields and _fitting(texts, ours, entry, task) >= _fitting(
            codes, ours, entry, task
        ):
            chosen = field + TEXT
        elif spoken and not field:
            chosen = spoken[0]
        stand_for = f"what the labels of {quoted(scheme)} stand for"
        if chosen != field:
            about = next(about for about in labels if chosen in about)
            example = f"{quoted(about[chosen], 40)} for {quoted(about[field], 40)}"
            notices.append(
                f"{ours} is {stand_for}, such as {example}; `{column}.{field or 'id'}` is the code"
            )
        elif ours in SPOKEN and field in ("", "id") and len(fields) > 2:
            others = ", ".join(self._paths(column, fields) or [column])
            what = f"{ours} is a code of {quoted(scheme)}, such as {quoted(codes[0], 40)}"
            notices.append(f"{what}; what it stands for: {others}")
        return column, scheme, chosen

    @staticmethod
    def _paths(column: str, fields: Iterable[str]) -> list[str]:
        """Name fields of labels as a suite names them."""
        return [f"{column}.{field}" for field in fields if field not in ("", "id") and field[-1] != TEXT]

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
        """Read what is said about each label: field -> value; "" is the label, too, and so is ``id``."""
        if labels is None:
            return None
        coded: dict[str, dict] = {}  # field -> its code -> text
        if isinstance(labels, str):
            misc, table = self.header.misc_tables[labels], self.read(labels)
            for field, about in misc.columns.items():
                known = self.header.schemes.get(about.scheme_id)
                if known is not None and isinstance(known.labels, dict):
                    coded[field] = {str(code): text for code, text in known.labels.items()}
            names = table.columns[next(iter(misc.levels))]
            fields = [name for name in table.columns if name not in misc.levels]
            rows = (
                zip(*(table.columns[field] for field in fields), strict=True) if fields else [()] * len(names)
            )
            labels = {
                name: dict(zip(fields, row, strict=True)) for name, row in zip(names, rows, strict=True)
            }
        said = labels if isinstance(labels, dict) else dict.fromkeys(labels)
        found = {}
        for name, about in said.items():
            own = about if isinstance(about, dict) else {TEXT: about}
            texts = {field + TEXT: coded[field].get(own[field]) for field in coded if field in own}
            own = {"": name, "id": name, **own, **texts}
            found[str(name)] = {
                str(field): str(value)
                for field, value in own.items()
                if value not in (None, "") and not isinstance(value, dict)
            }
        return found

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
            if labels is None:
                frame[ours] = theirs[column]
            else:
                said = {label: about.get(field, "") for label, about in labels.items()}
                frame[ours] = [said.get(text, "") for text in theirs[column]]
        if about.split_id and "split" not in frame:
            frame["split"] = about.split_id
        for column, scheme in {source[:2] for source in sources.values()}:
            labels = self.labels(scheme)
            if labels is not None:
                strange = (text for text in table.columns[column] if text and text not in labels)
                self.unknown.update((scheme, text) for text in strange)
        return frame.astype(object)


def _fitting(words: Iterable[str], ours: str, entry: CorpusEntry, task: Task | None) -> int:
    """Count the words that mean something in a column of ours."""
    known = {*entry.values.get(ours, ()), *(task.classes if task else ())}
    number = task is not None and task.is_regression
    pattern = NUMBER if number else _LANGUAGE if ours == "language" else None
    return sum(
        word in known
        or (ours == "sex" and word.strip().lower() in SEX)
        or (pattern is not None and pattern.fullmatch(word) is not None)
        for word in words
    )


def _seconds(texts: pd.Series) -> pd.Series:
    """Write times as pandas does them as seconds; anything else stays for the checks that name its place.

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


def _add_attributes(frame: pd.DataFrame, name: str, rows: pd.DataFrame, notices: list[str]) -> None:
    """Fill columns of segments from a table that lists none; of several tables the first counts.

    - ``frame``: segments under our names; changed.
    - ``name, rows``: a table, by file or by file, start and end.
    - ``notices``: gets a sentence if it says nothing about any segment.
    """
    keys = list(rows.index.names)
    rows = rows[~rows.index.duplicated()]
    wanted = pd.MultiIndex.from_frame(frame[keys]) if len(keys) > 1 else pd.Index(frame[keys[0]])
    if not wanted.isin(rows.index).any():
        kind = "segments" if len(keys) > 1 else "files"
        notices.append(f"the table {quoted(name)} tells nothing: it has none of the {kind}")
    for column, cells in rows.reindex(wanted).fillna("").items():
        known = frame.get(column)
        cells = cells.to_numpy(object)
        frame[column] = cells if known is None else known.where(known != "", cells)
