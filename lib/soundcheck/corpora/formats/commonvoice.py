"""``format: commonvoice``: a release of Common Voice, tables with tabs beside a folder of clips."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from soundcheck.common.errors import InputError, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import FileOrFolder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable

CLIPS = "clips"
TEST = "test"
NAMES = {
    "file": ("path",),
    "speaker": ("client_id",),
    "transcript": ("sentence",),
    "sex": ("gender",),
    "accent": ("accents",),
    "language": ("locale",),
}
SEVERAL = re.compile(r"[,|]")  # between the accents that somebody chose


class CommonVoiceKeys(TableKeys):
    """Keys of a release: its folder, of which ``split`` names a table, or one of its tables."""

    path: FileOrFolder = ""


class CommonVoiceFormat(TableFormat):
    """Releases of Common Voice."""

    keyword = "commonvoice"
    keys = CommonVoiceKeys
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "sex": {"male_masculine": "male", "female_feminine": "female", "do_not_wish_to_say": ""},
        "age": {"fourties": "forties"},
    }

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table of a release under our column names.

        Raises InputError: if there is no such table, it is none, or a column is missing.
        """
        from soundcheck.common.text_table import read_tab_table
        from soundcheck.corpora.format_hints import with_hint
        from soundcheck.corpora.joined_tables import join
        from soundcheck.corpora.table_keys import take_columns

        names, notices = _tables(entry)
        tables = []
        for path, shown in names.items():
            try:
                tables.append(read_tab_table(path, shown))
            except InputError as error:
                raise with_hint(error, path, shown, cls.keyword) from error
        table, places = join(tables, ", ".join(names.values()))
        raw = take_columns(table, entry, tasks, NAMES)
        clips = path.parent / CLIPS
        notices += raw.notices
        if "accent" in raw.table.columns:
            counts = raw.table["accent"].value_counts()
            several = counts[[bool(SEVERAL.search(text)) for text in counts.index]]
            if len(several):
                told = f"{several.sum()} rows name several accents, such as {quoted(several.index[0], 60)}"
                notices.append(f"{told}: each such cell is a group of its own; `values:` maps them")
        root = clips if clips.is_dir() else path.parent
        return dataclasses.replace(raw, places=places, root=root, notices=tuple(notices))


def _tables(entry: CorpusEntry) -> tuple[dict[Path, str], list[str]]:
    """Find the tables that an entry means, with what messages call them; say which are not read."""
    from soundcheck.corpora.splits import kinds_of, pick

    shown = entry.shown_path or entry.path.name
    if not entry.path.is_dir():
        if entry.split is not None:
            what = f"path names a table already, so the split {quoted(entry.split[0])} says nothing"
            raise input_error(f"corpora.{entry.name}.split", what, "Remove it, or name the folder under path")
        return {entry.path: shown}, []
    names = sorted(path.stem for path in entry.path.glob("*.tsv") if path.is_file())
    kinds, found = kinds_of(names, {}), []
    for wanted in entry.split or (None,):
        meant = [name for name in pick(kinds, wanted) if wanted or kinds[name]]
        if not meant or (wanted and len(meant) > 1):
            what = f"there is no table {quoted(f'{wanted or TEST}.tsv')}"
            remedy = did_you_mean(wanted or TEST, names) or "Name the folder that holds test.tsv and clips"
            raise input_error(shown, what, f"`split:` names one of the tables. {remedy}")
        found += meant
    others = ", ".join(f"{other}.tsv" for other in names if kinds[other] and other not in found)
    which = "are the tables" if len(found) > 1 else "is the table"
    told = f"evaluated {which} {', '.join(f'{name}.tsv' for name in found)}; not used: {others or 'none'}"
    tables = {entry.path / f"{name}.tsv": f"{shown.rstrip('/')}/{name}.tsv" for name in found}
    return tables, [told] if others or len(found) > 1 else []
