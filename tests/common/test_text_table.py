import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.text_table import parse_number, parse_seconds, parse_text_table


def test_cells_are_kept_as_written():
    table = parse_text_table(b"\xef\xbb\xbffile,speaker\r\na.wav,001\r\nb.wav,NA\r\n", "t.csv")
    assert table.columns == {"file": ["a.wav", "b.wav"], "speaker": ["001", "NA"]}
    assert table.where(1, "speaker") == "t.csv line 3, column speaker"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"file,x\n", "no rows"),
        (b"file;x\na;1\n", "line 1: .*semicolons"),
        (b"file\tx\na\t1\n", "line 1: .*tabs"),
        (b"file,x\na.wav,1,\n", "line 2: the row has 3 cells, the header 2"),
        (b"file,x\na.wav\n", "line 2: the row has 1 cells"),
        (b'file,x\na.wav,1\n"b.wav,2\nc.wav,3\n', "line 3: the row that begins here"),
        (b"file,x,x\na,1,2\n", "two columns are called 'x'"),
        ("file,x\nä,1\n".encode("latin-1"), "line 2: byte 7 is not UTF-8"),
        ("file,x\n".encode("utf-16"), "UTF-16.*UTF-8"),
        (b"file,x\na\x00,1\n", "line 2: byte 8 is a NUL"),
        (b"\x80\x04pickle", "pickle"),
    ],
)
def test_what_is_no_table_is_refused(content, words):
    with pytest.raises(InputError, match=words):
        parse_text_table(content, "t.csv")


def test_all_bad_rows_are_told_at_once():
    with pytest.raises(InputError) as error:
        parse_text_table(b"file,x\na\nb\n" + b"c\n" * 30, "t.csv")
    assert len(error.value.problems) == 32
    assert "... and 12 more" in str(error.value)


@pytest.mark.parametrize("text", ["high", "0,5", "nan", "inf", "1e999", "1_0", "0x1", "True", ""])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="is not a"):
        parse_number(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1.5", 1.5), ("0 days 00:00:01.5", 1.5), ("1:00:00", 3600), ("2 days 0:0:1", 172801)],
)
def test_times(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["-1", "soon", "1:75:00"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match="'"):
        parse_seconds(text)
