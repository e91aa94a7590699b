import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import text_table
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
        (b"file|x\na|1\n", "line 1: .*bars"),
        (b"file;x\na;1;2\n", "line 2: the row has 3 cells, the header 2. .* hold a semicolon"),
        (b"file\tx\na,1\n", "line 2: the row has 1 cells"),
        (b"file,x\na.wav,1,\n", "line 2: the row has 3 cells, the header 2"),
        (b"file,x\na.wav\n", "line 2: the row has 1 cells"),
        (b'file,x\na.wav,1\n"b.wav,2\nc.wav,3\n', "line 3: the row that begins here"),
        (b"file,x,x\na,1,2\n", "two columns are called 'x'"),
        ("file,x\nä,1\n".encode("latin-1"), "line 2: byte 7 is not UTF-8"),
        ("file,x\n".encode("utf-16"), "UTF-16.*UTF-8"),
        (b"file,x\na\x00,1\n", "line 2: byte 8 is a NUL"),
        (b"\x80\x04pickle", "pickle"),
        (b'{"audio_filepath": "a.wav", "text": "go"}\n{"text": "on"}\n', "line 1: this is JSON, not a table"),
    ],
)
def test_what_is_no_table_is_refused(content, words):
    with pytest.raises(InputError, match=words):
        parse_text_table(content, "t.csv")


def test_all_bad_rows_are_told_at_once():
    with pytest.raises(InputError) as error:
        parse_text_table(b"file,x\na\nb\n" + b"c\n" * 30, "t.csv")
    assert len(error.value.problems) == 32
    assert "There are 32 of this kind, also t.csv line 3; t.csv line 4." in str(error.value)


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


# In columns, and cell by cell -------------------------------------------------------------------------------

cell_texts = st.text(st.sampled_from("ab1 .;|\t\u00e9\u2028\x0b\x1f'\\"), max_size=4)
line_ends = st.sampled_from(["\n", "\r\n"])


@given(
    st.lists(st.lists(cell_texts, min_size=2, max_size=2), min_size=1, max_size=6), line_ends, st.booleans()
)
def test_plain_texts_are_read_as_cell_by_cell(rows, end, ended):
    text = end.join(["x,y", *(",".join(row) for row in rows)]) + end * ended
    plain, slow = text_table._plain_csv(text, "t.csv"), text_table._csv(text, "t.csv")
    assert plain is not None
    assert plain.columns == slow.columns
    assert list(plain.places) == slow.places


@pytest.mark.parametrize(
    "text",
    [
        'x,y\n"1",2\n',
        "x,y\n1\n",
        "x,y\n1,2,3\n",
        "x,y\n\n1,2\n",
        "\nx,y\n1,2\n",
        "x,y\r1,2\r",
        "x,y\n",
        "x,y",
    ],
)
def test_what_is_not_plain_is_left_to_the_careful_reader(text):
    assert text_table._plain_csv(text, "t.csv") is None


def test_names_of_columns_are_checked_in_plain_texts_too():
    with pytest.raises(InputError, match="two columns are called 'x'"):
        text_table.parse_text_table(b"x,x\n1,2\n", "t.csv")


numbers_as_written = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.decimals(-1000, 1000, places=4, allow_nan=False).map(str),
    st.integers().map(str),
    st.sampled_from(
        ["", " ", "nan", "NaT", "1.", ".5", "-0", "+1", "1_000", "\u0661", "0x1", "1e400", "0:01:30", "1,5"]
    ),
).flatmap(lambda text: st.sampled_from([text, f" {text}", f"{text}\t"]))


@given(st.lists(numbers_as_written, max_size=8), st.sampled_from([parse_number, parse_seconds]))
def test_a_column_is_read_as_its_cells(cells, parse):
    values, problems = text_table.parse_column(cells, parse)
    expected, wrong = [], []
    for row, cell in enumerate(cells):
        expected.append(float("nan"))
        try:
            expected[-1] = parse(cell.strip()) if cell else float("nan")
        except ValueError as error:
            wrong.append((row, str(error)))
    assert list(map(repr, values.tolist())) == list(map(repr, map(float, expected)))
    assert problems == wrong
