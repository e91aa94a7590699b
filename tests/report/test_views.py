"""The shared views: tables, forest plots and lines, with ordinary and with bad input."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.common import templates
from soundcheck.common.templates import Html
from soundcheck.report import views
from soundcheck.report.formats import value_cell
from soundcheck.report.style import svg

ROWS = pd.DataFrame(
    {
        "name": ["women", "<b>men</b>\u202e"],
        "value": [0.08, 0.52],
        "low": [0.0, np.nan],
        "high": [0.18, np.nan],
        "low_sample": [0.02, 0.44],
        "high_sample": [0.14, 0.60],
        "state": ["fail", "pass"],
        "reference": [0.52, np.nan],
        "margin": [0.075, np.nan],
        "words": ["worse, $x$", ""],
    }
)


def test_a_table_escapes_texts_sorts_numbers_and_folds_the_rest():
    html = str(
        views.table(
            ROWS,
            {
                "<group>": "name",
                "value": lambda row: value_cell(row.value, row.low, row.high),
                "n": lambda _: 3000,
            },
            caption="Groups & values",
            first=1,
            stacked=True,
            filters={"<group>": "group"},
        )
    )
    assert "<b>" not in html
    assert "\u202e" not in html
    assert '<th scope="col" data-filter="group">&lt;group&gt;</th>' in html
    assert '<th scope="col" class="sc-number">value</th>' in html
    assert "Groups &amp; values" in html
    assert html.count("<table") == 2  # the second row is folded
    assert "1 more row" in html
    assert 'data-sort="0.08"' in html
    assert '<td data-label="n" class="sc-number" data-sort="3000">3,000</td>' in html


@pytest.mark.parametrize("rows", [ROWS.head(0), ROWS.head(1)])
def test_views_draw_one_row_and_none(rows):
    assert "<table" in views.table(rows, {"group": "name"})
    assert svg(views.forest(rows, panels="name"))
    assert svg(views.lines(rows, "name", hue="state"))


def test_a_forest_names_rows_and_reasons_as_they_are():
    picture = svg(views.forest(ROWS, unit="concordance")).decode()
    assert "worse, $x$" in picture
    assert "women" in picture
    assert "\u202e" not in picture
    assert svg(views.forest(ROWS, unit="concordance")) == svg(views.forest(ROWS, unit="concordance"))


def test_a_forest_says_what_it_leaves_out():
    many = pd.concat([ROWS.head(1)] * 300, ignore_index=True)
    assert "the first 24 of 300" in svg(views.forest(many)).decode()


def test_lines_keep_the_order_of_names_and_the_place_of_numbers():
    frame = pd.DataFrame(
        {"step": ["mild", "medium", "severe"], "value": [0.1, np.nan, 0.3], "model": ["a"] * 3}
    )
    axes = views.lines(frame, "step", hue="model", threshold=0.2).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["mild", "severe"]
    numbers = views.lines(frame.assign(step=[20, 10, 0]), "step").axes[0]
    assert numbers.lines[0].get_xdata().tolist() == [20, 0]


def test_what_templates_print_is_escaped_for_its_medium():
    page = (
        templates._environment(str.upper)
        .from_string("{{ a }}{{ b }}{{ c }}")
        .render(a="x", b=Html("<i>"), c=None)
    )
    assert page == "X<i>"
