"""``format: speechbrain``: a CSV table as the recipes of SpeechBrain make it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, parse_column, parse_number, read_text_table
from soundcheck.corpora.raw_table import RawTable, entry_name, take_columns
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

NAMES = {
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
        """Read a table under our column names."""
        table = read_text_table(entry.path, entry_name(entry))
        cells = {name: [cell.strip() for cell in column] for name, column in table.columns.items()}
        problems, notices, first = Problems(), [], {}
        for row, name in enumerate(cells.get("ID", ())):
            if first.setdefault(name, row) != row:
                where = table.where_all([first[name], row], "ID")
                problems.add(where, f"the ID {quoted(name)} stands twice", "Give each row an ID of its own")
        variables = {match[1] for path in cells.get("wav", ()) if (match := _VARIABLE.match(path))}
        if variables:
            cells["wav"] = [_VARIABLE.sub("", path) for path in cells["wav"]]
        if len(variables) > 1:
            what = f"paths begin with different variables: {', '.join(sorted(variables)[:5])}"
            problems.add(f"{table.header}, column wav", what, "Give a table a folder")
        elif variables and entry.root is None:
            notices = [f"{min(variables)} in paths is the folder of the table; `root:` names another one"]
        if "stop" in cells:
            rate = entry.options.get("sampling_rate")
            if rate is None:
                what = "are numbers of samples as SpeechBrain writes them"
                remedy = f"Say `sampling_rate: 16000` (or what it is) under corpora.{entry.name}"
                raise input_error(f"{table.header}, columns start and stop", what, remedy)
            for name, new_name in (("start", "start"), ("stop", "end")):
                if name in cells:
                    cells[new_name] = _seconds(cells.pop(name), rate, name, table, problems)
        problems.raise_if_any()
        table = dataclasses.replace(table, columns=cells)
        return take_columns(table, entry, tasks, NAMES, notices=notices)


def _seconds(cells: list[str], rate: int, name: str, table: TextTable, problems: Problems) -> list[str]:
    """Turn numbers of samples into seconds."""
    samples, wrong = parse_column(cells, parse_number)
    for row, what in wrong:
        problems.add(table.where(row, name), what, "Give a number of samples")
    return ["" if math.isnan(number) else repr(number / rate) for number in samples.tolist()]
