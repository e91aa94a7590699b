"""The page of all results stays small and quick however many rows there are, and hostile texts stay texts."""

import json

import pandas as pd
import pytest

from soundcheck.book import all_results, result_pages
from soundcheck.report import look_of_pages
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

pytestmark = pytest.mark.slow

IMAGE = "</script><img src=x onerror=alert(1)>"
ROWS = 10_000
TITLES = {"f": "Family"}


def frame(rows: int) -> pd.DataFrame:
    """Make finished results of two models, the labels as hostile as can be."""
    base = dict(
        **dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test="CCC"),
        **dict(value=0.6, low=0.5, high=0.7, segments=40, blocks=30, threshold=0.5, rule=">", passed=True),
        **dict(gap=0.1, evidence="open", bound=0.5, p_value=0.5, group="sex: female"),
    )
    one = to_frame([Verdict(**base)])
    made = pd.concat([one] * rows, ignore_index=True)
    number = made.index.to_series()
    made["label"] = number.map(lambda n: f"{IMAGE} {n}")
    made["group"] = number.map(lambda n: f"sex: {('female', 'male')[n % 2]}")
    made["model"] = number.map(lambda n: f"m{n // (rows // 2)}")
    made["value"] = 0.2 + number * 7 % rows / rows
    made["low"], made["high"] = made["value"] - 0.1, made["value"] + 0.1
    made["p_value"] = number % 97 / 97
    return decide(made)


@pytest.fixture(scope="module")
def many():
    table = frame(ROWS)
    return table, result_pages.among(table)


def shown(cells) -> str:
    return "".join(cell["outputs"][0]["data"]["text/html"] for cell in cells if cell["cell_type"] == "code")


def read(script: str) -> dict:
    return json.loads(script[script.index(",") + 1 : script.rindex(")")])


def test_the_file_holds_all_rows_and_where_each_stands():
    table = frame(300)
    among = result_pages.among(table)
    script = all_results.data(table, among, TITLES)
    assert "<" not in script and script.isascii()
    assert script == all_results.data(table, among, TITLES)
    found = read(script)
    assert len(found["rows"]) == 300
    row = next(table.tail(1).itertuples())
    *values, page, place = found["rows"][-1]
    assert found["pages"][page] == "results/m1/f" and f"row-{place}" == anchor_of(row)
    texts = [column[value] for column, value in zip(found["columns"], values, strict=True)]
    assert texts[4] == ["CCC", f"sex: male · {IMAGE} 299", None, "sex: male"]
    assert texts[:4] == ["m1", "c", "Family", "arousal"] and texts[8] == "> 0.5"
    assert texts[found["badge"]][0] in found["badges"]


def test_the_page_says_how_many_rows_it_has_without_scripts():
    page = shown(all_results.cells(frame(300)))
    assert "300 rows" in page and 'href="results.csv"' in page
    assert 'data-rows="all_results.js"' in page and "<img" not in page


@pytest.fixture(scope="module")
def path(tmp_path_factory, many):
    folder = tmp_path_factory.mktemp("all")
    table, among = many
    (folder / all_results.ROWS).write_text(all_results.data(table, among, TITLES), encoding="utf-8")
    (folder / "run.css").write_text("")
    page = folder / "all_results.html"
    page.write_text(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>T</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<style>{look_of_pages.style()}</style><script>{look_of_pages.script()}</script></head>"
        f"<body><main><h1>All</h1>{shown(all_results.cells(many[0]))}</main></body></html>",
        encoding="utf-8",
    )
    return page


# Milliseconds from an event until the page has been laid out anew.
TIMED = """([selector, act]) => {
  const found = document.querySelector(selector), begin = performance.now();
  if (act === "click") found.click();
  else { found.value = act; found.dispatchEvent(new Event("input", {bubbles: true})); }
  document.body.getBoundingClientRect();
  return performance.now() - begin;
}"""
MOST = 1000  # of a busy machine; 200 on one that is not


def test_ten_thousand_rows_are_filtered_and_sorted_at_once(browser, path):
    assert path.stat().st_size < 250_000
    page = browser.open(path)
    page.get_by_text("10,000 rows", exact=True).wait_for()
    rows = page.locator("tbody tr")
    assert rows.count() == 100
    sort = "thead th:nth-child(7) button"
    times = [page.evaluate(TIMED, [sort, "click"]) for _ in range(2)]
    first = rows.first.locator("td")
    assert first.nth(6).locator("span").first.inner_text() == "1.20"
    assert first.nth(2).locator("a").get_attribute("href").startswith("results/m")
    times.append(page.evaluate(TIMED, ["input[type=search]", "female 1234"]))
    assert page.locator("output").first.inner_text().endswith(" of 10,000 rows")
    assert rows.count() == 1
    assert max(times) < MOST, times
    print("ms", times)
    assert page.locator("main img").count() == 0 and not browser.noted(page)
    page.get_by_label("Filter rows").fill("")
    page.get_by_label("group").select_option("sex: male")
    page.get_by_role("button", name="Show 100 of 4,900 more rows").click()
    assert rows.count() == 200
    with page.expect_download() as told:
        page.get_by_role("button", name="CSV").click()
    assert len(told.value.path().read_text().splitlines()) == ROWS // 2 + 1
    browser.close(page)
