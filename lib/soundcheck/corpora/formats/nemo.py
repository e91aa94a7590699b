"""``format: nemo``: manifests of NeMo, an object a line with audio_filepath, duration and text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from soundcheck.common.json_lines import read_json_table
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable
from soundcheck.corpora.raw_table import RawTable, entry_name, take_columns
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry

NAMES = {
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
        return take_columns(_timed(table), entry, tasks, NAMES, ("offset",), begins=True)


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
