"""Whose words are shown: the segments with the most errors, and those that another recogniser has right."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.comparison import Pair
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.word_changes import wrong_words
from soundcheck.report import heard_words, word_tables

TASK = next(task for task in BUILTIN.values() if task.is_transcription)


def texts(*given):
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found


def table(count, **columns):
    frame = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
    return frame.assign(key=[f"k{n}" for n in range(count)], **columns)


@pytest.fixture
def evaluation(tmp_path):
    view = SimpleNamespace(audio=False, root=tmp_path)
    return SimpleNamespace(media=MediaStore(tmp_path), view=lambda _: view)


def subset(said, heard, **columns):
    answers = Predictions(texts(*heard))
    frame = table(len(said), **columns)
    return Subset("c", TASK, frame, texts(*said), answers, answers, np.arange(len(said)))


def test_the_worst_come_first(evaluation):
    given = subset(["a b c", "a b", "a b", "a"], ["x y z", "x y", "a", "a"], speaker=["s", None, "s", "s"])
    text = str(heard_words.worst_recognised(evaluation, given, heard=2, read=1))
    places = [text.index(f"{n}.wav") for n in (0, 1, 2)]
    assert places == sorted(places) and "3.wav" not in text and "nan" not in text
    assert text.index("<details") > places[1] and "1 more segment" in text
    assert "3 errors, 3 words" in text and "1 error, 2 words" in text


def test_groups_with_the_largest_gaps(evaluation):
    said = ["a b"] * 6
    heard = ["x y", "a y", "a b", "a b", "a b", "a y"]
    given = subset(said, heard, accent=["u", "u", "v", "v", "w", "w"])
    text = str(heard_words.groups_recognised(given, {"accent": ["u", "v", "w"]}))
    assert (
        "accent: u: mean word errors +62.5 points" in text
        and "1 other group with smaller differences" in text
    )
    assert "worst: 0.wav" in text
    assert "No groups" in str(heard_words.groups_recognised(given, {}))


def test_words_broken_and_corrected_by_the_second(tmp_path):
    said, first, second = ["a b", "a b", "a b"], ["a b", "x y", "a b"], ["x b", "a b", "a b"]
    pair = Pair(
        "c", TASK, table(3), texts(*said), texts(*first), texts(*second), np.arange(3), tmp_path, False
    )
    comparison = SimpleNamespace(media=MediaStore(tmp_path))
    text = str(heard_words.most_changed_words(comparison, pair))
    broken, corrected = text.split("most words corrected")
    assert "0.wav" in broken and "1.wav" in corrected and "2.wav" not in text
    assert "1 broken, 0 corrected, 2 words" in broken and text.count("<dl") == 2


def test_words_most_often_wrong_and_who_has_them_right():
    frame = wrong_words(["go up", "go on", None], {"m": ["no up", "no", "x"], "<b>": ["go up", "go up", "x"]})
    assert frame.to_numpy().tolist() == [["go", 2, 2, 0], ["on", 1, 1, 1]]
    text = str(word_tables.wrong_word_table(frame, "c"))
    assert "<b>" not in text and "all alike" in text and "the 2 of 2 words" in text
    assert "2 (100.0\xa0%)" in text
    alone = str(word_tables.wrong_word_table(frame[["word", "said", "m"]], "c"))
    assert "fewest" not in alone
