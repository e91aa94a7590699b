"""The search names families, models, corpora, groups and segments, from the disk and with hostile names."""

import json

import nbformat
import pytest
from nbformat import v4

from soundcheck.book import search_index
from soundcheck.report import look_of_pages
from soundcheck.report.html import element, join
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

pytestmark = pytest.mark.slow

IMAGE = "<img src=x onerror=alert(1)>"
PAGE = "results/m/fairness_accent"


def verdict(**given) -> Verdict:
    base = dict(
        **dict(model="m", corpus="c", family="fairness_accent", category="fairness", task="arousal"),
        **dict(test="Mean Value", group="accent: german", value=0.1, segments=40, blocks=5, threshold=0.1),
        **dict(rule="|gap| <", passed=False, gap=0.2, gap_low=0.1, gap_high=0.3, matters=0.1),
        **dict(evidence="clear fail", p_value=0.01, holds=True, bound=0.3, state="fail"),
    )
    return Verdict(**(base | given))


@pytest.fixture
def index(recorded, tmp_path):
    model = {
        **{"name": "m", "slug": "m", "kind": "python", "target": "", "tasks": ["arousal"], "description": ""},
        **{"license": "", "fingerprint": "f", "inputs": 1, "failed": 0, "unusable": 0, "notes": []},
        **{"failures": [], "repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}},
    }
    family = {"name": "fairness_accent", "title": f"Accent {IMAGE}", "category": "fairness", "question": "?"}
    record = recorded(
        models=[model],
        families=[family | {"digest": "d"}],
        notebooks=[{"model": "m", "family": "fairness_accent", "status": "ok", "error": ""}],
    )
    frame = to_frame(
        [
            verdict(label="undecided", holds=False, state="inconclusive", p_value=0.2),
            verdict(label="fails"),
            verdict(label="fails", group="accent: french", mirrors="accent: german"),
            verdict(group=f"accent: {IMAGE}", holds=False, state="inconclusive"),
            verdict(group="", holds=False, state="inconclusive"),
        ]
    )
    shown = join([element("p", "Heard: a/c22_004.wav, twice"), element("b", f"{IMAGE} 1.wav", limit=None)])
    path = tmp_path / f"{PAGE}.ipynb"
    path.parent.mkdir(parents=True)
    cell = v4.new_code_cell(outputs=[v4.new_output("display_data", {"text/html": str(shown)})])
    nbformat.write(v4.new_notebook(cells=[cell]), path)
    files = ["a/c22_004.wav", f"{IMAGE} 1.wav", "a/silent.wav"]
    script = search_index.data(record, frame, files, tmp_path)
    return script, frame


def read(script: str) -> dict:
    return json.loads(script[script.index(",") + 1 : script.rindex(")")])


def test_what_a_reader_may_look_for_is_in_it(index):
    script, frame = index
    found = read(script)
    pages = [page for page, _ in found["pages"]]
    entries = {(kind, name): places for name, kind, places in found["entries"]}
    failing = frame[frame["label"].eq("fails") & frame["mirrors"].eq("")]
    place = anchor_of(next(failing.itertuples()))
    assert entries["group", "accent: german"] == [[pages.index(PAGE), place, "1 test fails"]]
    assert [place[2] for place in entries["group", "accent: french"]] == [""]  # counted once
    assert entries["model", "m"] == [[pages.index("models/m"), "", ""]]
    assert [place[2] for place in entries["family", f"Accent {IMAGE}"]] == ["method", "results"]
    assert entries["segment", "a/c22_004.wav"] == [[pages.index(PAGE)]]
    assert entries["segment", f"{IMAGE} 1.wav"] == [[pages.index(PAGE)]]
    assert ("segment", "a/silent.wav") not in entries and ("group", "") not in entries
    assert "<" not in script and script.isascii()


@pytest.mark.parametrize(
    ("asked", "kind", "address"),
    [
        ("german", "group", f"{PAGE}.html#row-"),
        ("c22_004", "segment", f"{PAGE}.html#:~:text=a%2Fc22_004.wav"),
        ("onerror", "family", "methods/fairness_accent.html"),
    ],
)
def test_the_page_of_the_search_shows_names_first(browser, index, tmp_path, asked, kind, address):
    (tmp_path / search_index.NAME).write_text(index[0], encoding="utf-8")
    (tmp_path / "run.css").write_text("")
    page = tmp_path / "search.html"
    page.write_text(
        f"<!doctype html><html lang='en'><head><title>S</title><style>{look_of_pages.style()}</style><script>"
        f"{look_of_pages.script()}</script></head><body><main><h1>Search</h1><div id='search-results'></div>"
        "</main></body></html>"
    )
    opened = browser.open(f"{page.as_uri()}?q={asked}")
    opened.locator(".sc-found").wait_for()
    first = opened.locator(".sc-found > ul > li").first
    assert first.inner_text().startswith(kind)
    assert address in first.locator("a").first.get_attribute("href")
    assert opened.locator("img").count() == 0 and not browser.noted(opened)
    browser.close(opened)
