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
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import NUMBER, decode_text, parse_number, parse_text_table
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

Line = tuple[int, str]  # number and text
Split = Callable[[str], list[str]]


@dataclasses.dataclass(frozen=True, eq=False)
class Listing:
    """What a file holds, whatever its layout."""

    source: str  # how messages call the file
    layout: str  # ``"table"``, ``"nist"``, ``"lines"``, ``"numbers"`` (scores without names) or ``"spk2utt"``
    form: str  # how messages call the layout
    frame: pd.DataFrame  # text of the columns that are needed; the index is the line (or row) of each
    # what a column holds -> what the file calls it; empty without header
    headings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unit: str = "line"  # ``"line"`` or ``"row"``: what the index counts
    problems: Problems = dataclasses.field(default_factory=Problems)

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, line: int, column: str = "") -> str:
        """Say where a cell is: ``trials.csv line 5, column label``."""
        place = f"{self.source} {self.unit} {line}"
        return f"{place}, column {self.headings[column]}" if column in self.headings else place

    def check_names(self) -> None:
        """Note names that are empty as problems."""
        for column in self.frame.columns.difference(["label", "score", "side"], sort=False):
            for line in self.frame.index[self.frame[column] == ""]:
                what = "the name is empty"
                self.problems.add(self.where(line, column), what, "Fill it in or remove the line")

    def check_duplicates(self, names: list[str], same: str, what: str, remedy: str) -> None:
        """Refuse rows whose names are those of an earlier row, and other problems noted so far.

        - ``same``: only rows that differ from the earlier one in this column are wrong; if empty, all are.
        - ``what``: template of the message: columns of the row, and ``first``, what the earlier one has.
        """
        different = self.frame.drop_duplicates([*names, same]) if same else self.frame
        if different.duplicated(names).any():
            first: dict[tuple[str, ...], dict] = {}
            for line, row in zip(self.frame.index, self.frame.to_dict("records"), strict=True):
                row["line"] = line
                earlier = first.setdefault(tuple(row[name] for name in names), row)
                if earlier is not row and (not same or earlier[same] != row[same]):
                    names_quoted = {name: quoted(row[name]) for name in names}
                    text = what.format(**(row | names_quoted), first=earlier.get(same))
                    lines = f"{self.source} {self.unit}s {earlier['line']} and {line}"
                    self.problems.add(lines, text, remedy)
        self.problems.raise_if_any()


def read_trials(path: str | os.PathLike, source: str, layout: str = "") -> Listing:
    """Read a list of trials, one row a trial: ``enrol``, ``test`` (str) and ``target`` (bool).

    ``layout`` is one of ``TRIAL_LAYOUTS`` of a suite; empty = the content tells it. All problems of the lines
    are reported at once, such as a pair with both labels.
    """
    return parse_trials(files.require_regular(path, source).read_bytes(), source, layout)


def parse_trials(content: bytes, source: str, layout: str = "") -> Listing:
    """Read the bytes of a list of trials; see :func:`read_trials`."""
    trials = _read_listing(content, source, (*PAIR, "label"), _TRIALS, layout)
    labels = trials.frame["label"]
    target = _mapped(labels, label_of)
    for line, label in labels[target.isna()].items():
        remedy = did_you_mean(label, _LABEL_WORDS) + _read_as(trials, "; if not, set `layout:` of the corpus")
        what = f"{quoted(label)} is not a valid label of a trial"
        trials.problems.add(trials.where(line, "label"), what, remedy)
    trials.check_names()
    trials.problems.raise_if_any()
    trials = dataclasses.replace(trials, frame=trials.frame[PAIR].assign(target=target.astype(bool)))
    remedy = "Look where the two come from, such as two lists in one file, and correct the wrong one"
    trials.check_duplicates(PAIR, "target", "the trial {enrol} {test} has both labels", remedy)
    return trials


def _read_as(listing: Listing, otherwise: str) -> str:
    """Say which layout a line disagrees with; empty if there is a header to look at."""
    return f". The file is read as {listing.form}{otherwise}" if not listing.headings else ""


def read_scores(path: str | os.PathLike, source: str) -> Listing:
    """Read scores of trials, one row a pair: ``enrol``, ``test`` (str) and ``score`` (float64, finite).

    With one number a line ``score`` alone; ``target`` (bool) if there are labels as well. All problems of the
    lines are reported at once, such as a pair with two scores.
    """
    return parse_scores(files.require_regular(path, source).read_bytes(), source)


def parse_scores(content: bytes, source: str) -> Listing:
    """Read the bytes of a file of scores; see :func:`read_scores`."""
    scores = _read_listing(content, source, (*PAIR, "score"), _SCORES)
    texts = scores.frame["score"].str.strip()
    decimal = texts.where(texts.str.fullmatch(NUMBER.pattern), "nan")
    numbers = decimal.to_numpy(dtype=object).astype(np.float64)
    for line, text in texts[~np.isfinite(numbers)].items():
        try:
            parse_number(text)
        except ValueError as error:
            remedy = "Give each trial a finite number" + _read_as(scores, "; a header tells others")
            scores.problems.add(scores.where(line, "score"), str(error), remedy)
    scores.check_names()
    scores.problems.raise_if_any()
    frame = scores.frame.assign(score=numbers)
    if "label" in frame:
        target = _mapped(frame.pop("label"), label_of)
        frame = frame if target.isna().any() else frame.assign(target=target.astype(bool))
    scores = dataclasses.replace(scores, frame=frame)
    if "enrol" not in frame:
        return scores
    what = "the trial {enrol} {test} has two scores, {first!r} and {score!r}"
    remedy = "Look where the two come from, such as two systems in one file, and give each a file of its own"
    scores.check_duplicates(PAIR, "score", what, remedy)
    return dataclasses.replace(scores, frame=scores.frame.drop_duplicates(PAIR))


def read_enrolments(path: str | os.PathLike, source: str) -> dict[str, list[str]]:
    """Read which utterances each speaker is enrolled with: model -> utterances, in the order of the file."""
    content = files.require_regular(path, source).read_bytes()
    listing = _read_listing(content, source, ("model", "utterance"), _ENROLMENTS)
    listing.check_names()
    if listing.layout == "spk2utt":
        lines = dataclasses.replace(listing, frame=listing.frame[~listing.frame.index.duplicated()])
        remedy = "Write all its utterances in one line"
        lines.check_duplicates(["model"], "", "duplicate model {model}", remedy)
    what = "the model {model} has the utterance {utterance} twice"
    listing.check_duplicates(["model", "utterance"], "", what, "Keep it once")
    return listing.frame.groupby("model", sort=False)["utterance"].agg(list).to_dict()


def write_scores(
    path: str | os.PathLike,
    enrol: Sequence[str],
    test: Sequence[str],
    scores: Sequence[float],
    threshold: float = np.nan,
) -> str:
    """Write scores of trials as :func:`score_text` does; returns the digest of the file."""
    return files.write_bytes(path, score_text(enrol, test, scores, threshold)[0])


def score_text(
    enrol: Sequence[str], test: Sequence[str], scores: Sequence[float], threshold: float = np.nan
) -> tuple[bytes, str]:
    """Write scores of trials, ``0.107 enrol test`` a line; as CSV if names would not be read back.

    With a threshold there is a header and two columns more, ``0.107 enrol test reject 0.4``: what is decided
    and the threshold, above which a trial is accepted. :func:`parse_scores` reads such a file as well.

    - ``scores``: written in as few digits as give the same float64 back.
    - ``threshold``: may be infinite; NaN if nothing is decided.
    - Returns the text in UTF-8, and the extension that suits it, ``.txt`` or ``.csv``.
    - Raises ValueError: if lengths differ, a name is empty or has a NUL character, or a score is not finite.
    """
    frame = pd.DataFrame({"score": np.asarray(scores, dtype=np.float64), "enrol": enrol, "test": test})
    if not np.isfinite(frame["score"]).all():
        raise ValueError(f"{int((~np.isfinite(frame['score'])).sum())} scores are not finite.")
    names = {*enrol, *test}
    if any(not name or "\0" in name for name in names):
        raise ValueError("A name is empty or has a NUL character.")
    decided = not np.isnan(threshold)
    if decided:
        frame["decision"] = np.where(frame["score"] > threshold, "accept", "reject")
        frame["threshold"] = float(threshold)
    if not any(label_of(name) is not None or re.search(r"\s", name) for name in names):
        text = frame.to_csv(sep=" ", header=decided, index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")
        return text.encode("utf-8", "backslashreplace"), ".txt"
    frame = frame[[*PAIR, *frame.columns.difference(PAIR, sort=False)]]
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return text.encode("utf-8", "backslashreplace"), ".csv"


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
    content: bytes, source: str, needed: Sequence[str], remedy: str, layout: str = ""
) -> Listing:
    """Read a file as text; lines with too few or too many words are noted as problems.

    ``needed`` are columns: two of names and ``"label"`` or ``"score"``, or ``"model"`` and ``"utterance"``.
    Labels that stand beside scores are read, too.
    """
    lines: list[Line] = []
    if not content.startswith(b"PAR1"):
        text = decode_text(content, source).replace("\r\n", "\n").replace("\r", "\n")
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if not lines:
            raise input_error(source, "the file is empty", remedy)
    elif layout not in ("", "table"):
        raise input_error(source, "this is a Parquet table", "Write layout: table, or remove the key")
    kind = "lines" if layout in _PLACES else layout or _tell_layout(lines, needed)
    if kind in ("nist", "table") and len(lines) == 1:
        raise input_error(source, "the file has a header and nothing else", remedy)
    if kind == "table":
        listing = _read_table(content, source, needed)
    elif kind == "nist":
        listing = _read_columns(lines, source, needed)
    elif kind == "spk2utt":
        listing = _read_spk2utt(lines, source)
    elif not (listing := _read_lines(lines, source, needed[-1], _PLACES.get(layout, ""))):
        line = quoted(" ".join(_words(lines[0][1])))
        what = f"the first line is neither a header nor in a known layout: {line}"
        raise input_error(f"{source} line {lines[0][0]}", what, remedy)
    frame, side = listing.frame, listing.frame.get("side")
    if side is not None and (side.groupby(frame[needed[1]]).nunique() > 1).any() and side.isin(_SIDES).all():
        frame = frame.assign(**{needed[1]: _mapped(frame[needed[1]], bare_name) + "_" + side.str.lower()})
    return dataclasses.replace(listing, frame=frame.drop(columns="side", errors="ignore"))


def _tell_layout(lines: Sequence[Line], needed: Sequence[str]) -> str:
    """Tell the layout from the first line."""
    if not lines:
        return "table"
    top = lines[0][1]
    cells = _SEPARATORS.split(top)
    if len(cells) > 1 and len(_roles(cells, needed)) > 1:
        return "table"
    if any(len(_roles(split(top), needed)) == len(needed) for split in (_tabbed, _words)):
        return "nist"
    return "spk2utt" if "utterance" in needed else "lines"


def _read_table(content: bytes, source: str, needed: Sequence[str]) -> Listing:
    table = parse_text_table(content, source)
    header = list(table.columns)
    headings = {role: header[n] for role, n in _chosen(header, needed, table.header).items()}
    columns = {role: table.columns[name] for role, name in headings.items()}
    frame = pd.DataFrame(columns, index=pd.Index(table.places), dtype=str)
    form = f"a table with the columns {', '.join(headings[role] for role in needed)}"
    return Listing(source, "table", form, frame, headings, table.unit)


def _read_columns(lines: Sequence[Line], source: str, needed: Sequence[str]) -> Listing:
    (number, top), *rows = lines
    split = _tabbed if len(_roles(_tabbed(top), needed)) == len(needed) else _words
    header = split(top)
    chosen = _chosen(header, needed, f"{source} line {number}")
    problems = Problems()
    frame = _split_all(rows, split, len(header), source, problems)[[*chosen.values()]]
    headings = {role: header[n] for role, n in chosen.items()}
    form = f"columns {', '.join(headings[role] for role in needed)}"
    return Listing(source, "nist", form, frame.set_axis([*chosen], axis=1), headings, problems=problems)


def _read_lines(lines: Sequence[Line], source: str, value: str, place: str) -> Listing | None:
    """Read lines of words; ``None`` if no column of them can be the label or score."""
    number, top = lines[0]
    split, cells = _words, _cells(top)
    if len(cells) > 2 and all(cells) and not any(re.search(r"\s", cell) for cell in cells):
        split = _cells
    elif len(_words(top)) < 4 and _words(top)[0].count("*") == 1:
        split = _joined
    head, problems = split(top), Problems()
    frame = _split_all(lines, split, len(head), source, problems)
    columns = _columns(frame, value, place)
    if not columns:
        return None
    frame = frame.set_axis(columns, axis=1)[[column for column in columns if column]]
    values = frame[value]
    label = _EXAMPLES["label"] if value == "score" or values.iloc[-1].isalpha() else "1"
    example = " ".join((_EXAMPLES | {"label": label})[column] for column in columns)
    form = f"lines `{example}`" if len(columns) > 1 else "one number a line"
    if len(frame) > 1 and _is_header(head, columns, value, values.iloc[1]):
        form += f" under the header {quoted(' '.join(head))}"
        frame = frame.drop(index=number)
    return Listing(source, "lines" if "enrol" in frame else "numbers", form, frame, problems=problems)


def _columns(frame: pd.DataFrame, value: str, place: str) -> list[str]:
    """Tell what the columns of lines hold, empty text = nothing; no columns if they are no such lines."""
    width = frame.shape[1]
    labels = [_mapped(frame[column], label_of).notna() for column in frame]
    numbers = [frame[column].iloc[:_SAMPLE].map(_is_float) for column in frame]
    fits = labels if value == "label" else numbers
    every, ends = range(width), (0, width - 1)
    anywhere = every if value == "label" or width > 3 else ends
    places = {"first": ends[:1], "last": ends[1:], "": anywhere}[place]
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
    others = [column for column in every if column != chosen]
    labelled = [column for column in others if labels[column].iloc[1:].all()]
    numbered = [column for column in others if column not in labelled and numbers[column].iloc[1:].all()]
    signs = (*_SIDES, "f", "m", "F", "M")
    sides = [column for column in others if width > 3 and frame[column].isin(signs).all()]
    spare = len(others) - (2 if width > 2 else 0)
    for column in list(dict.fromkeys([*labelled[::-1], *numbered[::-1], *sides[::-1]]))[:spare]:
        others.remove(column)
        if value == "score" and column in labelled:
            roles[column] = "label"
    roles |= dict(zip(others, PAIR, strict=False))
    return [roles.get(column, "") for column in every] if len(others) in (0, 2) else []


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


def _read_spk2utt(lines: Sequence[Line], source: str) -> Listing:
    """Give each utterance of a line a row of its own."""
    problems, rows = Problems(), []
    for line, text in lines:
        model, *utterances = _words(text)
        if not utterances:
            what = f"the model {quoted(model)} has no utterance"
            problems.add(f"{source} line {line}", what, "Write its utterances behind its name")
        rows += [(line, model, utterance) for utterance in utterances]
    frame = pd.DataFrame(rows, columns=["line", "model", "utterance"]).set_index("line")
    return Listing(source, "spk2utt", "lines `model utterance ...`", frame, problems=problems)


def _split_all(
    lines: Sequence[Line], split: Split, width: int, source: str, problems: Problems
) -> pd.DataFrame:
    """Split lines into so many words, the index is their number; others are noted as problems."""
    rows: dict[int, list[str]] = {}
    for number, line in lines:
        words = split(line)
        if len(words) == width:
            rows[number] = words
        else:
            what = f"the line has {len(words)} word{'s' * (len(words) > 1)}, not {width}"
            remedy = "Correct the line; names with blanks need a CSV table"
            problems.add(f"{source} line {number}", what, remedy)
    columns = dict(enumerate(zip(*rows.values(), strict=True))) or {n: [] for n in range(width)}
    return pd.DataFrame(columns, index=pd.Index([*rows], dtype=np.int64), dtype=str)


def _words(line: str) -> list[str]:
    words = line.replace("\t", " ").split(" ")
    return [word for word in words if word] if "" in words else words


def _tabbed(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line.split("\t")]


def _cells(line: str) -> list[str]:
    return _SEPARATED.split(line.replace('"', "").strip())


def _joined(line: str) -> list[str]:
    return _words(line.replace("*", " "))  # ESPnet joins the names so


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
