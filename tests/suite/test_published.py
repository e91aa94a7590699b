"""The suite of published tests, on tiny databases with the tables and columns of the published ones."""

import re
from pathlib import Path

import audformat
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml

from soundcheck.augment.registry import missing
from soundcheck.common.errors import InputError
from soundcheck.corpora.formats.audformat import only_flavour
from soundcheck.run.material import load
from soundcheck.run.options import RunOptions
from soundcheck.run.selection import opened
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow

SUITE = Path(__file__).parents[2] / "suites" / "published.yml"
TEXT = SUITE.read_text("utf-8")
CORPORA = yaml.safe_load(TEXT)["corpora"]
SOUNDS = yaml.safe_load(TEXT)["sounds"]
EMOTIONS = ["anger", "happiness", "neutral", "sadness"]
SPEAKERS = {f"s{number}": {"gender": ["female", "male"][number % 2]} for number in range(4)}
SIZE = 6  # files of each table
DATABASES = {
    path: [entry for entry in CORPORA.values() if entry["path"] == path]
    for path in sorted({entry["path"] for entry in CORPORA.values()})
}


def tables_of(path):
    return list(
        dict.fromkeys(n for one in DATABASES[path] for n in [*one["tables"], *one.get("attributes", [])])
    )


def columns_of(path, table):
    """Say what a table has: column and values."""
    size = 2 * SIZE if table == "speaker" else SIZE

    def cycle(values):
        return [values[number % len(values)] for number in range(size)]

    rng = np.random.default_rng(len(table))
    if "dimensions" in table:
        return {name: rng.random(SIZE).round(2).tolist() for name in ("arousal", "dominance", "valence")}
    if table.startswith("emotion"):
        return {"emotion": [*cycle(EMOTIONS)[:-1], "disgust"]}
    if table == "speaker" or (table.startswith("files") and "timit" not in path):
        more = {"gender": cycle(["female", "male"])} if "msp" in path else {}
        return {"speaker": cycle(list(SPEAKERS))} | more
    if table == "accent.test":
        return {"native_language": cycle(["english", "amharic"]), "age": cycle([20, 30])}
    if table == "words-in-context":
        return {"language": cycle(["de", "en"]), "sentiment": cycle(["negative", "neutral", "positive"])}
    if "imda" in path:
        return {"speaker": cycle(list(SPEAKERS)), "text": [f"text {number // 4}" for number in range(SIZE)]}
    return {"duration": [0.1] * SIZE}


def make_database(folder, path):
    """Write a database with the tables that the suite names, and some more files than a table lists."""
    db = audformat.Database(Path(path).parent.name)
    db.schemes["emotion"] = audformat.Scheme("str", labels=[*EMOTIONS, "disgust"])
    db.schemes["speaker"] = audformat.Scheme("str", labels=SPEAKERS)
    for split in ("train", "test"):
        db.splits[split] = audformat.Split(split)
    folder.mkdir(parents=True)
    for table in tables_of(path):
        # Tables about the same recordings list the same files, test sets and microphones their own.
        part = re.search(r"train|test-\d|boundary|mobile", table)
        names = [f"audio/{part[0] if part else 'test'}/{number}.wav" for number in range(SIZE)]
        if table == "speaker":  # of training and test set
            names = [f"audio/{one}/{number}.wav" for one in ("test", "train") for number in range(SIZE)]
        if path.startswith("published/mozilla"):
            names = [name.replace("audio/", f"audio/{table}/") for name in names]
        split = {"train": "train", "test": "test"}.get(part[0] if part else "")
        db[table] = audformat.Table(audformat.filewise_index(names), split_id=split)
        for column, values in columns_of(path, table).items():
            db[table][column] = audformat.Column(scheme_id=column if column in db.schemes else None)
            db[table][column].set(values)
        for name in names:
            place = folder / name
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                noise = np.random.default_rng(sum(str(place).encode())).normal(0, 0.05, 1600)
                soundfile.write(place, noise, 16000)
    db.save(folder, storage_format="csv")


def make_sounds(root):
    """Write noises and impulse responses as the databases of the publication have them."""
    named = {
        "musan/1.0.0": ["speech/librivox/a.wav", "noise/free-sound/b.wav", "music/fma/c.wav"],
        "cough-speech-sneeze/2.0.1": ["coughing/a.wav", "sneezing/b.wav"],
        "mardy/1.0.0": ["data/ir_1_C.wav", "data/ir_2_R.wav"],
        "air/1.4.2": ["data/air_binaural_booth_0_3.wav", "data/air_binaural_office_0_2.wav"],
    }
    for database, names in named.items():
        folder = root / database / "0123abcd"  # a flavour in audb's cache
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            noise = np.random.default_rng(0).normal(0, 0.05, 1600)
            soundfile.write(folder / name, noise * np.exp(-np.arange(1600) / 100), 16000)
        db = audformat.Database(Path(database).parent.name)
        db["files"] = audformat.Table(audformat.filewise_index(names))
        db["files"]["category"] = audformat.Column()
        db["files"]["category"].set([Path(name).parts[0] for name in names])
        db.save(folder, storage_format="csv")


def test_missing_databases_are_named_with_the_line_that_fetches_them(tmp_path):
    (tmp_path / "published.yml").write_text(TEXT)
    with pytest.raises(InputError, match="corpora.crema-d.path: .* the folder does not exist") as caught:
        read_suite(tmp_path / "published.yml")
    call = "audb.load_to('published/crema-d/1.2.0', 'crema-d', version='1.2.0')"
    assert call in str(caught.value)


def test_the_head_of_the_file_fetches_each_database():
    fetched = set(re.findall(r'fetch\("([^"]+)", "([^"]+)"', TEXT))
    paths = [*DATABASES, *(one if isinstance(one, str) else one["path"] for one in SOUNDS.values())]
    assert fetched == {tuple(Path(path).parts[1:]) for path in paths}


def test_databases_of_this_form_have_what_their_families_test(tmp_path):
    for number, path in enumerate(DATABASES):  # as audb.load_to writes them, or as in audb's cache
        make_database(tmp_path / path / ("abcd0123" if number % 2 else ""), path)
    make_sounds(tmp_path / "published")
    (tmp_path / "published.yml").write_text(TEXT)
    models = ("random-gaussian", "random-categorical")
    options = RunOptions(suite=tmp_path / "published.yml", out=tmp_path / "out", models=models)
    with opened(read_suite(options.suite), options) as place:
        material = load(place.plan, place.families, place.output, 1)
    families = {family.name: family for family in material.families}
    assert len(families) == 17 and set(families) == set(yaml.safe_load(TEXT)["families"])
    assert not any(missing(change, material.sounds) for f in families.values() for change in f.all_changes)
    for corpus in material.corpora:
        entry = CORPORA[corpus.name]
        assert [name for name in families if corpus.entry.is_for(name)] == [
            name for name in families if name in entry["families"]
        ]
        for name in entry["families"]:
            assert {*families[name].columns} <= {*corpus.segments}, name
        folder = only_flavour(tmp_path / entry["path"])
        listed = [pd.read_csv(folder / f"db.{table}.csv")["file"] for table in entry["tables"]]
        assert set(corpus.segments["file"]) == set(pd.concat(listed))  # attributes add no segments
    assert {corpus.name for corpus in material.corpora} == set(CORPORA)
