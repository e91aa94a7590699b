"""Releases of Common Voice."""

import pytest
import soundfile
from segment_rows import rows

pytestmark = pytest.mark.skipif("MP3" not in soundfile.available_formats(), reason="libsndfile writes no MP3")

FOLDER = "cv-corpus-21.0/en"
ENTRY = f"format: commonvoice, path: {FOLDER}"
HEADER = "client_id path sentence_id sentence sentence_domain up_votes down_votes age gender accents variant"
HEADER = "\t".join([*HEADER.split(), "locale", "segment"])
ROWS = [
    ["c1", "cv_1.mp3", "5", 'He said "no', "", "2", "0", "fourties", "male_masculine", "", "", "en", ""],
    ["c1", "cv_2.mp3", "6", '"Quoted", all', "", "2", "0", "fourties", "male_masculine", "", "", "en", ""],
    ["c2", "cv_3.mp3", "7", "NA", "", "2", "1", "teens", "female_feminine", "US,Midwest", "", "en", ""],
    ["c3", "cv_4.mp3", "8", "so", "", "2", "1", "", "do_not_wish_to_say", "US|Ohio", "", "en", ""],
    ["c4", "cv_5.mp3", "8", "so", "", "2", "1", "", "non-binary", "US", "", "en", ""],
]


def release(table=ROWS, header=HEADER, name="test"):
    """Give the files of a release as it is unpacked."""
    clips = {f"{FOLDER}/clips/{row[1]}": number for number, row in enumerate(ROWS)}
    return clips | {f"{FOLDER}/{name}.tsv": "\n".join([header, *map("\t".join, table)]) + "\n"}


def test_the_table(load):
    corpus = load(f"{ENTRY}, groups: [age]", release() | {f"{FOLDER}/clips/cv_2.mp3": b""})
    columns = ("file", "transcript", "speaker", "sex", "age", "accent", "language")
    assert rows(corpus, *columns) == [  # quotes are letters
        ("cv_1.mp3", 'He said "no', "c1", "male", "forties", None, "en"),
        ("cv_3.mp3", "NA", "c2", "female", "teens", "US,Midwest", "en"),
        ("cv_4.mp3", "so", "c3", None, None, "US|Ohio", "en"),
        ("cv_5.mp3", "so", "c4", None, None, "US", "en"),
    ]
    assert corpus.root.name == "clips" and corpus.segments["duration"].between(0.4, 0.7).all()
    assert {"sex 'non-binary'", "cv_2.mp3"} == {item.item for item in corpus.left_out}
    notices = "\n".join(corpus.notices)
    assert "column sex: 'do_not_wish_to_say' counts as missing (1 row), 'female_feminine' counts" in notices
    assert "column age: 'fourties' counts as 'forties' (2 rows)" in notices
    assert "2 rows name several accents, such as 'US,Midwest': each such cell is a group of its" in notices


def test_words_of_the_suite_come_first(load):
    values = "values: {sex: {male_masculine: female, non-binary: male}, age: {fourties: old}}"
    table = load(f"{ENTRY}, groups: [age], {values}", release()).segments
    assert table["sex"].tolist() == ["female", "female", "female", None, "male"]
    assert table["age"].tolist()[:3] == ["old", "old", "teens"]


def test_older_releases_have_other_columns(load):
    header = "client_id\tpath\tsentence\tup_votes\tdown_votes\tage\tgender\taccent\tlocale\tsegment"
    old = [["c", "cv_1.mp3", "so", "2", "0", "", "other", "us", "en", ""]]
    assert rows(load(f"{ENTRY}/old.tsv", release(old, header, "old")), "accent", "sex") == [("us", None)]


def test_splits_are_tables(load, refused):
    files = release(ROWS[:1], name="train") | release()
    assert len(load(f"{ENTRY}, split: train", files).segments) == 1
    assert len(load(f"{ENTRY}/test.tsv", files).segments) == 5
    refused("no table 'dev.tsv'. `split:` names one of the tables.*test, train", f"{ENTRY}, split: dev")
    refused("split: path names a table already", f"{ENTRY}/test.tsv, split: test")


@pytest.mark.parametrize(
    ("header", "table", "words"),
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
def test_refused(refused, header, table, words):
    refused(words, ENTRY, release(table, header))
