"""Generated pages: words as Markdown, data as escaped output, and a mark on every page."""

import json

import nbformat
import pytest

from soundcheck.book import model_pages, pages
from soundcheck.common.remembered import Remembered
from soundcheck.report.html import element
from soundcheck.results.page_names import result_page

HOSTILE = "{{ 7 * 7 }} ![x](../../../../etc/passwd) <script>x</script>"


def read(folder, name):
    return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def test_a_page_is_a_valid_notebook_that_ends_in_its_mark(tmp_path):
    sources = pages.Sources(tmp_path)
    sources.page("models/m", [pages.markdown("# M"), pages.output(element("p", "x"))])
    notebook = read(tmp_path, "models/m")
    nbformat.validate(notebook)
    last = notebook.cells[-1].outputs[0].data["text/html"]
    assert 'data-page="models/m"' in last
    assert f'data-content="{sources.pages["models/m"]}"' in last


def test_the_mark_tells_contents_apart(tmp_path):
    sources = pages.Sources(tmp_path)
    marks = []
    for text in ("# A", "# B", "# A"):
        sources.page("p", [pages.markdown(text)])
        marks.append(sources.pages["p"])
    assert marks[0] == marks[2] != marks[1]


def test_outputs_are_not_lost_by_the_book(tmp_path):
    """MyST-NB drops cells without source together with their outputs."""
    pages.Sources(tmp_path).page("p", [pages.output(element("p", "x"))])
    assert all(cell.source.strip() for cell in read(tmp_path, "p").cells)


def test_data_never_becomes_markdown(tmp_path):
    pages.Sources(tmp_path).page("p", [pages.output(element("p", HOSTILE))])
    for cell in read(tmp_path, "p").cells:
        assert cell.cell_type == "code"
        assert "{{" not in cell.source
        assert "<script" not in cell.outputs[0].data["text/html"]


def test_same_page_same_bytes(tmp_path):
    for folder in ("a", "b"):
        pages.Sources(tmp_path / folder).page("p", [pages.markdown("# T")])
    assert (tmp_path / "a/p.ipynb").read_bytes() == (tmp_path / "b/p.ipynb").read_bytes()


def test_written_pages_carry_the_mark_too(tmp_path):
    pages.Sources(tmp_path).words("reading", "# How")
    text = (tmp_path / "reading.md").read_text()
    assert text.startswith("# How")
    assert 'data-page="reading"' in text


def write(folder, pages_of_the_book):
    sources = pages.Sources(folder)
    for name, text in pages_of_the_book.items():
        sources.page(name, [pages.markdown(text)])
        sources.words(f"{name}_words", text)
    sources.prune()
    return sources


def test_sources_are_written_in_place_and_only_where_something_changed(tmp_path):
    sound = "media/0123456789abcdef0123.flac"
    write(tmp_path, {"models/a": "# A", "models/b": "# B", "gone": "# Gone"})
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.rglob("*.*")}
    sources = write(tmp_path, {"models/a": "# A", "models/b": f"# B\n\n{sound}"})
    after = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.rglob("*.*")}
    touched = {path.relative_to(tmp_path).as_posix() for path in after if after[path] != before[path]}
    assert touched == {"models/b.ipynb", "models/b_words.md"}
    assert {path.stem for path in before.keys() - after.keys()} == {"gone", "gone_words"}
    assert sources.media == {"0123456789abcdef0123.flac"}


def test_a_link_among_the_sources_is_replaced_and_never_written_through(tmp_path):
    outside = tmp_path / "outside.md"
    write(tmp_path / "src", {"a": "# A"})
    text = (tmp_path / "src" / "a_words.md").read_text()
    outside.write_text(text)
    (tmp_path / "src" / "a_words.md").unlink()
    (tmp_path / "src" / "a_words.md").symlink_to(outside)
    write(tmp_path / "src", {"a": "# Another"})
    assert outside.read_text() == text
    assert not (tmp_path / "src" / "a_words.md").is_symlink()


def test_failed_notebooks_are_listed_escaped(recorded):
    entry = {"model": HOSTILE, "family": "f", "status": "failed", "error": f"ValueError: {HOSTILE}\nmore"}
    cells = model_pages.failures_cells(recorded(notebooks=[entry, entry | {"status": "ok"}]))
    html = cells[1]["outputs"][0]["data"]["text/html"]
    assert html.count("<tr>") == 2
    assert "<script" not in html
    assert "&lt;script" in html


@pytest.mark.parametrize("model", ["a/b", "../x", "a b", "Ä", "x" * 300])
def test_pages_of_results_have_safe_names(model):
    name = result_page(model, "fairness_sex")
    assert name.startswith("results/")
    assert name.count("/") == 2
    assert ".." not in name
    assert len(json.dumps(name)) < 200


class Kept:
    """A book of one page, written by one run after the other."""

    def __init__(self, folder):
        self.folder, self.made = folder, []

    def write(self, text, *depends):
        def make():
            self.made.append(text)
            return [pages.markdown(f"{text} media/{'0' * 20}.png")]

        sources = pages.Sources(self.folder / "src", Remembered(self.folder / "pages.json", "1"))
        sources.made("results/p", make, *depends)
        sources.prune()
        return sources, (self.folder / "src" / "results" / "p.ipynb").read_bytes()


def test_a_page_that_depends_on_the_same_is_not_made_again(tmp_path):
    book = Kept(tmp_path)
    first, content = book.write("# A", "rows", 1)
    again, same = book.write("?", "rows", 1)
    assert book.made == ["# A"] and same == content
    assert (again.pages, again.media) == (first.pages, first.media)
    assert again.media == {f"{'0' * 20}.png"}


@pytest.mark.parametrize("harm", ["depends", "edited", "removed", "link"])
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
    sources, content = book.write("# B", 2 if harm == "depends" else 1)
    assert book.made == ["# A", "# B"] and b"# B" in content and not path.is_symlink()
    assert sources.pages["results/p"].encode() in content
