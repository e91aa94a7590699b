"""Lays out the finished site: what pages load and nothing else, moved into place whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from soundcheck.common import files

NOT_PUBLISHED = (
    *(".map", ".buildinfo"),  # of the theme's scripts, and Sphinx's own note
    *("webpack-macros.html", "fontawesome.js"),  # of templates; see book/_templates
    *(".ttf", "fa-brands-400.woff2", "fa-regular-400.woff2"),  # for old browsers; icons of no page
)
LOCALES = "locales"  # texts of the theme in other languages; books are in English


def lay_out(
    built: Path, target: Path, *, style: str, media: Iterable[Path], beside: Iterable[tuple[str, Path]]
) -> None:
    """Make the folder of a site.

    ``built`` is what Sphinx wrote; it writes into the same files again, so they are copied. ``style`` is of
    :func:`soundcheck.book.run_style.run_style`; ``media`` get a second name in the site; ``beside`` are names
    and files of finished pages and tables.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(built, target, ignore=_spare)
    files.write_text(target / "_static" / "run.css", style)
    (target / "media").mkdir()
    for path in media:
        _share(path, target / "media" / path.name)
    for name, path in beside:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _spare(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith(NOT_PUBLISHED) or name == LOCALES]


def _share(path: Path, target: Path) -> None:
    """Give a file a second name; copy it where the file system knows no hard links."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def into_place(site: Path, html: Path) -> None:
    """Move a finished site to where the book is read, the old one out of the way first."""
    old = html.with_name("html-old")
    shutil.rmtree(old, ignore_errors=True)
    if html.exists():
        os.replace(html, old)
    os.replace(site, html)
    shutil.rmtree(old, ignore_errors=True)


def signature(html: Path) -> str:
    """Digest of names, sizes and times of all files, which tell whether anybody has changed a site."""
    found = []
    for folder, _, names in os.walk(html):
        for path in (os.path.join(folder, name) for name in names):
            seen = os.lstat(path)
            found.append((os.path.relpath(path, html), seen.st_size, seen.st_mtime_ns))
    return files.digest(repr(sorted(found)))
