"""What the search knows beside the words of pages: families and tests, models, corpora, groups, and segments.

An entry is a name, its kind, and its places; a place is the number of a page, where on it (``""`` = at its
top), and what is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from soundcheck.book import executed
from soundcheck.book.methods import published_name
from soundcheck.book.script_data import script, text
from soundcheck.common import files
from soundcheck.common.escaping import escape, one_line
from soundcheck.common.wording import counted
from soundcheck.report.names import measure
from soundcheck.report.verdict_tables import anchor_of, state_order
from soundcheck.results.page_names import corpus_page, model_page, result_page
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL

NAME = "search_entries.js"
MOST_SEGMENTS = 2000  # that the index names
_TEXT = re.compile(r">([^<>]{1,300})<")
_WORDS = re.compile(r"[\s,;:()|\\]+")


def data(
    record: RunRecord, results: pd.DataFrame, segments: Iterable[str] = (), sources: Path = Path()
) -> str:
    """Write the file that the search loads; segments of corpora are looked for in pages of ``sources``."""
    titles = {family.name: family.title for family in record.families}
    pages = {f"methods/{files.slug(name)}": one_line(title) for name, title in titles.items()}
    pages |= {model_page(model.slug): f"Model {one_line(model.name)}" for model in record.models}
    pages |= {corpus_page(corpus.slug): f"Corpus {one_line(corpus.name)}" for corpus in record.corpora}
    for entry in record.notebooks:
        pages[result_page(entry.model, entry.family)] = executed.title(entry.model, titles[entry.family])
    number = {page: place for place, page in enumerate(pages)}
    entries = [
        *_families(record, number),
        *([text(model.name), "model", [[number[model_page(model.slug)], "", ""]]] for model in record.models),
        *([text(one.name), "corpus", [[number[corpus_page(one.slug)], "", ""]]] for one in record.corpora),
        *_rows(results.assign(test=results["test"].map(measure)), "test", number),
        *_rows(results[results["group"].ne("")], "group", number),
    ]
    found = _segments(segments, sources, [page for page in pages if not page.startswith("methods/")])
    for name, places in list(found.items())[:MOST_SEGMENTS]:
        entries.append([text(name), "segment", [[number[page]] for page in places]])
    left = max(0, len(found) - MOST_SEGMENTS)
    return script("search", {"entries": entries, "left": left, "pages": [*map(list, pages.items())]})


def _families(record: RunRecord, number: Mapping[str, int]) -> Iterator[list]:
    """List families by title, and the published ones also as their source names them."""
    for family in record.families:
        places = [[number[f"methods/{files.slug(family.name)}"], "", "method"]]
        for entry in record.notebooks:
            if entry.family == family.name:
                places.append([number[result_page(entry.model, entry.family)], "", "results"])
        for name in filter(None, (family.title, published_name(family.name))):
            yield [text(name), "family", places]


def _rows(rows: pd.DataFrame, kind: str, number: Mapping[str, int]) -> Iterator[list]:
    """List tests or groups with the pages that have them, each at its worst row and with its fails."""
    rows = rows.assign(order=[*map(state_order, rows["state"], rows["p_value"])])
    rows = rows.assign(fails=rows["state"].eq(FAIL) & rows["mirrors"].eq(""))
    for name, own in rows.groupby(kind, sort=True):
        places = []
        for (model, family), part in own.groupby(["model", "family"], sort=False):
            page, fails = result_page(model, family), int(part["fails"].sum())
            if page in number:
                worst = next(part.loc[[part["order"].idxmin()]].itertuples())
                anchor = "" if kind == "test" else anchor_of(worst)
                said = f"{counted(fails, 'test')} {'fails' if fails == 1 else 'fail'}" if fails else ""
                places.append([fails, number[page], anchor, said])
        places.sort(key=lambda place: -place[0])
        yield [text(name), kind, [place[1:] for place in places]]


def _segments(names: Iterable[str], sources: Path, pages: Iterable[str]) -> dict[str, list[str]]:
    """Find the pages that name a segment."""
    written = {escape(name, None): name for name in names}
    found: dict[str, list[str]] = {}
    paths = {page: sources / f"{page}.ipynb" for page in pages}
    for page, path in paths.items():
        texts = set(_TEXT.findall(path.read_text(encoding="utf-8"))) if path.is_file() else ()
        words = {word for each in texts for word in (each, *_WORDS.split(each))}
        for word in sorted(words & written.keys()):
            found.setdefault(written[word], []).append(page)
    return dict(sorted(found.items()))
