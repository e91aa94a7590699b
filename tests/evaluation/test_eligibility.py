"""Which parts are large enough, and what the others lack, for segments and for trials."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.eligibility import eligible, lacks
from soundcheck.evaluation.subset import Predictions, Subset

TABLE = [
    ([], ""),
    ([(25, "segment", 25)], ""),
    ([(24, "segment", 25)], "24 segments, 25 needed"),
    ([(1, "speaker", 2)], "1 speaker, 2 needed"),
    ([(None, "speaker", 2), (0, "word", 1)], "0 words, 1 needed"),  # what is not known is enough
    ([(9, "segment", 10), (1, "speaker", 2)], "9 segments, 10 needed"),  # the first that is too small
]


@pytest.mark.parametrize(("needed", "told"), TABLE)
def test_the_first_count_that_is_too_small_is_told(needed, told):
    assert eligible(needed) == told


def trials(groups, target, speakers):
    frame = pd.DataFrame({"sex": groups, "target": target})
    frame[["first", "second"]] = np.array(speakers)
    nothing = Predictions(np.zeros(len(frame)))
    target = np.array(target)
    return Subset("c", BUILTIN["embedding"], frame, target, nothing, nothing, np.zeros(len(frame), dtype=int))


def test_groups_of_trials_need_trials_of_both_kinds_and_speakers():
    groups = ["f"] * 4 + ["m"] * 4 + ["x"] * 2 + ["y"] * 3 + [None]
    target = [True, True, False, False] * 2 + [False, False, True, True, False, True]
    pairs = [(0, 0), (1, 1), (0, 1), (0, 2), *[(3, 3), (4, 4), (3, 4), (4, 3)]]
    pairs += [(5, 6), (6, 7), (8, 8), (9, 9), (8, 9), (0, 0)]
    options = {"minimum_trials": 2, "minimum_speakers": 3}
    evaluation = SimpleNamespace(family=SimpleNamespace(options=options))
    assert lacks(evaluation, trials(groups, target, pairs), "sex") == {
        "f": "",
        "m": "2 speakers, 3 needed",
        "x": "0 target trials, 2 needed",
        "y": "1 non-target trial, 2 needed",
    }
    assert lacks(evaluation, trials(groups, target, pairs), "accent") == {}
