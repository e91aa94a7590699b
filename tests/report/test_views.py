"""The shared views: numbers, tables, figures; what comes from data is text, never a tag or an address."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from tests.report.given import HOSTILE, cells

import soundcheck
from soundcheck.report import formats, method_views, views
from soundcheck.report.html import element, style_sheet
from soundcheck.report.style import svg
from soundcheck.results.rows import Estimate
from soundcheck.results.table import estimate_frame
from soundcheck.suite.thresholds import read_family


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
@example('"><img src=x onerror=alert(1)>')
@example("</table></div><h1>' onmouseover='alert(1)")
@example("\x00\x1b[31m\ud800\u202e")
def test_any_text_is_a_text_or_a_value_and_makes_no_tag(text):
    html = str(element("td", text, element("b", text), title=text, data_sort=text))
    html.encode("utf-8")
    tags = BeautifulSoup(html, "html.parser").find_all(True)
    assert [(tag.name, list(tag.attrs)) for tag in tags] == [("td", ["title", "data-sort"]), ("b", [])]
    assert str(element("p", "a" * 500)).count("a") < 250 and "…" in str(element("p", "a" * 500))


DRAWING, FLAC = "data:image/svg+xml;base64,PHN2Zz4=", "data:audio/flac;base64,ZkxhQw=="
OUTSIDE = [" JavaScript:x", "https://e.org", "//e.org/x", "data:text/html,x", "DATA:x", "java\tscript:x"]
OUTSIDE += ["java\nscript:x", "\x01javascript:x", "\\\\e.org", "/\\e.org", f"{DRAWING} x"]
CARRIED = [("img", "src", FLAC), ("audio", "src", DRAWING), ("a", "href", DRAWING), ("audio", "poster", FLAC)]


@pytest.mark.parametrize(
    ("tag", "name", "address"),
    [*(("a", "href", address) for address in OUTSIDE), ("img", "src", "https://e.org"), *CARRIED],
)
def test_addresses_that_lead_out_of_the_site_are_refused(tag, name, address):
    with pytest.raises(ValueError, match="leads out of the site"):
        element(tag, "x", **{name: address})


@pytest.mark.parametrize("name", ["onclick", "ONCLICK", "srcdoc", "srcset", 'a" onx', "a>b", ""])
def test_attributes_that_run_code_or_are_none_are_refused(name):
    with pytest.raises(ValueError, match="not an attribute"):
        element("a", "x", **{name: "alert(1)"})


@pytest.mark.parametrize("text", ["</style><script>", '@import "x.css";', "a { background: url(x) }"])
def test_a_style_sheet_neither_ends_nor_loads_anything(text):
    with pytest.raises(ValueError, match="style sheet"):
        style_sheet(text)


FOREIGN = re.compile(r"(?<!def )\b(?:to_html|HTML|Markdown|Styler)\(")
NO_LITERAL = re.compile(r"""\bHtml\(\s*(?![)"'])\w""")


def test_html_is_made_nowhere_else():
    """No f-string or sum becomes HTML, and neither pandas nor IPython write any."""
    for path in Path(soundcheck.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name not in ("html.py", "command_line.py"):  # the page of scores is a template
            assert not FOREIGN.search(text), path
        if path.name not in ("html.py", "executed.py", "templates.py") and "publish" not in path.parts:
            assert not NO_LITERAL.search(text), path


ROWS = pd.DataFrame(
    {
        **{"name": ["women", f"{HOSTILE}\u202e"], "value": [0.08, 0.52], "low": [0.0, np.nan]},
        **{"high": [0.18, np.nan], "low_sample": [0.02, 0.44], "high_sample": [0.14, 0.60]},
        **{"state": ["fail", "pass"], "reference": [0.52, np.nan], "margin": [0.075, np.nan]},
        "words": ["worse, $x$", ""],
    }
)


@pytest.mark.parametrize(
    ("write", "text", "written"),
    [
        (formats.number, -1e-17, "0.000"),
        (formats.number, float("-inf"), "−∞"),
        (formats.number, float("nan"), ""),
        (formats.label, "age: (20, 40]", "age: 20 to 40"),
        (formats.label, "(-1, 0]", "−1 to 0"),
        (formats.label, "(-inf, 0)", "below 0"),
        (formats.measure, "Jensen Shannon Distance", "Jensen-Shannon Distance"),
        (formats.in_words, "Change Eer White Noise", "change of EER under white noise"),
    ],
)
def test_numbers_and_names(write, text, written):
    assert write(text) == written


def test_a_table_escapes_texts_sorts_numbers_and_folds_the_rest():
    columns = {
        "<group>": "name",
        "value": lambda row: formats.value_cell(row.value, row.low, row.high),
        "n": lambda _: 3000,
        "rest": lambda row: row.low,
    }
    filters = {"<group>": "group"}
    html = str(views.table(ROWS, columns, caption="A & b", first=1, stacked=True, filters=filters))
    assert "<img" not in html and "\u202e" not in html and "A &amp; b" in html and "nan" not in html
    assert '<th scope="col" data-filter="group">&lt;group&gt;</th>' in html
    assert '<th scope="col" class="sc-number">value</th>' in html and 'data-sort="0.08"' in html
    assert '<td data-label="n" class="sc-number" data-sort="3000">3,000</td>' in html
    assert html.count("<table") == 2 and "1 more row" in html  # the second row is folded


def test_views_draw_no_row_and_lines_keep_the_order_of_names():
    assert "<table" in views.table(ROWS.head(0), {"group": "name"})
    assert svg(views.forest(ROWS.head(0), panels="name"))
    assert svg(views.lines(ROWS.head(0), "name", hue="state"))
    frame = pd.DataFrame({"step": ["mild", "medium", "severe"], "value": [0.1, np.nan, 0.3], "model": "a"})
    axes = views.lines(frame, "step", hue="model", threshold=0.2).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["mild", "severe"]


def test_a_forest_names_rows_and_reasons_as_they_are_and_says_what_it_leaves_out():
    picture = svg(views.forest(ROWS, unit="concordance")).decode()
    assert "worse, $x$" in picture and "women" in picture and "\u202e" not in picture
    many = pd.concat([ROWS.head(1)] * 300, ignore_index=True)
    assert "the first 24 of 300" in svg(views.forest(many)).decode()


def estimates(*given):
    plain = {"model": "m", "corpus": "c", "family": "f", "task": "t", "measure": "concordance_cc"}
    plain |= {"segments": 120, "speakers": 9}
    return estimate_frame(Estimate(**plain | each) for each in given)


RATE = {"measure": "word_error_rate"}


def test_estimates_stand_a_line_a_group_and_a_column_a_measure_or_a_condition():
    frame = estimates(
        {"part": "sex: female", "value": 0.316, "low": 0.225, "high": 0.4},
        RATE | {"part": "sex: female", "value": 0.298, "low": 0.25, "high": 0.35},
        {"part": "sex: male", "value": 0.6, "speakers": 0},  # of unknown speakers
        {"part": "sex: male", "speakers": 0, "measure": "recall", "label": "(0.75, inf]", "excluded": "<b>"},
    )
    assert cells(views.estimate_table(frame, {"part": "group"})) == [
        ["group", "concordance", "word error rate", "recall, above 0.75", "segments", "speakers"],
        ["sex: female", "0.316 0.225 to 0.400", "29.8 % 25.0 to 35.0", "", "120", "9"],
        ["sex: male", "0.600", "", "<b>", "120", ""],
    ]
    few = {"value": 0.234, "low_sample": 0.18, "high_sample": 0.29, "excluded": "2 speakers, 5 needed"}
    frame = estimates(few, {"condition": "chance", "value": 0.01, "speakers": 0})
    lines = cells(views.estimate_table(frame, {"corpus": "corpus"}, "condition", counts=""))
    below = "0.234 0.180 to 0.290 for these speakers; 2 speakers, 5 needed"
    assert lines == [["corpus", "", "chance"], ["c", below, "0.010"]]
    assert str(views.estimate_table(estimates(), {"corpus": "corpus"})) == ""


def test_thresholds_as_in_the_file_with_the_fewest_segments_in_a_bin():
    family = read_family("fairness_sex")
    heads, *rows = cells(method_views.threshold_table(family))
    place = heads.index("fewest segments in a bin")
    fewest = ["67 for groups of 1,000" if "Bin" in name else "" for name in family.tests]
    assert [line[place] for line in rows] == fewest and re.search("values.*classes", " ".join(heads))
    first = next(line for line in rows if line[0] == "Recall Per Class")
    assert "|value| < 0.175" in first and any("0.17770" in cell for cell in first)
