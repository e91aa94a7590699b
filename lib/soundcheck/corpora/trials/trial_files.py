"""Files of speaker verification: lists of trials, their scores, and utterances of enrolled speakers.

- Trials: ``1 enrol test`` as in VoxCeleb, ``enrol test target`` as in Kaldi, or columns under a header.
- Scores: ``0.107 enrol test``, ``enrol test 0.107`` or columns under a header; or one number a line, in the
  order of the trials. Labels beside them have to be those of the list.
- Enrolments: ``model utterance utterance ...``, as Kaldi's ``spk2utt``, or columns under a header.
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF, CR LF or CR; blank lines are skipped.
  Blanks and tabs separate words; commas and semicolons do if no cell of the first line has a blank inside.
- A first line that names all columns that are needed is a header: of a CSV table if commas or semicolons
  separate the names, else of columns separated by tabs or blanks, as NIST writes them. Parquet is a table.
- Otherwise all lines have as many words as the first one. The label is the column with most words that are
  labels, the score the first or last one with most numbers, and two others are the names. Further columns of
  numbers, labels, sexes or sides say nothing, but for labels beside scores. If the caller gives a layout, the
  label or score stands at the first or last place. A single word is a score.
- A header may stand above such lines: it names the label or score alone, and describes the names as it likes,
  ``label speaker/video/utterance speaker/video/utterance``; or it consists of plain words.
- Labels are 1 or ``target`` for one speaker, 0 or ``nontarget`` for two, or other words of :data:`LABELS`.
- NIST's sides ``a`` and ``b`` are two speakers of a call: where columns under a header have both of one
  utterance, they belong to its name, ``call_a``.
- A trial is a pair in its order: ``a b`` is not ``b a``.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.messages import Problems, counted, did_you_mean, input_error, quoted
from soundcheck.common.text_table import decode_text, parse_column, parse_number, parse_text_table
from soundcheck.corpora.utterances import bare_name

PAIR = ["enrol", "test"]
# In lower case, without - and _; numbers see label_of
_SAME = "target tgt tar true genuine client same samespeaker match yes positive pos".split()
_DIFFERENT = (
    "nontarget non imp impostor imposter false different differentspeaker diff nonmatch no neg negative"
)
LABELS = dict.fromkeys(_SAME, True) | dict.fromkeys(_DIFFERENT.split(), False)
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
_LABEL_WORDS = ("1", "0", "target", "nontarget", "tgt", "imp", "true", "false")  # that messages name
_SCORE_WORDS = (*HEADINGS["score"], "prediction")  # what may be above scores of lines
_SIDES = ("a", "b", "A", "B")  # of NIST's calls
_SAMPLE = 1000  # lines that tell which columns are numbers
_HEADER_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SEPARATORS = re.compile("[,;|]")  # of cells; a table with bars is refused when it is read
_SEPARATED = re.compile(r"[ \t]*[,;][ \t]*")  # cells without header
_LABEL_NUMBER = re.compile(r"[+-]?[01](\.0*)?")
_IGNORED = re.compile(r'[\s"_-]')  # in names of columns
_TABLE = "or a CSV table with the columns"
_TRIALS = f"Give lines such as `1 enrol.wav test.wav` or `enrol test target`, {_TABLE} enrol, test and label"
_SCORES = (
    "Give lines such as `0.107 enrol.wav test.wav` or `enrol test 0.107`, one number a line, "
    f"{_TABLE} enrol, test and score"
)
_ENROLMENTS = f"Give lines such as `model utterance1 utterance2`, {_TABLE} model and utterance"

Split = Callable[[str], list[str]]
_words: Split = re.compile(r"[^ \t]+").findall
_joined: Split = re.compile(r"[^ \t*]+").findall  # ESPnet joins names by stars


@dataclasses.dataclass(frozen=True, eq=False)
class Listing:
    """What a file holds, whatever its layout."""

    source: str  # how messages call the file
    frame: pd.DataFrame  # text of the columns that are needed; the index is the line (or row) of each
    form: str = ""  # how messages call the layout
    # what a column holds -> what the file calls it; empty without header
    headings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unit: str = "line"  # ``"line"`` or ``"row"``: what the index counts
    problems: Problems = dataclasses.field(default_factory=Problems)
    is_table: bool = False  # perhaps with further columns

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, line: int, column: str = "") -> str:
        """Say where a cell is: ``trials.csv line 5, column label``."""
        place = f"{self.source} {self.unit} {line}"
        return f"{place}, column {self.headings[column]}" if column in self.headings else place

    def refuse_empty_names(self) -> None:
        """Raise the problems so far, and names that are empty."""
        for column in self.frame.columns.difference(["label", "score"], sort=False):
            for line in self.frame.index[self.frame[column] == ""]:
                where = self.where(line, column)
                self.problems.add(where, "the name is empty", "Fill it in or remove the line")
        self.problems.raise_if_any()

    def refuse_repeated(self, names: list[str], what: str, remedy: str, but: str = "") -> None:
        """Refuse rows whose names are those of an earlier row.

        - ``what``: template of the message: columns of the row, and ``first``, what the earlier one has.
        - ``but``: only rows that differ from the earlier one in this column are wrong.
        """
        frame = self.frame.assign(line=self.frame.index)
        first = frame.groupby(names, sort=False).transform("first")
        wrong = frame.duplicated(names) & (frame[but] != first[but] if but else True)
        for row, earlier in zip(*(part[wrong].to_dict("records") for part in (frame, first)), strict=True):
            texts = row | {name: quoted(row[name]) for name in names}
            lines = f"{self.source} {self.unit}s {earlier['line']} and {row['line']}"
            self.problems.add(lines, what.format(**texts, first=earlier.get(but)), remedy)
        self.problems.raise_if_any()


def read_trials(path: str | os.PathLike, source: str, layout: str = "") -> Listing:
    """Read a list of trials, one row a trial: ``enrol``, ``test`` (str) and ``target`` (bool).

    ``layout`` is one of ``TRIAL_LAYOUTS`` of a suite; empty = the content tells it. All problems of the lines
    are reported at once, such as a pair with both labels.
    """
    trials = _read_listing(path, source, (*PAIR, "label"), _TRIALS, layout)
    labels = trials.frame["label"]
    target = _mapped(labels, label_of)
    for line, label in labels[target.isna()].items():
        remedy = did_you_mean(label, _LABEL_WORDS) + _read_as(trials, "; if not, set `layout:` of the corpus")
        what = f"{quoted(label)} is not a valid label of a trial"
        trials.problems.add(trials.where(line, "label"), what, remedy)
    trials.refuse_empty_names()
    trials = dataclasses.replace(trials, frame=trials.frame[PAIR].assign(target=target.astype(bool)))
    remedy = "Look where the two come from, such as two lists in one file, and correct the wrong one"
    trials.refuse_repeated(PAIR, "the trial {enrol} {test} has both labels", remedy, "target")
    return trials


def _read_as(listing: Listing, otherwise: str) -> str:
    """Say which layout a line disagrees with; empty if there is a header to look at."""
    return f". The file is read as {listing.form}{otherwise}" if not listing.headings else ""


def read_scores(path: str | os.PathLike, source: str) -> Listing:
    """Read scores of trials, one row a pair: ``enrol``, ``test`` (str) and ``score`` (float64, finite).

    With one number a line ``score`` alone; ``target`` (bool) if there are labels as well. All problems of the
    lines are reported at once, such as a pair with two scores.
    """
    scores = _read_listing(path, source, (*PAIR, "score"), _SCORES)
    numbers, wrong = parse_column(scores.frame["score"].tolist(), parse_number, needed=True)
    for row, what in wrong:
        remedy = "Give each trial a finite number" + _read_as(scores, "; a header tells others")
        scores.problems.add(scores.where(scores.frame.index[row], "score"), what, remedy)
    scores.refuse_empty_names()
    frame = scores.frame.assign(score=numbers)
    if "label" in frame:
        target = _mapped(frame.pop("label"), label_of)
        frame = frame if target.isna().any() else frame.assign(target=target.astype(bool))
    scores = dataclasses.replace(scores, frame=frame)
    if "enrol" not in frame:
        return scores
    what = "the trial {enrol} {test} has two scores, {first!r} and {score!r}"
    remedy = "Look where the two come from, such as two systems in one file, and give each a file of its own"
    scores.refuse_repeated(PAIR, what, remedy, "score")
    return dataclasses.replace(scores, frame=frame.drop_duplicates(PAIR))


def read_enrolments(path: str | os.PathLike, source: str) -> dict[str, list[str]]:
    """Read which utterances each speaker is enrolled with: model -> utterances, in the order of the file."""
    listing = _read_listing(path, source, ("model", "utterance"), _ENROLMENTS)
    listing.refuse_empty_names()
    if not listing.headings:  # a line a model, as in spk2utt
        lines = dataclasses.replace(listing, frame=listing.frame[~listing.frame.index.duplicated()])
        lines.refuse_repeated(["model"], "duplicate model {model}", "Write all its utterances in one line")
    what = "the model {model} has the utterance {utterance} twice"
    listing.refuse_repeated(["model", "utterance"], what, "Keep it once")
    return listing.frame.groupby("model", sort=False)["utterance"].agg(list).to_dict()


def score_text(
    enrol: Sequence[str], test: Sequence[str], scores: Sequence[float], threshold: float = np.nan
) -> tuple[bytes, str]:
    """Write scores of trials, ``0.107 enrol test`` a line; as CSV if names would not be read back.

    With a threshold there is a header and two columns more, ``0.107 enrol test reject 0.4``: what is decided
    and the threshold, above which a trial is accepted. :func:`read_scores` reads such a file as well.

    - ``scores``: written in as few digits as give the same float64 back.
    - ``threshold``: may be infinite; NaN if nothing is decided.
    - Returns the text in UTF-8, and the extension that suits it, ``.txt`` or ``.csv``.
    """
    frame = pd.DataFrame({"score": np.asarray(scores, dtype=np.float64), "enrol": enrol, "test": test})
    decided = not np.isnan(threshold)
    if decided:
        frame["decision"] = np.where(frame["score"] > threshold, "accept", "reject")
        frame["threshold"] = float(threshold)
    as_lines = not any(label_of(name) is not None or re.search(r"[\s,;]", name) for name in {*enrol, *test})
    options = {"sep": " ", "header": decided, "quoting": csv.QUOTE_NONE}
    if not as_lines:
        options = {"quoting": csv.QUOTE_NONNUMERIC}
        frame = frame[[*PAIR, *frame.columns.difference(PAIR, sort=False)]]
    text = frame.to_csv(index=False, lineterminator="\n", **options)
    return text.encode("utf-8", "backslashreplace"), ".txt" if as_lines else ".csv"


def label_of(text: str) -> bool | None:
    """Say whether a label is that of a target trial; ``None`` if it is no label.

    >>> label_of("1.000"), label_of("-1"), label_of("non-target"), label_of("0.5")
    (True, False, False, None)
    """
    if _LABEL_NUMBER.fullmatch(text.strip()):
        return float(text) > 0
    return LABELS.get(_plain(text))


# Layouts ----------------------------------------------------------------------------------------------------


def _read_listing(
    path: str | os.PathLike, source: str, needed: Sequence[str], remedy: str, layout: str = ""
) -> Listing:
    """Read a file as text; lines with too few or too many words are noted as problems.

    ``needed`` are columns: two of names and ``"label"`` or ``"score"``, or ``"model"`` and ``"utterance"``.
    Labels that stand beside scores are read, too.
    """
    content = files.require_regular(path, source).read_bytes()
    is_parquet, text = content.startswith(b"PAR1"), ""
    if not is_parquet:
        text = decode_text(content, source).replace("\r\n", "\n").replace("\r", "\n")
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    if not lines and not is_parquet:
        raise input_error(source, "the file is empty", remedy)
    top = next(iter(lines.values()), "")
    cells = _SEPARATORS.split(top)
    tabbed, spaced = (len(_roles(split(top), needed)) == len(needed) for split in (_tabbed, _words))
    named = len(cells) > 1 and len(_roles(cells, needed)) > 1
    is_table = is_parquet or layout == "table" or (not layout and named)
    has_header = is_table or layout == "nist" or (not layout and (tabbed or spaced))
    if has_header and len(lines) == 1:
        raise input_error(source, "the file has a header and nothing else", remedy)
    if is_table:
        table = parse_text_table(content, source)
        cells = pd.DataFrame(dict(enumerate(table.columns.values())), pd.Index(table.places), dtype=str)
        listing = Listing(source, cells, "a table with the columns", unit=table.unit, is_table=True)
        listing = _under_header(listing, [*table.columns], needed)
    elif has_header:
        split = _tabbed if tabbed else _words
        listing = _under_header(_split_all(source, lines, split), split(top), needed, drop=next(iter(lines)))
    elif "utterance" in needed:
        listing = _read_spk2utt(lines, source)
    else:
        listing = _read_lines(lines, source, needed[-1], remedy, _PLACES.get(layout, ""))
    frame, side = listing.frame, listing.frame.get("side")
    if side is not None and (side.groupby(frame[needed[1]]).nunique() > 1).any() and side.isin(_SIDES).all():
        frame = frame.assign(**{needed[1]: _mapped(frame[needed[1]], bare_name) + "_" + side.str.lower()})
    return dataclasses.replace(listing, frame=frame.drop(columns="side", errors="ignore"))


def _under_header(listing: Listing, header: list[str], needed: Sequence[str], drop: int = 0) -> Listing:
    """Choose the columns that a header names; ``drop`` is its line, if it is in the frame."""
    chosen = _chosen(header, needed, listing.where(drop or 1) if listing.unit == "line" else listing.source)
    headings = {role: header[n] for role, n in chosen.items()}
    frame = listing.frame.drop(index=[drop] if drop else [])[[*chosen.values()]].set_axis([*chosen], axis=1)
    form = f"{listing.form} {', '.join(headings[role] for role in needed)}"
    return dataclasses.replace(listing, frame=frame, headings=headings, form=form)


def _read_lines(lines: Mapping[int, str], source: str, value: str, remedy: str, place: str) -> Listing:
    """Read lines of words, one of which is the label or score."""
    number, top = next(iter(lines.items()))
    split, cells = _words, _cells(top)
    if len(cells) > 2 and all(cells) and not any(re.search(r"\s", cell) for cell in cells):
        split = _cells
    elif len(_words(top)) < 4 and _words(top)[0].count("*") == 1:
        split = _joined
    head, listing = split(top), _split_all(source, lines, split)
    columns = _columns(listing.frame, value, place)
    if not columns:
        what = f"the first line is neither a header nor in a known layout: {quoted(' '.join(_words(top)))}"
        raise input_error(f"{source} line {number}", what, remedy)
    frame = listing.frame.set_axis(columns, axis=1)[[column for column in columns if column]]
    values = frame[value]
    label = _EXAMPLES["label"] if value == "score" or values.iloc[-1].isalpha() else "1"
    example = " ".join((_EXAMPLES | {"label": label})[column] for column in columns)
    form = f"lines `{example}`" if len(columns) > 1 else "one number a line"
    if len(frame) > 1 and _is_header(head, columns, value, values.iloc[1]):
        form += f" under the header {quoted(' '.join(head))}"
        frame = frame.drop(index=number)
    return dataclasses.replace(listing, form=form, frame=frame)


def _columns(frame: pd.DataFrame, value: str, place: str) -> list[str]:
    """Tell what the columns of lines hold, empty text = nothing; no columns if they are no such lines."""
    width = frame.shape[1]
    labels = [_mapped(frame[column], label_of).notna() for column in frame]
    numbers = [frame[column].iloc[:_SAMPLE].map(_is_float) for column in frame]
    fits = labels if value == "label" else numbers
    anywhere = range(width) if value == "label" or width > 3 else (0, width - 1)
    places = {"first": [0], "last": [width - 1], "": anywhere}[place]
    if value == "score" and width not in (1, 3):  # there are labels, too, and scores are rarely all 0 or 1
        places = [column for column in places if not labels[column].all()] or places
    likely = [n for n in places if place or fits[n].mean() >= 0.5 or fits[n][:2].any()]
    if not likely or (value == "label" and width < 3):
        return []

    def rank(column: int) -> tuple[int, bool, bool, int]:
        # Names may be 0 and 1, too: words are rarer names, and the first line is most probably right.
        word = value == "label" and not numbers[column].iloc[0]
        return fits[column].sum(), bool(fits[column].iloc[0]), word, -column

    chosen = max(likely, key=rank)
    roles = {chosen: value}
    others = [column for column in range(width) if column != chosen]
    labelled = [column for column in others if labels[column].iloc[1:].all()]
    numbered = [column for column in others if column not in labelled and numbers[column].iloc[1:].all()]
    signs = (*_SIDES, "f", "m", "F", "M")
    sides = [column for column in others if width > 3 and frame[column].isin(signs).all()]
    spare = len(others) - (2 if width > 2 else 0)
    for column in list(dict.fromkeys([*labelled[::-1], *numbered[::-1], *sides[::-1]]))[:spare]:
        others.remove(column)
        if value == "score" and labelled == [column]:  # of several nobody knows which one it is
            roles[column] = "label"
    roles |= dict(zip(others, PAIR, strict=False))
    return [roles.get(column, "") for column in range(width)] if len(others) in (0, 2) else []


def _is_header(words: Sequence[str], columns: Sequence[str], value: str, below: str) -> bool:
    """Tell whether words above lines are their header; ``below``: the label or score of the second line."""
    word = words[columns.index(value)]
    alike = word[-1].isalpha() == below[-1:].isalpha()  # above 1 and 0, same is a heading
    if (label_of(word) is not None and alike) if value == "label" else _is_float(word):
        return False
    if _plain(word) in (HEADINGS["label"] if value == "label" else _SCORE_WORDS):
        return True
    # A word may be a label with a slip of the pen.
    return not below.isalpha() and all(_HEADER_WORD.fullmatch(w) and label_of(w) is None for w in words)


def _read_spk2utt(lines: Mapping[int, str], source: str) -> Listing:
    """Give each utterance of a line a row of its own."""
    problems, rows = Problems(), []
    for line, text in lines.items():
        model, *utterances = _words(text)
        if not utterances:
            what = f"the model {quoted(model)} has no utterance"
            problems.add(f"{source} line {line}", what, "Write its utterances behind its name")
        rows += [(line, model, utterance) for utterance in utterances]
    frame = pd.DataFrame(rows, columns=["line", "model", "utterance"]).set_index("line")
    return Listing(source, frame, problems=problems)


def _split_all(source: str, lines: Mapping[int, str], split: Split) -> Listing:
    """Split lines into as many words as the first one; others are noted as problems."""
    rows, problems = {number: split(line) for number, line in lines.items()}, Problems()
    width = len(next(iter(rows.values())))
    for number in [number for number, words in rows.items() if len(words) != width]:
        count = len(rows.pop(number))
        what = f"the line has {counted(count, 'word')}, not {width}"
        remedy = "Correct the line; names with blanks need a CSV table"
        problems.add(f"{source} line {number}", what, remedy)
    columns = dict(enumerate(zip(*rows.values(), strict=True)))
    frame = pd.DataFrame(columns, index=pd.Index([*rows], dtype=np.int64), dtype=str)
    return Listing(source, frame, "columns", problems=problems)


def _tabbed(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line.split("\t")]


def _cells(line: str) -> list[str]:
    return _SEPARATED.split(line.replace('"', "").strip())


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _mapped(column: pd.Series, change: Callable[[str], object]) -> pd.Series:
    """Apply a function to each different text of a column once."""
    return column.map({text: change(text) for text in column.unique()})


# Headers ----------------------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    """Write a heading as :data:`HEADINGS` does."""
    return _IGNORED.sub("", name).casefold()


def _roles(header: Iterable[str], needed: Sequence[str]) -> dict[str, list[int]]:
    """Find the columns that hold what is needed; only what is there."""
    names = [_plain(name) for name in header]
    columns = {role: [n for n, name in enumerate(names) if name in HEADINGS[role]] for role in needed}
    return {role: numbers for role, numbers in columns.items() if numbers}


def _chosen(header: Sequence[str], needed: Sequence[str], where: str) -> dict[str, int]:
    """Choose the column for each thing that is needed; refuse none or several."""
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
            what = f"there is no column {role}; there are {', '.join(map(quoted, header[:10]))}"
            problems.add(where, what, f"Allowed names: {', '.join(HEADINGS[role])}")
    problems.raise_if_any()
    return {role: columns[0] for role, columns in roles.items()}
