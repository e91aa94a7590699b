"""A site holds what its pages load, and nothing that none of them asks for; it takes its place whole."""

import os
from pathlib import Path

import pytest

from soundcheck.book.site import into_place, lay_out, signature

KEPT = ["index.html", "_static/scripts/theme.js", "_static/scripts/theme.js.LICENSE.txt"]
DROPPED = [
    "_static/scripts/theme.js.map",
    "_static/scripts/fontawesome.js",
    "_static/locales/de/LC_MESSAGES/booktheme.mo",
    ".buildinfo",
]


@pytest.fixture
def site(tmp_path):
    """A built site, sounds and a table, laid out."""
    for name in (*KEPT, *DROPPED):
        (tmp_path / "built" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "built" / name).write_text(name)
    (tmp_path / "sound.flac").write_bytes(b"sound")
    (tmp_path / "results.csv").write_text("model\n")

    def made() -> Path:
        more = {"media": [tmp_path / "sound.flac"], "beside": [("results.csv", tmp_path / "results.csv")]}
        lay_out(tmp_path / "built", tmp_path / "site", style=".sc-footer {}", **more)
        return tmp_path / "site"

    return made


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_only_what_no_page_loads_is_dropped(site):
    assert names(site()) == {*KEPT, "_static/run.css", "media/sound.flac", "results.csv"}


def test_sounds_are_the_same_file_and_pages_are_not(site, tmp_path):
    """Sphinx writes into its pages again; sounds are named by their content, and nobody does."""
    made = site()
    assert (made / "media" / "sound.flac").samefile(tmp_path / "sound.flac")
    assert not (made / "index.html").samefile(tmp_path / "built" / "index.html")


def test_a_file_system_without_hard_links_gets_copies(site, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refused)
    assert (site() / "media" / "sound.flac").read_bytes() == b"sound"


def test_a_site_replaces_the_old_one_and_what_a_killed_run_left(site, tmp_path):
    html = tmp_path / "html"
    for number in range(2):
        (tmp_path / "html-old").mkdir()
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "half.html").touch()
        (tmp_path / "built" / "index.html").write_text(f"{number}")
        into_place(site(), html)
        assert (html / "index.html").read_text() == f"{number}"
        assert not (html / "half.html").exists()
        assert not (tmp_path / "html-old").exists() and not (tmp_path / "site").exists()


def test_the_signature_tells_whether_anybody_changed_the_site(site):
    made = site()
    first = signature(made)
    assert signature(made) == first
    (made / "index.html").write_text("index.HTML")
    edited = signature(made)
    (made / "results.csv").unlink()
    assert len({first, edited, signature(made), signature(made / "nothing")}) == 4
