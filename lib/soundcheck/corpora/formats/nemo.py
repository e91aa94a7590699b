"""``format: nemo``: manifests of NeMo, an object a line with audio_filepath, duration and text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.common.text_table import TextTable
    from soundcheck.corpora.segments import RawTable

NAMES = {
    **{"file": ("audio_filepath",), "transcript": ("text",), "language": ("lang",)},
    **{"speaker": ("speaker", "speaker_id"), "sex": ("sex", "gender")},
}


class NemoFormat(TableFormat):
    """Manifests in JSON Lines; ``offset`` and ``duration`` are times, no offset is that of 0 s."""

    keyword = "nemo"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a manifest under our column names.

        Raises InputError: if a line is no object, has a key twice or of another type, or lacks
        ``audio_filepath``.
        """
        from soundcheck.common.json_lines import read_json_table
        from soundcheck.corpora.table_keys import take_columns

        shown = entry.shown_path or entry.path.name
        named = entry.columns.get("file", "audio_filepath")
        table = read_json_table(
            entry.path,
            shown,
            texts=(named, *(name for name in ("text", "lang") if name not in entry.columns.values())),
            numbers=("duration", "offset"),
            needed=(named,),
        )
        raw = take_columns(_timed(table), entry, tasks, NAMES, ("offset",))
        return dataclasses.replace(raw, begins=True)


def _timed(table: TextTable) -> TextTable:
    """Give segments with an offset a start, and an end if their duration is there."""
    if "offset" not in table.columns or {"start", "end"} & {*table.columns}:
        return table
    durations = table.columns.get("duration") or [""] * len(table)
    ends = [
        repr(round(float(offset) + float(duration), 6)) if offset and duration else ""
        for offset, duration in zip(table.columns["offset"], durations, strict=True)
    ]
    return dataclasses.replace(
        table, columns={**table.columns, "start": table.columns["offset"], "end": ends}
    )
