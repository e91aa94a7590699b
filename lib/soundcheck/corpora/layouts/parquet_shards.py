"""Reads the columns of data sets in Parquet shards, all but the sounds.

Conventions
-----------
- Shards are ``<split>-00000-of-00003.parquet``, or any Parquet file below a folder that is called like a
  split. Only shards of the split that is evaluated are opened.
- Columns of text, numbers and truth values are columns here; lists, structures and bytes are not. Numbers
  that stand for classes (``ClassLabel``) become the names that the file gives; -1, null and NaN are missing.
- The column of the sounds is a structure with ``bytes``, or bytes; ``path`` in it names the recording.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, cell_texts
from soundcheck.corpora.layouts.hugging_face import split_among, split_name
from soundcheck.corpora.splits import choose
from soundcheck.suite.entries import CorpusEntry

_NUMBERED = re.compile(r"(\w[\w.+-]*?)-(\d{5})-of-(\d{5})(?:-[0-9a-f]+)?\.parquet")
_CELLS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_floating)
_CELLS += (pa.types.is_boolean, pa.types.is_decimal, pa.types.is_temporal, pa.types.is_null)
_CELLS += (pa.types.is_dictionary,)


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of a data set: where it is, how messages call it, and its split, ``""`` = none."""

    path: Path
    shown: str
    split: str


def chosen_shards(entry: CorpusEntry) -> tuple[list[Shard], list[str]]:
    """Find the shards of the split that is evaluated, in the order of their names.

    - ``entry``: the suite's entry; ``path`` is a folder or a single file.
    - Returns ``shards``: At least one.
    - Returns ``notices``: Shards of the split that are not there, and splits that are not read.
    - Raises InputError: if there is no shard, none of the split, or shards of several data sets.
    """
    shown = (entry.shown_path or entry.path.name).rstrip("/")
    found, absent = _list(entry.path, shown)
    counts = collections.Counter(shard.split for shard in found)
    chosen, notices = choose(counts, entry, shown, "shard", {})
    notices += [told for split, told in absent if split in chosen]
    return [shard for shard in found if shard.split in chosen], notices


def _list(path: Path, shown: str) -> tuple[list[Shard], list[tuple[str, str]]]:
    """List all shards; and for each split what is missing by the numbers in the names."""
    if path.is_file():
        return [Shard(path, shown, _split(path.name, [])[0])], []
    found, sets = [], set()
    numbers: dict[tuple[str, str, int], set[int]] = collections.defaultdict(set)
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        parts = Path(folder).relative_to(path).parts
        for name in sorted(name for name in names if name.endswith(".parquet") and name[0] != "."):
            split, number, count = _split(name, parts)
            place = _inside(path, Path(*parts, name), "/".join([shown, *parts, name]))
            found.append(Shard(place, "/".join([shown, *parts, name]), split))
            sets.add(tuple(part for part in parts if part != "data" and not split_among([part])))
            if count:
                numbers["/".join(parts), split, count].add(number)
    if not found:
        raise input_error(shown, "there is no Parquet file in the folder", "Name the folder with the shards")
    if len(sets) > 1:
        named = ", ".join(sorted("/".join(one) or "." for one in sets)[:10])
        what = f"there are shards of several data sets: {named}"
        raise input_error(shown, what, "Name one of these folders under path")
    absent = [
        (split, f"{count - len(there)} of {count} shards of {quoted(split)} are not there")
        for (_, split, count), there in numbers.items()
        if len(there) < count
    ]
    return found, absent


def _inside(root: Path, name: Path, shown: str) -> Path:
    """Refuse links out of the folder, as those of a download's own cache are."""
    try:
        return files.inside(root, name)
    except InputError as error:
        remedy = "Download the data set into a folder of its own, without links, or name the shard under path"
        raise input_error(shown, "the link leads out of the folder", remedy) from error


def _split(name: str, parts: Sequence[str]) -> tuple[str, int, int]:
    """Tell the split of a file, its number, and how many there are; 0 = not numbered."""
    if numbered := _NUMBERED.fullmatch(name):
        return split_name(numbered[1]), int(numbered[2]), int(numbered[3])
    return split_among([*parts, name.removesuffix(".parquet")]), 0, 0


def opened(shard: Shard) -> pq.ParquetFile:
    """Open a shard, for a ``with`` statement.

    Raises InputError: if it is no regular file, or no Parquet file, or one that is cut.
    """
    files.require_regular(shard.path, shard.shown, maximum=1 << 60)
    try:
        return pq.ParquetFile(shard.path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(shard.shown, error) from error


def _damaged(where: str, error: Exception) -> InputError:
    what = f"it is no Parquet file, or a damaged one ({str(error).splitlines()[0][:100]})"
    return input_error(where, what, "Download it again")


def sound_column(shard: Shard, entry: CorpusEntry) -> str:
    """Name the column that holds the sounds; ``columns: {file: name}`` of a suite chooses.

    Raises InputError: if there is none, or several and the suite does not choose.
    """
    with opened(shard) as file:
        schema, shown = file.schema_arrow, shard.shown
    found = [field.name for field in schema if _holds_sounds(field.type)]
    named = entry.columns.get("file")
    if named in found or (named is None and len(found) == 1):
        return named or found[0]
    if named is None and "audio" in found:
        return "audio"
    if named is None and found:
        what = f"several columns hold bytes: {', '.join(found)}"
        raise input_error(shown, what, f"Choose one with `columns: {{file: {found[0]}}}`")
    what = f"the column {quoted(named)} does not hold sounds" if named else "no column holds sounds"
    others = f"Those that do: {', '.join(found)}" if found else "A table of names of files is `format: csv`"
    raise input_error(shown, f"{what} (a structure with bytes and path, or bytes)", others)


def _holds_sounds(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        place = kind.get_field_index("bytes")
        return place >= 0 and _holds_sounds(kind.field(place).type)
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def recordings(shard: Shard, column: str) -> tuple[list[str], list[int]]:
    """Say how the recordings of a shard are called, ``""`` = not at all, and how many a row group has.

    Raises InputError: if the shard is damaged, or does not have the column.
    """
    with opened(shard) as file:
        if file.schema_arrow.names.count(column) != 1:
            what = f"it does not have the column {quoted(column)} that the first shard has"
            raise input_error(shard.shown, what, "Are these shards of the same data set?")
        groups = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return _paths(shard, file, column), groups


def _paths(shard: Shard, file: pq.ParquetFile, column: str) -> list[str]:
    kind = file.schema_arrow.field(column).type
    if not pa.types.is_struct(kind) or kind.get_field_index("path") < 0:
        return [""] * file.metadata.num_rows
    try:
        found = file.read(columns=[f"{column}.path"]).column(column)
        return [(value or {}).get("path") or "" for value in found.to_pylist()]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(shard.shown, error) from error


def sounds_in(shard: Shard, column: str, group: int) -> Iterator[bytes | None]:
    """Read the sounds of a row group, a few at a time; ``None`` = there is none."""
    try:
        with opened(shard) as file:
            for part in file.iter_batches(32, row_groups=[group], columns=[column]):
                for value in part.column(0).to_pylist():
                    yield value.get("bytes") if isinstance(value, dict) else value
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(f"{shard.shown}, row group {group}", error) from error


def read_cells(shard: Shard) -> TextTable:
    """Read all columns of a shard that are cells, as text."""
    with opened(shard) as file:
        return _read_cells(shard, file)


def _read_cells(shard: Shard, file: pq.ParquetFile) -> TextTable:
    schema = file.schema_arrow
    names = [field.name for field in schema if any(is_kind(field.type) for is_kind in _CELLS)]
    for name in names:
        if names.count(name) > 1:
            raise input_error(shard.shown, f"two columns are called {quoted(name)}", "Keep one of them")
    try:
        table = file.read(columns=names)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(shard.shown, error) from error
    classes = _class_names(schema)
    cells = {name: _cells(table.column(name), classes.get(name)) for name in names}
    nested = {field.name: str(field.type) for field in schema if field.name not in cells}
    return TextTable(cells, range(1, table.num_rows + 1), "row", shard.shown, nested)


def _cells(column: pa.ChunkedArray, classes: Sequence[str] | None) -> list[str]:
    if pa.types.is_floating(column.type) and not pa.types.is_float16(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    if classes is not None and pa.types.is_integer(column.type):
        known = dict(enumerate(classes)) | {None: ""}
        return [
            known.get(number, "" if number is None or number < 0 else str(number))
            for number in column.to_pylist()
        ]
    return cell_texts(column)


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Read from the schema what numbers of classes mean; what is odd there means nothing."""
    try:
        about = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = about["info"]["features"]
        named = {name: kind["names"] for name, kind in features.items() if kind["_type"] == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: [str(one) for one in names] for name, names in named.items() if isinstance(names, list)}
