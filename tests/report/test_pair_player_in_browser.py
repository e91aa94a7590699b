"""In a browser sounds of one place are one player: they run together, and a key switches between them."""

import numpy as np
import pytest
from browser import SIZES, THEMES

from soundcheck.common.media import MediaStore
from soundcheck.report import standalone
from soundcheck.report.html import join
from soundcheck.report.players import Side, player, row, sweep, switched

pytestmark = pytest.mark.slow

RATE = 16000
SILENT = 1e-5
STATE = """box => Array.from(box.querySelectorAll("audio"), audio =>
    ({at: audio.currentTime, paused: audio.paused, volume: audio.volume}))"""
HEARD = """box => {
    const name = (figure) => figure.querySelector("strong").textContent;
    const sounds = ({volume, muted, paused}) => volume === 1 && !muted && !paused;
    const figures = Array.from(box.querySelectorAll("figure[data-seconds]"));
    return [figures.filter((figure) => figure.matches(".sc-audible")).map(name),
            figures.filter((figure) => sounds(figure.querySelector("audio"))).map(name)];
}"""


def tone(hertz: float, amplitude: float, seconds: float) -> np.ndarray:
    times = np.arange(round(RATE * seconds)) / RATE
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Write a page with a pair, one with sides of different length, a sweep, and a sound alone."""
    folder = tmp_path_factory.mktemp("page")
    media = MediaStore(folder / "media")
    clean, loud = Side(tone(440, 0.1, 3), "clean"), Side(tone(880, 0.5, 3), "loud")
    steps = [clean, *(Side(tone(440 + 100 * n, 0.1, 3), f"step {n}") for n in (1, 2, 3))]
    shown = [
        switched(media, [clean, loud], "a pair"),
        switched(media, [clean, Side(tone(220, 0.2, 0.6), "short"), Side(None, "none", "no codec")]),
        sweep(media, steps, "a sweep"),
        row([player(media, tone(330, 0.1, 3), RATE, "alone")]),
    ]
    head = "<meta charset=utf-8><meta name=viewport content=width=device-width><title>t</title>"
    head += f"<style>{standalone.style()}</style>"
    body = f"<main class=bd-article><h1>t</h1>{join(shown)}</main><script>{standalone.script()}</script>"
    text = f"<!doctype html><html lang=en>{head}<body>{body}"
    (folder / "page.html").write_text(text, encoding="utf-8")
    (folder / "run.css").touch()
    return folder / "page.html"


@pytest.fixture
def page(browser, place):
    opened = browser.open(place, reduced_motion="no-preference")
    yield opened
    said = browser.noted(opened)
    browser.close(opened)
    assert said == []


def states(box) -> list[dict]:
    return box.evaluate(STATE)


def heard(box) -> list[str]:
    """Name what is marked as heard; while something plays it has to be what sounds."""
    marked, audible = box.evaluate(HEARD)
    assert audible in ([], marked)
    return marked


def until(page, what) -> None:
    """Wait for something that a browser on a busy machine may take a while for."""
    for _ in range(100):
        if what():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come about")


def position(box) -> float:
    return float(box.get_by_label("Position").input_value())


def test_a_switch_keeps_the_position_and_the_level(page):
    box = page.locator(".sc-pair").nth(0)
    box.get_by_role("button", name="Loop").click()
    box.get_by_role("button", name="Play").click()
    until(page, lambda: all(state["at"] > 0.2 for state in states(box)))
    for name in ("loud", "clean", "loud"):
        page.wait_for_timeout(400)
        before = states(box)
        page.keyboard.press(" ")
        until(page, lambda name=name: heard(box) == [name])
        after = states(box)
        assert not any(state["paused"] for state in after)
        assert sorted(state["volume"] for state in after) == [SILENT, 1]  # of 16 bit nothing is left
        assert [state["volume"] for state in after] == [state["volume"] for state in before][::-1]
        assert all(old["at"] < new["at"] < old["at"] + 2 for old, new in zip(before, after, strict=True))
        assert abs(after[0]["at"] - after[1]["at"]) < 0.02
        assert box.locator("[aria-live=polite]").inner_text() == f"Heard: {name}"


def test_it_is_played_with_keys_alone(page):
    box = page.locator(".sc-pair").nth(0)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").endswith("Play")
    page.keyboard.press(" ")
    until(page, lambda: states(box)[0]["at"] > 0.1 and heard(box) == ["clean"])
    page.keyboard.press(" ")
    until(page, lambda: heard(box) == ["loud"])
    page.keyboard.press("1")
    until(page, lambda: heard(box) == ["clean"])
    page.keyboard.press("p")
    until(page, lambda: all(state["paused"] for state in states(box)))
    stopped = position(box)
    assert 0 < stopped < 3
    page.keyboard.press("Enter")
    until(page, lambda: states(box)[0]["at"] > stopped)


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
    for _ in range(30):
        page.wait_for_timeout(60)
        seen.append(states(box)[0]["at"])
    assert 0.95 < min(seen) and max(seen) < 1.75
    assert any(later < earlier for earlier, later in zip(seen, seen[1:], strict=False))
    page.keyboard.press("Escape")
    until(page, lambda: states(box)[0]["at"] > 1.8)
    assert box.get_by_role("button", name="Loop").get_attribute("aria-pressed") == "false"
    until(page, lambda: all(state["paused"] for state in states(box)))
    assert position(box) == 0  # at the end it stops, ready to begin again


def test_sides_of_different_length(page):
    box = page.locator(".sc-pair").nth(1)
    assert box.locator(".sc-name").all_inner_texts() == ["clean", "short"]
    assert "no codec" in box.inner_text()  # what cannot be heard is still said
    box.get_by_label("Position").fill("2")
    box.get_by_role("button", name="Play").click()
    until(page, lambda: states(box)[0]["at"] > 2)
    page.keyboard.press(" ")  # the short one is over long ago: it begins again
    until(page, lambda: heard(box) == ["short"])
    until(page, lambda: all(state["paused"] for state in states(box)))


def test_a_slider_goes_through_the_steps(page):
    box = page.locator(".sc-sweep")
    severity = box.get_by_label("Severity")
    box.get_by_role("button", name="Play").click()
    until(page, lambda: states(box)[0]["at"] > 0.1)
    severity.focus()
    for name in ("step 1", "step 2"):
        page.keyboard.press("ArrowRight")
        until(page, lambda name=name: heard(box) == [name])
        assert severity.get_attribute("aria-valuetext") == name
    page.keyboard.press(" ")
    until(page, lambda: heard(box) == ["clean"])
    assert severity.input_value() == "0"
    page.keyboard.press(" ")
    until(page, lambda: heard(box) == ["step 2"])


def test_one_player_at_a_time(page):
    pair, alone = page.locator(".sc-pair").nth(0), page.locator(".sc-player").last
    pair.get_by_role("button", name="Play").click()
    until(page, lambda: states(pair)[0]["at"] > 0.1)
    alone.locator("audio").evaluate("audio => { audio.play(); }")
    until(page, lambda: all(state["paused"] for state in states(pair)))
    until(page, lambda: alone.locator(".sc-cursor").evaluate("line => parseFloat(line.style.left)") > 2)
    pair.get_by_role("button", name="Play").click()
    until(page, lambda: alone.locator("audio").evaluate("audio => audio.paused"))


def test_a_sound_that_is_gone_is_said(browser, place, tmp_path):
    (tmp_path / "page.html").write_text(place.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "run.css").touch()  # and no media
    opened = browser.open(tmp_path / "page.html")
    box = opened.locator(".sc-pair").nth(0)
    box.get_by_role("button", name="Play").click()
    until(opened, lambda: "cannot be played" in box.locator(".sc-news").inner_text())
    assert box.get_by_role("button", name="Play").is_visible()
    browser.close(opened)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", SIZES)
def test_everybody_can_use_it(browser, place, width, theme):
    assert browser.complaints(place, width=width, theme=theme) == []


def test_without_script_each_sound_has_a_player(browser, place):
    opened = browser.open(place, java_script_enabled=False)
    assert opened.locator("audio[controls]").count() == 2 + 2 + 4 + 1
    assert opened.locator("audio[controls]").first.is_visible()
    assert opened.locator("button").count() == 0
    browser.close(opened)
