"""Segments that are heard or read twice: the right ones, whatever is known of them."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.comparison import Pair
from soundcheck.evaluation.recognition import TRUTH, RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Predictions, Subset
from soundcheck.metrics.differential import NOT_ROBUST, Localised, group_distances
from soundcheck.report import examples

TASK = next(task for task in BUILTIN.values() if task.is_transcription)
MILD, SEVERE = ("Noise", 20), ("Noise", 0)
SAID = ["move on", "move on", "stop", "go up now", "go up now"]
WRITTEN = {
    CLEAN: ["move on", "move on", "stop", "go up now", None],
    MILD: ["move on", "move on", "stop", "go up now", "go up now"],
    SEVERE: ["on", "", "stop", "go down", "go up now"],
}


@pytest.fixture
def pairs(tmp_path):
    """Fifty pairs; number n is a constant of n hundredths near by and of half as much far away."""
    sides = {}
    for condition, factor in (("near", 1.0), ("far", 0.5)):
        names = [f"{condition}_{n}.wav" for n in range(50)]
        for n, name in enumerate(names):
            soundfile.write(
                tmp_path / name, np.full(100, factor * n / 100, np.float32), 16000, subtype="FLOAT"
            )
        sides[condition] = pd.DataFrame({"file": names, "condition": condition, "start": 0.0, "end": np.nan})
    predictions = Predictions(np.zeros(50), np.zeros(50))
    task, blocks = BUILTIN["arousal"], np.arange(50)
    near, far = sides.values()
    return Subset(
        "c", task, near, None, predictions, predictions, blocks, "near to far", tmp_path, partner=far
    )


def test_recordings_of_both_conditions_are_the_same_pairs(pairs):
    heard = examples.recordings(pairs, most=5)
    assert list(heard) == ["near", "far"]
    numbers = {name: signal[::100] for name, signal in heard.items()}
    np.testing.assert_allclose(numbers["near"], np.array([0, 12, 24, 37, 49]) / 100, atol=1e-6)
    np.testing.assert_allclose(numbers["far"], numbers["near"] / 2, atol=1e-6)
    assert len(heard["near"]) == len(heard["far"]) == 500


def test_fewer_pairs_are_all_read(pairs):
    few = pairs.take(np.array([3, 4]))
    assert [len(signal) for signal in examples.recordings(few, most=20).values()] == [200, 200]


def test_what_moved_most_is_heard_in_turn(pairs, tmp_path):
    pairs.segments["key"] = pairs.partner["key"] = [f"{n:02}" for n in range(50)]
    pairs.predictions.changed[7] = 0.5
    media = MediaStore(tmp_path / "media")
    view = SimpleNamespace(audio=True, root=tmp_path)
    evaluation = SimpleNamespace(media=media, view=lambda subset: view, guesses=False)
    html = str(examples.show(evaluation, examples.moved(evaluation, [pairs]), every=True))
    assert "near_7.wav under near to far: arousal 0.00 → 0.50" in html
    assert html.count('class="sc-players sc-pair"') == 1
    assert re.findall("<strong>([^<]*)</strong>", html) == ["near", "far"]
    assert "<figcaption>arousal 0.50<br>0.01 s, peak −29.1 dBFS" in html
    view.audio = False
    assert "<audio" not in str(examples.show(evaluation, examples.moved(evaluation, [pairs]), every=True))


def texts(given):
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found


def show(evaluation, scenes):
    return str(examples.show(evaluation, scenes, every=True))


@pytest.fixture
def subset(tmp_path):
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(5)], "start": np.nan, "end": np.nan})
    table = table.assign(key=[f"k{n}" for n in range(5)], accent=["a", "a", "b", "b", "b"])
    settings = {setting: texts(given) for setting, given in WRITTEN.items()}
    answers = Predictions(settings[CLEAN], settings=settings)
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
        guesses=False,
    )


def test_a_lost_word_is_shown_at_the_worst_level(evaluation, subset):
    words = [Localised("move", 2, 2, NOT_ROBUST), Localised("stop", 1, 0, "robust")]
    text = show(evaluation, examples.lost_words(evaluation, subset, words))
    assert "“move”, lost 2 of 2 times under Noise 0" in text and "stop" not in text
    # Both lost it; the one in which more words change is the worst, the other one is typical.
    assert "worst, 1.wav" in text and "0.wav: typical" in text
    kept = [Localised("stop", 1, 0, "robust")]
    assert "no segment to show" in (show(evaluation, examples.lost_words(evaluation, subset, kept)))


def test_the_group_that_suffers_most_is_shown(evaluation, subset):
    pair = RecogniserPair(subset, "accent", ["a", "b"], TRUTH, "m")
    text = show(evaluation, examples.most_violated(evaluation, [pair], {"c": np.array([True, True])}))
    assert "c, accent: a under Noise 0, distance +75.0 points" in text
    assert "worst, 1.wav" in text and "the other groups" in text


def test_without_a_setting_that_counts(evaluation, subset):
    pair = RecogniserPair(subset, "accent", ["a", "b"], TRUTH, "m")
    text = show(evaluation, examples.most_violated(evaluation, [pair], {"c": np.array([False, False])}))
    assert "no segment to show" in text
    assert "no segment to show" in show(evaluation, examples.most_violated(evaluation, [], {}))


def test_without_transcripts_the_changed_text_is_read_against_the_clean_one(evaluation, subset):
    untold = Subset("c", TASK, subset.segments, None, subset.predictions, subset.predictions, subset.blocks)
    text = show(evaluation, examples.lost_words(evaluation, untold, [Localised("move", 2, 2, NOT_ROBUST)]))
    assert "<dt>as it is</dt>" in text and "<dt>said</dt>" not in text


def test_words_broken_and_corrected_by_the_second(evaluation, tmp_path):
    said, first, second = (texts(own) for own in (["a b"] * 3, ["a b", "x y", "a b"], ["x b", "a b", "a b"]))
    files = pd.DataFrame({"file": [f"{n}.wav" for n in range(3)], "start": np.nan, "end": np.nan})
    files = files.assign(key=[f"k{n}" for n in range(3)])
    pair = Pair("c", TASK, files, said, first, second, np.arange(3), tmp_path, False)
    both = {"baseline": first, "candidate": second}
    text = show(evaluation, examples.of_two_recognisers(pair, both))
    broken, corrected = text.split("most words corrected")
    assert "0.wav" in broken and "1.wav" in corrected and "2.wav" not in text
    assert "1 broken, 0 corrected, 2 words" in broken and text.count("<dl") == 2
