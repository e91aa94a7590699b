"""Keys that every table of segments takes: values, root, cut, audio."""

import pytest
from segment_rows import rows
from tests.corpora.refusals import refusals

from soundcheck.corpora.load import NO_AUDIO
from soundcheck.suite.suite_file import read_suite

TABLE = "file,speaker,sex,emotion,arousal\na0.wav,s0,X,ang,low\na1.wav,s1,m,hap,0.5\na2.wav,s1,m,hap,1\n"


@pytest.fixture
def load(load):
    """Load a table of these lines and sounds: ``load("cut: /x", ["file", "/x/a.wav"], {"a.wav": 1})``."""

    def read(keys: str, lines=(), sounds=(), path="t.csv", **options):
        table = {path: "\n".join(lines) if lines else TABLE}
        return load(f"format: csv, path: {path}, {keys}", table | dict(sounds), **options)

    return read


def test_values_are_mapped_before_anything_is_parsed(load):
    emotions = "{ang: anger, hap: happiness, sad: sadness}"
    corpus = load(f"audio: false, values: {{sex: {{X: female}}, emotion: {emotions}, arousal: {{low: 0.1}}}}")
    assert rows(corpus, "emotion", "sex", "arousal") == [
        ("anger", "female", 0.1),
        ("happiness", "male", 0.5),
        ("happiness", "male", 1.0),
    ]
    assert corpus.left_out == ()
    told = "column emotion: 'ang' counts as 'anger' (1 row), 'hap' counts as 'happiness' (2 rows)"
    assert told in corpus.notices
    assert "column emotion: no segment has 'sad', which `values:` maps. Allowed: ang, hap" in corpus.notices


def test_values_swap_and_empty(load):
    values = '{speaker: {s0: s1, s1: s0}, emotion: {ang: ""}, arousal: {low: ""}}'
    corpus = load(f"audio: false, values: {values}")
    assert rows(corpus, "speaker", "arousal") == [("s1", None), ("s0", 0.5), ("s0", 1)]
    assert any("'ang' counts as missing (1 row)" in notice for notice in corpus.notices)


def test_many_values_are_told_briefly(load):
    mapped = ", ".join(f"{n}: all" for n in range(300))
    lines = ["file,accent", *(f"{n}.wav,{n}" for n in range(200))]
    notices = load(f"audio: false, values: {{accent: {{{mapped}}}}}", lines).notices
    (told,) = (notice for notice in notices if "'all'" in notice)
    assert told.count("counts as") == 5 and told.endswith(" and 195 more")
    assert "column accent: no segment has '299', which `values:` maps" in notices  # none of 200 is offered


@pytest.mark.parametrize(("keys", "words"), refusals("table keys"))
def test_refused(refused, keys, words):
    refused(words, keys)


def test_without_audio_names_are_names(load, refused):
    lines = ["id,start,end,length", "../x,,,2.5", "/abs,1,3,9", "https://h/b,,,", "~,2,,4"]
    corpus = load("audio: false, columns: {file: id, duration: length}", lines)
    durations = {"../x": 2.5, "/abs": 2.0, "https://h/b": None, "~": 4.0}
    assert dict(rows(corpus, "file", "duration")) == durations and NO_AUDIO in corpus.notices
    assert corpus.segments["audio"].is_unique and corpus.segments["key"].is_unique
    text = refused(
        "t.csv line 2, column file: the cell is empty", "audio: false", ["file,duration", ",1", "x,soon"]
    )
    assert "t.csv line 3, column duration: 'soon' is not a time" in text
    refused("line 2 and t.csv line 3: the segment 'x' is there 2 times", "audio: false", ["file", "x", "x"])


@pytest.mark.parametrize("folder", ["", "../there/", "/nowhere/"])
@pytest.mark.parametrize("listens", [False, True])
def test_where_no_sound_is_there(refused, write, listens, folder):
    """Predictions alone need no sound; a model that listens does."""
    lines = ["file,arousal", *(f"{folder}a{n}.wav,0.5" for n in range(292))]
    write(
        {
            "p.csv": "file,arousal\na0.wav,0.5\n",
            "m.py": "def predict(signal, sampling_rate):\n    return {}\n",
        }
    )
    model = "python: 'm:predict'" if listens else "predictions: p.csv"
    text = refused("292 of this kind, also t.csv line 3", "", lines, model=f"{{{model}, tasks: [arousal]}}")
    assert ("Declare `audio: false`" in text) != listens and len(text.splitlines()) == 1


THERE = ["file", "/there/corpus/wavs/a0.wav", "/there/corpus/wavs/a1.wav", "wavs/a2.wav"]
WAVS = {f"here/wavs/a{n}.wav": n for n in range(3)}


@pytest.mark.parametrize("cut", ["/there/corpus", "/there/corpus/"])
def test_root_and_cut(load, tmp_path, cut):
    corpus = load(f"root: here, cut: {cut}", THERE, WAVS)
    assert rows(corpus, "file") == [(f"wavs/a{n}.wav",) for n in range(3)]
    assert corpus.root == tmp_path / "here"
    told = "the folder that `cut:` names begins 2 of 3 names of files, not 'a2.wav', for one"
    assert told in corpus.notices


@pytest.mark.parametrize(
    ("keys", "lines", "words"),
    [  # whole names of folders only
        (
            "root: here, cut: /there/corp",
            THERE,
            "an absolute path. Declare `cut: /there/corpus/wavs` and as `r",
        ),
        (
            "root: here, cut: /elsewhere",
            THERE,
            "an absolute path. Declare `cut: /there/corpus/wavs` and as `r",
        ),
        ("root: here, cut: /there", ["file", "/there/../suite.yml"], "leads out of the corpus folder"),
        ("root: here", ["file", "{here}/wavs/a0.wav"], "is an absolute path"),  # also one in the root
    ],
)
def test_files_outside_of_the_folder_are_refused(refused, tmp_path, keys, lines, words):
    refused(words, keys, [line.format(here=tmp_path / "here") for line in lines], WAVS)


def test_points_that_stay_inside_are_read(load):
    corpus = load("split: all", ["file", "wavs/../wavs/a0.wav"], {"wavs/a0.wav": 1})
    assert rows(corpus, "file") == [("wavs/a0.wav",)]


@pytest.mark.parametrize(
    ("path", "keys", "names", "root"),
    [
        ("lists/t.csv", "", ["../audio/a0.wav", "../audio/a1.wav"], "."),
        ("lists/t.csv", "", ["../audio/a0.wav", "own/a1.wav"], "."),  # one of them beside the table
        ("lists/en/t.csv", "", ["../../audio/a0.wav", "../a1.wav"], "."),
        ("lists/t.csv", "root: audio", ["../lists/own/a1.wav", "../audio/a0.wav"], "."),
    ],
)
def test_the_remedy_for_names_that_lead_out_works(load, refused, tmp_path, path, keys, names, root):
    """Names are relative to the folder of the table, and sounds lie beside it."""
    places = sorted((tmp_path / path).parent.joinpath(name).resolve() for name in names)
    sounds = {str(place.relative_to(tmp_path)): number for number, place in enumerate(places)}
    words = f"leads out of the corpus folder. Declare `root: {root}` under"
    refused(words, keys, ["file", *names], sounds, path=path)
    corpus = load(f"root: {root}", ["file", *names], path=path)
    assert sorted(corpus.root.resolve() / name for (name,) in rows(corpus, "file")) == places


def test_the_record_has_no_absolute_paths(load, tmp_path):
    load(f"audio: false, cut: {tmp_path}, root: {tmp_path}", ["file", "x"])
    described = read_suite(tmp_path / "suite.yml").describe()
    assert str(tmp_path.parent) not in str(described)
    assert described["corpora"]["c"]["cut"] == f"…/{tmp_path.name}"
