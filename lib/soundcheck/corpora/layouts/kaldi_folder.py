"""Reads a data folder of Kaldi or ESPnet: one row an utterance.

Conventions
-----------
- Each file has lines of a name and a value; names are told apart exactly, and none may stand twice. UTF-8.
- ``wav.scp`` names the file of each recording. A command there (it ends with ``|``) is never run, and an
  archive (``raw.ark:12``) not opened: both are refused, unless the corpus has no audio.
- ``segments`` gives utterances their recording, start and end in seconds, and perhaps a channel; an end of -1
  is the end of the recording. Without this file each recording is an utterance.
- ``reco2file_and_channel`` says which channel of its file a recording is.
- ``text``, ``utt2spk``, ``spk2gender`` and ``utt2lang`` become transcript, speaker, sex and language; a name
  alone in ``text`` says that nobody speaks. Other files ``utt2x`` and ``spk2x`` are columns ``x`` for whoever
  asks for them.
- ``reco2dur`` and ``utt2dur`` count where there is nothing to hear, and are compared with files elsewhere.
- The name of an utterance becomes its ``item``. Where there is nothing to hear, the name of its recording
  stands for the file.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text, parse_number
from soundcheck.corpora.segments import Excluded, RawTable
from soundcheck.corpora.table_keys import CHANNEL, take_columns, unused
from soundcheck.suite.entries import CorpusEntry

USUAL = {"transcript": ("text",), "sex": ("gender",), "language": ("lang",)}
NEVER = ("spk", "utt", "uniq", "num_frames", "dur")  # utt2spk and others that are no columns
_ARCHIVE = re.compile(r"\.ark:\d+(\[.*\])?$")


def read_folder(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read a data folder.

    - ``entry``: the suite's entry; ``path`` is the folder.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if a file cannot be read, has a line without value or a name twice, or recordings are
      commands. All problems of the folder at once.
    """
    folder = _Folder(entry.path, (entry.shown_path or entry.path.name).rstrip("/"))
    recordings = folder.read("wav.scp", needed=True)
    cut = folder.read("segments")
    folder.problems.raise_if_any()
    if entry.audio:
        _refuse_commands(folder, recordings)
    left_out: list[Excluded] = []
    channels = {name: text.split()[-1] for name, text in folder.read("reco2file_and_channel").items()}
    utterances = (
        _cut(folder, cut, recordings, left_out) if cut else {name: (name, "", "", "") for name in recordings}
    )
    columns = {
        "file": {name: recordings[own[0]] if entry.audio else own[0] for name, own in utterances.items()},
        "item": {name: name for name in utterances},
        "start": {name: own[1] for name, own in utterances.items()},
        "end": {name: own[2] for name, own in utterances.items()},
        CHANNEL: {name: own[3] or channels.get(own[0], "") for name, own in utterances.items()},
    }
    columns |= folder.about_utterances(utterances, left_out)
    whole = folder.read("reco2dur")  # of utterances without times
    known = {name: whole.get(own[0], "") for name, own in utterances.items() if not own[1]}
    columns["duration"] = known | folder.read("utt2dur")
    folder.problems.raise_if_any()
    given = {column: own for column, own in columns.items() if column == "file" or any(own.values())}
    cells = {column: [own.get(name, "") for name in utterances] for column, own in given.items()}
    source = "segments" if cut else "wav.scp"
    lines = [folder.lines[source][name] for name in utterances]
    table = TextTable(cells, lines, "line", f"{folder.shown}/{source}")
    raw = take_columns(table, entry, tasks, USUAL)
    there = (path.name for path in entry.path.iterdir() if path.is_file())
    told = unused(there, {*folder.lines, *recordings.values()}, "files")
    notices = (*raw.notices, *told)
    return dataclasses.replace(raw, root=entry.path, left_out=(*raw.left_out, *left_out), notices=notices)


def _refuse_commands(folder: _Folder, recordings: Mapping[str, str]) -> None:
    write = "Write WAV files, and name them in wav.scp; or say `audio: false`"
    for name, target in recordings.items():
        where = folder.where("wav.scp", name)
        if target.endswith("|"):
            what = f"the recording {quoted(name)} is the output of a command, and no command is run"
            folder.problems.add(where, what, write)
        elif target.startswith("|") or target == "-":
            folder.problems.add(where, f"{quoted(target, 40)} names no file", "Name a WAV file")
        elif _ARCHIVE.search(target):
            what = f"the recording {quoted(name)} lies in an archive, which is not read"
            folder.problems.add(where, what, write)
    folder.problems.raise_if_any()


def _cut(
    folder: _Folder, cut: Mapping[str, str], recordings: Mapping[str, str], left_out: list[Excluded]
) -> dict[str, tuple[str, str, str, str]]:
    """Read recording, start, end and channel of each utterance; those without recording are listed."""
    times = {}
    for name, text in cut.items():
        words = text.split()
        where = folder.where("segments", name)
        if len(words) not in (3, 4):
            what = f"there are {len(words)} values behind the name, not three or four"
            folder.problems.add(where, what, "Expected is `utterance recording start end`")
            continue
        recording, start, end, channel = [*words, ""][:4]
        try:
            last = parse_number(end)
            parse_number(start)
        except ValueError as error:
            folder.problems.add(
                where, str(error), "Give start and end in seconds; an end of -1 is that of the file"
            )
            continue
        if recording in recordings:
            times[name] = (recording, start, "" if last == -1 else end, "" if channel == "-1" else channel)
        else:
            left_out.append(Excluded(name, f"its recording {quoted(recording)} is not in wav.scp"))
    return times


class _Folder:
    """The files of a data folder.

    - ``lines``: name of a file -> name in it -> its line.
    """

    def __init__(self, path: Path, shown: str) -> None:
        self.path, self.shown, self.problems = path, shown, Problems()
        self.lines: dict[str, dict[str, int]] = {}

    def where(self, file: str, name: str) -> str:
        """Say where a name stands."""
        return f"{self.shown}/{file} line {self.lines[file][name]}"

    def read(self, file: str, *, needed: bool = False, alone: str = "") -> dict[str, str]:
        """Read a file: name -> value, empty if there is none.

        - ``file``: its name in the folder.
        - ``needed``: whether there has to be one.
        - ``alone``: what a name without value means; empty = it is wrong.
        """
        shown = f"{self.shown}/{file}"
        place = files.inside(self.path, file)
        if not needed and not place.is_symlink() and not place.exists():
            return {}
        text = decode_text(files.require_regular(place, shown).read_bytes(), shown)
        lines = self.lines[file] = {}
        values: dict[str, str] = {}
        for number, line in enumerate(text.split("\n"), start=1):
            name, *rest = line.split(maxsplit=1) or [""]
            if not name:
                continue
            if name in values:
                what = f"the name {quoted(name)} stands twice"
                self.problems.add(f"{shown} lines {lines[name]} and {number}", what, "Give each its own name")
            elif not rest and not alone:
                self.problems.add(
                    f"{shown} line {number}", f"{quoted(name)} has no value", "Complete the line"
                )
            else:
                values[name], lines[name] = rest[0].rstrip() if rest else alone, number
        if needed and not values and not len(self.problems):
            self.problems.add(shown, "the file has no line", "Give lines such as `s01-a audio/s01-a.wav`")
        return values

    def about_utterances(
        self, utterances: Mapping[str, object], left_out: list[Excluded]
    ) -> dict[str, dict[str, str]]:
        """Read what other files say about utterances: column -> utterance -> value."""
        texts = self.read("text", alone=" ")
        speakers = self.read("utt2spk")
        for file, names in (("text", texts), ("utt2spk", speakers)):
            lost = [name for name in names if name not in utterances]
            known = {item.item for item in left_out}
            left_out += [
                Excluded(n, f"it stands in {file}, but has no recording") for n in lost if n not in known
            ]
        columns = {"text": texts, "speaker": speakers}
        for path in sorted(self.path.glob("utt2*")):
            column = path.name.removeprefix("utt2")
            if column not in NEVER:
                columns[column] = self.read(path.name)
        for path in sorted(self.path.glob("spk2*")):
            column = path.name.removeprefix("spk2")
            if column not in (*NEVER, *columns):
                of_speaker = self.read(path.name)
                columns[column] = {name: of_speaker.get(who, "") for name, who in speakers.items()}
                lost = {*speakers.values()} - {*of_speaker}
                if lost and lost == {*speakers.values()} and of_speaker:
                    what = f"no speaker of utt2spk is there, such as {quoted(min(lost))}"
                    self.problems.add(f"{self.shown}/{path.name}", what, did_you_mean(min(lost), of_speaker))
        return {name: values for name, values in columns.items() if values}
