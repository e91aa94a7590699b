"""Formats that are a table or a list: CSV and Parquet, SpeechBrain, Common Voice, lists of trials.

- ``format: csv``: a table, one row a segment, columns under their own or mapped names.
- ``format: speechbrain``: a CSV table as the recipes of SpeechBrain make it.
- ``format: commonvoice``: a release of Common Voice, tables with tabs beside a folder of clips.
- ``format: trials``: a list of trials and nothing else; its files are those that the list names. A list does
  not say who speaks. The first folder of the names does, if that fits all labels; otherwise recordings that
  the list calls the same speaker belong together.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import (
    TextTable,
    parse_column,
    parse_number,
    read_tab_table,
    read_text_table,
)
from soundcheck.corpora.raw_table import RawTable, entry_name, join, take_columns, with_format_hint
from soundcheck.corpora.splits import choose, kinds_of
from soundcheck.suite import corpus_format, schema
from soundcheck.suite.entries import CorpusEntry


class CsvFormat(corpus_format.TableFormat):
    """Tables of segments."""

    keyword = "csv"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names."""
        return take_columns(read_text_table(entry.path, entry_name(entry)), entry, tasks)


SPEECHBRAIN_NAMES = {
    **{"file": ("wav",), "speaker": ("spk_id", "spkID"), "transcript": ("wrd", "words")},
    **{"sex": ("gender",), "item": ("ID",)},
}
_VARIABLE = re.compile(r"^(\$\w+|\{\w+\}|\$\{\w+\})/+")


class SpeechbrainKeys(corpus_format.TableKeys):
    """Keys of a table; ``sampling_rate`` is that of numbers of samples in the columns start and stop."""

    sampling_rate: schema.whole(1, 10_000_000) | None = None


class SpeechbrainFormat(corpus_format.TableFormat):
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
        return take_columns(table, entry, tasks, SPEECHBRAIN_NAMES, notices=notices)


def _seconds(cells: list[str], rate: int, name: str, table: TextTable, problems: Problems) -> list[str]:
    """Turn numbers of samples into seconds."""
    samples, wrong = parse_column(cells, parse_number)
    for row, what in wrong:
        problems.add(table.where(row, name), what, "Give a number of samples")
    return ["" if math.isnan(number) else repr(number / rate) for number in samples.tolist()]


COMMON_VOICE_NAMES = {
    **{"file": ("path",), "speaker": ("client_id",), "transcript": ("sentence",), "sex": ("gender",)},
    **{"accent": ("accents",), "language": ("locale",)},
}
_SEVERAL_ACCENTS = re.compile(r"[,|]")  # between the accents that somebody chose


class CommonVoiceFormat(corpus_format.TableFormat):
    """Releases of Common Voice."""

    keyword = "commonvoice"
    keys = corpus_format.FileOrFolderKeys  # of the tables in a folder ``split`` names one
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "sex": {"male_masculine": "male", "female_feminine": "female", "do_not_wish_to_say": ""},
        "age": {"fourties": "forties"},
    }

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read tables of a release under our column names."""
        paths, notices = _tables_of_release(entry)
        tables = [_read_release(path, source) for path, source in paths.items()]
        table = join(tables, ", ".join(paths.values()))
        folder = next(iter(paths)).parent
        root = folder / "clips" if (folder / "clips").is_dir() else folder
        raw = take_columns(table, entry, tasks, COMMON_VOICE_NAMES, root=root)
        accents = Counter(raw.table.get("accent", ()))
        several = [text for text, _ in accents.most_common() if _SEVERAL_ACCENTS.search(text)]
        notices += raw.notices
        if several:
            count = sum(accents[text] for text in several)
            what = f"{count} rows name several accents, such as {quoted(several[0], 60)}"
            notices.append(f"{what}: each such cell is a group of its own; `values:` maps them")
        return dataclasses.replace(raw, notices=tuple(notices))


def _read_release(path: Path, source: str) -> TextTable:
    try:
        return read_tab_table(path, source)
    except InputError as error:
        raise with_format_hint(error, path, source, CommonVoiceFormat.keyword) from error


def _tables_of_release(entry: CorpusEntry) -> tuple[dict[Path, str], list[str]]:
    """Find the tables that an entry means, with what messages call them; say which are not read."""
    source = entry_name(entry)
    if not entry.path.is_dir():
        if entry.split is not None:
            what = f"path names a table already, so the split {quoted(entry.split[0])} says nothing"
            raise input_error(f"corpora.{entry.name}.split", what, "Remove it, or name the folder under path")
        return {entry.path: source}, []
    kinds = kinds_of(sorted(path.stem for path in entry.path.glob("*.tsv") if path.is_file()), {})
    tables = {name: 1 for name, kind in kinds.items() if kind or name in (entry.split or ())}
    if not tables:
        remedy = "Name the folder that holds test.tsv and clips"
        raise input_error(source, "there is no table of a split, such as test.tsv", remedy)
    chosen, notices = choose(tables, entry, source, "table", {})
    return {entry.path / f"{name}.tsv": f"{source}/{name}.tsv" for name in chosen}, notices


class TrialKeys(corpus_format.CorpusKeys):
    """Keys of a list of trials."""

    path: corpus_format.File = ""
    root: corpus_format.Folder = ""
    cut: schema.Text = ""
    audio: schema.Boolean = True
    enrolments: corpus_format.File = ""
    layout: schema.choice(*corpus_format.TRIAL_LAYOUTS) = ""
    synthetic: schema.Boolean = False


class TrialFormat(corpus_format.CorpusFormat):
    """Lists of trials."""

    keyword = "trials"
    reader = "soundcheck.corpora.trials.trial_table:read_trial_corpus"
    keys = TrialKeys

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Say that the corpus is its own list of trials."""
        return dataclasses.replace(entry, trials=entry.path, shown_trials=entry.shown_path)
