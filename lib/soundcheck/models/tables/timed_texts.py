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
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_list
from soundcheck.common.text_table import decode_text, parse_column, parse_number, parse_seconds
from soundcheck.models.tables.transcripts import CTM, SEGLST, STM, chosen_words, text_lines

if TYPE_CHECKING:
    import pandas as pd

_LABEL = re.compile(r"<[^\s<>]*(?:,\s[^\s<>]+)*>(?!\S)")  # <o,f0,male>, perhaps with blanks behind commas
_WITHOUT_CHANNEL = re.compile(r"\S+ [\d.]+ [\d.]+ (?![\d.]+( |$))\S+( ([\d.]+|NA))?")  # a line of a CTM
_NO_WORDS = ("non-lex", "misc", "noscore")  # types of a CTM: noises, and what is not to be scored
IGNORED = "ignore_time_segment_in_scoring"
_EXPECTED = {
    STM: "Expected is `meeting1 1 speaker1 0.50 2.25 turn left`",
    CTM: "Expected is `meeting1 1 0.50 0.31 turn 0.98`",
    SEGLST: 'Expected is `{"session_id": "meeting1", "start_time": 0.5, "end_time": 2.25, '
    '"words": "turn left"}`',
}


class Item(NamedTuple):
    """A line of the file, or an entry, as it is written; what is not given is empty."""

    place: str  # such as "line 5"
    recording: str
    channel: str
    speaker: str
    start: str
    end: str  # of a CTM, the duration
    text: str
    confidence: str = ""


@dataclasses.dataclass(frozen=True)
class TimedTexts:
    """Words with times: ``items`` has the columns of :class:`Item`, times and confidences as float64."""

    source: str
    form: str
    items: pd.DataFrame  # NaN = no confidence
    ignored: int = 0  # lines that say that they do not count
    remarks: Sequence[str] = ()  # what is left out of the file's words and numbers, and why

    @property
    def noun(self) -> str:
        """What messages call an item."""
        return {CTM: "word", STM: "line", SEGLST: "entry"}[self.form]

    def where(self, item: int) -> str:
        """Say where an item stands."""
        return f"{self.source} {self.items['place'].iat[item]}"


def read_timed_texts(content: bytes, source: str, form: str) -> TimedTexts:
    """Read the bytes of a file in one of the three formats; raises all problems of its lines at once."""
    import pandas as pd  # late: whoever reads a suite imports this module

    reader = _Reader(source, form)
    {STM: reader.read_stm, CTM: reader.read_ctm, SEGLST: reader.read_seglst}[form](content)
    items = pd.DataFrame(reader.items, columns=Item._fields, dtype=object)
    start, end = (reader.seconds(items[name].tolist()) for name in ("start", "end"))
    if form == CTM:
        for row in np.flatnonzero((end < 0) & (start >= 0)):
            reader.refuse(items["place"][row], f"a duration of {end[row]:g} s is negative")
        early, end = start, start + end
    else:
        early = np.minimum(start, end)
        for row in np.flatnonzero((start > end) & (early >= 0)):
            what = f"the end, {end[row]:g} s, is before the start, {start[row]:g} s"
            reader.refuse(items["place"][row], what)
    for row in np.flatnonzero(early < 0):
        reader.refuse(items["place"][row], f"{early[row]:g} s is negative", "Give seconds from 0 on")
    reader.problems.raise_if_any()
    if items.empty:
        raise input_error(source, "the file has no words with times", _EXPECTED[form])
    confidence, remark = _confidences(items["confidence"].tolist(), source, items["place"].tolist())
    items = items.assign(start=start, end=end, confidence=confidence)
    return TimedTexts(source, form, items, reader.ignored, [*reader.remarks, *filter(None, [remark])])


def _confidences(cells: Sequence[str], source: str, places: Sequence[str]) -> tuple[np.ndarray, str]:
    """Read confidences of words; if they cannot count there are none, and a remark."""
    none, unused = np.full(len(cells), np.nan), f"the confidences of {source} are not used:"
    texts = ["" if cell.upper() in ("NA", "NAN") else cell for cell in cells]
    values, wrong = parse_column(texts, lambda text: parse_number(text) if text else np.nan)
    beyond = np.flatnonzero((values < 0) | (values > 1))
    wrong += [(row, f"{values[row]:.4g} is not from 0 to 1") for row in beyond]
    if wrong:
        row, what = min(wrong)
        return none, f"{unused} {places[row]}: {what}"
    if any(texts) and (values[~np.isnan(values)] == 1).all():
        return none, f"{unused} all of them are 1"
    return values, ""


class _Reader:
    """Collects items; times are converted all at once in the end."""

    def __init__(self, source: str, form: str) -> None:
        self.source, self.form, self.problems = source, form, Problems()
        self.items: list[Item] = []
        self.ignored = 0
        self.remarks: list[str] = []

    def refuse(self, place: str, what: str, remedy: str = "") -> None:
        self.problems.add(f"{self.source} {place}", what, remedy or _EXPECTED[self.form])

    def seconds(self, cells: Sequence[str]) -> np.ndarray:
        """Convert times, float64 ``(items,)``; what is no number is noted."""
        values, wrong = parse_column(
            cells, lambda cell: (parse_seconds if ":" in cell else parse_number)(cell)
        )
        wrong += [(row, "the text is empty") for row, cell in enumerate(cells) if not cell.strip()]
        for row, what in wrong:
            self.refuse(self.items[row].place, f"a time: {what}", "Give seconds, or H:MM:SS")
        return values

    def read_stm(self, content: bytes) -> None:
        labelled, unlabelled = [], 0
        for number, line in text_lines(content, self.source):
            if line.lstrip().startswith(";;"):
                continue
            cells, place = line.split(maxsplit=5), f"line {number}"
            if len(cells) < 5:
                self.refuse(place, f"{quoted(line)} has {len(cells)} columns, not five or more")
                continue
            recording, channel, speaker, start, end, text = [*cells, ""][:6]
            text = text.strip()
            if label := _LABEL.match(text):
                labelled.append(label[0])
                text = text[label.end() :].strip()
            else:
                unlabelled += bool(text)
            if text.lower() == IGNORED:
                self.ignored += 1
                continue
            if "{" in text or "}" in text:
                try:
                    text = chosen_words(text, f"{self.source} {place}")
                except InputError as error:
                    self.problems.extend(error)
            self.items.append(Item(place, recording, channel, speaker, start, end, text))
        if labelled and unlabelled:
            many = f"{len(labelled)} of {len(labelled) + unlabelled} lines"
            what = f"{many} of {self.source} begin with a label such as {labelled[0]}, which is no word"
            self.remarks.append(what)

    def read_ctm(self, content: bytes) -> None:
        begun = ""  # where alternatives began; empty outside of them
        first = True  # whether the first of them is being read
        left_out: list[str] = []
        for number, line in text_lines(content, self.source):
            if line.lstrip().startswith(";;"):
                continue
            cells, place = line.split(), f"line {number}"
            if _WITHOUT_CHANNEL.fullmatch(" ".join(cells)):
                cells.insert(1, "")
            if not 5 <= len(cells) <= 8:
                self.refuse(place, f"{quoted(line)} has {len(cells)} columns, not five to eight")
                continue
            recording, channel, start, duration, word, sure, kind, speaker = [*cells, "", "", ""][:8]
            sign = word.upper()
            if sign in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
                if (sign == "<ALT_BEGIN>") == bool(begun):
                    inside = "alternatives begin inside of others"
                    self.refuse(place, inside if begun else f"{sign} stands without <ALT_BEGIN>")
                begun = "" if sign == "<ALT_END>" else begun or place
                first = sign != "<ALT>"
            elif kind.lower() in _NO_WORDS:
                left_out.append(word)
            elif first and word != "@":
                speaker = "" if speaker.lower() in ("null", "unknown") else speaker
                self.items.append(Item(place, recording, channel, speaker, start, duration, word, sure))
        if begun:
            self.refuse(begun, "the alternatives that begin here do not end")
        if left_out:
            what = f"left out, as their type says that they are no words: {len(left_out)} of {self.source}"
            self.remarks.append(f"{what}, such as {quoted(left_out[0], 40)}")

    def read_seglst(self, content: bytes) -> None:
        text = decode_text(content, self.source)
        for number, item in json_list(text, self.source, self.problems):
            place, before = f"entry {number}", len(self.problems)
            times = []
            for name in ("start_time", "end_time"):
                is_text = isinstance(item.get(name), str)
                times.append(item[name] if is_text else repr(item.get(name)))
                self.check(place, item, name, TEXT if is_text else NUMBER)
            for name in ("session_id", "words"):
                self.check(place, item, name, TEXT)
            speaker = item.get("speaker", "") or ""
            if isinstance(speaker, str):
                self.check(place, item | {"speaker": speaker}, "speaker", TEXT)
            else:
                speaker = json.dumps(speaker)
            if len(self.problems) == before:
                words = " ".join(item["words"].split())
                channel = "" if item.get("channel") is None else str(item["channel"])
                self.items.append(Item(place, item["session_id"], channel, speaker, *times, words))

    def check(self, place: str, item: dict, name: str, kind: str) -> None:
        """Note a field that is missing or of another kind."""
        value = item.get(name)
        if value is None:
            if "audio_filepath" in item:
                remedy = "Give one object a line, not a list"
                raise input_error(self.source, "these are results of NeMo", remedy)
            remedy = did_you_mean(name, item).replace("Allowed: ", "There are: ")
            what = "the field is missing" if name not in item else "the field is null"
            self.refuse(f"{place}, field {name}", what, remedy)
        elif what := field_problem(value, kind):
            self.refuse(f"{place}, field {name}", what)
