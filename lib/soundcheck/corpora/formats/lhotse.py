"""``format: lhotse``: a manifest of cuts, ``cuts.jsonl.gz`` or ``cuts.jsonl``, one row a supervision.

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

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import json_objects, kind_of
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.corpora.raw_table import RawTable, entry_name, take_columns
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry

NAMES = {"transcript": ("text",), "sex": ("gender",)}
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
        return take_columns(TextTable(columns, lines, "line", source, nested), entry, tasks, NAMES)


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
