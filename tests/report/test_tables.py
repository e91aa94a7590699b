"""Tables are static and escaped, and show as many digits as count."""

import dataclasses
import re

import pytest
from bs4 import BeautifulSoup

from soundcheck.common.caveats import Caveat
from soundcheck.report import formats, notices, threshold_tables, views
from soundcheck.suite.thresholds import read_family

HOSTILE = '<img src=x onerror="document.documentElement.dataset.pwn=1">'


def cells(html: object) -> list[list[str]]:
    """Give the texts of the cells of all rows."""
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])]
        for row in BeautifulSoup(str(html), "html.parser").find_all("tr")
    ]


def test_hostile_text_stays_text():
    assert "<img" not in views.listed([[HOSTILE, 1]], [HOSTILE, "n"], caption=HOSTILE)


@pytest.mark.parametrize(
    "value, threshold, text",
    [
        (0.5, None, "0.500"),
        (-0.1234, None, "−0.123"),
        (-0.0001, None, "−0.00010"),
        (1e-17, None, "0.000"),
        (-1e-17, None, "0.000"),
        (5.0361, None, "5.04"),
        (1234.5, None, "1234"),
        (0.94996, 0.95, "0.94996"),
        (-0.07502, 0.075, "−0.07502"),
        (0.95, 0.95, "0.950"),
        (float("-inf"), None, "−∞"),
        (None, None, ""),
        (float("nan"), 0.5, ""),
    ],
)
def test_numbers_never_look_like_the_threshold_that_they_miss(value, threshold, text):
    assert formats.number(value, threshold=threshold) == text


def test_cells_carry_what_they_are_sorted_by():
    html = str(views.listed([[1234, -0.5, "x"], [2, float("nan"), "y"]], ["n", "value", "name"]))
    assert 'data-sort="1234"' in html
    assert 'data-sort="-0.5"' in html
    assert "nan" not in html


def test_thresholds_as_in_the_file():
    family = read_family("fairness_sex")
    rows = cells(threshold_tables.threshold_table(family))
    assert len(rows) == len(family.tests) + 1
    first = next(line for line in rows if line[0] == "Recall Per Class")
    assert "|value| < 0.175" in first
    assert any("0.17770" in cell for cell in first)
    assert not any("regression" in cell for cell in rows[0])
    assert re.search("values.*classes", " ".join(rows[0]))


@pytest.mark.parametrize(
    ("family", "fewest"),
    [
        ("fairness_accent", "4 for groups of 60"),
        ("fairness_language", "67 for groups of 2,000"),
        ("fairness_linguistic_sentiment", "67 for groups of 2,000"),
        ("fairness_pitch", "67 for groups of 1,000"),
        ("fairness_sex", "67 for groups of 1,000"),
    ],
)
def test_thresholds_show_the_fewest_segments_in_a_bin(family, fewest):
    family = read_family(family)
    rows = cells(threshold_tables.threshold_table(family))
    place = rows[0].index("fewest segments in a bin")
    assert [line[place] for line in rows[1:]] == [fewest if "Bin" in name else "" for name in family.tests]


def test_sources_in_words_are_shown_and_keys_are_not():
    family = read_family("robustness_small_changes")
    first, second, *_ = family.tests.values()
    cases = {
        ("our talks", "our talks"): "<p",
        ("our talks", "a <b> study"): "&lt;b&gt;",
        ("some-key", "our talks"): "Source: our talks",
    }
    for (one, other), expected in cases.items():
        tests = {
            "x": dataclasses.replace(first, name="x", source=one),
            "y": dataclasses.replace(second, name="y", source=other),
        }
        html = str(threshold_tables.threshold_table(dataclasses.replace(family, tests=tests)))
        assert expected in html
        assert "<b>" not in html
        assert ("source" in cells(html)[0]) == (other == "a <b> study")
        assert "some-key" not in html


def test_many_caveats_are_folded_and_code_between_backticks_is_code():
    texts = [f"model {number}: write `range: [1, {number}]`, not <b>" for number in range(20)]
    shown = str(notices.caveats_notice([Caveat(text) for text in texts]))
    seen, _, folded = shown.partition("<details")
    assert (seen.count("<li>"), folded.count("<li>")) == (5, 15) and "15 more" in folded
    assert "<code>range: [1, 3]</code>, not &lt;b&gt;.</li>" in seen
    assert "<details" not in str(notices.caveats_notice([Caveat(text) for text in texts[:5]]))
    assert str(notices.notes(["one ` alone", "`a` b"])).count("<code>") == 1
