"""Files of synonyms and of names: what is read, and everything that is wrong with its row."""

import pytest

from soundcheck.common.errors import InputError
from soundcheck.suite.suite_file import read_suite

SUITE = """\
corpora: {c: {format: csv, path: suite.yml}}
models: {m: {random: gaussian}}
families: all
"""


@pytest.fixture
def read(tmp_path):
    """Read a suite that names a file of words."""

    def read(key: str, text: str | bytes = "", name: str = "words.csv"):
        if text:
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "suite.yml").write_text(f"{SUITE}{key}\n")
        return read_suite(tmp_path / "suite.yml")

    return read


def test_synonyms_are_pairs_as_written(read):
    text = '\ufeffphrase,synonym\r\ngonna,going to\r\n\r\n"O.K., then",okay then\r\nנכון,כן\r\n'
    pairs = (("gonna", "going to"), ("O.K., then", "okay then"), ("נכון", "כן"))
    assert read("synonyms: words.csv", text).synonyms == pairs


@pytest.mark.parametrize(
    ("key", "text", "what"),
    [
        ("synonyms", "phrase,synonym\ngonna,\n", "words.csv line 2, column synonym: it is empty"),
        ("synonyms", "phrase,synonym\ngonna,going to\n!?,yes\n", "line 3, column phrase: it is empty once"),
        ("synonyms", "phrase,synonym\na,b,c\n", "line 2: the row has 3 cells, the header 2"),
        ("synonyms", "phrase,synonym\na,b\nb,c\nc,A!\n", "line 4: .* same already by rows before.* a circle"),
        ("synonyms", "phrase,synonym\na,a\n", "line 2: .* the same already once they are normalised"),
        ("synonyms", "word,other\na,b\n", "words.csv line 1: the columns are not phrase"),
        ("synonyms", "\n", "words.csv: the file is empty"),
        ("synonyms", "", "^words.csv: the file does not exist"),
        ("entities", "", "^words.csv: the file does not exist"),
        ("entities", "file\na.wav\n", "words.csv line 1: there is no column name"),
    ],
)
def test_bad_files_of_words(read, key, text, what):
    with pytest.raises(InputError, match=what):
        read("synonyms: words.csv" if key == "synonyms" else "entities: {person: words.csv}", text)
