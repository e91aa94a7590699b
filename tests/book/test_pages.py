"""Sources of pages and the site made of them: made again only if need be, complete, and all ours."""

import datetime
import os
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from soundcheck.book import pages
from soundcheck.book.site import PAGE_BYTES, inspect, into_place, lay_out, run_style
from soundcheck.common.messages import escape
from soundcheck.report.html import element

PICTURE = f"{'0' * 20}.png"


@pytest.mark.parametrize("text", ["x", "a ```` b\n```\n:file: /etc/passwd"])
def test_raw_html_cannot_end_its_block(text):
    lines = pages.raw(element("p", text)).splitlines()
    fence = lines[0].partition("{")[0]
    assert lines[-1] == fence and not any(line.strip() == fence for line in lines[1:-1])


def write(folder, texts, jobs=1):
    sources = pages.Sources(folder / "src", [folder / "media"])
    for name, text in texts.items():
        sources.page(name, lambda text=text: [pages.markdown(text), pages.output(element("p", "x"))])
        sources.words(f"{name}_words", lambda text=text: text)
    sources.write(jobs)
    return sources


def test_sources_are_valid_written_in_place_and_only_where_something_changed(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / PICTURE).touch()

    def times():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "src").rglob("*.*")}

    write(tmp_path, {"models/a": "# A", "models/b": "# B", "gone": "# Gone"})
    before = times()
    sources = write(tmp_path, {"models/a": "# A", "models/b": f"# B\n\nmedia/{PICTURE}"}, jobs=2)
    after = times()
    assert {path.name for path in after if after[path] != before[path]} == {"b.ipynb", "b_words.md"}
    assert {path.stem for path in before.keys() - after.keys()} == {"gone", "gone_words"}
    assert sources.media == {tmp_path / "media" / PICTURE}
    outside, inside = tmp_path / "outside.md", tmp_path / "src" / "models" / "a_words.md"
    inside.rename(outside)
    inside.symlink_to(outside)
    write(tmp_path, {"models/a": "# Another"})
    assert outside.read_text().startswith("# A\n") and not inside.is_symlink()  # never written through
    notebook = nbformat.read(tmp_path / "src" / "models" / "a.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "sc-footer" in notebook.cells[-1].outputs[0].data["text/html"]
    # MyST-NB drops cells without source together with their outputs.
    assert all(cell.source.strip() for cell in notebook.cells)


@pytest.mark.parametrize("harm", ["", "depends", "edited", "removed", "link", "code", "picture"])
def test_a_page_is_made_again_only_if_anything_changed(tmp_path, harm):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / PICTURE).touch()
    path, made = tmp_path / "src" / "results" / "p.ipynb", []

    def write(text, depends=1, code="1"):
        def make():
            made.append(text)
            return [pages.markdown(f"{text} media/{PICTURE}")]

        sources, before = pages.Sources(tmp_path / "src", [tmp_path / "media"], code), len(made)
        announced = sources.page("results/p", make, depends)
        sources.write()
        assert announced == (len(made) > before)
        return sources.pages, sources.media

    first = write("# A")
    if harm == "edited":
        path.write_bytes(path.read_bytes().replace(b"# A", b"# X"))
    elif harm == "link":
        path.rename(tmp_path / "other")
        path.symlink_to(tmp_path / "other")
    elif harm == "removed":
        path.unlink()
    elif harm == "picture":
        (tmp_path / "media" / PICTURE).unlink()
    again = write("# B", 2 if harm == "depends" else 1, "2" if harm == "code" else "1")
    assert made == (["# A", "# B"] if harm else ["# A"])
    assert made[-1].encode() in path.read_bytes() and not path.is_symlink()
    assert harm == "picture" or again == first == ({"results/p"}, {tmp_path / "media" / PICTURE})


KEPT = {"index.html", "_static/scripts/theme.js", "_static/scripts/theme.js.LICENSE.txt"}
DROPPED = {"_static/scripts/theme.js.map", "_static/scripts/fontawesome.js", ".buildinfo"}
DROPPED |= {"_static/sbt-webpack-macros.html", "_static/locales/de/LC_MESSAGES/booktheme.mo"}


def page(body: str = "") -> str:
    return f"<html><body>{body}</body></html>"


@pytest.fixture
def site(tmp_path) -> Path:
    """A small site without a fault."""
    html = tmp_path / "out" / "html"
    (html / "models").mkdir(parents=True)
    (html / "media").mkdir()
    (html / "index.html").write_text(page('<a href="https://example.org/x">y</a><img src="media/a%20b.png">'))
    (html / "models" / "one.html").write_text(page('<a href="../index.html?q=1">x</a>'))
    (html / "style.css").write_text("/* https://example.org */ p { background: url(media/x.png) }")
    return html


def faults(site: Path, **options: bool) -> str:
    return "\n".join(map(str, inspect(site, ["index", "models/one"], site.parent, **options)))


OUTSIDE = "html/index.html: the page loads something from outside"
OUT, HOME, WORK = "{out}/run.json", "at /root/models/x.py", f"'{Path.cwd()}'"
FAULTS = [  # what stands in a file, and what is said of it
    ("index.html", "<script async SRC = 'HTTPS://cdn.example/x.js'></script>", OUTSIDE),
    ("index.html", '<img alt="" src="//cdn.example/x.png">', OUTSIDE),
    ("index.html", '<link rel="stylesheet" href="http://a.example/x.css">', OUTSIDE),
    ("index.html", "<style>@import 'https://a.example/x.css';</style>", OUTSIDE),
    ("style.css", "p { src: url( '//a.example/x.woff') }", "html/style.css: the style sheet loads something"),
    ("results.csv", OUT, "html/results.csv: the file holds the path of the output folder"),
    ("results.csv", HOME, "html/results.csv: the file holds the path of the home folder"),
    ("results.csv", WORK, "html/results.csv: the file holds the path of the working folder"),
    ("results.csv", "https://example.org/root/x, /rooted, a/root", ""),  # likeness is no leak
    ("index.html", "abcdefgh-123 run", "html/index.html: the file holds the value of the environment var"),
    ("index.html", "x" * PAGE_BYTES, f"the page is larger than {PAGE_BYTES} bytes"),
]


@pytest.mark.parametrize(("name", "text", "said"), FAULTS)
def test_faults_are_found(site, monkeypatch, name, text, said):
    for variable, value in {"HOME": "/root", "SOME_TOKEN": "abcdefgh-123", "SHORT_KEY": "run"}.items():
        monkeypatch.setenv(variable, value)
    text = text.replace("{out}", str(site.parent))
    (site / name).write_text(page(text) if name.endswith("html") else text)
    problems = faults(site)
    assert problems.count("\n") == 0 and said in problems and bool(problems) == bool(said)


def test_missing_pages_and_paths_as_html_has_them(site, tmp_path):
    (site / "models" / "one.html").unlink()
    assert faults(site) == "html/models/one.html: the page is missing."
    moved = (tmp_path / "out").rename(tmp_path / "it's out") / "html"
    (moved / "index.html").write_text(page(escape(moved.parent, None)))
    assert "html/index.html: the file holds the path of the output folder" in faults(moved)


def test_sounds_are_found_in_a_book_that_is_to_have_none(site):
    (site / "index.html").write_text("<p>an audio file, &lt;audio src=x&gt;</p>")
    assert faults(site, sounds=False) == ""
    (site / "media" / "a.FLAC").touch()
    (site / "a.html").write_text("<AUDIO controls>")
    (site / "b.html").write_text("<source src='data:audio/wav;base64,UklG'>")
    problems = faults(site, sounds=False)
    assert all(name in problems for name in ("html/media/a.FLAC", "html/a.html", "html/b.html"))
    assert faults(site) == ""


@pytest.fixture
def laid_out(tmp_path):
    """Lay out a built site, sounds and a table."""
    for name in KEPT | DROPPED:
        (tmp_path / "built" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "built" / name).write_text(name)
    (tmp_path / "sound.flac").write_bytes(b"sound")
    (tmp_path / "results.csv").write_text("model\n")

    def made() -> Path:
        more = {"media": [tmp_path / "sound.flac"], "beside": [("results.csv", tmp_path / "results.csv")]}
        lay_out(tmp_path / "built", tmp_path / "site", style=".sc-footer {}", **more)
        return tmp_path / "site"

    return made


@pytest.mark.parametrize("links", [True, False])
def test_what_no_page_loads_is_dropped_and_sounds_are_the_same_file_and_pages_are_not(
    laid_out, tmp_path, monkeypatch, links
):
    """Sphinx writes into its pages again; sounds are named by their content, and nobody does."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("not supported")))
    made = laid_out()
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert names == KEPT | {"_static/run.css", "media/sound.flac", "results.csv"}
    assert (made / "media" / "sound.flac").samefile(tmp_path / "sound.flac") == links
    assert (made / "media" / "sound.flac").read_bytes() == b"sound"
    assert not (made / "index.html").samefile(tmp_path / "built" / "index.html")


def test_a_site_replaces_the_old_one_and_what_a_killed_run_left(laid_out, tmp_path):
    html = tmp_path / "html"
    for number in range(2):
        for left in ("html-old", "site"):
            (tmp_path / left).mkdir()
        (tmp_path / "site" / "half.html").touch()
        (tmp_path / "built" / "index.html").write_text(f"{number}")
        into_place(laid_out(), html)
        assert (html / "index.html").read_text() == f"{number}" and not (html / "half.html").exists()
        assert not (tmp_path / "html-old").exists() and not (tmp_path / "site").exists()


def test_each_page_and_sheet_of_paper_says_of_which_run_it_is_and_a_title_cannot_leave_its_string():
    def style(title):
        about = SimpleNamespace(title=title, run="0123456789ab", version="1.2.3")
        return run_style(about, datetime.date(2026, 2, 3))

    plain = style("Demo")
    for part in ("Demo", "run of 2026-02-03, results 0123456789ab", "Soundcheck 1.2.3, page ", "@page"):
        assert part in plain
    for title in ('"; } * { display: none', "a\\", "line\nbreak", "</style>", "\u202eزمن 🎙", "x" * 5000):
        sheet = style(title)
        assert sheet.isascii() and len(sheet) < 3000
        assert all(sheet.count(character) == plain.count(character) for character in '"{}\n<>'), title
