"""Generated pages: words as Markdown, data as escaped output, and a mark on every page."""

import json

import nbformat
import pytest

from soundcheck.book import model_and_corpus_pages, overview, pages
from soundcheck.report.html import element

HOSTILE = "{{ 7 * 7 }} ![x](../../../../etc/passwd) <script>x</script>"


def read(folder, name):
    return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def test_a_page_is_a_valid_notebook_that_ends_in_its_mark(tmp_path, recorded):
    name = pages.write(
        tmp_path, "models/m", [pages.markdown("# M"), pages.output(element("p", "x"))], recorded()
    )
    notebook = read(tmp_path, name)
    nbformat.validate(notebook)
    last = notebook.cells[-1].outputs[0].data["text/html"]
    assert 'data-page="models/m"' in last
    assert 'data-run="0123456789ab"' in last


def test_outputs_are_not_lost_by_the_book(tmp_path, recorded):
    """MyST-NB drops cells without source together with their outputs."""
    pages.write(tmp_path, "p", [pages.output(element("p", "x"))], recorded())
    assert all(cell.source.strip() for cell in read(tmp_path, "p").cells)


def test_data_never_becomes_markdown(tmp_path, recorded):
    pages.write(tmp_path, "p", [pages.output(element("p", HOSTILE))], recorded())
    for cell in read(tmp_path, "p").cells:
        assert cell.cell_type == "code"
        assert "{{" not in cell.source
        assert "<script" not in cell.outputs[0].data["text/html"]


def test_same_page_same_bytes(tmp_path, recorded):
    for folder in ("a", "b"):
        pages.write(tmp_path / folder, "p", [pages.markdown("# T")], recorded())
    assert (tmp_path / "a/p.ipynb").read_bytes() == (tmp_path / "b/p.ipynb").read_bytes()


def test_written_pages_carry_the_mark_too(tmp_path, recorded):
    pages.write_words(tmp_path, "reading", "# How", recorded())
    text = (tmp_path / "reading.md").read_text()
    assert text.startswith("# How")
    assert 'data-page="reading"' in text


def test_failed_notebooks_are_listed_escaped(recorded):
    entry = {"model": HOSTILE, "family": "f", "status": "failed", "error": f"ValueError: {HOSTILE}\nmore"}
    cells = model_and_corpus_pages.failures_cells(recorded(notebooks=[entry, entry | {"status": "ok"}]))
    html = cells[1]["outputs"][0]["data"]["text/html"]
    assert html.count("<tr>") == 2
    assert "<script" not in html
    assert "&lt;script" in html


@pytest.mark.parametrize("model", ["a/b", "../x", "a b", "Ä", "x" * 300])
def test_pages_of_results_have_safe_names(model):
    name = overview.result_page(model, "fairness_sex")
    assert name.startswith("results/")
    assert name.count("/") == 2
    assert ".." not in name
    assert len(json.dumps(name)) < 200
