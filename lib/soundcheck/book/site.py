"""Lays out the finished site: what pages load and nothing else, moved into place whole or not at all."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from soundcheck.common import files

# Of MathJax: the component that pages load, and what that loads when a formula asks for it.
MATHJAX = ("tex-chtml.js", "input/tex/extensions", "output/chtml/fonts/woff-v2")
SPARE = ("input/tex/extensions/all-packages.js",)  # all of its neighbours once more
NOT_PUBLISHED = (
    *(".map", ".buildinfo"),  # of the theme's scripts, and Sphinx's own note
    *("webpack-macros.html", "sphinx-thebe.js", "sphinx-thebe.css"),  # of templates, and for servers
    "fontawesome.js",  # draws icons that the style sheet has as a font
    *(
        ".ttf",
        "fa-brands-400.woff2",
        "fa-regular-400.woff2",
    ),  # for old browsers; icons of no page
)
LOCALES = "locales"  # texts of the theme in other languages; books are in English


def lay_out(
    built: Path,
    target: Path,
    *,
    style: str,
    media: Iterable[Path],
    tables: Iterable[Path],
    finished: Mapping[str, Path] | None = None,
) -> None:
    """Make the folder of a site.

    Parameters
    ----------
    built
        What Sphinx wrote; it writes into the same files again, so that they are copied.
    target
        The new folder.
    style
        Style sheet that says at the end of each page of which run it is, from
        :func:`soundcheck.book.run_style.run_style`.
    media
        Sounds and pictures; they get a second name in the site.
    tables
        Tables that pages offer.
    finished
        Name of a page that Sphinx has not made, without suffix -> its file.
    """
    shutil.rmtree(target, ignore_errors=True)
    static = target / "_static"
    shutil.copytree(built, target, ignore=_spare)
    _mathjax(static / "mathjax")
    files.write_text(static / "run.css", style)
    (target / "media").mkdir()
    for path in media:
        _share(path, target / "media" / path.name)
    for path in tables:
        shutil.copyfile(path, target / path.name)
    for name, path in (finished or {}).items():
        place = target / f"{name}.html"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _spare(folder: str, names: list[str]) -> list[str]:
    """Choose what is not published."""
    return [name for name in names if name.endswith(NOT_PUBLISHED) or name == LOCALES]


def _mathjax(target: Path) -> None:
    """Put what shows formulas beside the pages; it comes with an extension of Sphinx."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    source = Path(found.submodule_search_locations[0]) / "static" / "mathjax"
    for name in MATHJAX:
        chosen = [path for path in (source / name, *(source / name).rglob("*")) if path.is_file()]
        for path in chosen:
            below = path.relative_to(source)
            if below.as_posix() not in SPARE:
                (target / below).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / below)


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
