"""Words with times: STM and CTM of NIST's SCTK, and SegLST.

Conventions
-----------
- UTF-8; lines end with LF, CR LF or CR; blank lines and lines that begin with ``;;`` say nothing. Columns are
  separated by blanks and tabs. Times are seconds from the beginning of the recording.
- STM: ``recording channel speaker start end <labels> words ...``; in each line the sixth column is a label if
  it is ``<...>``. A remark names them unless all lines with words have one. Of alternatives ``{ a / b / @ }``
  the first counts. A line that says ``ignore_time_segment_in_scoring`` is left out.
- CTM: ``recording channel start duration word confidence type speaker``, a word a line; in each line the
  channel may be left out, and so may what stands behind the word. Words of the types ``non-lex``, ``misc``
  and ``noscore`` are none; a remark counts them. Of alternatives between ``<ALT_BEGIN>``, ``<ALT>`` and
  ``<ALT_END>`` the first counts, ``@`` is no word.
  Confidences count if all that are given are numbers from 0 to 1, and not all of them 1, which is what
  recognisers write that know none; a remark says so. ``NA`` is none.
- SegLST: a JSON list of objects with ``session_id``, ``start_time``, ``end_time``, ``words`` and perhaps
  ``speaker`` and ``channel``; times may be texts, also ``H:MM:SS`` as in CHiME.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence

import numpy as np

from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_list
from soundcheck.common.text_table import decode_text, parse_column, parse_number, parse_seconds
from soundcheck.models.tables.transcript_formats import CTM, SEGLST, STM
from soundcheck.models.tables.transcripts import chosen_words, text_lines

_LABEL = re.compile(r"<[^\s<>]*(?:,\s[^\s<>]+)*>(?!\S)")  # <o,f0,male>, perhaps with blanks behind commas
_WITHOUT_CHANNEL = re.compile(r"\S+ [\d.]+ [\d.]+ (?![\d.]+( |$))\S+( ([\d.]+|NA))?")  # a line of a CTM
_NO_WORDS = ("non-lex", "misc", "noscore")  # types of a CTM: noises, and what is not to be scored
IGNORED = "ignore_time_segment_in_scoring"
_EXAMPLES = {
    STM: "meeting1 1 speaker1 0.50 2.25 turn left",
    CTM: "meeting1 1 0.50 0.31 turn 0.98",
    SEGLST: '{"session_id": "meeting1", "start_time": 0.5, "end_time": 2.25, "words": "turn left"}',
}


@dataclasses.dataclass(frozen=True)
class TimedTexts:
    """Words with times, one item a line of the file.

    Parameters
    ----------
    shown
        How messages call the file.
    form
        ``"stm"``, ``"ctm"`` or ``"seglst"``.
    recordings, channels, speakers
        Text of each item; a channel or speaker that is not given is empty.
    start, end
        Seconds, float64 ``(items,)``; the start is never after the end.
    texts
        Words of each item; may be empty.
    places
        Where each item stands, such as ``"line 5"``.
    ignored
        How many lines say that they do not count.
    confidences
        Of each item, float64 ``(items,)``; NaN = none. Empty if no item has one.
    remarks
        What is left out of the file's words and numbers, and why.
    """

    shown: str
    form: str
    recordings: Sequence[str]
    channels: Sequence[str]
    speakers: Sequence[str]
    start: np.ndarray
    end: np.ndarray
    texts: Sequence[str]
    places: Sequence[str]
    ignored: int = 0
    confidences: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))
    remarks: Sequence[str] = ()

    @property
    def noun(self) -> str:
        """What messages call an item."""
        return "word" if self.form == CTM else "line" if self.form == STM else "entry"

    def __len__(self) -> int:
        return len(self.texts)

    def where(self, item: int) -> str:
        """Say where an item stands."""
        return f"{self.shown} {self.places[item]}"


def read_timed_texts(content: bytes, shown: str, form: str) -> TimedTexts:
    """Read the bytes of a file.

    Parameters
    ----------
    content
        All bytes of the file.
    shown
        How messages call it.
    form
        ``"stm"``, ``"ctm"`` or ``"seglst"``.

    Raises
    ------
    InputError
        If it is no UTF-8 text or has no words; if columns or fields are missing, doubled or of another type,
        times negative or reversed, or alternatives not closed. All problems of the lines at once.
    """
    problems = Problems()
    rows = _Rows(shown, problems)
    _READERS[form](content, rows)
    columns = [list(column) for column in zip(*rows.items, strict=True)] or [[] for _ in range(8)]
    places, recordings, channels, speakers, *times, texts, sure = columns
    start, end = map(rows.numbers, times)
    if form == CTM:
        end = start + end
    early, late = np.minimum(start, end), start > end
    for row in np.flatnonzero(early < 0 if form != CTM else start < 0):
        problems.add(f"{shown} {places[row]}", f"{early[row]:g} s is negative", "Give seconds from 0 on")
    for row in np.flatnonzero(late & (start >= 0) & ((end >= 0) | (form == CTM))):
        what = f"the end, {end[row]:g} s, is before the start, {start[row]:g} s"
        what = f"a duration of {end[row] - start[row]:g} s is negative" if form == CTM else what
        problems.add(f"{shown} {places[row]}", what, f"Expected is {_line(form)}")
    problems.raise_if_any()
    if not texts:
        raise input_error(shown, "the file has no words with times", f"Expected is {_line(form)}")
    confidences, remark = _confidences(sure, shown, places)
    remarks = [*rows.remarks, *([remark] if remark else [])]
    who = (recordings, channels, speakers)
    return TimedTexts(shown, form, *who, start, end, texts, places, rows.ignored, confidences, remarks)


def _confidences(cells: Sequence[str], shown: str, places: Sequence[str]) -> tuple[np.ndarray, str]:
    """Read confidences of words; if they cannot count there are none, and a remark."""
    none, unused = np.zeros(0), f"the confidences of {shown} are not used:"
    given = ["" if cell.upper() in ("NA", "NAN") else cell for cell in cells]
    if not any(given):
        return none, ""
    values, wrong = parse_column(given, lambda text: parse_number(text) if text else np.nan)
    wrong += [
        (row, f"{values[row]:.4g} is not from 0 to 1") for row in np.flatnonzero((values < 0) | (values > 1))
    ]
    if wrong:
        row, what = min(wrong)
        return none, f"{unused} {places[row]}: {what}"
    if (values[~np.isnan(values)] == 1).all():
        return none, f"{unused} all of them are 1"
    return values, ""


class _Rows:
    """Collects items; times are converted all at once in the end."""

    def __init__(self, shown: str, problems: Problems) -> None:
        self.shown, self.problems, self.ignored = shown, problems, 0
        self.remarks: list[str] = []
        # Place, recording, channel, speaker, start, end (of a CTM, the duration), text, confidence.
        self.items: list[tuple[str, ...]] = []

    def add(self, *item: str) -> None:
        self.items.append(item)

    def numbers(self, cells: Sequence[str]) -> np.ndarray:
        """Convert times, float64 ``(items,)``; what is no number is noted."""
        values, wrong = parse_column(
            cells, lambda cell: (parse_seconds if ":" in cell else parse_number)(cell)
        )
        wrong += [(row, "the text is empty") for row, cell in enumerate(cells) if not cell.strip()]
        for row, what in wrong:
            self.problems.add(
                f"{self.shown} {self.items[row][0]}", f"a time: {what}", "Give seconds, or H:MM:SS"
            )
        return values

    def refuse(self, place: str, what: str, form: str) -> None:
        self.problems.add(f"{self.shown} {place}", what, f"Expected is {_line(form)}")


def _line(form: str) -> str:
    return f"`{_EXAMPLES[form]}`"


def _stm(content: bytes, rows: _Rows) -> None:
    labelled, unlabelled = [], 0
    for number, line in text_lines(content, rows.shown):
        if line.lstrip().startswith(";;"):
            continue
        cells, place = line.split(maxsplit=5), f"line {number}"
        if len(cells) < 5:
            rows.refuse(place, f"{quoted(line)} has {len(cells)} columns, not five or more", STM)
            continue
        recording, channel, speaker, start, end, *rest = cells
        text = rest[0].strip() if rest else ""
        if label := _LABEL.match(text):
            labelled.append(label[0])
            text = text[label.end() :].strip()
        else:
            unlabelled += bool(text)
        if text.lower() == IGNORED:
            rows.ignored += 1
            continue
        if "{" in text or "}" in text:
            try:
                text = chosen_words(text, f"{rows.shown} {place}")
            except InputError as error:
                rows.problems.extend(error)
        rows.add(place, recording, channel, speaker, start, end, text, "")
    if labelled and unlabelled:
        many = f"{len(labelled)} of {len(labelled) + unlabelled} lines"
        rows.remarks.append(
            f"{many} of {rows.shown} begin with a label such as {labelled[0]}, which is no word"
        )


def _ctm(content: bytes, rows: _Rows) -> None:
    begun = ""  # where alternatives began; empty outside of them
    first = True  # whether the first of them is being read
    left_out: list[str] = []
    for number, line in text_lines(content, rows.shown):
        if line.lstrip().startswith(";;"):
            continue
        cells, place = line.split(), f"line {number}"
        if _WITHOUT_CHANNEL.fullmatch(" ".join(cells)):
            cells.insert(1, "")
        if not 5 <= len(cells) <= 8:
            rows.refuse(place, f"{quoted(line)} has {len(cells)} columns, not five to eight", CTM)
            continue
        recording, channel, start, duration, word, sure, kind, speaker = [*cells, "", "", ""][:8]
        sign = word.upper()
        if sign in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
            if (sign == "<ALT_BEGIN>") == bool(begun):
                what = (
                    "alternatives begin inside of others" if begun else f"{sign} stands without <ALT_BEGIN>"
                )
                rows.refuse(place, what, CTM)
            begun = "" if sign == "<ALT_END>" else begun or place
            first = sign != "<ALT>"
        elif kind.lower() in _NO_WORDS:
            left_out.append(word)
        elif first and word != "@":
            speaker = "" if speaker.lower() in ("null", "unknown") else speaker
            rows.add(place, recording, channel, speaker, start, duration, word, sure)
    if begun:
        rows.refuse(begun, "the alternatives that begin here do not end", CTM)
    if left_out:
        what = f"left out, as their type says that they are no words: {len(left_out)} of {rows.shown}"
        rows.remarks.append(f"{what}, such as {quoted(left_out[0], 40)}")


def _seglst(content: bytes, rows: _Rows) -> None:
    for number, item in json_list(decode_text(content, rows.shown), rows.shown, rows.problems):
        place = f"entry {number}"
        told = len(rows.problems)
        times = []
        for name in ("start_time", "end_time"):
            value = item.get(name)
            kind = TEXT if isinstance(value, str) else NUMBER
            times.append(value if kind == TEXT else repr(value))
            _check(rows, place, item, name, kind)
        for name in ("session_id", "words"):
            _check(rows, place, item, name, TEXT)
        speaker = item.get("speaker")
        if speaker is not None and not isinstance(speaker, str):
            speaker = json.dumps(speaker)
        elif speaker is not None:
            _check(rows, place, item, "speaker", TEXT)
        if len(rows.problems) == told:
            words = " ".join(item["words"].split())
            channel = "" if item.get("channel") is None else str(item["channel"])
            rows.add(place, item["session_id"], channel, speaker or "", *times, words, "")


def _check(rows: _Rows, place: str, item: dict, name: str, kind: str) -> None:
    value = item.get(name)
    if value is None:
        remedy = did_you_mean(name, item).replace("Allowed: ", "There are: ")
        what = "the field is missing" if name not in item else "the field is null"
        if "audio_filepath" in item:
            raise input_error(rows.shown, "these are results of NeMo", "Give one object a line, not a list")
        rows.problems.add(f"{rows.shown} {place}, field {name}", what, remedy)
    elif what := field_problem(value, kind):
        rows.problems.add(f"{rows.shown} {place}, field {name}", what, f"Expected is {_line(SEGLST)}")


_READERS: dict[str, Callable[[bytes, _Rows], None]] = {STM: _stm, CTM: _ctm, SEGLST: _seglst}
