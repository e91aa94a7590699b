"""What no site may have: links and anchors that lead nowhere, and text that nobody wrote for readers."""

import html
import json
import re
import urllib.parse
from pathlib import Path

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
NO_TEXT = re.compile(r"<(script|style|code|pre)\b.*?</\1>|<[^>]*>", re.DOTALL)
RAW = re.compile(r"\$\\math\w+|, inf\]|\(-inf,|<NA>|\bnan\b|\bNone\b(?! of)|\.wav(?=[a-z])")


def _attributes(path: Path, name: str) -> list[str]:
    """Give the values of an attribute of all elements of a page."""
    text = re.sub(
        r"(<script\b[^>]*>).*?</script>|<!--.*?-->", r"\1", path.read_text("utf-8"), flags=re.DOTALL
    )
    return [html.unescape(value) for value in re.findall(rf'<[^<>]*?\s{name}="([^"]*)"', text)]


def dead_links(site: Path) -> list[str]:
    """List links of all pages, and of what scripts show, that lead out of the site or nowhere."""
    site = site.resolve()
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    anchors = {path: {"", *_attributes(path, "id"), *_attributes(path, "name")} for path in pages}
    links = [(path, link) for path in pages for name in ("href", "src") for link in _attributes(path, name)]
    links += [(site / "index.html", link) for link in (*_rows(site), *_searched(site))]
    dead = set()
    for path, link in links:
        name, _, anchor = link.partition("#")
        target = (path.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else path
        known = target not in anchors or anchor.startswith(":~:")
        known = known or urllib.parse.unquote(anchor) in anchors[target]
        if not (ELSEWHERE.match(link) or (target.exists() and target.is_relative_to(site) and known)):
            dead.add(f"{path.relative_to(site)}: {link}")
    return sorted(dead)


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
    places = [place for _, _, entry in data["entries"] for place in entry]
    return [f"{data['pages'][page][0]}.html#{''.join(more[:1])}" for page, *more in places]


def raw_text(site: Path) -> list[str]:
    """List what only programs should see: formulas of ticks, bins, missing values."""
    problems = []
    for path in (*site.rglob("*.html"), *site.rglob("media/*.svg")):
        if "_static" not in path.parts:
            words = html.unescape(NO_TEXT.sub(" ", path.read_text(encoding="utf-8")))
            excerpts = (words[max(0, match.start() - 30) : match.end() + 20] for match in RAW.finditer(words))
            problems += [f"{path.relative_to(site)}: …{text}" for text in excerpts]
    return problems
