"""``format: speechbrain``: a CSV table as the recipes of SpeechBrain make it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, parse_number, read_text_table
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable

USUAL = {
    **{"file": ("wav",), "speaker": ("spk_id", "spkID"), "transcript": ("wrd", "words")},
    **{"sex": ("gender",), "item": ("ID",)},
}
_VARIABLE = re.compile(r"^(\$\w+|\{\w+\}|\$\{\w+\})/+")


class SpeechbrainKeys(TableKeys):
    """Keys of a table; ``sampling_rate`` is that of numbers of samples in the columns start and stop."""

    sampling_rate: schema.whole(1, 10_000_000) | None = None


class SpeechbrainFormat(TableFormat):
    """Tables with ``ID, duration, wav, spk_id, wrd``; what stands for a folder in paths is taken away."""

    keyword = "speechbrain"
    keys = SpeechbrainKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table.

        Raises InputError: if it cannot be read, an ID stands twice, paths begin with different variables, or
        there are numbers of samples without sampling rate.
        """
        from soundcheck.corpora.table_keys import take_columns

        shown = entry.shown_path or entry.path.name
        table = read_text_table(entry.path, shown)
        cells = {name: [cell.strip() for cell in column] for name, column in table.columns.items()}
        problems, notices = Problems(), []
        _check_ids(cells.get("ID", ()), table, problems)
        if "wav" in cells:
            cells["wav"], variables = _without_variables(cells["wav"])
            if len(variables) > 1:
                what = f"paths begin with different variables: {', '.join(sorted(variables)[:5])}"
                problems.add(f"{table.header}, column wav", what, "Give a table a folder")
            elif variables and entry.root is None:
                notices.append(
                    f"{min(variables)} in paths is the folder of the table; `root:` names another one"
                )
        if "stop" in cells:
            rate = entry.options.get("sampling_rate")
            if rate is None:
                what = "are numbers of samples as SpeechBrain writes them"
                remedy = f"Say `sampling_rate: 16000` (or what it is) under corpora.{entry.name}"
                raise input_error(f"{table.header}, columns start and stop", what, remedy)
            for name, ours in (("start", "start"), ("stop", "end")):
                if name in cells:
                    cells[ours] = _seconds(cells.pop(name), rate, name, table, problems)
        problems.raise_if_any()
        raw = take_columns(dataclasses.replace(table, columns=cells), entry, tasks, USUAL)
        return dataclasses.replace(raw, notices=(*raw.notices, *notices))


def _check_ids(ids: Sequence[str], table: TextTable, problems: Problems) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if first.setdefault(name, row) != row:
            where = (
                f"{table.shown} {table.unit}s {table.places[first[name]]} and {table.places[row]}, column ID"
            )
            problems.add(where, f"the ID {quoted(name)} stands twice", "Give each row an ID of its own")


def _without_variables(paths: Sequence[str]) -> tuple[list[str], set[str]]:
    """Take variables such as ``$data_root`` from the beginning of paths; gives them, too."""
    found = [_VARIABLE.match(path) for path in paths]
    cut = [path[match.end() :] if match else path for path, match in zip(paths, found, strict=True)]
    return cut, {match[1] for match in found if match}


def _seconds(cells: Sequence[str], rate: int, name: str, table: TextTable, problems: Problems) -> list[str]:
    """Turn numbers of samples into seconds."""
    seconds = []
    for row, cell in enumerate(cells):
        try:
            seconds.append(repr(parse_number(cell) / rate) if cell else "")
        except ValueError as error:
            problems.add(table.where(row, name), str(error), "Give a number of samples")
            seconds.append("")
    return seconds
