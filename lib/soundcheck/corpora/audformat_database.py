"""Reads audformat databases on disk without running anything that lies in them.

audformat itself loads a header with a YAML loader that can execute code, prefers pickled tables, and takes
cells such as ``NA`` for missing. So the header is loaded safely here and then given to audformat, and tables
are read as text from Parquet or CSV, never from pickles.

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

import contextlib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import audformat
import numpy as np
import pandas as pd
import yaml

from soundcheck.common import files
from soundcheck.common.messages import Problems, did_you_mean, input_error, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import NUMBER, TextTable, decode_text, read_text_table
from soundcheck.corpora.formats.tables import HEADER, refuse_several
from soundcheck.corpora.labels import LABEL, SEX
from soundcheck.corpora.raw_table import Excluded, RawTable, split_column, unused
from soundcheck.corpora.splits import ALL, DEV, TEST, TRAIN, split_class
from soundcheck.suite.corpus_format import RESERVED_COLUMNS, CorpusEntry

TABLE = "table"  # the name under which a column of ours is the name of the table that brought a segment
HEADER_BYTES = 10 * 1024**2
INDEX = ("file", "start", "end")
ATTRIBUTES = {"sex": ("sex", "gender"), "language": ("language",), "accent": ("accent", "native_language")}
TEXT = "."  # behind the name of a field: the text that its code stands for
IDENTITIES = ("speaker", "item")  # for which a code is as good as a text, and surely unique
SPOKEN = ("transcript", "transcript_written")
SPOKEN_FIELDS = ("transcript", "transcription", "text", "sentence")  # of labels that stand for what is said
DEFAULTS = {"name": "", "source": "", "usage": "unrestricted"}  # that audformat needs and nobody here
SAVE_AGAIN = "Save the database again with audformat"

_LANGUAGE = re.compile(r"[a-z]{2,3}([-_]\w+)?")  # a code of ISO 639

Source = tuple[str, str, str]  # column of a table, its scheme, a field of the scheme's labels
Labels = dict[str, dict[str, str]]  # label -> field -> value; the fields "" and "id" are the label itself


def read_database(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read a database under our column names."""
    return _Database(entry, tasks).read()


class _Database:
    """A database's header and tables."""

    def __init__(self, entry: CorpusEntry, tasks: Mapping[str, Task]) -> None:
        self.entry, self.tasks = entry, tasks
        self.folder_name = entry.shown_path or entry.path.name
        self.where = f"{self.folder_name}/{HEADER}"
        self.header = self._read_header()
        self.tables = self.header.tables
        columns = dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.further_columns])
        self.wanted = [name for name in columns if name not in INDEX]
        self.notices: list[str] = []
        self.unknown: Counter[tuple[str, str]] = Counter()  # scheme, label that it does not know -> cells
        self.scales: dict[str, dict[tuple[float, float], str]] = {}  # task -> scale -> a table with it
        self.used: set[str] = set()  # columns
        self._labels_of = functools.cache(self._read_labels)
        self._sources_of = functools.cache(self._find_sources)

    def read(self) -> RawTable:
        """Read all tables and join them."""
        tables = list(self.entry.tables) or self._useful_tables()
        attributes = list(self.entry.options.get("attributes", ()))
        every = [*tables, *attributes]
        self._check_names(every)
        texts = [self._read_table(name) for name in every]
        parts = [self._rows(name, text) for name, text in zip(every, texts, strict=True)]
        scales = self._declared_scales()
        frame = _join(parts[: len(tables)], texts)
        places = [place for text in texts[: len(tables)] for place in text.row_places()]
        brought = {*frame}
        for name, part in zip(attributes, parts[len(tables) :], strict=True):
            self._add_attributes(frame, name, part, brought)
        if "language" not in frame and len(self.header.languages) == 1:
            frame["language"] = str(self.header.languages[0])
        columns = [column for name in every for column in self.tables[name].columns]
        self.notices += unused(columns, self.used) + unused(self.tables, every, "tables")
        left_out = []
        for (scheme, text), n in sorted(self.unknown.items()):
            reason = f"not among the labels of scheme {quoted(scheme)}: {n} rows"
            left_out.append(Excluded(f"label {quoted(text)}", reason, LABEL))
        kinds = {name: about.type for name, about in self.header.splits.items()}
        return RawTable(
            frame.reset_index(drop=True),
            [places[row] for row in frame.index],
            self.entry.path,
            self.where,
            tuple(left_out),
            tuple(self.notices),
            offered=tuple(self._offered(every)),
            split_kinds={name: kind for name, kind in kinds.items() if kind in (TRAIN, DEV, TEST)},
            scales=scales,
        )

    def _read_header(self) -> audformat.Database:
        refuse_several(self.entry.path, self.folder_name)
        path = files.require_regular(self.entry.path / HEADER, self.where, HEADER_BYTES)
        text = decode_text(path.read_bytes(), self.where)
        try:
            header = yaml.load(text, Loader=yaml.CSafeLoader)
            return audformat.Database.load_header_from_yaml({**DEFAULTS, **header})
        except Exception as error:  # whatever YAML and audformat trip over
            mark = getattr(error, "problem_mark", None)
            line = f" line {mark.line + 1}" if mark else ""
            reason = getattr(error, "problem", None) or f"{type(error).__name__} {error}"
            what = f"the header cannot be read safely ({' '.join(reason.split())[:200]})"
            remedy = f"Only plain YAML without tags is read. {SAVE_AGAIN}"
            raise input_error(f"{self.where}{line}", what, remedy) from error

    def _read_table(self, name: str) -> TextTable:
        """Read a table by its id; Parquet before CSV as audformat does, never a pickle."""
        for suffix in (".parquet", ".csv"):
            path = files.inside(self.entry.path, f"db.{name}{suffix}")
            if path.exists():
                return read_text_table(path, f"{self.folder_name}/db.{name}{suffix}")
        what = f"the table {quoted(name)} has neither a CSV nor a Parquet file; pickles are not read"
        remedy = "Save the database again with storage_format='csv'"
        raise input_error(f"{self.folder_name}/db.{name}.csv", what, remedy)

    # Choosing -----------------------------------------------------------------------------------------------

    def _useful_tables(self) -> list[str]:
        """List the tables of one kind that have at least one column of use."""
        kinds: Counter[str] = Counter()  # kind of a table -> columns of tasks
        useful = {}
        for table, about in self.tables.items():
            if names := [name for name in self.wanted if self._source(name, table)]:
                useful[table] = about.type
                kinds[about.type] += sum(name in self.tasks for name in names)
        if not useful:
            theirs = ", ".join(self._offered(self.tables))
            remedy = f"Map columns with `columns: {{arousal: <theirs>}}`. Theirs: {theirs}"
            raise input_error(self.where, "no table has a column that can be tested", remedy)
        kind = kinds.most_common(1)[0][0]
        if others := [quoted(table) for table in useful if useful[table] != kind]:
            chosen = "name tables under `tables:` to read others"
            self.notices.append(f"only {kind} tables are read, not {', '.join(others)}; {chosen}")
        return [table for table in useful if useful[table] == kind]

    def _check_names(self, tables: list[str]) -> None:
        """Refuse names of tables and columns that the database does not have."""
        problems = Problems()
        for name in [name for name in tables if name not in self.tables]:
            remedy = did_you_mean(name, self.tables)
            problems.add(f"{self.where}, tables", f"no table is called {quoted(name)}", remedy)
        problems.raise_if_any()
        for name, column in self.entry.columns.items():
            if name not in INDEX and not any(self._source(name, table) for table in tables):
                what = f"corpora.{self.entry.name}.columns.{name} names {quoted(column)}, and no table has it"
                problems.add(self.where, what, did_you_mean(column, self._offered(tables)))
        problems.raise_if_any()

    def _find_sources(self, table: str) -> dict[str, Source]:
        """List the names under which values of a table can be had: columns, schemes, fields of labels."""
        schemes = {column: about.scheme_id or "" for column, about in self.tables[table].columns.items()}
        sources = {column: (column, scheme, "") for column, scheme in schemes.items()}
        named = [(scheme, column, scheme, "") for column, scheme in schemes.items()]
        for column, scheme in schemes.items():
            fields = dict.fromkeys(field for label in self._labels_of(scheme).values() for field in label)
            for prefix in (column, scheme):
                named += [(f"{prefix}.{field}", column, scheme, field) for field in fields]
        for name, *source in [*named, (TABLE, TABLE, "", "")]:
            sources.setdefault(name, tuple(source))
        return sources

    def _offered(self, tables: Iterable[str]) -> list[str]:
        """List the names of columns and of the fields of their labels."""
        sources = [item for table in tables for item in self._sources_of(table).items()]
        names = [column for _, (column, _, field) in sources if column != TABLE and not field]
        paths = [name for name, (column, *_) in sources if name.startswith(f"{column}.")]
        paths = [name for name in paths if not name.endswith((".id", TEXT))]
        return sorted(dict.fromkeys([*names, *paths]))

    def _source(self, wanted: str, table: str) -> Source | None:
        """Find where a column of ours comes from."""
        named = self.entry.columns.get(wanted)
        names = [named] if named else [wanted, *(f"speaker.{name}" for name in ATTRIBUTES.get(wanted, ()))]
        names += [] if named else [f"speaker.{wanted}"]
        return next(filter(None, map(self._sources_of(table).get, names)), None)

    def _meaning(self, wanted: str, source: Source) -> Source:
        """Choose between codes and what they stand for, and say so."""
        column, scheme, field = source
        labels = list(self._labels_of(scheme).values())
        if wanted in IDENTITIES or wanted in self.entry.blocks or not labels:
            return source
        fields = dict.fromkeys(name for label in labels for name in label)
        codes, texts = ([label.get(name, "") for label in labels] for name in (field, field + TEXT))
        spoken = [name for name in (*SPOKEN_FIELDS, scheme) if name in fields and wanted in SPOKEN]
        chosen = field
        if field + TEXT in fields and self._fitting(texts, wanted) >= self._fitting(codes, wanted):
            chosen = field + TEXT
        elif spoken and not field:
            chosen = spoken[0]
        if chosen != field:
            label = next(label for label in labels if chosen in label)
            example = f"{quoted(label[chosen], 40)} for {quoted(label[field], 40)}"
            what = f"{wanted} is what the labels of {quoted(scheme)} stand for, such as {example}"
            self.notices.append(f"{what}; `{column}.{field or 'id'}` is the code")
        elif wanted in SPOKEN and field in ("", "id") and len(fields) > 2:
            others = [f"{column}.{name}" for name in fields if name not in ("", "id") and name[-1] != TEXT]
            what = f"{wanted} is a code of {quoted(scheme)}, such as {quoted(codes[0], 40)}"
            self.notices.append(f"{what}; what it stands for: {', '.join(others) or column}")
        return column, scheme, chosen

    def _fitting(self, words: Iterable[str], wanted: str) -> int:
        """Count the words that mean something in a column of ours."""
        task = self.tasks.get(wanted)
        known = {*self.entry.values.get(wanted, ()), *(task.classes if task else ())}
        if wanted == "sex":
            return sum(word in known or word.strip().lower() in SEX for word in words)
        pattern = _LANGUAGE if wanted == "language" else NUMBER if task and task.is_regression else None
        return sum(word in known or bool(pattern and pattern.fullmatch(word)) for word in words)

    # Labels -------------------------------------------------------------------------------------------------

    def _read_labels(self, scheme: str) -> Labels:
        """Read what is said about each label of a scheme; nothing if any value is allowed."""
        about = self.header.schemes.get(scheme)
        if about is None or about.labels is None:
            return {}
        labels, coded = about.labels, {}  # field -> its code -> text
        if isinstance(labels, str):
            misc, table = self.header.misc_tables[labels], self._read_table(labels)
            for field, column in misc.columns.items():
                known = self.header.schemes.get(column.scheme_id)
                if known is not None and isinstance(known.labels, dict):
                    coded[field] = {str(code): text for code, text in known.labels.items()}
            frame = pd.DataFrame(table.columns, dtype=object).set_index(next(iter(misc.levels)))
            frame = frame[~frame.index.duplicated()].drop(columns=[*misc.levels], errors="ignore")
            labels = frame.to_dict("index")
        fields = {}
        for label, meaning in (labels if isinstance(labels, dict) else dict.fromkeys(labels)).items():
            values = meaning if isinstance(meaning, dict) else {TEXT: meaning}
            texts = {field + TEXT: coded[field].get(values[field]) for field in coded if field in values}
            fields[str(label)] = {
                str(field): str(value)
                for field, value in {"": label, "id": label, **values, **texts}.items()
                if value not in (None, "") and not isinstance(value, dict)
            }
        return fields

    def _note_scale(self, task: Task, source: Source, table: str) -> None:
        """Note the lowest and highest number that a scheme allows, if it says so."""
        _, scheme, field = source
        about = self.header.schemes.get(scheme)
        if about is None or field:
            return
        ends = [end for end in (about.minimum, about.maximum) if end is not None]
        with contextlib.suppress(ValueError):  # labels are words
            ends = sorted(map(float, self._labels_of(scheme) or ends))
            if len(ends) > 1 and (ends[0], ends[-1]) != (task.low, task.high):
                self.scales.setdefault(task.name, {})[ends[0], ends[-1]] = table

    def _declared_scales(self) -> dict[str, tuple[float, float]]:
        """Choose the scales that schemes declare, where the suite has none."""
        chosen = {}
        scales = {task: tables for task, tables in self.scales.items() if task not in self.entry.ranges}
        for task, tables in scales.items():
            listed = ", ".join(f"{low:g} to {high:g} (table {name})" for (low, high), name in tables.items())
            if len(tables) > 1:
                what = f"tables declare different scales of {task}: {listed}"
                raise input_error(self.where, what, "Choose tables of one scale with `tables:`")
            else:
                chosen[task] = next(iter(tables))
                self.notices.append(f"{task}: the scale is that of the scheme in the database, {listed}")
        return chosen

    # Rows ---------------------------------------------------------------------------------------------------

    def _rows(self, name: str, table: TextTable) -> pd.DataFrame:
        """Give the rows of a table under our names; labels that a scheme does not know are empty."""
        sources = {wanted: self._source(wanted, name) for wanted in self.wanted}
        if sources["split"] is None and (split := split_column(table, self.entry)):
            sources["split"] = self._sources_of(name).get(split)
            self.notices.append(f"split is the column {split}; `columns:` takes another")
        sources = {wanted: self._meaning(wanted, source) for wanted, source in sources.items() if source}
        self.used |= {source[0] for source in sources.values()}
        for task in self.tasks.values():
            if task.is_regression and task.name in sources:
                self._note_scale(task, sources[task.name], name)
        about = self.tables[name]
        cells = pd.DataFrame(table.columns, dtype=object)
        if TABLE not in about.columns:
            cells[TABLE] = name
        needed = INDEX if about.type == "segmented" else INDEX[:1]
        for column in [*needed, *(source[0] for source in sources.values())]:
            if column not in cells:
                remedy = f"{did_you_mean(column, table.columns)}. {SAVE_AGAIN}"
                raise input_error(f"{table.header}, column {column}", "the column is missing", remedy)
        frame = cells.reindex(columns=INDEX, fill_value="").astype(object)
        for index in INDEX[1:]:
            frame[index] = _seconds(frame[index])
        for wanted, (column, scheme, field) in sources.items():
            labels = self._labels_of(scheme)
            texts = {label: fields.get(field, "") for label, fields in labels.items()}
            frame[wanted] = cells[column].map(texts).fillna("") if labels else cells[column]
        for column, scheme in {source[:2] for source in sources.values()}:
            if labels := self._labels_of(scheme):
                unknown = cells[column][(cells[column] != "") & ~cells[column].isin(labels)]
                self.unknown.update((scheme, text) for text in unknown)
        if "split" not in frame:
            chosen = self.entry.split == (ALL,) or self.entry.tables
            split = about.split_id or ("" if chosen else split_class(name))
            frame = frame.assign(split=split) if split else frame
        return frame.astype(object)

    def _add_attributes(self, frame: pd.DataFrame, name: str, part: pd.DataFrame, brought: set[str]) -> None:
        """Fill columns that segments have not brought from a table that lists none."""
        keys = list(INDEX if self.tables[name].type == "segmented" else INDEX[:1])
        rows = part.drop(columns=[column for column in {*part} & brought if column not in keys])
        rows = rows.set_index(keys)
        rows = rows[~rows.index.duplicated()]
        wanted = pd.MultiIndex.from_frame(frame[keys]) if len(keys) > 1 else pd.Index(frame[keys[0]])
        if not wanted.isin(rows.index).any():
            kind = "segments" if len(keys) > 1 else "files"
            self.notices.append(f"the table {quoted(name)} tells nothing: it has none of the {kind}")
        for column, cells in rows.reindex(wanted).fillna("").items():
            known, cells = frame.get(column), cells.to_numpy(object)
            frame[column] = cells if known is None else known.where(known != "", cells)


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
    group = frame.groupby(list(INDEX), sort=False).ngroup()
    first = pd.Series(frame.index).groupby(group).transform("first").to_numpy()  # that brought the segment
    brought = table == table[first]  # twice in one table is reported later, with both lines
    is_first = first == frame.index
    names = frame.columns[len(INDEX) :]
    cells = frame[names].where((frame[names] != "").mul(~brought | is_first, axis=0), None)
    known = cells.groupby(group).transform("first")
    frame.loc[is_first, names] = known[is_first].fillna("")
    problems = Problems()
    for row, place in np.argwhere(cells.notna() & (cells != known)):
        column = names[place]
        what = f"{quoted(frame[column][row])} contradicts {quoted(frame[column][first[row]])}"
        other = cells[column][group == group[row]].first_valid_index()
        origin = texts[table[other]].where(line[other])
        where = texts[table[row]].where(line[row], column)
        problems.add(where, f"{what} of {origin}", "Choose the tables with `tables:`")
    problems.raise_if_any()
    return frame[brought]
