"""Executed notebooks are cleaned before they are published: folded code, no paths, bounded outputs."""

import dataclasses
import json
from pathlib import Path

import pytest

from soundcheck.book import executed
from soundcheck.results.record import StudyRecord

OK = StudyRecord(name="f", status="ok", error="")


def code(source="1", outputs=(), tags=()):
    cell = {"cell_type": "code", "execution_count": 1, "source": source, "outputs": list(outputs)}
    return cell | {"metadata": {"tags": list(tags), "papermill": {"exception": False}}}


def words(source, tags=()):
    return {"cell_type": "markdown", "metadata": {"tags": list(tags)}, "source": source}


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def data(kinds):
    return {"output_type": "display_data", "metadata": {}, "data": kinds}


@pytest.fixture
def clean(tmp_path):
    """Clean cells of a notebook; without the box that shows code unless ``switch``."""

    def run(*cells, outcome=OK, switch=False):
        metadata = {"papermill": {"input_path": "/secret/in.ipynb", "output_path": str(tmp_path)}}
        (tmp_path / "n.ipynb").write_text(json.dumps({"cells": list(cells), "metadata": metadata}))
        made = executed.cells(tmp_path / "n.ipynb", "m: F", outcome, tmp_path)
        return made if switch else [cell for cell in made if "sc-code-switch" not in json.dumps(cell)]

    return run


def html(cell, number=0):
    return cell["outputs"][number]["data"]["text/html"]


def test_one_box_a_page_shows_all_code_and_parameters_are_removed(clean):
    given = code('run = ""', tags=["parameters"]), code("run = 1", tags=["injected-parameters"])
    cells = clean(words("# Family"), *given, code(), words("More"), code(), switch=True)
    boxes = [number for number, cell in enumerate(cells) if "sc-code-switch" in json.dumps(cell)]
    assert boxes == [1] and json.dumps(cells).count("checkbox") == 1  # before the first code
    assert [cell["metadata"]["tags"] for cell in cells if cell["source"] == "1"] == [["sc-code"]] * 2
    assert "run =" not in json.dumps(cells)
    assert "checkbox" not in json.dumps(clean(words("# Family"), words("No code"), switch=True))


def test_no_trace_of_papermill_or_this_machine(clean, tmp_path):
    outputs = stream(f"saved {tmp_path}/x and {Path.home()}/y"), data({"text/html": f"<p>{tmp_path}/z</p>"})
    cells = clean(code(outputs=outputs), words("papermill-error here", tags=["papermill-error-cell-tag"]))
    text = json.dumps(cells)
    assert "papermill" not in text and str(tmp_path) not in text and f"{Path.home()}/" not in text
    assert "…/x" in html(cells[1])


def test_long_many_and_large_outputs_stay_below_the_limit_of_a_page_and_say_so(clean):
    for text in ("x" * 200_000, "line\n" * 20_000):
        page = json.dumps(clean(code(outputs=[stream(text)])))
        assert len(page) < 50_000 and "left out" in page
    large = data({"text/html": f"<p>{'x' * 100_000}</p>"})
    page = json.dumps(clean(*[code(outputs=[large])] * 20))
    assert len(page) < 800_000
    assert page.count("an output of 100 kB, which would make the page too large") == 15


def test_text_that_no_file_can_hold(clean):
    outputs = data({"text/html": "<p>\ud800\0</p>"}), stream("\ud800\0 \x1b[31mred\x1b[0m <script>x</script>")
    for cell in clean(words("a\ud800"), code("s = '\ud800\0'", outputs)):
        html = [output["data"]["text/html"] for output in cell.get("outputs", [])]
        text = "\n".join([cell["source"], *html])
        assert text.encode("utf-8") and not set(text) & set("\0\x1b") and "<script" not in text


def test_a_failure_is_shown_without_paths(clean, tmp_path):
    outcome = dataclasses.replace(OK, status="failed", error=f"ValueError: <b> in {tmp_path}/secret.csv")
    cells = clean(words("# Family"), code(outputs=[stream("before")]), outcome=outcome)
    assert "This notebook failed" in html(cells[1]) and "before" in json.dumps(cells)
    assert "ValueError: &lt;b&gt; in …/secret.csv" in html(cells[1])


@pytest.mark.parametrize("content", [None, "{", '{"cells": 3}'])
def test_a_notebook_that_is_not_there_still_has_a_page(tmp_path, content):
    if content is not None:
        (tmp_path / "n.ipynb").write_text(content)
    outcome = dataclasses.replace(OK, status="timeout")
    cells = executed.cells(tmp_path / "n.ipynb", "m: F", outcome, tmp_path)
    assert cells[0]["source"] == "# m: F" and "This notebook failed" in json.dumps(cells)


PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("given", "present", "absent"),
    [
        ({"image/png": f"{PIXEL}\n", "text/plain": "<F>"}, f"data:image/png;base64,{PIXEL}", "F>"),
        ({"image/jpeg": "AAAA/tmp/AAAA"}, "data:image/jpeg;base64,AAAA/tmp/AAAA", "…"),  # this is no path
        ({"image/svg+xml": "<svg><script>1</script></svg>"}, "data:image/svg+xml;base64,", "<script"),
        ({"text/markdown": "**Three** [x](https://a.org)", "text/plain": "<M>"}, "<strong>Three", "<M>"),
        ({"text/markdown": "<script>1</script>"}, "&lt;script&gt;", "<script"),
        ({"text/markdown": "![p](https://a.org/x.png)"}, "p", "<img"),
        ({"text/markdown": "[p](javascript:alert(1))"}, "[p](javascript", "href"),
        ({"text/markdown": "[p](other.ipynb)"}, "[p](other", "href"),  # which leads nowhere
        ({"text/html": "<b>a</b>", "text/plain": "x"}, "<b>a</b>", "Left out"),
        ({"text/html": "<p><SCRIPT src='https://a.org'>1</p>"}, "(text/html)", "SCRIPT"),
        ({"text/html": "<script>1</script>", "image/png": PIXEL}, PIXEL, "<script"),
        ({"application/javascript": "1", "text/plain": "<J>"}, "(application/javascript)", "<J>"),
        ({"text/plain": "42 <b>"}, "42 &lt;b&gt;", "<b>"),
        ({"text/latex": r"$\href{javascript:1}{x}$"}, r"<pre>$\href", "<a"),
    ],
)
def test_an_output_is_shown_or_named(clean, given, present, absent):
    content = html(clean(code(outputs=[data(given)]))[1])
    assert present in content and absent not in content


def test_a_formula_is_left_to_the_book_and_a_section_of_details_is_folded_with_its_outputs(clean):
    formula = {"text/latex": "$x^2$"}
    (output,) = clean(code(outputs=[data(formula | {"text/plain": "<M>"})]))[1]["outputs"]
    assert output["data"] == formula
    details = words("## Details\n\nOf all.\n\n### First\n\nWords.")
    cells = clean(words("# Family"), code(), details, code(outputs=[data({"text/html": "<p>x</p>"})]))
    assert cells[-2]["source"] == "## Details\n\nOf all."
    assert all(part in html(cells[-1]) for part in ("<summary>First</summary>", "Words.", "<p>x</p>"))
