"""``format: audformat``: a folder with ``db.yaml`` and tables, as audb leaves it.

``audb.load_to`` writes a database into the folder that it is given. ``audb.load`` writes it into
``<cache>/<name>/<version>/<flavour>``, where the flavour, eight hexadecimal digits, stands for the sampling
rate and format that were asked for.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import FolderKeys, TableFormat
from soundcheck.suite.entries import CorpusEntry

HEADER = "db.yaml"
_FLAVOUR = re.compile("[0-9a-f]{8}")


class AudformatKeys(FolderKeys):
    """Keys of a database."""

    tables: schema.Texts = ()
    attributes: schema.Texts = ()  # tables that only tell more about the segments of the others


class AudformatFormat(TableFormat):
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
