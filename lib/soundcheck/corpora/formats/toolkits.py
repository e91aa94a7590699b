"""Formats of toolkits: data folders of Kaldi, manifests of NeMo, lists of EmoBox, cuts of Lhotse.

``format: kaldi``: a data folder of Kaldi or ESPnet, one row an utterance.

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

``format: nemo``: manifests of NeMo, an object a line with audio_filepath, duration and text.

``format: emobox``: the lists of EmoBox for one of its corpora, with ``label_map.json`` and its folds.

- Without a fold ``name/name.jsonl`` is read. A fold is a folder ``fold_1`` with the lists
  ``name_train_fold_1.jsonl`` and ``name_test_fold_1.jsonl`` (perhaps one of validation, too); its rows have a
  split.
- ``wav`` is the file, ``emo`` the emotion under the name that ``label_map.json`` gives it, ``length`` the
  duration without audio; ``key`` becomes the ``item``.
- Speakers are mostly in the names of utterances only: ``speaker_pattern`` is a regular expression, of which
  the group counts, or all of it.

``format: lhotse``: a manifest of cuts, ``cuts.jsonl.gz`` or ``cuts.jsonl``, one row a supervision.

- A line is a cut of one recording. Its supervisions begin relative to the cut, and the cut relative to the
  recording; rows have the times of the recording. One that is the whole recording has no times. A cut without
  supervisions is a row without labels.
- ``text``, ``speaker``, ``gender`` and ``language`` become transcript, speaker, sex and language; what else a
  supervision or its cut has, also in ``custom``, is a column of its own name if it is text, a number or a
  truth. The id of a supervision becomes its ``item``.
- Sound is a file of the recording. Commands are never run, addresses not fetched, and changes of the sound
  that the manifest only describes not made: all are refused, but for resampling.
- Channels are averaged: a cut has all channels of its file, and a supervision all of its cut.
- The manifest may be compressed with gzip, up to the limit of other tables when it is not.
"""

from __future__ import annotations

import dataclasses
import gzip
import math
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from soundcheck.common import files
from soundcheck.common.json_lines import json_object, json_objects, kind_of, read_json_table
from soundcheck.common.messages import Problems, counted, did_you_mean, input_error, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text, parse_number
from soundcheck.corpora.raw_table import Excluded, RawTable, entry_name, join, take_columns, unused
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CorpusEntry, FolderKeys, TableFormat

# Kaldi ------------------------------------------------------------------------------------------------------

NAMES = {"transcript": ("text",), "sex": ("gender",), "language": ("lang",)}
NEVER = ("spk", "utt", "uniq", "num_frames", "dur")  # utt2spk and others that are no columns
_NO_FILE = re.compile(r".*\||\|.*|-|.*\.ark:\d+(\[.*\])?")  # commands and archives

Cells = dict[str, tuple[str, str]]  # name in a file -> its value, and where it stands


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
        source = "segments" if segments else "wav.scp"
        utterances = {name: (name, "", "", "") for name in recordings}  # recording, start, end, channel
        if segments:
            utterances = _segments(folder, segments, recordings, left_out)
        places = {name: (segments or recordings)[name][1] for name in utterances}
        channels, whole = folder.read("reco2file_and_channel"), folder.read("reco2dur")
        columns = {name: {} for name in ("file", "item", "start", "end", "channel", "duration")}
        for name, (recording, start, end, channel) in utterances.items():
            target, where = recordings[recording]
            columns["file"][name] = (target if entry.audio else recording, where)
            for column, text in (("item", name), ("start", start), ("end", end)):
                columns[column][name] = (text, places[name])
            if channel or recording not in channels:
                columns["channel"][name] = (channel, places[name])
            else:  # a file and its channel
                text, where = channels[recording]
                columns["channel"][name] = (text.split()[-1], where)
            if not start and recording in whole:
                columns["duration"][name] = whole[recording]
        columns["duration"] |= folder.read("utt2dur")
        columns |= _labels(folder, utterances, left_out)
        folder.problems.raise_if_any()
        read = {
            column: [values.get(name, ("", place)) for name, place in places.items()]
            for column, values in columns.items()
            if column == "file" or any(text for text, _ in values.values())
        }
        cells = {column: [text for text, _ in pairs] for column, pairs in read.items()}
        table = TextTable(cells, [*places.values()], "", f"{folder.source}/{source}")
        names = (path.name for path in entry.path.iterdir() if path.is_file())
        notices = unused(names, {*folder.files, *(target for target, _ in recordings.values())}, "files")
        options = {"root": entry.path, "left_out": left_out, "notices": notices}
        options["places"] = {column: [place for _, place in pairs] for column, pairs in read.items()}
        return take_columns(table, entry, tasks, NAMES, **options)


def _refuse_commands(folder: _Folder, recordings: Cells) -> None:
    for name, (target, where) in recordings.items():
        if _NO_FILE.fullmatch(target):
            what = f"the recording {quoted(name)} is no file but {quoted(target, 40)}: no command is run"
            remedy = "Write WAV files, and name them in wav.scp; or say `audio: false`"
            folder.problems.add(where, f"{what}, and no archive read", remedy)
    folder.problems.raise_if_any()


def _segments(
    folder: _Folder, segments: Cells, recordings: Cells, left_out: list[Excluded]
) -> dict[str, tuple[str, str, str, str]]:
    """Read recording, start, end and channel of each utterance; those without recording are listed."""
    times = {}
    for name, (text, where) in segments.items():
        words = text.split()
        try:
            if len(words) not in (3, 4):
                raise ValueError(f"there are {len(words)} values behind the name, not three or four")
            recording, start, end, channel = [*words, ""][:4]
            parse_number(start)
            end = "" if parse_number(end) == -1 else end
        except ValueError as error:
            line = "`utterance recording start end` in seconds; an end of -1 is that of the file"
            folder.problems.add(where, str(error), f"Expected is {line}")
            continue
        if recording in recordings:
            times[name] = (recording, start, end, "" if channel == "-1" else channel)
        else:
            left_out.append(Excluded(name, f"its recording {quoted(recording)} is not in wav.scp"))
    return times


def _labels(folder: _Folder, utterances: Collection[str], left_out: list[Excluded]) -> dict[str, Cells]:
    """Read what other files say about utterances, by column."""
    columns = {"text": folder.read("text", alone=" "), "speaker": folder.read("utt2spk")}
    listed = {*utterances, *(item.item for item in left_out)}
    for file, values in (("text", columns["text"]), ("utt2spk", columns["speaker"])):
        for name in [name for name in values if name not in listed]:
            listed.add(name)
            left_out.append(Excluded(name, f"it stands in {file}, but has no recording"))
    for path in sorted(folder.path.glob("utt2*")):
        if (column := path.name.removeprefix("utt2")) not in NEVER:
            columns[column] = folder.read(path.name)
    speakers = {name: who for name, (who, _) in columns["speaker"].items()}
    for path in sorted(folder.path.glob("spk2*")):
        if (column := path.name.removeprefix("spk2")) not in (*NEVER, *columns):
            known = folder.read(path.name)
            columns[column] = {name: known[who] for name, who in speakers.items() if who in known}
            if known and speakers and not columns[column]:
                who = min(speakers.values())
                what = f"no speaker of utt2spk is there, such as {quoted(who)}"
                folder.problems.add(f"{folder.source}/{path.name}", what, did_you_mean(who, known))
    return columns


class _Folder:
    """The files of a data folder."""

    def __init__(self, entry: CorpusEntry) -> None:
        self.path: Path = entry.path
        self.source = entry_name(entry)
        self.problems = Problems()
        self.files: set[str] = set()  # that were read

    def read(self, file: str, *, needed: bool = False, alone: str = "") -> Cells:
        """Read a file, empty if it does not exist; ``alone`` is the value of a bare name."""
        source, place = f"{self.source}/{file}", files.inside(self.path, file)
        if not needed and not os.path.lexists(place):
            return {}
        self.files.add(file)
        text = decode_text(files.require_regular(place, source).read_bytes(), source)
        values: Cells = {}
        for number, line in enumerate(text.split("\n"), start=1):
            name, *rest = line.split(maxsplit=1) or [""]
            value, where = rest[0].rstrip() if rest else alone, f"{source} line {number}"
            if name in values:
                both = f"{values[name][1]} and line {number}"
                self.problems.add(both, f"the name {quoted(name)} stands twice", "Give each its own name")
            elif name and not value:
                self.problems.add(where, f"{quoted(name)} has no value", "Complete the line")
            elif name:
                values[name] = (value, where)
        if needed and not values and not len(self.problems):
            self.problems.add(source, "the file has no line", "Give lines such as `s01-a audio/s01-a.wav`")
        return values


# NeMo -------------------------------------------------------------------------------------------------------

NEMO_NAMES = {
    **{"file": ("audio_filepath",), "transcript": ("text",), "language": ("lang",)},
    **{"speaker": ("speaker", "speaker_id"), "sex": ("sex", "gender")},
}


class NemoFormat(TableFormat):
    """Manifests in JSON Lines; ``offset`` and ``duration`` are times, no offset is that of 0 s."""

    keyword = "nemo"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a manifest under our column names."""
        file = entry.columns.get("file", "audio_filepath")
        texts = [name for name in ("text", "lang") if name not in entry.columns.values()]
        table = read_json_table(
            entry.path, entry_name(entry), texts=[file, *texts], numbers=("duration", "offset"), needed=[file]
        )
        return take_columns(_timed(table), entry, tasks, NEMO_NAMES, ("offset",), begins=True)


def _timed(table: TextTable) -> TextTable:
    """Give segments with an offset a start, and an end if their duration is known."""
    offsets = table.columns.get("offset")
    if offsets is None or {"start", "end"} & {*table.columns}:
        return table
    durations = table.columns.get("duration") or [""] * len(table)
    ends = [
        repr(round(float(offset) + float(duration), 6)) if offset and duration else ""
        for offset, duration in zip(offsets, durations, strict=True)
    ]
    return dataclasses.replace(table, columns={**table.columns, "start": offsets, "end": ends})


# EmoBox -----------------------------------------------------------------------------------------------------

EMOBOX_NAMES = {"file": ("wav",), "emotion": ("emo",), "sex": ("gender",)}
TEXTS = ("key", "wav", "type", "task", "emo", "speaker", "gender", "language")
SPLITS = ("train", "valid", "test")
READ = {"task": ("", "category"), "type": ("", "raw")}  # lines that are read; others are listed


class EmoboxKeys(FolderKeys):
    """Keys of a folder of lists."""

    fold: schema.whole(1, 1000) | None = None
    speaker_pattern: schema.Text = ""


class EmoboxFormat(TableFormat):
    """Lists of EmoBox."""

    keyword = "emobox"
    keys = EmoboxKeys
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "emotion": {"Angry": "anger", "Happy": "happiness", "Neutral": "neutral", "Sad": "sadness"}
    }

    @classmethod
    def problems(cls, keys: EmoboxKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse a pattern that is none."""
        yield from super().problems(keys)
        try:
            if re.compile(keys.speaker_pattern).groups > 1:
                yield "speaker_pattern", "the pattern has several groups", "Put the speaker into one"
        except re.error as error:
            what = f"this is no regular expression ({error})"
            yield "speaker_pattern", what, "Write for example '[fm][1-3]'"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read the lists of a corpus under our column names."""
        import pandas as pd  # late: every suite that is read imports this module

        source, tables = entry_name(entry), []
        for split, path in _lists(entry.path, source, entry.options.get("fold")).items():
            name = path.relative_to(entry.path).as_posix()
            place = files.inside(entry.path, name)
            table = read_json_table(place, f"{source}/{name}", texts=TEXTS, numbers=("length",))
            table.columns["split"] = [split] * len(table)
            tables.append(table)
        table = join(tables, source)
        names = dict.fromkeys([*TEXTS, "length", "channel", *table.columns])
        rows = pd.DataFrame(table.columns, columns=[*names], dtype=object).fillna("")
        rows["place"] = table.places
        left_out = []
        for field, values in READ.items():
            others = rows[field][~rows[field].isin(values)]
            for value, count in sorted(others.value_counts().items()):
                reason = f"{counted(count, 'line')}: not sounds with emotions"
                left_out.append(Excluded(f"{field} {quoted(value)}", reason))
            rows = rows.drop(index=others.index)
        if rows.empty:
            raise input_error(source, "the lists have no utterance", "Check the folder")
        notices = []
        if pattern := entry.options.get("speaker_pattern", ""):
            group = pattern if re.compile(pattern).groups else f"({pattern})"
            rows["speaker"] = rows["key"].str.extract(group, expand=False).fillna("")
            number = counted(rows["speaker"].replace("", None).nunique(), "speaker")
            notices.append(f"the names of utterances tell {number}, as `speaker_pattern:` finds them")
        elif (rows["speaker"] == "").all():
            what = "the lists do not say who speaks"
            notices.append(f"{what}; `speaker_pattern:` finds it in the names of utterances")
        labels = _label_names(entry.path, source)
        rows["emo"] = rows["emo"].map(lambda label: str(labels.get(label, label)))
        places = rows.pop("place").tolist()
        rows = rows.rename(columns={"length": "duration"}).assign(item=rows["key"]).drop(columns="channel")
        columns = {name: rows[name].tolist() for name in rows if (rows[name] != "").any()}
        table = TextTable(columns, places, "", source)
        root, known = Path(*entry.path.resolve().parts[:-2]), ("key", "task", "type")
        options = {"root": root, "left_out": left_out, "notices": notices}
        return take_columns(table, entry, tasks, EMOBOX_NAMES, known, **options)


def _lists(folder: Path, source: str, fold: int | None) -> dict[str, Path]:
    """Find the lists: split -> its file."""
    place, needed = folder / f"fold_{fold}", "test"
    lists = {split: sorted(place.glob(f"*_{split}*.jsonl")) for split in SPLITS}
    if fold is None:
        place, needed, lists = folder, "", {"": sorted(folder.glob("*.jsonl"))}
    if not lists[needed] or any(len(paths) > 1 for paths in lists.values()):
        folds = ", ".join(sorted(path.name for path in folder.glob("fold_*") if path.is_dir())[:5])
        what = f"there is not one list (.jsonl){' of the split test' * (fold is not None)}"
        where = source if fold is None else f"{source}/{place.name}"
        remedy = f"Name the folder of one corpus, or `fold: 1`; folds: {folds or 'none'}"
        raise input_error(where, what, remedy)
    return {split: paths[0] for split, paths in lists.items() if paths}


def _label_names(folder: Path, source: str) -> dict[str, object]:
    """Read what the labels are called; empty if nothing says."""
    if not (folder / "label_map.json").exists():
        return {}
    where = f"{source}/label_map.json"
    place = files.require_regular(files.inside(folder, "label_map.json"), where)
    return json_object(decode_text(place.read_bytes(), where), where, "Give one JSON object of names")


# Lhotse -----------------------------------------------------------------------------------------------------

LHOTSE_NAMES = {"transcript": ("text",), "sex": ("gender",)}
LABELS = ("speaker", "gender", "language")
FIELDS = ("id", "type", "custom", "recording_id", "start", "duration", "channel", "text", *LABELS)
FIELDS += ("recording", "supervisions")  # that are read; others are columns of their own names
HARMLESS = ("Resample",)  # changes that leave what is audible as it is
ROUNDING = 1e-3  # seconds that a cut may differ by from its recording

Part = Mapping[str, Any]  # an object of a manifest


class LhotseFormat(TableFormat):
    """Manifests of cuts."""

    keyword = "lhotse"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a manifest under our column names."""
        source, problems = entry_name(entry), Problems()
        rows: list[dict[str, str]] = []
        lines: list[int] = []
        nested: dict[str, str] = {}
        for line, cut in json_objects(_unpacked(entry.path, source), source, problems):
            where = f"{source} line {line}"
            with problems.collected():
                if "tracks" in cut or not isinstance(cut.get("recording"), dict):
                    what = "this is no cut of one recording, but a supervision, a mixture or else"
                    remedy = "CutSet.from_manifests makes cuts of supervisions, save_audios of mixtures"
                    raise input_error(where, what, remedy)
                try:
                    cells = list(_rows(cut, where, audio=entry.audio))
                except (LookupError, TypeError, ValueError, AttributeError) as error:
                    what = f"a field of the cut is missing or wrong ({type(error).__name__}: {error})"
                    raise input_error(where, what, "Write the cuts again, as CutSet.to_file does") from error
                rows += cells
                lines += [line] * len(cells)
                for part in (cut, *(cut.get("supervisions") or ())):
                    nested |= {name: kind_of(value) for name, value in _further(part).items() if value}
        problems.raise_if_any()
        if not rows:
            remedy = "Give one cut a line, as CutSet.to_file writes them"
            raise input_error(source, "the manifest has no cut", remedy)
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name, "") for row in rows] for name in names}
        nested = {name: kind for name, kind in nested.items() if name not in columns}
        return take_columns(TextTable(columns, lines, "line", source, nested), entry, tasks, LHOTSE_NAMES)


def _unpacked(path: Path, source: str) -> str:
    """Read a manifest, which may be compressed."""
    with open(files.require_regular(path, source), "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if is_packed else open)(path, "rb") as file:
            content = file.read(files.TABLE_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise input_error(source, "the gzip file is damaged or cut", "Copy it again") from error
    if len(content) > files.TABLE_BYTES:
        what = f"the unpacked manifest has more than {files.TABLE_BYTES} bytes"
        raise input_error(source, what, "Is this a manifest of cuts?")
    return decode_text(content, source)


def _rows(cut: Part, where: str, *, audio: bool) -> Iterator[dict[str, str]]:
    """Give a row a supervision, with the times of the recording."""
    recording = cut["recording"]
    file = _file(cut, where) if audio else str(recording.get("id") or "")
    every = {channel for source in recording.get("sources") or () for channel in _channels(source)}
    length = recording.get("duration") or math.nan
    whole = {"start": 0.0, "duration": cut["duration"]}
    for part in cut.get("supervisions") or [whole]:
        start = round(cut["start"] + part["start"], 9)
        end = round(cut["start"] + part["start"] + part["duration"], 9)
        start = 0.0 if abs(start) <= ROUNDING else start
        to_the_end = abs(end - length) <= ROUNDING
        row = _words(cut) | _words(part)
        row |= {"file": file, "item": str(part.get("id") or cut.get("id") or "")}
        channels = _channels(part if "channel" in part else cut)
        if channels != every:
            row["channel"] = ",".join(map(str, sorted(channels)))
        row |= {name: str(part[name]) for name in LABELS if part.get(name) is not None}
        if part.get("text") is not None:
            row["text"] = part["text"].strip() or " "  # nobody speaks
        row["start"] = "" if to_the_end and not start else repr(start)
        row["end"] = "" if to_the_end else repr(end)
        row["duration"] = repr(length - start) if to_the_end else ""
        yield row


def _further(part: Part) -> dict[str, Any]:
    """Give what is no field, with ``custom``."""
    custom = part.get("custom")
    more = {name: value for name, value in part.items() if name not in FIELDS}
    return more | (custom if isinstance(custom, dict) else {})


def _words(part: Part) -> dict[str, str]:
    """Give the words and numbers that are no fields."""
    return {name: str(v) for name, v in _further(part).items() if isinstance(v, str | int | float)}


def _channels(part: Part) -> set[int]:
    channels = part.get("channels", part.get("channel", 0))
    return {*channels} if isinstance(channels, list) else {channels}


def _file(cut: Part, where: str) -> str:
    """Find the file of a cut; refuse sound that is no file, is changed, or has other channels."""
    recording = cut["recording"]
    changes = [str(change.get("name")) for change in recording.get("transforms") or ()]
    if changes := [name for name in changes if name not in HARMLESS]:
        what = f"the sound is to be changed ({', '.join(changes)}), which is not done here"
        raise input_error(where, what, "Write the sounds with CutSet.save_audios, and give those cuts")
    wanted, present, sources = _channels(cut), set(), recording["sources"]
    for source in sources:
        if source["type"] != "file":
            kind = quoted(str(source["type"]), 20)
            what = f"the recording {quoted(recording.get('id'), 40)} is of the type {kind}, not a file"
            remedy = "Write it as a file: no command is run, and nothing fetched; or say `audio: false`"
            raise input_error(where, what, remedy)
        present |= _channels(source)
    for source in sources:
        if wanted <= _channels(source):
            return str(source["source"])
    what = f"no file has the channels {sorted(wanted)} of the cut, the recording has {sorted(present)}"
    raise input_error(where, what, "Give a cut of each channel, as MultiCut.to_mono makes them")
