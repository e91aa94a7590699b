"""The same rows in every format: splits under other names, words for nobody, one name for two people."""

import gzip
import json

import audformat
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from soundcheck.common.errors import InputError

FIELDS = ("file", "speaker", "sex", "accent", "language", "split", "transcript")


def lines(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts))


# One writer a format: gives the entry of the corpus in a suite ----------------------------------------------


def csv(folder, rows, **names):
    frame = pd.DataFrame(rows, columns=FIELDS).rename(columns=names)
    frame.to_csv(folder / "t.csv", index=False)
    return "format: csv, path: t.csv"


def parquet_table(folder, rows):
    pd.DataFrame(rows, columns=FIELDS).to_parquet(folder / "t.parquet")
    return "format: csv, path: t.parquet"


def nemo(folder, rows):
    names = ("audio_filepath", "speaker", "sex", "accent", "lang", "split", "text")
    lines(
        folder / "m.json",
        [json.dumps(dict(zip(names, row, strict=True)) | {"duration": 1.0}) for row in rows],
    )
    return "format: nemo, path: m.json"


def kaldi(folder, rows):
    files = ("wav.scp", "utt2spk", "utt2sex", "utt2accent", "utt2lang", "utt2split", "text")
    for place, name in enumerate(files):
        lines(folder / "k" / name, [f"{row[0].removesuffix('.wav')} {row[place]}" for row in rows])
    return "format: kaldi, path: k"


def lhotse(folder, rows):
    cuts = []
    for file, speaker, sex, accent, language, split, text in rows:
        name = file.removesuffix(".wav")
        sources = [{"type": "file", "channels": [0], "source": file}]
        recording = {"id": name, "sources": sources, "sampling_rate": 16000, "num_samples": 16000}
        said = {"id": name, "recording_id": name, "start": 0, "duration": 1, "channel": 0, "text": text}
        said |= {"speaker": speaker, "gender": sex, "language": language}
        said |= {"custom": {"accent": accent, "split": split}}
        cut = {"id": name, "start": 0, "duration": 1, "channel": 0, "supervisions": [said]}
        cuts.append(cut | {"recording": recording | {"duration": 1}, "type": "MonoCut"})
    content = "".join(json.dumps(cut) + "\n" for cut in cuts)
    (folder / "cuts.jsonl.gz").write_bytes(gzip.compress(content.encode()))
    return "format: lhotse, path: cuts.jsonl.gz"


def audiofolder(folder, rows):
    frame = pd.DataFrame(rows, columns=FIELDS).rename(columns={"file": "file_name", "transcript": "text"})
    (folder / "a").mkdir()
    frame.rename(columns={"speaker": "speaker_id", "sex": "gender"}).to_csv(
        folder / "a/metadata.csv", index=False
    )
    return "format: audiofolder, path: a"


def shard(folder, rows):
    table = pa.Table.from_pandas(pd.DataFrame(rows, columns=FIELDS).drop(columns="file"))
    (folder / "p").mkdir()
    names = [{"bytes": b"", "path": row[0]} for row in rows]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pq.write_table(table.append_column("audio", pa.array(names, kind)), folder / "p/data.parquet")
    return "format: parquet, path: p"


def speechbrain(folder, rows):
    frame = pd.DataFrame(rows, columns=FIELDS).rename(columns={"file": "wav", "transcript": "wrd"})
    frame = frame.rename(columns={"speaker": "spk_id", "sex": "gender"}).assign(duration=1.0)
    frame.insert(0, "ID", [row[0] for row in rows])
    frame.to_csv(folder / "s.csv", index=False)
    return "format: speechbrain, path: s.csv"


def database(folder, rows):
    db = audformat.Database("made")
    db["files"] = audformat.Table(audformat.filewise_index([row[0] for row in rows]))
    for place, name in enumerate(FIELDS[1:], 1):
        db["files"][name] = audformat.Column()
        db["files"][name].set([row[place] for row in rows])
    db.save(folder / "db", storage_format="csv")
    return "format: audformat, path: db"


WITH_SPLITS = (*(csv, parquet_table, nemo, kaldi, lhotse, audiofolder, shard, speechbrain, database),)


def commonvoice(folder, rows):
    names = ("path", "client_id", "gender", "accents", "locale", "split", "sentence")
    frame = pd.DataFrame(rows, columns=names).drop(columns="split")
    (folder / "cv").mkdir()
    frame.to_csv(folder / "cv/test.tsv", sep="\t", index=False)
    return "format: commonvoice, path: cv"


def emobox(folder, rows):
    names = ("wav", "speaker", "gender", "accent", "language", "split", "text")
    every = [dict(zip(names, row, strict=True)) | {"key": row[0], "emo": "Happy"} for row in rows]
    lines(folder / "e/data/x/x.jsonl", [json.dumps(one | {"task": "category"}) for one in every])
    return "format: emobox, path: e/data/x"


def rows_of(*splits):
    """Two segments a split, of two speakers."""
    return [
        (f"{n}{who}.wav", f"s{n}{who}", "f", "irish", "en", split, "turn left")
        for n, split in enumerate(splits)
        for who in "ab"
    ]


@pytest.mark.parametrize("write", WITH_SPLITS)
def test_splits_are_known_by_any_usual_name(load, tmp_path, write):
    entry = f"{write(tmp_path, rows_of('Train', 'Development', 'Test1', 'Test2'))}, audio: false"
    corpus = load(entry)
    assert sorted(corpus.segments["split"]) == ["Test1", "Test1", "Test2", "Test2"]
    told = "evaluated are the splits 'Test1' (2 rows), 'Test2' (2 rows); not used: 'Development' (2 rows), "
    assert f"{told}'Train' (2 rows). `split:` chooses one" in corpus.notices
    assert set(corpus.elsewhere["split"]) == {"Train", "Development"}
    assert set(load(f"{entry}, split: dev").segments["split"]) == {"Development"}


@pytest.mark.parametrize("write", WITH_SPLITS)
def test_without_a_test_set_the_suite_has_to_say_what_is_evaluated(load, tmp_path, write):
    entry = f"{write(tmp_path, rows_of('train', 'val'))}, audio: false"
    with pytest.raises(
        InputError, match=r"called test: 'train' \(2 rows\), 'val' \(2 rows\)\. Say .*split: val`"
    ):
        load(entry)
    assert len(load(f"{entry}, split: all").segments) == 4


@pytest.mark.parametrize("write", [*WITH_SPLITS, commonvoice, emobox])
def test_words_for_nobody_are_no_speaker_and_no_group(load, tmp_path, write):
    files = [f"{n}.wav" for n in range(6)]
    nobody = ("Unknown", "n/a" if write is kaldi else " n/a ", "none", "?")  # its lines end with their value
    rows = [(file, word, "f", "irish", "en", "test", "a") for file, word in zip(files, nobody, strict=False)]
    rows += [(files[4], "NA", *[nobody[0]] * 3, "test", "a"), (files[5], "s1", *["NA"] * 3, "test", "a")]
    entry = f"{write(tmp_path, rows)}, audio: false"
    corpus = load(entry)
    assert corpus.segments["speaker"].tolist() == ["NA", "s1"]  # somebody may be called so
    for name in ("sex", "accent", "language"):
        if name in corpus.segments and not (write is emobox and name == "accent"):
            assert corpus.segments[name].isna().all(), name
            told = f"column {name}: unknown are 'NA' (1 segment), 'Unknown' (1 segment)"
            assert any(notice.startswith(told) for notice in corpus.notices)
    assert sum("no speaker" in item.reason for item in corpus.left_out) == 4
    assert any(notice.startswith("column speaker: unknown are ") for notice in corpus.notices)
    assert len(load(f"{entry}, unknown: []").segments) == 6
    own = load(f"{entry}, unknown: [na]").segments
    assert len(own) == 5 and own["speaker"].notna().all()


@pytest.mark.parametrize("write", [*WITH_SPLITS, commonvoice, emobox])
def test_one_name_for_two_people_is_doubted(load, tmp_path, write):
    rows = [(f"{n}.wav", f"s{n % 2}", "fm"[n // 2 % 2], "x", "en", "test", "a") for n in range(8)]
    (caveat,) = load(f"{write(tmp_path, rows)}, audio: false").caveats
    assert caveat.text.startswith("2 of 2 speakers are of both sexes, so one name may stand for two people")
    assert "blocks: [part, speaker]" in caveat.text and (caveat.corpus, caveat.task) == ("c", "")


# What is not a column: folders, shards, tables --------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Train", "Test"), ["test"]),
        (("train-clean-100", "dev-clean", "test-clean", "test-other"), ["test-clean", "test-other"]),
        (("TRAIN", "Eval"), ["Eval"]),
        (("train", "eval", "test"), ["test"]),
        (("training", "validation"), "called test: 'train' .1 row.*`split: validation`"),
        (("train",), "called test: 'train' .1 row.*`split: train`, if no model learned from it"),
    ],
)
@pytest.mark.parametrize("shards", [False, True])
def test_folders_and_shards(load, tmp_path, write_sound, names, expected, shards):
    (tmp_path / "data").mkdir()
    for number, name in enumerate(names):
        sound = write_sound(tmp_path / "data" / name / "sub" / "a.wav", number)
        if shards:
            kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
            column = pa.array([{"bytes": sound.read_bytes(), "path": "a.wav"}], kind)
            pq.write_table(pa.table({"audio": column}), tmp_path / "data" / f"{name}-00000-of-00001.parquet")
    entry = f"format: {'parquet' if shards else 'audiofolder'}, path: data"
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected.replace("row", "shard") if shards else expected):
            load(entry)
    else:
        corpus = load(entry)
        assert sorted(corpus.segments["split"]) == expected
        assert any("not used: '" in notice for notice in corpus.notices)


def test_labels_that_look_like_no_split_stay_labels(load, tmp_path, write_sound):
    for number, name in enumerate(("latest", "learn", "tr", "et", "contest", "value")):
        write_sound(tmp_path / "data" / name / "a.wav", number)
    corpus = load("format: audiofolder, path: data")
    assert len(corpus.segments) == 6 and "split" not in corpus.segments


@pytest.mark.parametrize(
    ("names", "split", "expected"),
    [
        (
            ("train", "dev", "test", "validated", "other"),
            "",
            "evaluated is the table test.tsv; not used: dev.tsv, train.tsv",
        ),
        (("train", "my-test"), "", "evaluated is the table my-test.tsv; not used: train.tsv"),
        (("train", "Dev"), ", split: dev", "evaluated is the table Dev.tsv; not used: train.tsv"),
        (("train", "validated"), "", "there is no table 'test.tsv'"),
        (
            ("train", "test1", "test2"),
            "",
            "evaluated are the tables test1.tsv, test2.tsv; not used: train.tsv",
        ),
        (
            ("dev", "test", "train"),
            ", split: [dev, test]",
            "evaluated are the tables dev.tsv, test.tsv; not used: train.tsv",
        ),
        (("test1", "test2"), ", split: test", "there is no table 'test.tsv'.*test1, test2"),
        (("dev", "test"), ", split: [dev, tset]", "there is no table 'tset.tsv'.*Did you mean 'test'"),
    ],
)
def test_tables_of_a_release(load, tmp_path, names, split, expected):
    (tmp_path / "cv").mkdir()
    for name in names:
        (tmp_path / "cv" / f"{name}.tsv").write_text(f"client_id\tpath\tsentence\ns\t{name}.mp3\ta\n")
    entry = f"format: commonvoice, path: cv, audio: false{split}"
    if expected.startswith("there"):
        with pytest.raises(InputError, match=expected):
            load(entry)
    else:
        assert expected in load(entry).notices


def split_tables(folder, tables):
    """Write tables of a database: name -> name of its split, and what the header says it is for."""
    db = audformat.Database("made")
    for number, (name, (split, kind)) in enumerate(tables.items()):
        if split:
            db.splits[split] = audformat.Split(kind)
        db[name] = audformat.Table(audformat.filewise_index([f"{number}.wav"]), split_id=split)
        db[name]["arousal"] = audformat.Column()
        db[name]["arousal"].set([0.5])
    db.save(folder / "db", storage_format="csv")
    return "format: audformat, path: db, audio: false"


@pytest.mark.parametrize(
    ("tables", "more", "expected"),
    [
        ({"a": ("fit", "train"), "b": ("blind", "test")}, "", ["1.wav"]),
        ({"a": ("fit", "train"), "b": ("blind", "test")}, ", split: test", ["1.wav"]),
        ({"a": ("fit", "train"), "b": ("blind", "test")}, ", split: fit", ["0.wav"]),
        ({"a": ("Test", "other"), "b": ("Train", "other")}, "", ["0.wav"]),
        ({"emotion.train": (None, ""), "emotion.test": (None, "")}, "", ["1.wav"]),
        ({"emotion.train": (None, ""), "emotion.test": (None, "")}, ", tables: [emotion.train]", ["0.wav"]),
        ({"a": (None, ""), "b": (None, "")}, "", ["0.wav", "1.wav"]),
        ({"a": ("fit", "train"), "b": ("tune", "dev")}, "", r"'fit' \(1 row\), 'tune' .*`split: tune`"),
    ],
)
def test_splits_of_a_database_are_what_it_says(load, tmp_path, tables, more, expected):
    entry = split_tables(tmp_path, tables) + more
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected):
            load(entry)
    else:
        assert load(entry).segments["file"].tolist() == expected


@pytest.mark.parametrize("name", ["Split", "Split_Set", "set", "subset", "Partition", "data-split"])
def test_a_column_of_splits_under_another_name(load, tmp_path, name):
    entry = f"{csv(tmp_path, rows_of('Train', 'Test'), split=name)}, audio: false"
    corpus = load(entry)
    assert set(corpus.segments["split"]) == {"Test"}
    assert f"split is the column {name}; `columns:` takes another" in corpus.notices
    used = load(f"{entry}, columns: {{condition: {name}}}")
    assert len(used.segments) == 4 and "split" not in used.segments


def test_a_subset_that_is_no_split_stays_what_it_is(load, tmp_path):
    corpus = load(f"{csv(tmp_path, rows_of('clean', 'noisy'), split='subset')}, audio: false")
    assert len(corpus.segments) == 4 and "split" not in corpus.segments
