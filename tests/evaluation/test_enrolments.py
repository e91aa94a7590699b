"""Speakers who are enrolled with more recordings: plain loops, and what has too few."""

import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.trials import enrolled_with

SPEAKERS, EACH = 4, 4


def corpus(missing=()):
    """Give all pairs of recordings of a few speakers; recording ``n`` is of speaker ``n // EACH``."""
    rng = np.random.default_rng(0)
    count = SPEAKERS * EACH
    centres = rng.normal(size=(SPEAKERS, 5))
    vectors = [centres[n // EACH] + rng.normal(size=5) for n in range(count)]
    keys = [f"r{n}" for n in range(count)]
    predictions = pd.DataFrame({"key": keys, "change": ""})
    predictions["embedding"] = [None if n in missing else vector for n, vector in enumerate(vectors)]
    pairs = [(one, two) for one in range(count) for two in range(one + 1, count)]
    frame = pd.DataFrame(pairs, columns=["enrolled", "segment"])
    frame["key"] = [f"{n}" for n in range(len(frame))]
    members, frame["enrolment"] = np.unique(frame["enrolled"], return_inverse=True)
    for side, column in (("enrol_speaker", "enrolled"), ("test_speaker", "segment")):
        frame[side] = [f"s{n // EACH}" for n in frame[column]]
    target = (frame["enrol_speaker"] == frame["test_speaker"]).to_numpy()
    table = TrialTable(frame, members, np.arange(len(members)), "list")
    fields = {"name": "here", "predictions": predictions, "trials": table}
    fields["segments"] = pd.DataFrame({"key": keys})
    view = types.SimpleNamespace(**fields)
    none = np.zeros(len(frame), dtype=np.intp)
    nothing = Predictions(np.zeros(len(frame)))
    return view, Subset("here", None, frame, target, nothing, nothing, none, root=Path()), vectors


def evaluation(view, **options):
    family = types.SimpleNamespace(options=options)
    return types.SimpleNamespace(seed=0, family=family, view=lambda subset: view)


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_one_recording_is_the_trial_itself():
    view, subset, vectors = corpus()
    found, told = enrolled_with(evaluation(view, enrolled=[1, 3, 4, 50]), subset)
    assert list(found) == [1, 3]  # nobody has 50, and no target has 4 beside the tested one
    assert told.startswith(f"here: {len(subset)} trials, of {len(subset)} that were drawn")
    rows = subset.segments.itertuples()
    one = [unit(vectors[row.enrolled]) @ unit(vectors[row.segment]) for row in rows]
    np.testing.assert_allclose(found[1].scores, one, atol=1e-6)


def test_the_tested_recording_is_not_enrolled():
    view, subset, vectors = corpus()
    found, _ = enrolled_with(evaluation(view, enrolled=[1, 3]), subset)
    assert len(found[3]) == len(subset)
    targets = np.flatnonzero(subset.truth)
    assert found[3].target.sum() == len(targets)
    for place in targets:
        row = subset.segments.iloc[place]
        speaker = row["enrolled"] // EACH
        others = [n for n in range(speaker * EACH, (speaker + 1) * EACH) if n != row["segment"]]
        mean = np.mean([unit(vectors[n]) for n in others], axis=0)
        assert found[3].scores[place] == pytest.approx(unit(mean) @ unit(vectors[row["segment"]]))


def test_some_of_many_trials_are_drawn_whatever_their_order():
    view, subset, _ = corpus()
    found, told = enrolled_with(evaluation(view, enrolled=[1, 2], enrolled_trials=40), subset)
    assert len(found[1]) == 40 and "of 40 that were drawn" in told
    again, _ = enrolled_with(evaluation(view, enrolled=[2, 1], enrolled_trials=40), subset)
    np.testing.assert_array_equal(found[2].scores, again[2].scores)


def test_recordings_without_embedding_enrol_nobody():
    view, subset, _ = corpus(missing=[n for n in range(SPEAKERS * EACH) if n % EACH > 1])
    found, _ = enrolled_with(evaluation(view, enrolled=[1, 2, 3]), subset)
    assert 3 not in found


@pytest.mark.parametrize("numbers", [[], [1], [50, 60]])
def test_too_few_recordings_are_said(numbers):
    view, subset, _ = corpus()
    found, told = enrolled_with(evaluation(view, enrolled=numbers), subset)
    assert found == {} and "too few recordings" in told


def test_scores_of_a_table_enrol_nobody():
    view, subset, _ = corpus()
    view.predictions["score"] = 0.0
    found, told = enrolled_with(evaluation(view, enrolled=[1, 2]), subset)
    assert found == {} and "no embeddings" in told
