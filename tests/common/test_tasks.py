"""The tasks that come with thresholds, and scales."""

import pickle

import numpy as np

from soundcheck.common.tasks import BUILTIN, EMOTION, Task, scale_sentence


def test_built_in_tasks():
    assert list(BUILTIN) == ["arousal", "dominance", "valence", "emotion", "transcript", "embedding"]
    assert [task.is_regression for task in BUILTIN.values()] == [True] * 3 + [False] * 3
    assert [task.is_transcription for task in BUILTIN.values()] == [False] * 4 + [True, False]
    assert [task.is_embedding for task in BUILTIN.values()] == [False] * 5 + [True]
    assert [task.is_labelled for task in BUILTIN.values()] == [True] * 4 + [False] * 2
    assert BUILTIN["emotion"].classes == EMOTION == ("anger", "happiness", "neutral", "sadness")
    for name, task in BUILTIN.items():
        assert task.name == name and pickle.loads(pickle.dumps(task)) == task


def test_scale_maps_the_range_to_0_1_and_does_not_clip():
    ratings = np.array([1, 4, 7, 8, np.nan])
    ratings.setflags(write=False)
    scaled = Task("valence", "regression", low=1, high=7).scale(ratings)
    np.testing.assert_allclose(scaled, [0, 0.5, 1, 7 / 6, np.nan])
    assert scaled.dtype == np.float64
    np.testing.assert_array_equal(BUILTIN["arousal"].scale([0, 0.3, 1]), [0, 0.3, 1])
    assert scale_sentence("x", 0, 1) == ""
    sentence = "x: labels from -1 to 1 are shown from 0 to 1, where 0.1 is 0.2 of their scale"
    assert scale_sentence("x", -1, 1) == sentence
