"""Generated pages: words as Markdown, data as escaped output, made again only if need be."""

import nbformat
import pytest

from soundcheck.book import pages
from soundcheck.report.html import element

PICTURE = f"{'0' * 20}.png"


@pytest.mark.parametrize("text", ["x", "```", "a ```` b\n```\n:file: /etc/passwd"])
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
    notebook = nbformat.read(tmp_path / "src" / "models" / "a.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "sc-footer" in notebook.cells[-1].outputs[0].data["text/html"]
    # MyST-NB drops cells without source together with their outputs.
    assert all(cell.source.strip() for cell in notebook.cells)


def test_a_link_among_the_sources_is_replaced_and_never_written_through(tmp_path):
    outside, inside = tmp_path / "outside.md", tmp_path / "src" / "a_words.md"
    write(tmp_path, {"a": "# A"})
    inside.rename(outside)
    inside.symlink_to(outside)
    write(tmp_path, {"a": "# Another"})
    assert outside.read_text().startswith("# A\n") and not inside.is_symlink()


class Kept:
    """A book of one page, written by one run after the other."""

    def __init__(self, folder):
        self.folder, self.made = folder, []
        (folder / "media").mkdir()
        (folder / "media" / PICTURE).touch()

    def write(self, text, *depends, code="1"):
        def make():
            self.made.append(text)
            return [pages.markdown(f"{text} media/{PICTURE}")]

        sources = pages.Sources(self.folder / "src", [self.folder / "media"], code)
        asked, before = sources.page("results/p", make, *depends), len(self.made)
        sources.write()
        assert asked == (len(self.made) > before)
        return sources, (self.folder / "src" / "results" / "p.ipynb").read_bytes()


def test_a_page_that_depends_on_the_same_is_not_made_again(tmp_path):
    book = Kept(tmp_path)
    first, content = book.write("# A", "rows", 1)
    again, same = book.write("?", "rows", 1)
    assert book.made == ["# A"] and same == content
    assert (again.pages, again.media) == (first.pages, first.media)
    assert again.media == {tmp_path / "media" / PICTURE}


@pytest.mark.parametrize("harm", ["depends", "edited", "removed", "link", "code", "picture"])
def test_a_page_is_made_again_if_anything_changed(tmp_path, harm):
    book = Kept(tmp_path)
    book.write("# A", 1)
    path = tmp_path / "src" / "results" / "p.ipynb"
    if harm == "edited":
        path.write_bytes(path.read_bytes().replace(b"# A", b"# X"))
    elif harm == "link":
        path.rename(tmp_path / "other")
        path.symlink_to(tmp_path / "other")
    elif harm == "removed":
        path.unlink()
    elif harm == "picture":
        (tmp_path / "media" / PICTURE).unlink()
    _, content = book.write("# B", 2 if harm == "depends" else 1, code="2" if harm == "code" else "1")
    assert book.made == ["# A", "# B"] and b"# B" in content and not path.is_symlink()
