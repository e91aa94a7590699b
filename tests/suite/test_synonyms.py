"""Files of synonyms: pairs as written, everything wrong with its row."""

import pytest

from soundcheck.common.errors import InputError, Problems
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite.synonyms import read_synonyms


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
        ("gonna,\n", "words.csv:2: the synonym is empty"),
        ("gonna,going to\n!?,yes\n", "words.csv:3: the phrase is empty once it is normalised"),
        ("a,b,c\n", "words.csv:2: there are 3 cells, not 2"),
        ("a,b\nb,c\nc,A!\n", "words.csv:4: .* are the same already by rows before, which makes a circle"),
        ("a,a\n", "words.csv:2: .* makes a circle"),
    ],
)
def test_bad_rows(tmp_path, rows, what):
    with pytest.raises(InputError, match=what):
        read(tmp_path, "phrase,synonym\n" + rows)


def test_bad_files(tmp_path):
    for text in ("", "word,other\na,b\n"):
        with pytest.raises(InputError, match="words.csv:1: the columns are not phrase and synonym"):
            read(tmp_path, text)
    (tmp_path / "words.csv").write_bytes(b"\xff\xfe")
    problems = Problems()
    assert read_synonyms(tmp_path / "words.csv", "words.csv", str, problems) == ()
    assert read_synonyms(tmp_path / "none.csv", "none.csv", str, problems) == ()
    with pytest.raises(InputError, match=r"it cannot be read(.|\n)*there is no such file"):
        problems.raise_if_any()
