"""Faults planted in a small site: each must be found, and the site without them must be clean."""

from pathlib import Path

import pytest

from soundcheck.book import check_site
from soundcheck.book.check_site import PAGE_BYTES, inspect, sounds_in
from soundcheck.common.escaping import escape

CONTENT = "0123456789abcdef0123"
PAGES = {"index": CONTENT, "models/one": CONTENT}


def page(name: str, body: str = "", content: str = CONTENT) -> str:
    mark = f'<div class="sc-page" data-page="{name}" data-content="{content}"></div>'
    return f"<html><body>{body}{mark}</body></html>"


@pytest.fixture
def site(tmp_path) -> Path:
    html = tmp_path / "out" / "html"
    (html / "models").mkdir(parents=True)
    (html / "media").mkdir()
    (html / "media" / "a b.png").write_bytes(b"")
    fine = '<a href="models/one.html#x">x</a><a href="https://example.org/x">y</a><img src="media/a%20b.png">'
    (html / "index.html").write_text(page("index", fine))
    (html / "models" / "one.html").write_text(page("models/one", '<a href="../index.html?q=1">x</a>'))
    (html / "style.css").write_text("/* https://example.org */ p { background: url(media/x.png) }")
    return html


def found(site: Path, known: dict[str, str] | None = None) -> str:
    problems, _ = inspect(site, PAGES, site.parent, known)
    return "\n".join(map(str, problems))


def test_sound_site_has_no_problem(site):
    assert found(site) == ""


def test_missing_page(site):
    (site / "models" / "one.html").unlink()
    assert "html/models/one.html: the page is missing" in found(site)


@pytest.mark.parametrize(
    "text",
    [
        "<html></html>",
        page("models/other"),
        page("models/one", content="3210fedcba9876543210"),
        # a text that only looks like the mark
        "&lt;div class='sc-page' data-page='models/one' data-content='0123456789abcdef0123'&gt;",
    ],
)
def test_page_without_its_mark(site, text):
    (site / "models" / "one.html").write_text(text)
    assert "html/models/one.html: the page is not the one that this run made" in found(site)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<a href="gone.html">x</a>', "the link gone.html leads nowhere"),
        ('<img src="media/gone.png">', "the link media/gone.png leads nowhere"),
        ('<audio src="media/gone.flac"></audio>', "the link media/gone.flac leads nowhere"),
        ('<a href="/etc/hostname">x</a>', "the link /etc/hostname leads out of the book"),
        ('<a href="../run.json">x</a>', "the link ../run.json leads out of the book"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js from outside"),
        ('<script src="HTTPS://cdn.example/x.js"></script>', "loads HTTPS://cdn.example/x.js from outside"),
        ('<script src="//cdn.example/x.js"></script>', "loads //cdn.example/x.js from outside"),
        (
            '<link rel="stylesheet" href="http://a.example/x.css">',
            "loads http://a.example/x.css from outside",
        ),
        ('<iframe src="https://a.example"></iframe>', "loads https://a.example from outside"),
    ],
)
def test_links_and_loaded_files(site, body, expected):
    (site.parent / "run.json").write_text("{}")
    (site / "index.html").write_text(page("index", body))
    assert expected in found(site)


@pytest.mark.parametrize(
    "rule",
    [
        '@import "https://a.example/x.css";',
        "p { src: url( '//a.example/x.woff') }",
        "@IMPORT url(http://a.b)",
    ],
)
def test_style_sheets_that_fetch(site, rule):
    (site / "style.css").write_text(rule)
    assert "html/style.css: the style sheet loads something from outside" in found(site)


def test_paths_of_this_machine(site, monkeypatch):
    monkeypatch.setenv("HOME", "/root")
    for text, what in (
        (f"{site.parent}/run.json", "the path of the output folder"),
        ("at /root/models/x.py", "the path of the home folder"),
        (f"'{Path.cwd()}'", "the path of the working folder"),
    ):
        (site / "results.csv").write_text(text)
        assert f"html/results.csv: the file holds {what}" in found(site)


def test_path_is_known_as_html_has_it(site, tmp_path):
    moved = (tmp_path / "out").rename(tmp_path / "it's out")
    (moved / "html" / "index.html").write_text(page("index", escape(moved, None)))
    assert "html/index.html: the file holds the path of the output folder" in found(moved / "html")


def test_likeness_is_no_leak(site, monkeypatch):
    monkeypatch.setenv("HOME", "/root")
    (site / "results.csv").write_text("https://example.org/root/x, /rooted, a/root")
    assert found(site) == ""


def test_secrets_of_the_environment(site, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-123")
    monkeypatch.setenv("SHORT_KEY", "run")
    (site / "index.html").write_text(page("index", "abcdefgh-123 run"))
    assert found(site) == "html/index.html: the file holds the value of the environment variable SOME_TOKEN."


def test_large_page(site):
    (site / "index.html").write_text(page("index", "x" * PAGE_BYTES))
    assert f"the page is larger than {PAGE_BYTES} bytes" in found(site)


def test_a_page_that_was_fine_is_not_parsed_again_until_it_or_its_surroundings_change(site, monkeypatch):
    problems, known = inspect(site, PAGES, site.parent)
    assert not problems and known.keys() >= {"index.html", "models/one.html", "media/a b.png"}
    parsed = []
    monkeypatch.setattr(check_site._Page, "feed", lambda self, text: parsed.append(text))
    assert found(site, known) == "" and not parsed
    monkeypatch.undo()
    assert "index.html: the page is not the one" in "\n".join(
        map(str, inspect(site, PAGES | {"index": "f" * 20}, site.parent, known)[0])
    )
    (site / "media" / "a b.png").unlink()
    assert "the link media/a%20b.png leads nowhere" in found(site, known)
    (site / "media" / "a b.png").touch()
    (site / "models" / "one.html").write_text(page("models/one", '<a href="gone.html">x</a>'))
    assert "the link gone.html leads nowhere" in found(site, known)
    (site / "models" / "one.html").write_text(page("models/one") + f"{site.parent}/run.json")
    assert "models/one.html: the file holds the path of the output folder" in found(site, known)


def test_sounds_are_found_in_a_book_that_is_to_have_none(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "index.html").write_text("<p>an audio file, &lt;audio src=x&gt;</p>")
    assert sounds_in(tmp_path) == []
    (tmp_path / "media" / "a.FLAC").touch()
    (tmp_path / "a.html").write_text("<AUDIO controls>")
    (tmp_path / "b.html").write_text("<source src='data:audio/wav;base64,UklG'>")
    found = {problem.where for problem in sounds_in(tmp_path)}
    assert found == {"html/media/a.FLAC", "html/a.html", "html/b.html"}
