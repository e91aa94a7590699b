"""Tables in Chromium: sorted, filtered, copied, saved and scrolled, from the disk and with hostile texts."""

import csv
import io

import pytest

from soundcheck.report import formats, standalone, states, views
from soundcheck.results.states import FAIL, INCONCLUSIVE

pytestmark = pytest.mark.slow

IMAGE = "<img src=x onerror=alert(1)>"
NAMES = [f"row {number}" for number in range(10)] + ["=1+1", IMAGE]


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Write a page of tables, with our styles and scripts in it."""

    def write(*shown: object, name: str = "page") -> object:
        path = tmp_path_factory.mktemp("tables") / f"{name}.html"
        body = "".join(map(str, shown))
        (path.parent / "run.css").write_text("")  # which our style imports
        path.write_text(
            "<!doctype html><html lang='en' data-theme='light'><head><meta charset='utf-8'><title>T</title>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f"<style>{standalone.style()}</style><script>{standalone.script()}</script></head>"
            f"<body><main><h1>Tables</h1>{body}</main></body></html>",
            encoding="utf-8",
        )
        return path

    return write


@pytest.fixture(scope="module")
def path(page_of):
    rows = []
    for number, name in enumerate(NAMES):
        state = FAIL if number % 3 == 0 else INCONCLUSIVE
        value = formats.Cell(formats.stacked(f"−0.{number:02}", "−1 to 1"), -number / 100 - 1e-9, "sc-number")
        group = formats.Cell(
            formats.stacked("Mean", f"group {number % 2}"), None, facet=f"group {number % 2}"
        )
        rows.append([name, group, formats.Cell(states.mark(state), number % 3), value, *["wide" * 12] * 8])
    columns = ["name", "test", "state", "value", *(f"more {n}" for n in range(8))]
    return page_of(views.listed(rows, columns, caption="Hard", filters={"test": "group"}))


@pytest.fixture
def page(browser, path):
    opened = browser.open(path, permissions=["clipboard-read", "clipboard-write"])
    yield opened
    assert not browser.noted(opened) and opened.locator("main img").count() == 0
    browser.close(opened)


def names(page):
    return page.locator("tbody tr td:first-child").all_inner_texts()


def test_sorting_by_keyboard_tells_its_order(page):
    head = page.get_by_role("columnheader", name="value")
    head.get_by_role("button", name="value").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending" and names(page) == NAMES[::-1]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending" and names(page) == NAMES
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None and names(page) == NAMES


def test_filters_agree_and_say_how_many_rows_are_left(page):
    page.get_by_label("group").select_option("group 1")
    assert page.get_by_text("6 of 12 rows").count() == 1
    page.get_by_label("✗ fail").check()
    assert names(page) == [NAMES[3], NAMES[9]]
    page.get_by_label("Filter rows").fill("ROW 9")
    assert names(page) == [NAMES[9]] and page.get_by_text("1 of 12 rows").count() == 1
    assert page.locator("output").first.get_attribute("aria-live") in (None, "polite")


def test_saved_rows_are_those_shown_and_no_formula_is_among_them(page):
    page.get_by_label("group").select_option("group 0")
    with page.expect_download() as told:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(io.StringIO(told.value.path().read_text(encoding="utf-8"))))
    assert told.value.suggested_filename.endswith(".csv")
    assert rows[0][:6] == ["name", "test", "test: small print", "state", "value", "value: small print"]
    assert [row[0] for row in rows[1:]] == [*NAMES[0:10:2], "'=1+1"]
    assert rows[2][1:6] == ["Mean", "group 0", "? inconclusive", "-0.020000001", "−1 to 1"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_column_stays_and_the_page_is_no_wider_than_a_telephone(browser, path, theme):
    page = browser.open(path, width=390, theme=theme)
    assert browser.wider(page) is None
    first = page.locator("tbody tr:first-child td:first-child")
    before = first.bounding_box()["x"]
    page.locator(".sc-scroll[tabindex='0']").focus()
    page.evaluate("document.querySelector('.sc-scroll').scrollLeft = 300")
    page.wait_for_selector(".sc-scrolled")
    assert first.bounding_box()["x"] == before
    assert first.evaluate("cell => getComputedStyle(cell).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert not browser.findings(page)
    browser.close(page)


def test_an_address_of_a_row_opens_what_is_folded(browser, page_of):
    inner = '<table class="sc-table"><tr><td id="row-1f">x</td></tr></table>'
    folded = f"<details><summary>All</summary>{inner}</details>"
    path = page_of(f'<div style="height: 3000px"></div>{folded}')
    page = browser.open(f"{path.as_uri()}#row-1f")
    assert page.locator("details").get_attribute("open") is not None
    assert page.locator("#row-1f").bounding_box()["y"] < 900
    browser.close(page)
