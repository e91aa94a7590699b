"""Layouts of text files that name pairs of utterances: words in lines, columns under a header, tables.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF, CR LF or CR; blank lines say nothing.
  Blanks and tabs separate words.
- A first line that names all columns that are needed is a header: of a CSV table if commas separate the
  names, else of columns that are separated by tabs or blanks. Parquet is a table, too.
- Over lines of three words a header may also name the label or score alone, and describe the names as it
  likes, ``label speaker/video/utterance speaker/video/utterance``; or consist of plain words.
- What a column holds is called ``enrol``, ``test``, ``label``, ``score``, ``model`` or ``utterance`` here,
  whatever the file calls it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, parse_text_table

__all__ = ["Cells", "HEADER_WORDS", "read_cells", "three_words"]

HEADINGS = {  # what a column holds -> what it may be called; case, blanks, - and _ do not count
    "enrol": ("enrol", "enroll", "enrolment", "enrollment", "model", "modelid", "path1", "file1"),
    "test": ("test", "segment", "segmentid", "path2", "file2"),
    "label": ("label", "target", "targettype"),
    "score": ("score", "llr"),
    "model": ("model", "modelid", "enrol", "enroll", "enrolment", "enrollment"),
    "utterance": ("utterance", "segment", "segmentid", "file", "path"),
}
HEADER_WORDS = {  # what may stand over the labels and scores of lines of three words
    "label": HEADINGS["label"],
    "score": (*HEADINGS["score"], "prediction"),
}
NAMES = ("enrol", "test", "model", "utterance")  # columns whose cells must not be empty

_CORRECT = "Correct the line; names with blanks need a CSV table"
_HEADER_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SEPARATORS = re.compile("[,;|]")  # of cells; a table with any but commas is refused when it is read
_IGNORED = re.compile(r'[\s"_-]')  # in names of columns


@dataclasses.dataclass(frozen=True)
class Cells:
    """What stands in a file, whatever its layout.

    Parameters
    ----------
    shown
        How messages call the file.
    columns
        What a column holds -> its cells, all of one length.
    places
        Line (or row) of each.
    form
        How the file was read, for messages.
    unit
        ``"line"`` or ``"row"``: what ``places`` counts.
    headings
        What a column holds -> what the file calls it; empty without header.
    word
        Where there is no header: number of the word, from 0, that is no name.
    problems
        Collected so far.
    """

    shown: str
    columns: Mapping[str, Sequence[str]]
    places: Sequence[int]
    form: str
    unit: str = "line"
    headings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    word: int | None = None
    problems: Problems = dataclasses.field(default_factory=Problems)

    def where(self, row: int, column: str) -> str:
        """Say where a cell stands: ``trials.csv line 5, column label``."""
        place = f"{self.shown} {self.unit} {self.places[row]}"
        return f"{place}, column {self.headings[column]}" if column in self.headings else place

    def both(self, one: int, other: int) -> str:
        """Say where two rows stand: ``trials.txt lines 5 and 9``."""
        return f"{self.shown} {self.unit}s {self.places[one]} and {self.places[other]}"

    def check_names(self) -> None:
        """Note names that are empty as problems."""
        for column in NAMES:
            for row, name in enumerate(self.columns.get(column, ())):
                if not name:
                    what = "the name is empty"
                    self.problems.add(self.where(row, column), what, "Fill it in or remove the line")


Lines = Callable[[list[list[str]], list[int], str], Cells]  # words of lines, their places, shown


def read_cells(content: bytes, shown: str, needed: Sequence[str], lines: Lines, layouts: str) -> Cells:
    """Read a file in one of its layouts.

    Parameters
    ----------
    content
        All bytes.
    shown
        How messages call the file.
    needed
        Columns of the layouts with a header; one of scores is read, too, if there is one.
    lines
        Reads the words of each line, with its place, if there is no header.
    layouts
        Remedy that shows them.

    Raises
    ------
    InputError
        If it is no UTF-8 text and no Parquet; if there is nothing in it, or nothing but a header; if rows and
        header differ in length.
    """
    if content.startswith(b"PAR1"):
        return _of_table(parse_text_table(content, shown), needed)
    written = _decoded(content, shown).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    places = [place for place, line in enumerate(written, start=1) if line and not line.isspace()]
    if not places:
        raise input_error(shown, "the file is empty", layouts)
    head = written[places[0] - 1]
    cells = _SEPARATORS.split(head)
    table = len(cells) > 1 and len(_roles(cells, needed)) > 1
    split = _tabbed if len(_roles(_tabbed(head), needed)) == len(needed) else _words
    columns = not table and len(_roles(split(head), needed)) == len(needed)
    if len(places) == 1 and (table or columns):
        raise input_error(shown, "the file has a header and nothing else", layouts)
    if table:
        return _of_table(parse_text_table(content, shown), needed)
    if columns:
        rows = [split(written[place - 1]) for place in places]
        return _under_header(rows[0], rows[1:], places[1:], shown, needed)
    return lines([_words(written[place - 1]) for place in places], places, shown)


def three_words(
    rows: list[list[str]],
    places: list[int],
    shown: str,
    word: int,
    holds: str,
    form: str,
    header: bool = False,
) -> Cells:
    """Read lines of three words, two of which are names.

    Parameters
    ----------
    rows, places, shown
        Words of lines, their places, and how messages call the file.
    word
        Number of the word, from 0, that is no name.
    holds
        What it is.
    form
        How messages call the layout.
    header
        Whether the first line may be a header; it is, if its word for the label or score is one of
        :data:`HEADER_WORDS`, or if all its words are made of letters, digits, ``_`` and ``-`` alone, like
        names of columns. The form then says so.
    """
    problems = Problems()
    if header and (
        _plain(rows[0][word]) in HEADER_WORDS[holds] or all(_HEADER_WORD.fullmatch(text) for text in rows[0])
    ):
        form += f" under the header {quoted(' '.join(rows[0]))}"
        rows, places = rows[1:], places[1:]
    kept = [n for n, row in enumerate(rows) if len(row) == 3]
    if len(kept) < len(rows):
        for row, place in zip(rows, places, strict=True):
            if len(row) != 3:
                what = f"the line has {len(row)} word{'s' * (len(row) > 1)}, not 3"
                problems.add(f"{shown} line {place}", what, _CORRECT)
        rows, places = [rows[n] for n in kept], [places[n] for n in kept]
    enrol, test = (n for n in range(3) if n != word)
    parts = {"enrol": enrol, "test": test, holds: word}
    columns = {column: [row[n] for row in rows] for column, n in parts.items()}
    return Cells(shown, columns, places, form, word=word, problems=problems)


def _decoded(content: bytes, shown: str) -> str:
    """Decode a text.

    Raises
    ------
    InputError
        If it is no UTF-8 or has a NUL; names the line.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        if error.start < 4:  # the reader of tables knows pickles, archives and the like by name
            parse_text_table(content, shown)
        what = f"byte {error.start} is not UTF-8 text"
        where = f"{shown} line {_line(content[: error.start].decode())}"
        raise input_error(where, what, "Save the file as UTF-8") from error
    if "\0" in text:
        before = text[: text.index("\0")]
        what = f"character {len(before) + 1} of the file is a NUL, this is no text"
        raise input_error(f"{shown} line {_line(before)}", what, "Save the file as UTF-8 text")
    return text.removeprefix("\ufeff")


def _line(before: str) -> int:
    """Count the line in which a text ends."""
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1


def _words(line: str) -> list[str]:
    words = line.replace("\t", " ").split(" ")
    return [word for word in words if word] if "" in words else words


def _tabbed(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line.split("\t")]


def _plain(name: str) -> str:
    """Write a heading as :data:`HEADINGS` does."""
    return _IGNORED.sub("", name).casefold()


def _roles(header: Iterable[str], wanted: Sequence[str]) -> dict[str, list[int]]:
    """Find the columns that hold what is wanted; only what is there."""
    names = [_plain(name) for name in header]
    found = {role: [n for n, name in enumerate(names) if name in HEADINGS[role]] for role in wanted}
    return {role: columns for role, columns in found.items() if columns}


def _chosen(header: Sequence[str], needed: Sequence[str], where: str) -> dict[str, int]:
    """Choose the column for each thing that is needed, and for scores if there are any.

    Raises
    ------
    InputError
        If there is none for something, or several.
    """
    problems = Problems()
    roles = _roles(header, list(dict.fromkeys([*needed, "score"])))
    for role, columns in roles.items():
        if len(columns) > 1:
            names = " and ".join(quoted(header[column]) for column in columns)
            problems.add(where, f"the columns {names} could all be meant as {role}", "Rename all but one")
    for role in needed:
        if role not in roles:
            there = ", ".join(quoted(name) for name in header[:10])
            what = f"there is no column {role}; there are {there}"
            problems.add(where, what, f"Allowed names: {', '.join(HEADINGS[role])}")
    problems.raise_if_any()
    return {role: columns[0] for role, columns in roles.items()}


def _of_table(table: TextTable, needed: Sequence[str]) -> Cells:
    header = list(table.columns)
    headings = {role: header[n] for role, n in _chosen(header, needed, table.header).items()}
    columns = {role: table.columns[name] for role, name in headings.items()}
    form = f"a table with the columns {', '.join(headings[role] for role in needed)}"
    return Cells(table.shown, columns, table.places, form, table.unit, headings)


def _under_header(
    header: list[str], rows: list[list[str]], places: list[int], shown: str, needed: Sequence[str]
) -> Cells:
    problems = Problems()
    chosen = _chosen(header, needed, f"{shown} line 1")
    for row, place in zip(rows, places, strict=True):
        if len(row) != len(header):
            what = f"the line has {len(row)} words, the header {len(header)}"
            problems.add(f"{shown} line {place}", what, _CORRECT)
    problems.raise_if_any()
    columns = {role: [row[n] for row in rows] for role, n in chosen.items()}
    headings = {role: header[n] for role, n in chosen.items()}
    form = f"columns {', '.join(headings[role] for role in needed)}"
    return Cells(shown, columns, places, form, headings=headings, problems=problems)
