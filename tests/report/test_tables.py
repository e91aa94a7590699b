"""A row shows everything that belongs to its number, and says verdicts in words."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from soundcheck import results
from soundcheck.report import tables
from soundcheck.results import Verdict
from soundcheck.suite.thresholds import read_family

HOSTILE = '<img src=x onerror="document.documentElement.dataset.pwn=1">'


def row(**given) -> Verdict:
    base = dict(
        model="m",
        corpus="c",
        family="f",
        category="correctness",
        task="arousal",
        test="Concordance Correlation Coeff",
        value=0.61234,
        low=0.55,
        high=0.67,
        segments=1234,
        blocks=24,
        threshold=0.5,
        rule=">",
        passed=True,
        certainty=0.987,
        reference=0.01,
        reference_passed=False,
    )
    return Verdict(**(base | given))


def shown(*rows: Verdict) -> str:
    return str(tables.verdict_table(results.to_frame(rows)))


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True
        elif self._open and self.rows[-1][-1]:
            self.rows[-1][-1] += " "

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data):
        if self._open:
            self.rows[-1][-1] += data


def test_a_number_keeps_its_company():
    line = " | ".join(Cells(shown(row())).rows[1])
    for part in (
        "arousal",
        "0.612",
        "0.550 to 0.670",
        "1,234",
        "24 blocks",
        "> 0.5",
        "✓ pass",
        "99 %",
        "0.010",
    ):
        assert part in line


def test_verdicts_are_words():
    html = shown(
        row(),
        row(test="Mean Absolute Error", rule="<", threshold=0.1, value=0.2, passed=False),
        row(
            test="Pearson Correlation Coeff",
            value=None,
            passed=None,
            certainty=None,
            skipped="constant prediction",
        ),
    )
    assert "✓ pass" in html
    assert "✗ fail" in html
    assert "– skipped" in html
    assert "constant prediction" in html
    assert "1 of 2 (50 %) tests passed" in html
    assert "1 skipped" in html


def test_what_is_skipped_as_a_whole_is_folded():
    nothing = dict(value=None, passed=None, certainty=None, low=None, high=None, segments=0, blocks=0)
    reason = "the corpus has no column <b>"
    rows = [row(test="A"), *(row(corpus="other", test=t, skipped=reason, **nothing) for t in "BC")]
    html = str(tables.verdict_table(results.to_frame(rows)))
    assert html.count("<tr") == 2 and html.count("– skipped") == 0
    assert "2 tests skipped: the corpus has no column &lt;b&gt;" in html and "2 skipped." in html
    alone = str(tables.verdict_table(results.to_frame(rows[1:])))
    assert alone.count("– skipped") == 2


def test_the_random_model_that_passes_too_is_marked():
    assert tables.REFERENCE in shown(row(reference=0.9, reference_passed=True))
    assert tables.REFERENCE not in shown(row())
    assert tables.REFERENCE not in shown(row(reference=None, reference_passed=None))


@pytest.mark.parametrize("blocks, marked", [(19, True), (20, False)])
def test_few_blocks_are_marked_with_the_measured_coverage(blocks, marked):
    html = shown(row(blocks=blocks))
    assert (f"{blocks} blocks †" in html) == marked
    assert ("hold the true value in 78 to 83 %" in html) == marked


def test_no_interval_no_mark():
    html = shown(row(blocks=1, low=None, high=None, certainty=None, skipped="interval withheld: 1 block"))
    assert "†" not in html
    assert "1 block<" in html
    assert "interval withheld: 1 block" in html


def test_labels_of_several_rows_and_corpora_are_told_apart():
    rows = Cells(shown(row(label="anger"), row(corpus="d", label="(-inf, 0.25]"))).rows
    assert rows[0][0].strip() == "corpus"
    assert "anger" in rows[1][2]
    assert "(−∞, 0.25]" in rows[2][2]


def test_hostile_text_stays_text():
    hostile = dict(model=HOSTILE, corpus=HOSTILE, task=HOSTILE, test=HOSTILE, label=HOSTILE, skipped=HOSTILE)
    html = shown(row(**hostile), row())
    assert "<img" not in html
    assert "img" not in Cells(html).tags
    generic = str(tables.table([[HOSTILE, 1]], [HOSTILE, "n"], caption=HOSTILE))
    assert "img" not in Cells(generic).tags


@pytest.mark.parametrize(
    "value, threshold, text",
    [
        (0.5, None, "0.500"),
        (-0.1234, None, "−0.123"),
        (-0.0001, None, "0.000"),
        (0.94996, 0.95, "0.94996"),
        (-0.07502, 0.075, "−0.07502"),
        (0.95, 0.95, "0.950"),
        (float("-inf"), None, "−∞"),
        (None, None, ""),
        (float("nan"), 0.5, ""),
    ],
)
def test_numbers_never_look_like_the_threshold_that_they_miss(value, threshold, text):
    assert tables.number(value, threshold=threshold) == text


def test_cells_carry_what_they_are_sorted_by():
    html = str(tables.table([[1234, -0.5, "x"], [2, float("nan"), "y"]], ["n", "value", "name"]))
    assert 'data-sort="1234"' in html
    assert 'data-sort="-0.5"' in html
    assert "nan" not in html


def test_numbers_of_numpy_are_numbers():
    html = str(tables.table([[np.float32(0.5), np.float64(2), np.int64(3)]], ["a", "b", "c"]))
    assert html.count('class="sc-number"') == 3
    assert 'data-sort="0.5"' in html
    assert Cells(html).rows[1] == ["0.500", "2.000", "3"]


def test_decimals_of_a_test_are_kept():
    frame = results.to_frame([row(), row(test="Other")])
    first, second = Cells(str(tables.verdict_table(frame, decimals={"Other": 1}))).rows[1:]
    assert "0.612 0.550 to 0.670" in first[2]
    assert "0.6 0.6 to 0.7" in second[2]


def test_rows_may_be_mappings_and_headers_have_scope():
    html = str(tables.table([{"b": "2", "a": "1"}], ["a", "b"], caption="Two"))
    assert Cells(html).rows == [["a", "b"], ["1", "2"]]
    assert html.count('scope="col"') == 2
    assert "<caption>Two</caption>" in html


def test_nothing_judged():
    frame = results.to_frame([row(value=None, passed=None, certainty=None, skipped="no labels")])
    assert tables.share(frame) == "none judged"
    assert "none judged" in str(tables.proportion_bar(frame))


def test_bar_has_the_share_as_text_too():
    bar = str(tables.proportion_bar(results.to_frame([row(), row(label="b", value=0.1, passed=False)])))
    assert "1 of 2 (50 %)" in bar
    assert "--sc-share: 50.0%" in bar


def test_empty_frame():
    assert "none judged" in shown()


def test_thresholds_as_in_the_file():
    family = read_family("fairness_sex")
    rows = Cells(str(tables.threshold_table(family))).rows
    assert len(rows) == len(family.tests) + 1
    first = next(line for line in rows if line[0] == "Recall Per Class")
    assert "|value| < 0.175" in first
    assert any("0.17770" in cell for cell in first)
    assert not any("regression" in cell for cell in rows[0])
    assert re.search("arousal.*dominance.*valence.*emotion", " ".join(rows[0]))


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
    rows = Cells(str(tables.threshold_table(family))).rows
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
        html = str(tables.threshold_table(dataclasses.replace(family, tests=tests)))
        assert expected in html
        assert "<b>" not in html
        assert ("source" in Cells(html).rows[0]) == (other == "a <b> study")
        assert "some-key" not in html


def test_synthetic_speech_is_said():
    assert "Synthetic speech" in str(tables.synthetic_notice(True))
    assert str(tables.synthetic_notice(False)) == ""


def test_verdict_of_object_columns_from_a_file(tmp_path):
    """Tables read back from a file hold other types than those of a notebook."""
    frame = results.to_frame([row(reference_passed=True, reference=0.9)])
    frame.to_parquet(tmp_path / "x.parquet")
    again = pd.read_parquet(tmp_path / "x.parquet")
    assert str(tables.verdict_table(again)) == str(tables.verdict_table(frame))
