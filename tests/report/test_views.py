"""The shared views: numbers, tables, tables of estimates, forest plots and lines; with bad input, too."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells

from soundcheck.common.errors import Caveat
from soundcheck.report import family_tables, formats, notices, views
from soundcheck.report.style import svg
from soundcheck.results.estimates import Estimate, estimate_frame
from soundcheck.suite.thresholds import read_family

ROWS = pd.DataFrame(
    {
        **{"name": ["women", f"{HOSTILE}\u202e"], "value": [0.08, 0.52], "low": [0.0, np.nan]},
        **{"high": [0.18, np.nan], "low_sample": [0.02, 0.44], "high_sample": [0.14, 0.60]},
        **{"state": ["fail", "pass"], "reference": [0.52, np.nan], "margin": [0.075, np.nan]},
        "words": ["worse, $x$", ""],
    }
)


@pytest.mark.parametrize(
    ("value", "threshold", "text"),
    [
        (-0.0001, None, "−0.00010"),
        (-1e-17, None, "0.000"),
        (-0.07502, 0.075, "−0.07502"),  # never looks like the threshold that it misses
        (0.95, 0.95, "0.950"),
        (float("-inf"), None, "−∞"),
        (float("nan"), 0.5, ""),
    ],
)
def test_numbers(value, threshold, text):
    assert formats.number(value, threshold=threshold) == text


@pytest.mark.parametrize(
    ("write", "text", "written"),
    [
        (formats.label, "age: (20, 40]", "age: 20 to 40"),
        (formats.label, "(-1, 0]", "−1 to 0"),
        (formats.label, "(-inf, 0)", "below 0"),
        (formats.label, "(0.25, 0.5] or so", "(0.25, 0.5] or so"),  # a text, no range
        (formats.measure, "Jensen Shannon Distance", "Jensen-Shannon Distance"),
        (formats.in_words, "Change Eer White Noise", "change of EER under white noise"),
        (formats.in_words, "Uarthing", "uarthing"),
    ],
)
def test_names(write, text, written):
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


def test_views_draw_no_row():
    assert "<table" in views.table(ROWS.head(0), {"group": "name"})
    assert svg(views.forest(ROWS.head(0), panels="name"))
    assert svg(views.lines(ROWS.head(0), "name", hue="state"))


def test_a_forest_names_rows_and_reasons_as_they_are_and_says_what_it_leaves_out():
    picture = svg(views.forest(ROWS, unit="concordance")).decode()
    assert "worse, $x$" in picture and "women" in picture and "\u202e" not in picture
    many = pd.concat([ROWS.head(1)] * 300, ignore_index=True)
    assert "the first 24 of 300" in svg(views.forest(many)).decode()


def test_lines_keep_the_order_of_names_and_the_place_of_numbers():
    frame = pd.DataFrame({"step": ["mild", "medium", "severe"], "value": [0.1, np.nan, 0.3], "model": "a"})
    axes = views.lines(frame, "step", hue="model", threshold=0.2).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["mild", "severe"]
    numbers = views.lines(frame.assign(step=[20, 10, 0]), "step").axes[0]
    assert numbers.lines[0].get_xdata().tolist() == [20, 0]


def estimates(*given):
    plain = {"model": "m", "corpus": "c", "family": "f", "task": "t", "measure": "concordance_cc"}
    plain |= {"segments": 120, "speakers": 9}
    return estimate_frame(Estimate(**plain | each) for each in given)


RATE = {"measure": "word_error_rate"}
FEW = {"value": 0.234, "low_sample": 0.18, "high_sample": 0.29, "excluded": "2 speakers, 5 needed"}


def test_estimates_stand_a_line_a_group_and_a_column_a_measure_or_a_condition():
    found = estimates(
        {"part": "sex: female", "value": 0.316, "low": 0.225, "high": 0.4},
        RATE | {"part": "sex: female", "value": 0.298, "low": 0.25, "high": 0.35},
        {"part": "sex: male", "value": 0.6, "speakers": 0},  # of unknown speakers
        {"part": "sex: male", "speakers": 0, "measure": "recall", "label": "(0.75, inf]", "excluded": "<b>"},
    )
    assert cells(views.estimate_table(found, {"part": "group"})) == [
        ["group", "concordance", "word error rate", "recall, above 0.75", "segments", "speakers"],
        ["sex: female", "0.316 0.225 to 0.400", "29.8 % 25.0 to 35.0", "", "120", "9"],
        ["sex: male", "0.600", "", "<b>", "120", ""],
    ]
    found = estimates({"value": 0.5}, {"condition": "chance", "value": 0.01, "speakers": 0})
    shown = cells(views.estimate_table(found, {"corpus": "corpus"}, "condition", counts=""))
    assert shown == [["corpus", "", "chance"], ["c", "0.500", "0.010"]]
    assert str(views.estimate_table(estimates(), {"corpus": "corpus"})) == ""


def test_few_speakers_have_the_interval_of_these_speakers_and_the_reason():
    _, line = cells(views.estimate_table(estimates(FEW, FEW | RATE), {"part": "part"}, counts=""))
    below = "for these speakers; 2 speakers, 5 needed"
    assert line[1:] == [f"0.234 0.180 to 0.290 {below}", f"23.4 % 18.0 to 29.0 {below}"]


def test_thresholds_as_in_the_file_with_the_fewest_segments_in_a_bin():
    family = read_family("fairness_sex")
    heads, *rows = cells(family_tables.threshold_table(family))
    place = heads.index("fewest segments in a bin")
    fewest = ["67 for groups of 1,000" if "Bin" in name else "" for name in family.tests]
    assert [line[place] for line in rows] == fewest and re.search("values.*classes", " ".join(heads))
    first = next(line for line in rows if line[0] == "Recall Per Class")
    assert "|value| < 0.175" in first and any("0.17770" in cell for cell in first)


def test_many_caveats_are_folded_and_code_between_backticks_is_code():
    caveats = [Caveat(f"model {number}: write `range: [1, {number}]`, not <b>") for number in range(20)]
    seen, _, folded = str(notices.caveats_notice(caveats)).partition("<details")
    assert (seen.count("<li>"), folded.count("<li>")) == (5, 15) and "15 more" in folded
    assert "<code>range: [1, 3]</code>, not &lt;b&gt;.</li>" in seen
    assert str(notices.notes(["one ` alone", "`a` b"])).count("<code>") == 1
