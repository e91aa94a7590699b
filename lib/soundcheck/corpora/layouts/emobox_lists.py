"""Reads the lists of EmoBox: a folder a corpus, with ``label_map.json`` and a list of all, or lists of folds.

Conventions
-----------
- Without a fold ``name/name.jsonl`` is read. A fold is a folder ``fold_1`` with the lists
  ``name_train_fold_1.jsonl`` and ``name_test_fold_1.jsonl`` (perhaps one of validation, too); its rows have a
  split.
- ``wav`` is the file, ``emo`` the emotion under the name that ``label_map.json`` gives it, ``length`` the
  duration where there is nothing to hear; ``key`` becomes the ``item``.
- Who speaks is not in the lists, but mostly in the names of utterances: the suite gives a regular expression,
  of which the group counts, or all of it.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import json_object, read_json_table
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.common.wording import counted
from soundcheck.corpora.segments import Excluded, RawTable
from soundcheck.corpora.table_keys import take_columns
from soundcheck.suite.entries import CorpusEntry

USUAL = {"file": ("wav",), "emotion": ("emo",), "sex": ("gender",)}
TEXTS = ("key", "wav", "type", "task", "emo", "speaker", "gender", "language")
SPLITS = ("train", "valid", "test")
CATEGORY, SOUND = "category", "raw"  # the task and the type of lines that are read


def read_lists(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read the lists of a corpus.

    - ``entry``: the suite's entry; ``path`` is the folder.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if there is no list, or one cannot be read; all problems of its lines at once.
    """
    shown = (entry.shown_path or entry.path.name).rstrip("/")
    lists = _lists(entry.path, shown, entry.options.get("fold"))
    labels = _labels(entry.path, shown)
    columns: dict[str, list[str]] = {}
    places: list[str] = []
    left_out: list[Excluded] = []
    problems = Problems()
    for split, file in lists.items():
        name = file.relative_to(entry.path).as_posix()
        own, lines = _read(entry.path, name, shown, problems, left_out)
        own["split"] = [split] * len(lines)
        for column, cells in own.items():
            columns.setdefault(column, [""] * len(places)).extend(cells)
        places += [f"{line} of {name}" for line in lines]
        columns = {name: cells + [""] * (len(places) - len(cells)) for name, cells in columns.items()}
    problems.raise_if_any()
    if not places:
        raise input_error(shown, "the lists have no utterance", "Check the folder")
    notices = _name_labels(columns, labels, shown)
    notices += _name_speakers(columns, entry.options.get("speaker_pattern", ""))
    if list(lists) == [""]:
        del columns["split"]
    filled = {name: cells for name, cells in columns.items() if any(cells)}
    filled.pop("channel", None)  # how many there are
    known = ("key", "task", "type")
    raw = take_columns(TextTable(filled, places, "line", shown), entry, tasks, USUAL, known)
    root = entry.path.resolve().parents[1] if len(entry.path.resolve().parents) > 1 else entry.path
    return dataclasses.replace(raw, root=root, left_out=tuple(left_out), notices=(*raw.notices, *notices))


def _lists(folder: Path, shown: str, fold: int | None) -> dict[str, Path]:
    """Find the lists: split -> its file."""
    folds = sorted(path.name for path in folder.glob("fold_*") if path.is_dir())
    if fold is None:
        found = sorted(folder.glob("*.jsonl"))
        if len(found) == 1:
            return {"": found[0]}
        what = f"there are {len(found)} lists (.jsonl)" if found else "there is no list (.jsonl)"
        more = f", or a fold (there are {', '.join(folds[:5])}) as `fold: 1`" if folds else ""
        raise input_error(shown, what, f"Name the folder of one corpus{more}")
    place = folder / f"fold_{fold}"
    known = {split: sorted(place.glob(f"*_{split}_fold_{fold}.jsonl")) for split in SPLITS}
    known = {split: found or sorted(place.glob(f"*_{split}*.jsonl")) for split, found in known.items()}
    if not known["test"] or any(len(found) > 1 for found in known.values()):
        there = f"There are {', '.join(folds[:5])}" if folds else "There is no folder of a fold"
        raise input_error(f"{shown}/fold_{fold}", "there is not one list of the split test", there)
    return {split: found[0] for split, found in known.items() if found}


def _read(
    folder: Path, name: str, shown: str, problems: Problems, left_out: list[Excluded]
) -> tuple[dict[str, list[str]], list[int]]:
    """Read a list: columns of text, and the lines of the rows."""
    where = f"{shown}/{name}"
    read = read_json_table(files.inside(folder, name), where, texts=TEXTS, numbers=("length",))
    empty = [""] * len(read)
    cells = {**dict.fromkeys((*TEXTS, "length"), empty), **read.columns}
    kept = []
    others: Counter[str] = Counter()
    for row, (task, kind) in enumerate(zip(cells["task"], cells["type"], strict=True)):
        if task not in ("", CATEGORY):
            others[f"task {quoted(task)}"] += 1
        elif kind not in ("", SOUND):
            others[f"type {quoted(kind)}"] += 1
        else:
            kept.append(row)
    for row in kept:
        for field in ("key", "wav", "emo"):
            if not cells[field][row]:
                problems.add(f"{read.where(row)}, key {field}", "it is missing or empty", "Complete the line")
    for what, count in sorted(others.items()):
        left_out.append(Excluded(what, f"{counted(count, 'line')} of {name}: not sounds with emotions"))
    columns = {field: [column[row] for row in kept] for field, column in cells.items()}
    columns["item"], columns["duration"] = columns["key"], columns.pop("length")
    return columns, [read.places[row] for row in kept]


def _labels(folder: Path, shown: str) -> dict[str, str]:
    """Read what the labels are called; empty if nothing says."""
    if not (folder / "label_map.json").exists():
        return {}
    where = f"{shown}/label_map.json"
    place = files.require_regular(files.inside(folder, "label_map.json"), where)
    labels = json_object(decode_text(place.read_bytes(), where), where, "Give one JSON object of names")
    problems = Problems()
    for label, name in labels.items():
        if not isinstance(name, str):
            problems.add(where, f"the name of {quoted(label, 40)} is no text", "Give a text")
    problems.raise_if_any()
    return labels


def _name_labels(columns: dict[str, list[str]], labels: Mapping[str, str], shown: str) -> list[str]:
    if not labels:
        return [f"{shown} has no label_map.json: emotions are called as in the lists"]
    unknown = Counter(label for label in columns["emo"] if label not in labels)
    columns["emo"] = [labels.get(label, label) for label in columns["emo"]]
    named = ", ".join(f"{quoted(label, 40)} ({count})" for label, count in sorted(unknown.items())[:5])
    return [f"label_map.json has no name for {named}"] if unknown else []


def _name_speakers(columns: dict[str, list[str]], pattern: str) -> list[str]:
    """Find the speakers in the names of utterances."""
    if not pattern:
        if not any(columns["speaker"]):
            return ["the lists do not say who speaks; `speaker_pattern:` finds it in the names of utterances"]
        return []
    find = re.compile(pattern)
    found = [find.search(key) for key in columns["key"]]
    columns["speaker"] = [(match[find.groups] or "") if match else "" for match in found]
    number = len({*columns["speaker"]} - {""})
    return [f"the names of utterances tell {counted(number, 'speaker')}, as `speaker_pattern:` finds them"]
