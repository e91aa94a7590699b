"""Behind each number stand the right segments; what cannot be heard is said, what is not shown is counted."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.media import EXAMPLES, MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import examples
from soundcheck.report.examples import BEST, TYPICAL, WORST, choose, gaps

HOSTILE = "<img src=x onerror=alert(1)>"
EMOTIONS = ("anger", "happiness", "neutral", "sadness")


def make(truth, predicted, root, task="arousal", **columns):
    count = len(predicted)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": 0.0, "end": np.nan})
    table["key"] = [f"k{n:03d}" for n in range(count)]
    table = table.assign(**columns)
    kind = float if task == "arousal" else object
    truth = None if truth is None else np.array(truth, dtype=kind)
    answers = Predictions(np.array(predicted, dtype=kind))
    return Subset("c", BUILTIN[task], table, truth, answers, answers, np.arange(count), root=root)


@pytest.fixture
def evaluation(tmp_path):
    for n in range(3):
        soundfile.write(tmp_path / f"{n}.wav", np.full(800, n / 10), 16000)
    view = SimpleNamespace(audio=True, root=tmp_path)
    return SimpleNamespace(
        media=MediaStore(tmp_path / "media"), view=lambda _: view, guesses=False, seen=view
    )


def files_of(number, why=None):
    """Files of the segments of each side."""
    table, found = number.subset.segments, {}
    for one in number.examples:
        found.setdefault(one.whose, [])
        if why in (None, one.why):
            found[one.whose].append(table["file"].iloc[one.row])
    return found


def test_errors_of_values(tmp_path):
    number = examples.of_errors(make([0.5] * 6, [0.5, 0.6, 0.9, np.nan, 0.8, 0.51], tmp_path))
    assert files_of(number, WORST)[""] == ["2.wav", "4.wav"]
    assert files_of(number, TYPICAL)[""] == ["1.wav", "5.wav"]
    assert files_of(number, BEST)[""] == ["0.wav"]
    assert number.size == pytest.approx(0.81 / 5)


def test_groups_with_the_largest_gaps(tmp_path):
    groups = [f"g{n}" for n in range(6)]
    truth, predicted = (
        np.zeros(24),
        np.repeat([0.0, 0.0, 0.0, 0.2, 0.5, 0.9], 4) + np.tile([0, 0, 0.01, 0.1], 6),
    )
    subset = make(truth, predicted, tmp_path, sex=np.repeat(groups, 4))
    found = examples.of_groups(subset, "sex", groups)
    assert [next(iter(files_of(number))) for number in found] == ["sex: g5", "sex: g4"]
    assert files_of(found[0], WORST)["sex: g5"] == ["23.wav", "22.wav"]
    assert files_of(found[0], TYPICAL)["sex: g5"] == ["20.wav"]
    assert files_of(found[0], WORST)["the others"] == ["19.wav", "18.wav"]
    assert "g5: mean error" in found[0].title and "(of 6 groups)" in found[0].title


def test_two_groups_are_one_gap_and_one_group_none(tmp_path):
    subset = make([0, 0], [0.1, 0.9], tmp_path, sex=["a", "b"])
    assert len(examples.of_groups(subset, "sex", ["a", "b"])) == 1
    assert examples.of_groups(make([0], [1], tmp_path, sex=["a"]), "sex", ["a"]) == []


def test_predictions_without_labels_go_in_the_direction_of_the_gap(tmp_path):
    predicted = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    subset = make(None, predicted, tmp_path, accent=["low"] * 3 + ["high"] * 3)
    (number,) = examples.of_predictions(subset, "accent", ["low", "high"])
    group, _ = files_of(number)
    furthest = {"accent: high": "5.wav", "accent: low": "0.wav"}[group]
    assert files_of(number, "furthest")[group][0] == furthest


def test_the_class_whose_share_differs_most_decides(tmp_path):
    predicted = ["anger", "anger", "neutral", "neutral", "neutral", "sadness"]
    subset = make(None, predicted, tmp_path, "emotion", accent=["a"] * 3 + ["b"] * 3)
    (number,) = examples.of_predictions(subset, "accent", ["a", "b"])
    assert "share of anger" in number.title and files_of(number)["accent: a"][0] == "0.wav"


def test_ranges_show_what_lies_outside_most(tmp_path):
    subset = make(None, [0.5, 0.9, 0.1, 0.4], tmp_path, category=["anger", "anger", "sadness", "none"])
    scene = examples.of_ranges(subset, {"anger": (0.55, np.inf), "sadness": (-np.inf, 0.05)})
    assert sorted(files_of(scene)[""]) == ["0.wav", "2.wav"]
    assert not examples.of_ranges(subset, {}).examples


def test_shifts_show_the_group_that_a_context_moves_most(tmp_path):
    predicted = [0.5, 0.5, 0.5, 0.5, 0.5, 0.9]
    subset = make(
        None,
        predicted,
        tmp_path,
        language=["deu", "deu", "eng", "eng", "dan", "dan"],
        sentiment=["n", "p"] * 3,
    )
    number, _ = examples.of_predictions(subset, "language", ["deu", "eng", "dan"], "sentiment", "p")
    assert "dan: sentiment p: mean prediction moves +0.200 against the others" in number.title
    assert files_of(number)["language: dan"] == ["5.wav"]


def test_a_page_plays_a_few_and_lists_all(evaluation, tmp_path):
    subset = make([0.5] * 3, [0.5, 0.6, 0.9], tmp_path, speaker=HOSTILE)
    text = str(examples.show(evaluation, [examples.of_errors(subset)]))
    assert text.count("<audio") == 3 and "<details" in text and text.count("<tr>") == 4
    assert HOSTILE not in text and "labelled 0.50; predicted 0.90" in text
    assert text == str(examples.show(evaluation, [examples.of_errors(subset)]))


def test_a_model_that_guesses_is_only_read(evaluation, tmp_path):
    evaluation.guesses = True
    text = str(examples.show(evaluation, [examples.of_errors(make([0.5], [0.6], tmp_path))]))
    assert "<audio" not in text and "0.wav" in text


def test_without_audio_and_with_a_sound_that_is_gone(evaluation, tmp_path):
    subset = make([0.5], [0.6], tmp_path)
    (tmp_path / "0.wav").unlink()
    text = str(examples.show(evaluation, [examples.of_errors(subset)]))
    assert "<audio" not in text and "the sound cannot be read" in text
    evaluation.seen.audio = False
    assert "cannot be read" not in str(examples.show(evaluation, [examples.of_errors(subset)]))


def names(found, keys, why):
    return [keys[one.row] for one in found if one.why == why]


def keyed(keys, **columns):
    return pd.DataFrame({"key": keys} | columns)


@pytest.mark.parametrize("seed", range(3))
def test_worst_typical_and_best_in_any_order(seed):
    scores = np.array([0.0, 0.1, 0.1, 0.4, 0.5, 0.9, 0.9, 0.9, np.nan])
    keys = np.array(list("hgfedcbaz"), dtype=object)
    order = np.random.default_rng(seed).permutation(len(keys))
    found = choose(scores[order], keyed(keys[order]), worst=2, typical=1, best=2)
    chosen = {why: names(found, keys[order], why) for why in (WORST, TYPICAL, BEST)}
    # Of the three worst the two with the smallest keys; the median of eight is 0.45, so 0.4 and 0.5 tie.
    assert chosen == {WORST: ["a", "b"], TYPICAL: ["d"], BEST: ["h", "f"]}


def test_each_segment_once_and_none_without_a_score():
    keys = np.array(["a", "b"], dtype=object)
    found = choose(np.array([0.5, np.nan]), keyed(keys), worst=3, typical=3, best=3)
    assert [one[:2] for one in found] == [(0, WORST)]
    assert choose(np.array([np.nan, np.nan]), keyed(keys), worst=1) == []
    assert choose(np.array([1.0, 2.0]), keyed(keys), np.array([False, False]), worst=1) == []


def test_typical_is_the_median_within_the_mask():
    scores, keys = np.arange(10.0), np.array(list("abcdefghij"), dtype=object)
    found = choose(scores, keyed(keys), np.arange(10) < 5, typical=1)
    assert [one.row for one in found] == [2]


def test_speakers_are_heard_in_turn():
    scores, keys = np.array([9.0, 8.0, 7.0, 6.0, 0.0]), list("abcde")
    speakers = ["x", "x", "x", "y", "z"]
    assert [one.row for one in choose(scores, keyed(keys, speaker=speakers), worst=2)] == [0, 3]
    unknown = [None] * 5
    assert [one.row for one in choose(scores, keyed(keys, speaker=unknown), worst=2)] == [0, 1]


def test_gaps_are_against_the_other_groups():
    scores = np.array([1.0, 1.0, 0.0, 0.5, 9.0, np.nan])
    masks = {
        "a": np.array([1, 1, 0, 0, 0, 0], bool),
        "b": np.array([0, 0, 1, 1, 0, 0], bool),
        "nothing": np.array([0, 0, 0, 0, 0, 1], bool),
    }
    assert gaps(scores, masks) == [(0.75, "a"), (-0.75, "b")]
    assert gaps(scores, {"a": masks["a"]}) == [] and gaps(scores, {}) == []


def test_what_is_played_is_kept_as_data(evaluation, tmp_path):
    shown = examples.show(evaluation, [examples.of_errors(make([0.5] * 3, [0.5, 0.6, 0.9], tmp_path))])
    (record,) = shown._repr_mimebundle_()[EXAMPLES]
    assert record["corpus"] == "c" and record["task"] == "arousal" and record["words"] == []
    assert [one["label"] for one in record["sounds"]] == ["2.wav", "1.wav", "0.wav"]
    for sound in record["sounds"]:
        assert (evaluation.media.folder / sound["sound"]).is_file()
        assert (evaluation.media.folder / sound["picture"]).is_file()


def test_words_of_transcripts_are_aligned_beside_their_sound(evaluation, tmp_path):
    task = next(task for task in BUILTIN.values() if task.is_transcription)
    subset = make(["go on", "stop"], ["go up", "stop"], tmp_path, "emotion")
    scenes = [examples.of_errors(dataclasses.replace(subset, task=task))]
    shown = examples.show(evaluation, scenes, every=True)
    assert str(shown).count('class="sc-heard"') == 2 and "1 error, 2 words" in str(shown)
    record = shown.played[0]
    assert record["words"] == [("said", "go on"), ("recognised", "go up")] and len(record["sounds"]) == 1
