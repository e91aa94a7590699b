"""Databases written with audformat's own API, and such as nobody should open."""

import pickle
from pathlib import Path

import audformat
import pandas as pd
import pytest
import yaml

from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.audformat_database import read_database
from soundcheck.suite.corpus_format import CORPUS_FORMATS, CorpusEntry

FILES = ["a.wav", "b.wav", "c.wav"]
HEADER = "name: x\ntables:\n  t:\n    type: filewise\n    columns:\n      arousal: {}\n"


def entry(path, **options):
    return CorpusEntry(name="db", format="audformat", path=path, shown_path="corpora/db", **options)


def read(path, **options):
    return read_database(entry(path, **options), BUILTIN)


def refused(words, path, **options):
    with pytest.raises(InputError, match=words):
        read(path, **options)


def fill(table, columns):
    """Add columns to a table: cells, or a scheme and cells."""
    for column, cells in columns.items():
        scheme, cells = cells if isinstance(cells, tuple) else (None, cells)
        table[column] = audformat.Column(scheme_id=scheme)
        table[column].set(cells)


def add(db, name, index=FILES, **columns):
    index = audformat.filewise_index(index) if isinstance(index, list) else index
    db[name] = audformat.Table(index)
    fill(db[name], columns)


def add_labels(db, name, level, labels, **columns):
    db[name] = audformat.MiscTable(pd.Index(labels, name=level, dtype="string"))
    fill(db[name], columns)


@pytest.fixture
def db():
    db = audformat.Database("made", languages=["deu"])
    add_labels(db, "speakers", "speaker", ["001", "NA"], gender=["female", "male"], age=["31", "52"])
    db.schemes["speaker"] = audformat.Scheme("str", labels="speakers")
    db.schemes["emotion"] = audformat.Scheme("str", labels=["anger", "sadness"])
    db.schemes["arousal"] = audformat.Scheme("float", minimum=0, maximum=1)
    emotions = ["anger", "sadness", None]
    add(db, "files", speaker=("speaker", ["001", "NA", "001"]), emotion=("emotion", emotions))
    return db


@pytest.fixture
def saved(tmp_path):

    def save(db, storage="csv"):
        db.save(tmp_path, storage_format=storage)
        return tmp_path

    return save


@pytest.fixture
def written(tmp_path):

    def write(header=HEADER, **tables):
        (tmp_path / "db.yaml").write_text(header)
        for name, text in tables.items():
            (tmp_path / f"db.{name}.csv").write_text(text)
        return tmp_path

    return write


def cells(raw, *names):
    return raw.table[list(names)].to_numpy().tolist()


@pytest.mark.parametrize("storage", ["csv", "parquet"])
def test_rows_that_are_files(db, saved, storage):
    raw = read(saved(db, storage), blocks=("speaker.id",), adjust=("speaker.age",))
    assert cells(raw, "file", "speaker", "sex", "emotion", "language", "speaker.id", "speaker.age") == [
        ["a.wav", "001", "female", "anger", "deu", "001", "31"],
        ["b.wav", "NA", "male", "sadness", "deu", "NA", "52"],
        ["c.wav", "001", "female", "", "deu", "001", "31"],
    ]
    assert (raw.table[["start", "end"]] == "").all(axis=None)
    unit = "line 2" if storage == "csv" else "row 1"
    assert raw.places[0] == f"corpora/db/db.files.{storage} {unit}"
    assert raw.root.joinpath("db.yaml").exists() and not raw.left_out


@pytest.mark.parametrize("storage", ["csv", "parquet"])
def test_rows_that_are_segments_joined_by_time(db, saved, storage):
    """One of two tables is in the other storage."""
    del db.tables["files"]
    index = audformat.segmented_index(["a.wav"] * 3, ["0s", "1.5s", "100.000000001s"], ["1.5s", "2s", pd.NaT])
    add(db, "one", index, activation=("arousal", [0, 0.25, None]))
    add(db, "two", index, valence=[0.4, 0.5, 0.6])
    folder = saved(db, storage)
    (folder / f"db.two.{storage}").unlink()
    db["two"].save(folder / "db.two", storage_format="parquet" if storage == "csv" else "csv")
    texts = cells(read(folder), "start", "end", "arousal", "valence")
    table = [[text and float(text) for text in row] for row in texts]
    assert table == [[0, 1.5, 0, 0.4], [1.5, 2, 0.25, 0.5], [100.000000001, "", "", 0.6]]


def test_rows_of_one_segment(written):
    """Twice in a table stays, for the checks of all tables; another table fills the first of them."""
    header = HEADER + "  u: {columns: {arousal: {}, valence: {}}}\n"
    first = "file,arousal\nb.wav,0.1\na.wav,\na.wav,0.3\n"
    raw = read(written(header, t=first, u="file,arousal,valence\na.wav,0.2,0.5\nc.wav,,0.6\n"))
    assert cells(raw, "file", "arousal", "valence") == [
        ["b.wav", "0.1", ""],
        ["a.wav", "0.2", "0.5"],
        ["a.wav", "0.3", ""],
        ["c.wav", "", "0.6"],
    ]
    assert [place[-6:] for place in raw.places] == ["line 2", "line 3", "line 4", "line 3"]


def test_flavours_in_the_cache_of_audb(db, tmp_path):
    db.save(tmp_path / "0123abcd", storage_format="csv")
    (tmp_path / "notes").mkdir()
    form = CORPUS_FORMATS["audformat"]
    only = form.complete(entry(tmp_path))
    assert (only.path.name, only.shown_path) == ("0123abcd", "corpora/db/0123abcd")
    assert len(form.read(only, BUILTIN).table) == 3
    db.save(tmp_path / "89abcdef", storage_format="csv")
    assert form.complete(entry(tmp_path)).path == tmp_path
    refused("several flavours .*'0123abcd', '89abcdef'.*path: corpora/db/0123", tmp_path)


CODES = yaml.safe_load(Path(__file__).with_name("audformat.yml").read_text("utf-8"))["codes"]


@pytest.fixture
def coded(written):
    """Write a database of one column with codes, as its header would be written by hand."""

    def write(labels, scheme):
        kind = "int" if isinstance(next(iter(labels)), int) else "str"
        header = {
            **{"name": "x", "schemes": {scheme: {"dtype": kind, "labels": labels}}},
            "tables": {"t": {"type": "filewise", "columns": {scheme: {"scheme_id": scheme}}}},
        }
        lines = [f"{file},{code}" for file, code in zip(FILES, labels, strict=False)]
        return written(yaml.safe_dump(header, sort_keys=False), t="\n".join([f"file,{scheme}", *lines]))

    return write


@pytest.mark.parametrize(("ours", "theirs", "labels", "expected", "notice"), CODES)
def test_codes_and_what_they_stand_for(coded, ours, theirs, labels, expected, notice):
    raw = read(coded(labels, theirs.partition(".")[0]), columns={ours: theirs}, adjust=("age",))
    assert raw.table[ours].tolist() == expected
    notices = [notice for notice in raw.notices if "stand for" in notice or "stands for" in notice]
    assert (notice in notices[0]) if notice else not notices


def test_codes_that_are_needed_as_they_are(coded):
    """``values:`` maps codes; blocks are codes because two may stand for the same."""
    folder = coded({"W": "Wut", "T": "Trauer"}, "emotion")
    assert read(folder).table["emotion"].tolist() == ["Wut", "Trauer"]
    mapped = read(folder, values={"emotion": {"W": "anger", "T": "sadness"}})
    assert mapped.table["emotion"].tolist() == ["W", "T"]
    folder = coded({"x1": "a studio", "x2": "a studio"}, "session")
    assert read(folder, blocks=("session",)).table["session"].tolist() == ["x1", "x2"]
    assert read(folder, adjust=("session",)).table["session"].tolist() == ["a studio", "a studio"]


@pytest.mark.parametrize("storage", ["csv", "parquet"])
def test_texts_of_codes_agree_with_audformat(db, saved, storage):
    add_labels(db, "sentences", "sentence", ["a01", "a02"], text=["Links.", "Rechts."])
    db.schemes["script"] = audformat.Scheme("str", labels="sentences")
    db.schemes["transcription"] = audformat.Scheme("str", labels={"a01": "Links abbiegen.", "a02": "Rechts."})
    db.schemes["g"] = audformat.Scheme("str", labels={"w": "female", "f": "male"})
    fill(db["speakers"], {"code": ("g", [*"wf"])})  # in a table of labels
    codes = ["a01", "a02", "a01"]
    add(db, "said", script=("script", codes), transcription=("transcription", codes))
    folder = saved(db, storage)
    for theirs, field in (("script", "text"), ("transcription", "transcription")):
        expected = db["said"].get(map={theirs: field})[field].tolist()
        raw = read(folder, tables=("said",), columns={"transcript": theirs})
        assert raw.table["transcript"].tolist() == expected
    raw = read(folder, tables=("files",), columns={"sex": "speaker.code"})
    assert raw.table["sex"].tolist() == ["female", "male", "female"]


class Canary:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_pickles_are_never_opened(db, saved):
    folder = saved(db)
    canary = folder / "canary"
    for name in ("files", "speakers"):
        (folder / f"db.{name}.pkl").write_bytes(pickle.dumps(Canary(canary)))
    assert len(read(folder).table) == 3
    (folder / "db.files.csv").unlink()
    refused("neither a CSV nor a Parquet file; pickles are not read", folder)
    (folder / "db.files.csv").write_bytes(pickle.dumps(Canary(canary)))
    refused("pickle", folder)
    assert not canary.exists()


@pytest.mark.parametrize("header", ["[" * 5000, "#" * 11 * 1024**2], ids=["deep", "long"])
def test_headers_beyond_all_bounds_are_refused(written, header):
    refused("corpora/db/db.yaml", written(header))
