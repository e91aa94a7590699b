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
from collections import Counter
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
from soundcheck.corpora.raw_table import Excluded, RawTable, entry_name, take_columns
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

NAMES = {"file": ("wav",), "emotion": ("emo",), "sex": ("gender",)}
TEXTS = ("key", "wav", "type", "task", "emo", "speaker", "gender", "language")
NEEDED = ("key", "wav", "emo")
SPLITS = ("train", "valid", "test")
READ = {"task": ("", "category"), "type": ("", "raw")}  # lines that are read; others are listed


class EmoboxKeys(TableKeys):
    """Keys of a folder of lists."""

    path: Folder = ""
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
        source, problems = entry_name(entry), Problems()
        lists = _lists(entry.path, source, entry.options.get("fold"))
        labels = _label_names(entry.path, source)
        rows: list[dict[str, str]] = []
        places: list[str] = []
        left_out: list[Excluded] = []
        for split, file in lists.items():
            name = file.relative_to(entry.path).as_posix()
            for place, row in _rows(entry.path, name, source, problems, left_out):
                places.append(f"{place} of {name}")
                rows.append(row | {"split": split})
        problems.raise_if_any()
        if not rows:
            raise input_error(source, "the lists have no utterance", "Check the folder")
        notices = _name_labels(rows, labels, source)
        notices += _name_speakers(rows, entry.options.get("speaker_pattern", ""))
        names = dict.fromkeys(
            name for row in rows for name, cell in row.items() if cell and name != "channel"
        )
        table = TextTable({n: [row.get(n, "") for row in rows] for n in names}, places, "line", source)
        folder = entry.path.resolve()
        root = folder.parents[1] if len(folder.parents) > 1 else entry.path
        known = ("key", "task", "type")
        return take_columns(table, entry, tasks, NAMES, known, root=root, left_out=left_out, notices=notices)


def _lists(folder: Path, source: str, fold: int | None) -> dict[str, Path]:
    """Find the lists: split -> its file."""
    folds = sorted(path.name for path in folder.glob("fold_*") if path.is_dir())
    if fold is None:
        lists = sorted(folder.glob("*.jsonl"))
        if len(lists) == 1:
            return {"": lists[0]}
        what = f"there are {len(lists)} lists (.jsonl)" if lists else "there is no list (.jsonl)"
        more = f", or a fold (there are {', '.join(folds[:5])}) as `fold: 1`" if folds else ""
        raise input_error(source, what, f"Name the folder of one corpus{more}")
    place = folder / f"fold_{fold}"
    by_split = {
        split: sorted(place.glob(f"*_{split}_fold_{fold}.jsonl")) or sorted(place.glob(f"*_{split}*.jsonl"))
        for split in SPLITS
    }
    if not by_split["test"] or any(len(lists) > 1 for lists in by_split.values()):
        remedy = f"There are {', '.join(folds[:5])}" if folds else "There is no folder of a fold"
        raise input_error(f"{source}/fold_{fold}", "there is not one list of the split test", remedy)
    return {split: lists[0] for split, lists in by_split.items() if lists}


def _rows(
    folder: Path, name: str, source: str, problems: Problems, left_out: list[Excluded]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Read the lines of a list that are sounds with emotions; others are counted."""
    table = read_json_table(files.inside(folder, name), f"{source}/{name}", texts=TEXTS, numbers=("length",))
    others: Counter[str] = Counter()
    for row, cells in enumerate(zip(*table.columns.values(), strict=True)):
        item = dict(zip(table.columns, cells, strict=True))
        other = next((key for key, read in READ.items() if item.get(key, "") not in read), None)
        if other:
            others[f"{other} {quoted(item[other])}"] += 1
            continue
        for key in NEEDED:
            if not item.get(key):
                problems.add(f"{table.where(row)}, key {key}", "it is missing or empty", "Complete the line")
        item["item"], item["duration"] = item.get("key", ""), item.pop("length", "")
        yield table.places[row], item
    for what, count in sorted(others.items()):
        left_out.append(Excluded(what, f"{counted(count, 'line')} of {name}: not sounds with emotions"))


def _label_names(folder: Path, source: str) -> dict[str, str]:
    """Read what the labels are called; empty if nothing says."""
    if not (folder / "label_map.json").exists():
        return {}
    where = f"{source}/label_map.json"
    place = files.require_regular(files.inside(folder, "label_map.json"), where)
    labels = json_object(decode_text(place.read_bytes(), where), where, "Give one JSON object of names")
    problems = Problems()
    for label, name in labels.items():
        if not isinstance(name, str):
            problems.add(where, f"the name of {quoted(label, 40)} is no text", "Give a text")
    problems.raise_if_any()
    return labels


def _name_labels(rows: list[dict[str, str]], labels: Mapping[str, str], source: str) -> list[str]:
    if not labels:
        return [f"{source} has no label_map.json: emotions are called as in the lists"]
    unknown = Counter(row["emo"] for row in rows if row["emo"] not in labels)
    for row in rows:
        row["emo"] = labels.get(row["emo"], row["emo"])
    named = ", ".join(f"{quoted(label, 40)} ({count})" for label, count in sorted(unknown.items())[:5])
    return [f"label_map.json has no name for {named}"] if unknown else []


def _name_speakers(rows: list[dict[str, str]], pattern: str) -> list[str]:
    """Find the speakers in the names of utterances."""
    if not pattern:
        if any(row.get("speaker") for row in rows):
            return []
        return ["the lists do not say who speaks; `speaker_pattern:` finds it in the names of utterances"]
    find = re.compile(pattern)
    for row in rows:
        match = find.search(row["key"])
        row["speaker"] = (match[find.groups] or "") if match else ""
    number = len({row["speaker"] for row in rows} - {""})
    return [f"the names of utterances tell {counted(number, 'speaker')}, as `speaker_pattern:` finds them"]
