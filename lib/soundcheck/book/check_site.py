"""Looks at the finished site: is every page there, does every link lead somewhere, does nothing leak."""

from __future__ import annotations

import os
import re
import socket
import urllib.parse
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

from soundcheck.book.executed import user_name
from soundcheck.book.pages import MARK
from soundcheck.common import files
from soundcheck.common.errors import Problem
from soundcheck.common.escaping import escape
from soundcheck.common.media import SOUNDS

PAGE_BYTES = 1_000_000
TEXT_SUFFIXES = {".html", ".js", ".css", ".svg", ".csv", ".json", ".txt", ".inv"}
SECRET = re.compile("TOKEN|KEY|SECRET|PASS")
SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
OUTSIDE = re.compile(r"\s*(https?:|//)", re.IGNORECASE)
FETCHED = re.compile(
    r"""(@import\s*["']|url\(\s*["']?)\s*(https?:|//)""", re.IGNORECASE
)  # addresses in comments and SVG name spaces are not fetched
LOADED = {"script": "src", "img": "src", "audio": "src", "source": "src", "iframe": "src", "link": "href"}
SOUNDING = re.compile(r"<(audio|video)\b|data:(audio|video)/", re.IGNORECASE)
UNHEARD_REMEDY = "Show recordings by soundcheck.report.players alone, or build the book with --voices all"
OURS = {"_static", "_sphinx_design_static"}  # folders of the theme, whose own links are not ours to check


class _Page(HTMLParser):
    """Collects what a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.marks: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found:
            unimportant = tag == "link" and found.get("rel") in (
                "canonical",
                "index",
                "search",
                "next",
                "prev",
            )
            (self.links if unimportant else self.loaded).append(found[LOADED[tag]])
        if MARK in found.get("class", "").split():
            self.marks.append((found.get("data-page", ""), found.get("data-content", "")))


def inspect(
    html: Path,
    expected: Mapping[str, str],
    out: Path,
    known: Mapping[str, str] | None = None,
    larger: Mapping[str, int] | None = None,
) -> tuple[list[Problem], dict[str, str]]:
    """Check a finished site.

    Parameters
    ----------
    html
        Its folder.
    expected
        Name of each page that must be there, without suffix -> the content that its mark must name.
    out
        Output folder, whose path must not appear.
    known
        File -> digest of its content, of a site that had no problem: a page that has not changed is not
        parsed again if it names nothing that was there then and is gone.
    larger
        Name of a page that may be larger than others -> how many bytes it may have.

    Returns
    -------
    list of Problem
        Empty if the site can be published.
    dict
        File -> digest of its content, of this site.
    """
    problems: list[Problem] = []
    there = {path.relative_to(html).as_posix(): path for path in html.rglob("*") if path.is_file()}
    digests = {name: files.digest(path) if path.suffix == ".html" else "" for name, path in there.items()}
    known = known or {}
    gone = {form(name) for name in known.keys() - there.keys() for form in (_last, _quoted)}
    for name, mark in expected.items():
        page = there.get(f"{name}.html")
        if page is None:
            problems.append(Problem(f"html/{name}.html", "the page is missing"))
            continue
        content = page.read_text(encoding="utf-8", errors="replace")
        same = digests[f"{name}.html"] == known.get(f"{name}.html") and f'data-content="{mark}"' in content
        if same and not any(last in content for last in gone):
            continue
        parser = _Page()
        parser.feed(content)
        if (name, mark) not in parser.marks:
            problems.append(Problem(f"html/{name}.html", "the page is not the one that this run made"))
        most = (larger or {}).get(name, PAGE_BYTES)
        if len(content.encode()) > most:
            problems.append(Problem(f"html/{name}.html", f"the page is larger than {most} bytes"))
        problems += _references(html, page, parser)
    problems += _styles(html)
    problems += _leaks(html, out)
    return problems, digests


def sounds_in(html: Path) -> list[Problem]:
    """Search a site that is to be without sounds for any: files, players, sounds inside of pages."""
    problems = []
    for path in sorted(html.rglob("*")):
        where = f"html/{path.relative_to(html).as_posix()}"
        if path.suffix.lower() in SOUNDS:
            problems.append(Problem(where, "a sound, in a book without them", UNHEARD_REMEDY))
        elif path.suffix == ".html" and SOUNDING.search(path.read_text(encoding="utf-8", errors="replace")):
            problems.append(Problem(where, "the page plays a sound, in a book without them", UNHEARD_REMEDY))
    return problems


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _quoted(name: str) -> str:
    return urllib.parse.quote(_last(name))


def _references(html: Path, page: Path, parser: _Page) -> list[Problem]:
    where = f"html/{page.relative_to(html)}"
    problems = []
    for address in parser.loaded:
        if OUTSIDE.match(address):
            problems.append(Problem(where, f"the page loads {address[:80]} from outside"))
    root = os.path.abspath(html)
    for address in sorted({*parser.links, *parser.loaded}):
        name = urllib.parse.unquote(address.partition("#")[0].partition("?")[0])
        if not name or SCHEME.match(address):
            continue
        target = os.path.abspath(page.parent / name)  # a name that begins with "/" leads to the disk's root
        if target != root and not target.startswith(root + os.sep):
            problems.append(Problem(where, f"the link {address[:80]} leads out of the book"))
        elif not os.path.exists(target):
            problems.append(Problem(where, f"the link {address[:80]} leads nowhere"))
    return problems


def _styles(html: Path) -> list[Problem]:
    """Search style sheets for what they would fetch from elsewhere."""
    return [
        Problem(f"html/{path.relative_to(html)}", "the style sheet loads something from outside")
        for path in sorted(html.rglob("*.css"))
        if FETCHED.search(path.read_text(encoding="utf-8", errors="replace"))
    ]


def _leaks(html: Path, out: Path) -> list[Problem]:
    """Search all texts of the site for what belongs to this machine and not into a publication."""
    folders = {out: "output", Path.home(): "home", Path.cwd(): "working"}
    searched = [
        (text, re.compile(rf"(?<![\w.~-]){re.escape(text)}(?![\w.-])"), f"the path of the {what} folder")
        # Not inside of a longer path or address: "/root" is no leak in "https://a.org/root".
        for folder, what in folders.items()
        for text in sorted({str(folder), escape(folder, None)})  # as it is and as HTML has it
        if len(folder.parts) > 1
    ]
    if name := user_name():
        searched.append((name, re.compile(rf"/(home|Users)/{re.escape(name)}\b"), "the user's name"))
    words = {}
    for name, value in os.environ.items():
        if len(value) > 8 and SECRET.search(name.upper()):
            words[value] = f"the value of the environment variable {name}"
    host = socket.gethostname()
    if len(host) > 5 and "." in host:
        words[host] = "the name of this computer"
    problems = []
    for path in html.rglob("*"):
        if path.suffix not in TEXT_SUFFIXES or OURS & set(path.relative_to(html).parts):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found = {what for word, what in words.items() if word in text}
        # Most texts do not hold the words at all, which is known sooner than what stands around them.
        found |= {what for word, pattern, what in searched if word in text and pattern.search(text)}
        problems += [
            Problem(f"html/{path.relative_to(html)}", f"the file holds {what}") for what in sorted(found)
        ]
    return problems
