"""Keys that every table of segments takes: values, root, cut, audio."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from pages import example

from soundcheck.common.errors import InputError
from soundcheck.corpora.load import NO_AUDIO, load_corpus
from soundcheck.suite.suite_file import read_suite

ROWS = ["file,speaker,sex,emotion,arousal", "a0.wav,s0,X,ang,low", "a1.wav,s1,m,hap,0.5", "a2.wav,s1,m,hap,1"]


@pytest.fixture
def load(tmp_path, load):
    def read(entry: str, rows=ROWS):
        (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
        return load(f"format: csv, path: t.csv, {entry}")

    return read


def write_sounds(folder: Path) -> None:
    folder.mkdir(parents=True)
    for n in range(3):
        tone = 0.1 * np.sin(2 * np.pi * (100 + n) * np.arange(8000) / 16000)
        soundfile.write(folder / f"a{n}.wav", tone, 16000)


VALUES = (
    "values: {sex: {X: female}, emotion: {ang: anger, hap: happiness, sad: sadness}, arousal: {low: 0.1}}"
)


def test_values_are_mapped_before_anything_is_parsed(load):
    corpus = load(f"audio: false, {VALUES}")
    table = corpus.segments
    assert table["emotion"].tolist() == ["anger", "happiness", "happiness"]
    assert table["sex"].tolist() == ["female", "male", "male"]
    assert table["arousal"].tolist() == [0.1, 0.5, 1.0]
    assert corpus.left_out == ()
    told = "column emotion: 'ang' counts as 'anger' (1 row), 'hap' counts as 'happiness' (2 rows)"
    assert told in corpus.notices
    assert "column emotion: no segment has 'sad', which `values:` maps. Allowed: ang, hap" in corpus.notices


def test_values_swap_and_empty(load):
    swapped = load(
        'audio: false, values: {speaker: {s0: s1, s1: s0}, emotion: {ang: ""}, arousal: {low: ""}}'
    )
    assert swapped.segments["speaker"].tolist() == ["s1", "s0", "s0"]
    assert swapped.segments["arousal"].isna().tolist() == [True, False, False]
    assert any("'ang' counts as missing (1 row)" in notice for notice in swapped.notices)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("values: {emotoin: {a: b}}", "values.emotoin: unknown column; ours.*Did you mean 'emotion'"),
        ("audio: false, values: {accent: {a: b}}", "t.csv, column accent: corpora.c.values.accent maps"),
        ("values: [a]", "values: .*a list is not a mapping"),
        ("values: {sex: {a: [b]}}", r"values.sex.a: must be text"),
        ("values: {sex: {a: }}", r"values.sex.a: the value is empty"),
        ("columns: {duration: length}", "columns.duration: unknown column"),
        ("cut: ''", "cut: the text is blank"),
        ("root: nowhere", "root: 'nowhere': the folder does not exist"),
        ("audio: maybe", "audio: 'maybe' is neither true nor false"),
    ],
)
def test_what_keys_cannot_say(load, entry, words):
    with pytest.raises(InputError, match=words):
        load(entry)


def test_many_values_are_told_briefly(load):
    rows = ["file,accent", *(f"{n}.wav,{n}" for n in range(200))]
    mapped = ", ".join(f"{n}: all" for n in range(300))
    notices = load(f"audio: false, values: {{accent: {{{mapped}}}}}", rows).notices
    (told,) = (notice for notice in notices if "'all'" in notice)
    assert told.count("counts as") == 5 and told.endswith(" and 195 more")
    assert "column accent: no segment has '299', which `values:` maps" in notices  # none of 200 is offered


def test_without_audio_names_are_names(load):
    rows = [
        "id,start,end,length,arousal",
        "../x,,,2.5,0.1",
        "/abs,1,3,9,0.2",
        "https://h/b,,,,0.3",
        "~,2,,4,0",
    ]
    corpus = load("audio: false, columns: {file: id, duration: length}", rows)
    table = corpus.segments.set_index("file")
    assert table.loc[["../x", "/abs", "~"], "duration"].tolist() == [2.5, 2.0, 4.0]
    assert np.isnan(table.loc["https://h/b", "duration"])
    assert NO_AUDIO in corpus.notices
    assert corpus.segments["audio"].is_unique and corpus.segments["key"].is_unique
    assert "place" not in table


def test_without_audio_segments_need_a_name_of_their_own(load):
    with pytest.raises(InputError) as error:
        load("audio: false", ["file,duration", ",1", "x,soon", "x,2"])
    assert "t.csv line 2, column file: the cell is empty. Give each segment a name." in str(error.value)
    assert "t.csv line 3, column duration: 'soon' is not a time" in str(error.value)
    with pytest.raises(InputError, match="line 2 and t.csv line 3: the segment 'x' is there 2 times"):
        load("audio: false", ["file", "x", "x"])


def test_root_and_cut(load, tmp_path):
    write_sounds(tmp_path / "here" / "wavs")
    rows = ["file", "/there/corpus/wavs/a0.wav", "/there/corpus/wavs/a1.wav", "wavs/a2.wav"]
    corpus = load("root: here, cut: /there/corpus", rows)
    assert corpus.segments["file"].tolist() == [f"wavs/a{n}.wav" for n in range(3)]
    assert corpus.root == tmp_path / "here"
    (told,) = (notice for notice in corpus.notices if "cut" in notice)
    assert told == "the folder that `cut:` names begins 2 of 3 names of files, not 'a2.wav', for one"
    assert load("root: here, cut: /there/corpus/", rows).segments.equals(corpus.segments)
    remedy = "Declare `cut: /there/corpus/wavs` and as `root:` the folder that has them here"
    for cut in ("/there/corp", "/elsewhere"):  # whole names of folders only
        with pytest.raises(InputError, match=f"is an absolute path. {remedy}"):
            load(f"root: here, cut: {cut}", rows)
    with pytest.raises(InputError, match="leads out of the corpus folder"):
        load("root: here, cut: /there", ["file", "/there/../suite.yml"])
    with pytest.raises(InputError, match="is an absolute path"):  # also one in the root, as ever
        load("root: here", ["file", str(tmp_path / "here" / "wavs" / "a0.wav")])


@pytest.mark.parametrize(
    ("path", "keys", "names", "root"),
    [
        ("lists/t.csv", "", ["../audio/a0.wav", "../audio/a1.wav"], "."),
        ("lists/t.csv", "", ["../audio/a0.wav", "own/a1.wav"], "."),  # one of them beside the table
        ("lists/en/t.csv", "", ["../../audio/a0.wav", "../a1.wav"], "."),
        ("lists/t.csv", ", root: audio", ["../lists/own/a1.wav", "../audio/a0.wav"], "."),
        ("t.csv", "", [".././audio/a0.wav"], ".."),
    ],
)
def test_the_remedy_for_names_that_lead_out_works(tmp_path, path, keys, names, root):
    """Names are relative to the folder of the table, and sounds lie beside it."""
    folder = tmp_path / "suites" if root == ".." else tmp_path
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        sound = (folder / path).parent / name
        sound.parent.mkdir(exist_ok=True)
        soundfile.write(sound.parent.resolve() / sound.name, 0.1 * np.sin(np.arange(8000) / 9), 16000)
    (folder / path).write_text("\n".join(["file", *names]))

    def read(keys: str):
        text = f"corpora:\n  c: {{format: csv, path: {path}{keys}}}\n"
        (folder / "suite.yml").write_text(f"{text}models:\n  guess: {{random: gaussian}}\nfamilies: all\n")
        suite = read_suite(folder / "suite.yml")
        return load_corpus(suite.corpora["c"], suite, tmp_path / "cache")

    with pytest.raises(InputError, match=f"leads out of the corpus folder. Declare `root: {root}` under"):
        read(keys)
    corpus = read(f", root: {root}")
    found = sorted(((corpus.root / name).resolve() for name in corpus.segments["file"]), key=str)
    assert found == sorted((((folder / path).parent / name).resolve() for name in names), key=str)
    assert not any(".." in name for name in corpus.segments["file"])


def test_points_that_stay_inside_are_read(load, tmp_path):
    write_sounds(tmp_path / "wavs")
    assert load("split: all", ["file", "wavs/../wavs/a0.wav"]).segments["file"].tolist() == ["wavs/a0.wav"]


@pytest.mark.parametrize(
    ("model", "words"),
    [("{predictions: p.csv, tasks: [arousal]}", "Declare `audio: false`"), ("", "relative")],
)
@pytest.mark.parametrize("folder", ["", "../there/", "/nowhere/"])
def test_where_no_sound_is_there(tmp_path, model, words, folder):
    """Answers alone need no sound; a model that listens does."""
    (tmp_path / "t.csv").write_text(
        "\n".join(["file,arousal", *(f"{folder}a{n}.wav,0.5" for n in range(292))])
    )
    (tmp_path / "p.csv").write_text("\n".join(["file,arousal", *(f"a{n}.wav,0.5" for n in range(292))]))
    (tmp_path / "m.py").write_text("def predict(signal, sampling_rate):\n    return {}\n")
    model = model or "{python: 'm:predict', tasks: [arousal]}"
    (tmp_path / "suite.yml").write_text(
        f"corpora:\n  c: {{format: csv, path: t.csv}}\nmodels:\n  m: {model}\n"
        "families: [correctness_regression]\n"
    )
    suite = read_suite(tmp_path / "suite.yml")
    with pytest.raises(InputError, match="There are 292 of this kind, also t.csv line 3") as error:
        load_corpus(suite.corpora["c"], suite, tmp_path / "cache")
    assert ("Declare `audio: false`" in str(error.value)) == (words != "relative")
    assert len(str(error.value).splitlines()) == 1


def test_the_record_has_no_absolute_paths(tmp_path):
    (tmp_path / "t.csv").write_text("file\nx\n")
    (tmp_path / "suite.yml").write_text(
        f"corpora:\n  c: {{format: csv, path: t.csv, audio: false, cut: {tmp_path}, root: {tmp_path}}}\n"
        "models:\n  guess: {random: gaussian}\nfamilies: [correctness_regression]\n"
    )
    described = read_suite(tmp_path / "suite.yml").describe()
    assert str(tmp_path.parent) not in str(described)
    assert described["corpora"]["c"]["cut"] == f"…/{tmp_path.name}"


def test_the_example_of_the_page(tmp_path):
    write_sounds(tmp_path / "audio" / "calls" / "day1")
    cells = [("ang", "male_masculine"), ("hap", "female"), ("unknown", "")]
    rows = [f"/mnt/theirs/calls/day1/a{n}.wav,{label},{sex}" for n, (label, sex) in enumerate(cells)]
    rows.insert(0, "path,label,sex")
    (tmp_path / "manifest.csv").write_text("\n".join(rows) + "\n")
    text = example("data", "What every table of segments may say")
    models = "models:\n  guess: {random: gaussian}\nfamilies: [correctness_regression]\n"
    (tmp_path / "suite.yml").write_text(text + models)
    suite = read_suite(tmp_path / "suite.yml")
    table = load_corpus(suite.corpora["calls"], suite, tmp_path / "cache").segments
    assert table["file"].tolist() == [f"day1/a{n}.wav" for n in range(3)]
    assert table["emotion"].tolist() == ["anger", "happiness", None]
    assert table["sex"].tolist() == ["male", "female", None]
