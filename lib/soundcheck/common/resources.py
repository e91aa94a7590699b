"""Finds notebooks, thresholds and book pages: in a checkout or in an installed wheel.

They lie beside ``lib/`` in a checkout, where people edit them, and travel inside a wheel as
``soundcheck/_share``. A suite may bring families of its own in folders ``notebooks``, ``thresholds`` and
``book/methods`` beside its suite.yml; those come first.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def root() -> Path:
    """Folder that holds ``notebooks``, ``thresholds``, ``book`` and the demo's ``suite.yml``."""
    share = PACKAGE / "_share"
    return share if share.is_dir() else PACKAGE.parent.parent


def find(name: str, own: Path | None = None) -> Path | None:
    """Find a file such as ``thresholds/fairness_sex.yml``.

    - ``name``: path relative to the root, with ``/``.
    - ``own``: folder of the suite, looked at first.
    - Returns the file, or ``None`` if neither place has it.
    """
    for place in (own, root()):
        if place is not None and (place / name).is_file():
            return place / name
    return None


def names(folder: str, suffix: str, own: Path | None = None) -> list[str]:
    """List the stems of all files of a folder, sorted, the suite's own included."""
    found = set()
    for place in (own, root()):
        if place is not None and (place / folder).is_dir():
            found |= {
                path.stem
                for path in (place / folder).iterdir()
                if path.suffix == suffix and not path.name.startswith(".") and path.is_file()
            }
    return sorted(found)
