"""What no site may have: links and anchors that lead nowhere, and text that nobody wrote for readers."""

import json
import re
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class _Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.links += [found[name] for name in ("href", "src") if name in found]


def dead_links(site: Path) -> list[str]:
    """List links of all pages, and of what scripts show, that lead out of the site or nowhere."""
    pages = {path.resolve(): _Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    links = [(path, link) for path, page in pages.items() for link in page.links]
    links += [(site / "index.html", link) for link in (*_rows(site), *_searched(site))]
    dead = []
    for path, link in links:
        if ELSEWHERE.match(link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else path
        page = pages.get(target.resolve())
        there = target.exists() and target.is_relative_to(site.resolve())
        known = page is None or anchor.startswith(":~:") or urllib.parse.unquote(anchor) in page.anchors
        if not there or not known:
            dead.append(f"{path.relative_to(site)}: {link}")
    return sorted(set(dead))


def _data(path: Path) -> dict:
    if not path.is_file():
        return {"rows": [], "entries": []}
    text = path.read_text(encoding="utf-8")
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])


def _rows(site: Path) -> list[str]:
    data = _data(site / "all_results.js")
    return [f"{data['pages'][page]}.html#row-{place}" for *_, page, place in data["rows"]]


def _searched(site: Path) -> list[str]:
    data = _data(site / "search_entries.js")
    places = [place for _, _, found in data["entries"] for place in found]
    return [f"{data['pages'][page][0]}.html#{''.join(more[:1])}" for page, *more in places]


RAW = re.compile(r"\$\\math\w+|, inf\]|\(-inf,|<NA>|\bnan\b|\bNone\b(?! of)|\.wav(?=[a-z])")


class _Words(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("script", "style", "code", "pre")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "code", "pre")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words.append(data)


def raw_text(site: Path) -> list[str]:
    """List what only programs should see: formulas of ticks, bins, missing values."""
    found = []
    for path in (*site.rglob("*.html"), *site.rglob("media/*.svg")):
        if "_static" not in path.parts:
            words = " ".join(_Words(path.read_text(encoding="utf-8")).words)
            shown = (words[max(0, match.start() - 30) : match.end() + 20] for match in RAW.finditer(words))
            found += [f"{path.relative_to(site)}: …{text}" for text in shown]
    return found
