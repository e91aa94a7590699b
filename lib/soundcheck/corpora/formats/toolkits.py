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
import json
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pydantic

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
NEEDED = ("key", "wav", "emo")
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
        problems = Problems()
        for field in NEEDED:
            for place in rows["place"][rows[field] == ""]:
                problems.add(f"{place}, field {field}", "it is missing or empty", "Complete the line")
        problems.raise_if_any()
        labels = _label_names(entry.path, source)
        unknown = sorted(rows["emo"][~rows["emo"].isin(labels)].value_counts().items()) if labels else []
        named = ", ".join(f"{quoted(label, 40)} ({count})" for label, count in unknown[:5])
        notices = [f"label_map.json has no name for {named}"] if unknown else []
        if not labels:
            notices.append(f"{source} has no label_map.json: emotions are called as in the lists")
        if pattern := entry.options.get("speaker_pattern", ""):
            group = pattern if re.compile(pattern).groups else f"({pattern})"
            rows["speaker"] = rows["key"].str.extract(group, expand=False).fillna("")
            number = counted(rows["speaker"].replace("", None).nunique(), "speaker")
            notices.append(f"the names of utterances tell {number}, as `speaker_pattern:` finds them")
        elif (rows["speaker"] == "").all():
            what = "the lists do not say who speaks"
            notices.append(f"{what}; `speaker_pattern:` finds it in the names of utterances")
        rows["emo"] = rows["emo"].map(lambda label: labels.get(label, label))
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


def _label_names(folder: Path, source: str) -> dict[str, str]:
    """Read what the labels are called; empty if nothing says."""
    if not (folder / "label_map.json").exists():
        return {}
    where = f"{source}/label_map.json"
    place = files.require_regular(files.inside(folder, "label_map.json"), where)
    labels = json_object(decode_text(place.read_bytes(), where), where, "Give one JSON object of names")
    for label in [label for label, name in labels.items() if not isinstance(name, str)]:
        raise input_error(where, f"the name of {quoted(label, 40)} is no text", "Give a text")
    return labels


# Lhotse -----------------------------------------------------------------------------------------------------

LHOTSE_NAMES = {"transcript": ("text",), "sex": ("gender",)}
HARMLESS = ("Resample",)  # changes that leave what is audible as it is
ROUNDING = 1e-3  # seconds that a cut may differ by from its recording
_SOURCES = {
    "command": "is the output of a command, and no command is run",
    "url": "is at an address, and nothing is fetched",
}

_SAVE = "Write the sounds with CutSet.save_audios, and give those cuts"

Seconds = Annotated[float, pydantic.Field(allow_inf_nan=False)]
Length = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]
Channels = Annotated[list[int], pydantic.BeforeValidator(lambda v: v if isinstance(v, list) else [v])]


class _Part(pydantic.BaseModel):
    """An object of a manifest; what it has besides the fields that are read stands in ``model_extra``."""

    model_config = pydantic.ConfigDict(extra="allow", strict=True)
    id: Any = ""
    type: Any = ""
    custom: Any = None
    recording_id: Any = ""

    def further(self) -> dict[str, Any]:
        """Give what is no field, with ``custom``."""
        return {**self.model_extra, **(self.custom if isinstance(self.custom, dict) else {})}


class _Source(_Part):
    source: str | None = None
    channels: Channels = [0]


class _Recording(_Part):
    duration: Length | None = None
    sources: list[_Source] | None = None
    transforms: list[Any] | None = None


class _Supervision(_Part):
    start: Seconds
    duration: Length
    channel: Channels = [0]
    text: str | None = None
    speaker: str | None = None
    gender: str | None = None
    language: str | None = None


class _Cut(_Part):
    start: Seconds
    duration: Length
    recording: _Recording
    channel: Channels = [0]
    supervisions: list[_Supervision] | None = None


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
        for line, item in json_objects(_unpacked(entry.path, source), source, problems):
            with problems.collected():
                cut = _checked(item, where := f"{source} line {line}")
                cells = list(_rows(cut, where, audio=entry.audio))
                rows += cells
                lines += [line] * len(cells)
                for part in (cut, *(cut.supervisions or ())):
                    nested |= {name: kind_of(value) for name, value in part.further().items() if value}
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


def _checked(item: dict[str, Any], where: str) -> _Cut:
    """Check the fields of a cut; refuse what is none of one recording."""
    if item.get("type") == "MixedCut" or "tracks" in item:
        what = "the cut mixes several others (MixedCut), and mixing is not done here"
        raise input_error(where, what, _SAVE)
    is_supervision = "recording_id" in item and "supervisions" not in item
    if "recording" not in item and (is_supervision or "sources" in item):
        what = f"this is a {'supervision' if is_supervision else 'recording'}, not a cut"
        raise input_error(where, what, "Give cuts: CutSet.from_manifests joins recordings and supervisions")
    if "features" in item and item.get("recording") is None:
        raise input_error(where, "the cut has features, but no recording", "Give cuts with recordings")
    try:
        return _Cut.model_validate(item)
    except pydantic.ValidationError as error:
        problems = Problems()
        for fault in error.errors():
            place, value = fault["loc"], fault["input"]
            field = [part for part in place if isinstance(part, str)][-1]
            inner = f", supervision {place[1] + 1}" if place[0] == "supervisions" and place[1:] else ""
            what = f"{quoted(json.dumps(value), 40)} is wrong: {fault['msg'].lower()}"
            what = "the field is missing" if fault["type"] == "missing" else what
            problems.add(f"{where}{inner}, field {field}", what, "Write the cuts again")
        problems.raise_if_any()
        raise


def _rows(cut: _Cut, where: str, *, audio: bool) -> Iterator[dict[str, str]]:
    """Give a row a supervision, with the times of the recording."""
    recording = cut.recording
    file = _file(cut, where) if audio else str(recording.id or "")
    every = {channel for source in recording.sources or () for channel in source.channels}
    whole = _Supervision(start=0.0, duration=cut.duration)
    for part in cut.supervisions or [whole]:
        start = round(cut.start + part.start, 9)
        end = round(cut.start + part.start + part.duration, 9)
        start = 0.0 if abs(start) <= ROUNDING else start
        to_the_end = recording.duration is not None and abs(end - recording.duration) <= ROUNDING
        row = _cells(cut) | _cells(part)
        row |= {"file": file, "item": str(part.id or cut.id or "")}
        channels = {*(part.channel if "channel" in part.model_fields_set else cut.channel)}
        if channels != every:
            row["channel"] = ",".join(map(str, sorted(channels)))
        labels = ("speaker", "gender", "language")
        row |= {name: getattr(part, name) for name in labels if getattr(part, name) is not None}
        if part.text is not None:
            row["text"] = part.text.strip() or " "  # nobody speaks
        row["start"] = "" if to_the_end and not start else repr(start)
        row["end"] = "" if to_the_end else repr(end)
        row["duration"] = repr(recording.duration - start) if to_the_end else ""
        yield row


def _cells(part: _Part) -> dict[str, str]:
    """Give the words and numbers that are no fields."""
    return {name: str(v) for name, v in part.further().items() if isinstance(v, str | int | float)}


def _file(cut: _Cut, where: str) -> str:
    """Find the file of a cut; refuse sound that is no file, is changed, or has other channels."""
    recording = cut.recording
    transforms = [change if isinstance(change, dict) else {} for change in recording.transforms or ()]
    changes = [str(change.get("name", "?")) for change in transforms]
    if changes := [name for name in changes if name not in HARMLESS]:
        what = f"the sound is to be changed ({', '.join(changes)}), which is not done here"
        raise input_error(where, what, _SAVE)
    wanted, present = {*cut.channel}, set()
    for source in recording.sources or ():
        if source.type != "file":
            reason = f"is of the type {quoted(source.type, 20)}, which is not read"
            reason = _SOURCES.get(str(source.type), reason)
            what = f"the recording {quoted(recording.id, 40)} {reason}"
            raise input_error(where, what, "Write its sound as a file; or say `audio: false`")
        if wanted <= {*source.channels} and source.source is not None:
            return source.source
        present |= {*source.channels}
    if wanted <= present:
        what = f"the channels {sorted(wanted)} of the cut lie in several files"
        raise input_error(where, what, "Give a cut of each channel, as MultiCut.to_mono makes them")
    what = f"the cut has the channels {sorted(wanted)} of a recording with {sorted(present)}"
    raise input_error(where, what, "Name channels that the recording has")
