"""What the search knows beside the words of pages: families, models, corpora, groups, and segments on pages.

Conventions
-----------
- An entry is a name, its kind, and its places; a place is the number of a page, where on it (``""`` = at its
  top), and what is said of it. Segments have pages only.
- It is made from what the pages are made of and from their sources, whichever were written anew: the same
  book has the same index.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import executed
from soundcheck.book.script_data import script
from soundcheck.common import files
from soundcheck.common.escaping import escape, one_line, shorten, xml_text
from soundcheck.common.wording import counted
from soundcheck.corpora.corpus import Corpus
from soundcheck.report.verdict_tables import anchor_of, state_order
from soundcheck.results.page_names import corpus_page, model_page, result_page
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL

NAME = "search_entries.js"
MOST_SEGMENTS = 2000  # that the index names
_TEXT = re.compile(r">([^<>]{1,300})<")
_WORDS = re.compile(r"[\s,;:()|\\]+")


def data(record: RunRecord, results: pd.DataFrame, corpora: Sequence[Corpus], sources: Path) -> str:
    """Write the file that the search loads.

    Parameters
    ----------
    record
        The run's record.
    results
        The finished results table.
    corpora
        What was tested.
    sources
        Folder of the book's sources, with all pages of results and corpora.
    """
    titles = {family.name: family.title for family in record.families}
    pages = {f"methods/{files.slug(name)}": one_line(title) for name, title in titles.items()}
    pages |= {model_page(model.slug): f"Model {one_line(model.name)}" for model in record.models}
    pages |= {corpus_page(corpus.slug): f"Corpus {one_line(corpus.name)}" for corpus in record.corpora}
    for entry in record.notebooks:
        page = result_page(entry.model, entry.family)
        pages[page] = executed.title(entry.model, titles.get(entry.family, entry.family))
    number = {page: place for place, page in enumerate(pages)}
    entries = [
        *_families(record, number),
        *_named("model", [(model.name, model_page(model.slug)) for model in record.models], number),
        *_named("corpus", [(corpus.name, corpus_page(corpus.slug)) for corpus in record.corpora], number),
        *_groups(results, number),
    ]
    names = {str(name) for corpus in corpora for name in corpus.segments["file"].unique()}
    found = segments_on_pages(names, sources, [page for page in pages if not page.startswith("methods/")])
    for name, places in list(found.items())[:MOST_SEGMENTS]:
        entries.append([_text(name), "segment", [[number[page]] for page in places]])
    shown = [[page, title] for page, title in pages.items()]
    return script("search", {"entries": entries, "left": max(0, len(found) - MOST_SEGMENTS), "pages": shown})


def segments_on_pages(names: set[str], sources: Path, pages: Iterable[str]) -> dict[str, list[str]]:
    """Find the pages that name a segment.

    Parameters
    ----------
    names
        Files of segments.
    sources
        Folder of the sources.
    pages
        Names of pages.
    """
    written = {escape(name, None): name for name in names}
    found: dict[str, list[str]] = {}
    for page in pages:
        path = sources / f"{page}.ipynb"
        if not path.is_file():
            continue
        texts = set(_TEXT.findall(path.read_text(encoding="utf-8")))
        words = {word for text in texts for word in (text, *_WORDS.split(text))}
        for word in sorted(words & written.keys()):
            found.setdefault(written[word], []).append(page)
    return dict(sorted(found.items()))


def _text(name: str) -> str:
    return xml_text(shorten(name))


def _families(record: RunRecord, number: dict[str, int]) -> Iterator[list]:
    for family in record.families:
        places = [[number[f"methods/{files.slug(family.name)}"], "", "method"]]
        for entry in record.notebooks:
            if entry.family == family.name:
                places.append([number[result_page(entry.model, entry.family)], "", "results"])
        yield [_text(family.title), "family", places]


def _named(kind: str, named: Sequence[tuple[str, str]], number: dict[str, int]) -> Iterator[list]:
    for name, page in named:
        yield [_text(name), kind, [[number[page], "", ""]]]


def _groups(results: pd.DataFrame, number: dict[str, int]) -> Iterator[list]:
    """List groups with the pages that test them, each with its worst row and how many tests fail."""
    own = results[results["group"].ne("")]
    worst: dict[tuple[str, str, str], tuple[float, int]] = {}  # group, model and family -> its row
    failed: Counter[tuple[str, str, str]] = Counter()
    keys = zip(own["group"], own["model"], own["family"], strict=True)
    rows = zip(keys, own["state"], own["p_value"], own["mirrors"], strict=True)
    for place, (key, state, p, mirrors) in enumerate(rows):
        order = state_order(state, p)
        if key not in worst or order < worst[key][0]:
            worst[key] = order, place
        failed[key] += state == FAIL and not mirrors
    found: dict[str, list[list]] = {}
    rows = own.iloc[[place for _, place in worst.values()]].itertuples()
    for (group, model, family), first in zip(worst, rows, strict=True):
        places, page = found.setdefault(group, []), result_page(model, family)
        if page in number:
            fails = failed[group, model, family]
            said = f"{counted(fails, 'test')} {'fails' if fails == 1 else 'fail'}" if fails else ""
            places.append([fails, number[page], anchor_of(first), said])
    for group in sorted(found):
        places = sorted(found[group], key=lambda place: -place[0])
        yield [_text(group), "group", [place[1:] for place in places]]
