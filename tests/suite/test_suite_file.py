"""A suite is what is written, or every problem is told with line, key and remedy."""

import json
import os
import pickle
import re

import pytest
import yaml
from pages import example

from soundcheck.common import resources
from soundcheck.common.errors import InputError
from soundcheck.suite.suite_file import read_suite

GOOD = """\
title: T
corpora:
  demo: {format: demo}
models:
  guess: {random: gaussian}
families: all
"""


TITLE, FAMILIES, DEMO, GUESS = "title: T", "families: all", "{format: demo}", "{random: gaussian}"
CORPORA = "corpora:\n  demo: {format: demo}\n"


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Write and read a suite in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def read(text=GOOD, old="", new=""):
        assert old in text
        (tmp_path / "suite.yml").write_text(text.replace(old, new, 1) if old else text)
        return read_suite("suite.yml")

    return read


SHOWN = [
    ("suite", "All together"),
    ("suite", "Tasks of your own"),
    ("suite", "Thresholds of your own"),
    ("suite", "Hard bars"),
    ("suite", "Noises and rooms"),
    ("data", "Voices"),
    ("models", "Recognisers"),
    ("groups", "Groups"),
    ("measured_columns", "Measured columns"),
    ("history", "A history of runs"),
    ("answers", "Cached predictions"),
    ("pipelines", "Accepted failures"),
    ("cards", "What only people know"),
    ("methods/asr_formatting", "Data"),
    ("methods/asr_hallucination", "Speech in another language"),
]
CONTENTS = {"synonyms.csv": "phrase,synonym\ngonna,going to\n", "rooms.csv": "name\nBlue Room\n"}


@pytest.mark.parametrize(("page", "heading"), SHOWN)
def test_what_pages_show_is_a_suite(suite, tmp_path, monkeypatch, page, heading):
    """Missing are only files, which are made where the messages say."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = yaml.safe_dump(yaml.safe_load(GOOD) | yaml.safe_load(example(page, heading)), sort_keys=False)
    try:
        suite(text)
    except InputError as error:
        for problem in error.problems:
            found = re.search(
                r"^(?:'(.*)'|(.*)): the (file|folder) does not exist|'(.*)' means no", problem.what
            )
            assert found or problem.what == "the file does not exist", problem
            name = next(filter(None, found.group(1, 2, 4))) if found else problem.where
            place = tmp_path / os.path.expanduser(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            if found and found[3] == "folder":
                place.mkdir()
            else:
                place.write_text(CONTENTS.get(name, ""))
        assert suite(text)


def refused(suite, words, text=GOOD, old="", new=""):
    with pytest.raises(InputError, match=rf"(?s)^(?=suite\.yml line \d+).*{words}") as caught:
        suite(text, old, new)
    return [str(problem) for problem in caught.value.problems]


def test_defaults(suite, tmp_path):
    read = suite()
    assert (read.title, read.seed, read.replicates, read.interval) == ("T", 0, 1000, "t")
    assert (read.balance_samples, read.audio_limit, read.notebook_seconds) == (1000, 3600, 120)
    assert read.families == tuple(resources.names("thresholds", ".yml"))
    assert read.root == tmp_path and read.file == tmp_path / "suite.yml"
    corpus, model = read.corpora["demo"], read.models["guess"]
    assert (corpus.format, corpus.synthetic, corpus.blocks, corpus.title) == (
        "demo",
        True,
        ("speaker",),
        "demo",
    )
    assert (model.kind, model.target, model.tasks) == (
        "random",
        "gaussian",
        ("arousal", "dominance", "valence"),
    )
    assert model.time_limit == 30 and model.batch is None


def test_random_references_draw_for_declared_tasks_of_their_kind(suite):
    declared = (
        "tasks: {tension: {type: regression}, style: {type: classification, classes: [a, b]}}\nfamilies"
    )
    read = suite(GOOD, "families", declared)
    assert read.models["guess"].tasks == ("arousal", "dominance", "valence", "tension")
    read = suite(GOOD.replace(GUESS, "{random: categorical}"), "families", declared)
    assert read.models["guess"].tasks == ("emotion", "style")


@pytest.mark.parametrize(
    ("written", "ranges"),
    [
        ("[1, 7]", {"arousal": (1, 7), "valence": (1, 7)}),
        ("{valence: [-1, 1]}", {"valence": (-1, 1)}),
    ],
)
def test_scale_of_a_model(suite, written, ranges):
    model = f'{{python: "m:f", tasks: [arousal, valence, emotion], range: {written}}}'
    read = suite(old=GUESS, new=model)
    entry = read.models["guess"]
    assert entry.ranges == ranges and entry.options == {}
    assert entry.range_of(read.tasks["valence"]) == ranges["valence"]
    assert entry.range_of(read.tasks["dominance"]) == (0, 1)


def test_the_demo_suite():
    read = read_suite(resources.root() / "suite.yml")
    emotion = ["prosody", "prosody-biased", "random-gaussian", "random-categorical"]
    sphinx = ["sphinx-grammar", "sphinx-hurried", "sphinx-gated", "sphinx-words"]
    assert list(read.models) == [*emotion, *sphinx, "voiceprint"]
    parts = ["demo-texts", "demo-recordings", "demo-monologues", "demo-commands"]
    assert list(read.corpora) == ["demo", *parts]
    assert len(read.families) == len(list((resources.root() / "thresholds").glob("*.yml")))
    assert read.models["sphinx-hurried"].corpora == ("demo-commands",)
    assert read.normaliser == "basic"
    assert read.models["prosody"].target == "soundcheck_demo.models.prosody:predict"
    assert read.models["random-categorical"].tasks == ("emotion",)


def test_everything(suite, tmp_path):
    (tmp_path / "data" / "wav").mkdir(parents=True)
    (tmp_path / "data" / "segments.csv").touch()
    (tmp_path / "theirs.csv").touch()
    (tmp_path / "db").mkdir()
    read = suite(
        """\
seed: 7
replicates: 200
interval: expanded
tasks:
  stress: {type: regression, range: [1, 9]}
  intent: {type: classification, classes: [yes, no, 010]}
corpora:
  calls:
    format: csv
    path: data/segments.csv
    root: data/wav
    columns: {arousal: act, stress: s, conversation: call}
    blocks: conversation
    range: {arousal: [1, 7]}
    split: all
    title: Calls
    description: |
      Two
      lines
    synthetic: true
  db:
    {format: audformat, path: db, tables: [a, b], columns: {speaker: speaker.id, m: call}, range: [-1, 1],
     blocks: [m, speaker]}
models:
  mine: {python: "a.b:f", tasks: [stress, intent], batch: 8, license: MIT, description: D, time_limit: 2.5}
  theirs: {predictions: theirs.csv, tasks: [arousal]}
families: [fairness_sex, correctness_regression]
limits:
  {audio_seconds: 10, notebook_seconds: 20, model_seconds: 1.5, transformed_segments: 300,
   segments_per_change: 40, levels: 3, transformations: {asr_robustness: [Noise]}}
balance: {samples: 50}
"""
    )
    calls, db = read.corpora.values()
    assert calls.path == tmp_path / "data/segments.csv" and calls.shown_path == "data/segments.csv"
    assert calls.root == tmp_path / "data/wav"
    assert calls.columns == {"arousal": "act", "stress": "s", "conversation": "call"}
    assert (calls.blocks, calls.split, calls.synthetic) == (("conversation",), ("all",), True)
    assert read.describe()["corpora"]["calls"]["blocks"] == "conversation"
    assert read.describe()["corpora"]["calls"]["split"] == "all"
    assert calls.ranges == {"arousal": (1, 7)}
    assert db.ranges == dict.fromkeys(("arousal", "dominance", "valence", "stress"), (-1, 1))
    assert db.blocks == ("m", "speaker")
    assert read.describe()["corpora"]["db"]["blocks"] == ["m", "speaker"]
    assert db.tables == ("a", "b") and db.path == tmp_path / "db" and db.root is None
    assert read.tasks["stress"].high == 9
    assert read.tasks["intent"].classes == ("yes", "no", "010")
    mine, theirs = read.models.values()
    assert (mine.batch, mine.license, mine.time_limit) == (8, "MIT", 2.5)
    assert theirs.path == tmp_path / "theirs.csv" and theirs.time_limit == 1.5
    assert read.families == ("fairness_sex", "correctness_regression")
    assert (read.audio_limit, read.notebook_seconds, read.balance_samples) == (10, 20, 50)
    assert (read.transformed_segments, read.segments_per_change, read.levels) == (300, 40, 3)
    assert read.transformations == {"asr_robustness": ("Noise",)}
    assert pickle.loads(pickle.dumps(read)) == read
    described = json.dumps(read.describe())
    assert str(tmp_path) not in described
    assert read.describe()["corpora"]["calls"]["path"] == "data/segments.csv"


def test_absolute_paths_are_not_described(suite, tmp_path):
    (tmp_path / "p.csv").touch()
    text = GOOD.replace(GUESS, f"{{predictions: {tmp_path}/p.csv, tasks: [arousal]}}")
    read = suite(text)
    assert read.models["guess"].path == tmp_path / "p.csv"
    assert read.describe()["models"]["guess"]["target"] == "…/p.csv"
    assert str(tmp_path) not in json.dumps(read.describe())


def test_home_is_expanded(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "s.csv").touch()
    entry = suite(GOOD, DEMO, "{format: csv, path: ~/s.csv}").corpora["demo"]
    assert entry.path == tmp_path / "home/s.csv" and entry.shown_path == "~/s.csv"
    assert entry.root is None  # files are relative to the table


def test_awkward_folder(tmp_path, monkeypatch):
    folder = tmp_path / 'it\'s a "däta" $HOME folder'
    folder.mkdir()
    (folder / "suite.yml").write_text(GOOD.replace(DEMO, "{format: csv, path: $a.csv}"))
    (folder / "$a.csv").touch()
    assert read_suite(folder / "suite.yml").corpora["demo"].path == folder / "$a.csv"


@pytest.mark.parametrize(
    "name", ["no", "010", "1.10", "1:30", "true", "null", "../x", "'a  b'", "<b>x</b>", "日本"]
)
def test_names_are_text_as_written(suite, name):
    assert list(suite(GOOD, "guess", name).models) == [name.strip("'")]
    assert list(suite(GOOD, "demo:", f"{name}:").corpora) == [name.strip("'")]


def test_names_that_differ_in_case_are_two_models(suite):
    read = suite(GOOD, "families", "  Guess: {random: gaussian}\nfamilies")
    assert list(read.models) == ["guess", "Guess"]


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("\u00e9", "e\u0301", ("'\u00e9'", "'e\\u0301'")),
        ("ab", "a\u200cb", ("'ab'", "'a\\u200cb'")),
        ("a  b", "'a  b '", ("'a\\u0020\\u0020b'", "'a\\u0020\\u0020b\\u0020'")),
        ("ab", "'ab '", ("'ab'", "'ab\\u0020'")),
        ("\u6a21", "'\u6a21\u2060'", ("'\u6a21'", "'\u6a21\\u2060'")),
    ],
)
def test_names_that_look_the_same_are_refused(suite, one, other, shown):
    words = " and ".join(map(re.escape, shown)) + " look the same. Give them names"
    refused(
        suite,
        words,
        GOOD,
        "families",
        f"  {one}: {{random: gaussian}}\n  {other}: {{random: gaussian}}\nfamilies",
    )


@pytest.mark.parametrize("name", ['""', '"  "', '"a\\nb"', "x" * 81, "'\u200b'"])
def test_names_refused(suite, name):
    refused(suite, r"models.*the name (is blank|has)", GOOD, "guess", name)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (TITLE, "titel: T", r"line 1, titel: unknown key. Did you mean 'title'\?"),
        (TITLE, "title: [a]", "title: must be text, not a list"),
        (TITLE, "title:", "title: the value is empty"),
        (TITLE, "handbook: javascript:alert(1)", "handbook: 'javascript:alert.1.' is no web address"),
        (TITLE, "handbook: https://e.org/a b", "is no web address. Write one such as https://example.org/"),
        (TITLE, "handbook: 'https://e.org/\">'", "is no web address"),
        (TITLE, "seed: true", "seed: 'true' is not a whole number"),
        (TITLE, "seed: 1.5", "seed: '1.5' is not a whole number"),
        (TITLE, "seed: '1'", "seed: '1' is not a whole number.*without quotes"),
        (TITLE, "seed: 010", "seed: '010' is not a whole number.*leading zeros"),
        (TITLE, "seed: 1:30", "seed: '1:30' is not a whole number"),
        (TITLE, "seed: -1", "seed: '-1' is out of range. Give a whole number from 0"),
        (TITLE, "seed: 1_0", "seed: '1_0' is not a whole number"),
        (TITLE, "seed:", "seed: the value is empty. Write one such as 100"),
        (TITLE, "replicates: 0", "replicates: '0' is out of range. Give a whole number from 100 to 100000"),
        (TITLE, "replicates: 1e3", "replicates: '1e3' is not a whole number"),
        (TITLE, "replicates: 1000000", "replicates: '1000000' is out of range"),
        (
            TITLE,
            "interval: percentil",
            r"interval: 'percentil' is not known here. Did you mean 'percentile'\?",
        ),
        (
            TITLE,
            "limits: {audio_seconds: 1,5}",
            "limits.5: unknown key",
        ),
        (TITLE, "limits: {audio_seconds: 0}", "limits.audio_seconds: '0' is not above 0"),
        (TITLE, "limits: {audio: 1}", r"limits.audio: unknown key. Did you mean 'audio_seconds'\?"),
        (
            TITLE,
            "limits: {transformed_segments: all}",
            "limits.transformed_segments: 'all' is not a whole number",
        ),
        (TITLE, "limits: {transformed_segments: 0}", "limits.transformed_segments: '0' is out of range"),
        (TITLE, "limits: 5", "limits: '5' is not a mapping. Write key: value lines"),
        (TITLE, "balance: {samples: 0}", "balance.samples: '0' is out of range"),
        # families
        (FAMILIES, "", "families: the key is missing. Write families: all"),
        (FAMILIES, "families:", "families: no family is named"),
        (FAMILIES, "families: []", "families: no family is named"),
        (FAMILIES, "families: fairness_sex", r"neither all nor a list. Write \[fairness_sex\]"),
        (FAMILIES, "families: [fairness_sx]", r"families item 1: unknown family 'fairness_sx'. Did you mean"),
        (FAMILIES, "families: [fairness_sex, fairness_sex]", "duplicate 'fairness_sex'"),
        (FAMILIES, "families: [[a]]", "unknown family a list"),
        # tasks
        (TITLE, "tasks: {arousal: {type: regression}}", "tasks.arousal: this task is built in"),
        (TITLE, "tasks: {speaker: {type: regression}}", "tasks.speaker: .*cannot be the name of a task"),
        (TITLE, "tasks: {regression: {type: regression}}", "cannot be the name of a task"),
        (TITLE, "tasks: {pitch: {type: regression}}", "cannot be the name of a task"),
        (TITLE, "tasks: {category: {type: regression}}", "cannot be the name of a task"),
        (TITLE, "tasks: {transcription: {type: regression}}", "cannot be the name of a task"),
        (TITLE, "tasks: {x: {type: regresion}}", r"tasks.x.type: .*Did you mean 'regression'\?"),
        (TITLE, "tasks: {x: {type: classification}}", "tasks.x.classes: fewer than 2 classes"),
        (TITLE, "tasks: {x: {type: classification, classes: [a, a, b]}}", "duplicate 'a'"),
        (TITLE, "tasks: {x: {type: regression, range: [7, 7]}}", "tasks.x.range: .*both ends are 7"),
        (TITLE, "tasks: {x: {type: regression, classes: [a, b]}}", "a regression task has no classes"),
        # corpora
        (DEMO, "{}", "line 3, corpora.demo.format: the key is missing"),
        (DEMO, "", "corpora.demo: the value is empty. Write key: value lines"),
        (
            DEMO,
            "{format: excel}",
            r"format: 'excel' is not known here.*Allowed: audformat, .*demo",
        ),
        (DEMO, "{formt: demo}", r"corpora.demo.formt: unknown key. Did you mean 'format'\?"),
        (DEMO, "{format: demo, path: x}", "path: format demo does not take this key"),
        (DEMO, "{format: demo, size: tiny}", "size: 'tiny' is not known here"),
        (DEMO, "{format: csv}", "path: the key is missing"),
        (DEMO, "{format: csv, path: file.csv, tables: [a]}", "tables: format csv does not take this key"),
        (DEMO, "{format: csv, path: file.csv, blocks: }", r"corpora.demo.blocks: the value is empty"),
        (DEMO, "{format: csv, path: file.csv, blocks: []}", r"demo.blocks: the list is empty. Write \[first"),
        (DEMO, "{format: csv, path: file.csv, blocks: {a: b}}", "blocks: must be text, not a mapping"),
        (DEMO, "{format: csv, path: file.csv, blocks: [a, a]}", "demo.blocks: duplicate 'a'"),
        (
            DEMO,
            "{format: csv, path: fil.csv}",
            r"'fil.csv': the file does not exist \(taken relative to the "
            r"folder of suite.yml\). Did you mean 'file.csv'\?",
        ),
        (DEMO, "{format: csv, path: folder}", "'folder': this is a folder, not a file"),
        (DEMO, "{format: csv, path: db}", "It holds an audformat database"),
        (DEMO, "{format: csv, path: pipe}", "'pipe': this is not a regular file"),
        (DEMO, "{format: csv, path: $HOME/x.csv}", "environment variables are not expanded"),
        (DEMO, '{format: csv, path: "${DATA}/x.csv"}', "environment variables are not expanded"),
        (DEMO, "{format: audformat, path: file.csv}", "'file.csv': this is a file, not a folder"),
        (DEMO, "{format: audformat, path: nowhere}", "the folder does not exist"),
        (DEMO, "{format: csv, path: file.csv, root: rot}", "root: 'rot': the folder does not exist"),
        (
            DEMO,
            "{format: csv, path: file.csv, columns: {speker: x}}",
            r"columns.speker: unknown column.*"
            r"Did you mean 'speaker'\?",
        ),
        (DEMO, "{format: csv, path: file.csv, columns: [a]}", "columns: a list is not a mapping"),
        (DEMO, "{format: csv, path: file.csv, range: [1]}", "range: a list is not a pair of numbers"),
        (DEMO, "{format: csv, path: file.csv, range: {emotion: [0, 1]}}", "range.emotion: not a regression"),
        (DEMO, "{format: csv, path: file.csv, synthetic: yes}", "Write true or false"),
        (CORPORA, "", "corpora: the key is missing"),
        (CORPORA, "corpora: {}\n", "corpora: the section is empty"),
        (CORPORA, "corpora: [demo]\n", "corpora: a list is not a mapping of names"),
        # models
        (
            GUESS,
            "{}",
            "models.guess: it does not say what the model is. Add one of: command, .*predictions",
        ),
        (GUESS, "x", "models.guess: 'x' is not a mapping"),
        (GUESS, "{random: gausian}", r"unknown random model 'gausian'. Did you mean 'gaussian'\?"),
        (GUESS, "{random: gaussian, tasks: [emotion]}", "does not predict 'emotion'"),
        (
            GUESS,
            "{random: gaussian, task: [arousal]}",
            r"line 5, models.guess.task: unknown key. "
            r"Did you mean 'tasks'\? Allowed: ",
        ),
        (GUESS, "{random: gaussian, python: 'a:b'}", "two kinds of model: python and random"),
        (
            GUESS,
            "{onnx: m.onnx, tasks: [arousal]}",
            r"models.guess.onnx: 'm.onnx': the file does not exist",
        ),
        (GUESS, "{onnx: file.csv, tasks: [transcript]}", "numbers, not a transcript. Use onnx-asr: folder"),
        (GUESS, "{onnx: file.csv, outputs: [arousal]}", "outputs: a list does not say what outputs are"),
        (GUESS, "{onnx: file.csv, outputs: {x: [[a]]}}", "not say what the numbers of 'x' are"),
        (GUESS, "{onnx: file.csv, labels: {a: [b]}}", "labels.a: must be text, not a list"),
        (GUESS, "{onnx: file.csv, pieces: often}", "'often' is not known here. Allowed: repeat, zeros"),
        (GUESS, "{onnx: file.csv, device: tpu}", "'tpu' is not known here. .*Allowed: cpu, cuda"),
        (GUESS, "{onnx: file.csv, sampling_rate: 0}", "sampling_rate: '0' is out of range"),
        (GUESS, "{onnx-asr: istupakov/parakeet}", "the folder does not exist.*Download it first: hugg"),
        (GUESS, "{onnx-asr: file.csv}", "this is a file, not a folder"),
        (
            GUESS,
            "{onnx-asr: folder, tasks: [emotion]}",
            r"a recogniser answers a transcript. Write tasks: \[tr",
        ),
        (GUESS, "{onnx-asr: folder, architecture: parakeet}", "architecture: 'parakeet' is not known here"),
        (GUESS, "{onnx-asr: folder, quantization: ../x}", "'../x' is no part of a file's name"),
        (GUESS, "{command: 'asr', tasks: [arousal]}", "command: {audio} does not occur .*or stays: true"),
        (GUESS, "{command: 'asr {audio}', stays: true}", "command: {audio} occurs .*Remove {audio}"),
        (GUESS, "{command: 'asr {audio}', stays: maybe}", "stays: 'maybe' is neither true nor false"),
        (GUESS, "{endpoint: 'http://a/b', tasks: [arousal]}", "recogniser answers a transcript. Write tasks"),
        (GUESS, "{endpoint: 'http://a/b', batch: 4}", "batch: a request has one recording. Write requests"),
        (GUESS, "{endpoint: 'http://a/b', requests: 0}", "requests: '0' is out of range"),
        (GUESS, "{endpoint: 'http://a/b', key: sk-1}", "key: this is not the name of an environment"),
        (GUESS, "{endpoint: 'ftp://a/b'}", "endpoint: 'ftp://a/b' does not begin with http"),
        (GUESS, "{command: 'asr audio.wav'}", r"command: \{audio\} does not occur in 'asr audio.wav'. Write"),
        (GUESS, "{command: '{audio} x'}", "command: {audio} is in the place of the program"),
        (GUESS, """{command: "asr 'x {audio}"}""", "a quotation mark is not closed. Close it"),
        (GUESS, "{command: 'asr {audio} \\'}", "cannot be split: it ends with a backslash"),
        (GUESS, """{command: '""  {audio}'}""", "names no program. Write program and arguments"),
        (GUESS, "{command: ' '}", "command: the text is blank"),
        (GUESS, "{command: }", "command: the value is empty"),
        (GUESS, "{python: 'a.b', tasks: [arousal]}", "python: 'a.b' has no colon. Write module:function"),
        (GUESS, "{python: 'a:', tasks: [arousal]}", "python: 'a:' names no function"),
        (GUESS, "{python: 'a.b:c'}", "models.guess.tasks: the key is missing. Name what it predicts"),
        (GUESS, "{python: 'a.b:c', tasks: []}", "tasks: no task is named"),
        (GUESS, "{python: 'a.b:c', tasks: arousal}", r"'arousal' is not a list. Write \[first"),
        (GUESS, "{python: 'a.b:c', tasks: [arusal]}", r"tasks item 1: unknown task 'arusal'. Did you"),
        (GUESS, "{python: 'a.b:c', tasks: [valence, valence]}", "duplicate 'valence'"),
        (GUESS, "{random: gaussian, range: [1, 7]}", "models.guess.range: random models need no scale"),
        (GUESS, '{python: "m:f", tasks: [emotion], range: [1, 7]}', "range: the model predicts no number"),
        (GUESS, '{python: "m:f", tasks: [arousal], range: [7, 7]}', "range: .*both ends are 7"),
        (GUESS, '{python: "m:f", tasks: [arousal], range: 7}', "range: '7' is not a pair of numbers"),
        (
            GUESS,
            '{python: "m:f", tasks: [arousal], range: {arousl: [1, 7]}}',
            "range.arousl: not a regression task. Did you mean 'arousal'",
        ),
        (GUESS, "{random: gaussian, batch: 0}", "batch: '0' is out of range"),
        (GUESS, "{random: gaussian, batch: 4.0}", "batch: '4.0' is not a whole number"),
        (GUESS, "{random: gaussian, time_limit: 05.5}", "time_limit: '05.5' is not a number"),
        (GUESS, "{predictions: fil.csv, tasks: [arousal]}", r"predictions: 'fil.csv': .*'file.csv'\?"),
        (GUESS, "{predictions: folder, tasks: [arousal]}", "this is a folder, not a file"),
        ("families", "  guess: {random: categorical}\nfamilies", "models.guess: .*on line 5 and line 6"),
    ],
)
def test_refused(suite, tmp_path, old, new, words):
    (tmp_path / "file.csv").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "db.yaml").touch()
    os.mkfifo(tmp_path / "pipe")
    assert len(refused(suite, words, GOOD, old, new)) == 1  # and no follow-up


def test_all_problems_at_once(suite):
    text = """\
titel: x
seed: 010
seed: 1
corpora: {a: {format: csv, path: no.csv, colums: {}}, b: {format: cvs}}
models: {m: {python: nocolon, tasks: [x], batch: -1}, n: {random: no}}
families: [nothing]
"""
    problems = "\n".join(refused(suite, "", text))
    places = ["titel", "seed: '010'", "seed: duplicate key", "a.path", "a.colums", "b.format"]
    places += ["m.batch", "n.random", "families item 1"]
    assert [place for place in places if place not in problems] == []


def test_empty_and_missing(suite, tmp_path):
    refused(suite, "the file is empty", "\n")
    with pytest.raises(InputError, match=r"^suit.yml: the file does not exist. Did you mean 'suite.yml'\?$"):
        read_suite("suit.yml")
    with pytest.raises(InputError, match=r"this is a folder, not a file. Did you mean '.*suite.yml'\?"):
        read_suite(tmp_path)


def test_a_family_of_ones_own(suite, tmp_path):
    (tmp_path / "thresholds").mkdir()
    (tmp_path / "thresholds/mine.yml").touch()
    assert "mine" in suite().families
    assert suite(GOOD, "all", "[mine]").families == ("mine",)


def test_hostile_names_do_not_reach_the_terminal(suite):
    (problem,) = refused(suite, "", GOOD, "families", "'\u202e\u200b<b>x': 1\nfamilies")
    assert "\u202e" not in problem


TWO = GOOD.replace("models:\n", "models:\n  other: {random: gaussian}\n  words: {random: categorical}\n")


def test_comparisons(suite):
    read = suite(TWO, "families:", "comparisons: {up: {baseline: guess, candidate: other}}\nfamilies:")
    assert read.comparisons["up"].baseline == "guess"
    assert read.thresholds == "published"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{up: {baseline: gues, candidate: other}}", ["comparisons.up.baseline", "gues", "guess"]),
        ("{up: {baseline: guess}}", ["comparisons.up", "candidate"]),
        ("{up: {baseline: guess, candidate: guess}}", ["compared with itself"]),
        ("{up: {baseline: guess, candidate: other, extra: 1}}", ["extra"]),
        ("[guess, other]", ["comparisons", "name"]),
        ("{up: {baseline: guess, candidate: words}}", ["comparisons.up", "share no task"]),
        (
            "{a: {baseline: guess, candidate: other}, b: {baseline: guess, candidate: other}}",
            ["duplicate comparison of 'guess' and 'other'. Keep one"],
        ),
    ],
)
def test_comparisons_refused(suite, text, words):
    with pytest.raises(InputError) as error:
        suite(TWO, "families:", f"comparisons: {text}\nfamilies:")
    for word in words:
        assert word in str(error.value)


def test_thresholds_are_published_or_simulated(suite):
    assert suite(GOOD, "families:", "thresholds: simulated\nfamilies:").thresholds == "simulated"
    with pytest.raises(InputError, match="simulated"):
        suite(GOOD, "families:", "thresholds: simulatd\nfamilies:")


def test_sounds(suite, tmp_path):
    (tmp_path / "musan").mkdir()
    text = "sounds:\n  noise: musan\n  rooms: {path: musan, base: hall}\n"
    text += "  coughing: {path: musan, where: {a: b}}\n"
    read = suite(GOOD, "families:", f"{text}sweeps: false\nfamilies:")
    assert read.sounds["noise"].path == tmp_path / "musan" and read.sounds["noise"].shown_path == "musan"
    assert read.sounds["rooms"].base == "hall" and read.sounds["coughing"].where == {"a": "b"}
    assert not read.sweeps and suite().sweeps and suite().sounds == {}
    assert str(tmp_path) not in str(read.describe())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{noises: x}", "sounds.noises: unknown kind of sound 'noises'. Did you mean 'noise'"),
        ("{music: nowhere}", "sounds.music: 'nowhere': the folder does not exist"),
        ("{music: suite.yml}", "sounds.music: 'suite.yml': this is a file, not a folder"),
        ("{music: {folder: x}}", "sounds.music.folder: unknown key"),
        (
            "{music: {path: ., base: hall}}",
            "music takes no base. Remove it. It belongs to positions and rooms",
        ),
        ("{music: {path: ., where: {a: b, c: d}}}", "more than one column is named"),
        ("[music]", "sounds: a list is not a mapping of names"),
    ],
)
def test_sounds_refused(suite, text, words):
    with pytest.raises(InputError) as caught:
        suite(GOOD, "families:", f"sounds: {text}\nfamilies:")
    assert words in str(caught.value)


def test_families_of_a_corpus_and_of_a_model(suite):
    read = suite(GOOD, DEMO, "{format: demo, families: [fairness_sex], base_condition: near}")
    assert read.corpora["demo"].is_for("fairness_sex") and not read.corpora["demo"].is_for("fairness_accent")
    assert read.corpora["demo"].base_condition == "near"
    read = suite(GOOD, GUESS, "{random: gaussian, families: [fairness_sex]}")
    assert not read.models["guess"].is_for("robustness_spectral_tilt")
    refused(
        suite,
        "families item 1: unknown family 'fairness_sexes'",
        GOOD,
        DEMO,
        "{format: demo, families: [fairness_sexes]}",
    )
    refused(suite, "families item 1: unknown family 'x'", GOOD, GUESS, "{random: gaussian, families: [x]}")


def test_trials_of_a_corpus(suite, tmp_path):
    for name in ("segments.csv", "trials.txt", "models.txt"):
        (tmp_path / name).touch()
    text = "{format: csv, path: segments.csv, trials: trials.txt, enrolments: models.txt}"
    read = suite(GOOD, DEMO, text)
    corpus = read.corpora["demo"]
    assert (corpus.trials, corpus.enrolments) == (tmp_path / "trials.txt", tmp_path / "models.txt")
    assert corpus.lists_trials and corpus.audio
    assert read.describe()["corpora"]["demo"]["trials"] == "trials.txt"
    assert str(tmp_path) not in str(read.describe())
    corpus = suite(GOOD, DEMO, "{format: trials, path: trials.txt, root: ., audio: false}").corpora["demo"]
    assert (corpus.trials, corpus.root, corpus.audio) == (tmp_path / "trials.txt", tmp_path, False)
    assert not suite().corpora["demo"].lists_trials
    assert corpus.layout == ""
    corpus = suite(GOOD, DEMO, "{format: trials, path: trials.txt, layout: kaldi}").corpora["demo"]
    assert corpus.layout == "kaldi"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{format: csv, path: a.csv, trials: gone.txt}", "corpora.demo.trials: 'gone.txt'.*does not exist"),
        ("{format: csv, path: a.csv, enrolments: a.csv}", "enrolments: there is no list of trials"),
        ("{format: trials, path: a.csv, columns: {file: x}}", "columns: format trials does not take this"),
        ("{format: trials}", "corpora.demo.path"),
        ("{format: csv, path: a.csv, layout: kaldi}", "layout: there is no list of trials. Add trials: file"),
        (
            "{format: trials, path: a.csv, layout: nista}",
            "layout: .*nista.*Did you mean 'nist'.*Allowed: voxceleb",
        ),
        ("{format: demo, layout: nist}", "layout: format demo does not take this key"),
    ],
)
def test_trials_refused(suite, tmp_path, text, words):
    (tmp_path / "a.csv").touch()
    refused(suite, words, GOOD, DEMO, text)


def test_scores_are_for_lists_of_trials(suite, tmp_path):
    for name in ("trials.txt", "scores.txt"):
        (tmp_path / name).touch()
    text = GOOD.replace(CORPORA, f"{CORPORA}  silent: {{format: trials, path: trials.txt, audio: false}}\n")
    read = suite(text, GUESS, "{scores: scores.txt}")
    scores, (demo, silent) = read.models["guess"], read.corpora.values()
    assert scores.tasks == ("embedding",) and scores.path == tmp_path / "scores.txt"
    assert not scores.about.needs_audio and not scores.predicts_changes
    assert scores.listens_to(silent) and not scores.listens_to(demo)
    listener = suite(text, GUESS, '{python: "a:b", tasks: [embedding]}').models["guess"]
    assert listener.listens_to(demo) and not listener.listens_to(silent)
    table = suite(text, GUESS, "{predictions: scores.txt, tasks: [embedding]}").models["guess"]
    assert table.listens_to(demo) and table.listens_to(silent)
    turned = suite(text, GUESS, "{scores: scores.txt, distances: true}").models["guess"]
    assert turned.options == {"distances": True} and scores.options == {"distances": False}
    refused(
        suite,
        "distances: kind random does not take this key. Remove it. Allowed: tasks",
        text,
        GUESS,
        "{random: gaussian, distances: true}",
    )
    refused(suite, "scores of trials are all", text, GUESS, "{scores: scores.txt, tasks: [arousal]}")


@pytest.mark.parametrize("task", ["embedding", "transcript", "arousal"])
def test_random_classes_are_for_classes_only(suite, task):
    words = f"random: categorical does not predict '{task}'"
    refused(suite, words, GOOD, GUESS, f"{{random: categorical, tasks: [{task}]}}")


def test_models_that_listen_need_a_corpus_with_audio(suite, tmp_path):
    (tmp_path / "a.csv").touch()
    silent = "{format: csv, path: a.csv, audio: false}"
    text = GOOD.replace(CORPORA, f"{CORPORA}  silent: {silent}\n")
    assert suite(text, GUESS, '{python: "a:b", tasks: [arousal]}')
    words = "models.guess: the model listens, and none of its corpora has audio. Give its answers instead"
    refused(suite, words, text, GUESS, '{python: "a:b", tasks: [arousal], corpora: [silent]}')
    assert suite(GOOD, DEMO, silent).models["guess"].kind == "random"  # which needs no sound


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("{emotion: {angry: anger}}", ""),
        (
            "{emotion: {angry: angr}}",
            "values.emotion.angry: 'angr' is no class of emotion. Did you mean 'anger'",
        ),
        ("{arousal: {high: anger}}", "Name a task with classes that the model answers"),
    ],
)
def test_a_model_says_which_class_its_words_mean(suite, values, words):
    text = GOOD.replace(GUESS, f'{{python: "m:f", tasks: [emotion], values: {values}}}')
    if words:
        refused(suite, words, text)
    else:
        assert suite(text).models["guess"].values == {"emotion": {"angry": "anger"}}
