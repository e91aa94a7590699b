"""What rows of the results say in words."""

from types import SimpleNamespace

import pytest
from tests.support.rows import CORRECT, FEW, row

from soundcheck.report.failures import both_rules, sentence, subject
from soundcheck.results.table import to_frame


def test_a_change_is_named_after_the_task():
    about = {"task": "valence", "group": "", "label": "", "family": ""}
    row = SimpleNamespace(test="Percentage Unchanged Predictions Babble Noise", **about)
    assert subject(row) == "share of unchanged predictions of valence under babble noise"
    row = SimpleNamespace(test="Recall Per Bin", **about | {"label": "(0.25, 0.5]"})
    assert subject(row) == "recall of valence (0.25 to 0.5)"
    row = SimpleNamespace(test="Change Eer Gain", task="embedding", group="", label="", family="")
    assert subject(row) == "change of EER under gain"
    row = SimpleNamespace(test="Words Per Minute", **about | {"task": "transcript", "label": "Music"})
    assert subject(row) == "words per minute, Music"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {},
            "arousal of spanish speakers is 0.62 against 0.44 of the others "
            "(difference 0.18, 95 % 0.11 to 0.32, 10 speakers, surely beyond the margin of 0.075)",
        ),
        (
            {"gap": -0.18, "gap_low": -0.32, "gap_high": -0.02, "label": "anger", "test": "Recall Per Class"},
            "recall of anger of spanish speakers is 0.62 against 0.44 of the others "
            "(difference −0.18, 95 % −0.32 to −0.020, 10 speakers, more than the margin of 0.075; that there "
            "is a difference is significant)",
        ),
        (
            FEW | {"group": "language: fr, sentiment: negative", "against": "es", "blocks": 1},
            "arousal of language: fr, sentiment: negative is 0.62 against 0.44 of language: es "
            "(difference 0.18, 95 % 0.10 to 0.26 for these speakers, 1 speaker, margin 0.075)",
        ),
        (
            {"test": "Word Error Rate Difference", "task": "transcript", "against": "us", "state": "pass"}
            | {"gap": 0.02, "gap_low": 0.01, "gap_high": 0.03},
            "word error rate of spanish speakers is 62 % against 44 % of us speakers "
            "(difference 2.0 points, 95 % 1.0 to 3.0, 10 speakers, within the margin of 7.5 points)",
        ),
        (
            {"adjusted": 0.02, "counterpart": 0.9, "adjusted_by": "signal_to_noise"},
            "arousal of spanish speakers is 0.62 against 0.44 of the others (difference 0.18, 95 % 0.11 to "
            "0.32, 10 speakers, surely beyond the margin of 0.075); most of the difference is explained by "
            "the signal-to-noise ratio (adjusted: 0.020)",
        ),
        (
            CORRECT,
            "concordance of arousal is 0.41 (95 % 0.30 to 0.52, 10 speakers); it has to be above 0.50",
        ),
        (
            CORRECT | {"rule": "|value| <", "threshold": 0.1},
            "concordance of arousal is 0.41 (95 % 0.30 to 0.52, 10 speakers); it has to be within ±0.10",
        ),
        (
            CORRECT | {"test": "Groups Served Worse", "value": 2.0, "skipped": "a × b (0.3 worse), c"},
            "2 groups are worse off than the others in arousal: a × b (0.3 worse), c",
        ),
        (
            CORRECT | {"test": "Groups Served Worse", "task": "transcript", "value": 1.0, "skipped": "c"},
            "1 group is worse off than the others: c",
        ),
    ],
)
def test_findings_are_sentences(changes, told):
    assert sentence(next(to_frame([row(**changes)]).itertuples())).replace("\xa0", " ") == told


def results(given):
    emotion = dict(task="emotion", test="Unweighted Average Recall", family="f", skipped="why")
    return to_frame([row(**emotion | {"gap_low": None, "gap_high": None} | given)])


GROUP = dict(group="sex: female", rule="|value| <", threshold=0.075, matters=0.1, against="others")


@pytest.mark.parametrize(
    ("passed", "state", "said"),
    [
        (True, "fail", "passes the published rule (|value| < 0.075); {}0.32, more than the margin of 0.10"),
        (False, "pass", "fails the published rule (|value| < 0.075); {}0.32, within the margin of 0.10"),
        (True, "pass", ""),
        (False, "fail", ""),
        (False, "inconclusive", ""),
        (None, "reported", ""),
    ],
)
def test_two_rules_that_differ_are_said_in_one_sentence(passed, state, said):
    differs = "unweighted average recall of emotion of female speakers differs from that of the others by "
    one = results(GROUP | dict(passed=passed, gap=-0.32)).assign(state=state)
    assert both_rules(next(one.itertuples())) == said.format(differs)


def test_two_rules_name_the_reference_and_the_rule_of_the_suite():
    one = results(GROUP | dict(gap=0.32, rule="|gap| <", against="us")).assign(state="fail", passed=True)
    told = both_rules(next(one.itertuples()))
    assert told.startswith("passes the rule (|gap| < 0.075); ") and "differs from that of us by" in told
    value = results(dict(passed=True, group="")).assign(state="fail")  # of a value both say the same
    assert both_rules(next(value.itertuples())) == ""
