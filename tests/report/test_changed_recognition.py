"""Segments that a change of the sound makes worse: of lost words, and of the group that suffers most."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.recognition import TRUTH, RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Subset, TransformedPredictions
from soundcheck.metrics.differential import NOT_ROBUST, Localised
from soundcheck.metrics.disagreement import group_distances
from soundcheck.report import changed_recognition

TASK = next(task for task in BUILTIN.values() if task.is_transcription)
MILD, SEVERE = ("Noise", 20), ("Noise", 0)
SAID = ["move on", "move on", "stop", "go up now", "go up now"]
WRITTEN = {
    CLEAN: ["move on", "move on", "stop", "go up now", None],
    MILD: ["move on", "move on", "stop", "go up now", "go up now"],
    SEVERE: ["on", "", "stop", "go down", "go up now"],
}


def texts(given):
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found


@pytest.fixture
def subset(tmp_path):
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(5)], "start": np.nan, "end": np.nan})
    table = table.assign(key=[f"k{n}" for n in range(5)], accent=["a", "a", "b", "b", "b"])
    settings = {setting: texts(given) for setting, given in WRITTEN.items()}
    answers = TransformedPredictions(settings[CLEAN], settings=settings)
    return Subset("c", TASK, table, texts(SAID), answers, answers, np.arange(5), root=tmp_path)


@pytest.fixture
def evaluation(tmp_path, subset):
    def series(own, name):
        return [own.truth] * 3 if name == TRUTH else list(own.predictions.settings.values())

    def distances(pair):
        first, second = series(pair.subset, "m"), series(pair.subset, TRUTH)
        return group_distances(first, second, pair.masks)

    return SimpleNamespace(
        model="m",
        media=MediaStore(tmp_path / "media"),
        view=lambda _: SimpleNamespace(audio=False, root=tmp_path),
        settings=dict.fromkeys(WRITTEN),
        family=SimpleNamespace(options={"by": "Noise"}),
        series=series,
        distances=distances,
    )


def test_a_lost_word_is_shown_at_the_worst_level(evaluation, subset):
    words = [Localised("move", 2, 2, NOT_ROBUST), Localised("stop", 1, 0, "robust")]
    text = str(changed_recognition.lost_words(evaluation, subset, words))
    assert "“move”, lost 2 of 2 times under Noise 0" in text and "stop" not in text
    # Both lost it; the one in which more words change is the worst, the other one is typical.
    assert "moved furthest: 1.wav" in text and "0.wav: as it is" in text
    kept = [Localised("stop", 1, 0, "robust")]
    assert "no word is lost" in str(changed_recognition.lost_words(evaluation, subset, kept))


def test_the_group_that_suffers_most_is_shown(evaluation, subset):
    pair = RecogniserPair(subset, "accent", ["a", "b"], TRUTH, "m")
    text = str(changed_recognition.most_violated(evaluation, [pair], {"c": np.array([True, True])}))
    assert "c, accent: a under Noise 0, distance +75.0 points" in text
    assert "moved furthest: 1.wav" in text and "the other groups" in text


def test_without_a_setting_that_counts(evaluation, subset):
    pair = RecogniserPair(subset, "accent", ["a", "b"], TRUTH, "m")
    text = str(changed_recognition.most_violated(evaluation, [pair], {"c": np.array([False, False])}))
    assert "No setting is left" in text
    assert "No setting is left" in str(changed_recognition.most_violated(evaluation, [], {}))


def test_without_transcripts_the_changed_text_is_read_against_the_clean_one(evaluation, subset):
    untold = Subset("c", TASK, subset.segments, None, subset.predictions, subset.predictions, subset.blocks)
    text = str(changed_recognition.lost_words(evaluation, untold, [Localised("move", 2, 2, NOT_ROBUST)]))
    assert "<dt>as it is</dt>" in text and "<dt>said</dt>" not in text
