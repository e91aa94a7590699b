"""Formats that are tables, lists or folders of sounds, and databases of audformat.

- ``format: csv``: a table, one row a segment, columns under their own or mapped names.
- ``format: speechbrain``: a CSV table as the recipes of SpeechBrain make it.
- ``format: commonvoice``: a release of Common Voice, tables with tabs beside a folder of clips.
- ``format: trials``: a list of trials and nothing else; its files are those that the list names. A list does
  not say who speaks. The first folder of the names does, if that fits all labels; otherwise recordings that
  the list calls the same speaker belong together.
- ``format: audiofolder`` and ``format: parquet``: data sets as the Hugging Face Hub knows them. A folder of
  sounds has ``metadata`` tables or labels: a table lists the files of its own folder and below, by
  ``file_name``. Without any, each sound is labelled by the folder that it lies in, unless that is a split or
  the corpus itself. Folders that are links, and names that begin with a dot, are passed over. Tables of
  several folders are put together; a column that one of them lacks is empty there. Shards have the sounds in
  them, see :mod:`soundcheck.corpora.parquet_shards`.
- ``format: audformat``: a folder with ``db.yaml`` and tables, as audb leaves it. ``audb.load_to`` writes a
  database into the folder that it is given. ``audb.load`` writes it into
  ``<cache>/<name>/<version>/<flavour>``, where the flavour, eight hexadecimal digits, stands for the sampling
  rate and format that were asked for.
"""

from __future__ import annotations

import dataclasses
import math
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from soundcheck.common import files
from soundcheck.common.json_lines import read_json_table
from soundcheck.common.messages import Problems, counted, input_error, quoted, some
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import (
    TextTable,
    parse_column,
    parse_number,
    read_tab_table,
    read_text_table,
)
from soundcheck.corpora.raw_table import (
    RawTable,
    entry_name,
    join,
    take_columns,
)
from soundcheck.corpora.splits import choose, kinds_of, split_among
from soundcheck.corpora.utterances import plain_path
from soundcheck.suite import corpus_format, schema
from soundcheck.suite.entries import CorpusEntry

# Tables and lists -------------------------------------------------------------------------------------------


class CsvFormat(corpus_format.TableFormat):
    """Tables of segments."""

    keyword = "csv"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names."""
        return take_columns(read_text_table(entry.path, entry_name(entry)), entry, tasks)


SPEECHBRAIN_NAMES = {
    **{"file": ("wav",), "speaker": ("spk_id", "spkID"), "transcript": ("wrd", "words")},
    **{"sex": ("gender",), "item": ("ID",)},
}
_VARIABLE = re.compile(r"^(\$\w+|\{\w+\}|\$\{\w+\})/+")


class SpeechbrainKeys(corpus_format.TableKeys):
    """Keys of a table; ``sampling_rate`` is that of numbers of samples in the columns start and stop."""

    sampling_rate: schema.whole(1, 10_000_000) | None = None


class SpeechbrainFormat(corpus_format.TableFormat):
    """Tables with ``ID, duration, wav, spk_id, wrd``; what stands for a folder in paths is taken away."""

    keyword = "speechbrain"
    keys = SpeechbrainKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names."""
        table = read_text_table(entry.path, entry_name(entry))
        cells = {name: [cell.strip() for cell in column] for name, column in table.columns.items()}
        problems = Problems()
        variables = {match[1] for path in cells.get("wav", ()) if (match := _VARIABLE.match(path))}
        if len(variables) == 1:
            cells["wav"] = [_VARIABLE.sub("", path) for path in cells["wav"]]
        if "stop" in cells:
            rate = entry.options.get("sampling_rate")
            if rate is None:
                what = "are numbers of samples as SpeechBrain writes them"
                remedy = f"Say `sampling_rate: 16000` (or what it is) under corpora.{entry.name}"
                raise input_error(f"{table.header}, columns start and stop", what, remedy)
            for name, new_name in (("start", "start"), ("stop", "end")):
                if name in cells:
                    cells[new_name] = _seconds(cells.pop(name), rate, name, table, problems)
        problems.raise_if_any()
        table = dataclasses.replace(table, columns=cells)
        return take_columns(table, entry, tasks, SPEECHBRAIN_NAMES)


def _seconds(cells: list[str], rate: int, name: str, table: TextTable, problems: Problems) -> list[str]:
    """Turn numbers of samples into seconds."""
    samples, wrong = parse_column(cells, parse_number)
    for row, what in wrong:
        problems.add(table.where(row, name), what, "Give a number of samples")
    return ["" if math.isnan(number) else repr(number / rate) for number in samples.tolist()]


COMMON_VOICE_NAMES = {
    **{"file": ("path",), "speaker": ("client_id",), "transcript": ("sentence",), "sex": ("gender",)},
    **{"accent": ("accents",), "language": ("locale",)},
}


class CommonVoiceFormat(corpus_format.TableFormat):
    """Releases of Common Voice."""

    keyword = "commonvoice"
    keys = corpus_format.FileOrFolderKeys  # of the tables in a folder ``split`` names one
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "sex": {"male_masculine": "male", "female_feminine": "female", "do_not_wish_to_say": ""},
        "age": {"fourties": "forties"},
    }

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read tables of a release under our column names."""
        paths, notices = _tables_of_release(entry)
        tables = [read_tab_table(path, source) for path, source in paths.items()]
        table = join(tables, ", ".join(paths.values()))
        folder = next(iter(paths)).parent
        root = folder / "clips" if (folder / "clips").is_dir() else folder
        return take_columns(table, entry, tasks, COMMON_VOICE_NAMES, root=root, notices=notices)


def _tables_of_release(entry: CorpusEntry) -> tuple[dict[Path, str], list[str]]:
    """Find the tables that an entry means, with what messages call them; say which are not read."""
    source = entry_name(entry)
    if not entry.path.is_dir():
        if entry.split is not None:
            what = f"path names a table already, so the split {quoted(entry.split[0])} says nothing"
            raise input_error(f"corpora.{entry.name}.split", what, "Remove it, or name the folder under path")
        return {entry.path: source}, []
    kinds = kinds_of(sorted(path.stem for path in entry.path.glob("*.tsv") if path.is_file()), {})
    tables = {name: 1 for name, kind in kinds.items() if kind or name in (entry.split or ())}
    if not tables:
        remedy = "Name the folder that holds test.tsv and clips"
        raise input_error(source, "there is no table of a split, such as test.tsv", remedy)
    chosen, notices = choose(tables, entry, source, "table", {})
    return {entry.path / f"{name}.tsv": f"{source}/{name}.tsv" for name in chosen}, notices


class TrialFormat(corpus_format.CorpusFormat):
    """Lists of trials."""

    keyword = "trials"
    reader = "soundcheck.corpora.trials.trial_table:read_trial_corpus"
    keys = corpus_format.TrialKeys

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Say that the corpus is its own list of trials."""
        return dataclasses.replace(entry, trials=entry.path, shown_trials=entry.shown_path)


# Hugging Face -----------------------------------------------------------------------------------------------

FILE, LABEL, SPLIT = "file_name", "label", "split"
NAMES = {  # of data sets on the Hub: our column -> usual names, the first that exists counts
    "transcript": ("transcript", "transcription", "text", "sentence", "normalized_text"),
    "speaker": ("speaker", "speaker_id", "client_id"),
    "sex": ("sex", "gender"),
    "language": ("language", "lang", "locale"),
    "accent": ("accent", "accents"),
}
TABLES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
SOUNDS = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff")  # that are looked for in a folder
MOST_LABELS = 10  # that a notice names


class AudioFolderFormat(corpus_format.TableFormat):
    """Folders of sounds."""

    keyword = "audiofolder"
    keys = corpus_format.FolderKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a folder under our column names."""
        source = entry_name(entry)
        paths, sounds = _walk(entry.path, source)
        if not paths:
            return _labelled(sounds, entry, tasks, source)
        table = join([_read(entry.path, path, source) for path in paths], source)
        _add_splits(table.columns, table.columns[FILE])
        unlisted = len({*sounds}.difference(map(plain_path, table.columns[FILE])))
        notice = f"{counted(unlisted, 'sound')} in the folder stand in no metadata table: not used"
        names = {"file": (FILE,), **NAMES}
        return take_columns(table, entry, tasks, names, notices=[notice] if unlisted else [])


def _walk(root: Path, source: str) -> tuple[list[str], list[str]]:
    """Find the tables and the sounds below a folder, by their names in it."""
    tables, sounds, problems = [], [], Problems()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        below = Path(folder).relative_to(root)
        audible = [name for name in sorted(names) if name.lower().endswith(SOUNDS) and name[0] != "."]
        tables += [(below / name).as_posix() for name in TABLES if name in names]
        sounds += [(below / name).as_posix() for name in audible]
    for name in [name for name in (*tables, *sounds) if name.encode(errors="replace") != os.fsencode(name)]:
        problems.add(source, f"the name {quoted(name)} is not UTF-8", "Rename it, for instance with convmv")
    problems.raise_if_any()
    if not tables and not sounds:
        inside = {path.suffix for path in root.rglob("*.parquet")} and "This looks like `format: parquet`"
        remedy = inside or "Name the folder with metadata.csv, or with a folder for each label"
        what = f"there is neither a metadata table nor a sound ({', '.join(SOUNDS)}) in the folder"
        raise input_error(source, what, remedy)
    return tables, sounds


def _read(root: Path, path: str, source: str) -> TextTable:
    """Read a table; names become relative to the corpus."""
    where, place = f"{source}/{path}", files.inside(root, path)
    if path.endswith(".jsonl"):
        table = read_json_table(place, where, texts=[FILE], needed=[FILE])
    else:
        table = read_text_table(place, where)
    if FILE not in table.columns:
        remedy = f"It has {', '.join(list(table.columns)[:10])}"
        raise input_error(f"{table.header}, column {FILE}", "the column is missing", remedy)
    folder = posixpath.dirname(path)
    names = table.columns[FILE]  # an empty one stays empty, which is refused later
    table.columns[FILE] = [posixpath.join(folder, name) if name else "" for name in names]
    return table


def _labelled(sounds: Sequence[str], entry: CorpusEntry, tasks: Mapping[str, Task], source: str) -> RawTable:
    """Label sounds by the folders that they lie in."""
    columns, notices = {FILE: list(sounds)}, []
    _add_splits(columns, sounds)
    folders = [posixpath.basename(posixpath.dirname(name)) for name in sounds]
    labels = ["" if split_among([name]) or name == "data" else name for name in folders]
    if any(labels):
        columns[LABEL] = labels
        if LABEL not in entry.columns.values():
            named = some([quoted(name) for name in sorted({*labels} - {""})], MOST_LABELS)
            what = f"the folders are the column {LABEL}, which nothing uses: {named}"
            notices = [f"{what}. To test it, map it, for instance `columns: {{emotion: {LABEL}}}`"]
    table = TextTable(columns, [f"{source}/{name}" for name in sounds], "", source)
    return take_columns(table, entry, tasks, {"file": (FILE,)}, (LABEL,), notices=notices)


def _add_splits(columns: dict[str, Sequence[str]], names: Sequence[str]) -> None:
    """Add the splits that the folders of files are, unless there is such a column."""
    splits = [split_among(plain_path(name).split("/")[:-1]) for name in names]
    if SPLIT not in columns and any(splits):
        columns[SPLIT] = splits


class ParquetFormat(corpus_format.TableFormat):
    """Data sets in Parquet shards; see :mod:`soundcheck.corpora.parquet_shards`."""

    keyword = "parquet"
    reader = "soundcheck.corpora.parquet_shards:read_shards"
    keys = corpus_format.FileOrFolderKeys

    @classmethod
    def problems(cls, keys: corpus_format.FileOrFolderKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse folders of sounds that lie in the shards."""
        yield from super().problems(keys)
        for key in ("root", "cut"):
            if getattr(keys, key):
                yield key, "the sounds are in the shards themselves, not in files", "Remove it"

    @classmethod
    def make(cls, entry: CorpusEntry, cache: Path, *, jobs: int, progress: bool) -> CorpusEntry:
        """Write the sounds of the shards into the cache, if the corpus has audio."""
        if not entry.audio:
            return entry
        from soundcheck.corpora.parquet_shards import unpack  # late: it loads pyarrow

        return dataclasses.replace(entry, root=unpack(entry, cache, progress), shown_root="")


# audformat --------------------------------------------------------------------------------------------------

HEADER = "db.yaml"
_FLAVOUR = re.compile("[0-9a-f]{8}")


class AudformatKeys(corpus_format.FolderKeys):
    """Keys of a database."""

    tables: schema.Texts = ()
    attributes: schema.Texts = ()  # tables that only tell more about the segments of the others


class AudformatFormat(corpus_format.TableFormat):
    """Databases of the field; see :mod:`soundcheck.corpora.audformat_database`."""

    keyword = "audformat"
    reader = "soundcheck.corpora.audformat_database:read_database"
    keys = AudformatKeys

    @classmethod
    def problems(cls, keys: AudformatKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse attributes of segments that nothing names."""
        yield from super().problems(keys)
        if keys.attributes and not keys.tables:
            yield "attributes", "it does not say whose attributes", "Add tables: that bring the segments"

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Go on to the only flavour in the folder of a version."""
        if entry.path is None or (folder := only_flavour(entry.path)) == entry.path:
            return entry
        source = f"{entry.shown_path.rstrip('/')}/{folder.name}"
        return dataclasses.replace(entry, path=folder, shown_path=source)


def _flavours(folder: Path) -> list[Path]:
    """List the flavours in the folder of a version; none if it is a database itself."""
    if (folder / HEADER).exists() or not folder.is_dir():
        return []
    inner = sorted(path for path in folder.iterdir() if _FLAVOUR.fullmatch(path.name))
    return [path for path in inner if (path / HEADER).is_file() and not path.is_symlink()]


def only_flavour(folder: Path) -> Path:
    """Give the folder of the database: the only flavour in the folder of a version, or the folder itself."""
    flavours = _flavours(folder)
    return flavours[0] if len(flavours) == 1 else folder


def refuse_several(folder: Path, source: str) -> None:
    """Refuse the folder of a version with several flavours."""
    names = [path.name for path in _flavours(folder)]
    if len(names) > 1:
        what = f"audb has several flavours of this database: {', '.join(map(quoted, names))}"
        raise input_error(source, what, f"Name one of them: path: {source.rstrip('/')}/{names[0]}")
