"""Looks at the finished site: is every page there, is nothing fetched from elsewhere, does nothing leak."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path

from soundcheck.book.executed import user_name
from soundcheck.book.sphinx_run import SECRET
from soundcheck.common.errors import Problem
from soundcheck.common.escaping import escape
from soundcheck.common.media import SOUNDS

PAGE_BYTES = 1_000_000
TEXT_SUFFIXES = {".html", ".js", ".css", ".svg", ".csv", ".json", ".txt", ".inv"}
# What a page or a style sheet loads; addresses of links, in comments and of SVG name spaces are not fetched.
_FETCHED = re.compile(
    r"""(?:@import\s*["']|url\(\s*["']?|<(?:script|img|audio|video|source|iframe)\b[^>]*\ssrc\s*=\s*["']?|"""
    r"""<link\b(?![^>]*\brel=["']?canonical)[^>]*\shref\s*=\s*["']?)\s*(https?:|//)""",
    re.IGNORECASE,
)
_SOUNDING = re.compile(r"<(audio|video)\b|data:(audio|video)/", re.IGNORECASE)
UNHEARD_REMEDY = "Show recordings by soundcheck.report.players alone, or build the book with --voices all"
OURS = {"_static"}  # folder of the theme, whose own links are not ours to check


def inspect(html: Path, expected: Iterable[str], out: Path, *, sounds: bool = True) -> list[Problem]:
    """Check a finished site; empty if it can be published.

    ``expected`` are names of pages without suffix, the path of the output folder ``out`` must not appear, and
    without ``sounds`` nothing may be heard.
    """
    absent = [name for name in expected if not (html / f"{name}.html").is_file()]
    problems = [Problem(f"html/{name}.html", "the page is missing") for name in absent]
    leaks = _leaks(out)
    for path in sorted(html.rglob("*")):
        name = path.relative_to(html)
        where = f"html/{name.as_posix()}"
        if not sounds and path.suffix.lower() in SOUNDS:
            problems.append(Problem(where, "a sound, in a book without them", UNHEARD_REMEDY))
        if path.suffix not in TEXT_SUFFIXES or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        kind, ours = {".css": "style sheet", ".html": "page"}.get(path.suffix), bool(OURS & set(name.parts))
        if kind and _FETCHED.search(text) and not (ours and kind == "page"):
            problems.append(Problem(where, f"the {kind} loads something from outside"))
        if ours:
            continue
        # Most texts do not hold the words at all, which is known sooner than what stands around them.
        held = {what for word, pattern, what in leaks if word in text and pattern.search(text)}
        problems += [Problem(where, f"the file holds {what}") for what in sorted(held)]
        large = len(text.encode()) > PAGE_BYTES and name.parts[0] != "sheets"  # which carry their sounds
        if kind == "page" and large:
            problems.append(Problem(where, f"the page is larger than {PAGE_BYTES} bytes"))
        if kind == "page" and not sounds and _SOUNDING.search(text):
            problems.append(Problem(where, "the page plays a sound, in a book without them", UNHEARD_REMEDY))
    return problems


Leak = tuple[str, re.Pattern[str], str]  # a word, where it is a leak, and what it is


def _leaks(out: Path) -> list[Leak]:
    """List what belongs to this machine and not into a publication."""
    found: list[Leak] = []
    for folder, what in {out: "output", Path.home(): "home", Path.cwd(): "working"}.items():
        for text in sorted({str(folder), escape(folder, None)}):  # as it is and as HTML has it
            if len(folder.parts) > 1:
                # Not inside of a longer path or address: "/root" is no leak in "https://a.org/root".
                pattern = re.compile(rf"(?<![\w.~-]){re.escape(text)}(?![\w.-])")
                found.append((text, pattern, f"the path of the {what} folder"))
    if name := user_name():
        found.append((name, re.compile(rf"/(home|Users)/{re.escape(name)}\b"), "the user's name"))
    for name, value in os.environ.items():
        if len(value) > 8 and SECRET.search(name.upper()):
            what = f"the value of the environment variable {name}"
            found.append((value, re.compile(re.escape(value)), what))
    host = socket.gethostname()
    if len(host) > 5 and "." in host:
        found.append((host, re.compile(re.escape(host)), "the name of this computer"))
    return found
