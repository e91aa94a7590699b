"""Hollow and unproven: what a constant answer passes counts for nothing."""

import numpy as np
import pytest

from soundcheck.results.record import KeyFigure
from soundcheck.results.states import HOLLOW, PROVEN, UNPROVEN, compared, standing, standings
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict


def row(**changes) -> Verdict:
    plain = {
        **{"model": "m", "corpus": "c", "family": "robustness_small_changes", "category": "robustness"},
        **{"task": "arousal", "test": "Gain", "value": 0.9, "threshold": 0.8, "rule": ">", "passed": True},
    }
    return Verdict(**(plain | changes))


GROUP = {"family": "fairness_sex", "category": "fairness", "group": "sex: female"}


@pytest.mark.parametrize(
    ("low", "high", "blocks", "expected"),
    [
        (0.02, 0.3, 40, PROVEN),
        (0.02, 0.3, 6, PROVEN),
        (-0.1, 0.1, 40, HOLLOW),
        (-0.1, 0.1, 19, UNPROVEN),
        (-0.3, -0.1, 6, HOLLOW),  # worse than guessing, however few
        (0.0, 0.0, 6, HOLLOW),  # a constant answer, and so are all its replicates
        (np.nan, np.nan, 3, UNPROVEN),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_near_end_decides(low, high, blocks, expected, sign):
    low, high = sorted((sign * low, sign * high)) if low == low else (low, high)
    found = compared(0.5 + low, 0.5 + high, 0.5, blocks, more_is_better=sign > 0)
    assert found == expected


def figure(corpus: str, name: str, **changes) -> KeyFigure:
    plain = {
        **{"model": "m", "corpus": corpus, "task": "arousal", "measure": "concordance", "value": 0.1},
        **{"low": 0.0, "high": 0.2, "segments": 40, "blocks": 20, "guessing": 0.0, "standing": name},
    }
    return KeyFigure(**(plain | changes))


def test_a_corpus_with_labels_decides_for_itself_if_it_can():
    figures = [figure("a", PROVEN), figure("b", HOLLOW), figure("c", UNPROVEN)]
    assert standing(figures, "m", "arousal", "a") == (PROVEN, figures[0])
    assert standing(figures, "m", "arousal", "b") == (HOLLOW, figures[1])
    assert standing(figures, "m", "arousal", "c").name == PROVEN
    assert standing(figures, "m", "arousal", "without labels").name == PROVEN
    assert standing(figures[1:], "m", "arousal", "c").name == HOLLOW
    assert standing(figures[2:], "m", "arousal", "c") == (UNPROVEN, figures[2])
    assert standing(figures, "m", "valence") == (UNPROVEN, None)
    assert standing(figures, "other", "arousal") == (UNPROVEN, None)


def test_correctness_speaks_for_itself():
    frame = to_frame(
        [
            row(label="correct", category="correctness"),
            row(label="robust"),
            row(label="fair", **GROUP),
            row(label="no labels", task="valence"),
            row(label="fair, too", **(GROUP | {"category": "correctness"})),
        ]
    )

    def found(name):
        return dict(zip(frame["label"], standings(frame, [figure("c", name)]), strict=True))

    assert found(HOLLOW) == {
        **{"correct": PROVEN, "robust": HOLLOW, "fair": HOLLOW, "fair, too": HOLLOW, "no labels": UNPROVEN}
    }
    assert found(PROVEN) == dict.fromkeys(frame["label"], PROVEN) | {"no labels": UNPROVEN}


def test_records_of_before_have_no_figures_and_nothing_is_greyed():
    frame = to_frame([row(), row(**GROUP)])
    assert standings(frame, None).eq(PROVEN).all()
    assert standings(to_frame([]), ()).empty
