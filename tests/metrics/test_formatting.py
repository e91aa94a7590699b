"""Punctuation and capitals: known answers, and what must hold for any text."""

from pathlib import Path

import numpy as np
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.formatting import MARKS, format_errors, has_capitals, has_marks, split_marks

CASES = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
TEXTS = st.lists(
    st.sampled_from(
        ["Anna,", "went", "home.", "IBM", "—", "no", "3.5", "¿Qué?", "“So!”", "مرحبا،", "دा।", "U.S.", "…"]
    ),
    max_size=12,
).map(" ".join)


def test_marks():
    for reference, hypothesis, expected in CASES["punctuation"]:
        errors = format_errors([reference], [hypothesis]).marks[0].sum(axis=0)[1:]
        assert errors.tolist() == expected, reference


def test_capitals():
    for reference, hypothesis, capitals, wrong in CASES["capitals"]:
        result = format_errors([reference], [hypothesis])
        assert (result.capitals[0], result.capital_errors[0]) == (capitals, wrong), reference
    missing = format_errors(["Go.", None, "Go."], [None, "Go.", "Go."])
    assert np.isnan([*missing.marks[:2].ravel(), *missing.capitals[:2]]).all()
    assert missing.mark_errors[2].sum() == 0


@given(TEXTS)
def test_a_perfect_transcript_has_no_errors_and_a_plain_one_has_all(text):
    same = format_errors([text], [text])
    assert same.mark_errors.sum() == 0 and same.capital_errors[0] == 0
    plain = " ".join(split_marks(text)[0]).casefold()
    lower = format_errors([text], [plain])
    assert lower.mark_errors.sum() == lower.marks[0, :, 0].sum()
    assert lower.capital_errors[0] == lower.capitals[0]
    assert not has_marks(plain) and not has_capitals(plain)


@given(st.text(max_size=30), TEXTS)
def test_marks_of_the_reference_are_right_replaced_or_left_out(reference, hypothesis):
    words, marks_of_gaps = split_marks(reference)
    assert len(marks_of_gaps) == len(words) + 1 and all(words)
    marks = format_errors([reference], [hypothesis]).marks[0]
    of_reference = np.bincount([m for gap in marks_of_gaps for m in gap], minlength=len(MARKS))
    np.testing.assert_array_equal(marks[:, 0], of_reference)
    assert (marks[:, 1] + marks[:, 2] <= marks[:, 0]).all()
