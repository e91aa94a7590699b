"""What is wrong with the pages of a book, as Chromium and axe-core see them.

Run ``python benchmarks/pages_in_browser.py build/html``; ``--all`` looks at each page instead of the largest
of each kind, and at both widths in both themes. It needs the packages of the tests, and Chromium.

Ends with 1 if anything is found: an error, a request to anywhere but the disk, a finding of axe-core, a page
that is wider than its window or larger than 1 MB.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from soundcheck.book.site import OURS, PAGE_BYTES

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.support.browser import SIZES, THEMES, missing, started_browser

SEEN = ((1400, "light"), (390, "dark"))
EXAMPLES = 3  # of a finding, that are printed


def kind(name: str) -> str:
    """Name the kind of a page: results by their family, others by their folder."""
    folder, *rest = name.split("/")
    if not rest:
        return name
    return f"{folder}/*/{rest[-1]}" if folder == "results" else "/".join([folder, *["*"] * len(rest)])


def pages(html: Path, every: bool) -> Iterator[tuple[str, Path]]:
    """Give pages by name, with the largest of each kind or all."""
    found = {path.relative_to(html).as_posix(): path for path in sorted(html.rglob("*.html"))}
    found = {name: path for name, path in found.items() if not OURS & set(path.parts)}
    kinds = defaultdict(list)
    for name in found:
        kinds[name if every else kind(name)].append(name)
    for names in kinds.values():
        largest = max(names, key=lambda name: found[name].stat().st_size)
        yield largest, found[largest]


def main() -> int:
    """Look at the pages and print what is found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("html", type=Path)
    parser.add_argument("--all", action="store_true")
    chosen = parser.parse_args()
    if why := missing():
        print(why)
        return 2
    views = [(width, theme) for width in SIZES for theme in THEMES] if chosen.all else SEEN
    count, where, examples = Counter(), defaultdict(set), defaultdict(list)
    largest, looked = ("", 0), 0
    with started_browser() as browser:
        for name, path in pages(chosen.html, chosen.all):
            looked += 1
            largest = max(largest, (name, path.stat().st_size), key=lambda one: one[1])
            for width, theme in views:
                for said in browser.complaints(path, width=width, theme=theme):
                    rule = said.partition(":")[0]
                    count[rule] += 1
                    where[rule].add(kind(name))
                    examples[rule].append(f"{name} ({width}, {theme}): {' '.join(said.split())[:400]}")
            print(f"{looked} {name}", file=sys.stderr, flush=True)
    print(f"{looked} pages, {len(views)} times each; the largest: {largest[0]}, {largest[1]:,} bytes")
    for rule, number in count.most_common():
        print(f"{number:6} {rule}: {len(where[rule])} kinds: {', '.join(sorted(where[rule]))[:300]}")
        for example in examples[rule][:EXAMPLES]:
            print(f"         {example}")
    return int(bool(count) or largest[1] > PAGE_BYTES)


if __name__ == "__main__":
    sys.exit(main())
