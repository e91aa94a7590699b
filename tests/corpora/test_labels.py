"""Scales, classes and languages from files to numbers: what is read, refused, and said with the numbers."""

import numpy as np
import pandas as pd
import pytest
from tests.corpora.given import refusals

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora.labels import class_remedy, match_languages
from soundcheck.suite.entries import CorpusEntry

ENTRY = "format: csv, path: labels.csv, audio: false"


@pytest.fixture
def load(load):
    """Load labels of a task that a model has: ``load([1, 7], keys="range: [1, 7]")``."""

    def read(values, task="arousal", keys="", more="", tasks="", **columns):
        files = [f"{n}.wav" for n in range(len(values))]
        labels = pd.DataFrame({"file": files, task: values, **columns})
        model = f"{{predictions: predictions.csv, tasks: [{tasks or task}]}}"
        files = {"labels.csv": labels, "predictions.csv": labels}
        return load(f"{ENTRY}{', ' if keys else ''}{keys}", files, more, model)

    return read


@pytest.mark.parametrize(
    ("keys", "ratings", "scaled"),
    [
        ("range: [1, 7]", [1, 4.6, 7], [0, 0.6, 1]),
        ("range: {arousal: [100, 0]}", [25, 100, 0], [0.75, 0, 1]),
        ("", [6, 1, 3.5], [0, 1, 0.5]),  # of a task of the suite
    ],
)
def test_labels_are_read_as_their_scale_says(load, keys, ratings, scaled):
    task = "arousal" if keys else "mark"
    more = "" if keys else "tasks: {mark: {type: regression, range: [6, 1]}}"
    assert load(ratings, task, keys, more).segments[task].tolist() == scaled


MEANS = np.round(np.linspace(1.86, 5.8, 60), 2).tolist()

OUTSIDE = [
    (MEANS, "", ["all 60 ('1.86' in labels.csv line 2", "`range: [1, 7]` or [1, 9] or [0, 10]"]),
    ([*np.linspace(1, 5, 60), 6.5], "range: [1, 5]", ["1 of 61 ('6.5' in", "`range: [1, 7]`"]),
    ([0.1] * 30 + [999], "", ["1 of 31", "[lowest, highest]", 'values: {arousal: {"999.0": ""}}']),
]


@pytest.mark.parametrize(("ratings", "keys", "words"), [*OUTSIDE, *refusals("ratings")])
def test_ratings_that_are_refused(refused, ratings, keys, words):
    text = refused("labels.csv|both ends", ratings, keys=keys)
    assert all(part in text for part in words) and len(text.splitlines()) == 1, text
    assert "[1, 6]" not in text


def test_two_columns_on_other_scales_get_a_range_each(refused):
    text = refused("range", [1 + n % 7 for n in range(40)], valence=[n % 11 for n in range(40)])
    assert "`range: {arousal: [1, 7]}`" in text and "`range: {valence: [0, 10]}`" in text


@pytest.mark.parametrize(
    ("scale", "words"), [("[1, 6]", "1 of their range"), ("[0, 10]", "0 or 10"), ("[1.5, 6]", "")]
)
def test_an_end_that_is_never_nearly_reached_is_noticed(load, scale, words):
    notices = [notice for notice in load(MEANS, keys=f"range: {scale}").notices if "never near" in notice]
    assert (words in notices[0]) if words else not notices


@pytest.mark.parametrize(("labels", "words"), refusals("classes"))
def test_labels_of_which_most_are_no_classes_are_refused(refused, labels, words):
    text = refused("not classes of emotion", labels * 5, task="emotion")
    assert all(part in text for part in words) and len(text.splitlines()) == 1, text


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["angry", "neutral", "neutral"] * 5, "5 of 15 labels are not classes of emotion"),
        (["neutral"] * 15, "all 15 labels of emotion are 'neutral'"),
        (["neutral", "anger", "sad"] * 5, ""),
    ],
)
def test_a_single_class_is_a_caveat(load, labels, words):
    caveats = load(labels, task="emotion").caveats
    assert [(caveat.corpus, caveat.task) for caveat in caveats] == [("c", "emotion")] * bool(words)
    assert all(caveat.text.startswith(words) for caveat in caveats)


def test_labels_of_another_task_or_of_none_that_a_model_has_are_no_fault(load):
    tasks = "tasks: {feeling: {type: classification, classes: [ANG, HAP]}}"
    both, columns = "emotion, feeling", "columns: {feeling: emotion}"
    assert load(["ANG", "HAP"] * 4, "emotion", columns, tasks, both).caveats == ()
    assert load([0.5] * 8, emotion=["neutral"] * 2 + ["fear"] * 6).caveats == ()


TASKS = BUILTIN | {"mood": Task("mood", "classification", ("anger", "joy"))}
TASKS["feeling"] = Task("feeling", "classification", ("a", "b"))


@pytest.mark.parametrize(
    ("labels", "task", "other", "moods", "words"),
    [
        *refusals("remedies"),
        (
            [f"w{n:02}" for n in range(60)],
            "emotion",
            "emotion",
            None,
            'w49, "..."]}}`, and under corpora.calls',
        ),
    ],
)
def test_what_to_do_about_labels_that_are_no_classes(labels, task, other, moods, words):
    data = pd.DataFrame({task: labels} | ({"mood": moods} if moods else {}), dtype=object)
    entry = CorpusEntry(name="calls", format="csv", path=None, columns={"emotion": "felt as"})
    assert words in class_remedy(TASKS[task], data, entry, BUILTIN | {other: TASKS[other]})


def test_languages_in_any_form():
    names = dict.fromkeys(["de", "deu", "German", "german", "de-AT"], "de") | {"en_US": "en", " it ": "it"}
    names |= {"zh-CN": "zh", "cmn": "zh", "da": None, "": None, "??": None, None: None, float("nan"): None}
    assert match_languages([*names], ["de", "en", "es", "fr", "it", "zh"]).tolist() == [*names.values()]
    assert match_languages(["en", "fra", "x"], ["fra"]).tolist() == [None, "fra", None]
    assert match_languages([], ["de"]).shape == (0,)
