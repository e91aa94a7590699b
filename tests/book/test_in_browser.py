"""Pages of a book as Chromium shows them: nothing complains, nothing is asked for, and all can be reached."""

import pytest
from tests.support.browser import LIMITS
from tests.support.hard_suite import MARKUP, make

pytestmark = pytest.mark.slow

SEARCHED = "/finished|did not match/.test(document.querySelector('.search-summary')?.textContent)"


def test_what_is_wrong_with_a_page_is_found(browser, tmp_path):
    def written(body):
        path = tmp_path / "page.html"
        path.write_text(f'<!doctype html><html lang="en"><head><title>A</title></head><main>{body}</main>')
        return path

    assert browser.complaints(written("<h1>Good</h1><p>Text</p>")) == []
    bad = (
        '<h1>Bad</h1><img src="nowhere.png"><p style="width: 3000px; color: #999">Pale</p>'
        '<script>console.error("oh"); new Image().src = "http://localhost:9/x.png"; lost()</script>'
    )
    complaints = "\n".join(browser.complaints(written(bad), width=390))
    for said in (
        *("image-alt: <img", "color-contrast: <p", "wider than its window", "console: oh"),
        *("lost is not defined", "asks for http://localhost:9/x.png", "does not get file:"),
    ):
        assert said in complaints, said


@pytest.fixture(scope="module")
def book(tmp_path_factory, undrawn):
    """The book of a suite with a model of each kind, whose names and texts are hostile."""
    folder = make(tmp_path_factory.mktemp("hard") / "project")
    done = undrawn("run", "suite.yml", "--out", "out", cwd=folder, timeout=600)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    return folder / "out" / "html"


KINDS = (
    *("index.html", "all_results.html", "models/*.html", "corpora/*.html", "comparisons/*.html"),
    *("results/*/correctness_regression.html", "results/*/robustness_small_changes.html"),
    *("results/*/fairness_groups.html", "results/*/asr_word_errors.html"),
    *("results/*/speaker_verification.html", "results/*/verification_robustness.html"),
    *("methods/*.html", "statistics.html", "provenance.html", "sheets/*.html", "search.html"),
)


def largest(book, pattern):
    """Give the largest page of a kind."""
    return max(book.glob(pattern), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("pattern", KINDS)
def test_nothing_is_wrong_with_any_kind_of_page(browser, book, pattern):
    path = largest(book, pattern)
    assert path.stat().st_size < 1_000_000
    width, theme = ((1400, "light"), (390, "dark"))[KINDS.index(pattern) % 2]
    page = browser.open(path, width=width, theme=theme)
    assert page.evaluate("document.querySelectorAll('article h1, body:not(:has(article)) h1').length") == 1
    if not path.match("sheets/*"):  # they are printed, and have no dark side
        assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert (browser.findings(page), browser.wider(page), browser.noted(page)) == ([], None, [])
    page.set_viewport_size({"width": 1790 - width, "height": 900})
    assert browser.wider(page) is None
    browser.close(page)


def focused(page, what):
    """Ask something of the element that has the focus."""
    return page.evaluate(f"(() => {{ const one = document.activeElement; return {what}; }})()")


def tab_to(page, selector, most=300):
    """Press the Tab key until an element has the focus; each stop on the way must show that it has it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        seen = "getComputedStyle(one).outlineStyle !== 'none' || getComputedStyle(one).boxShadow !== 'none'"
        assert focused(page, f"one === document.body || {seen}"), focused(page, "one.outerHTML.slice(0, 200)")
        if focused(page, f"one.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} is not reached")


def test_the_keyboard_alone_reaches_everything(browser, book):
    page = browser.open(largest(book, "results/*/asr_word_errors.html"))
    tab_to(page, "a[href='#main-content']", 1)
    page.keyboard.press("Enter")
    tab_to(page, ".theme-switch-button")
    theme = page.evaluate("document.documentElement.dataset.mode")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.mode") != theme
    tab_to(page, ".sc-sortable th button")
    page.keyboard.press("Enter")
    assert focused(page, "one.closest('th').ariaSort") in ("ascending", "descending")
    tab_to(page, "audio, .sc-player button")
    browser.close(page)


def test_the_keyboard_alone_reaches_menu_and_search(browser, book):
    page = browser.open(book / "index.html", width=390)
    tab_to(page, ".primary-toggle")
    page.keyboard.press("Enter")
    tab_to(page, "dialog a[href^='models/']")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("bootstrap")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a", **LIMITS)
    page.goto(f"{(book / 'search.html').as_uri()}?q=img")  # which puts titles into the document as HTML
    page.wait_for_function(SEARCHED, **LIMITS)
    assert browser.noted(page) == []
    browser.close(page)


def test_without_scripts_all_is_there(browser, book):
    for pattern in ("index.html", "results/*/asr_word_errors.html"):
        path = largest(book, pattern)
        page = browser.open(path, java_script_enabled=False)
        text = page.inner_text("article")
        for heading in page.query_selector_all("article h2"):
            assert heading.is_visible(), path
        assert len(text) > 500
        assert MARKUP.split("<")[1][:10] in text or "heard" in text
        browser.close(page)
