"""Pages of a book as Chromium shows them: nothing complains, nothing is asked for, and all can be reached."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Write a page: ``written("<p>Text</p>")``."""

    def write(body: str, head: str = "<title>A page</title>") -> object:
        path = tmp_path / "page.html"
        path.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>')
        return path

    return write


def test_what_is_wrong_with_a_page_is_found(browser, written):
    assert browser.complaints(written("<main><h1>Good</h1><p>Text</p></main>")) == []
    bad = (
        '<main><h1>Bad</h1><img src="nowhere.png"><p style="width: 3000px; color: #999">Pale</p>'
        '<script>console.error("oh"); new Image().src = "http://localhost:9/x.png"; lost()</script></main>'
    )
    found = "\n".join(browser.complaints(written(bad), width=390))
    for said in (
        *(
            "image-alt: <img",
            "color-contrast: <p",
            "wider than its window",
            "console: oh",
            "lost is not defined",
        ),
        *("lost is not defined", "asks for http://localhost:9/x.png", "does not get file:"),
    ):
        assert said in found, said
