"""Margins: from which size a difference between groups is a failure."""

import pytest

from soundcheck.suite.margins import Margin
from soundcheck.suite.measures import measure_of

ERRORS, RECALL = measure_of("Word Error Rate"), measure_of("Recall Per Class", "fairness_sex")
CONCORDANCE = measure_of("Concordance Correlation Coeff")


@pytest.mark.parametrize(
    ("margin", "published", "reference", "info", "expected"),
    [
        (Margin(), 0.05, 0.45, ERRORS, 0.05),  # a quarter is more than the threshold
        (Margin(), 0.05, 0.05, ERRORS, 0.0125),
        (Margin(), 0.05, 0.003, ERRORS, 0.005),
        (Margin(), 0.05, 0.0, ERRORS, 0.005),  # nobody makes an error
        (Margin(), 0.05, 1.7, ERRORS, 0.05),  # more errors than words
        (Margin(), None, 0.45, ERRORS, 0.05),  # no threshold was published
        (Margin(), 0.175, 0.98, RECALL, 0.005),  # a quarter of 2 % that are missed
        (Margin(), 0.175, 0.6, RECALL, 0.1),
        (Margin(), 0.075, 0.1, CONCORDANCE, 0.075),
        (Margin(), None, 0.1, CONCORDANCE, None),
        (Margin(0.1, None), 0.05, 0.02, ERRORS, 0.1),
        (Margin(0.1, None), None, 0.02, CONCORDANCE, 0.1),
        (Margin(0.02, 0.5, 0.001), 0.05, 0.01, ERRORS, 0.005),
        (Margin(), 0.05, None, ERRORS, 0.05),
        (Margin(), 0.05, float("nan"), ERRORS, 0.05),
    ],
)
def test_the_margin_of_a_difference(margin, published, reference, info, expected):
    assert margin.of(published, reference, info) == (
        expected if expected is None else pytest.approx(expected)
    )


def test_more_errors_of_the_reference_never_lower_the_margin():
    margins = [Margin().of(0.05, rate / 1000, ERRORS) for rate in range(1000)]
    assert margins == sorted(margins) and min(margins) == 0.005 and max(margins) == 0.05
