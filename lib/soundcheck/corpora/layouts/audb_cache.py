"""Folders as audb leaves them: one for each version of a database, in its cache one more for each flavour.

``audb.load_to`` writes a database into the folder that it is given. ``audb.load`` writes it into
``<cache>/<name>/<version>/<flavour>``, where the flavour, eight hexadecimal digits, stands for the sampling
rate and format that were asked for.
"""

from __future__ import annotations

import re
from pathlib import Path

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted

HEADER = "db.yaml"
_FLAVOUR = re.compile("[0-9a-f]{8}")


def _flavours(folder: Path) -> list[Path]:
    """List the flavours in the folder of a version; none if it is a database itself."""
    if (folder / HEADER).exists():
        return []
    try:
        inner = sorted(path for path in folder.iterdir() if _FLAVOUR.fullmatch(path.name))
    except OSError:  # whoever reads the database says what is wrong
        return []
    return [path for path in inner if (path / HEADER).is_file() and not path.is_symlink()]


def only_flavour(folder: Path) -> Path:
    """Give the folder of the database: the only flavour in the folder of a version, or the folder itself."""
    found = _flavours(folder)
    return found[0] if len(found) == 1 else folder


def refuse_several(folder: Path, shown: str) -> None:
    """Refuse the folder of a version with several flavours.

    Raises InputError: naming them.
    """
    found = [path.name for path in _flavours(folder)]
    if len(found) > 1:
        what = f"audb has several flavours of this database: {', '.join(map(quoted, found))}"
        raise input_error(shown, what, f"Name one of them: path: {shown.rstrip('/')}/{found[0]}")
