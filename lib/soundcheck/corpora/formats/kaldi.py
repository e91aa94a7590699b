"""``format: kaldi``: a data folder of Kaldi or ESPnet, one row an utterance.

- Each file has lines of a name and a value; a name may not stand twice. UTF-8.
- ``wav.scp`` names the file of each recording. A command (it ends with ``|``) is never run, and an archive
  (``raw.ark:12``) not opened: both are refused, unless the corpus has no audio.
- ``segments`` gives utterances their recording, start and end in seconds, and perhaps a channel; an end of -1
  is the end of the recording. Without this file each recording is an utterance.
- ``reco2file_and_channel`` says which channel of its file a recording is.
- ``text``, ``utt2spk``, ``spk2gender`` and ``utt2lang`` become transcript, speaker, sex and language; a name
  alone in ``text`` says that nobody speaks. Other files ``utt2x`` and ``spk2x`` are columns ``x``.
- ``reco2dur`` and ``utt2dur`` are the durations without audio, and are compared with files elsewhere.
- The name of an utterance becomes its ``item``; without audio the name of its recording is the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text, parse_number
from soundcheck.corpora.raw_table import Excluded, RawTable, entry_name, take_columns, unused
from soundcheck.suite.corpus_format import FolderKeys, TableFormat
from soundcheck.suite.entries import CorpusEntry

NAMES = {"transcript": ("text",), "sex": ("gender",), "language": ("lang",)}
NEVER = ("spk", "utt", "uniq", "num_frames", "dur")  # utt2spk and others that are no columns
_ARCHIVE = re.compile(r"\.ark:\d+(\[.*\])?$")


class KaldiFormat(TableFormat):
    """Data folders of Kaldi."""

    keyword = "kaldi"
    keys = FolderKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a data folder under our column names."""
        folder, left_out = _Folder(entry), []
        recordings = folder.read("wav.scp", needed=True)
        segments = folder.read("segments")
        folder.problems.raise_if_any()
        if entry.audio:
            _refuse_commands(folder, recordings)
        utterances = {name: (name, "", "", "") for name in recordings}  # recording, start, end, channel
        if segments:
            utterances = _segments(folder, segments, recordings, left_out)
        channels = {name: text.split()[-1] for name, text in folder.read("reco2file_and_channel").items()}
        whole = folder.read("reco2dur")
        columns = {name: {} for name in ("file", "item", "start", "end", "channel", "duration")}
        for name, (recording, start, end, channel) in utterances.items():
            columns["file"][name] = recordings[recording] if entry.audio else recording
            columns["item"][name] = name
            columns["start"][name], columns["end"][name] = start, end
            columns["channel"][name] = channel or channels.get(recording, "")
            columns["duration"][name] = "" if start else whole.get(recording, "")
        columns["duration"] |= folder.read("utt2dur")
        columns |= _labels(folder, utterances, left_out)
        folder.problems.raise_if_any()
        cells = {
            column: [values.get(name, "") for name in utterances]
            for column, values in columns.items()
            if column == "file" or any(values.values())
        }
        source = "segments" if segments else "wav.scp"
        lines = [folder.lines[source][name] for name in utterances]
        table = TextTable(cells, lines, "line", f"{folder.source}/{source}")
        names = (path.name for path in entry.path.iterdir() if path.is_file())
        notices = unused(names, {*folder.lines, *recordings.values()}, "files")
        return take_columns(table, entry, tasks, NAMES, root=entry.path, left_out=left_out, notices=notices)


def _refuse_commands(folder: _Folder, recordings: Mapping[str, str]) -> None:
    for name, target in recordings.items():
        what = ""
        if target.endswith("|"):
            what = "is the output of a command, and no command is run"
        elif target.startswith("|") or target == "-":
            what = f"is {quoted(target, 40)}, which names no file"
        elif _ARCHIVE.search(target):
            what = "lies in an archive, which is not read"
        if what:
            remedy = "Write WAV files, and name them in wav.scp; or say `audio: false`"
            folder.problems.add(folder.where("wav.scp", name), f"the recording {quoted(name)} {what}", remedy)
    folder.problems.raise_if_any()


def _segments(
    folder: _Folder, segments: Mapping[str, str], recordings: Mapping[str, str], left_out: list[Excluded]
) -> dict[str, tuple[str, str, str, str]]:
    """Read recording, start, end and channel of each utterance; those without recording are listed."""
    times = {}
    for name, text in segments.items():
        words = text.split()
        try:
            if len(words) not in (3, 4):
                raise ValueError(f"there are {len(words)} values behind the name, not three or four")
            recording, start, end, channel = [*words, ""][:4]
            parse_number(start)
            end = "" if parse_number(end) == -1 else end
        except ValueError as error:
            line = "`utterance recording start end` in seconds; an end of -1 is that of the file"
            folder.problems.add(folder.where("segments", name), str(error), f"Expected is {line}")
            continue
        if recording in recordings:
            times[name] = (recording, start, end, "" if channel == "-1" else channel)
        else:
            left_out.append(Excluded(name, f"its recording {quoted(recording)} is not in wav.scp"))
    return times


def _labels(
    folder: _Folder, utterances: Collection[str], left_out: list[Excluded]
) -> dict[str, dict[str, str]]:
    """Read what other files say about utterances: column -> utterance -> value."""
    columns = {"text": folder.read("text", alone=" "), "speaker": folder.read("utt2spk")}
    listed = {*utterances, *(item.item for item in left_out)}
    for file, values in (("text", columns["text"]), ("utt2spk", columns["speaker"])):
        for name in [name for name in values if name not in listed]:
            listed.add(name)
            left_out.append(Excluded(name, f"it stands in {file}, but has no recording"))
    for path in sorted(folder.path.glob("utt2*")):
        if (column := path.name.removeprefix("utt2")) not in NEVER:
            columns[column] = folder.read(path.name)
    speakers = columns["speaker"]
    for path in sorted(folder.path.glob("spk2*")):
        if (column := path.name.removeprefix("spk2")) not in (*NEVER, *columns):
            of_speaker = folder.read(path.name)
            columns[column] = {name: of_speaker.get(who, "") for name, who in speakers.items()}
            if of_speaker and speakers and of_speaker.keys().isdisjoint(speakers.values()):
                who = min(speakers.values())
                what = f"no speaker of utt2spk is there, such as {quoted(who)}"
                remedy = did_you_mean(who, of_speaker)
                folder.problems.add(f"{folder.source}/{path.name}", what, remedy)
    return {name: values for name, values in columns.items() if values}


class _Folder:
    """The files of a data folder."""

    def __init__(self, entry: CorpusEntry) -> None:
        self.path: Path = entry.path
        self.source = entry_name(entry)
        self.problems = Problems()
        self.lines: dict[str, dict[str, int]] = {}  # name of a file -> name in it -> its line

    def where(self, file: str, name: str) -> str:
        """Say where a name stands."""
        return f"{self.source}/{file} line {self.lines[file][name]}"

    def read(self, file: str, *, needed: bool = False, alone: str = "") -> dict[str, str]:
        """Read a file: name -> value, empty if it does not exist; ``alone`` is the value of a bare name."""
        source, place = f"{self.source}/{file}", files.inside(self.path, file)
        if not needed and not os.path.lexists(place):
            return {}
        text = decode_text(files.require_regular(place, source).read_bytes(), source)
        lines = self.lines[file] = {}
        values: dict[str, str] = {}
        for number, line in enumerate(text.split("\n"), start=1):
            name, *rest = line.split(maxsplit=1) or [""]
            if name in values:
                where = f"{source} lines {lines[name]} and {number}"
                self.problems.add(where, f"the name {quoted(name)} stands twice", "Give each its own name")
            elif name and not rest and not alone:
                what = f"{quoted(name)} has no value"
                self.problems.add(f"{source} line {number}", what, "Complete the line")
            elif name:
                values[name], lines[name] = rest[0].rstrip() if rest else alone, number
        if needed and not values and not len(self.problems):
            self.problems.add(source, "the file has no line", "Give lines such as `s01-a audio/s01-a.wav`")
        return values
