"""Executed notebooks are cleaned before they are published: folded code, no paths, bounded outputs."""

import dataclasses
import json
from pathlib import Path

import pytest

from soundcheck.book import executed
from soundcheck.results.record import StudyRecord

OK = StudyRecord(name="f", status="ok", error="")


def code(source="1", outputs=(), tags=()):
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {"tags": list(tags), "papermill": {"exception": False}},
        "source": source,
        "outputs": list(outputs),
    }


def words(source, tags=()):
    return {"cell_type": "markdown", "metadata": {"tags": list(tags)}, "source": source}


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def html(text):
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": text}}


@pytest.fixture
def clean(tmp_path):
    def run(*cells, outcome=OK, switch=False):
        path = tmp_path / "n.ipynb"
        metadata = {"papermill": {"input_path": "/secret/in.ipynb", "output_path": str(path)}}
        path.write_text(
            json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
        )
        made = executed.cells(path, "m: F", outcome, tmp_path)
        return made if switch else [cell for cell in made if "sc-code-switch" not in text_of([cell])]

    return run


def tags(cell):
    return cell["metadata"]["tags"]


def text_of(cells):
    return json.dumps(cells)


def test_one_box_a_page_shows_all_code(clean):
    cells = clean(words("# Family"), code(), words("More"), code(), switch=True)
    boxes = [number for number, cell in enumerate(cells) if "sc-code-switch" in text_of([cell])]
    assert boxes == [1]  # before the first code
    assert text_of(cells).count("checkbox") == 1
    assert "Show the code of this page" in text_of(cells)
    assert "checkbox" not in text_of(clean(words("# Family"), words("No code"), switch=True))


def test_code_is_marked_and_parameters_are_removed(clean):
    cells = clean(
        words("# Family"),
        code('run = ""', tags=["parameters"]),
        code("run = 'x'", tags=["injected-parameters"]),
        code(),
    )
    assert [tags(cell) for cell in cells[1:]] == [["sc-code"]]


def test_no_trace_of_papermill_or_this_machine(clean, tmp_path):
    cells = clean(
        code(outputs=[stream(f"saved {tmp_path}/x and {Path.home()}/y"), html(f"<p>{tmp_path}/z</p>")]),
        words("papermill-error here", tags=["papermill-error-cell-tag"]),
    )
    text = text_of(cells)
    assert "papermill" not in text
    assert str(tmp_path) not in text
    assert str(Path.home()) + "/" not in text
    assert "…/x" in json.loads(json.dumps(cells))[1]["outputs"][0]["data"]["text/html"]


def test_terminal_colours_and_markup_of_printed_text_are_harmless(clean):
    shown = clean(code(outputs=[stream("\x1b[31mred\x1b[0m <script>x</script>")]))[1]["outputs"][0]["data"][
        "text/html"
    ]
    assert "\x1b" not in shown
    assert "<script" not in shown
    assert "red" in shown


@pytest.mark.parametrize("text", ["x" * 2_000_000, "line\n" * 100_000])
def test_long_outputs_are_cut_and_say_so(clean, text):
    shown = text_of(clean(code(outputs=[stream(text)])))
    assert len(shown) < 50_000
    assert "left out" in shown


def test_many_and_large_outputs_stay_below_the_limit_of_a_page(clean):
    many = text_of(clean(code(outputs=[stream(f"<{n}>") for n in range(500)])))
    assert "440 outputs left out" in many
    large = text_of(clean(*[code(outputs=[html("<p>" + "x" * 100_000 + "</p>")]) for _ in range(20)]))
    assert len(large) < 800_000
    assert large.count("an output of 100 kB, which would make the page too large") == 15


def test_text_that_no_file_can_hold(clean):
    cells = clean(words("a\ud800"), code("s = '\ud800\0'", [html("<p>\ud800\0</p>"), stream("\ud800\0")]))
    for cell in cells:
        cell["source"].encode("utf-8")
        for output in cell.get("outputs", []):
            output["data"]["text/html"].encode("utf-8")
            assert "\0" not in output["data"]["text/html"]


def test_a_failure_is_shown_without_paths(clean, tmp_path):
    outcome = dataclasses.replace(OK, status="failed", error=f"ValueError: <b> in {tmp_path}/secret.csv")
    cells = clean(words("# Family"), code(outputs=[stream("before")]), outcome=outcome)
    shown = cells[1]["outputs"][0]["data"]["text/html"]
    assert "This notebook failed" in shown
    assert "ValueError: &lt;b&gt; in …/secret.csv" in shown
    assert "before" in text_of(cells)


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"cells": 3}'])
def test_a_notebook_that_is_not_there_still_has_a_page(tmp_path, content):
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_text(content)
    cells = executed.cells(path, "m: F", dataclasses.replace(OK, status="timeout"), tmp_path)
    assert cells[0]["source"] == "# m: F"
    assert "This notebook failed" in text_of(cells)


PIXEL = "iVBORw0KGgo="
OUTPUTS = {  # data of an output -> what its page has, and what it has not
    "png": (
        {"image/png": f"{PIXEL}\n", "text/plain": "<Figure>"},
        f"data:image/png;base64,{PIXEL}",
        "Figure>",
    ),
    "jpeg": ({"image/jpeg": "/9j/4AAQ"}, "data:image/jpeg;base64,/9j/4AAQ", None),
    "path in an image": ({"image/png": "AAAA/tmp/AAAA"}, "base64,AAAA/tmp/AAAA", None),
    "drawing": ({"image/svg+xml": "<svg><script>1</script></svg>"}, "data:image/svg+xml;base64,", "<script"),
    "markdown": (
        {"text/markdown": "**Three** [x](https://a.org)", "text/plain": "<M>"},
        "<strong>Three",
        "<M>",
    ),
    "raw html": ({"text/markdown": "<script>1</script>"}, "&lt;script&gt;", "<script"),
    "picture": ({"text/markdown": "![p](https://a.org/x.png)"}, "p", "<img"),
    "bad link": ({"text/markdown": "[p](javascript:alert(1))"}, "[p](javascript", "href"),
    "lost link": ({"text/markdown": "[p](other.ipynb)"}, "[p](other", "href"),
    "html": ({"text/html": "<b>a</b>", "text/plain": "x"}, "<b>a</b>", "Left out"),
    "script": (
        {"text/html": "<p><SCRIPT src='https://a.org'>1</p>", "text/plain": "x"},
        "(text/html)",
        "SCRIPT",
    ),
    "script beside a picture": ({"text/html": "<script>1</script>", "image/png": PIXEL}, PIXEL, "<script"),
    "javascript": ({"application/javascript": "1", "text/plain": "<J>"}, "(application/javascript)", "<J>"),
    "widget": (
        {"text/plain": "Slider()", "application/vnd.jupyter.widget-view+json": {}},
        "(application/vnd.jupyter.widget-view+json)",
        "Slider",
    ),
    "text": ({"text/plain": "42 <b>"}, "42 &lt;b&gt;", "<b>"),
    "active formula": ({"text/latex": r"$\href{javascript:1}{x}$"}, r"<pre>$\href", None),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_shown_or_named(clean, name):
    data, there, absent = OUTPUTS[name]
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    shown = clean(code(outputs=[output]))[1]["outputs"][0]["data"]["text/html"]
    assert there in shown
    assert absent is None or absent not in shown


def test_a_formula_is_left_to_the_book(clean):
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/latex": "$x^2$", "text/plain": "<M>"},
    }
    assert clean(code(outputs=[output]))[1]["outputs"][0]["data"] == {"text/latex": "$x^2$"}


def test_a_section_that_begins_in_the_cell_of_details_is_folded_with_its_outputs(clean):
    cells = clean(
        words("# Family"),
        code(),
        words("## Details\n\nOf all.\n\n### First\n\nWords."),
        code(outputs=[html("<p>x</p>")]),
    )
    assert cells[-2]["source"] == "## Details\n\nOf all."
    shown = cells[-1]["outputs"][0]["data"]["text/html"]
    assert "<summary>First</summary>" in shown and "Words." in shown and "<p>x</p>" in shown
