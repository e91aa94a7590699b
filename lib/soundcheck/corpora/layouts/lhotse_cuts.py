"""Reads a manifest of Lhotse's cuts: one row a supervision.

Conventions
-----------
- A line is a cut of one recording. Its supervisions begin relative to the cut, and the cut relative to the
  recording; rows have the times of the recording. One that is the whole recording has no times. A cut without
  supervisions is a row without labels.
- ``text``, ``speaker``, ``gender`` and ``language`` become transcript, speaker, sex and language; what else a
  supervision or its cut has, also in ``custom``, is a column of its own name if it is text, a number or a
  truth.
- The id of a supervision becomes its ``item``.
- Sound is a file of the recording. Sources that are commands or addresses are never run or fetched, and
  changes of the sound that the manifest only describes are not made: both are refused, but for resampling.
- Channels are averaged: a cut has all channels of its file, and a supervision all of its cut.
- The manifest may be compressed with gzip, up to the limit of other tables when it is not.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_objects, kind_of
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.corpora.segments import RawTable
from soundcheck.corpora.table_keys import CHANNEL, take_columns
from soundcheck.suite.entries import CorpusEntry

USUAL = {"transcript": ("text",), "sex": ("gender",)}
FIELDS = ("id", "type", "start", "duration", "channel", "recording", "recording_id", "supervisions", "custom")
TEXTS = ("text", "speaker", "gender", "language")
KEPT = ("Resample",)  # changes that leave what is heard as it is
_ROUNDED = 1e-3  # seconds that a cut may differ by from its recording
_SOURCES = {
    "command": "is the output of a command, and no command is run",
    "url": "is at an address, and nothing is fetched",
}


def read_cuts(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read a manifest of cuts.

    - ``entry``: the suite's entry; ``path`` is the manifest.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if the manifest cannot be read, is damaged or too large; if a line is no cut of one
      recording, or its sound is no file. All problems of the lines at once.
    """
    shown = entry.shown_path or entry.path.name
    files.require_regular(entry.path, shown)
    problems = Problems()
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    nested: dict[str, str] = {}
    for number, cut in json_objects(_unpacked(entry.path, shown), shown, problems):
        try:
            own = list(_rows(cut, f"{shown} line {number}", hears=entry.audio))
        except InputError as error:
            problems.extend(error)
            continue
        rows += own
        lines += [number] * len(own)
        for item in (cut, *(cut.get("supervisions") or ())):
            nested |= {name: kind_of(value) for name, value in _further(item).items() if value}
    problems.raise_if_any()
    if not rows:
        raise input_error(
            shown, "the manifest has no cut", "Give one cut a line, as CutSet.to_file writes them"
        )
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {name: [row.get(name, "") for row in rows] for name in names}
    nested = {name: kind for name, kind in nested.items() if name not in cells}
    return take_columns(TextTable(cells, lines, "line", shown, nested), entry, tasks, USUAL)


def _unpacked(path: Path, shown: str) -> str:
    """Read a manifest, which may be compressed.

    Raises InputError: if the file is damaged, has more bytes than are read, or is no UTF-8 text.
    """
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if is_packed else open)(path, "rb") as file:
            content = file.read(files.TABLE_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise input_error(shown, "the gzip file is damaged or cut", "Copy it again") from error
    if len(content) > files.TABLE_BYTES:
        what = f"the unpacked manifest has more than {files.TABLE_BYTES} bytes"
        raise input_error(shown, what, "Is this a manifest of cuts?")
    return decode_text(content, shown)


def _rows(cut: dict[str, Any], where: str, *, hears: bool) -> Iterator[dict[str, str]]:
    """Read the rows of a cut.

    Raises InputError: if it is no cut of one recording, or fields are missing or of another type.
    """
    problems = Problems()
    recording = _recording(cut, where)
    start, duration = (_seconds(cut, name, where, problems) for name in ("start", "duration"))
    whole = _seconds(recording, "duration", f"{where}, recording", problems, needed=False)
    supervisions = cut.get("supervisions") or []
    if not isinstance(supervisions, list) or not all(isinstance(item, dict) for item in supervisions):
        raise input_error(
            f"{where}, field supervisions", "this is no list of objects", "Write the cuts again"
        )
    file = _file(cut, recording, where) if hears else str(recording.get("id") or "")
    shared = _custom(cut)
    sources = (item for item in _listed(recording, "sources", where) if isinstance(item, dict))
    every = {channel for source in sources for channel in _channels(source, "channels", where)}
    for item in supervisions or [{"start": 0, "duration": duration}]:
        told = len(problems)
        inner = f"{where}, supervision {quoted(item.get('id', ''), 40)}" if supervisions else where
        begin, length = (_seconds(item, name, inner, problems) for name in ("start", "duration"))
        for name in TEXTS:
            if what := field_problem(item.get(name), TEXT):
                problems.add(f"{inner}, field {name}", what, "Give a text")
        if len(problems) > told:
            continue
        first, last = round(start + begin, 9), round(start + begin + length, 9)
        first = 0.0 if abs(first) <= _ROUNDED else first
        row = shared | _custom(item)
        row |= {"file": file, "item": str(item.get("id") or cut.get("id") or "")}
        own = _channels(item if "channel" in item else cut, "channel", inner)
        if own != every:
            row[CHANNEL] = ",".join(map(str, sorted(own)))
        row |= {name: item[name] for name in ("speaker", "gender", "language") if item.get(name) is not None}
        if item.get("text") is not None:
            row["text"] = item["text"].strip() or " "  # nobody speaks
        for name, text in row.items():
            if what := field_problem(text, TEXT):
                problems.add(f"{inner}, field {name}", what, "Give a text")
        to_the_end = abs(last - whole) <= _ROUNDED  # never if nobody says how long the recording is
        row["start"] = "" if to_the_end and not first else repr(first)
        row["end"] = "" if to_the_end else repr(last)
        row["duration"] = repr(whole - first) if to_the_end else ""
        yield row
    problems.raise_if_any()


def _recording(cut: dict[str, Any], where: str) -> dict[str, Any]:
    """Give the recording of a cut; refuse what is none."""
    kind, recording = cut.get("type", "MonoCut"), cut.get("recording")
    if kind == "MixedCut" or "tracks" in cut:
        what = "the cut mixes several others (MixedCut), and mixing is not done here"
        raise input_error(where, what, "Write its sound with CutSet.save_audios, and give those cuts")
    if isinstance(recording, dict) and ("supervisions" in cut or "channel" in cut):
        return recording
    of_others = "recording_id" in cut and "supervisions" not in cut
    if of_others or "sources" in cut:
        what = f"this is a {'supervision' if of_others else 'recording'}, not a cut"
        raise input_error(where, what, "Give cuts: CutSet.from_manifests joins recordings and supervisions")
    if "audio_filepath" in cut:
        raise input_error(where, "this is a line of a manifest of NeMo, not a cut", "Write `format: nemo`")
    if "features" in cut and recording is None:
        raise input_error(where, "the cut has features, but no recording", "Give cuts with recordings")
    if recording is not None:
        what = f"{kind_of(recording)}, not an object"
        raise input_error(f"{where}, field recording", what, "Write the cuts again")
    others = [name for name in cut if name != "recording"]
    raise input_error(f"{where}, field recording", "the field is missing", did_you_mean("recording", others))


def _seconds(
    item: dict[str, Any], name: str, where: str, problems: Problems, *, needed: bool = True
) -> float:
    """Read a time; NaN, noted, if there is none."""
    value = item.get(name)
    what = field_problem(value, NUMBER)
    if value is None and needed:
        what = "the field is missing"
    if not what and value is not None and name == "duration" and value <= 0:
        what = f"{value:g} s is no duration"
    if what:
        problems.add(f"{where}, field {name}", what, "Give seconds")
    return math.nan if what or value is None else float(value)


def _file(cut: dict[str, Any], recording: dict[str, Any], where: str) -> str:
    """Find the file of a cut.

    Raises InputError: if the sound is no file, is changed, or has other channels than the cut.
    """
    changes = [
        str(item.get("name", "?")) if isinstance(item, dict) else "?"
        for item in _listed(recording, "transforms", where)
    ]
    changes = [name for name in changes if name not in KEPT]
    if changes:
        what = f"the sound is to be changed ({', '.join(changes)}), which is not done here"
        raise input_error(where, what, "Write the sounds with CutSet.save_audios, and give those cuts")
    sources = [item for item in _listed(recording, "sources", where) if isinstance(item, dict)]
    wanted, have = _channels(cut, "channel", where), set()
    for source in sources:
        kind, own = source.get("type"), _channels(source, "channels", where)
        if kind != "file":
            reason = _SOURCES.get(str(kind), f"is of the type {quoted(kind, 20)}, which is not read")
            what = f"the recording {quoted(recording.get('id'), 40)} {reason}"
            raise input_error(where, what, "Write its sound as a file; or say `audio: false`")
        if wanted <= own and isinstance(source.get("source"), str):
            return source["source"]
        have |= own
    if wanted <= have:
        what = f"the channels {sorted(wanted)} of the cut lie in several files"
        raise input_error(where, what, "Give a cut of each channel, as MultiCut.to_mono makes them")
    what = f"the cut has the channels {sorted(wanted)} of a recording with {sorted(have)}"
    raise input_error(where, what, "Name channels that the recording has")


def _listed(item: dict[str, Any], name: str, where: str) -> list[Any]:
    value = item.get(name) or []
    if not isinstance(value, list):
        raise input_error(f"{where}, field {name}", f"{kind_of(value)}, not a list", "Write the cuts again")
    return value


def _channels(item: dict[str, Any], name: str, where: str) -> set[float]:
    """Read numbers of channels: one, or a list of them; 0 if nothing is said."""
    value = item.get(name, 0)
    numbers = value if isinstance(value, list) else [value]
    if not all(isinstance(number, int | float) for number in numbers):
        what = f"{quoted(json.dumps(value), 40)} is neither a number nor a list of numbers"
        raise input_error(f"{where}, field {name}", what, "Write the cuts again")
    return {*numbers}


def _further(item: dict[str, Any]) -> dict[str, Any]:
    """Give all that is no field of its own, with what stands in ``custom``."""
    custom = item.get("custom")
    own = {name: value for name, value in item.items() if name not in (*FIELDS, *TEXTS)}
    return own | (custom if isinstance(custom, dict) else {})


def _custom(item: dict[str, Any]) -> dict[str, str]:
    """Give the words and numbers among them."""
    return {
        name: str(value) for name, value in _further(item).items() if isinstance(value, str | int | float)
    }
