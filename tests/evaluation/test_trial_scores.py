"""From prediction tables to scores."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.corpus_view import score_trials

KEYS = ["a", "b", "c", "d"]
VECTORS = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 3.0], "d": None}


def predictions(vectors=VECTORS, change=""):
    column = pd.Series(
        [None if v is None else np.array(v, np.float32) for v in vectors.values()], dtype=object
    )
    return pd.DataFrame({"key": list(vectors), "change": change, "embedding": column})


def trials(enrolments, tests):
    """One trial an enrolment: its rows, and the row of the tested side."""
    frame = pd.DataFrame({"key": [str(n) for n in range(len(tests))], "enrolment": np.arange(len(tests))})
    frame["segment"] = tests
    members = np.array([row for rows in enrolments for row in rows])
    return TrialTable(frame, members, np.repeat(np.arange(len(tests)), list(map(len, enrolments))), "list")


def test_cosines():
    found = score_trials(predictions(), KEYS, trials([[0], [0], [2], [1]], [1, 2, 2, 3]))
    np.testing.assert_allclose(found[:3], [0.0, np.sqrt(0.5), 1.0], atol=1e-12)
    assert np.isnan(found[3])  # nobody embedded d


def test_several_enrolled_recordings_have_the_average_of_their_directions():
    """Lengths do not count, and what has no embedding is passed over."""
    found = score_trials(predictions(), KEYS, trials([[0, 1], [0, 1, 3], [3]], [2, 2, 2]))
    np.testing.assert_allclose(found[:2], [1.0, 1.0], atol=1e-12)
    assert np.isnan(found[2])


def test_the_tested_side_is_changed_and_the_enrolled_one_is_not():
    changed = predictions({"a": [0.0, 1.0], "b": [0.0, 1.0]}, "noise")
    both = pd.concat([predictions(), changed], ignore_index=True)
    found = score_trials(both, KEYS, trials([[0], [1], [0]], [1, 0, 2]), "noise")
    np.testing.assert_allclose(found[:2], [0.0, 1.0], atol=1e-12)
    assert np.isnan(found[2])  # was not changed
    assert np.isnan(score_trials(predictions(), KEYS, trials([[0]], [1]), "noise")).all()


def test_own_scores_are_taken_as_they_are():
    table = pd.DataFrame({"key": ["1", "0"], "change": "", "score": [0.5, -3.0]})
    assert score_trials(table, KEYS, trials([[0], [1]], [1, 2])).tolist() == [-3.0, 0.5]


@pytest.mark.parametrize("nobody", [{"a": None, "b": None}, {}])
def test_no_embeddings_no_scores(nobody):
    assert np.isnan(score_trials(predictions(nobody), KEYS, trials([[0]], [1]))).all()
