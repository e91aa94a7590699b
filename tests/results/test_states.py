"""What may be concluded from the rows of a run, and what a constant answer passes counts for nothing."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from tests.results import made
from tests.results.made import REPORTED as SHOWN
from tests.results.made import skipped

from soundcheck.results import states
from soundcheck.results.record import KeyFigure
from soundcheck.results.states import FAIL, HOLLOW, INCONCLUSIVE, PASS, PROVEN, REPORTED, UNPROVEN, standing
from soundcheck.results.table import to_frame


def difference(test: str = "T", p: float | None = 0.5, gap: float = 0.2, group="accent: a", **more):
    """A group against all others, with an interval of 0.05 on either side."""
    low, high = gap - 0.05, gap + 0.05
    evidence = "clear pass" if max(-low, high) < 0.1 else "clear fail" if max(low, -high) >= 0.1 else "open"
    row = {"evidence": evidence, "p_value": p, "p_sample": p, "gap_low": low, "gap_high": high}
    row |= {"gap_low_sample": low, "gap_high_sample": high}
    return made.difference(gap, group, "", test=test, **(row | more))


def value(number: float, p: float | None, reach: float = 0.05, **more):
    low, high = number - reach, number + reach
    evidence = "clear pass" if low > 0.5 else "clear fail" if high <= 0.5 else "open"
    row = {"gap": number - 0.5, "gap_low_sample": low - 0.5, "gap_high_sample": high - 0.5}
    row |= {"evidence": evidence, "p_value": p, "p_sample": p, "state": ""}
    return made.value("v", number, reach, **(row | more))


def decided(*rows):
    return states.decide(to_frame(rows)).set_index(["test", "group"])


def test_fails_are_what_the_false_discovery_rate_leaves():
    p = np.array([0.001, 0.004, 0.02, 0.03, 0.2, 0.9])
    frame = decided(*(difference(f"test {n}", each) for n, each in enumerate(p)))
    assert frame["holds"].tolist() == (false_discovery_control(p) <= 0.05).tolist()
    assert frame["state"].eq(FAIL).tolist() == frame["holds"].tolist()
    apart = decided(difference("one", 0.05), difference("two", 0.9, category="robustness"))
    assert apart["holds"].tolist() == [True, False]  # models and categories are corrected apart


WITHIN_LIMITS = {"number": 0.02, "reach": 0.2, "rule": "|value| <", "threshold": 0.1, "gap": -0.08}
WITHIN_LIMITS |= {"evidence": "open", "p_value": 0.5, "p_sample": 0.5, "state": ""}
WITHIN_LIMITS |= {"gap_low_sample": -0.1, "gap_high_sample": -0.06}
# Few speakers with many recordings: sure about these, not about others.
SURE = {"gap_low_sample": -0.12, "gap_high_sample": -0.08, "p_sample": 1e-6}


@pytest.mark.parametrize(
    ("row", "state", "state_sample"),
    [
        (difference(p=0.2), INCONCLUSIVE, INCONCLUSIVE),
        (difference(p=0.001, gap=0.09), INCONCLUSIVE, INCONCLUSIVE),  # its interval reaches over the margin
        (difference(p=0.9, gap=0.01), PASS, PASS),
        (difference(p=0.001, gap=-0.1), FAIL, FAIL),  # both directions count, and the margin itself
        (difference(p=0.001, gap=-0.3, rule="<", passed=True), INCONCLUSIVE, PASS),  # of errors only more
        (value(0.7, 1.0), PASS, PASS),
        (value(0.4, 0.001), FAIL, FAIL),
        (made.value(**SHOWN), REPORTED, REPORTED),
        (skipped("3 segments, 25 needed"), states.NOT_EVALUATED, states.NOT_EVALUATED),
        (difference(p=None, gap_low=None, skipped=states.NO_SPEAKERS), states.NOT_EVALUATED, INCONCLUSIVE),
        (value(0.4, 0.2, 0.15, **SURE), INCONCLUSIVE, FAIL),
        # A value within ±0.1, known to ±0.02 for these speakers: 0.08 below the nearer limit.
        (made.value(**WITHIN_LIMITS), INCONCLUSIVE, PASS),
        (made.value(**WITHIN_LIMITS | {"gap_high_sample": 0.01}), INCONCLUSIVE, INCONCLUSIVE),
        (made.value(**WITHIN_LIMITS | {"gap_low_sample": -0.21}), INCONCLUSIVE, INCONCLUSIVE),
        # A difference that could not be significant is described.
        (difference(p=0.2, least_p=0.06), INCONCLUSIVE, REPORTED),
        (difference(p=None, gap_low=None), INCONCLUSIVE, REPORTED),
    ],
)
def test_states(row, state, state_sample):
    frame = decided(row)
    assert frame[["state", "state_sample"]].values.tolist() == [[state, state_sample]]


def test_two_groups_are_one_test_named_after_the_one_that_is_worse_off():
    female, male = "sex: female", "sex: male"
    recall, mean = (
        [difference(test, p, 0.2, female), difference(test, p, -0.2, male)]
        for test, p in (("Recall Per Class", 0.03), ("Mean Value", 0.9))
    )
    frame = decided(*recall, *mean)
    assert frame["mirrors"]["Mean Value"].to_dict() == {female: "", male: female}
    assert frame["mirrors"]["Recall Per Class"].to_dict() == {female: male, male: ""}
    assert len(states.counted(frame)) == 2
    assert frame["state"].tolist() == [INCONCLUSIVE] * 4  # 0.03 stands among two tests, not among four
    assert decided(*recall)["state"].tolist() == [FAIL, FAIL]
    errors = [difference("E", 0.02, 0.2, female, rule="<"), difference("E", 0.9, -0.2, male, rule="<")]
    assert decided(*errors, *mean)["state"].tolist() == [FAIL] * 2 + [INCONCLUSIVE] * 2  # two tests, too


def test_which_groups_are_a_pair():
    gaps = ((0.1, "a"), (0, "b"), (-0.1, "c"))
    three = [difference("t", 0.5, gap, f"accent: {name}") for gap, name in gaps]
    for some in (three, three[:2]):  # of the third one there may be no value, but segments in the others
        assert decided(*some)["mirrors"].eq("").all()
    contexts = [
        difference("Mean Shift Difference", 0.5, gap, f"language: {name}, sentiment: {mood}")
        for mood in ("negative", "positive")
        for gap, name in ((0.2, "de"), (-0.2, "en"))
    ]
    mirrors = decided(*contexts)["mirrors"].droplevel("test")
    for mood in ("negative", "positive"):
        assert mirrors[f"language: en, sentiment: {mood}"] == f"language: de, sentiment: {mood}"


def test_what_few_speakers_cannot_show():
    few = to_frame([difference(f"test {n}", 0.5, least_p=2 / 252) for n in range(10)])
    assert states.cannot_be_significant(few).all()  # 0.0079 > 0.05 / 10
    assert not states.cannot_be_significant(few.iloc[:3]).any()


def test_the_near_end_decides():
    for low, high, blocks, expected in (
        (0.02, 0.3, 6, PROVEN),
        (-0.1, 0.1, 20, HOLLOW),
        (-0.1, 0.1, 19, UNPROVEN),
        (0.0, 0.0, 6, HOLLOW),  # a constant answer, however few, and so are all its replicates
        (np.nan, np.nan, 3, UNPROVEN),
    ):
        assert states.compared(0.5 + low, 0.5 + high, 0.5, blocks, more_is_better=True) == expected
        assert states.compared(0.5 - high, 0.5 - low, 0.5, blocks, more_is_better=False) == expected


def figure(corpus: str, name: str) -> KeyFigure:
    row = {"model": "m", "corpus": corpus, "task": "arousal", "measure": "concordance", "value": 0.1}
    row |= {"low": 0.0, "high": 0.2, "segments": 40, "blocks": 20, "guessing": 0.0, "standing": name}
    return KeyFigure(**row)


def test_a_corpus_with_labels_decides_for_itself_if_it_can():
    figures = [figure("a", PROVEN), figure("b", HOLLOW), figure("c", UNPROVEN)]
    assert standing(figures, "m", "arousal", "a") == (PROVEN, figures[0])
    assert standing(figures, "m", "arousal", "b") == (HOLLOW, figures[1])
    assert standing(figures, "m", "arousal", "c").name == PROVEN
    assert standing(figures[1:], "m", "arousal", "c").name == HOLLOW
    assert standing(figures[2:], "m", "arousal", "c") == (UNPROVEN, figures[2])
    assert standing(figures, "m", "valence") == standing(figures, "other", "arousal") == (UNPROVEN, None)


def test_correctness_speaks_for_itself():
    robust, fair = {"category": "robustness"}, {"group": "sex: female"}
    kinds = {"correct": {}, "robust": robust, "fair": fair, "no labels": robust | {"task": "valence"}}
    frame = to_frame([made.value(label=label, **about) for label, about in kinds.items()]).set_index("label")
    for name, correct in ((HOLLOW, PROVEN), (PROVEN, PROVEN)):
        labels = dict(zip(frame.index, states.standings(frame, [figure("c", name)]), strict=True))
        assert labels == {"correct": correct, "robust": name, "fair": name, "no labels": UNPROVEN}
    assert states.standings(frame, None).eq(PROVEN).all()  # records of before have no figures
    assert states.standings(to_frame([]), ()).empty
