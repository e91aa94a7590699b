"""Keys that every table of segments takes: values, root, cut, audio."""

import pytest
from segment_rows import rows

from soundcheck.suite.suite_file import read_suite

TABLE = "file,speaker,sex,emotion,arousal\na0.wav,s0,X,ang,low\na1.wav,s1,m,hap,0.5\na2.wav,s1,m,hap,1\n"


@pytest.fixture
def load(load):
    """Load a table of these lines and sounds: ``load("cut: /x", ["file", "/x/a.wav"], {"a.wav": 1})``."""

    def read(keys: str, lines=(), sounds=(), path="t.csv", **options):
        table = {path: "\n".join(lines) if lines else TABLE}
        return load(f"format: csv, path: {path}, {keys}", table | dict(sounds), **options)

    return read


def test_many_values_are_told_briefly(load):
    mapped = ", ".join(f"{n}: all" for n in range(300))
    lines = ["file,accent", *(f"{n}.wav,{n}" for n in range(200))]
    notices = load(f"audio: false, values: {{accent: {{{mapped}}}}}", lines).notices
    (notice,) = (notice for notice in notices if "'all'" in notice)
    assert notice.count("counts as") == 5 and notice.endswith(" and 195 more")
    assert "column accent: no segment has '299', which `values:` maps" in notices  # none of 200 is offered


@pytest.mark.parametrize("folder", ["", "../there/", "/nowhere/"])
@pytest.mark.parametrize("listens", [False, True])
def test_where_no_sound_is_there(refused, write, listens, folder):
    """Predictions alone need no sound; a model that listens does."""
    lines = ["file,arousal", *(f"{folder}a{n}.wav,0.5" for n in range(292))]
    code = "def predict(signal, sampling_rate):\n    return {}\n"
    write({"p.csv": "file,arousal\na0.wav,0.5\n", "m.py": code})
    model = "python: 'm:predict'" if listens else "predictions: p.csv"
    text = refused("292 of this kind, also t.csv line 3", "", lines, model=f"{{{model}, tasks: [arousal]}}")
    assert ("Declare `audio: false`" in text) != listens and len(text.splitlines()) == 1


def test_an_absolute_path_in_the_root_is_one(refused, tmp_path):
    lines = ["file", f"{tmp_path}/here/a0.wav"]
    refused("is an absolute path", "root: here", lines, {"here/a0.wav": 1})


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
