"""Pages write ranges, measures and abbreviations as people do."""

import pytest

from soundcheck.report.names import hinted, in_words, label, measure


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("age: (20, 40]", "age: 20 to 40"),
        ("(-1, 0]", "−1 to 0"),
        ("(-inf, 0)", "below 0"),
        ("(-inf, inf)", "any value"),
        ("nist 2016", "NIST 2016"),
        ("", ""),
        ("(0.25, 0.5] or so", "(0.25, 0.5] or so"),  # a text, no range
        ("admin information", "admin information"),
        ("<b>(a, b]", "<b>(a, b]"),
    ],
)
def test_labels(text, written):
    assert label(text) == written


@pytest.mark.parametrize(
    ("test", "shown", "within"),
    [
        ("Change Ccc Babble Noise", "Change CCC Babble Noise", "change of CCC under babble noise"),
        ("Change Eer White Noise", "Change EER White Noise", "change of EER under white noise"),
        ("Spearmans Rho", "Spearman's Rho", "Spearman's rho"),
        ("Unweighted Average Recall", "Unweighted Average Recall", "unweighted average recall"),
        ("Jensen Shannon Distance", "Jensen-Shannon Distance", "Jensen-Shannon distance"),
        (
            "Percentage Unchanged Predictions Gain",
            "Percentage Unchanged Predictions Gain",
            "share of unchanged predictions under gain",
        ),
        ("Uarthing", "Uarthing", "uarthing"),
    ],
)
def test_measures(test, shown, within):
    assert measure(test) == shown
    assert in_words(test) == within


def test_abbreviations_have_hints_and_nothing_else_is_markup():
    shown = str(hinted("Change Ccc <b>"))
    assert (
        shown == '<span>Change <abbr title="concordance correlation coefficient">CCC</abbr> &lt;b&gt;</span>'
    )
