"""Pages as notebooks: trusted words as Markdown, everything that comes from data as escaped HTML output.

Jupyter Book parses Markdown, so text from data must never get there: a label could include files or run code.
Outputs are shown as they are, and :mod:`soundcheck.report.html` escapes what goes into them. Every page ends
in a mark that names page and run, written pages included; the finished site is searched for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from soundcheck.common import files
from soundcheck.report.html import Html, element
from soundcheck.results.record import RunRecord

MARK = "sc-page"
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def markdown(text: str) -> NotebookNode:
    """Make a cell of our own words; never of text from data."""
    return v4.new_markdown_cell(text)


def output(html: Html) -> NotebookNode:
    """Make a cell that shows HTML and no code."""
    shown = v4.new_output("display_data", {"text/html": str(html), "text/plain": ""})
    # The source is never shown; MyST-NB drops a cell without source, outputs and all.
    return v4.new_code_cell("show", execution_count=1, metadata={"tags": ["remove-input"]}, outputs=[shown])


def mark(name: str, record: RunRecord) -> Html:
    """Make the last line of a page: the mark by which the finished page is known."""
    text = f"Soundcheck {record.version}, run {record.run}"
    return element("div", text, class_=f"{MARK} sc-footer", data_page=name, data_run=record.run)


def write_words(folder: Path, name: str, text: str, record: RunRecord) -> str:
    """Write a page of our own words, never of text from data; returns its name."""
    files.write_text(folder / f"{name}.md", f"{text}\n\n```{{raw}} html\n{mark(name, record)}\n```\n")
    return name


def write(folder: Path, name: str, cells: Sequence[dict], record: RunRecord) -> str:
    """Write a page; returns its name.

    Parameters
    ----------
    folder
        Folder of the book's sources.
    name
        Name of the page without suffix, such as ``models/prosody``.
    cells
        From :func:`markdown` and :func:`output`, or of an executed notebook.
    record
        The run's record.
    """
    cells = [*cells, output(mark(name, record))]
    numbered = [nbformat.from_dict({**cell, "id": f"cell-{n}"}) for n, cell in enumerate(cells)]
    notebook = v4.new_notebook(cells=numbered, metadata=KERNEL)
    files.write_text(folder / f"{name}.ipynb", nbformat.writes(notebook))
    return name
