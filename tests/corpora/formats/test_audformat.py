"""Databases written with audformat's own API, and such as nobody should open."""

import pickle

import audformat
import pandas as pd
import pytest
import yaml

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.audformat_database import read_database
from soundcheck.corpora.formats.audformat import only_flavour
from soundcheck.suite.corpus_format import CORPUS_FORMATS
from soundcheck.suite.entries import CorpusEntry

FILES = ["a.wav", "b.wav", "c.wav"]
HEADER = "name: x\ntables:\n  t:\n    type: filewise\n    columns:\n      arousal: {}\n"


def entry(path, **options):
    return CorpusEntry(name="db", format="audformat", path=path, shown_path="corpora/db", **options)


def read(path, **options):
    return read_database(entry(path, **options), BUILTIN)


def filewise(db, name, split=None, files=FILES, **columns):
    db[name] = audformat.Table(audformat.filewise_index(files), split_id=split)
    for column, (scheme, values) in columns.items():
        db[name][column] = audformat.Column(scheme_id=scheme)
        db[name][column].set(values)


@pytest.fixture
def db():
    """Speakers in a misc table, emotion as classes, arousal as numbers."""
    db = audformat.Database("made", languages=["deu"])
    db["speakers"] = audformat.MiscTable(pd.Index(["001", "NA"], name="speaker", dtype="string"))
    db["speakers"]["gender"] = audformat.Column()
    db["speakers"]["gender"].set(["female", "male"])
    db.schemes["speaker"] = audformat.Scheme("str", labels="speakers")
    db.schemes["emotion"] = audformat.Scheme("str", labels=["anger", "sadness"])
    db.schemes["arousal"] = audformat.Scheme("float", minimum=0, maximum=1)
    db.splits["test"] = audformat.Split("test")
    db.splits["train"] = audformat.Split("train")
    filewise(
        db,
        "files",
        speaker=("speaker", ["001", "NA", "001"]),
        emotion=("emotion", ["anger", "sadness", None]),
    )
    return db


@pytest.fixture(params=["csv", "parquet"])
def storage(request):
    return request.param


def test_filewise(db, tmp_path, storage):
    db.save(tmp_path, storage_format=storage)
    raw = read(tmp_path)
    assert raw.table["file"].tolist() == FILES
    assert raw.table["speaker"].tolist() == ["001", "NA", "001"]
    assert raw.table["sex"].tolist() == ["female", "male", "female"]
    assert raw.table["emotion"].tolist() == ["anger", "sadness", ""]
    assert raw.table["language"].tolist() == ["deu"] * 3
    assert (raw.table[["start", "end"]] == "").all(axis=None)
    unit = "line 2" if storage == "csv" else "row 1"
    assert raw.places[0] == f"corpora/db/db.files.{storage} {unit}"
    assert raw.root == tmp_path
    assert not raw.left_out


def test_segmented(db, tmp_path, storage):
    del db.tables["files"]
    index = audformat.segmented_index(["a.wav"] * 3, ["0s", "1.5s", "100.000000001s"], ["1.5s", "2s", pd.NaT])
    db["segments"] = audformat.Table(index)
    db["segments"]["activation"] = audformat.Column(scheme_id="arousal")
    db["segments"]["activation"].set([0, 0.25, None])
    db.save(tmp_path, storage_format=storage)
    table = read(tmp_path).table
    assert [float(text) for text in table["start"]] == [0, 1.5, 100.000000001]
    assert [float(text or "nan") for text in table["end"]] == pytest.approx(
        [1.5, 2, float("nan")], nan_ok=True
    )
    assert table["end"].tolist()[2] == ""
    assert [float(text) for text in table["arousal"][:2]] == [0, 0.25]
    assert table["arousal"].tolist()[2] == ""


def test_whole_days_are_times(tmp_path):
    (tmp_path / "db.yaml").write_text(HEADER.replace("filewise", "segmented"))
    (tmp_path / "db.t.csv").write_text("file,start,end,arousal\na.wav,0 days,1 days 00:00:01.25,0.5\n")
    table = read(tmp_path).table
    assert (table["start"].tolist(), table["end"].tolist()) == (["0"], ["86401.25"])


def test_labels_in_the_header_and_columns_of_the_suite(tmp_path):
    db = audformat.Database("made", languages=["deu", "eng"])
    about = {"s1": {"sex": "male", "tongue": "deu"}, "s2": {"sex": "female"}}
    db.schemes["speaker"] = audformat.Scheme("str", labels=about)
    db.schemes["act"] = audformat.Scheme("int")
    filewise(db, "all", talker=("speaker", ["s1", "s2", "s1"]), act=("act", [1, None, 7]))
    db.save(tmp_path, storage_format="csv")
    columns = {"arousal": "act", "speaker": "speaker.id", "accent": "talker.tongue"}
    table = read(tmp_path, columns=columns).table
    assert table["arousal"].tolist() == ["1", "", "7"]
    assert table["speaker"].tolist() == ["s1", "s2", "s1"]
    assert table["sex"].tolist() == ["male", "female", "male"]
    assert table["accent"].tolist() == ["deu", "", "deu"]
    assert "language" not in table  # two languages: which is meant?


def test_tables_are_joined_and_bring_their_split(db, tmp_path):
    filewise(db, "emotion.train", "train", FILES[:1], felt=("arousal", [0.1]))
    filewise(db, "emotion.test", "test", FILES[1:], felt=("arousal", [0.2, 0.3]))
    db.save(tmp_path, storage_format="csv")
    raw = read(tmp_path)
    table = raw.table.sort_values("file")
    assert table["file"].tolist() == FILES
    assert table["arousal"].tolist() == ["0.1", "0.2", "0.3"]
    assert table["split"].tolist() == ["train", "test", "test"]
    assert table["speaker"].tolist() == ["001", "NA", "001"]
    assert [place.rsplit(" ", 2)[0] for place in raw.places] == [
        *["corpora/db/db.emotion.test.csv"] * 2,
        "corpora/db/db.emotion.train.csv",
    ]
    assert "speaker" not in read(tmp_path, tables=("emotion.test",)).table


def test_tables_of_both_storages_are_joined_by_time(tmp_path):
    db = audformat.Database("made")
    index = audformat.segmented_index(["a.wav"] * 3, [0, 1, 1.25], [1, 1.25, pd.NaT])
    for name, values in (("arousal", [0.1, 0.2, 0.3]), ("valence", [0.4, 0.5, 0.6])):
        db[name] = audformat.Table(index)
        db[name][name] = audformat.Column()
        db[name][name].set(values)
    db.save(tmp_path, storage_format="csv")
    db["valence"].save(tmp_path / "db.valence", storage_format="parquet")
    (tmp_path / "db.valence.csv").unlink()
    raw = read(tmp_path)
    assert raw.table["end"].tolist() == ["1", "1.25", ""]
    assert raw.table["valence"].tolist() == ["0.4", "0.5", "0.6"]
    assert [place.rsplit(" ", 2)[0] for place in raw.places] == ["corpora/db/db.arousal.csv"] * 3


def test_rows_of_one_segment(tmp_path):
    """Twice in a table stays, for the checks of all tables; another table fills the first of them."""
    (tmp_path / "db.yaml").write_text(HEADER + "  u: {columns: {arousal: {}, valence: {}}}\n")
    (tmp_path / "db.t.csv").write_text("file,arousal\nb.wav,0.1\na.wav,\na.wav,0.3\n")
    (tmp_path / "db.u.csv").write_text("file,arousal,valence\na.wav,0.2,0.5\nc.wav,,0.6\n")
    raw = read(tmp_path)
    assert raw.table["file"].tolist() == ["b.wav", "a.wav", "a.wav", "c.wav"]
    assert raw.table["arousal"].tolist() == ["0.1", "0.2", "0.3", ""]
    assert raw.table["valence"].tolist() == ["", "0.5", "", "0.6"]
    assert [place[-6:] for place in raw.places] == ["line 2", "line 3", "line 4", "line 3"]


def test_contradicting_tables_are_refused(db, tmp_path):
    filewise(db, "other", emotion=("emotion", ["anger", "anger", None]))
    db.save(tmp_path, storage_format="csv")
    with pytest.raises(
        InputError, match=r"db.other.csv line 3, column emotion: 'anger' contradicts 'sadness'"
    ):
        read(tmp_path)
    assert len(read(tmp_path, tables=("files",)).table) == 3


def test_columns_of_no_use_may_differ(db, tmp_path):
    filewise(db, "other", note=(None, ["x", "y", "z"]), arousal=("arousal", [0, 0, 0]))
    db["files"]["note"] = audformat.Column()
    db["files"]["note"].set(["p", "q", "r"])
    db.save(tmp_path, storage_format="csv")
    assert len(read(tmp_path).table) == 3


def test_one_kind_of_rows_without_a_choice(db, tmp_path):
    db["parts"] = audformat.Table(audformat.segmented_index(["a.wav"], [0], [1]))
    for task in ("arousal", "emotion"):
        db["parts"][task] = audformat.Column(scheme_id=task)
    db["parts"]["arousal"].set([0.5])
    db["parts"]["emotion"].set(["anger"])
    db.save(tmp_path, storage_format="csv")
    raw = read(tmp_path)
    assert raw.table["end"].tolist() == ["1"]
    assert "only segmented tables are read, not 'files'" in raw.notices[0]
    assert len(read(tmp_path, tables=("parts", "files")).table) == 4


def test_labels_that_the_scheme_does_not_know(db, tmp_path):
    db.save(tmp_path, storage_format="csv")
    table = tmp_path / "db.files.csv"
    table.write_text(table.read_text().replace("sadness", "gloom"))
    raw = read(tmp_path)
    assert raw.table["emotion"].tolist() == ["anger", "", ""]
    (left_out,) = raw.left_out
    assert "gloom" in left_out.item
    assert "1 rows" in left_out.reason
    assert left_out.stage == "label"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tables": ("file",)}, "no table is called 'file'. Did you mean 'files'"),
        ({"columns": {"arousal": "emotoin"}}, "names 'emotoin'.*Did you mean 'emotion'"),
        ({"columns": {"sex": "speaker.gendre"}}, "names 'speaker.gendre'.*Did you mean 'speaker.gender'"),
    ],
)
def test_missing_names_are_refused(db, tmp_path, options, message):
    db.save(tmp_path, storage_format="csv")
    with pytest.raises(InputError, match=message):
        read(tmp_path, **options)


def test_column_missing_in_the_file(db, tmp_path):
    db.save(tmp_path, storage_format="csv")
    table = tmp_path / "db.files.csv"
    table.write_text(table.read_text().replace("emotion", "feeling"))
    with pytest.raises(InputError, match=r"db.files.csv line 1, column emotion: the column is missing"):
        read(tmp_path)


def test_nothing_of_use(tmp_path):
    db = audformat.Database("made")
    filewise(db, "all", weather=(None, ["dry", "wet", "dry"]))
    db.save(tmp_path, storage_format="csv")
    with pytest.raises(InputError, match="no table has a column that can be tested.*weather"):
        read(tmp_path)


# What nobody should open ------------------------------------------------------------------------------------


class Canary:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_header_runs_no_code(tmp_path):
    canary = tmp_path / "canary"
    (tmp_path / "db.yaml").write_text(f'{HEADER}meta: !!python/object/apply:os.system ["touch {canary}"]\n')
    with pytest.raises(InputError, match=r"db.yaml line 7: the header cannot be read safely.*tag"):
        read(tmp_path)
    assert not canary.exists()


def test_pickles_are_never_opened(db, tmp_path):
    canary = tmp_path / "canary"
    db.save(tmp_path, storage_format="csv")
    for name in ("files", "speakers"):
        (tmp_path / f"db.{name}.pkl").write_bytes(pickle.dumps(Canary(canary)))
    assert len(read(tmp_path).table) == 3
    assert not canary.exists()
    (tmp_path / "db.files.csv").unlink()
    with pytest.raises(InputError, match="neither a CSV nor a Parquet file; pickles are not read"):
        read(tmp_path)
    (tmp_path / "db.files.csv").write_bytes(pickle.dumps(Canary(canary)))
    with pytest.raises(InputError, match="pickle"):
        read(tmp_path)
    assert not canary.exists()
    pickle.loads(pickle.dumps(Canary(canary))).close()
    assert canary.exists()  # the canary would have sung


def test_references_within_reason(tmp_path):
    text = "name: x\nschemes:\n  a: &a {labels: {s1: {sex: male}}}\n  speaker: *a\n"
    text += "tables:\n  t: {columns: {speaker: {scheme_id: speaker}}}\n"
    (tmp_path / "db.yaml").write_text(text)
    (tmp_path / "db.t.csv").write_text("file,speaker\na.wav,s1\n")
    assert read(tmp_path).table["sex"].tolist() == ["male"]


def test_references_that_would_explode_are_never_written_out(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (tmp_path / "db.yaml").write_text("\n".join(lines) + "\n" + HEADER)
    (tmp_path / "db.t.csv").write_text("file,arousal\na.wav,0.5\n")
    assert len(read(tmp_path).table) == 1


@pytest.mark.parametrize(
    "text", ["tables: &t {t: *t}", "[" * 5000, "a: [", "", "tables: 3", "a: \x07", "name: '\\xff"]
)
def test_broken_headers_are_refused(tmp_path, text):
    (tmp_path / "db.yaml").write_text(text)
    with pytest.raises(InputError, match=r"corpora/db/db.yaml"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tables:\n  t: 3\n", "audformat cannot load the header"),
        ("tables:\n  t: {split_id: dev}\n", "Bad split ID 'dev'"),
        ("schemes: {arousal: {labels: x}}\n" + HEADER, "The misc table 'x'"),
        ("tables:\n  2: {type: filewise}\n", "'2' is not a valid name of a table"),
    ],
)
def test_headers_that_audformat_does_not_accept(tmp_path, text, words):
    (tmp_path / "db.yaml").write_text(text)
    with pytest.raises(InputError, match=f"corpora/db/db.yaml.*{words}"):
        read(tmp_path)


def test_header_missing_or_huge(tmp_path):
    with pytest.raises(InputError, match=r"db.yaml: the file does not exist"):
        read(tmp_path)
    with open(tmp_path / "db.yaml", "wb") as file:
        file.truncate(11 * 1024**2)
    with pytest.raises(InputError, match="more than the limit"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["../secret", "a/b", "a\\\\b", ".."])
def test_table_names_stay_in_the_folder(tmp_path, name):
    inner = tmp_path / "db"
    inner.mkdir()
    (inner / "db.yaml").write_text(HEADER.replace("  t:", f'  "{name}":'))
    (tmp_path / "secret.csv").write_text("file,arousal\na.wav,1\n")
    with pytest.raises(InputError, match="is not a valid name of a table"):
        read(inner)


def test_links_out_of_the_database(tmp_path):
    inner = tmp_path / "db"
    inner.mkdir()
    (inner / "db.yaml").write_text(HEADER)
    (tmp_path / "secret.csv").write_text("file,arousal\na.wav,1\n")
    (inner / "db.t.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(InputError, match="leads out of its folder"):
        read(inner)


# Tables that only tell more, and names of tables as groups


def test_attributes_fill_columns_and_bring_no_segments(db, tmp_path):
    filewise(db, "labels", None, FILES[1:], felt=("arousal", [0.2, 0.3]), note=(None, ["x", "y"]))
    db.save(tmp_path, storage_format="csv")
    options = {"tables": ("labels",), "options": {"attributes": ("files",)}}
    raw = read(tmp_path, **options)
    assert raw.table["file"].tolist() == FILES[1:] and raw.notices == ("not used: columns note",)
    assert raw.table["arousal"].tolist() == ["0.2", "0.3"]
    assert raw.table["speaker"].tolist() == ["NA", "001"]
    assert raw.table["sex"].tolist() == ["male", "female"]
    assert all(place.startswith("corpora/db/db.labels.csv line ") for place in raw.places)
    mapped = read(tmp_path, columns={"speaker": "note"}, **options)
    assert mapped.table["speaker"].tolist() == ["x", "y"]  # the table of the segments comes first
    with pytest.raises(InputError, match="no table is called 'file'.*Did you mean 'files'"):
        read(tmp_path, tables=("labels",), options={"attributes": ("file",)})


def test_attributes_of_whole_files_and_of_segments(tmp_path):
    db = audformat.Database("made")
    index = audformat.segmented_index(["a.wav", "a.wav", "b.wav"], [0, 1, 0], [1, 2, 1])
    for name, rows, column, values in (
        ("labels", index, "arousal", [0.1, 0.2, 0.3]),
        ("who", index[1:], "speaker", ["s2", "s3"]),
        ("files", audformat.filewise_index(["a.wav"]), "language", ["deu"]),
        ("others", audformat.filewise_index(["z.wav"]), "accent", ["x"]),
    ):
        db[name] = audformat.Table(rows)
        db[name][column] = audformat.Column()
        db[name][column].set(values)
    db.save(tmp_path, storage_format="csv")
    raw = read(tmp_path, tables=("labels",), options={"attributes": ("who", "files", "others")})
    assert raw.table["speaker"].tolist() == ["", "s2", "s3"]
    assert raw.table["language"].tolist() == ["deu", "deu", ""]
    assert (raw.table["accent"] == "").all()
    assert raw.notices == ("the table 'others' tells nothing: it has none of the files",)


def test_the_name_of_a_table_may_be_a_group(db, tmp_path):
    filewise(db, "de-test", None, FILES[:1], speaker=("speaker", ["001"]))
    filewise(db, "en-test", None, FILES[1:], speaker=("speaker", ["NA", "001"]))
    db.save(tmp_path, storage_format="csv")
    table = read(tmp_path, tables=("de-test", "en-test"), columns={"language": "table"}).table
    assert table["language"].tolist() == ["de-test", "en-test", "en-test"]


def test_flavours_in_the_cache_of_audb(db, tmp_path):
    db.save(tmp_path / "0123abcd", storage_format="csv")
    (tmp_path / "notes").mkdir()
    assert only_flavour(tmp_path) == tmp_path / "0123abcd"
    form = CORPUS_FORMATS["audformat"]
    found = form.complete(entry(tmp_path))
    assert (found.path.name, found.shown_path) == ("0123abcd", "corpora/db/0123abcd")
    assert len(form.read(found, BUILTIN).table) == 3
    db.save(tmp_path / "89abcdef", storage_format="csv")
    assert only_flavour(tmp_path) == tmp_path
    with pytest.raises(InputError, match="several flavours .*'0123abcd', '89abcdef'.*path: corpora/db/0123"):
        read(tmp_path)


TEXTS = {"a01": "Links abbiegen bitte.", "a02": "Jetzt geradeaus fahren."}
FIELDS = {"a01": {"text": "Links.", "english": "Left."}, "a02": {"text": "Rechts.", "english": "Right."}}
OTHER_FIELDS = {"a01": {"english": "Left."}, "a02": {"english": "Right."}}
CODED = [  # ours, theirs, labels of the scheme, cells -> what is read, and a part of a notice
    ("transcript", "said", TEXTS, ["a01", "a02"], [*TEXTS.values()], "'Links abbiegen bitte.' for 'a01'"),
    ("transcript", "said.id", TEXTS, ["a01", "a02"], ["a01", "a02"], "is a code of 'said', such as 'a01'"),
    ("transcript", "said", FIELDS, ["a01", "a02"], ["Links.", "Rechts."], "what the labels of 'said' stand"),
    ("transcript", "said.english", FIELDS, ["a01", "a02"], ["Left.", "Right."], ""),
    ("transcript", "said", OTHER_FIELDS, ["a01", "a02"], ["a01", "a02"], "stands for: said.english"),
    ("transcript", "said", ["left", "right"], ["left", "right"], ["left", "right"], ""),
    ("transcript", "said", {"a01": "Links.", "a02": None}, ["a01", "a02"], ["Links.", ""], "for 'a01'"),
    ("emotion", "felt", {"W": "anger", "T": "sadness"}, ["W", "T"], ["anger", "sadness"], "'anger' for 'W'"),
    (
        "emotion",
        "felt",
        {"anger": "Wut", "sadness": "Trauer"},
        ["anger", "sadness"],
        ["anger", "sadness"],
        "",
    ),
    ("emotion", "felt", {"anger": {"colour": "red"}}, ["anger", "anger"], ["anger", "anger"], ""),
    ("emotion", "felt.colour", {"anger": {"colour": "red"}}, ["anger", "anger"], ["red", "red"], ""),
    ("sex", "gender", {"w": "weiblich", "m": "maennlich"}, ["w", "m"], ["w", "m"], ""),
    ("sex", "gender", {"f": "feminin", "m": "masculin"}, ["f", "m"], ["f", "m"], ""),
    ("sex", "gender", {1: "female", 2: "male"}, ["1", "2"], ["female", "male"], "'female' for '1'"),
    ("arousal", "level", {"1": "calm", "2": "excited"}, ["1", "2"], ["1", "2"], ""),
    ("arousal", "level", {"low": "0.1", "high": "0.9"}, ["low", "high"], ["0.1", "0.9"], "'0.1' for 'low'"),
    ("language", "tongue", {"de": "German", "en": "English"}, ["de", "en"], ["de", "en"], ""),
    ("language", "tongue", {"1": "German", "2": "English"}, ["1", "2"], ["German", "English"], "for '1'"),
    ("age", "years", {"a": "young", "b": "old"}, ["a", "b"], ["young", "old"], "'young' for 'a'"),
    ("speaker", "who", {"s1": "man, 31", "s2": "man, 31"}, ["s1", "s2"], ["s1", "s2"], ""),
    ("item", "said", TEXTS, ["a01", "a02"], ["a01", "a02"], ""),
]


def coded(path, labels, cells, scheme):
    """Write a database of one column with codes, as its header would be written by hand."""
    kind = "int" if isinstance(next(iter(labels)), int) else "str"
    header = {
        **{"name": "x", "schemes": {scheme: {"dtype": kind, "labels": labels}}},
        "tables": {"t": {"type": "filewise", "columns": {scheme: {"scheme_id": scheme}}}},
    }
    (path / "db.yaml").write_text(yaml.safe_dump(header))
    pd.DataFrame({"file": FILES[: len(cells)], scheme: cells}).to_csv(path / "db.t.csv", index=False)


@pytest.mark.parametrize(("ours", "theirs", "labels", "cells", "read_as", "told"), CODED)
def test_codes_and_what_they_stand_for(tmp_path, ours, theirs, labels, cells, read_as, told):
    coded(tmp_path, labels, cells, theirs.partition(".")[0])
    raw = read(tmp_path, columns={ours: theirs}, adjust=("age",))
    assert raw.table[ours].tolist() == read_as
    notices = [one for one in raw.notices if "stand for" in one or "stands for" in one]
    assert (told in notices[0]) if told else not notices


def test_codes_that_values_map_are_left(tmp_path):
    coded(tmp_path, {"W": "Wut", "T": "Trauer"}, ["W", "T"], "emotion")
    assert read(tmp_path).table["emotion"].tolist() == ["Wut", "Trauer"]
    mapped = read(tmp_path, values={"emotion": {"W": "anger", "T": "sadness"}})
    assert mapped.table["emotion"].tolist() == ["W", "T"]


def test_blocks_are_codes_because_two_may_stand_for_the_same(tmp_path):
    coded(tmp_path, {"x1": "a studio", "x2": "a studio"}, ["x1", "x2"], "session")
    assert read(tmp_path, blocks=("session",)).table["session"].tolist() == ["x1", "x2"]
    assert read(tmp_path, adjust=("session",)).table["session"].tolist() == ["a studio", "a studio"]


def test_texts_of_codes_agree_with_audformat(db, tmp_path, storage):
    db["sentences"] = audformat.MiscTable(pd.Index(["a01", "a02"], name="sentence", dtype="string"))
    db["sentences"]["text"] = audformat.Column()
    db["sentences"]["text"].set(["Links.", "Rechts."])
    db.schemes["script"] = audformat.Scheme("str", labels="sentences")
    db.schemes["transcription"] = audformat.Scheme("str", labels=TEXTS)
    cells = ["a01", "a02", "a01"]
    filewise(db, "said", script=("script", cells), transcription=("transcription", cells))
    db.save(tmp_path, storage_format=storage)
    for theirs, field in (("script", "text"), ("transcription", "transcription")):
        expected = db["said"].get(map={theirs: field})[field].tolist()
        raw = read(tmp_path, tables=("said",), columns={"transcript": theirs})
        assert raw.table["transcript"].tolist() == expected


def test_codes_in_a_table_of_labels(db, tmp_path, storage):
    db.schemes["g"] = audformat.Scheme("str", labels={"w": "female", "f": "male"})
    db["speakers"]["sexcode"] = audformat.Column(scheme_id="g")
    db["speakers"]["sexcode"].set(["w", "f"])
    db.save(tmp_path, storage_format=storage)
    raw = read(tmp_path, columns={"sex": "speaker.sexcode"})
    assert raw.table["sex"].tolist() == ["female", "male", "female"]


def test_names_with_a_dot_are_blocks_and_adjustments(db, tmp_path):
    db["speakers"]["age"] = audformat.Column()
    db["speakers"]["age"].set(["31", "52"])
    db.save(tmp_path, storage_format="csv")
    raw = read(tmp_path, blocks=("speaker.id",), adjust=("speaker.age",))
    assert raw.table["speaker.age"].tolist() == ["31", "52", "31"]
    assert raw.table["speaker.id"].tolist() == ["001", "NA", "001"]


def test_unread_tables_and_columns_are_named(db, tmp_path):
    filewise(db, "notes", note=(None, ["x", "y", "z"]), quality=(None, ["1", "2", "3"]))
    db.save(tmp_path, storage_format="csv")
    assert "not used: tables notes" in read(tmp_path).notices
    assert "not used: columns note, quality" in read(tmp_path, tables=("files", "notes")).notices
