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
from soundcheck.common.messages import InputError
from soundcheck.corpora.formats.tables import only_flavour
from soundcheck.run.material import load
from soundcheck.run.selection import RunOptions, opened
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
COLUMNS = {  # in the name of a database and its table -> its columns, whose values take turns
    "dimensions": dict.fromkeys(("arousal", "dominance", "valence"), [0.1, 0.52, 0.9, 0.33]),
    " emotion": {"emotion": [*EMOTIONS, "disgust"]},
    "msp.* (files|speaker)": {"speaker": [*SPEAKERS], "gender": ["female", "male"]},
    "^(?!.*timit).* files| speaker$": {"speaker": [*SPEAKERS]},
    "accent.test": {"native_language": ["english", "amharic"], "age": [20, 30]},
    "words-in-context": {"language": ["de", "en"], "sentiment": ["negative", "neutral", "positive"]},
    "imda": {"speaker": [*SPEAKERS], "text": ["text 0", "text 0", "text 1", "text 1"]},
    "": {"duration": [0.1]},
}


def make_tables(path):
    entries, tables = DATABASES[path], {}
    for table in [name for entry in entries for name in [*entry["tables"], *entry.get("attributes", [])]]:
        # Tables about the same recordings list the same files, test sets and microphones their own.
        part = re.search(r"train|test-\d|boundary|mobile", table)
        parts = ("test", "train") if table == "speaker" else (part[0] if part else "test",)
        folder = f"{table}/" if path.startswith("published/mozilla") else ""
        names = [f"audio/{folder}{split}/{number}.wav" for split in parts for number in range(SIZE)]
        columns = next(names for where, names in COLUMNS.items() if re.search(where, f"{path} {table}"))
        tables[table] = names, {"train": "train", "test": "test"}.get(part[0] if part else ""), columns
    return tables


def write_database(folder, tables):
    """Write a database of noises as short as impulse responses."""
    db = audformat.Database("made")
    db.schemes["emotion"] = audformat.Scheme("str", labels=[*EMOTIONS, "disgust"])
    db.schemes["speaker"] = audformat.Scheme("str", labels=SPEAKERS)
    for split in ("train", "test"):
        db.splits[split] = audformat.Split(split)
    for table, (names, split, columns) in tables.items():
        db[table] = audformat.Table(audformat.filewise_index(names), split_id=split)
        for column, values in columns.items():
            db[table][column] = audformat.Column(scheme_id=column if column in db.schemes else None)
            db[table][column].set((values * len(names))[: len(names)])
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            noise = np.random.default_rng(sum(str(folder / name).encode())).normal(0, 0.05, 1600)
            soundfile.write(folder / name, noise * np.exp(-np.arange(1600) / 100), 16000)
    db.save(folder, storage_format="csv")


NOISES = {  # database of sounds -> its files, as the databases of the publication have them
    "musan/1.0.0": ["speech/librivox/a.wav", "noise/free-sound/b.wav", "music/fma/c.wav"],
    "cough-speech-sneeze/2.0.1": ["coughing/a.wav", "sneezing/b.wav"],
    "mardy/1.0.0": ["data/ir_1_C.wav", "data/ir_2_R.wav"],
    "air/1.4.2": ["data/air_binaural_booth_0_3.wav", "data/air_binaural_office_0_2.wav"],
}


def test_missing_databases_are_named_with_the_line_that_fetches_them(tmp_path):
    (tmp_path / "published.yml").write_text(TEXT)
    with pytest.raises(InputError, match="corpora.crema-d.path: .* the folder does not exist") as caught:
        read_suite(tmp_path / "published.yml")
    call = "audb.load_to('published/crema-d/1.2.0', 'crema-d', version='1.2.0')"
    assert call in str(caught.value)


def test_the_head_of_the_file_fetches_each_database():
    fetched = set(re.findall(r'fetch\("([^"]+)", "([^"]+)"', TEXT))
    paths = [*DATABASES, *(entry if isinstance(entry, str) else entry["path"] for entry in SOUNDS.values())]
    assert fetched == {tuple(Path(path).parts[1:]) for path in paths}


def test_databases_of_this_form_have_what_their_families_test(tmp_path):
    for number, path in enumerate(DATABASES):  # as audb.load_to writes them, or as in audb's cache
        write_database(tmp_path / path / ("abcd0123" if number % 2 else ""), make_tables(path))
    for database, names in NOISES.items():
        kinds = {"category": [Path(name).parts[0] for name in names]}
        write_database(tmp_path / "published" / database / "0123abcd", {"files": (names, None, kinds)})
    (tmp_path / "published.yml").write_text(TEXT)
    models = ("random-gaussian", "random-categorical")
    options = RunOptions(suite=tmp_path / "published.yml", out=tmp_path / "out", models=models)
    with opened(read_suite(options.suite), options) as place:
        material = load(place, 1)
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
