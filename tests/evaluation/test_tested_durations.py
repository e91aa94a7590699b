"""Tested recordings that are cut short: the same trials for all lengths, and what is too short is counted."""

import types

import numpy as np
import pandas as pd
import pytest

from soundcheck.corpora.trials.trial_table import LISTED, TrialTable
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.trials import WHOLE, cut_to
from soundcheck.suite.thresholds import read_family

SPEAKERS, EACH = 4, 3


def made(seconds, predicts_changes=True, audio=True, listed=(4, 2, 1, 0.5)):
    """Give all pairs of recordings, and an evaluation whose score under a length is that length."""
    count = SPEAKERS * EACH
    pairs = [(one, two) for one in range(count) for two in range(one + 1, count)]
    frame = pd.DataFrame(pairs, columns=["enrolment", "segment"])
    frame["enrolled"] = frame["enrolment"]
    for side, column in (("enrol_speaker", "enrolment"), ("test_speaker", "segment")):
        frame[side] = [f"s{n // EACH}" for n in frame[column]]
    target = (frame["enrol_speaker"] == frame["test_speaker"]).to_numpy()
    segments = pd.DataFrame({"key": [f"r{n}" for n in range(count)], "duration": seconds})
    segments["speaker"] = [f"s{n // EACH}" for n in range(count)]
    segments["file"] = segments["key"]
    own = [
        types.SimpleNamespace(transform="central_part", identity=n, options={"seconds": n}) for n in listed
    ]
    series = types.SimpleNamespace(steps=dict(enumerate(own)))
    family = types.SimpleNamespace(
        name="f",
        label=False,
        options={},
        transformations={},
        sweeps={"Duration": series},
        trials={"targets": 1},
    )
    view = types.SimpleNamespace(name="here", segments=segments, blocks=("speaker",), audio=audio)
    view.trials = TrialTable(frame, np.arange(count - 1), np.arange(count - 1), LISTED)
    view.scores = lambda identity, place: np.where(place == 0, np.nan, float(identity))
    run = types.SimpleNamespace(seed=0, family=family, tasks=[], predicts_changes=predicts_changes)
    run.tasks = [types.SimpleNamespace(name="embedding", is_transcription=False)]
    run.view = lambda subset: view
    clean = Predictions(np.full(len(frame), 9.0))
    nobody = np.zeros(len(frame), dtype=np.intp)
    return run, Subset("here", None, frame, target, clean, clean, nobody)


def test_all_lengths_are_about_the_same_trials():
    seconds = np.full(SPEAKERS * EACH, 3.0)
    seconds[5] = 1.5
    run, subset = made(seconds)
    found, told = cut_to(run, subset)
    assert list(found) == ["0.5 s", "1 s", "2 s", WHOLE]
    kept = int((subset.segments["segment"] != 5).sum())
    assert {len(trials) for trials in found.values()} == {kept}
    np.testing.assert_array_equal(found["1 s"].scores, [0.0, *[1.0] * (kept - 1)])  # no answer: rejected
    assert (found[WHOLE].scores == 9.0).all()
    assert told.startswith(f"here: {kept} trials, of {len(subset)} with one of 11 recordings that were cut")
    assert "shorter than 2 s" in told and "Most are shorter than 4 s." in told


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"listed": ()}, "no lengths"),
        ({"predicts_changes": False}, "cannot answer for changed signals"),
        ({"audio": False}, "no audio that could be cut"),
        ({"listed": (4, 8)}, "most tested recordings are shorter than 4 s"),
    ],
)
def test_what_cannot_be_cut_is_said(more, reason):
    found, told = cut_to(*made(3.0, **more))
    assert found == {} and reason in told


def test_a_suite_that_limits_levels_keeps_lengths_that_recordings_have():
    family = read_family("speaker_verification")
    assert list(family.limited(True, None, levels=2).sweeps["Duration"].steps) == ["2", "0.5"]
