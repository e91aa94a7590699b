"""Files of synonyms and of names: what is read, and everything that is wrong with its row."""

import os

import pytest

from soundcheck.common.errors import InputError, Problems
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.word_files import read_synonyms


def synonyms(folder, text):
    file, problems = folder / "words.csv", Problems()
    file.write_text(text, encoding="utf-8")
    pairs = read_synonyms(file, "words.csv", NORMALISERS["basic"], problems)
    problems.raise_if_any()
    return pairs


def test_synonyms_are_pairs_as_written(tmp_path):
    text = '\ufeffphrase,synonym\r\ngonna,going to\r\n\r\n"O.K., then",okay then\r\nנכון,כן\r\n'
    assert synonyms(tmp_path, text) == (("gonna", "going to"), ("O.K., then", "okay then"), ("נכון", "כן"))


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("phrase,synonym\ngonna,\n", "line 2, column synonym: it is empty"),
        ("phrase,synonym\ngonna,going to\n!?,yes\n", "line 3, column phrase: it is empty once"),
        ("phrase,synonym\na,b,c\n", "line 2: the row has 3 cells, the header 2"),
        ("phrase,synonym\na,b\nb,c\nc,A!\n", "line 4: .* the same already by rows before.* a circle"),
        ("phrase,synonym\na,a\n", "line 2: .* the same already once they are normalised"),
        ("", ": the file is empty. Write phrase,synonym"),
        ("word,other\na,b\n", "line 1: the columns are not phrase"),
    ],
)
def test_bad_synonyms(tmp_path, rows, what):
    with pytest.raises(InputError, match=rf"words\.csv ?{what}"):
        synonyms(tmp_path, rows)


def test_synonyms_in_what_is_no_table(tmp_path):
    (tmp_path / "words.csv").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe.csv")  # would keep a reader waiting for ever
    problems = Problems()
    for name in ("words.csv", "none.csv", "pipe.csv"):
        assert read_synonyms(tmp_path / name, name, str, problems) == ()
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert [one.where for one in caught.value.problems] == ["words.csv line 1", "none.csv", "pipe.csv"]


@pytest.mark.parametrize(
    ("name", "what"), [("people.csv", "people.csv"), ("c.csv", "c.csv line 1: there is no column name")]
)
def test_bad_files_of_names(tmp_path, name, what):
    (tmp_path / "c.csv").write_text("file\na.wav\n")
    lines = ("corpora: {c: {format: csv, path: c.csv}}", "models: {m: {random: gaussian}}", "families: all")
    (tmp_path / "suite.yml").write_text("\n".join([*lines, f"entities: {{person: {name}}}"]))
    with pytest.raises(InputError, match=what):
        read_suite(tmp_path / "suite.yml")
