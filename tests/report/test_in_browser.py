"""Our styles and scripts in Chromium: tables, players, figures and print, from the disk, with any text."""

import csv
import io

import numpy as np
import pypdf
import pytest
from PIL import Image
from tests.report.given import HOSTILE, write_page

from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.report import formats, label_views, views
from soundcheck.report import style as looks
from soundcheck.report.formats import state_mark
from soundcheck.report.html import Html, element, standalone
from soundcheck.report.players import Side, player, row, sweep, switched
from soundcheck.results.states import FAIL, INCONCLUSIVE

pytestmark = pytest.mark.slow

NAMES = [f"row {number}" for number in range(10)] + ["=1+1", HOSTILE]
RATE, SILENT = 16000, 1e-5
STATE = """box => Array.from(box.querySelectorAll("audio"), audio =>
    ({at: audio.currentTime, paused: audio.paused, volume: audio.volume}))"""
AUDIBLE = """box => {
    const name = (figure) => figure.querySelector("strong").textContent;
    const sounds = ({volume, muted, paused}) => volume === 1 && !muted && !paused;
    const figures = Array.from(box.querySelectorAll("figure[data-seconds]"));
    return [figures.filter((figure) => figure.matches(".sc-audible")).map(name),
            figures.filter((figure) => sounds(figure.querySelector("audio"))).map(name)];
}"""


@pytest.fixture
def opened(browser):
    """Open a page, and see in the end that it complained of nothing: ``opened(path, width=390)``."""
    pages = []
    yield lambda path, **options: pages.append(browser.open(path, **options)) or pages[-1]
    noted = [browser.noted(page) for page in pages]
    for page in pages:
        browser.close(page)
    assert not any(noted), noted


# Tables


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    rows = []
    for number, name in enumerate(NAMES):
        state, group = FAIL if number % 3 == 0 else INCONCLUSIVE, f"group {number % 2}"
        value = formats.Cell(formats.stacked(f"−0.{number:02}", "−1 to 1"), -number / 100 - 1e-9, "sc-number")
        cell = formats.Cell(formats.stacked("Mean", group), None, facet=group)
        rows.append([name, cell, formats.Cell(state_mark(state), number % 3), value, *["wide" * 12] * 8])
    columns = ["name", "test", "state", "value", *(f"more {n}" for n in range(8))]
    table = views.listed(rows, columns, caption="Hard", filters={"test": "group", "state": "state"})
    inner = Html('<table class="sc-table"><tr><td id="row-1f">x</td></tr></table>')
    folded = element("details", element("summary", "All"), inner)
    gap = Html('<div style="height: 3000px"></div>')
    return write_page(tmp_path_factory.mktemp("tables") / "page.html", element("h1", "T"), table, gap, folded)


def names(page):
    return page.locator("table").first.locator("tbody tr td:first-child").all_inner_texts()


def test_rows_are_sorted_by_keyboard_filtered_and_saved_without_formulas(opened, tables):
    page = opened(tables)
    head = page.get_by_role("columnheader", name="value")
    head.get_by_role("button", name="value").focus()
    for order, rows in (("ascending", NAMES[::-1]), ("descending", NAMES), (None, NAMES)):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == order and names(page) == rows
    assert page.locator("main img").count() == 0
    page.get_by_label("group").select_option("group 0")
    assert page.get_by_text("6 of 12 rows").count() == 1
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert rows[0][:6] == ["name", "test", "test: small print", "state", "value", "value: small print"]
    assert [row[0] for row in rows[1:]] == [*NAMES[0:10:2], "'=1+1"]
    assert rows[2][1:6] == ["Mean", "group 0", "? inconclusive", "-0.020000001", "−1 to 1"]
    page.get_by_label("group").select_option("group 1")
    page.get_by_label("state").select_option("✗ fail")
    assert names(page) == [NAMES[3], NAMES[9]]
    page.get_by_label("Filter rows").fill("ROW 9")
    assert names(page) == [NAMES[9]] and page.get_by_text("1 of 12 rows").count() == 1


def test_the_first_column_stays_and_the_page_is_no_wider_than_a_telephone(browser, opened, tables):
    page = opened(tables, width=390, theme="dark")
    assert browser.wider(page) is None
    first = page.locator("tbody tr:first-child td:first-child").first
    before = first.bounding_box()["x"]
    page.locator(".sc-scroll[tabindex='0']").first.focus()
    page.evaluate("document.querySelector('.sc-scroll').scrollLeft = 300")
    page.wait_for_selector(".sc-scrolled")
    assert first.bounding_box()["x"] == before
    assert first.evaluate("cell => getComputedStyle(cell).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert not browser.findings(page)
    page = opened(f"{tables.as_uri()}#row-1f")  # which is folded, and far below
    assert page.locator("#row-1f").bounding_box()["y"] < 900


# Players


def tone(hertz, amplitude=0.1, seconds=3.0):
    times = np.arange(round(RATE * seconds)) / RATE
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    """Write a page with a pair, one with sides of different length, a sweep, and a sound alone."""
    folder = tmp_path_factory.mktemp("page")
    media = MediaStore(folder / "media")
    clean, loud = Side(tone(440), "clean"), Side(tone(880, 0.5), "loud")
    steps = [clean, *(Side(tone(440 + 100 * n), f"step {n}") for n in (1, 2, 3))]
    parts = [
        switched(media, [clean, loud], "a pair"),
        switched(media, [clean, Side(tone(220, 0.2, 0.6), "short"), Side(None, "none", "no codec")]),
        sweep(media, steps, "a sweep"),
        row([player(media, tone(330), RATE, "alone")]),
    ]
    return write_page(folder / "page.html", element("h1", "t"), *parts)


@pytest.fixture
def page(opened, sounds):
    return opened(sounds, reduced_motion="no-preference")


def playing(box):
    return box.evaluate(STATE)


def until(page, what):
    """Wait for something that a browser on a busy machine may take a while for."""
    for _ in range(200):
        if what():
            return
        page.wait_for_timeout(25)
    raise AssertionError("it did not come about")


def press(page, box, key, name):
    """Press a key until a side is heard: what is marked has to be what sounds, while anything plays."""
    page.keyboard.press(key)

    def heard():
        marked, sounding = box.evaluate(AUDIBLE)
        assert sounding in ([], marked)
        return marked == [name]

    until(page, heard)


def play(page, box):
    box.get_by_role("button", name="Play").click()
    until(page, lambda: playing(box)[0]["at"] > 0.1)


def position(box):
    return float(box.get_by_label("Position").input_value())


def stopped(box):
    return all(state["paused"] for state in playing(box))


def test_a_switch_by_keys_keeps_the_position_and_the_level(page):
    box = page.locator(".sc-pair").nth(0)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").endswith("Play")
    box.get_by_role("button", name="Loop").click()
    play(page, box)
    for key, name in ((" ", "loud"), ("1", "clean")):
        page.wait_for_timeout(200)
        before = playing(box)
        press(page, box, key, name)
        after = playing(box)
        assert not any(state["paused"] for state in after)
        assert sorted(state["volume"] for state in after) == [SILENT, 1]  # of 16 bit nothing is left
        assert [state["volume"] for state in after] == [state["volume"] for state in before][::-1]
        assert all(old["at"] < new["at"] < old["at"] + 2 for old, new in zip(before, after, strict=True))
        assert abs(after[0]["at"] - after[1]["at"]) < 0.02
        assert box.locator("[aria-live=polite]").inner_text() == f"Heard: {name}"
    page.keyboard.press("p")
    until(page, lambda: stopped(box))
    at = position(box)
    page.keyboard.press("p")
    until(page, lambda: playing(box)[0]["at"] > at)


def test_a_part_is_repeated(page):
    box = page.locator(".sc-pair").nth(0)
    picture = box.locator(".sc-view").nth(1).bounding_box()
    x, y, width = picture["x"], picture["y"] + 20, picture["width"]
    page.mouse.move(x + width / 3, y)
    page.mouse.down()
    page.mouse.move(x + width / 2, y, steps=3)
    page.mouse.up()
    assert "Repeated from 1.0" in box.locator(".sc-news").inner_text()
    page.keyboard.press("p")
    seen = []
    for _ in range(20):
        page.wait_for_timeout(50)
        seen.append(playing(box)[0]["at"])
    assert 0.95 < min(seen) and max(seen) < 1.75
    assert any(later < earlier for earlier, later in zip(seen, seen[1:], strict=False))
    page.keyboard.press("Escape")
    until(page, lambda: playing(box)[0]["at"] > 1.75)
    assert box.get_by_role("button", name="Loop").get_attribute("aria-pressed") == "false"


def test_sides_of_different_length(page):
    box = page.locator(".sc-pair").nth(1)
    assert box.locator(".sc-name").all_inner_texts() == ["clean", "short"]
    assert "no codec" in box.inner_text()  # what cannot be heard is still said
    box.get_by_label("Position").fill("2")
    play(page, box)
    press(page, box, " ", "short")  # it is over long ago: it begins again
    until(page, lambda: stopped(box))
    assert position(box) == 0  # at the end it stops, ready to begin again


def test_a_slider_goes_through_the_steps(page):
    box = page.locator(".sc-sweep")
    severity = box.get_by_label("Severity")
    play(page, box)
    severity.focus()
    for key, name in (("ArrowRight", "step 1"), ("ArrowRight", "step 2"), (" ", "clean"), (" ", "step 2")):
        press(page, box, key, name)
        assert severity.get_attribute("aria-valuetext") == name


def test_one_player_at_a_time(page):
    pair, alone = page.locator(".sc-pair").nth(0), page.locator(".sc-player").last
    play(page, pair)
    alone.locator("audio").evaluate("audio => { audio.play(); }")
    until(page, lambda: stopped(pair))
    pair.get_by_role("button", name="Play").click()
    until(page, lambda: alone.locator("audio").evaluate("audio => audio.paused"))


def test_a_sound_that_is_gone_is_said(browser, sounds, tmp_path):
    (tmp_path / "page.html").write_text(sounds.read_text(encoding="utf-8"), encoding="utf-8")  # and no media
    page = browser.open(tmp_path / "page.html")
    box = page.locator(".sc-pair").nth(0)
    box.get_by_role("button", name="Play").click()
    until(page, lambda: "cannot be played" in box.locator(".sc-news").inner_text())
    browser.close(page)


def test_everybody_can_use_it_and_without_script_each_sound_has_a_player(browser, opened, sounds):
    assert browser.complaints(sounds, width=390, theme="dark") == []
    page = opened(sounds, java_script_enabled=False)
    assert page.locator("audio[controls]").count() == 2 + 2 + 4 + 1
    assert page.locator("audio[controls]").first.is_visible() and page.locator("button").count() == 0


# Figures and print

WHITE, DARK = "#ffffff", "#121212"


def loaded(page):
    """Give pictures when they are there; printing does not wait for them."""
    for picture in page.locator("main img").all():
        picture.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalWidth", arg=picture.element_handle())
        yield picture


def grounds(page):
    """Give the most frequent colour of each picture as it is seen."""
    pictures = [Image.open(io.BytesIO(picture.screenshot())).convert("RGB") for picture in loaded(page)]
    return ["#{:02x}{:02x}{:02x}".format(*max(picture.getcolors(1 << 20))[1]) for picture in pictures]


def test_figures_follow_the_theme_and_not_the_system_and_are_light_on_paper(opened, tmp_path, rng):
    media, few = MediaStore(tmp_path / "media"), label_views.truth_and_prediction(*rng.random((2, 40)))
    many = label_views.truth_and_prediction(*rng.random((2, 3000)))  # becomes pixels
    drawn = [looks.show(media, figure, "Dots") for figure in (few, many)]
    ground = f"html[data-theme='dark'] {{ color-scheme: dark; background: {DARK} }}"
    page = opened(write_page(tmp_path / "page.html", *drawn, theme="dark", head=ground), theme="light")
    assert grounds(page) == [DARK] * 2
    page.emulate_media(media="print")
    page.wait_for_timeout(100)
    assert grounds(page)[0] == WHITE
    alone = standalone("T", looks.show(EmbeddedMedia(), few, "Dots"))  # one file follows the system
    (tmp_path / "alone.html").write_text(alone)
    assert grounds(opened(tmp_path / "alone.html", theme="dark")) == [DARK]


def outside(sheet):
    """List texts that begin left or right of a sheet."""
    texts, width = [], float(sheet.mediabox.width)

    def look(text, matrix, inner, *_):
        if text.strip() and not 0 <= inner[4] * matrix[0] + matrix[4] <= width - 10:
            texts.append(text)

    sheet.extract_text(visitor_text=look)
    return texts


def test_what_is_printed_is_whole_open_and_on_the_sheet(opened, tmp_path):
    models = [f"model-{number:02}" for number in range(12)]
    rows = [[f"row-{n:03}", *[n + k / 100 for k in range(12)], f"end-{n:03}"] for n in range(80)]
    hostile = ["x" * 199, "<b>bold</b>", 1.0, "y" * 50, "\u202eزمن", "🎙" * 30, *range(8)]
    path = write_page(
        *(tmp_path / "page.html", element("h1", "Page")),
        element("p", Html('<a href="https://a.example/paper">a paper</a>')),
        element("details", element("summary", "more"), element("p", "folded words")),
        player(MediaStore(tmp_path / "media"), tone(440), RATE, "a sound", caption="said this"),
        views.listed([hostile, *rows], ["test", *models, "last"]),
        theme="dark",
    )
    page = opened(path)
    assert len(list(loaded(page))) == 1
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True, print_background=True)
    sheets = pypdf.PdfReader(tmp_path / "page.pdf").pages
    texts = [sheet.extract_text() for sheet in sheets]
    assert len(texts) > 1 and [outside(sheet) for sheet in sheets] == [[]] * len(texts)
    whole = "".join("".join(texts).split())
    for part in ("foldedwords", "https://a.example/paper", "asound", "saidthis", "<b>bold</b>"):
        assert part in whole
    assert all(cell in whole for row in rows for cell in (row[0], row[-1]))
    for text in texts:
        head = "last" in text and models[0].replace("-", "") in text.replace("-", "").replace("\n", "")
        assert ("row-" not in text or head) and "run 0123" in text
    assert len(sheets[0].images) >= 1  # the waveform
    assert sheets[0].mediabox.width > sheets[0].mediabox.height  # for so many columns
