"""Files of synonyms: pairs as written, everything wrong with its row."""

import os

import pytest

from soundcheck.common.errors import InputError, Problems
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite.word_files import read_synonyms


def read(folder, text):
    file, problems = folder / "words.csv", Problems()
    file.write_text(text, encoding="utf-8")
    found = read_synonyms(file, "words.csv", NORMALISERS["basic"], problems)
    problems.raise_if_any()
    return found


def test_pairs_as_written(tmp_path):
    text = '\ufeffphrase,synonym\r\ngonna,going to\r\n\r\n"O.K., then",okay then\r\nנכון,כן\r\n'
    assert read(tmp_path, text) == (("gonna", "going to"), ("O.K., then", "okay then"), ("נכון", "כן"))


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("gonna,\n", "words.csv line 2, column synonym: it is empty"),
        ("gonna,going to\n!?,yes\n", "words.csv line 3, column phrase: it is empty once it is normalised"),
        ("a,b,c\n", "words.csv line 2: the row has 3 cells, the header 2"),
        (
            "a,b\nb,c\nc,A!\n",
            "words.csv line 4: .* the same already by rows before, which makes a circle",
        ),
        ("a,a\n", "words.csv line 2: .* the same already once they are normalised"),
    ],
)
def test_bad_rows(tmp_path, rows, what):
    with pytest.raises(InputError, match=what):
        read(tmp_path, "phrase,synonym\n" + rows)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "words.csv: the file is empty. Write phrase,synonym"),
        ("word,other\na,b\n", "words.csv line 1: the columns are not phrase"),
    ],
)
def test_other_tables(tmp_path, text, what):
    with pytest.raises(InputError, match=what):
        read(tmp_path, text)


def test_what_is_no_table(tmp_path):
    (tmp_path / "words.csv").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe.csv")  # would keep a reader waiting for ever
    problems = Problems()
    for name in ("words.csv", "none.csv", "pipe.csv"):
        assert read_synonyms(tmp_path / name, name, str, problems) == ()
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert [problem.where for problem in caught.value.problems] == [
        "words.csv line 1",
        "none.csv",
        "pipe.csv",
    ]
