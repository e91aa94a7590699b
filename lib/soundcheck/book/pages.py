"""Pages as notebooks: trusted words as Markdown, everything that comes from data as escaped HTML output.

Jupyter Book parses Markdown, so text from data must never get there: a label could include files or run code.
Outputs are shown as they are, and :mod:`soundcheck.report.html` escapes what goes into them. Every page ends
in a mark that names page and run, written pages included; the finished site is searched for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.report.html import Html, element
from soundcheck.results.record import RunRecord

MARK = "sc-page"


def markdown(text: str) -> dict:
    """Make a cell of our own words; never of text from data."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def output(html: Html) -> dict:
    """Make a cell that shows HTML and no code."""
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {"tags": ["remove-input"]},
        "source": "show",  # never shown; MyST-NB drops a cell without source, outputs and all
        "outputs": [
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"text/html": str(html), "text/plain": ""},
            }
        ],
    }


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
    numbered = [dict(cell, id=f"cell-{number}") for number, cell in enumerate(cells)]
    notebook = {
        "cells": numbered,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    files.write_text(folder / f"{name}.ipynb", json.dumps(notebook, indent=1, sort_keys=True))
    return name
