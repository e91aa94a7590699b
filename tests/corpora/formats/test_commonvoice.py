"""Releases of Common Voice."""

import pytest
import soundfile
from pages import example

from soundcheck.common.errors import InputError

HEADER = "client_id path sentence_id sentence sentence_domain up_votes down_votes age gender accents variant"
HEADER = "\t".join([*HEADER.split(), "locale", "segment"])
ROWS = [
    ["c1", "cv_1.mp3", "5", 'He said "no', "", "2", "0", "fourties", "male_masculine", "", "", "en", ""],
    ["c1", "cv_2.mp3", "6", '"Quoted", all', "", "2", "0", "fourties", "male_masculine", "", "", "en", ""],
    ["c2", "cv_3.mp3", "7", "NA", "", "2", "1", "teens", "female_feminine", "US,Midwest", "", "en", ""],
    ["c3", "cv_4.mp3", "8", "so", "", "2", "1", "", "do_not_wish_to_say", "US|Ohio", "", "en", ""],
    ["c4", "cv_5.mp3", "8", "so", "", "2", "1", "", "non-binary", "US", "", "en", ""],
]


@pytest.fixture
def release(tmp_path, write_sound):
    """Write a release as it is unpacked; gives a function that changes a table of it."""
    if "MP3" not in soundfile.available_formats():
        pytest.skip("libsndfile cannot write MP3")
    folder = tmp_path / "cv-corpus-21.0" / "en"
    for n, row in enumerate(ROWS):
        write_sound(folder / "clips" / row[1], n, format="MP3")

    def write(rows=ROWS, name: str = "test.tsv", header: str = HEADER):
        (folder / name).write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n", "utf-8")

    write()
    return write


RELEASE = "format: commonvoice, path: cv-corpus-21.0/en"


def test_the_table(load, release):
    corpus = load(f"{RELEASE}, groups: [age]")
    table = corpus.segments
    assert table["file"].tolist() == [row[1] for row in ROWS] and corpus.root.name == "clips"
    assert table["transcript"].tolist() == [row[3] for row in ROWS]  # quotes are letters
    assert table["speaker"].tolist() == ["c1", "c1", "c2", "c3", "c4"]
    assert table["sex"].tolist() == ["male", "male", "female", None, None]
    assert table["age"].tolist() == ["forties", "forties", "teens", None, None]
    assert table["accent"].tolist() == [None, None, "US,Midwest", "US|Ohio", "US"]
    assert table["language"].eq("en").all()
    assert table["duration"].between(0.4, 0.7).all()
    assert [item.item for item in corpus.left_out] == ["sex 'non-binary'"]
    told = "\n".join(corpus.notices)
    assert "column sex: 'do_not_wish_to_say' counts as missing (1 row), 'female_feminine' counts as" in told
    assert "column age: 'fourties' counts as 'forties' (2 rows)" in told
    assert "2 rows name several accents, such as 'US,Midwest': each such cell is a group of its own" in told


def test_words_of_the_suite_come_first(load, release):
    values = "values: {sex: {male_masculine: female, non-binary: male}, age: {fourties: old}}"
    table = load(f"{RELEASE}, groups: [age], {values}").segments
    assert table["sex"].tolist() == ["female", "female", "female", None, "male"]
    assert table["age"].tolist()[:3] == ["old", "old", "teens"]


def test_older_releases(load, release):
    header = "client_id\tpath\tsentence\tup_votes\tdown_votes\tage\tgender\taccent\tlocale\tsegment"
    release([["c", "cv_1.mp3", "so", "2", "0", "", "other", "us", "en", ""]], "old.tsv", header)
    table = load(f"{RELEASE}/old.tsv").segments
    assert table["accent"].tolist() == ["us"] and table["sex"].tolist() == [None]


def test_splits_are_tables(load, release):
    release(ROWS[:1], "train.tsv")
    assert len(load(f"{RELEASE}, split: train").segments) == 1
    assert len(load(f"{RELEASE}/test.tsv").segments) == 5
    with pytest.raises(InputError, match="no table 'dev.tsv'. `split:` names one of the tables.*test, train"):
        load(f"{RELEASE}, split: dev")
    with pytest.raises(InputError, match="split: path names a table already"):
        load(f"{RELEASE}/test.tsv, split: test")


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        (HEADER, [ROWS[0][:-1]], "test.tsv line 2: the row has 12 cells, the header 13"),
        (HEADER, [], "the table has a header but no rows"),
        (HEADER.replace("sentence_id", "path"), ROWS, "two columns are called 'path'"),
        (HEADER.replace("\tpath", "\tpfad"), ROWS, "test.tsv, column path: the column is missing"),
        (HEADER, [["c", "../test.tsv", *ROWS[0][2:]]], "leads out of the corpus folder"),
        (HEADER, [["c", "/etc/passwd", *ROWS[0][2:]]], "absolute path"),
        (HEADER, [["c", "cv_9.mp3", *ROWS[0][2:]]], "line 2, column file: the file 'cv_9.mp3' does not"),
        ("file,speaker", [["a.wav,x"]], "This looks like `format: csv`"),
        ('{"audio_filepath": "a", "text": "b"}', [], "This looks like `format: nemo`"),
    ],
)
def test_what_is_refused(load, release, header, rows, words):
    release(rows, header=header)
    with pytest.raises(InputError, match=words):
        load(RELEASE)


def test_damaged_clips_are_listed(load, release, tmp_path):
    (tmp_path / "cv-corpus-21.0/en/clips/cv_2.mp3").write_bytes(b"")
    corpus = load(RELEASE)
    assert len(corpus.segments) == 4
    assert ("cv_2.mp3", "0 bytes, the file is empty") in [(i.item, i.reason) for i in corpus.left_out]


def test_read_as_csv_it_is_recognised(load, release):
    with pytest.raises(InputError, match="This looks like `format: commonvoice`"):
        load("format: csv, path: cv-corpus-21.0/en/test.tsv")


def test_the_example_of_the_page(load, release, tmp_path):
    text = example("data", "Common Voice")
    assert "path: cv-corpus-21.0/en\n" in text
    entry = ", ".join(line.split("#")[0].strip() for line in text.splitlines()[2:])
    table = load(entry).segments
    assert table["age"].tolist()[:3] == ["forties", "forties", "teens"]
