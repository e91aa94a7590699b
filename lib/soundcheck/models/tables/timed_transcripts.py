"""A model whose answers are words with times: they are gathered into the segments of a corpus.

Conventions
-----------
- Times that differ by at most :data:`~soundcheck.models.tables.time_spans.TOLERANCE` are the same.
- Which file a recording means says :mod:`soundcheck.corpora.utterances`; its name may also be followed by
  ``-`` or ``_`` and the channel.
- A word of a CTM belongs to the segment that holds its middle (the start of a segment belongs to it, its end
  does not). A line with several words belongs to the segment that holds all of it; if segments overlap, to
  the one with its times, or to the only one that holds it. Where the speakers of a recording are called as in
  the corpus, only segments of the same speaker count.
- What belongs to one segment is joined in the order of time; so are confidences, if all its words have one.
- A segment without words in a recording that the file knows is an empty transcript: nothing was recognised. A
  segment that a line reaches into without belonging to it has no answer, and neither has one of a recording
  that the file does not know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.base import NOT_ASKED, LookUpModel
from soundcheck.models.stated_words import WORDS
from soundcheck.models.tables.index import compared, most_alike
from soundcheck.models.tables.time_spans import NONE, SEVERAL, Spans
from soundcheck.models.tables.timed_texts import TimedTexts
from soundcheck.models.tables.transcript_formats import CTM
from soundcheck.models.tables.transcripts import long_text
from soundcheck.suite.groups import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus


class TimedTranscripts(LookUpModel):
    """Answers from a file of words with times; made by ``predictions:``.

    Parameters
    ----------
    name
        Name in the suite.
    fingerprint
        Digest of the file's content and format.
    tasks
        What it answers: transcripts.
    texts
        The words.
    """

    changes_audio = False

    def __init__(self, name: str, fingerprint: str, tasks: Sequence[Task], texts: TimedTexts) -> None:
        self.name = name
        self.tasks = tuple(task.name for task in tasks)
        self._fingerprint = fingerprint
        self._texts = texts

    @classmethod
    def load(cls, entry: object, suite: object) -> TimedTranscripts:
        """Refuse: such models are made by :class:`soundcheck.models.tables.table.TableModel`."""
        raise TypeError("a file of words with times is loaded by `predictions:`")

    @property
    def fingerprint(self) -> str:
        """Digest of the file's content and format and of the tasks."""
        return files.digest(repr((self._fingerprint, self.tasks)))

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus.

        Raises
        ------
        ValueError
            If asked about changed signals.
        InputError
            If it is not clear which segment words belong to.
        """
        if change:
            raise ValueError("a file of words cannot answer for changed signals")
        placed, known, touched = self._place(corpus)
        texts, shown = self._texts, self._texts.shown
        values = np.full(len(corpus.segments), None, dtype=object)
        values[known & ~touched] = ""
        words = np.full(len(values), None, dtype=object)
        for segment, items in self._gathered(placed):
            text = " ".join(filter(None, (texts.texts[item] for item in items)))
            values[segment] = None if touched[segment] else text
            sure = texts.confidences[items] if len(texts.confidences) else np.array([np.nan])
            if not np.isnan(sure).any():
                pairs = zip((texts.texts[item] for item in items), sure.tolist(), strict=True)
                words[segment] = json.dumps([*pairs], ensure_ascii=False)
        problems = np.full(len(values), "", dtype=object)
        problems[~known] = f"{NOT_ASKED}: no {self._texts.noun} in {shown}"
        problems[touched] = f"{shown} has words across its start or end"
        for position, text in enumerate(values):
            what = long_text(text, shown, self.tasks[0])
            if what:
                values[position], problems[position] = None, what
        answers = {task: values.copy() for task in self.tasks}
        if len(texts.confidences):
            answers |= {f"{task}.{WORDS}": words for task in self.tasks}
        return answers, problems.tolist()

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the file with all corpora of a suite.

        Returns
        -------
        list of str
            Words that belong to no segment, and segments in which nothing was recognised.

        Raises
        ------
        InputError
            If no words belong to any segment, or it is not clear to which one.
        """
        import pandas as pd  # late: whoever reads a suite imports this module

        texts, uses, silent = self._texts, [], 0
        for corpus in corpora:
            placed, known, touched = self._place(corpus)
            held = np.flatnonzero(placed >= 0)
            own = corpus.segments[["file", "audio"]].iloc[placed[held]].rename(columns={"audio": "sound"})
            uses.append(own.assign(number=held, corpus=corpus.name))
            spoken = np.isin(np.arange(len(corpus.segments)), placed[held])
            silent += int((known & ~touched & ~spoken).sum())
        used = pd.concat(uses) if uses else None
        extra = len(texts) - (used["number"].nunique() if used is not None else 0)
        if extra == len(texts) and any(len(corpus.segments) for corpus in corpora):
            here, there = most_alike(texts.recordings[0], corpora)
            what = (
                f"no {texts.noun} belongs to a segment: the recording here is {here}, "
                f"from {texts.start[0]:g} to {texts.end[0]:g} s, a file of the corpus {there}"
            )
            remedy = "Call recordings like the files of the corpus; times are seconds"
            raise input_error(texts.where(0), what, remedy)
        told = list(texts.remarks)
        if used is not None:
            told += compared(used, texts.recordings, texts.where, texts.shown, True)
        if extra and corpora:
            plural = "entries" if texts.noun == "entry" else f"{texts.noun}s"
            verb = f"{texts.noun} belongs" if extra == 1 else f"{plural} belong"
            told.append(f"{extra} {verb} to no segment of the corpora")
        if silent:
            what = "segment has" if silent == 1 else "segments have"
            told.append(f"{silent} {what} no words in {texts.shown}: nothing was recognised there")
        if texts.ignored:
            what = "line of {} says that it is" if texts.ignored == 1 else "lines of {} say that they are"
            told.append(f"{texts.ignored} {what.format(texts.shown)} not to be scored")
        return told

    def _gathered(self, segment: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Gather the items of each segment in the order of time: its number and theirs."""
        items = np.flatnonzero(segment >= 0)
        order = items[np.lexsort((items, self._texts.start[items], segment[items]))]
        firsts = np.flatnonzero(np.diff(segment[order], prepend=NONE))
        return [(int(segment[own[0]]), own) for own in np.split(order, firsts[1:]) if len(own)]

    def _place(self, corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find where the items belong.

        Returns
        -------
        segment
            Number of the segment of each item, int64 ``(items,)``; -1 = none.
        known
            Whether the file has the recording of each segment, bool ``(segments,)``.
        touched
            Whether an item that belongs to no segment reaches into it, bool ``(segments,)``.

        Raises
        ------
        InputError
            If a recording could be several files, words belong to several segments that overlap, or the words
            of several channels to one segment.
        """
        texts, problems = self._texts, Problems()
        table = corpus.segments
        of_item, of_segment = self._files(table, problems)
        problems.raise_if_any()
        start = np.nan_to_num(table["start"].to_numpy(dtype=np.float64))
        end = table["end"].to_numpy(dtype=np.float64)
        end = np.where(np.isnan(end), start + numbers_of(table, "duration"), end)
        end = np.where(np.isnan(end), np.inf, end)
        group, of_segment_group = self._speakers(table, of_item, of_segment)
        segment = np.full(len(texts), NONE, dtype=np.int64)
        touched = np.zeros(len(table), dtype=bool)
        for items, groups in ((group < 0, (of_item, of_segment)), (group >= 0, (group, of_segment_group))):
            items = np.flatnonzero(items & (of_item >= 0))
            spans = Spans(groups[1], start, end)
            found = spans.holders(groups[0][items], texts.start[items], texts.end[items], texts.form == CTM)
            self._note_several(items[found == SEVERAL], table, problems)
            segment[items] = np.maximum(found, NONE)
            if texts.form != CTM:
                lost = items[found == NONE]
                touched |= spans.touched(groups[0][lost], texts.start[lost], texts.end[lost])
        if texts.form == CTM:
            self._note_channels(segment, table, problems)
        problems.raise_if_any()
        return segment, np.isin(of_segment, of_item[of_item >= 0]), touched

    def _files(self, table: pd.DataFrame, problems: Problems) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of each item's file, -1 = none, and of each segment's."""
        import pandas as pd  # late: whoever reads a suite imports this module

        texts = self._texts
        of_segment, names = pd.factorize(table["file"])
        known = UtteranceNames(table.drop_duplicates("file").drop(columns="item", errors="ignore"))
        called, recordings = pd.factorize(np.array([*texts.recordings, ""], dtype=object)[:-1])
        first = np.unique(called, return_index=True)[1]

        def where(*numbers: int) -> str:
            return " and ".join(texts.where(int(first[number])) for number in numbers)

        recording_of = known.assign(recordings.tolist(), "recording", where, problems)
        of_recording = np.full(len(recordings), NONE, dtype=np.int64)
        of_recording[recording_of[recording_of >= 0]] = np.flatnonzero(recording_of >= 0)
        found = of_recording[called]
        both = [
            (f"{texts.recordings[item]}{joint}{texts.channels[item]}", item)
            for item in np.flatnonzero(found == NONE).tolist()
            for joint in "_-"
            if texts.channels[item]
        ]
        files = known.find(list(dict.fromkeys(name for name, _ in both))) if both else []
        meant = dict(zip(dict.fromkeys(name for name, _ in both), files, strict=True))
        for name, item in both:
            found[item] = meant[name][0] if len(meant[name]) == 1 else found[item]
        return found, of_segment

    def _speakers(
        self, table: pd.DataFrame, of_item: np.ndarray, of_segment: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of each item's file and speaker, -1 = not in the corpus, and of each segment's."""
        import pandas as pd  # late: whoever reads a suite imports this module

        if "speaker" not in table.columns:
            return np.full(len(of_item), NONE), np.zeros(len(of_segment), dtype=np.int64)
        speakers = table["speaker"].astype(object).where(table["speaker"].notna(), None)
        own = pd.MultiIndex.from_arrays([of_segment, speakers])
        codes, pairs = pd.factorize(own)
        theirs = pd.MultiIndex.from_arrays(
            [of_item, np.array([*self._texts.speakers, ""], dtype=object)[:-1]]
        )
        return np.where(of_item >= 0, pairs.get_indexer(theirs), NONE), codes

    def _note_several(self, items: np.ndarray, table: pd.DataFrame, problems: Problems) -> None:
        for item in items.tolist():
            texts = self._texts
            what = (
                f"{quoted(texts.texts[item], 40)} from {texts.start[item]:g} to {texts.end[item]:g} s of "
                f"{quoted(texts.recordings[item])} belongs to several segments that overlap"
            )
            remedy = "Give STM or SegLST with the times or the speakers of the corpus, or a table"
            problems.add(texts.where(item), what, remedy)

    def _note_channels(self, segment: np.ndarray, table: pd.DataFrame, problems: Problems) -> None:
        """Refuse words of several channels in one segment: they were said at the same time."""
        import pandas as pd  # late: whoever reads a suite imports this module

        items = np.flatnonzero(segment >= 0)
        channels, names = pd.factorize(np.array([*self._texts.channels, ""], dtype=object)[items])
        order = np.lexsort((channels, segment[items]))
        of, channel = segment[items][order], channels[order]
        for place in np.flatnonzero((np.diff(of) == 0) & (np.diff(channel) != 0)).tolist():
            item = items[order[place + 1]]
            both = f"{quoted(names[channel[place]])} and {quoted(names[channel[place + 1]])}"
            file = quoted(table["file"].iat[of[place]])
            what = f"words of the channels {both} belong to one segment of {file}"
            problems.add(self._texts.where(item), what, "Give one channel, or a corpus with a file a channel")
