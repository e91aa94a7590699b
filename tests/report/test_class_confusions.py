"""Each cell of the table has its count and leads to its segments."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import class_confusions as module
from soundcheck.report import examples
from soundcheck.report.class_confusions import class_confusions, most_confused

HOSTILE = "<b>joy</b>"


def subset(truth, predicted, classes):
    count = len(truth)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
    table["key"] = [f"{n:04d}" for n in range(count)][::-1]
    table["speaker"] = [f"s{n // 2}" for n in range(count)]
    answers = Predictions(np.array(predicted, dtype=object))
    task = Task("mood", "classification", classes=tuple(classes))
    blocks = np.arange(count) // 2
    return Subset("c", task, table, np.array(truth, dtype=object), answers, answers, blocks)


@pytest.fixture
def evaluation(tmp_path):
    view = SimpleNamespace(audio=False, root=tmp_path)
    return SimpleNamespace(media=MediaStore(tmp_path), view=lambda _: view, guesses=True)


def test_cells_lead_to_their_segments():
    given = subset(["a", "a", "a", HOSTILE], ["a", HOSTILE, HOSTILE, HOSTILE], ["a", HOSTILE])
    text = str(class_confusions(given))
    links, anchors = re.findall(r'href="#([^"]+)"', text), re.findall(r'<p id="([^"]+)"', text)
    assert sorted(links) == sorted(anchors) and len(set(anchors)) == 3
    assert "33 %" in text and "67 %" in text and "100 %" in text and HOSTILE not in text
    cell = text.partition(f'<p id="{anchors[1]}"')[2].partition("</ul>")[0]
    # Keys run backwards, and each speaker has two: the one with the smaller key is in another cell.
    assert re.findall(r"(\d)\.wav", cell) == ["2", "1"]
    # Anchors lie within what is folded: a link opens it.
    assert text.index("<details") < text.index('<p id="')


def test_one_of_each_speaker_comes_first():
    given = subset(["a"] * 6, ["b"] * 6, ["a", "b"])
    text = str(class_confusions(given))
    assert re.findall(r"(\d)\.wav", text.partition("<ul>")[2]) == ["5", "3", "1", "4"]
    assert "and 2 more" in text


def test_what_does_not_count_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_CLASSES", 2)
    monkeypatch.setattr(module, "MOST_CELLS", 1)
    given = subset(["a", "a", "b", "x", "c"], ["a", "b", "b", "a", None], ["a", "b", "c"])
    text = str(class_confusions(given))
    assert "The 2 of 3 classes" in text and "1 of 3 cells" in text
    assert "2 segments without a prediction or with another label" in text


def test_the_most_frequent_confusions_are_heard(evaluation):
    evaluation.guesses = False
    given = subset(["a", "a", "b"], ["b", "b", "b"], ["a", "b"])
    text = str(examples.show(evaluation, [most_confused(given)]))
    assert "labelled a; predicted b" in text and "labelled b" not in text
    nothing = subset(["a"], [None], ["a", "b"])
    assert "–" in str(class_confusions(nothing))


def test_classes_that_are_all_confused_with_each_other():
    every = subset(["a", "a", "b", "b", "b"], ["a", "b", "a", "a", "b"], ["a", "b"])
    assert [one.row for one in most_confused(every).examples] and module.confusion_counts(every).sum() == 5
