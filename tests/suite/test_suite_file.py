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


TWO = GOOD.replace("models:\n", "models:\n  other: {random: gaussian}\n  words: {random: categorical}\n")


def test_comparisons(suite):
    read = suite(TWO, "families:", "comparisons: {up: {baseline: guess, candidate: other}}\nfamilies:")
    assert read.comparisons["up"].baseline == "guess"
    assert read.thresholds == "published"


def test_sounds(suite, tmp_path):
    (tmp_path / "musan").mkdir()
    text = "sounds:\n  noise: musan\n  rooms: {path: musan, base: hall}\n"
    text += "  coughing: {path: musan, where: {a: b}}\n"
    read = suite(GOOD, "families:", f"{text}sweeps: false\nfamilies:")
    assert read.sounds["noise"].path == tmp_path / "musan" and read.sounds["noise"].shown_path == "musan"
    assert read.sounds["rooms"].base == "hall" and read.sounds["coughing"].where == {"a": "b"}
    assert not read.sweeps and suite().sweeps and suite().sounds == {}
    assert str(tmp_path) not in str(read.describe())


def test_families_of_a_corpus_and_of_a_model(suite):
    read = suite(GOOD, DEMO, "{format: demo, families: [fairness_sex], base_condition: near}")
    assert read.corpora["demo"].is_for("fairness_sex") and not read.corpora["demo"].is_for("fairness_accent")
    assert read.corpora["demo"].base_condition == "near"
    read = suite(GOOD, GUESS, "{random: gaussian, families: [fairness_sex]}")
    assert not read.models["guess"].is_for("robustness_spectral_tilt")
    read = suite(GOOD, GUESS, '{python: "m:f", tasks: [emotion], values: {emotion: {angry: anger}}}')
    assert read.models["guess"].values == {"emotion": {"angry": "anger"}}


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


def test_models_that_listen_need_a_corpus_with_audio(suite, tmp_path):
    (tmp_path / "a.csv").touch()
    silent = "{format: csv, path: a.csv, audio: false}"
    text = GOOD.replace(CORPORA, f"{CORPORA}  silent: {silent}\n")
    assert suite(text, GUESS, '{python: "a:b", tasks: [arousal]}')
    words = "models.guess: the model listens, and none of its corpora has audio. Give its answers instead"
    refused(suite, words, text, GUESS, '{python: "a:b", tasks: [arousal], corpora: [silent]}')
    assert suite(GOOD, DEMO, silent).models["guess"].kind == "random"  # which needs no sound
