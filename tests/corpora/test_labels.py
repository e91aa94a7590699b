"""Scales, classes and languages from files to numbers: what is read, refused, and said with the numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.refusals import refusals

from soundcheck.common.errors import Problems
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.wording import flow
from soundcheck.corpora.labels import MOST_CLASSES, class_remedy, match_languages
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.yaml_reader import read_yaml

ENTRY = "format: csv, path: labels.csv, audio: false"


def table(values, task="arousal", **columns):
    files = [f"{n}.wav" for n in range(len(values))]
    speakers = [f"s{n % 6}" for n in range(len(values))]
    return pd.DataFrame({"file": files, "speaker": speakers, task: values, **columns})


@pytest.fixture
def load(load):
    """Load labels of a task that a model has: ``load([1, 7], keys="range: [1, 7]")``."""

    def read(values, task="arousal", keys="", more="", tasks="", **columns):
        model = f"{{predictions: predictions.csv, tasks: [{tasks or task}]}}"
        labels = values if isinstance(values, pd.DataFrame) else table(values, task, **columns)
        files = {"labels.csv": labels, "predictions.csv": labels}
        return load(f"{ENTRY}{', ' if keys else ''}{keys}", files, more, model)

    return read


MARK = "tasks: {mark: {type: regression, range: [6, 1]}}"


@pytest.mark.parametrize(
    ("keys", "ratings", "scaled"),
    [
        ("range: [1, 7]", [1, 4.6, 7], [0, 0.6, 1]),
        ("range: [5, 1]", [5, 1, 2], [0, 1, 0.75]),
        ("range: [1, -1]", [1, -1, 0.5], [0, 1, 0.25]),
        ("range: {arousal: [100, 0]}", [25, 100, 0], [0.75, 0, 1]),
        ("", [6, 1, 3.5], [0, 1, 0.5]),  # of a task of the suite
    ],
)
def test_labels_are_read_as_their_scale_says(load, keys, ratings, scaled):
    task, more = ("arousal", "") if keys else ("mark", MARK)
    assert load(ratings, task, keys, more).segments[task].tolist() == scaled


MEANS = np.round(np.linspace(1.86, 5.8, 60), 2).tolist()


ALL = ["not in 0 to 1: all 60 ('1.86' in labels.csv line 2", "`range: [1, 7]` or [1, 9] or [0, 10]"]
ONE = ["1 of 61 ('6.5' in", "`range: [1, 7]`", "correct the la"]
OUTSIDE = [
    (MEANS, "", ALL),
    ([*np.linspace(1, 5, 60), 6.5], "range: [1, 5]", ONE),
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
    notices = [one for one in load(MEANS, keys=f"range: {scale}").notices if "never near" in one]
    assert (words in notices[0]) if words else not notices


FOUR = "values: {emotion: {angry: anger, happy: happiness, sad: sadness}}"


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
    assert [(one.corpus, one.task) for one in caveats] == [("c", "emotion")] * bool(words)
    assert all(one.text.startswith(words) for one in caveats)


def test_labels_of_another_task_or_of_none_that_a_model_has_are_no_fault(load):
    tasks = "tasks: {feeling: {type: classification, classes: [ANG, HAP]}}"
    both, columns = "emotion, feeling", "columns: {feeling: emotion}"
    assert load(["ANG", "HAP"] * 4, "emotion", columns, tasks, both).caveats == ()
    assert load([0.5] * 8, emotion=["neutral"] * 2 + ["fear"] * 6).caveats == ()


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (["NA", "NA", "NA", "phone"], "column device: 3 of 4 rows have 'NA'"),
        (["", "none", "none", "phone"], 'values: {device: {none: ""}}'),
        (["phone", "phone", "NA", "tablet"], ""),
    ],
)
def test_a_most_frequent_na_is_noticed_and_kept(load, device, words):
    corpus = load([0.5] * 4, keys="groups: [device]", device=device)
    notices = [notice for notice in corpus.notices if "counts as it is written" in notice]
    assert bool(notices) == bool(words) and all(words in notice for notice in notices)
    assert set(corpus.segments["device"].dropna()) == {*device} - {""}


def remedy(labels, tasks=None, columns=None, task=BUILTIN["emotion"], **further) -> str:
    data = pd.DataFrame({task.name: labels, **further}, dtype=object)
    entry = CorpusEntry(name="calls", format="csv", path=None, columns=columns or {})
    return class_remedy(task, data, entry, {**BUILTIN, **(tasks or {})})


MOOD = Task("mood", "classification", ("anger", "joy"))
FEELING = Task("feeling", "classification", ("a", "b"))


DECLARED = (
    "`tasks: {feeling: {type: classification, classes: [anger, boredom]}}`, and under corpora.calls "
    "`columns: {feeling: felt as}`"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (remedy(["boredom", "anger", "", "boredom"], columns={"emotion": "felt as"}), DECLARED),
        (remedy(["boredom"], {"feeling": FEELING}), "`tasks: {felt: "),  # a name that is free
        (remedy(["joy", "anger"], {"mood": MOOD}, mood=["joy", "anger"]), "The task mood has all of them"),
        (remedy(["joy", "anger"], {"mood": MOOD}, mood=["anger", "joy"]), "{joy: happiness}}`"),
        (remedy(["joy", "fear"], {"mood": MOOD}, mood=["joy", "fear"]), "declare a task"),
        (remedy(["fear"], {"mood": MOOD}, task=MOOD), "Add them to `classes` of tasks.mood in the suite"),
        (remedy([f"word {n}" for n in range(MOST_CLASSES + 1)]), "with all of them under `classes`"),
    ],
)
def test_what_to_do_about_labels_that_are_no_classes(text, words):
    assert words in text


TEXTS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=20)


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), TEXTS)
def test_advice_is_yaml_of_the_same_texts(tmp_path_factory, classes, column):
    file = tmp_path_factory.mktemp("yaml") / "x.yml"
    file.write_text(
        f"tasks: {flow({'feeling': classes})}\ncolumns: {flow({column: column})}\n", encoding="utf-8"
    )
    data = read_yaml(file, "x.yml", Problems()).data
    assert [*map(str, data["tasks"]["feeling"])] == classes
    assert {str(key): str(text) for key, text in data["columns"].items()} == {column: column}


def test_languages_in_any_form():
    names = dict.fromkeys(["de", "deu", "German", "german", "de-AT"], "de") | {"en_US": "en", " it ": "it"}
    names |= {"zh-CN": "zh", "cmn": "zh", "da": None, "": None, "??": None, None: None, float("nan"): None}
    assert match_languages([*names], ["de", "en", "es", "fr", "it", "zh"]).tolist() == [*names.values()]
    assert match_languages(["en", "fra", "x"], ["fra"]).tolist() == [None, "fra", None]
    assert match_languages([], ["de"]).shape == (0,)


@pytest.mark.parametrize(("keys", "words"), refusals("columns"))
def test_a_column_that_only_groups_need_is_named_with_its_key(refused, keys, words):
    text = refused("Allowed: ", [0.5], keys=keys)
    allowed = text.split("Allowed: ")[1].rstrip(".").split(", ")
    assert words in text and len(allowed) == len(set(allowed))


def test_contradicting_rows_are_not_to_be_dropped(refused):
    labels = pd.DataFrame({"file": [f"{n % 4}.wav" for n in range(12)], "arousal": np.arange(12) / 12})
    text = refused("'0.wav' is there 3 times with different arousal, as are 3 more segments", labels)
    assert "their mean or majority" in text and "Keep one" not in text and len(text.splitlines()) == 1


@pytest.mark.slow
def test_falling_scales_and_words_for_classes_give_the_right_numbers(write, tmp_path, command, rng):
    names = np.array(["angry", "happy", "neutral", "sad"])
    truth, emotion = rng.uniform(0, 1, 80), rng.integers(0, 4, 80)
    predicted = np.where(rng.uniform(size=80) < 0.7, emotion, rng.integers(0, 4, 80))
    near = np.clip(truth + rng.normal(0, 0.03, 80), 0, 1)
    valence = 7 - 6 * near
    bounds = {"valence.low": valence - 0.5, "valence.high": valence + 0.5}
    suite = f"corpora: {{c: {{{ENTRY}, range: [5, 1], {FOUR}}}}}\nmodels:\n"
    suite += f"  m: {{predictions: predictions.csv, tasks: [valence, emotion], range: [7, 1], {FOUR}}}\n"
    write(
        {
            "labels.csv": table(np.round(5 - 4 * truth, 3), "valence", emotion=names[emotion]),
            "predictions.csv": table(valence, "valence", emotion=names[predicted], **bounds),
            "suite.yml": f"{suite}families: [correctness_regression, correctness_classification]\n",
        }
    )
    command("run", "suite.yml", "--out", "out", "--no-book", "--jobs", "1", cwd=tmp_path)
    predictions = pd.read_parquet(next((tmp_path / "out" / "predictions").rglob("*.parquet")))
    assert predictions["valence"].between(predictions["valence.low"], predictions["valence.high"]).all()
    assert np.sort(predictions["valence"]) == pytest.approx(np.sort(near), abs=2e-3)
    values = pd.read_csv(tmp_path / "out" / "results.csv").set_index("test")["value"]
    recalls = [np.mean(predicted[emotion == n] == n) for n in range(4)]
    assert values["Unweighted Average Recall"] == pytest.approx(np.mean(recalls))
    assert values["Concordance Correlation Coeff"] > 0.97
