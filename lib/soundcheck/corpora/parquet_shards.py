"""Reads data sets in Parquet shards: the sounds become files in the cache, everything else a table.

- Shards are ``<split>-00000-of-00003.parquet``, or any Parquet file below a folder that is called like a
  split. Only shards of the split that is evaluated are opened.
- Columns of text, numbers and truth values are cells; lists, structures and bytes are not. Numbers of
  classes (``ClassLabel``) become the names that the file gives; -1, null and NaN are missing.
- The column of the sounds is a structure with ``bytes``, or bytes; ``path`` in it names the recording.
- Names of files come from the data only as far as they are plain words; all others, and those that occur
  twice, are made from the numbers of shard and row. No folder comes from the data.
- The folder is that of these shards with this content. What a shard holds is noted when all of its sounds
  are written: a run that was stopped goes on with that shard, and what is gone or cut is written again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from soundcheck.common import files, store
from soundcheck.common.messages import InputError, input_error, quoted
from soundcheck.common.progress import Progress
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, cell_texts, check_names
from soundcheck.corpora.formats.tables import NAMES, SPLIT
from soundcheck.corpora.raw_table import Excluded, RawTable, entry_name, join, take_columns
from soundcheck.corpora.splits import choose, split_among, split_name
from soundcheck.suite.entries import CorpusEntry

_NUMBERED = re.compile(r"(\w[\w.+-]*?)-\d{5}-of-(\d{5})(?:-[0-9a-f]+)?\.parquet")
_MADE = re.compile(r"\d+-\d+(\..*)?")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,150}")


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of a data set."""

    path: Path
    source: str  # how messages call it
    split: str  # "" = none
    numbered: int = 0  # how many shards there are by its name; 0 = it does not say


def unpack(entry: CorpusEntry, cache: Path, progress: bool) -> Path:
    """Write the sounds of the split that is evaluated; gives their folder."""
    shards, _ = _chosen(entry)
    column = _sound_column(shards[0], entry)
    content = [files.digest(_require(shard)) for shard in shards]
    whole = files.digest(repr((content, [shard.split for shard in shards], column)))
    folder = cache / "parquet" / f"{files.slug(entry.name)}-{whole[:10]}"
    names = _names(shards, [_paths(shard, column) for shard in shards])
    with store.lock(folder):
        todo = [number for number in range(len(shards)) if not _is_whole(folder, number, names[number])]
        done = (_write(shards[number], column, names[number], folder, number) for number in todo)
        what = f"shards of {entry.name[:40]}"
        for _ in Progress.over(done, "unpacking", what, len(todo), visible=progress):
            pass
    return folder


def read_shards(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read the table of a corpus under our column names; with audio, ``root`` is what :func:`unpack` gave."""
    shards, notices = _chosen(entry)
    column = _sound_column(shards[0], entry)
    paths = [_paths(shard, column) for shard in shards]
    names = _names(shards, paths)
    tables = []
    for number, shard in enumerate(shards):
        cells = _read_cells(shard, column)
        cells.columns[column] = names[number]
        if not entry.audio:  # any name will do, and theirs say more
            pairs = zip(paths[number], names[number], strict=True)
            cells.columns[column] = [path or name for path, name in pairs]
        if shard.split and SPLIT not in cells.columns:
            cells.columns[SPLIT] = [shard.split] * len(cells)
        tables.append(cells)
    raw = take_columns(join(tables, entry_name(entry)), entry, tasks, {"file": (column,), **NAMES})
    raw = dataclasses.replace(raw, notices=(*notices, *raw.notices))
    if not entry.audio:
        return raw
    sizes = np.array([size for number in range(len(shards)) for size in _sizes(entry.root, number)])
    present = np.flatnonzero(sizes >= 0)
    absent = [raw.places[row] for row in np.flatnonzero(sizes < 0)]
    return dataclasses.replace(
        raw,
        table=raw.table.iloc[present].reset_index(drop=True),
        places=[raw.places[row] for row in present],
        left_out=tuple(Excluded(place, "the shard holds no sound for this row", "audio") for place in absent),
    )


# Shards -----------------------------------------------------------------------------------------------------


def _chosen(entry: CorpusEntry) -> tuple[list[Shard], list[str]]:
    """Find the shards of the split that is evaluated, in the order of their names; and what to say of it."""
    source = entry_name(entry)
    shards = _list(entry.path, source)
    chosen, notices = choose(Counter(shard.split for shard in shards), entry, source, "shard", {})
    shards = [shard for shard in shards if shard.split in chosen]
    counts = Counter((shard.split, shard.path.parent, shard.numbered) for shard in shards if shard.numbered)
    for (split, _, count), present in counts.items() if entry.path.is_dir() else ():
        if present < count:
            notices.append(f"{count - present} of {count} shards of {quoted(split)} are not there")
    return shards, notices


def _list(path: Path, source: str) -> list[Shard]:
    """List all shards."""
    if path.is_file():
        return [Shard(path, source, *_split(path.name, []))]
    shards, sets = [], set()
    for place in sorted(path.rglob("*.parquet"), key=lambda place: (place.parent.parts, place.name)):
        *folders, name = place.relative_to(path).parts
        if any(part.startswith(".") for part in (*folders, name)):
            continue
        display = "/".join([source, *folders, name])
        try:
            files.inside(path, Path(*folders, name))
        except InputError as error:
            remedy = "Download the data set into a folder of its own, without links, or name the shard"
            raise input_error(display, "the link leads out of the folder", f"{remedy} under path") from error
        shards.append(Shard(place, display, *_split(name, folders)))
        sets.add("/".join(part for part in folders if part != "data" and not split_among([part])) or ".")
    if not shards:
        raise input_error(source, "there is no Parquet file in the folder", "Name the folder with the shards")
    if len(sets) > 1:
        what = f"there are shards of several data sets: {', '.join(sorted(sets)[:10])}"
        raise input_error(source, what, "Name one of these folders under path")
    return shards


def _split(name: str, folders: Sequence[str]) -> tuple[str, int]:
    """Tell the split of a file, and of how many shards it is one by its name; 0 = not numbered."""
    if numbered := _NUMBERED.fullmatch(name):
        return split_name(numbered[1]), int(numbered[2])
    return split_among([*folders, name.removesuffix(".parquet")]), 0


def _require(shard: Shard) -> Path:
    return files.require_regular(shard.path, shard.source, maximum=1 << 60)


@contextlib.contextmanager
def _opened(shard: Shard) -> Iterator[pq.ParquetFile]:
    """Open a shard; errors while it is read are reported as damage."""
    try:
        with pq.ParquetFile(_require(shard)) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"it is no Parquet file, or a damaged one ({str(error).splitlines()[0][:100]})"
        raise input_error(shard.source, what, "Download it again") from error


# Sounds -----------------------------------------------------------------------------------------------------


def _sound_column(shard: Shard, entry: CorpusEntry) -> str:
    """Name the column that holds the sounds; ``columns: {file: name}`` of a suite chooses."""
    with _opened(shard) as file:
        names = [field.name for field in file.schema_arrow if _holds_sounds(field.type)]
    named = entry.columns.get("file", "audio" if "audio" in names else names[0] if len(names) == 1 else None)
    if named in names:
        return named
    candidates = ", ".join(map(quoted, names)) or "none has bytes"
    what = f"it is not clear which column holds the sounds ({candidates})"
    remedy = "Choose one with `columns: {file: ...}`; a table of names of files is `format: csv`"
    raise input_error(shard.source, what, remedy)


def _holds_sounds(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        place = kind.get_field_index("bytes")
        return place >= 0 and _is_bytes(kind.field(place).type)
    return _is_bytes(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _paths(shard: Shard, column: str) -> list[str]:
    """Say how the data call the recordings of a shard, ``""`` = not at all."""
    with _opened(shard) as file:
        if file.schema_arrow.names.count(column) != 1:
            what = f"it does not have the column {quoted(column)} that the first shard has"
            raise input_error(shard.source, what, "Are these shards of the same data set?")
        kind = file.schema_arrow.field(column).type
        if not pa.types.is_struct(kind) or kind.get_field_index("path") < 0:
            return [""] * file.metadata.num_rows
        values = file.read(columns=[f"{column}.path"]).column(column).to_pylist()
    return [(value or {}).get("path") or "" for value in values]


def _names(shards: Sequence[Shard], paths: Sequence[Sequence[str]]) -> list[list[str]]:
    """Give each recording a name that is safe, different from all others, and known without its sound.

    >>> shard = Shard(Path("s"), "s", "test")
    >>> _names([shard], [["x/a.wav", "b.wav", "b.wav", "../.c", ""]])
    [['test/a.wav', 'test/0-1.wav', 'test/0-2.wav', 'test/0-3', 'test/0-4']]
    """
    folders = [files.slug(shard.split) if shard.split else "" for shard in shards]
    recordings = [
        (shard, row, posixpath.basename(path.replace("\\", "/")))
        for shard, names_of_shard in enumerate(paths)
        for row, path in enumerate(names_of_shard)
    ]
    counts = Counter((folders[shard], base.lower()) for shard, _, base in recordings)
    names: list[list[str]] = [[] for _ in shards]
    for shard, row, base in recordings:
        plain = _PLAIN.fullmatch(base)
        if not plain or counts[folders[shard], base.lower()] > 1 or _MADE.fullmatch(base):
            base = f"{shard}-{row}{posixpath.splitext(base)[1] if plain else ''}"
        names[shard].append(posixpath.join(folders[shard], base))
    return names


def _sizes(folder: Path, shard: int) -> list[int]:
    """Read how many bytes each sound of a shard has, -1 = there is none; empty if it is not unpacked."""
    return (store.read(folder / ".index" / f"{shard}.json") or {}).get("sizes", [])


def _is_whole(folder: Path, shard: int, names: Sequence[str]) -> bool:
    """Say whether all sounds of a shard are there, as long as they were."""
    sizes = _sizes(folder, shard)
    present = [(folder / name, size) for name, size in zip(names, sizes, strict=False) if size >= 0]
    return len(sizes) == len(names) and all(
        place.is_file() and place.stat().st_size == size for place, size in present
    )


def _write(shard: Shard, column: str, names: Sequence[str], folder: Path, number: int) -> None:
    sizes = []
    for name, data in zip(names, _sounds(shard, column), strict=True):
        sizes.append(-1 if data is None else len(data))
        if data is not None:
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            except OSError as error:
                raise files.not_written("sounds of shards into the cache", error) from error
    store.write(folder / ".index" / f"{number}.json", {"sizes": sizes})


def _sounds(shard: Shard, column: str) -> Iterator[bytes | None]:
    """Read the sounds of a shard, a few at a time; ``None`` = there is none."""
    with _opened(shard) as file:
        for part in file.iter_batches(32, columns=[column]):
            for value in part.column(0).to_pylist():
                yield value.get("bytes") if isinstance(value, dict) else value


# Cells ------------------------------------------------------------------------------------------------------


def _read_cells(shard: Shard, sounds: str) -> TextTable:
    """Read all columns of a shard that are cells, as text; ``sounds`` names the column of sounds."""
    with _opened(shard) as file:
        schema = file.schema_arrow
        cells = [field for field in schema if not (pa.types.is_nested(field.type) or _is_bytes(field.type))]
        names = [field.name for field in cells]
        check_names(names, shard.source)
        table = file.read(columns=names)
        table.validate(full=True)
    classes = _class_names(schema)
    cells = {name: _texts(table.column(name), classes.get(name)) for name in names}
    nested = {field.name: str(field.type) for field in schema if field.name not in {*cells, sounds}}
    return TextTable(cells, range(1, table.num_rows + 1), "row", shard.source, nested)


def _texts(column: pa.ChunkedArray, classes: Sequence[str] | None) -> list[str]:
    if pa.types.is_floating(column.type) and not pa.types.is_float16(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    if classes is None or not pa.types.is_integer(column.type):
        return cell_texts(column)
    known = dict(enumerate(classes))
    return ["" if n is None or n < 0 else known.get(n, str(n)) for n in column.to_pylist()]


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Read from the schema what numbers of classes mean; what is odd there means nothing."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        named = {name: kind["names"] for name, kind in features.items() if kind["_type"] == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: [*map(str, names)] for name, names in named.items() if isinstance(names, list)}
