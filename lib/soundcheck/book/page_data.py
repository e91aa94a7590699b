"""Data for scripts of pages, in files that a page loads as a script: from a disk it may load nothing else.

- ``all_results.js`` has the rows of the page of all results. It names each different value of a column once:
  a row is a list of their numbers, then the number of its page, then where on that page it stands.
- ``search_entries.js`` has what the search knows beside the words of pages: families, tests, models, corpora,
  groups and segments. An entry is a name, its kind, and its places; a place is the number of a page, where on
  it (``""`` = at its top), and what is said of it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from soundcheck.book import executed, pages
from soundcheck.book.methods import published_name
from soundcheck.common import files, templates
from soundcheck.common.messages import counted, escape, one_line, shorten, xml_text
from soundcheck.report import formats, verdict_tables, views
from soundcheck.report.formats import STATE, measure
from soundcheck.report.html import synthetic_notice
from soundcheck.report.verdict_tables import anchor_of, difference_lines, state_lines, state_order
from soundcheck.results.record import RunRecord, result_page
from soundcheck.results.states import FAIL

ROWS, SEARCH = "all_results.js", "search_entries.js"
COLUMNS = ["model", "corpus", "family", "task", "test", "state", "value and 95 % interval"]
COLUMNS += ["difference and 95 % interval", "threshold"]
LINKED, BADGE = COLUMNS.index("family"), COLUMNS.index("state")
MOST_SEGMENTS = 2000  # that the search knows
_TEXT = re.compile(r">([^<>]{1,300})<")
_WORDS = re.compile(r"[\s,;:()|\\]+")


def script(name: str, data: object) -> str:
    r"""Write data as a script that gives them to ours; texts from data are strings and nothing else.

    >>> script("rows", ["</script>"])
    'window.soundcheck.give("rows",["\\u003c/script>"]);\n'
    """
    written = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no line breaks of Unicode
    written = written.replace("<", r"\u003c")
    return f"window.soundcheck.give({json.dumps(name)},{written});\n"


def text(value: str) -> str:
    """Shorten a text from data to what a page shows."""
    return xml_text(shorten(value))


def cell(content: str, *small: str, sort: object = None, facet: str | None = None) -> str | tuple:
    """Give what a cell shows, and is sorted and chosen by, as the script takes it: as short as can be."""
    fields = [text(content), "\n".join(map(text, small)), sort, facet and text(facet)]
    while len(fields) > 1 and fields[-1] in (None, ""):
        fields.pop()
    return tuple(fields) if len(fields) > 1 else fields[0]


def all_results_cells(results: pd.DataFrame, synthetic: bool = False) -> list[dict]:
    """Make the page of all results, which says if any of the speech is ``synthetic``."""
    table = views.listed([], COLUMNS, filters=verdict_tables.FILTERS, stacked=True, beside=ROWS)
    return [
        pages.markdown("# All results"),
        pages.output(
            synthetic_notice(synthetic) + templates.html("all_results", rows=len(results), table=table)
        ),
    ]


def all_results(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Write the file of all rows, which are those of :attr:`soundcheck.book.assembly.Book.rows`."""
    places: list[dict[str | tuple, int]] = [{} for _ in COLUMNS]
    linked: dict[str, int] = {}
    lines = []
    for row in rows.itertuples():
        cells = zip(places, _cells(row, titles), strict=True)
        numbers = [known.setdefault(each, len(known)) for known, each in cells]
        page = linked.setdefault(result_page(row.model, row.family), len(linked))
        lines.append([*numbers, page, anchor_of(row).removeprefix("row-")])
    badges = {f"{look.sign} {look.name}": look.css for look in STATE.values()}
    about = {"badges": badges, "badge": BADGE, "linked": LINKED, "pages": list(linked)}
    return script("rows", {**about, "columns": [*map(list, places)], "rows": lines})


def _cells(row: object, titles: Mapping[str, str]) -> Iterator[str | tuple]:
    """Give the cells of a row, column by column."""
    yield from map(cell, (row.model, row.corpus, titles.get(row.family, row.family), row.task))
    yield cell(measure(row.test), *filter(None, [verdict_tables.below_test(row)]), facet=row.group)
    state, lines = state_lines(row)
    look = STATE[state]
    yield cell(f"{look.sign} {look.name}", *lines, sort=round(state_order(state, row.p_value), 3))
    digits = formats.digits_for(row.value, row.low, row.high)
    value = formats.number(row.value, digits, row.threshold)
    yield cell(value, *filter(None, [formats.span(row.low, row.high, digits)]))
    yield cell(*difference_lines(row))
    yield cell(formats.rule(row))


def search_entries(
    record: RunRecord, results: pd.DataFrame, segments: Iterable[str] = (), sources: Path = Path()
) -> str:
    """Write the file that the search loads; segments of corpora are looked for in pages of ``sources``."""
    titles = {family.name: family.title for family in record.families}
    named = {f"methods/{files.slug(name)}": one_line(title) for name, title in titles.items()}
    named |= {model.page: f"Model {one_line(model.name)}" for model in record.models}
    named |= {corpus.page: f"Corpus {one_line(corpus.name)}" for corpus in record.corpora}
    for entry in record.notebooks:
        named[entry.page] = executed.title(entry.model, titles[entry.family])
    number = {page: place for place, page in enumerate(named)}
    entries = [
        *_families(record, number),
        *([text(model.name), "model", [[number[model.page], "", ""]]] for model in record.models),
        *([text(corpus.name), "corpus", [[number[corpus.page], "", ""]]] for corpus in record.corpora),
        *_rows(results.assign(test=results["test"].map(measure)), "test", number),
        *_rows(results[results["group"].ne("")], "group", number),
    ]
    named_segments = _segments(segments, sources, [page for page in named if not page.startswith("methods/")])
    for name, places in list(named_segments.items())[:MOST_SEGMENTS]:
        entries.append([text(name), "segment", [[number[page]] for page in places]])
    left = max(0, len(named_segments) - MOST_SEGMENTS)
    return script("search", {"entries": entries, "left": left, "pages": [*map(list, named.items())]})


def _families(record: RunRecord, number: Mapping[str, int]) -> Iterator[list]:
    """List families by title, and the published ones also as their source names them."""
    for family in record.families:
        places = [[number[f"methods/{files.slug(family.name)}"], "", "method"]]
        for entry in record.notebooks:
            if entry.family == family.name:
                places.append([number[entry.page], "", "results"])
        for name in filter(None, (family.title, published_name(family.name))):
            yield [text(name), "family", places]


def _rows(rows: pd.DataFrame, kind: str, number: Mapping[str, int]) -> Iterator[list]:
    """List tests or groups with the pages that have them, each at its worst row and with its fails."""
    rows = rows.assign(order=[*map(state_order, rows["state"], rows["p_value"])])
    rows = rows.assign(fails=rows["state"].eq(FAIL) & rows["mirrors"].eq(""))
    pages_of = rows.groupby([kind, "model", "family"], sort=False)
    worst = rows.loc[pages_of["order"].idxmin()].assign(fails=pages_of["fails"].sum().to_numpy())
    for name, named in worst.sort_values("fails", ascending=False, kind="stable").groupby(kind, sort=True):
        places = []
        for row in named.itertuples():
            if (page := number.get(result_page(row.model, row.family))) is not None:
                anchor = "" if kind == "test" else anchor_of(row)
                words = (
                    f"{counted(row.fails, 'test')} {'fails' if row.fails == 1 else 'fail'}"
                    if row.fails
                    else ""
                )
                places.append([page, anchor, words])
        yield [text(name), kind, places]


def _segments(names: Iterable[str], sources: Path, listed: Iterable[str]) -> dict[str, list[str]]:
    """Find the pages that name a segment."""
    written = {escape(name, None): name for name in names}
    pages_of: dict[str, list[str]] = {}
    for page in listed:
        path = sources / f"{page}.ipynb"
        texts = set(_TEXT.findall(path.read_text(encoding="utf-8"))) if path.is_file() else ()
        words = {word for each in texts for word in (each, *_WORDS.split(each))}
        for word in sorted(words & written.keys()):
            pages_of.setdefault(written[word], []).append(page)
    return dict(sorted(pages_of.items()))
