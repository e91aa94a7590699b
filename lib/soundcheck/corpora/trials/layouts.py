"""Layouts of files that name pairs of utterances: words in lines, columns under a header, tables.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF, CR LF or CR; blank lines are skipped.
  Blanks and tabs separate words; commas and semicolons do if no cell of the first line has a blank inside.
- NIST's sides ``a`` and ``b`` are two speakers of a call: where columns under a header have both of one
  utterance, they belong to its name, ``call_a``.
- A first line that names all columns that are needed is a header: of a CSV table if commas or semicolons
  separate the names, else of columns separated by tabs or blanks, as NIST writes them. Parquet is a table.
- Otherwise all lines have as many words as the first one. The label is the column with most words that are
  labels, the score the first or last one with most numbers, and two others are the names. Further columns of
  numbers, labels, sexes or sides say nothing, but for labels beside scores. If the caller
  gives a layout, the label or score stands at the first or last place. A single word is a score.
- A header may stand above such lines: it names the label or score alone, and describes the names as it likes,
  ``label speaker/video/utterance speaker/video/utterance``; or it consists of plain words.
- Columns are called ``enrol``, ``test``, ``label``, ``score``, ``model`` and ``utterance`` here, whatever the
  file calls them.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import decode_text, parse_text_table
from soundcheck.corpora.utterances import bare_name

# In lower case, without - and _; numbers see label_of
_SAME = "target tgt tar true genuine client same samespeaker match yes positive pos".split()
_DIFFERENT = (
    "nontarget non imp impostor imposter false different differentspeaker diff nonmatch no neg".split()
)
LABELS = dict.fromkeys(_SAME, True) | dict.fromkeys([*_DIFFERENT, "negative"], False)
HEADINGS = {  # what a column holds -> what it may be called; case, blanks, - and _ do not count
    "enrol": (
        *("enrol", "enroll", "enrolment", "enrollment", "enrolid", "enrollid", "model", "modelid"),
        *("path1", "file1", "utt1", "wav1", "audio1"),
    ),
    "test": ("test", "testid", "segment", "segmentid", "path2", "file2", "utt2", "wav2", "audio2"),
    "label": ("label", "target", "targettype", "istarget", "key", "same", "samespeaker", "issame", "match"),
    "score": ("score", "llr", "similarity", "cosine", "cosinescore", "cosinesimilarity", "sim"),
    "side": ("side",),
    "model": ("model", "modelid", "enrol", "enroll", "enrolment", "enrollment"),
    "utterance": ("utterance", "segment", "segmentid", "file", "path"),
}
_PLACES = {"voxceleb": "first", "kaldi": "last"}  # layout of lines -> where the label or score stands
_EXAMPLES = {"enrol": "enrol", "test": "test", "score": "0.107", "label": "target", "": "..."}
_SCORE_WORDS = (*HEADINGS["score"], "prediction")  # what may be above scores of lines
_SIDES = ("a", "b", "A", "B")  # of NIST's calls
_SAMPLE = 1000  # lines that tell which columns are numbers
_CORRECT = "Correct the line; names with blanks need a CSV table"
_HEADER_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SEPARATORS = re.compile("[,;|]")  # of cells; a table with bars is refused when it is read
_SEPARATED = re.compile(r"[ \t]*[,;][ \t]*")  # cells without header
_LABEL_NUMBER = re.compile(r"[+-]?[01](\.0*)?")
_IGNORED = re.compile(r'[\s"_-]')  # in names of columns


@dataclasses.dataclass(frozen=True, eq=False)
class Listing:
    """What a file holds, whatever its layout."""

    shown: str  # how messages call the file
    layout: str  # ``"table"``, ``"nist"``, ``"lines"``, ``"numbers"`` (scores without names) or ``"spk2utt"``
    form: str  # how messages call the layout
    frame: pd.DataFrame  # text of the columns that were asked for; the index is the line (or row) of each
    # what a column holds -> what the file calls it; empty without header
    headings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unit: str = "line"  # ``"line"`` or ``"row"``: what the index counts
    problems: Problems = dataclasses.field(default_factory=Problems)

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, line: int, column: str = "") -> str:
        """Say where a cell is: ``trials.csv line 5, column label``."""
        place = f"{self.shown} {self.unit} {line}"
        return f"{place}, column {self.headings[column]}" if column in self.headings else place

    def check_names(self) -> None:
        """Note names that are empty as problems."""
        for column in self.frame.columns.difference(["label", "score", "side"], sort=False):
            for line in self.frame.index[self.frame[column] == ""]:
                what = "the name is empty"
                self.problems.add(self.where(line, column), what, "Fill it in or remove the line")

    def check_duplicates(self, names: list[str], same: str, what: str, remedy: str) -> None:
        """Note rows whose names are those of an earlier row as problems.

        - ``same``: only rows that differ from the earlier one in this column are wrong; if empty, all are.
        - ``what``: template of the message: columns of the row, and ``first``, what the earlier one has in
          ``same``.
        """
        different = self.frame.drop_duplicates([*names, same]) if same else self.frame
        if not different.duplicated(names).any():
            return
        rows = self.frame.assign(first=self.frame[same] if same else "", line=self.frame.index)
        repeated = rows.duplicated(names).to_numpy()
        earlier = rows.loc[~repeated, [*names, "first", "line"]]
        both = rows[repeated].drop(columns="first")
        both = both.merge(earlier, on=names, how="left", suffixes=("", "_first"), validate="many_to_one")
        for row in (both[both[same] != both["first"]] if same else both).to_dict("records"):
            where = f"{self.shown} {self.unit}s {row['line_first']} and {row['line']}"
            self.problems.add(where, what.format(**row | {name: quoted(row[name]) for name in names}), remedy)


def read_listing(content: bytes, shown: str, needed: Sequence[str], remedy: str, layout: str = "") -> Listing:
    """Read a file as text; utterances of both sides of a call get the names ``call_a`` and ``call_b``.

    - ``shown``: how messages call the file.
    - ``needed``: columns: two of names and ``"label"`` or ``"score"``, or ``"model"`` and ``"utterance"``.
      Labels that stand beside scores are read, too.
    - ``layout``: one of :data:`soundcheck.suite.corpus_format.TRIAL_LAYOUTS`; by default the first line tells
      it.
    - Raises InputError: if it is neither UTF-8 text nor Parquet; if there is nothing in it, or nothing but a
      header; if the first line tells no layout, or columns are missing. Lines with too few or too many words
      are noted as problems.
    """
    listing = _read(content, shown, needed, remedy, layout)
    frame, side = listing.frame, listing.frame.get("side")
    if side is not None and (side.groupby(frame[needed[1]]).nunique() > 1).any() and side.isin(_SIDES).all():
        frame = frame.assign(**{needed[1]: mapped(frame[needed[1]], bare_name) + "_" + side.str.lower()})
    return dataclasses.replace(listing, frame=frame.drop(columns="side", errors="ignore"))


def _read(content: bytes, shown: str, needed: Sequence[str], remedy: str, layout: str) -> Listing:
    if content.startswith(b"PAR1"):
        if layout not in ("", "table"):
            raise input_error(shown, "this is a Parquet table", "Write layout: table, or remove the key")
        return _read_table(content, shown, needed)
    # Lines end with \n from here on.
    source = io.StringIO(decode_text(content, shown), newline=None)
    first = list(itertools.islice((line.rstrip("\n") for line in source if line.strip()), 2))
    if not first:
        raise input_error(shown, "the file is empty", remedy)
    place, layout = (
        _PLACES.get(layout, ""),
        "lines" if layout in _PLACES else layout or _tell_layout(first, needed),
    )
    if layout in ("nist", "table") and len(first) == 1:
        raise input_error(shown, "the file has a header and nothing else", remedy)
    if layout == "table":
        return _read_table(content, shown, needed)
    if layout == "nist":
        return _read_columns(source, first[0], shown, needed)
    if layout == "spk2utt":
        return _read_spk2utt(source, shown)
    listing = _read_lines(source, first, shown, needed[-1], place)
    if listing is None:
        line = quoted(" ".join(_words(first[0])))
        what = f"the first line is neither a header nor in a known layout: {line}"
        raise input_error(f"{shown} line {_line(source, first[0])}", what, remedy)
    return listing


def _tell_layout(first: Sequence[str], needed: Sequence[str]) -> str:
    """Tell the layout from the first line."""
    cells = _SEPARATORS.split(first[0])
    if len(cells) > 1 and len(_roles(cells, needed)) > 1:
        return "table"
    if any(len(_roles(split(first[0]), needed)) == len(needed) for split in (_tabbed, _words)):
        return "nist"
    return "spk2utt" if "utterance" in needed else "lines"


def label_of(text: str) -> bool | None:
    """Say whether a label is that of a target trial; ``None`` if it is no label.

    >>> label_of("1.000"), label_of("-1"), label_of("non-target"), label_of("0.5")
    (True, False, False, None)
    """
    if _LABEL_NUMBER.fullmatch(text.strip()):
        return float(text) > 0
    return LABELS.get(_plain(text))


def mapped(column: pd.Series, change: Callable[[str], object]) -> pd.Series:
    """Apply a function to each different text of a column once."""
    return column.map({text: change(text) for text in column.unique()})


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _line(source: io.StringIO, wanted: str) -> int:
    """Find the number of a line."""
    return source.getvalue().split("\n").index(wanted) + 1


# Layouts ----------------------------------------------------------------------------------------------------


def _read_table(content: bytes, shown: str, needed: Sequence[str]) -> Listing:
    table = parse_text_table(content, shown)
    header = list(table.columns)
    headings = {role: header[n] for role, n in _chosen(header, needed, table.header).items()}
    columns = {role: table.columns[name] for role, name in headings.items()}
    frame = pd.DataFrame(columns, index=pd.Index(table.places), dtype=str)
    form = f"a table with the columns {', '.join(headings[role] for role in needed)}"
    return Listing(shown, "table", form, frame, headings, table.unit)


def _read_columns(source: io.StringIO, head: str, shown: str, needed: Sequence[str]) -> Listing:
    tabbed = "\t" in head and len(_roles(_tabbed(head), needed)) == len(needed)
    header = _tabbed(head) if tabbed else _words(head)
    place = _line(source, head)
    headings = {role: header[n] for role, n in _chosen(header, needed, f"{shown} line {place}").items()}
    problems = Problems()
    frame = _read_words(source, shown, len(header), "\t" if tabbed else r"\s+", problems).drop(index=place)
    frame = frame[[header.index(name) for name in headings.values()]].set_axis(list(headings), axis=1)
    if tabbed:
        frame = frame.apply(lambda column: column.str.strip(" "))
    form = f"columns {', '.join(headings[role] for role in needed)}"
    return Listing(shown, "nist", form, frame, headings, problems=problems)


def _read_lines(
    source: io.StringIO, first: Sequence[str], shown: str, value: str, place: str
) -> Listing | None:
    """Read lines of words; ``None`` if no column of them can be the label or score."""
    head, top = _words(first[0]), _line(source, first[0])
    cells = _SEPARATED.split(first[0].replace('"', "").strip())
    commas = len(cells) > 2 and all(cells) and not any(map(re.compile(r"\s").search, cells))
    if commas:
        head, source = cells, io.StringIO(_SEPARATED.sub(",", source.getvalue().replace('"', "")))
    elif len(head) < 4 and head[0].count("*") == 1:  # ESPnet joins the names so
        head, source = _words(first[0].replace("*", " ")), io.StringIO(source.getvalue().replace("*", " "))
    problems = Problems()
    frame = _read_words(source, shown, len(head), "," if commas else r"\s+", problems)
    columns = _columns(frame, value, place)
    if not columns:
        return None
    frame = frame.set_axis(columns, axis=1)[[column for column in columns if column]]
    own = frame[value]
    label = _EXAMPLES["label"] if value == "score" or own.iloc[-1].isalpha() else "1"
    examples = _EXAMPLES | {"label": label}
    form = (
        f"lines `{' '.join(examples[column] for column in columns)}`"
        if len(columns) > 1
        else "one number a line"
    )
    if len(frame) > 1 and _is_header(head, columns, value, own.iloc[1]):
        form += f" under the header {quoted(' '.join(head))}"
        frame = frame.drop(index=top)
    layout = "lines" if "enrol" in frame else "numbers"
    return Listing(shown, layout, form, frame, problems=problems)


def _columns(frame: pd.DataFrame, value: str, place: str) -> list[str]:
    """Tell what the columns of lines hold, empty text = nothing; no columns if they are no such lines."""
    width = frame.shape[1]
    labels = [mapped(frame[column], label_of).notna() for column in frame]
    numbers = [frame[column].iloc[:_SAMPLE].map(_is_float) for column in frame]
    fits = labels if value == "label" else numbers
    ends = (0, width - 1)
    own = {"first": ends[:1], "last": ends[1:]}.get(
        place, range(width) if value == "label" or width > 3 else ends
    )
    if value == "score" and width not in (1, 3):  # there are labels, too, and scores are rarely all 0 or 1
        own = [column for column in own if not labels[column].all()] or own
    likely = {
        column: fits[column]
        for column in own
        if place or fits[column].mean() >= 0.5 or fits[column][:2].any()
    }
    if not likely or (value == "label" and width < 3):
        return []
    # Names may be 0 and 1, too: words are rarer names, and the first line is most probably right.
    chosen = max(
        likely,
        key=lambda column: (
            likely[column].sum(),
            bool(likely[column].iloc[0]),
            value == "label" and not numbers[column].iloc[0],
            -column,
        ),
    )
    roles = {chosen: value}
    others = [column for column in range(width) if column != chosen]
    labelled = [column for column in others if labels[column].iloc[1:].all()]
    numbered = [column for column in others if column not in labelled and numbers[column].iloc[1:].all()]
    sides = [
        column for column in others if width > 3 and frame[column].isin((*_SIDES, "f", "m", "F", "M")).all()
    ]
    spare = len(others) - (2 if width > 2 else 0)
    for column in list(dict.fromkeys([*labelled[::-1], *numbered[::-1], *sides[::-1]]))[:spare]:
        others.remove(column)
        if value == "score" and column in labelled:
            roles[column] = "label"
    roles |= dict(zip(others, ("enrol", "test"), strict=False))
    return [roles.get(column, "") for column in range(width)] if len(others) in (0, 2) else []


def _is_header(words: Sequence[str], columns: Sequence[str], value: str, below: str) -> bool:
    """Tell whether words above lines are their header; ``below``: the label or score of the second line."""
    own = words[columns.index(value)]
    alike = own[-1].isalpha() == below[-1:].isalpha()  # above 1 and 0, same is a heading
    if (label_of(own) is not None and alike) if value == "label" else _is_float(own):
        return False
    if _plain(own) in (HEADINGS["label"] if value == "label" else _SCORE_WORDS):
        return True
    # A word may be a label with a slip of the pen.
    plain = (_HEADER_WORD.fullmatch(word) and label_of(word) is None for word in words)
    return not below.isalpha() and all(plain)


def _read_spk2utt(source: io.StringIO, shown: str) -> Listing:
    """Give each utterance of a line a row of its own."""
    problems = Problems()
    rows = []
    source.seek(0)
    for line, text in enumerate(source, start=1):
        model, *utterances = _words(text) or [""]
        if model and not utterances:
            what = f"the model {quoted(model)} has no utterance"
            problems.add(f"{shown} line {line}", what, "Write its utterances behind its name")
        rows += [(line, model, utterance) for utterance in utterances]
    frame = pd.DataFrame(rows, columns=["line", "model", "utterance"]).set_index("line")
    return Listing(shown, "spk2utt", "lines `model utterance ...`", frame, problems=problems)


# Words ------------------------------------------------------------------------------------------------------


def _read_words(
    source: io.StringIO, shown: str, width: int, separator: str, problems: Problems
) -> pd.DataFrame:
    """Read all lines of so many words, the index is their number; others are noted as problems."""
    # Under a header of one column more, and cut there, lines that are too long can be told.
    columns = range(width + 1)
    header = separator.replace(r"\s+", " ").join(map(str, columns))
    frame = pd.read_csv(
        io.StringIO(f"{header}\n{source.getvalue()}"),
        sep=separator,
        names=columns,
        header=0,
        usecols=columns,
        dtype=str,
        na_filter=False,
        quoting=csv.QUOTE_NONE,
        skip_blank_lines=False,
    )
    frame.index += 1
    doubtful = frame.index[(frame[width] != "") | (frame[width - 1] == "")]
    if not len(doubtful):
        return frame.drop(columns=width)
    lines = source.getvalue().split("\n")
    split = _words if separator == r"\s+" else lambda line: line.split(separator)
    counts = {line: len(split(lines[line - 1])) if lines[line - 1].strip() else 0 for line in doubtful}
    wrong = [line for line, count in counts.items() if count != width]
    for line in wrong:
        if counts[line]:  # no blank line
            what = f"the line has {counts[line]} word{'s' * (counts[line] > 1)}, not {width}"
            problems.add(f"{shown} line {line}", what, _CORRECT)
    return frame.drop(index=wrong, columns=width)


def _words(line: str) -> list[str]:
    return re.findall("[^ \t\n]+", line)


def _tabbed(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line.split("\t")]


# Headers ----------------------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    """Write a heading as :data:`HEADINGS` does."""
    return _IGNORED.sub("", name).casefold()


def _roles(header: Iterable[str], needed: Sequence[str]) -> dict[str, list[int]]:
    """Find the columns that hold what is needed; only what is there."""
    names = [_plain(name) for name in header]
    found = {role: [n for n, name in enumerate(names) if name in HEADINGS[role]] for role in needed}
    return {role: columns for role, columns in found.items() if columns}


def _chosen(header: Sequence[str], needed: Sequence[str], where: str) -> dict[str, int]:
    """Choose the column for each thing that is needed.

    Raises InputError: if there is none for something, or several.
    """
    problems = Problems()
    roles = _roles(header, needed)
    for role, columns in roles.items():
        if len(columns) > 1:
            names = " and ".join(quoted(header[column]) for column in columns)
            problems.add(where, f"the columns {names} could all be meant as {role}", "Rename all but one")
    for other in {"label", "side"}.difference(needed):
        if len(also := _roles(header, [other]).get(other, [])) == 1:
            roles[other] = also
    for role in needed:
        if role not in roles:
            there = ", ".join(quoted(name) for name in header[:10])
            what = f"there is no column {role}; there are {there}"
            problems.add(where, what, f"Allowed names: {', '.join(HEADINGS[role])}")
    problems.raise_if_any()
    return {role: columns[0] for role, columns in roles.items()}
