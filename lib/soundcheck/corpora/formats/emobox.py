"""``format: emobox``: the lists of EmoBox for one of its corpora, with ``label_map.json`` and its folds.

- Without a fold ``name/name.jsonl`` is read. A fold is a folder ``fold_1`` with the lists
  ``name_train_fold_1.jsonl`` and ``name_test_fold_1.jsonl`` (perhaps one of validation, too); its rows have a
  split.
- ``wav`` is the file, ``emo`` the emotion under the name that ``label_map.json`` gives it, ``length`` the
  duration without audio; ``key`` becomes the ``item``.
- Speakers are mostly in the names of utterances only: ``speaker_pattern`` is a regular expression, of which
  the group counts, or all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import json_object, read_json_table
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.common.wording import counted
from soundcheck.corpora.raw_table import Excluded, RawTable, entry_name, join, take_columns
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import FolderKeys, TableFormat
from soundcheck.suite.entries import CorpusEntry

NAMES = {"file": ("wav",), "emotion": ("emo",), "sex": ("gender",)}
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
        table, places = join(tables, source)
        names = dict.fromkeys([*TEXTS, "length", "channel", *table.columns])
        rows = pd.DataFrame(table.columns, columns=[*names], dtype=object).fillna("").assign(place=places)
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
        table = TextTable(columns, range(1, len(rows) + 1), "row", source)
        root, known = Path(*entry.path.resolve().parts[:-2]), ("key", "task", "type")
        options = {"places": places, "root": root, "left_out": left_out, "notices": notices}
        return take_columns(table, entry, tasks, NAMES, known, **options)


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
        raise input_error(
            where, what, f"Name the folder of one corpus, or `fold: 1`; folds: {folds or 'none'}"
        )
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
