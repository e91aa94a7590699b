"""Transcripts as recognisers write them: ``.trn`` of NIST's SCTK, ``text`` of Kaldi, JSON Lines of NeMo.

Those with times for each word or line are in :mod:`soundcheck.models.tables.timed_transcripts`.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF, CR LF or CR; blank lines say nothing.
  Only blanks and tabs separate words.
- trn: ``words ... (id)``; lines that begin with ``;;`` are comments. Of alternatives ``{ a / b / @ }`` the
  first counts, ``@`` is nothing. A hesitation ``(%HESITATION)`` is the word ``%HESITATION``.
- Kaldi: ``id words ...``, in any order of lines.
- An id alone is an empty transcript, and that is a prediction: nothing was recognised. Which segment an id
  means says :mod:`soundcheck.corpora.utterances`. If it fits several, the id is refused.
- JSON Lines are those of NeMo, and of the Open ASR Leaderboard: ``audio_filepath``, a path of the machine
  that recognised, ``pred_text`` (``null`` is a missing prediction), perhaps ``offset`` (or ``start``),
  ``duration`` (or ``end``) and ``time``, all in seconds. A line without offset begins with its file. The only
  line of a file that has one segment fits it if it begins with the file, whatever its duration. ``time`` is
  what the recogniser says that it took; it is reported, not judged. ``text`` is not looked at: references are
  those of the corpus.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from soundcheck.common.json_lines import NUMBER, TEXT, read_json_lines
from soundcheck.common.messages import Problems, input_error, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.models.tables.rows import TWICE, Rows, problems_of, sort_rows

TRN, KALDI, STM, CTM, SEGLST, JSONL = "trn", "kaldi", "stm", "ctm", "seglst", "jsonl"
BY_NAME = {".trn": TRN, ".stm": STM, ".ctm": CTM}
JSON_NAMES = (".json", ".jsonl", ".ndjson")
TABLES = (".csv", ".parquet", ".pq", ".tsv")  # names that promise a table

_FIRST_LINE = re.compile(rb"[\r\n]*([^\r\n]*)")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[{\]])")  # begins an object, or a list of them
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_SEPARATORS = re.compile("[,;|]")  # of cells; a table with bars is refused when it is read
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r"[ \t]+")
_HESITATION = re.compile(r"\((%[^()]+)\)")
_EXAMPLES = {TRN: "turn left (s01-a)", KALDI: "s01-a turn left"}
_TIMES = ("offset", "start", "end", "duration", "time")
_FIELDS = {"audio_filepath": TEXT, "pred_text": TEXT} | dict.fromkeys(_TIMES, NUMBER)


def transcript_format(name: str, content: bytes, column: str = "file") -> str:
    """Tell in which format a file holds transcripts; empty for what a table's reader is to read or refuse.

    The names ``.trn``, ``.stm`` and ``.ctm`` decide, and names of tables unless the file holds JSON; else its
    bytes do. ``column`` is what a table would call the column of files.

    >>> transcript_format("text", b"s01-a turn left")
    'kaldi'
    >>> transcript_format("answers", b"file,transcript")
    ''
    >>> transcript_format("answers.json", b'[{"session_id": "s01"}]')
    'seglst'
    """
    extension = os.path.splitext(name)[1].lower()
    if extension in BY_NAME:
        return BY_NAME[extension]
    if extension in JSON_NAMES or _JSON.match(content):
        return SEGLST if _LIST.match(content) else JSONL
    if extension in TABLES or content.startswith(b"PAR1"):
        return ""
    first = _FIRST_LINE.match(content.removeprefix(b"\xef\xbb\xbf"))[1]
    try:
        line = first.decode()
    except UnicodeDecodeError:  # the reader of tables knows pickles, archives and the like by name
        return ""
    cells = [*_SEPARATORS.split(line), line.partition("\t")[0]]
    header = any(cell.strip(' "') == column for cell in cells)
    return "" if header or "\0" in line else KALDI


def text_lines(content: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Part a text into lines that are not blank, each with its number."""
    for number, line in enumerate(_LINE_END.split(decode_text(content, source)), start=1):
        if line.strip():
            yield number, line


# Lines with ids ---------------------------------------------------------------------------------------------


def read_transcripts(content: bytes, source: str, form: str, tasks: Sequence[Task]) -> Rows:
    """Read the bytes of a ``"trn"`` or ``"kaldi"`` file; raises all problems of its lines at once."""
    problems = Problems()
    lines: dict[str, int] = {}  # id -> its line
    texts = []
    for line, text in text_lines(content, source):
        if form == TRN and text.startswith(";;"):
            continue
        with problems.collected():
            name, transcript = (_trn if form == TRN else _kaldi)(text.strip(), f"{source} line {line}")
            if name in lines:
                what = f"duplicate id {quoted(name)}"
                problems.add(f"{source} lines {lines[name]} and {line}", what, TWICE)
                continue
            lines[name] = line
            texts.append(transcript)
    problems.raise_if_any()
    if not lines:
        raise input_error(source, "the file has no utterance", f"Give lines such as `{_EXAMPLES[form]}`")
    cells = TextTable({"file": [*lines]}, [*lines.values()], "line", source)
    return _predictions(cells, texts, tasks, noun="utterance")


def _predictions(cells: TextTable, texts: Sequence, tasks: Sequence[Task], **more: Any) -> Rows:
    answers = {task.name: np.array(texts, dtype=object) for task in tasks}
    return Rows(cells, answers, problems_of(cells, answers, tasks), **more)


def _trn(line: str, where: str) -> tuple[str, str]:
    """Read a line of a trn, id and words."""
    begin = _last_bracket(line)
    name = line[begin + 1 : -1].strip() if begin >= 0 else ""
    if not name or name.startswith("%"):  # a hesitation is no id
        what = f"{quoted(line)} does not end with an id in parentheses"
        raise input_error(where, what, f"Write the id behind the words, such as `{_EXAMPLES[TRN]}`")
    return name, chosen_words(line[:begin], where)


def _kaldi(line: str, where: str) -> tuple[str, str]:
    """Read a line of Kaldi's ``text``."""
    name, *words = _BLANKS.split(line, maxsplit=1)
    return name, words[0].strip() if words else ""


def _last_bracket(line: str) -> int:
    """Find the parenthesis that the last character closes, -1 if it closes none; ids may hold pairs."""
    depth = 0
    for position in reversed(range(len(line))):
        depth += (line[position] == ")") - (line[position] == "(")
        if depth == 0:
            return position if line[position] == "(" else -1
    return -1


def chosen_words(text: str, where: str) -> str:
    """Take the first of all alternatives; raises InputError if braces do not match.

    >>> chosen_words("turn { left / right } { @ / please } (%UH) now", "hyp.trn line 1")
    'turn left %UH now'
    """
    remedy = "Write alternatives as `{ a / b / @ }`, with blanks around the signs"
    words = []
    first: list[bool] = []  # of each open brace: whether its first alternative is being read
    others = 0  # how many of them are behind it
    for word in _BLANKS.split(text.strip()):
        if word == "{":
            first.append(True)
        elif word == "/" and first:
            others += first[-1]
            first[-1] = False
        elif word == "}":
            if not first:
                raise input_error(where, "a brace closes that was not opened", remedy)
            others -= not first.pop()
        elif not others and word not in ("", "@"):
            hesitation = _HESITATION.fullmatch(word)
            words.append(hesitation[1] if hesitation else word)
    if first:
        raise input_error(where, "a brace is not closed", remedy)
    return " ".join(words)


# Lines of JSON ----------------------------------------------------------------------------------------------


def read_results(content: bytes, source: str, tasks: Sequence[Task]) -> Rows:
    """Read the bytes of a file of results; raises all problems of its lines at once."""
    cells = read_json_lines(content, source, _FIELDS)
    columns, problems = cells.columns, Problems()
    for name in ("audio_filepath", "pred_text"):
        if all(value is None for value in columns[name]):
            remedy = f"Give {name}, as NeMo does; SegLST, with session_id and words, is one JSON list"
            raise input_error(cells.where(0, name), "no line has the field", remedy)
    paths = columns["audio_filepath"]
    for row in np.flatnonzero([not path for path in paths]):
        problems.add(cells.where(row, "audio_filepath"), "the field is missing or empty", "Name the file")
    for name in _TIMES:
        for row in np.flatnonzero(columns[name] < 0):
            what = f"{columns[name][row]:g} s is negative"
            problems.add(cells.where(row, name), what, "Give seconds from 0 on")
    offset, start, end, duration, time = (columns[name] for name in _TIMES)
    for row in np.flatnonzero(np.abs(offset - start) > 0):
        problems.add(cells.where(row), "offset and start differ", "Keep one of them")
    start = np.where(np.isnan(offset), start, offset)
    end = np.where(np.isnan(end) & ~np.isnan(start), start + duration, end)
    begin = np.nan_to_num(start)
    for row in np.flatnonzero(begin >= end):
        what = f"the end, {end[row]:g} s, is not after the start, {begin[row]:g} s"
        problems.add(cells.where(row), what, "Give a duration above 0")
    problems.raise_if_any()
    texts = [None if text is None else text.strip() for text in columns["pred_text"]]
    renamed, headings = {"file": paths, "pred_text": texts}, {"file": "audio_filepath"}
    cells = dataclasses.replace(cells, columns=renamed, headings=headings)
    frame = sort_rows(cells, start, end, problems, ["pred_text"])
    problems.raise_if_any()
    frame["whole"] = ~frame["group"].duplicated(keep=False) & (frame["start"] == 0)
    times = np.stack([time, np.where(np.isnan(duration), end - begin, duration)])
    times = times[:, ~np.isnan(times).any(axis=0)]
    taken, seconds = map(float, times.sum(axis=1))
    some = "" if times.shape[1] == len(cells) else f" ({times.shape[1]} of {len(cells)} lines)"
    remarks = []
    if taken and seconds:
        what = f"{taken:.4g} s for {seconds:.4g} s of sound{some}: {seconds / taken:.3g} times real time"
        remarks = [f"{source} tells of computing times, {what}, as given"]
    about = {"frame": frame, "remarks": remarks, "computing_times": times, "noun": "line"}
    return _predictions(cells, texts, tasks, **about)
