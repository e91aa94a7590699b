"""Scales and classes from files to numbers: what is read, what is refused, what is said with the numbers."""

import re

import audformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError, Problems
from soundcheck.common.scales import another_scale, usual_scales
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora.labels import MOST_CLASSES, class_remedy, match_languages, task_snippets
from soundcheck.corpora.load import load_corpus
from soundcheck.models.base import check_model
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.yaml_reader import read_yaml

HEAD = "corpora: {{c: {{format: csv, path: labels.csv, audio: false{0}}}}}\n"
ASKED = "models: {m: {predictions: answers.csv, tasks: [TASK]RANGE}}\nfamilies: [correctness_regression]\n"


class Data:
    """A folder with labels, answers and a suite."""

    def __init__(self, folder):
        self.folder = folder

    def table(self, name, values, column):
        lines = [f"{n}.wav,s{n % 6},{value}" for n, value in enumerate(values)]
        (self.folder / name).write_text(f"file,speaker,{column}\n" + "\n".join(lines) + "\n")

    def suite(self, labels, answers=(), task="arousal", keys="", scale="", tasks=""):
        self.table("labels.csv", labels, task)
        self.table("answers.csv", answers or labels, task)
        asked = ASKED.replace("TASK", task).replace("RANGE", scale and f", range: {scale}")
        (self.folder / "suite.yml").write_text(tasks + HEAD.format(keys) + asked)
        return read_suite(self.folder / "suite.yml")

    def corpus(self, *arguments, **options):
        suite = self.suite(*arguments, **options)
        return load_corpus(suite.corpora["c"], suite, self.folder / "cache")

    def labels(self, values, task="arousal", **options):
        corpus = self.corpus(values, task=task, **options)
        return corpus.segments.sort_values("file", key=lambda f: f.str.removesuffix(".wav").astype(int))[task]

    def message(self, *arguments, **options):
        with pytest.raises(InputError) as caught:
            self.corpus(*arguments, **options)
        return str(caught.value)

    def answers(self, answers, **options):
        suite = self.suite([0.5] * len(answers), answers, **options)
        try:
            check_model(suite.models["m"], suite, [])
        except InputError as error:
            return str(error)
        return ""


@pytest.fixture
def data(tmp_path):
    return Data(tmp_path)


# Which scale ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (1.86, 5.8, [(1, 7), (1, 9), (0, 10)]),
        (1, 5, [(1, 5)]),
        (1.2, 4.9, [(1, 5), (0, 5), (1, 7)]),
        (-0.552, 0.946, [(-1, 1)]),
        (-2.6, 2.9, [(-3, 3), (-5, 5)]),
        (12.5, 88, [(0, 100), (-100, 100)]),
        (-40, 38, [(-100, 100)]),
        (11, 19, []),
        (1000, 5200, []),
    ],
)
def test_usual_scales_are_named_and_never_the_ends_of_the_values(low, high, found):
    assert usual_scales(np.array([low, (low + high) / 2, high])) == found


def overshooting(rng, deviation):
    return rng.uniform(0, 1, 2000) + rng.normal(0, deviation, 2000)


@pytest.mark.parametrize(
    ("values", "stated", "another"),
    [
        ([-0.05, 0.3, 0.6, 1.08], False, False),
        ([-0.25, *np.linspace(0, 1, 30)], False, False),
        ([-0.25, -0.3, -0.8, *np.linspace(0, 1, 30)], False, True),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 5000)], False, True),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 5000)], True, False),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 50_000)], False, False),  # two in ten thousand
        ([*np.full(50, -0.4), *np.linspace(0, 1, 500)], True, True),
        ([1.1, 1.2, 0.5], False, True),  # most of them
    ],
)
def test_a_dozen_far_outside_are_another_scale(values, stated, another):
    assert another_scale(np.array(values), (0, 1), stated=stated) == another


@pytest.mark.parametrize("deviation", [0.03, 0.06])
def test_a_right_model_that_overshoots_is_not_refused(rng, deviation):
    assert not another_scale(overshooting(rng, deviation), (0, 1))


# Labels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "given", "read"),
    [
        ("[1, 7]", [1, 4.6, 7], [0, 0.6, 1]),
        ("[5, 1]", [5, 1, 2], [0, 1, 0.75]),
        ("[1, -1]", [1, -1, 0.5], [0, 1, 0.25]),
        ("{arousal: [100, 0]}", [25, 100, 0], [0.75, 0, 1]),
    ],
)
def test_labels_are_read_as_their_scale_says(data, scale, given, read):
    assert data.labels(given, keys=f", range: {scale}").tolist() == read


def test_a_task_of_the_suite_may_fall(data):
    tasks = "tasks: {mark: {type: regression, range: [6, 1]}}\n"
    assert data.labels([6, 1, 3.5], task="mark", tasks=tasks).tolist() == [0, 1, 0.5]


def test_equal_ends_are_refused(data):
    assert "both ends are 3" in data.message([3, 3], keys=", range: [3, 3]")


MEANS = np.round(np.linspace(1.86, 5.8, 60), 2).tolist()


@pytest.mark.parametrize(
    ("given", "keys", "words"),
    [
        (
            MEANS,
            "",
            ["not in 0 to 1: all 60 ('1.86' in labels.csv line 2", "`range: [1, 7]` or [1, 9] or [0, 10]"],
        ),
        (
            [*np.linspace(1, 5, 60), 6.5, 7],
            ", range: [1, 5]",
            ["2 of 62 ('6.5' in labels.csv line 62, '7.0' in", "`range: [1, 7]`", "correct the labels"],
        ),
        ([0.1] * 30 + [999], "", ["1 of 31", "[lowest, highest]", 'values: {arousal: {"999.0": ""}}']),
        ([230, 900, 410], "", ["all 3", "[lowest, highest]", "possible label, not those that occur"]),
    ],
)
def test_labels_outside_are_one_message_a_column(data, given, keys, words):
    text = data.message([float(value) for value in given], keys=keys)
    assert len(text.splitlines()) == 1 and "[1, 6]" not in text
    for part in words:
        assert part in text, text
    assert text.index("range:") < (text.index("values:") if "values:" in text else len(text))


def test_two_columns_on_other_scales_get_a_range_each(data):
    lines = [f"{n}.wav,{1 + n % 7},{n % 11}" for n in range(40)]
    suite = data.suite([1])
    (data.folder / "labels.csv").write_text("file,arousal,valence\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        load_corpus(suite.corpora["c"], suite, data.folder / "cache")
    assert "`range: {arousal: [1, 7]}`" in str(caught.value)
    assert "`range: {valence: [0, 10]}`" in str(caught.value)


@pytest.mark.parametrize(
    ("scale", "said"), [("[1, 6]", "1 of their range"), ("[0, 10]", "0 or 10"), ("[1.5, 6]", "")]
)
def test_an_end_that_is_never_nearly_reached_is_noticed(data, scale, said):
    notices = " ".join(data.corpus(MEANS, keys=f", range: {scale}").notices)
    assert (said in notices and "never near" in notices) if said else "never near" not in notices


@pytest.mark.parametrize(
    ("scheme", "keys", "read"),
    [
        (audformat.Scheme("float", minimum=1, maximum=7), "", [0, 0.5, 1]),
        (audformat.Scheme("int", minimum=0, maximum=8), "", [0.125, 0.5, 0.875]),
        (audformat.Scheme("int", labels=[1, 4, 7]), "", [0, 0.5, 1]),
        (audformat.Scheme("float", minimum=1, maximum=7), ", range: [7, 1]", [1, 0.5, 0]),
        (audformat.Scheme("float"), "", "`range: [1, 7]`"),
        (audformat.Scheme("float", minimum=0), "", "`range: [1, 7]`"),
    ],
)
def test_the_scale_that_a_database_declares_is_used(tmp_path, scheme, keys, read):
    db = audformat.Database("db")
    db.schemes["felt"] = scheme
    table = db["t"] = audformat.Table(audformat.filewise_index([f"{n}.wav" for n in range(3)]))
    table["felt"] = audformat.Column(scheme_id="felt")
    table["felt"].set([1, 4, 7])
    db.save(tmp_path / "db", storage_format="csv")
    (tmp_path / "suite.yml").write_text(
        f"corpora: {{c: {{format: audformat, path: db, audio: false, columns: {{arousal: felt}}{keys}}}}}\n"
        "models: {m: {random: gaussian}}\nfamilies: all\n"
    )
    suite = read_suite(tmp_path / "suite.yml")
    if isinstance(read, str):
        with pytest.raises(InputError) as caught:
            load_corpus(suite.corpora["c"], suite, tmp_path / "cache")
        assert read in str(caught.value)
        return
    corpus = load_corpus(suite.corpora["c"], suite, tmp_path / "cache")
    assert corpus.segments["arousal"].tolist() == read
    assert ("`range:` of the suite counts" if keys else "the scheme in the database") in " ".join(
        corpus.notices
    )


# Answers ----------------------------------------------------------------------------------------------------

THIRD = np.round(np.r_[np.linspace(-0.55, -0.02, 43), np.linspace(0, 0.95, 101)], 3).tolist()


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (THIRD, {}, "arousal: 43 of the 144 answers in answers.csv are not in 0 to 1"),
        (THIRD, {}, "`range: [-1, 1]`"),
        (THIRD, {"keys": ", range: [-2, 2]"}, "`range: [-2, 2]`"),  # as the labels
        (THIRD, {"scale": "[-1, 1]"}, ""),
        (THIRD, {"scale": "[1, -1]"}, ""),
        ([*np.linspace(0, 1, 900), *np.linspace(60, 95, 14)], {}, "14 of the 914"),
        ([*np.linspace(0, 1, 900), 1.1, 1.15, -0.1], {}, ""),
        ([*np.linspace(1, 5, 200), 6.9], {"scale": "[1, 5]"}, ""),
        ([*np.linspace(1, 7, 60)], {"scale": "[1, 5]"}, "`range: [1, 7]`"),
    ],
)
def test_answers_on_another_scale_are_refused(data, given, options, words):
    text = data.answers([float(value) for value in given], **options)
    assert (words in text) if words else not text, text


# Classes ----------------------------------------------------------------------------------------------------

FOUR = "values: {emotion: {angry: anger, happy: happiness, sad: sadness}}"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["angry", "happy", "neutral", "sad"] * 5, FOUR),
        (["ang", "hap", "fru", "neutral", "exc"] * 5, "{ang: anger, hap: happiness}}`. To test all 5"),
        (["A", "H", "neutral", "S"] * 5, "{A: anger, H: happiness, S: sadness}"),
        (["neutral", "NA", "NA"] * 5, 'values: {emotion: {NA: ""}}'),
        (["boredom", "fear", "neutral"] * 5, "'neutral'. To test all 3, declare a task"),
    ],
)
def test_a_single_class_beside_more_unknown_labels_is_refused(data, labels, words):
    text = data.message(labels, task="emotion")
    assert "labels are not classes of emotion, and all others are 'neutral'" in text
    assert words in text and len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["ANG", "HAP", "NEU", "SAD"] * 5, "{ANG: anger, HAP: happiness, NEU: neutral, SAD: sadness}"),
        (["01", "03", "04", "05"] * 5, 'classes: ["01", "03", "04", "05"]'),
        (["NA", "", ""] * 5, 'values: {emotion: {NA: ""}}'),
    ],
)
def test_labels_of_which_none_is_a_class_are_refused(data, labels, words):
    text = data.message(labels, task="emotion")
    assert f"all {sum(map(bool, labels))} labels are not classes of emotion. " in text
    assert words in text and len(text.splitlines()) == 1


def test_labels_that_another_task_has_are_no_fault(data):
    tasks = "tasks: {feeling: {type: classification, classes: [ANG, HAP]}}\n"
    data.suite(["ANG", "HAP"] * 4, task="emotion", keys=", columns: {feeling: emotion}", tasks=tasks)
    path = data.folder / "suite.yml"
    path.write_text(path.read_text().replace("tasks: [emotion]", "tasks: [emotion, feeling]"))
    suite = read_suite(path)
    assert load_corpus(suite.corpora["c"], suite, data.folder / "cache").caveats == ()


@pytest.mark.parametrize(
    ("cells", "remedy"),
    [
        (["0.5", "NA", "0.2", "nan"], '`values: {arousal: {NA: "", nan: ""}}` under corpora.c'),
        (["0.5", "?", "0.2"], '`values: {arousal: {"?": ""}}` under corpora.c'),
        (["0.5", "x12"], "Give a number with a point"),
    ],
)
def test_cells_that_are_no_numbers(data, cells, remedy):
    assert remedy in data.message(cells)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["angry", "neutral", "neutral"] * 5, "5 of 15 labels are not classes of emotion"),
        (["neutral"] * 15, "all 15 labels of emotion are 'neutral'"),
        (["neutral", "anger", "sad"] * 5, ""),
    ],
)
def test_a_single_class_is_a_caveat(data, labels, words):
    caveats = data.corpus(labels, task="emotion").caveats
    assert [(one.corpus, one.task) for one in caveats] == [("c", "emotion")] * bool(words)
    assert all(one.text.startswith(words) for one in caveats)


def test_nobody_is_refused_for_a_task_that_no_model_has(data):
    data.suite([0.5] * 8)
    lines = [f"{n}.wav,s{n % 4},0.5,{'neutral' if n < 2 else 'fear'}" for n in range(8)]
    (data.folder / "labels.csv").write_text("file,speaker,arousal,emotion\n" + "\n".join(lines) + "\n")
    suite = read_suite(data.folder / "suite.yml")
    assert load_corpus(suite.corpora["c"], suite, data.folder / "cache").caveats == ()


@pytest.mark.parametrize(
    ("device", "said"),
    [
        (["NA", "NA", "NA", "phone"], "column device: 3 of 4 rows have 'NA'"),
        (["", "none", "none", "phone"], 'values: {device: {none: ""}}'),
        (["phone", "phone", "NA", "tablet"], ""),
    ],
)
def test_a_most_frequent_na_is_noticed(data, device, said):
    data.suite([0.5] * 4, keys=", groups: [device]")
    lines = [f"{n}.wav,s{n},0.5,{text}" for n, text in enumerate(device)]
    (data.folder / "labels.csv").write_text("file,speaker,arousal,device\n" + "\n".join(lines) + "\n")
    suite = read_suite(data.folder / "suite.yml")
    corpus = load_corpus(suite.corpora["c"], suite, data.folder / "cache")
    notices = [notice for notice in corpus.notices if "counts as it is written" in notice]
    assert bool(notices) == bool(said) and all(said in notice for notice in notices)
    assert set(corpus.segments["device"].dropna()) == {*device} - {""}  # and it is kept


# Columns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (", columns: {age: Age}", "`groups: [{age: {young: [0, 39], old: [40, 120]}}]`"),
        (", columns: {nationality: Nation}", "`groups: [nationality]`"),
        (", columns: {speker: spk}", "Did you mean 'speaker'?"),
        (", columns: {age: Age}, groups: [{age: {young: [0, 39], old: [40, 120]}}]", ""),
    ],
)
def test_a_column_that_only_groups_need_is_named_with_its_key(data, keys, words):
    if not words:
        data.suite([0.5], keys=keys)
        return
    text = data.message([0.5], keys=keys)
    assert words in text
    allowed = text.split("Allowed: ")[1].rstrip(".").split(", ")
    assert len(allowed) == len(set(allowed))


def test_contradicting_rows_are_not_to_be_dropped(data):
    suite = data.suite([0.1, 0.2])
    lines = [f"{n % 4}.wav,{n / 12}" for n in range(12)]  # three raters
    (data.folder / "labels.csv").write_text("file,arousal\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        load_corpus(suite.corpora["c"], suite, data.folder / "cache")
    text = str(caught.value)
    assert "'0.wav' is there 3 times with different arousal, as are 3 more segments" in text
    assert "their mean or majority" in text and "Keep one" not in text and len(text.splitlines()) == 1


# Through the command ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_falling_scales_and_words_for_classes_give_the_right_numbers(tmp_path, command, rng):
    names = ["angry", "happy", "neutral", "sad"]
    truth = rng.uniform(0, 1, 80)
    feeling = rng.integers(0, 4, 80)
    answered = np.where(rng.uniform(size=80) < 0.7, feeling, rng.integers(0, 4, 80))
    frame = pd.DataFrame(
        {"file": [f"{n}.wav" for n in range(80)], "speaker": [f"s{n % 10}" for n in range(80)]}
    )
    labels = frame.assign(valence=np.round(5 - 4 * truth, 3), emotion=[names[n] for n in feeling])
    labels.to_csv(tmp_path / "labels.csv", index=False)
    near = np.clip(truth + rng.normal(0, 0.03, 80), 0, 1)
    answers = frame.assign(valence=np.round(7 - 6 * near, 3), emotion=[names[n] for n in answered])
    answers = answers.assign(
        **{"valence.low": answers["valence"] - 0.5, "valence.high": answers["valence"] + 0.5}
    )
    answers.to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "suite.yml").write_text(
        f"corpora: {{c: {{format: csv, path: labels.csv, audio: false, range: [5, 1], {FOUR}}}}}\n"
        f"models: {{m: {{predictions: answers.csv, tasks: [valence, emotion], range: [7, 1], {FOUR}}}}}\n"
        "families: [correctness_regression, correctness_classification]\n"
    )
    command("run", "suite.yml", "--out", "out", "--no-book", "--jobs", "1", cwd=tmp_path)
    table = pd.read_parquet(next((tmp_path / "out" / "predictions").rglob("*.parquet")))
    assert (table["valence.low"] <= table["valence"]).all() and (
        table["valence"] <= table["valence.high"]
    ).all()
    assert np.sort(table["valence"]) == pytest.approx(np.sort(near), abs=2e-3)
    rows = pd.read_csv(tmp_path / "out" / "results.csv").set_index("test")["value"]
    recalls = [np.mean(answered[feeling == n] == n) for n in range(4)]
    assert rows["Unweighted Average Recall"] == pytest.approx(np.mean(recalls))
    assert rows["Concordance Correlation Coeff"] > 0.97


EMOTION = BUILTIN["emotion"]
TEXTS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=20)


def entry(**changes) -> CorpusEntry:
    return CorpusEntry(name="calls", format="csv", path=None, **changes)


def texts(value):
    """Plain texts of what was read, lists and mappings kept."""
    if isinstance(value, dict):
        return {str(key): texts(item) for key, item in value.items()}
    return [texts(item) for item in value] if isinstance(value, list) else str(value)


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), TEXTS)
def test_snippets_are_yaml_of_the_same_texts(tmp_path_factory, classes, column):
    tasks, columns = task_snippets("feeling", classes, column)
    file = tmp_path_factory.mktemp("yaml") / "x.yml"
    file.write_text(f"tasks: {tasks}\ncolumns: {columns}\n", encoding="utf-8")
    problems = Problems()
    read = texts(read_yaml(file, "x.yml", problems).data)
    problems.raise_if_any()
    assert read == {
        "tasks": {"feeling": {"type": "classification", "classes": classes}},
        "columns": {"feeling": column},
    }


def told(labels, tasks=None, columns=None, **further) -> str:
    table = pd.DataFrame({"emotion": labels, **further}, dtype=object)
    return class_remedy(EMOTION, table, entry(columns=columns or {}), {**BUILTIN, **(tasks or {})})


def test_all_classes_are_named_and_the_column_of_the_data():
    found = told(["boredom", "anger", "", "boredom"], columns={"emotion": "felt as"})
    assert "To test all 2, declare" in found
    assert "`tasks: {feeling: {type: classification, classes: [anger, boredom]}}`" in found
    assert found.endswith("under corpora.calls `columns: {feeling: felt as}`")


def test_a_name_that_is_taken_is_not_proposed():
    other = Task("feeling", "classification", ("a", "b"))
    assert "`tasks: {felt: " in told(["boredom"], {"feeling": other})
    assert "`tasks: {own_emotion: " in told(["boredom"], {"feeling": other, "felt": other})


def test_a_task_that_has_all_of_them_is_named():
    whole = Task("mood", "classification", ("anger", "joy"))
    assert told(["joy", "anger"], {"mood": whole}, mood=["joy", "anger"]) == "The task mood has all of them"
    assert told(["joy", "anger"], {"mood": whole}, mood=["anger", "joy"]).endswith("{joy: happiness}}`")
    assert "declare a task" in told(["joy", "fear"], {"mood": whole}, mood=["joy", "fear"])


def test_a_declared_task_is_not_declared_again():
    mood = Task("mood", "classification", ("anger", "joy"))
    found = class_remedy(mood, pd.DataFrame({"mood": ["fear"]}), entry(), {"mood": mood})
    assert found == "Add them to `classes` of tasks.mood in the suite, or correct them"


@pytest.mark.parametrize("count", [MOST_CLASSES, MOST_CLASSES + 1])
def test_a_long_list_is_left_to_the_reader(count):
    found = told([f"word {n}" for n in range(count)])
    assert bool(re.search("classes: \\[word 0,", found)) == (count == MOST_CLASSES)


SIX = ["de", "en", "es", "fr", "it", "zh"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("de", "de"),
        ("deu", "de"),
        ("German", "de"),
        ("german", "de"),
        ("de-AT", "de"),
        ("en_US", "en"),
        ("zh-CN", "zh"),
        ("cmn", "zh"),
        (" it ", "it"),
        ("da", None),
        ("", None),
        ("??", None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_forms(name, expected):
    assert match_languages([name], SIX).tolist() == [expected]


def test_as_many_as_given():
    assert match_languages([], SIX).shape == (0,)
    assert match_languages(["en", "fra", "x"], ["fra"]).tolist() == [None, "fra", None]
