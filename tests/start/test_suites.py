"""What ``soundcheck init`` writes: suites for kinds of models and tiny data of each format; families."""

import gzip
import io
import os
import re
import runpy
import textwrap
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import soundfile
import yaml
from runs import write

from soundcheck.common.messages import InputError, flow
from soundcheck.corpora.load import load_corpus
from soundcheck.results.table import read_results
from soundcheck.start import detect, suites
from soundcheck.start.suites import KINDS
from soundcheck.suite.entries import MODEL_KINDS
from soundcheck.suite.schema import keys_of, read_yaml
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FORMATS = yaml.safe_load(Path(__file__).with_name("formats.yml").read_text("utf-8"))
COUNT = 8
WORDS = ["turn left", "turn right"] * 4


def tone(number):
    return 0.1 * np.sin(2 * np.pi * (200 + 50 * number) * np.arange(3200) / 16000)


def sounds(folder, *names):
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / name, tone(number), 16000)
    return list(names)


def eight(line):
    """Write a line of ``formats.yml`` eight times; none if it is empty."""
    turns = [
        re.sub(r"<([^<>]*[|][^<>]*)>", lambda match, n=n: (match[1].split("|") * COUNT)[n], line)
        for n in range(COUNT)
    ]
    return [text.replace("<n>", str(n)) for n, text in enumerate(turns) if text]


def make(folder, name):
    """Write the data of a format; gives what the suite should say of it, and its tasks."""
    row = FORMATS[name]
    sounds(folder, *" ".join(eight(row.get("sounds", ""))).split())
    for file, content in row.get("files", {}).items():
        text = [*filter(None, [content.get("first")]), *eight(content.get("line", ""))]
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        with (gzip.open if file.endswith(".gz") else open)(folder / file, "wt") as opened:
            opened.write("".join(f"{line}\n" for line in text))
    if "table" in row:
        rows = []
        for n, text in enumerate(WORDS):
            soundfile.write(file := io.BytesIO(), tone(n), 16000, format="WAV")
            rows.append({"audio": {"bytes": file.getvalue(), "path": f"{n}.wav"}, "text": text})
        (folder / row["table"]).parent.mkdir(parents=True)
        pa.parquet.write_table(pa.Table.from_pylist(rows), folder / row["table"])
    return row["says"], {*row["tasks"]}


def manifest(path, names, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame({"audio_filepath": names, "duration": 0.2, "text": WORDS}).assign(**more)
    table.to_json(path, orient="records", lines=True)


@pytest.fixture
def begin(tmp_path):
    """Write a suite for ``data``, perhaps for rows of a table in it; gives its text."""
    (tmp_path / "data").mkdir()

    def write(rows=None, kind=None, data="data", delimiter=","):
        if rows is not None:
            data = "data/t.tsv" if delimiter == "\t" else "data/t.csv"
            pd.DataFrame(rows).to_csv(tmp_path / data, sep=delimiter, index=False)
        write.printed = suites.write_suite(tmp_path / "new", kind, tmp_path / data)
        return (tmp_path / "new" / "suite.yml").read_text("utf-8")

    return write


def read_new(folder):
    suite = read_suite(folder / "new" / "suite.yml")
    (entry,) = suite.corpora.values()
    return suite, load_corpus(entry, suite, folder / "cache")


@pytest.mark.parametrize("name", FORMATS)
def test_what_lies_in_a_folder_is_recognised_and_loads(begin, tmp_path, name):
    expected, tasks = make(tmp_path / "data", name)
    text = begin()
    assert f"format {expected['format']}" in begin.printed and str(tmp_path) not in text
    corpus = read_yaml(tmp_path / "new" / "suite.yml", "suite.yml", []).data["corpora"]["data"]
    assert {key: corpus.get(key) for key in expected} == expected, text
    suite, loaded = read_new(tmp_path)
    assert set(suite.models["mine"].tasks) == tasks and len(loaded.segments) == COUNT
    assert {left.stage for left in loaded.left_out} <= {"label"}  # some emotions are none of the four
    assert loaded.segments[[*tasks - {"transcript", "embedding"}]].notna().all(axis=None)


def test_families_that_fit_are_those_of_a_run(begin, tmp_path, undrawn):
    make(tmp_path / "data", "csv")
    text = begin()
    fit, unfit = (set(re.findall(rf"^    #   (\w+){end}", text, re.MULTILINE)) for end in ("$", r" \("))
    assert "asr_word_errors" not in fit | unfit and "groups: [device, {age: " in text
    assert fit.issuperset(["correctness_regression", "correctness_classification"])
    assert "fairness_accent" in unfit
    short = "families: [correctness_regression, fairness_accent]\nstudies: false\nreplicates: 100"
    (tmp_path / "new" / "suite.yml").write_text(text.replace("families: all", short))
    done = undrawn("run", "new/suite.yml", "--out", "out", "--no-book", "--model", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    frame = pd.read_csv(tmp_path / "out" / "results.csv")
    assert set(frame[frame["value"].notna()]["family"]) == {"correctness_regression"}
    assert frame.query("family in @unfit")["skipped"].str.startswith("the corpus has no column").all()


def test_the_suite_without_data_names_the_model_beside_it_which_predicts(tmp_path):
    folder = tmp_path / "new"
    suites.write_suite(folder, None, None)
    suite = read_suite(folder / "suite.yml")
    assert list(suite.models) == ["mine", "random-gaussian"] and "correctness_regression" in suite.families
    predict = runpy.run_path(str(folder / "my_model.py"))["predict"]
    quiet, loud = (predict(np.full(100, level, np.float32), 16000)["arousal"] for level in (0.001, 0.5))
    assert 0 <= quiet < loud <= 1
    (folder / "suite.yml").unlink()
    with pytest.raises(InputError, match="my_model.py.*exists already"):
        suites.write_suite(folder, None, None)
    assert not (folder / "suite.yml").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_an_entry_with_all_its_keys(begin, tmp_path, undrawn, kind):
    """Those that are commented out, too, are known to the reader, with values that it takes."""
    make(tmp_path / "data", "csv")
    text, path = begin(kind=kind), tmp_path / "new" / "suite.yml"
    head, mine, tail = re.split(r"(?=  mine:)|(?=  random-)", text, maxsplit=2)
    keys = set(re.findall(r"^    (?:# )?([\w-]+):", mine, re.MULTILINE))
    refused = {"range", "values"} if kind in ("endpoint", "onnx-asr") else {"missing"}  # of words, or not
    refused |= {"endpoint": {"batch"}, "predictions": {"batch", "time_limit", "files"}}.get(kind, set())
    expected = {kind, *keys_of(MODEL_KINDS[kind].keys)} - refused
    assert expected <= keys and not refused & keys
    target = re.search(rf"^    {kind}: (.+)$", mine, re.MULTILINE)[1]
    if kind in ("onnx", "onnx-asr", "transformers"):
        with pytest.raises(InputError, match="does not exist"):  # the only thing that is missing
            read_suite(path)
        (tmp_path / "new" / target).mkdir() if "folder" in target else (tmp_path / "new" / target).touch()
    if kind in ("command", "python"):  # what is written to be replaced predicts
        line = "run new/suite.yml --plan --model mine --family correctness_regression --out out"
        done = undrawn(*line.split(), cwd=tmp_path)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    about, tasks, keys = mine.partition("    tasks:")
    used = re.sub(r"^    # (\w+:)", r"    \1", keys, flags=re.MULTILINE)
    text = "".join((head, about, tasks, used, tail))
    path.write_text(text.replace(" {audio}", "") if "stays: true" in used else text)
    for name in ("weights", "my_program.py"):
        (tmp_path / "new" / name).touch()
    assert read_suite(path).models["mine"].kind == kind


@pytest.mark.parametrize("labels", ["test_manifest.json", "whisper.json"])
def test_predictions_beside_the_data_are_taken(begin, tmp_path, labels):
    names = sounds(tmp_path / "data", *eight("wavs/<n>.wav"))
    manifest(tmp_path / "data" / labels, names)
    manifest(tmp_path / "data" / "whisper.json", names, pred_text=WORDS[0])
    begin()
    assert "whisper.json: predictions of a model (pred_text)" in begin.printed
    suite, corpus = read_new(tmp_path)
    assert (corpus.entry.path.name, suite.models["mine"].path.name) == (labels, "whisper.json")


def test_a_corpus_without_sound_gets_a_table_to_fill_in(begin, tmp_path):
    manifest(tmp_path / "data" / "m.jsonl", eight("/home/them/<n>.wav"))
    sounds(tmp_path / "data" / "other", "0.wav", "1.wav")  # a few files of the same name
    assert "audio: false # most of the first files are not there" in begin(data="data/m.jsonl")
    table = pd.read_csv(tmp_path / "new" / "predictions.csv")
    assert (
        list(table) == ["file", "transcript"] and len(table) == len(read_new(tmp_path)[1].segments) == COUNT
    )


def test_what_is_refused_of_a_table(begin, tmp_path):  # as a run would refuse it
    twice = [{"file": f"{n // 2}.wav", "arousal": n % 5} for n in range(20)]
    with pytest.raises(InputError, match="there 2 times with different arousal"):
        begin(twice)
    nameless = [{"file": "" if n == 3 else f"{n}.wav", "arousal": 0.5} for n in range(20)]
    with pytest.raises(InputError, match=f"^{tmp_path}/data/t.csv line 5, column file"):
        begin(nameless)


def test_what_is_not_recognised(begin, tmp_path, monkeypatch):
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    (data / "broken.jsonl").write_bytes(b"\xff{{{")
    (data / "list.json").write_text("[1, 2]")
    (data / "long.csv").write_text("x" * 200_000)
    make(elsewhere, "csv")
    for name in ("", "labels.csv"):  # links are not followed out
        os.symlink(elsewhere / name, data / f"link{name}")
    with pytest.raises(InputError, match="no format is recognised among 3 files"):
        begin()
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(detect, "MOST_AUDIO", 5)  # of huge folders only a part is looked at
    assert len(detect.FolderIndex(elsewhere).audio) == 5


def test_texts_stay_what_they_are(tmp_path):
    for text in ("no", "a: b", "x # y", "", " a", "1", "é, [", "-"):
        (tmp_path / "a.yml").write_text(f"given: {flow([text])}\n")
        assert read_yaml(tmp_path / "a.yml", "a.yml", []).data["given"] == [text]


@pytest.mark.parametrize(
    ("splits", "delimiter", "line", "evaluated"),
    [
        ("Train Test", "\t", "split: Test # there are Test (4), Train (4)", "Test"),
        ("Train Test1 Test2", ",", "# split: all # there are Test1 (3), Test2 (2), Train (3)", "Test1 Test2"),
        ("train", ",", "split: train # there are train (8)", "train"),
    ],
)
def test_splits_are_chosen_as_in_a_run(begin, tmp_path, splits, delimiter, line, evaluated):
    names, column = sounds(tmp_path / "data", *eight("<n>.wav")), "split" if delimiter == "," else "mode"
    table = pd.DataFrame({"file": names, column: np.resize(splits.split(), COUNT), "transcript": "a"})
    text = begin(table, delimiter=delimiter)
    assert f"    {line}\n" in text and "groups: [mode]" not in text
    assert set(read_new(tmp_path)[1].segments["split"]) == {*evaluated.split()}


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [  # values by number -> what the suite says
        ("label", lambda n: f"spk{n % 5:02d}", "columns: {speaker: label}"),
        ("category", lambda n: f"name {chr(97 + n // 2)}", "tasks: [arousal]"),  # nothing to test
        ("intent", lambda n: ("off", "on")[n % 2], "columns: {own_intent: intent}"),
        ("mos", lambda n: 1 + n % 9 / 2, "range: [1, 5]"),
        ("score", lambda n: ("inf", 3)[n % 2], "tasks: [arousal]"),  # is none
        ("arousal", lambda n: 1.86 + n / 10, "range: {arousal: [1, 7]}"),
        ("speaker", lambda n: ("NA", "s1")[n % 2], "embedding"),  # two speakers: can be verified
    ],
)
def test_what_a_column_is_taken_for(begin, tmp_path, column, value, text):
    assert text in begin([{"file": f"{n}.wav", column: value(n)} for n in range(40)])
    read_suite(tmp_path / "new" / "suite.yml")


@pytest.mark.parametrize(("name", "like"), [("MY_TITLE_NAME", ""), ("mine", "speaker_verification")])
def test_the_files_of_a_family_are_valid_and_not_overwritten(tmp_path, name, like):
    suites.write_suite(tmp_path, None, None)
    suites.write_family(tmp_path, name, like)
    family, title = read_family(name, tmp_path), name.replace("_", " ").capitalize()
    assert (family.name, family.title) == (name, title)
    assert name in read_suite(tmp_path / "suite.yml").families
    notebook = nbformat.read(tmp_path / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[-1].source == "evaluation.save()"
    assert (tmp_path / "book" / "methods" / f"{name}.md").read_text().startswith(f"# {title}\n")
    if like:
        shipped = read_family(like, tmp_path)
        about = ("category", "tests", "changes")
        assert [getattr(family, name) for name in about] == [getattr(shipped, name) for name in about]
    (tmp_path / "thresholds" / f"{name}.yml").unlink()
    with pytest.raises(InputError, match=f"notebooks/{name}.ipynb: the file exists already"):
        suites.write_family(tmp_path, name)
    assert not (tmp_path / "thresholds" / f"{name}.yml").exists()


def test_names_that_cannot_be_used(tmp_path):
    for name in ("", "../a", "a\n", "a" * 41, "Null", "Fairness_Sex", "comparison"):
        with pytest.raises(InputError, match="cannot be the name of a family|of this name already"):
            suites.write_family(tmp_path, name)
    with pytest.raises(InputError, match="Did you mean 'fairness_sex'"):
        suites.write_family(tmp_path, "other", "fairness_six")
    with pytest.raises(InputError, match="no: the folder does not exist"):
        suites.write_family(tmp_path / "no", "mine")
    assert not list(tmp_path.iterdir())


SUITE = """
studies: false
replicates: 200
corpora: {calls: {format: csv, path: calls.csv, audio: false}}
models: {table: {predictions: predictions.csv, tasks: [arousal]}}
families: [rare_errors, by_sex]
"""


def test_the_handbook_leads_to_a_page_in_the_book(tmp_path, unbuilt):
    """The command and the code that the handbook prints, on a small table, up to the book."""
    text = (Path(__file__).parents[2] / "book" / "extending.md").read_text(encoding="utf-8")
    guide = text.partition("## A family of tests")[2].partition("\n## ")[0]
    (command,) = re.findall(r"soundcheck (init --family .*?) my-suite", guide)
    folder, rng, n = tmp_path / "my-suite", np.random.default_rng(0), 60
    table = pd.DataFrame([(f"{i}.wav", f"s{i % 12}") for i in range(n)], columns=["file", "speaker"])
    table = table.assign(sex=["male", "female"] * (n // 2), arousal=rng.random(n).round(3))
    predicted = table[["file"]].assign(arousal=(table["arousal"] + rng.normal(0, 0.1, n)).round(3))
    write(folder, {"calls.csv": table, "predictions.csv": predicted, "suite.yml": SUITE})
    for line in (command, "init --family by_sex"):
        done = unbuilt(*line.split(), "my-suite", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    first, second = map(textwrap.dedent, re.findall(r" *```python\n(.*?) *```", guide, re.DOTALL))
    # The handbook shows what is written; its second example gives numbers by label, in another family.
    path = folder / "notebooks" / "by_sex.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.source == first.strip()]
    judge = "    evaluation.judge(sample, 'Rarely Exceeded Error', error_by_sex)\n"
    cell.source = f"{second}\n\nfor sample in evaluation.samples():\n{judge}"
    nbformat.write(notebook, path)

    done = unbuilt("run", "my-suite/suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = dict(list(read_results(tmp_path / "out" / "results.csv").groupby("family")))
    errors = (predicted["arousal"] - table["arousal"]).abs()
    (row,) = rows["rare_errors"].to_dict("records")
    assert row["value"] == pytest.approx(errors.quantile(0.9), abs=1e-9)
    assert row["passed"] and (row["segments"], row["blocks"]) == (n, 12)
    by_sex = rows["by_sex"].set_index("label")["value"].to_dict()
    assert by_sex == pytest.approx(errors.groupby(table["sex"]).mean().to_dict(), abs=1e-9)
    html = tmp_path / "out" / "html"
    assert "Rarely Exceeded Error" in (html / "results" / "table" / "rare_errors.html").read_text()
    assert "a first guess" in (html / "methods" / "rare_errors.html").read_text()
