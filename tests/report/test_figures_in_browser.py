"""Figures in Chromium: they follow the theme of the page that shows them, and are light on paper."""

import io
from unittest import mock

import numpy as np
import pytest
from PIL import Image

from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.report import figures
from soundcheck.report import style as looks
from soundcheck.report.standalone import standalone, style

pytestmark = pytest.mark.slow

GROUND, DARK_GROUND = "#ffffff", "#121212"  # of pages in the two themes
TRUTH = np.linspace(0, 1, 40)


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Write a page with a figure of lines and one of pixels."""

    def write(theme):
        folder = tmp_path_factory.mktemp("figures")
        figure = figures.truth_and_prediction(TRUTH, TRUTH**2)
        media = MediaStore(folder / "media")
        shown = [figures.show(media, figure, "Dots")]
        with mock.patch.object(looks, "SVG_BYTES", 0):
            shown.append(figures.show(media, figure, "Dots"))
        (folder / "run.css").write_text("")  # which our style imports
        # What the theme does.
        ground = f"html[data-theme='dark'] {{ color-scheme: dark; background: {DARK_GROUND} }}"
        path = folder / "page.html"
        path.write_text(
            f"<!doctype html><html lang='en' data-theme='{theme}'><head><title>T</title>"
            "<meta charset='utf-8'>"
            f"<style>{style()}{ground}</style></head>"
            f"<body class='bd-content'><main>{''.join(map(str, shown))}</main></body></html>",
            encoding="utf-8",
        )
        return path

    return write


def grounds(page):
    """Give the most frequent colour of each picture as it is seen."""
    found = []
    for picture in page.locator(".sc-figure img").all():
        picture.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalWidth", arg=picture.element_handle())
        pixels = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
        _, colour = max(pixels.getcolors(1 << 20))
        found.append("#{:02x}{:02x}{:02x}".format(*colour))
    return found


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize(("theme", "ground"), [("light", GROUND), ("dark", DARK_GROUND)])
def test_figures_follow_the_theme_and_not_the_system(browser, page_of, system, theme, ground):
    page = browser.open(page_of(theme), theme=system)
    assert grounds(page) == [ground, ground]
    assert not browser.noted(page)
    page.emulate_media(media="print")
    page.wait_for_timeout(100)
    lines, _ = grounds(page)
    assert lines == GROUND
    browser.close(page)


@pytest.mark.parametrize(("system", "ground"), [("light", GROUND), ("dark", DARK_GROUND)])
def test_figures_of_a_page_that_is_one_file_follow_the_system(browser, tmp_path, system, ground):
    figure = figures.truth_and_prediction(TRUTH, TRUTH**2)
    (tmp_path / "page.html").write_text(standalone("T", figures.show(EmbeddedMedia(), figure, "Dots")))
    page = browser.open(tmp_path / "page.html", theme=system)
    assert grounds(page) == [ground]
    browser.close(page)
