"""Faults planted in a small site: each must be found, and the site without them must be clean."""

from pathlib import Path

import pytest

from soundcheck.book.site import PAGE_BYTES, inspect
from soundcheck.common.escaping import escape

PAGES = ["index", "models/one"]


def page(body: str = "") -> str:
    return f"<html><body>{body}</body></html>"


@pytest.fixture
def site(tmp_path) -> Path:
    html = tmp_path / "out" / "html"
    (html / "models").mkdir(parents=True)
    (html / "media").mkdir()
    (html / "media" / "a b.png").write_bytes(b"")
    fine = '<a href="models/one.html#x">x</a><a href="https://example.org/x">y</a><img src="media/a%20b.png">'
    (html / "index.html").write_text(page(fine))
    (html / "models" / "one.html").write_text(page('<a href="../index.html?q=1">x</a>'))
    (html / "style.css").write_text("/* https://example.org */ p { background: url(media/x.png) }")
    return html


def found(site: Path, **options: bool) -> str:
    return "\n".join(map(str, inspect(site, PAGES, site.parent, **options)))


def test_sound_site_has_no_problem(site):
    assert found(site) == ""


def test_missing_page(site):
    (site / "models" / "one.html").unlink()
    assert "html/models/one.html: the page is missing" in found(site)


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<script async SRC = 'HTTPS://cdn.example/x.js'></script>",
        '<img alt="" src="//cdn.example/x.png">',
        '<link rel="stylesheet" href="http://a.example/x.css">',
        '<iframe src="https://a.example"></iframe>',
        "<style>@import 'https://a.example/x.css';</style>",
    ],
)
def test_what_pages_load_from_elsewhere(site, body):
    (site / "index.html").write_text(page(body))
    assert found(site) == "html/index.html: the page loads something from outside."


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
    (moved / "html" / "index.html").write_text(page(escape(moved, None)))
    assert "html/index.html: the file holds the path of the output folder" in found(moved / "html")


def test_likeness_is_no_leak(site, monkeypatch):
    monkeypatch.setenv("HOME", "/root")
    (site / "results.csv").write_text("https://example.org/root/x, /rooted, a/root")
    assert found(site) == ""


def test_secrets_of_the_environment(site, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-123")
    monkeypatch.setenv("SHORT_KEY", "run")
    (site / "index.html").write_text(page("abcdefgh-123 run"))
    assert found(site) == "html/index.html: the file holds the value of the environment variable SOME_TOKEN."


def test_large_page(site):
    (site / "index.html").write_text(page("x" * PAGE_BYTES))
    assert f"the page is larger than {PAGE_BYTES} bytes" in found(site)


def test_sounds_are_found_in_a_book_that_is_to_have_none(site):
    (site / "index.html").write_text("<p>an audio file, &lt;audio src=x&gt;</p>")
    assert found(site, sounds=False) == ""
    (site / "media" / "a.FLAC").touch()
    (site / "a.html").write_text("<AUDIO controls>")
    (site / "b.html").write_text("<source src='data:audio/wav;base64,UklG'>")
    told = found(site, sounds=False)
    assert [name in told for name in ("html/media/a.FLAC", "html/a.html", "html/b.html")] == [True] * 3
    assert found(site) == ""
