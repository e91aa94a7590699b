"""What is printed is all that stands on a page: wide and long tables, what is folded, pictures of sounds."""

import numpy as np
import pypdf
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.report import standalone
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import player
from soundcheck.report.views import listed

pytestmark = pytest.mark.slow

MODELS = [f"model-{number:02}" for number in range(14)]


@pytest.fixture
def printed(browser, tmp_path):
    """Print a page that looks like those of the book, in its skeleton."""

    def render(*parts: object, theme: str = "light") -> pypdf.PdfReader:
        (tmp_path / "soundcheck.css").write_text(standalone.style())
        (tmp_path / "soundcheck.js").write_text(standalone.script())
        (tmp_path / "run.css").write_text('@page { @bottom-left { content: "run 0123"; } }')
        head = '<meta charset="utf-8"><link rel="stylesheet" href="soundcheck.css">'
        head += '<script src="soundcheck.js"></script>'
        body = f'<div class="bd-content"><article class="bd-article">{join(parts)}</article></div>'
        (tmp_path / "page.html").write_text(
            f'<!DOCTYPE html><html data-theme="{theme}"><head>{head}</head><body>{body}</body></html>'
        )
        page = browser.open(tmp_path / "page.html")
        page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True, print_background=True)
        browser.close(page)
        return pypdf.PdfReader(tmp_path / "page.pdf")

    return render


def outside(reader: pypdf.PdfReader) -> list[str]:
    """List texts that begin left or right of their sheet."""
    found = []
    for page in reader.pages:
        _, _, width, _ = map(float, page.mediabox)

        def look(text: str, matrix: list, inner: list, *_: object, width: float = width) -> None:
            place = inner[4] * matrix[0] + matrix[4]
            if text.strip() and not 0 <= place <= width - 10:
                found.append(text)

        page.extract_text(visitor_text=look)
    return found


@pytest.mark.parametrize("columns", [8, 14])
def test_tables_are_whole(printed, columns):
    """No model, row or column is cut off, however many there are, and each sheet repeats the head."""
    rows = [[f"row-{n:03}", *[n + k / 100 for k in range(columns - 2)], f"end-{n:03}"] for n in range(150)]
    names = ["test", *MODELS[: columns - 2], "last"]
    reader = printed(element("h1", "Page"), listed(rows, names))
    texts = [page.extract_text() for page in reader.pages]
    whole = "\n".join(texts)
    assert len(texts) > 2 and outside(reader) == []
    for row in rows:
        assert row[0] in whole and row[-1] in whole
    for text in texts:
        if "row-" in text:
            assert "last" in text and names[1].replace("-", "") in text.replace("-", "").replace("\n", "")
        assert "run 0123" in text
    wide = float(reader.pages[0].mediabox.width) > float(reader.pages[0].mediabox.height)
    assert wide == (columns >= 10)


def test_hostile_texts_stay_on_the_sheet(printed):
    rows = [["x" * 199, "<b>bold</b>", 1.0, "y" * 50, "\u202eזمن", "🎙" * 30] for _ in range(3)]
    reader = printed(listed(rows, ["name", "markup", "value", "long", "other", "emoji"]))
    assert outside(reader) == []
    assert "<b>bold</b>" in "".join(reader.pages[0].extract_text().split())


def test_what_is_folded_is_open_and_links_name_their_targets(printed, tmp_path):
    inner = element("details", element("summary", "more"), element("p", "folded words"))
    link = Html('<a href="https://a.example/paper">a paper</a>')
    media = MediaStore(tmp_path / "media")
    sound = player(media, 0.1 * np.sin(np.arange(16000) / 10), 16000, "a sound", caption="said this")
    for theme in ("light", "dark"):
        reader = printed(element("p", link), inner, sound, theme=theme)
        text = reader.pages[0].extract_text()
        for part in ("folded words", "https://a.example/paper", "a sound", "said this"):
            assert part in text
        assert len(reader.pages[0].images) >= 1  # the waveform
