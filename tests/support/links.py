"""Links of a finished site that lead nowhere: pages, anchors, and what scripts link to."""

import html
import json
import os
import re
import urllib.parse
from pathlib import Path

_ID = re.compile(r'\b(?:id|name)="([^"]*)"')
_LINK = re.compile(r'<a\b[^>]*?\shref="([^"]*)"')
_HEADING = re.compile(r"<h1>([^<]*)<a class=\"headerlink\"")


def _data(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])


def links(site: Path) -> list[tuple[str, str, str]]:
    """List where links of pages and scripts lead: page or script, page, anchor."""
    found = []
    for path in site.rglob("*.html"):
        name = path.relative_to(site).as_posix()
        for link in set(_LINK.findall(path.read_text(encoding="utf-8"))):
            address, _, anchor = html.unescape(link).partition("#")
            if re.match(r"[a-z]+:|//", address):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(address)))
            found.append((name, target if address else name, urllib.parse.unquote(anchor)))
    if (rows := site / "all_results.js").is_file():
        rows = _data(rows)
        found += [
            ("all_results.js", f"{rows['pages'][row[-2]]}.html", f"row-{row[-1]}") for row in rows["rows"]
        ]
    entries = _data(site / "search_entries.js")
    for name, _, places in entries["entries"]:
        for page, *anchor in places:
            found.append(
                (f"search for {name}", f"{entries['pages'][page][0]}.html", anchor[0] if anchor else "")
            )
    return found


def broken(site: Path) -> list[tuple[str, str, str]]:
    """List links that lead nowhere."""
    ids = {
        path.relative_to(site).as_posix(): set(_ID.findall(path.read_text(encoding="utf-8")))
        for path in site.rglob("*.html")
    }
    return [
        (source, target, anchor)
        for source, target, anchor in links(site)
        if not (site / target).exists() or anchor and target in ids and anchor not in ids[target]
    ]


def headings(site: Path) -> dict[str, str]:
    """Give the heading of each page as its HTML has it."""
    found = {
        path.relative_to(site).as_posix(): _HEADING.findall(path.read_text()) for path in site.rglob("*.html")
    }
    return {name: texts[0] for name, texts in found.items() if texts}
