"""``format: commonvoice``: a release of Common Voice, tables with tabs beside a folder of clips."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from soundcheck.common.errors import InputError, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_tab_table
from soundcheck.corpora.raw_table import RawTable, entry_name, join, take_columns, with_format_hint
from soundcheck.corpora.splits import TEST, evaluated, kinds_of, pick
from soundcheck.suite.corpus_format import FileOrFolder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

NAMES = {
    **{"file": ("path",), "speaker": ("client_id",), "transcript": ("sentence",), "sex": ("gender",)},
    **{"accent": ("accents",), "language": ("locale",)},
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
        """Read tables of a release under our column names."""
        paths, notices = _tables(entry)
        table, places = join(
            [_read(path, source) for path, source in paths.items()], ", ".join(paths.values())
        )
        folder = next(iter(paths)).parent
        clips = folder / "clips"
        raw = take_columns(
            table, entry, tasks, NAMES, places=places, root=clips if clips.is_dir() else folder
        )
        accents = Counter(raw.table["accent"]) if "accent" in raw.table.columns else Counter()
        accent_notices, several = (
            [],
            {text: count for text, count in accents.most_common() if SEVERAL.search(text)},
        )
        if several:
            example = quoted(next(iter(several)), 60)
            what = f"{sum(several.values())} rows name several accents, such as {example}"
            accent_notices = [f"{what}: each such cell is a group of its own; `values:` maps them"]
        return dataclasses.replace(raw, notices=(*notices, *raw.notices, *accent_notices))


def _read(path: Path, source: str) -> TextTable:
    try:
        return read_tab_table(path, source)
    except InputError as error:
        raise with_format_hint(error, path, source, CommonVoiceFormat.keyword) from error


def _tables(entry: CorpusEntry) -> tuple[dict[Path, str], list[str]]:
    """Find the tables that an entry means, with what messages call them; say which are not read."""
    source = entry_name(entry)
    if not entry.path.is_dir():
        if entry.split is not None:
            what = f"path names a table already, so the split {quoted(entry.split[0])} says nothing"
            raise input_error(f"corpora.{entry.name}.split", what, "Remove it, or name the folder under path")
        return {entry.path: source}, []
    names = sorted(path.stem for path in entry.path.glob("*.tsv") if path.is_file())
    kinds, chosen = kinds_of(names, {}), []
    for wanted in entry.split or (None,):
        meant = [name for name in pick(kinds, wanted) if wanted or kinds[name]]
        if not meant or (wanted and len(meant) > 1):
            what = f"there is no table {quoted(f'{wanted or TEST}.tsv')}"
            remedy = did_you_mean(wanted or TEST, names) or "Name the folder that holds test.tsv and clips"
            raise input_error(source, what, f"`split:` names one of the tables. {remedy}")
        chosen += meant
    others = ", ".join(f"{other}.tsv" for other in names if kinds[other] and other not in chosen)
    named = ", ".join(f"{name}.tsv" for name in chosen)
    notice = evaluated("table", named, others, len(chosen))
    tables = {entry.path / f"{name}.tsv": f"{source}/{name}.tsv" for name in chosen}
    return tables, [notice] if others or len(chosen) > 1 else []
