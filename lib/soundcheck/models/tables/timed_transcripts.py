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

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_list
from soundcheck.common.messages import Problems, input_error, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import decode_text, parse_column, parse_number, parse_seconds
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.answers import NOT_ASKED, WORDS
from soundcheck.models.tables.rows import TOLERANCE, FileModel, long_text, segments_used
from soundcheck.models.tables.transcripts import CTM, SEGLST, STM, chosen_words, text_lines
from soundcheck.suite.corpus_format import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.load import Corpus

_LABEL = re.compile(r"<[^\s<>]*(?:,\s[^\s<>]+)*>(?!\S)")  # <o,f0,male>, perhaps with blanks behind commas
_WITHOUT_CHANNEL = re.compile(r"\S+ [\d.]+ [\d.]+ (?![\d.]+( |$))\S+( ([\d.]+|NA))?")  # a line of a CTM
_NO_WORDS = ("non-lex", "misc", "noscore")  # types of a CTM: noises, and what is not to be scored
IGNORED = "ignore_time_segment_in_scoring"
_NOUNS = {CTM: "word", STM: "line", SEGLST: "entry"}  # what messages call an item
_EXPECTED = {
    STM: "Expected is `meeting1 1 speaker1 0.50 2.25 turn left`",
    CTM: "Expected is `meeting1 1 0.50 0.31 turn 0.98`",
    SEGLST: 'Expected is `{"session_id": "meeting1", "start_time": 0.5, "end_time": 2.25, '
    '"words": "turn left"}`; results of NeMo are one object a line, not a list',
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


def read_timed_transcripts(content: bytes, source: str, form: str, tasks: Sequence[Task]) -> TimedTranscripts:
    """Read the bytes of a file in one of the three formats; raises all problems of its lines at once."""
    import pandas as pd  # late: whoever reads a suite imports this module

    reader = _Reader(source, form)
    read = {STM: reader.stm, CTM: reader.ctm, SEGLST: reader.seglst}[form]
    items = pd.DataFrame(list(read(content)), columns=Item._fields, dtype=object)
    places = items["place"]
    start, end = (reader.seconds(items[name].tolist(), places) for name in ("start", "end"))
    end = start + end if form == CTM else end
    for row in np.flatnonzero((start < 0) | (end < start)):
        reader.refuse(places[row], f"from {start[row]:g} to {end[row]:g} s is no time of a recording")
    reader.problems.raise_if_any()
    if items.empty:
        raise input_error(source, "the file has no words with times", _EXPECTED[form])
    confidence = reader.confidences(items["confidence"].tolist(), places)
    items = items.assign(start=start, end=end, confidence=confidence)
    return TimedTranscripts(source, form, tasks, items, reader.remarks)


class _Reader:
    """Reads items as they are written; ``remarks`` and ``problems`` are of the lines so far."""

    def __init__(self, source: str, form: str) -> None:
        self.source, self.form, self.problems = source, form, Problems()
        self.remarks: list[str] = []

    def refuse(self, place: str, what: str, remedy: str = "") -> None:
        self.problems.add(f"{self.source} {place}", what, remedy or _EXPECTED[self.form])

    def seconds(self, cells: Sequence[str], places: Sequence[str]) -> np.ndarray:
        """Convert times, float64 ``(items,)``; what is no number is noted."""
        values, wrong = parse_column(
            cells, lambda cell: (parse_seconds if ":" in cell else parse_number)(cell)
        )
        wrong += [(row, "the text is empty") for row, cell in enumerate(cells) if not cell.strip()]
        for row, what in wrong:
            self.refuse(places[row], f"a time: {what}", "Give seconds, or H:MM:SS")
        return values

    def confidences(self, cells: Sequence[str], places: Sequence[str]) -> np.ndarray:
        """Convert confidences of words, float64 ``(items,)``; if they cannot count there are none."""
        texts = ["" if cell.upper() in ("NA", "NAN") else cell for cell in cells]
        values, wrong = parse_column(texts, parse_number)
        beyond = np.flatnonzero((values < 0) | (values > 1))
        wrong += [(row, f"{values[row]:.4g} is not from 0 to 1") for row in beyond]
        why = "all of them are 1" if any(texts) and (values[~np.isnan(values)] == 1).all() else ""
        if wrong:
            row, what = min(wrong)
            why = f"{places[row]}: {what}"
        if why:
            self.remarks.append(f"the confidences of {self.source} are not used: {why}")
        return np.full(len(cells), np.nan) if why else values

    def lines(self, content: bytes, most: int, expected: str) -> Iterator[tuple[str, list[str]]]:
        """Part lines that are no comments into ``most`` columns, of which five have to be there."""
        for number, line in text_lines(content, self.source):
            if line.lstrip().startswith(";;"):
                continue
            cells = line.split(maxsplit=5 if self.form == STM else -1)
            if self.form == CTM and _WITHOUT_CHANNEL.fullmatch(" ".join(cells)):
                cells.insert(1, "")
            if 5 <= len(cells) <= most:
                yield f"line {number}", [*cells, "", "", ""][:most]
            else:
                self.refuse(f"line {number}", f"{quoted(line)} has {len(cells)} columns, not {expected}")

    def stm(self, content: bytes) -> Iterator[Item]:
        labelled, unlabelled, ignored = [], 0, 0
        for place, (*cells, text) in self.lines(content, 6, "five or more"):
            text = text.strip()
            if label := _LABEL.match(text):
                labelled.append(label[0])
                text = text[label.end() :].strip()
            else:
                unlabelled += bool(text)
            if text.lower() == IGNORED:
                ignored += 1
                continue
            if "{" in text or "}" in text:
                with self.problems.collected():
                    text = chosen_words(text, f"{self.source} {place}")
            yield Item(place, *cells, text)
        if labelled and unlabelled:
            many = f"{len(labelled)} of {len(labelled) + unlabelled} lines"
            what = f"{many} of {self.source} begin with a label such as {labelled[0]}, which is no word"
            self.remarks.append(what)
        if ignored:
            self.remarks.append(f"lines of {self.source} that say that they are not to be scored: {ignored}")

    def ctm(self, content: bytes) -> Iterator[Item]:
        begun = ""  # where alternatives began; empty outside of them
        first = True  # whether the first of them is being read
        left_out: list[str] = []
        for place, cells in self.lines(content, 8, "five to eight"):
            recording, channel, start, duration, word, sure, kind, speaker = cells
            sign = word.upper()
            if sign in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
                if (sign == "<ALT_BEGIN>") == bool(begun):
                    self.refuse(place, f"{sign} does not fit to what is before it")
                begun = "" if sign == "<ALT_END>" else begun or place
                first = sign != "<ALT>"
            elif kind.lower() in _NO_WORDS:
                left_out.append(word)
            elif first and word != "@":
                speaker = "" if speaker.lower() in ("null", "unknown") else speaker
                yield Item(place, recording, channel, speaker, start, duration, word, sure)
        if begun:
            self.refuse(begun, "the alternatives that begin here do not end")
        if left_out:
            what = f"left out, as their type says that they are no words: {len(left_out)} of {self.source}"
            self.remarks.append(f"{what}, such as {quoted(left_out[0], 40)}")

    def seglst(self, content: bytes) -> Iterator[Item]:
        text = decode_text(content, self.source)
        for number, item in json_list(text, self.source, self.problems):
            place, before = f"entry {number}", len(self.problems)
            speaker = item.get("speaker") or ""
            speaker = speaker if isinstance(speaker, str) else json.dumps(speaker)
            for name in ("start_time", "end_time", "session_id", "words"):
                kind = TEXT if name in ("session_id", "words") or isinstance(item.get(name), str) else NUMBER
                missing = "the field is missing" if item.get(name) is None else ""
                if what := missing or field_problem(item[name], kind):
                    self.refuse(f"{place}, field {name}", what)
            if len(self.problems) == before:
                words = " ".join(item["words"].split())
                channel = "" if item.get("channel") is None else str(item["channel"])
                times = (str(item[name]) for name in ("start_time", "end_time"))
                yield Item(place, item["session_id"], channel, speaker, *times, words)


# Segments ---------------------------------------------------------------------------------------------------


NONE, SEVERAL = -1, -2  # instead of a segment
_LONGEST = 10**6  # seconds that a recording may last
_GROUP = (_LONGEST + 1) * 10**6  # microseconds by which the times of groups are apart


class Placed(NamedTuple):
    """Where the items of a file belong in a corpus."""

    segment: np.ndarray  # of each item, int64 (items,); -1 = none
    known: np.ndarray  # whether the file has the recording of each segment, bool (segments,)
    touched: np.ndarray  # whether an item that belongs to no segment reaches into it, bool (segments,)


class TimedTranscripts(FileModel):
    """Words with times: ``items`` has the columns of :class:`Item`, times and confidences as float64."""

    def __init__(
        self, source: str, form: str, tasks: Sequence[Task], items: pd.DataFrame, remarks: Sequence[str]
    ) -> None:
        self.source, self.form, self.noun, self.remarks = source, form, _NOUNS[form], remarks
        self.items, self.names = items, items["recording"].tolist()
        self._tasks = [task.name for task in tasks]
        self._placed: dict[int, tuple[Corpus, Placed]] = {}

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus."""
        placed, items, source = self._place(corpus), self.items, self.source
        values, words = np.full((2, len(corpus.segments)), None, dtype=object)
        problems = np.full(len(values), f"{NOT_ASKED}: no {self.noun} in {source}", dtype=object)
        values[placed.known] = problems[placed.known] = ""
        inside = items.assign(segment=placed.segment)[placed.segment >= 0]
        inside = inside.sort_values("start", kind="stable").groupby("segment")[["text", "confidence"]]
        for segment, texts, sure in inside.agg(list).itertuples():
            values[segment] = " ".join(filter(None, texts))
            if not np.isnan(sure).any():
                words[segment] = json.dumps([*zip(texts, sure, strict=True)], ensure_ascii=False)
        values[placed.touched] = None
        problems[placed.touched] = f"{source} has words across its start or end"
        for position, text in enumerate(values):
            if what := long_text(text, source, self._tasks[0]):
                values[position], problems[position] = None, what
        predictions = {task: values.copy() for task in self._tasks}
        if items["confidence"].notna().any():
            predictions |= {f"{task}.{WORDS}": words for task in self._tasks}
        return predictions, problems.tolist()

    def where(self, *numbers: int) -> str:
        """Say where items stand."""
        return " and ".join(f"{self.source} {self.items['place'].iat[number]}" for number in numbers)

    def uses(self, corpus: Corpus) -> pd.DataFrame:
        """List which items the segments of a corpus hold."""
        segment = self._place(corpus).segment
        held = np.flatnonzero(segment >= 0)
        return segments_used(corpus, segment[held], held)

    def span(self, number: int) -> tuple[float, float]:
        """Give start and end of an item."""
        return self.items["start"].iat[number], self.items["end"].iat[number]

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say as well in how many segments nothing was recognised."""
        notices, silent = super().notices(corpora), 0
        for corpus in corpora:
            placed = self._place(corpus)
            spoken = np.isin(np.arange(len(corpus.segments)), placed.segment)
            silent += int((placed.known & ~placed.touched & ~spoken).sum())
        what = "segment has" if silent == 1 else "segments have"
        silence = f"{silent} {what} no words in {self.source}: nothing was recognised there"
        return [*notices, silence] if silent else notices

    def _place(self, corpus: Corpus) -> Placed:
        """Find where the items belong; looks once a corpus."""
        if id(corpus) not in self._placed:
            self._placed[id(corpus)] = corpus, self._find(corpus)
        return self._placed[id(corpus)][1]

    def _find(self, corpus: Corpus) -> Placed:
        """Find where the items belong.

        Raises InputError if a recording could be several files, words belong to several segments that
        overlap, or the words of several channels to one segment.
        """
        import pandas as pd  # late: whoever reads a suite imports this module

        items, table, problems = self.items, corpus.segments, Problems()
        file, names = pd.factorize(table["file"])
        spans = table[["start", "end"]].astype(np.float64).reset_index(drop=True).assign(group=file)
        spans["start"] = spans["start"].fillna(0.0)
        spans["end"] = spans["end"].fillna(spans["start"] + numbers_of(table, "duration")).fillna(_LONGEST)
        group = self._files(table, problems)
        problems.raise_if_any()
        known, places = np.isin(file, group), np.arange(len(table))
        if "speaker" in table.columns:  # each segment stands for its file, and again for its speaker there
            speakers = table["speaker"].astype(object).where(table["speaker"].notna(), None)
            voice, pairs = pd.factorize(pd.MultiIndex.from_arrays([file, speakers]))
            spans = pd.concat([spans, spans.assign(group=len(names) + voice)], ignore_index=True)
            spoken = pairs.get_indexer(pd.MultiIndex.from_arrays([group, items["speaker"]]))
            group, places = np.where(spoken >= 0, len(names) + spoken, group), np.tile(places, 2)
        times = items[["start", "end"]].assign(group=group)[group >= 0]
        holding = holders(spans, times, words=self.form == CTM)
        for number in times.index[holding == SEVERAL]:
            item = items.iloc[number]
            what = (
                f"{quoted(item.text, 40)} from {item.start:g} to {item.end:g} s of "
                f"{quoted(item.recording)} belongs to several segments that overlap"
            )
            remedy = "Give STM or SegLST with the times or the speakers of the corpus, or a table"
            problems.add(self.where(number), what, remedy)
        segment, touched = np.full(len(items), NONE), np.zeros(len(table), dtype=bool)
        segment[times.index] = np.append(places, NONE)[np.maximum(holding, NONE)]
        if self.form == CTM:
            self._note_channels(segment, table, problems)
        else:
            touched[places[reached(spans, times[holding == NONE])]] = True
        problems.raise_if_any()
        return Placed(segment, known, touched)

    def _files(self, table: pd.DataFrame, problems: Problems) -> np.ndarray:
        """Give the number of each item's file, in the order of files in the corpus, -1 = none."""
        items = self.items
        known = UtteranceNames(table.drop_duplicates("file").drop(columns="item", errors="ignore"))
        recordings = items["recording"].drop_duplicates()

        def where(*numbers: int) -> str:
            return self.where(*recordings.index[list(numbers)])

        recording_of = known.assign(recordings.tolist(), "recording", where, problems)
        file_of = {recordings.iloc[number]: file for file, number in enumerate(recording_of) if number >= 0}
        numbers = items["recording"].map(file_of).fillna(NONE).to_numpy(dtype=np.int64, copy=True)
        for joint in "-_":
            left = items[(numbers == NONE) & (items["channel"] != "")]
            called = left["recording"] + joint + left["channel"]
            unique = called.unique().tolist()
            meant = dict(zip(unique, known.find(unique), strict=True))
            numbers[left.index] = [meant[name][0] if len(meant[name]) == 1 else NONE for name in called]
        return numbers

    def _note_channels(self, segment: np.ndarray, table: pd.DataFrame, problems: Problems) -> None:
        """Refuse words of several channels in one segment: they were said at the same time."""
        channels = self.items[["channel"]].assign(segment=segment)[segment >= 0]
        channels = channels.drop_duplicates()
        for place, members in channels[channels["segment"].duplicated(keep=False)].groupby("segment"):
            first, second = members.index[:2]
            both = f"{quoted(members['channel'][first])} and {quoted(members['channel'][second])}"
            what = f"words of the channels {both} belong to one segment of {quoted(table['file'].iat[place])}"
            remedy = "Give one channel, or a corpus with a file a channel"
            problems.add(self.where(second), what, remedy)


def holders(spans: pd.DataFrame, times: pd.DataFrame, *, words: bool) -> np.ndarray:
    """Find the one span that holds each item, int64 ``(items,)``; -1 = none, -2 = several.

    Both have ``group``, and ``start`` and ``end`` in seconds. A word (``words``) is held by the span that has
    its middle, and may reach beyond it; of spans that overlap by what is rounded, by the longer one.
    Otherwise the span with the times of the item counts, or the only one that has all of it.
    """
    import pandas as pd  # late: whoever reads a suite imports this module

    first, last = _ticks(spans, "start"), _ticks(spans, "end")
    middle = _ticks(times.assign(middle=(times["start"] + times["end"]) / 2), "middle")
    span, _ = pd.IntervalIndex.from_arrays(first, last, closed="left").get_indexer_non_unique(middle)
    count = np.searchsorted(np.sort(first), middle, "right") - np.searchsorted(np.sort(last), middle, "right")
    pair = pd.DataFrame({"item": np.repeat(np.arange(len(times)), np.maximum(count, 1)), "span": span})
    pair = pair[span >= 0]
    low, high = (spans[name].to_numpy()[pair["span"]] for name in ("start", "end"))
    start, end = (times[name].to_numpy()[pair["item"]] for name in ("start", "end"))
    if words:
        best, others = high > (start + end) / 2 + TOLERANCE, np.full(len(pair), True)
    else:
        best = (np.abs(low - start) <= TOLERANCE) & (np.abs(high - end) <= TOLERANCE)
        others = (low <= start + TOLERANCE) & (high >= end - TOLERANCE)
    holder = np.full(len(times), NONE)
    holder[pair["item"][others]] = SEVERAL
    for candidates in (pair[others], pair[best]):  # the last one counts
        single = candidates.drop_duplicates("item", keep=False)
        holder[single["item"]] = single["span"]
    return holder


def reached(spans: pd.DataFrame, times: pd.DataFrame) -> np.ndarray:
    """Say which spans some items reach into by more than the tolerance, bool ``(spans,)``."""
    starts, ends = np.sort(_ticks(times, "start")), np.sort(_ticks(times, "end"))
    begun = np.searchsorted(starts, _ticks(spans, "end", -TOLERANCE), "left")
    return begun > np.searchsorted(ends, _ticks(spans, "start", TOLERANCE), "right")


def _ticks(times: pd.DataFrame, name: str, add: float = 0.0) -> np.ndarray:
    """Place times of all groups one behind the other, in microseconds."""
    seconds = np.minimum(times[name].to_numpy() + add, _LONGEST)
    return times["group"].to_numpy() * _GROUP + np.round(seconds * 1e6).astype(np.int64)
