"""Words with times, STM and CTM of NIST's SCTK and SegLST, gathered into the segments of a corpus.

Formats
-------
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

Conventions
-----------
- Times that differ by at most :data:`~soundcheck.models.tables.rows.TOLERANCE` are the same.
- Which file a recording means says :mod:`soundcheck.corpora.utterances`; its name may also be followed by
  ``-`` or ``_`` and the channel.
- A word of a CTM belongs to the segment that holds its middle (the start of a segment belongs to it, its end
  does not). A line with several words belongs to the segment that holds all of it; if segments overlap, to
  the one with its times, or to the only one that holds it. Where the speakers of a recording are called as in
  the corpus, only segments of the same speaker count.
- What belongs to one segment is joined in the order of time; so are confidences, if all its words have one.
- A segment without words in a recording that the file knows is an empty transcript: nothing was recognised. A
  segment that a line reaches into without belonging to it has no prediction, and neither has one of a
  recording that the file does not know.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_list
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import decode_text, parse_column, parse_number, parse_seconds
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.answers import NOT_ASKED, WORDS
from soundcheck.models.base import LookUpModel
from soundcheck.models.tables.rows import TOLERANCE, compared, most_alike, used_by, uses_of
from soundcheck.models.tables.transcripts import CTM, SEGLST, STM, chosen_words, long_text, text_lines
from soundcheck.suite.groups import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus

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
                with self.problems.collected():
                    text = chosen_words(text, f"{self.source} {place}")
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


# Segments ---------------------------------------------------------------------------------------------------


NONE, SEVERAL = -1, -2  # instead of a segment
_LONGEST = 10**6  # seconds that a recording may last


class Placed(NamedTuple):
    """Where the items of a file belong in a corpus."""

    segment: np.ndarray  # of each item, int64 (items,); -1 = none
    known: np.ndarray  # whether the file has the recording of each segment, bool (segments,)
    touched: np.ndarray  # whether an item that belongs to no segment reaches into it, bool (segments,)


class TimedTranscripts(LookUpModel):
    """Answers from a file of words with times; made by ``predictions:``."""

    changes_audio = False

    def __init__(self, digest: str, tasks: Sequence[Task], texts: TimedTexts) -> None:
        self._tasks, self._texts = tuple(task.name for task in tasks), texts
        self.fingerprint = files.digest(repr((digest, self._tasks)))

    @classmethod
    def load(cls, entry: object, suite: object) -> TimedTranscripts:
        """Refuse: such models are made by :class:`soundcheck.models.tables.table.TableModel`."""
        raise TypeError("a file of words with times is loaded by `predictions:`")

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus."""
        if change:
            raise ValueError("a file of words cannot answer for changed signals")
        placed, items, source = self._place(corpus), self._texts.items, self._texts.source
        values, words = np.full((2, len(corpus.segments)), None, dtype=object)
        values[placed.known] = ""
        problems = np.full(len(values), "", dtype=object)
        problems[~placed.known] = f"{NOT_ASKED}: no {self._texts.noun} in {source}"
        inside = items.assign(segment=placed.segment)[placed.segment >= 0]
        for segment, members in inside.sort_values("start", kind="stable").groupby("segment"):
            texts = members["text"].tolist()
            values[segment] = " ".join(filter(None, texts))
            if members["confidence"].notna().all():
                words[segment] = json.dumps(
                    [*zip(texts, members["confidence"].tolist(), strict=True)], ensure_ascii=False
                )
        values[placed.touched] = None
        problems[placed.touched] = f"{source} has words across its start or end"
        for position, text in enumerate(values):
            if what := long_text(text, source, self._tasks[0]):
                values[position], problems[position] = None, what
        predictions = {task: values.copy() for task in self._tasks}
        if items["confidence"].notna().any():
            predictions |= {f"{task}.{WORDS}": words for task in self._tasks}
        return predictions, problems.tolist()

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say which words belong to no segment, and in how many segments nothing was recognised.

        Raises InputError if no words belong to any segment, or it is not clear to which one.
        """
        texts, silent = self._texts, 0

        def uses(corpus: Corpus) -> list[pd.DataFrame]:
            nonlocal silent
            placed = self._place(corpus)
            held = np.flatnonzero(placed.segment >= 0)
            spoken = np.isin(np.arange(len(corpus.segments)), placed.segment)
            silent += int((placed.known & ~placed.touched & ~spoken).sum())
            return [uses_of(corpus, placed.segment[held], held)]

        used, count = used_by(corpora, uses)
        recordings = texts.items["recording"].tolist()
        extra = len(recordings) - count
        if extra == len(recordings) and any(len(corpus.segments) for corpus in corpora):
            recording, similar = most_alike(recordings[0], corpora)
            first = texts.items.iloc[0]
            what = (
                f"no {texts.noun} belongs to a segment: the recording here is {recording}, "
                f"from {first['start']:g} to {first['end']:g} s, a file of the corpus {similar}"
            )
            remedy = "Call recordings like the files of the corpus; times are seconds"
            raise input_error(texts.where(0), what, remedy)
        notices = [*texts.remarks, *compared(used, recordings, texts.where, texts.source, True)]
        if extra and corpora:
            plural = "entries" if texts.noun == "entry" else f"{texts.noun}s"
            verb = f"{texts.noun} belongs" if extra == 1 else f"{plural} belong"
            notices.append(f"{extra} {verb} to no segment of the corpora")
        if silent:
            what = "segment has" if silent == 1 else "segments have"
            notices.append(f"{silent} {what} no words in {texts.source}: nothing was recognised there")
        if texts.ignored:
            what = "line of {} says that it is" if texts.ignored == 1 else "lines of {} say that they are"
            notices.append(f"{texts.ignored} {what.format(texts.source)} not to be scored")
        return notices

    def _place(self, corpus: Corpus) -> Placed:
        """Find where the items belong.

        Raises InputError if a recording could be several files, words belong to several segments that
        overlap, or the words of several channels to one segment.
        """
        items, table, problems = self._texts.items, corpus.segments, Problems()
        of_item, of_segment = self._files(table, problems)
        problems.raise_if_any()
        start = np.nan_to_num(table["start"].to_numpy(dtype=np.float64))
        end = table["end"].to_numpy(dtype=np.float64)
        end = np.where(np.isnan(end), start + numbers_of(table, "duration"), end)
        voice, voice_of_segment = self._speakers(table, of_item, of_segment)
        segment, touched = np.full(len(items), NONE, dtype=np.int64), np.zeros(len(table), dtype=bool)
        words = self._texts.form == CTM
        for chosen, groups in ((voice < 0, (of_item, of_segment)), (voice >= 0, (voice, voice_of_segment))):
            rows = np.flatnonzero(chosen & (of_item >= 0))
            spans = Spans(groups[1], start, end)
            times = (groups[0][rows], *(items[name].to_numpy()[rows] for name in ("start", "end")))
            holders = spans.holders(*times, words)
            self._note_several(rows[holders == SEVERAL], problems)
            segment[rows] = np.maximum(holders, NONE)
            if not words:
                touched |= spans.touched(*(one[holders == NONE] for one in times))
        if words:
            self._note_channels(segment, table, problems)
        problems.raise_if_any()
        return Placed(segment, np.isin(of_segment, of_item[of_item >= 0]), touched)

    def _files(self, table: pd.DataFrame, problems: Problems) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of each item's file, -1 = none, and of each segment's."""
        import pandas as pd  # late: whoever reads a suite imports this module

        items = self._texts.items
        of_segment, names = pd.factorize(table["file"])
        known = UtteranceNames(table.drop_duplicates("file").drop(columns="item", errors="ignore"))
        recordings = items["recording"].drop_duplicates()

        def where(*numbers: int) -> str:
            return " and ".join(self._texts.where(recordings.index[number]) for number in numbers)

        recording_of = known.assign(recordings.tolist(), "recording", where, problems)
        file_of = {recordings.iloc[one]: file for file, one in enumerate(recording_of) if one >= 0}
        file_numbers = items["recording"].map(file_of).fillna(NONE).to_numpy(dtype=np.int64, copy=True)
        for joint in "-_":
            left = items[(file_numbers == NONE) & (items["channel"] != "")]
            called = left["recording"] + joint + left["channel"]
            unique = called.unique().tolist()
            meant = {
                name: rows[0] for name, rows in zip(unique, known.find(unique), strict=True) if len(rows) == 1
            }
            file_numbers[left.index] = called.map(meant).fillna(NONE).to_numpy(dtype=np.int64)
        return file_numbers, of_segment

    def _speakers(
        self, table: pd.DataFrame, of_item: np.ndarray, of_segment: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of each item's file and speaker, -1 = not in the corpus, and of each segment's."""
        import pandas as pd  # late: whoever reads a suite imports this module

        if "speaker" not in table.columns:
            return np.full(len(of_item), NONE), np.zeros(len(of_segment), dtype=np.int64)
        speakers = table["speaker"].astype(object).where(table["speaker"].notna(), None)
        codes, pairs = pd.factorize(pd.MultiIndex.from_arrays([of_segment, speakers]))
        pairs_of_items = pd.MultiIndex.from_arrays([of_item, self._texts.items["speaker"]])
        return np.where(of_item >= 0, pairs.get_indexer(pairs_of_items), NONE), codes

    def _note_several(self, numbers: np.ndarray, problems: Problems) -> None:
        for number, item in zip(numbers, self._texts.items.iloc[numbers].itertuples(), strict=True):
            what = (
                f"{quoted(item.text, 40)} from {item.start:g} to {item.end:g} s of "
                f"{quoted(item.recording)} belongs to several segments that overlap"
            )
            remedy = "Give STM or SegLST with the times or the speakers of the corpus, or a table"
            problems.add(self._texts.where(number), what, remedy)

    def _note_channels(self, segment: np.ndarray, table: pd.DataFrame, problems: Problems) -> None:
        """Refuse words of several channels in one segment: they were said at the same time."""
        channels = self._texts.items[["channel"]].assign(segment=segment)[segment >= 0]
        channels = channels.drop_duplicates()
        for place, members in channels[channels["segment"].duplicated(keep=False)].groupby("segment"):
            for first, second in zip(members.index, members.index[1:], strict=False):
                both = f"{quoted(members['channel'][first])} and {quoted(members['channel'][second])}"
                what = f"words of the channels {both} belong to one segment of "
                what += quoted(table["file"].iat[place])
                remedy = "Give one channel, or a corpus with a file a channel"
                problems.add(self._texts.where(second), what, remedy)


class Spans:
    """Segments as spans of time: which one holds a word, and which ones a line reaches into.

    ``group`` is the number of the file of each segment, or of file and speaker; times are seconds, an end may
    be NaN: unknown. All items are looked up at once, by sorting; only those in several segments that overlap
    are looked at one by one.
    """

    def __init__(self, group: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        self.group, self.start, self.end = group, start, np.where(np.isnan(end), _LONGEST, end)
        starts, ends = _ticks(group, self.start), _ticks(group, self.end)
        self._by_start, by_end = np.lexsort((ends, starts)), np.argsort(ends, kind="stable")
        self._starts, self._ends = starts[self._by_start], ends[by_end]
        # The segment that ends last among those of its group that begin before a time, or with it.
        rank = np.argsort(by_end)
        self._last = by_end[np.maximum.accumulate(rank[self._by_start])] if len(group) else rank

    def holders(self, group: np.ndarray, start: np.ndarray, end: np.ndarray, words: bool) -> np.ndarray:
        """Find the segment that holds each item, int64 ``(items,)``; -1 = none, -2 = several.

        ``words``: an item is one word, which may reach beyond its segment.
        """
        middle = _ticks(group, (start + end) / 2)
        begun = np.searchsorted(self._starts, middle, "right")
        count = begun - np.searchsorted(self._ends, middle, "right")
        holders = np.full(len(group), NONE, dtype=np.int64)
        one = count == 1
        holders[one] = self._last[begun[one] - 1]
        fits = (self.start[holders] <= start + TOLERANCE) & (self.end[holders] >= end - TOLERANCE)
        if not words and len(self.group):
            holders[~fits] = NONE
        for item in np.flatnonzero(count > 1):
            first = np.searchsorted(self._starts, group[item] * _GROUP)
            among = self._by_start[first : begun[item]]
            among = among[_ticks(self.group[among], self.end[among]) > middle[item]]
            holders[item] = self._among(among, start[item], end[item], words)
        return holders

    def touched(self, group: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Say which segments some items reach into by more than the tolerance, bool ``(segments,)``."""
        starts, ends = np.sort(_ticks(group, start)), np.sort(_ticks(group, end))
        begun = np.searchsorted(starts, _ticks(self.group, self.end - TOLERANCE), "left")
        return begun > np.searchsorted(ends, _ticks(self.group, self.start + TOLERANCE), "right")

    def _among(self, segments: np.ndarray, start: float, end: float, words: bool) -> int:
        """Choose between segments that overlap."""
        if words:  # segments may overlap by what is rounded
            middle = (start + end) / 2
            long = segments[self.end[segments] > middle + TOLERANCE]
            return int(long[0]) if len(long) == 1 else SEVERAL
        starts, ends = np.abs(self.start[segments] - start), np.abs(self.end[segments] - end)
        same = segments[(starts <= TOLERANCE) & (ends <= TOLERANCE)]
        if len(same) == 1:
            return int(same[0])
        fits = (self.start[segments] <= start + TOLERANCE) & (self.end[segments] >= end - TOLERANCE)
        if fits.sum() == 1:
            return int(segments[fits][0])
        return SEVERAL if fits.any() else NONE


_GROUP = (_LONGEST + 1) * 10**6  # microseconds by which the times of groups are apart


def _ticks(group: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Place times of all groups one behind the other, in microseconds."""
    return group * _GROUP + np.round(np.minimum(seconds, _LONGEST) * 1e6).astype(np.int64)
