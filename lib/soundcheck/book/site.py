"""Lays out the finished site: what pages load and nothing else, moved into place whole or not at all.

The title of the suite, the day of the run and the digest of its results stand in one style sheet of a site,
which says them below each page and on each sheet of paper: a page that says the same after the next run stays
as it is, byte for byte.
"""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.escaping import css_string
from soundcheck.results.record import RunRecord

NOT_PUBLISHED = (
    *(".map", ".buildinfo"),  # of the theme's scripts, and Sphinx's own note
    *("webpack-macros.html", "fontawesome.js"),  # of templates; see book/_templates
    *(".ttf", "fa-brands-400.woff2", "fa-regular-400.woff2"),  # for old browsers; icons of no page
)
_PRINTED = 70  # characters of a title that fit into the margin of a sheet
LOCALES = "locales"  # texts of the theme in other languages; books are in English


def lay_out(
    built: Path, target: Path, *, style: str, media: Iterable[Path], beside: Iterable[tuple[str, Path]]
) -> None:
    """Make the folder of a site.

    ``built`` is what Sphinx wrote; it writes into the same files again, so they are copied. ``style`` is of
    :func:`run_style`; ``media`` get a second name in the site; ``beside`` are names
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


def run_style(record: RunRecord, day: datetime.date) -> str:
    """Write the style sheet; ``day`` is when the run ended, in UTC."""
    about = f"run of {day.isoformat()}, results {record.run}"
    shown = css_string(f", {record.title}, {about}", 300)
    left = css_string(record.title, _PRINTED)
    right = css_string(f"{about}, Soundcheck {record.version}, page ")
    font = "font: 7pt sans-serif; color: #555;"
    return (
        f".sc-footer::after {{ content: {shown}; }}\n"
        "@page {\n"
        f"  @bottom-left {{ content: {left}; {font} }}\n"
        f'  @bottom-right {{ content: {right} counter(page) " / " counter(pages); {font} }}\n'
        "}\n"
    )
