"""Suites and threshold files are what is written, as ``read.yml`` says, or else ``refused.yml``."""

import json
import os
import pickle
import re
from pathlib import Path

import pytest
import yaml
from pages import PAGES, example

from soundcheck.common import resources
from soundcheck.common.messages import InputError
from soundcheck.suite.corpus_format import CORPUS_FORMATS
from soundcheck.suite.entries import MODEL_KINDS
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

TABLE = yaml.safe_load(Path(__file__).with_name("read.yml").read_text("utf-8"))
GOOD = TABLE["base"] + "families: all\n"
DEMO, GUESS = "{format: demo}", "{random: gaussian}"


@pytest.fixture
def suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(text=GOOD, old="", new=""):
        assert old in text
        (tmp_path / "suite.yml").write_text(text.replace(old, new, 1) if old else text)
        return read_suite("suite.yml")

    return read


def as_written(value, expected, root):
    """Give a value as YAML has it; of an object only what is expected."""
    if isinstance(expected, dict) and not isinstance(value, dict):
        return {name: as_written(getattr(value, name), wanted, root) for name, wanted in expected.items()}
    if isinstance(value, dict):
        return {name: as_written(item, (expected or {}).get(name), root) for name, item in value.items()}
    if isinstance(value, tuple | list):
        wanted = [*(expected or ()), *[None] * len(value)]
        return [as_written(one, other, root) for one, other in zip(value, wanted, strict=False)]
    return value.relative_to(root).as_posix() if isinstance(value, Path) else value


def part_of(described, expected):
    if isinstance(expected, dict):
        return {name: part_of(described[name], part) for name, part in expected.items()}
    if isinstance(expected, list):
        return [part_of(one, other) for one, other in zip(described, expected, strict=True)]
    return described


@pytest.mark.parametrize("name", TABLE["rows"])
def test_what_is_written_is_read(suite, tmp_path, name):
    row = TABLE["rows"][name]
    for file, content in row.get("files", {}).items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(content, encoding="utf-8")
    text = row.get("suite") or f"{TABLE['base']}{row['write']}\n"
    read = suite(text, *row.get("replace", ()))
    assert as_written(read, row["gives"], tmp_path) == row["gives"]
    assert part_of(read.describe(), row.get("describes", {})) == row.get("describes", {})
    assert str(tmp_path) not in json.dumps(read.describe())
    assert pickle.loads(pickle.dumps(read)) == read


_CASES = Path(__file__).with_name("refused.yml").read_text("utf-8")
REFUSED = yaml.load(_CASES, yaml.CSafeLoader)  # they are many


def family_of(name, folder):
    row = TABLE["families"][name]
    text, (old, new) = REFUSED["families"][row["of"]]["text"], row.get("replace", ("", ""))
    assert old in text
    (folder / "thresholds").mkdir(exist_ok=True)
    (folder / "thresholds" / "mine.yml").write_text(text.replace(old, new) if old else text)
    return read_family("mine", folder)


@pytest.mark.parametrize("name", TABLE["families"])
def test_what_threshold_files_say_is_read(tmp_path, name):
    """Files that mean the same have the same digest, other files another."""
    row, family = TABLE["families"][name], family_of(name, tmp_path)
    assert as_written(family, row["gives"], tmp_path) == row["gives"]
    digests = {family_of(other, tmp_path).digest for other in TABLE["families"]}
    same = sum("same" in other for other in TABLE["families"].values())
    assert len(digests) == len(TABLE["families"]) - same
    assert family.digest == family_of(row.get("same", name), tmp_path).digest


OF_SUITES = ("All together", "Tasks of your own", "Thresholds of your own", "Noises and rooms")
SHOWN = [  # pages and headings
    *(("suite", heading) for heading in OF_SUITES),
    *(("models", "Recognisers"), ("groups", "Groups")),
    ("models", "Predictions that you have already"),
    *(("models", "Transformers"), ("models", "onnx-asr")),
    *(("models", "ONNX", "yaml", number) for number in range(3)),
    *(("measured_columns", "Measured columns"), ("history", "A history of runs")),
    *(("answers", "Cached predictions"), ("pipelines", "Hard bars"), ("pipelines", "Accepted failures")),
    *(("cards", "What only people know"), ("methods/asr_formatting", "Data")),
    ("methods/asr_hallucination", "Speech in another language"),
]
DATA = re.findall(r"^```yaml\n(.*?)^```", PAGES.joinpath("data.md").read_text("utf-8"), re.M | re.S)
CONTENTS = {"synonyms.csv": "phrase,synonym\ngonna,going to\n", "rooms.csv": "name\nBlue Room\n"}


@pytest.mark.parametrize("block", [*(example(*place) for place in SHOWN), *DATA], ids=lambda text: text[:20])
def test_what_pages_show_is_a_suite(suite, tmp_path, monkeypatch, block):
    """Missing are only files, which are made where the messages say."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = yaml.safe_dump(yaml.safe_load(GOOD) | yaml.safe_load(block), sort_keys=False)
    missing = r"^(?:'(.*)'|(.*)): the (file|folder) does not exist|'(.*)' means no"
    try:
        suite(text)
    except InputError as error:
        for problem in error.problems:
            match = re.search(missing, problem.what)
            assert match or problem.what == "the file does not exist", problem
            name = next(filter(None, match.group(1, 2, 4))) if match else problem.where
            place = tmp_path / os.path.expanduser(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            if match and match[3] == "folder":
                place.mkdir()
            else:
                place.write_text(CONTENTS.get(name, ""))
        assert suite(text)


def test_paths_outside_of_the_suite(suite, tmp_path, monkeypatch):
    """Absolute ones are not described, that of the home folder is expanded, dollars mean themselves."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / 'it\'s a "däta" $HOME folder'
    for place in (tmp_path / "p.csv", tmp_path / "home/s.csv", folder / "$a.csv"):
        place.parent.mkdir(exist_ok=True)
        place.touch()
    text = GOOD.replace(GUESS, f"{{predictions: {tmp_path}/p.csv, tasks: [arousal]}}")
    read = suite(text, DEMO, f"{{format: csv, path: ~/s.csv, cut: {tmp_path}, root: {tmp_path}}}")
    assert read.models["guess"].path == tmp_path / "p.csv"
    entry = read.corpora["demo"]
    assert (entry.path, entry.shown_path) == (tmp_path / "home/s.csv", "~/s.csv")
    described = read.describe()
    assert described["models"]["guess"]["target"] == "…/p.csv"
    assert described["corpora"]["demo"]["cut"] == f"…/{tmp_path.name}"
    assert str(tmp_path.parent) not in json.dumps(described)
    (folder / "suite.yml").write_text(GOOD.replace(DEMO, "{format: csv, path: $a.csv}"))
    assert read_suite(folder / "suite.yml").corpora["demo"].path == folder / "$a.csv"


def test_a_class_that_is_registered_under_a_second_word_is_found_by_it(suite, monkeypatch):
    """Packages choose the words of their entry points, whatever the classes call themselves."""
    for registry, word in ((CORPUS_FORMATS, "demo"), (MODEL_KINDS, "random")):
        monkeypatch.setitem(registry._classes, "own", registry[word])
    read = suite(GOOD.replace(DEMO, "{format: own}").replace(GUESS, "{own: gaussian}"))
    assert (read.corpora["demo"].format, read.models["guess"].kind) == ("own", "own")


def test_all_problems_at_once(suite):
    text = """\
titel: x
seed: 010
seed: 1
corpora: {a: {format: csv, path: no.csv, colums: {}}, b: {format: cvs}}
models: {m: {python: nocolon, tasks: [x], batch: -1}, n: {random: no}}
families: [nothing]
"""
    places = ["titel", "seed: '010'", "seed: duplicate key", "a.path", "a.colums", "b.format"]
    places += ["m.batch", "n.random", "families item 1"]
    with pytest.raises(InputError, match=r"^suite\.yml line \d+") as caught:
        suite(text)
    assert [place for place in places if place not in str(caught.value)] == []


def test_missing_suites_name_the_nearest(suite, tmp_path):
    with pytest.raises(InputError, match="the file is empty"):
        suite("\n")
    with pytest.raises(InputError, match=r"^suit.yml: the file does not exist. Did you mean 'suite.yml'\?$"):
        read_suite("suit.yml")
    with pytest.raises(InputError, match=r"this is a folder, not a file. Did you mean '.*suite"):
        read_suite(tmp_path)


def test_who_is_tested_on_what(suite, tmp_path):
    """Models that listen need sound, scores a list of trials, tables neither."""
    for name in ("trials.txt", "scores.txt"):
        (tmp_path / name).touch()
    corpora = "  silent: {format: trials, path: trials.txt, audio: false}\nmodels:\n"
    entries = {"{scores: scores.txt}": [False, True], '{python: "a:b", tasks: [embedding]}': [True, False]}
    entries["{predictions: scores.txt, tasks: [embedding]}"] = [True, True]
    for entry, listens in entries.items():
        read = suite(GOOD.replace("models:\n", corpora), GUESS, entry)
        assert [read.models["guess"].listens_to(corpus) for corpus in read.corpora.values()] == listens
    range_of = "range: {arousal: [1, 7]}"
    read = suite(GOOD, GUESS, f'{{python: "m:f", tasks: [arousal], families: [fairness_sex], {range_of}}}')
    model = read.models["guess"]
    assert model.is_for("fairness_sex") and not model.is_for("robustness_spectral_tilt")
    assert [model.range_of(read.tasks[name]) for name in ("arousal", "dominance")] == [(1, 7), (0, 1)]


INSTALLED = re.compile(r" ?(Allowed|Add one of): [^\n]*")  # names that depend on what is installed
CASES = [
    pytest.param(kind, base, entry.get("text"), *case, id=f"{base}: {case[1]}"[:70])
    for kind in ("suites", "families")
    for base, entry in REFUSED[kind].items()
    for case in entry["cases"]
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suites")
    for name in ("file.csv", "a.csv", "db/db.yaml", "folder/x", "thresholds/x"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(("kind", "base", "text", "old", "new", "message"), CASES)
def test_refused(folder, monkeypatch, kind, base, text, old, new, message):
    monkeypatch.chdir(folder)
    name = "mine" if text else base
    text = text or (resources.root() / "thresholds" / f"{name}.yml").read_text("utf-8")
    assert old in text
    file = folder / ("suite.yml" if kind == "suites" else f"thresholds/{name}.yml")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        with pytest.raises(InputError) as caught:
            read_suite("suite.yml") if kind == "suites" else read_family(name, folder)
    finally:
        file.unlink()
    assert INSTALLED.sub("", str(caught.value)) == message


@pytest.mark.parametrize(("key", "content", "message"), REFUSED["words"])
def test_files_of_words(suite, tmp_path, key, content, message):
    if content is not None:
        (tmp_path / "words.csv").write_text(content)
    named = "words.csv" if key == "synonyms" else "{person: words.csv}"
    with pytest.raises(InputError, match=message):
        suite(f"{GOOD}{key}: {named}\n")
