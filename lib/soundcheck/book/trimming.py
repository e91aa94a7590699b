"""Takes out of a finished site what no page of it ever asks for: most of MathJax, source maps, locales."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["trim"]

# Of MathJax: the component that pages load, and what that loads when a formula or a reader asks for it.
MATHJAX = ("tex-chtml.js", "a11y", "input", "output", "ui")
SPARE = ("input/asciimath", "input/asciimath.js", "input/mml", "input/mml.js", "output/svg", "output/svg.js")


def trim(site: Path) -> None:
    """Remove files of extensions and of the theme that a book does not use.

    Parameters
    ----------
    site
        Folder of the finished site.
    """
    static = site / "_static"
    mathjax = static / "mathjax"
    if mathjax.is_dir():
        for path in [
            *(path for path in mathjax.iterdir() if path.name not in MATHJAX),
            *map(mathjax.joinpath, SPARE),
        ]:
            _remove(path)
    _remove(static / "locales")  # texts of the theme in other languages; books are in English
    for path in static.rglob("*.map"):
        path.unlink()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
