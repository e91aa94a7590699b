"""Puts a table of references and a table of predictions side by side, and finds out which column is what.

Conventions
-----------
- CSV (commas, semicolons or tabs), tab-separated texts with quotes as letters, Parquet or JSON Lines.
- Rows belong together if a column of either table names the same files: with folders, without them, or
  without the ending; the first that fits most rows counts. Rows without a partner are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from soundcheck.common import files
from soundcheck.common.json_lines import read_json_table
from soundcheck.common.messages import input_error, quoted
from soundcheck.common.tasks import BUILTIN
from soundcheck.common.text_table import read_tab_table, read_text_table
from soundcheck.corpora.labels import without_nobody
from soundcheck.corpora.trials.trial_files import label_of
from soundcheck.start.detect import CLASSES, FILE_NAMES, RATINGS, SYNONYMS, first_of

NAMES = (*FILE_NAMES, "utterance", "utt", "utt_id", "id", "segment", "segment_id", "key", "name")
PREDICTIONS = ("prediction", "predicted", "hypothesis", "hyp", "pred", "pred_text", "output", "answer")
PREDICTED = " (predicted)"  # ends the name of a column that both tables have
GROUPS = ("sex", "accent", "language")  # that are compared if no column is named
DESCRIBED = (*GROUPS, "speaker", "split", "start", "end", "duration")  # of recordings, by either table
READERS = {".tsv": read_tab_table, **dict.fromkeys((".jsonl", ".json", ".ndjson"), read_json_table)}
FORMS: Sequence[Callable[[str], str]] = (  # of names of files, the strictest first
    str,
    lambda name: re.split(r"[\\/]", name)[-1],
    lambda name: re.sub(r"\.\w{1,5}$", "", re.split(r"[\\/]", name)[-1]),
)


def read(path: Path) -> pd.DataFrame:
    """Read a table of texts, ``None`` where a cell is empty; InputError if it is missing or no table.

    The index tells where a row stands in the file, and is called ``line`` or ``row``.
    """
    files.require_regular(path, path.name)
    table = READERS.get(path.suffix.lower(), read_text_table)(path, path.name)
    places = pd.Index(table.places, name=table.unit)
    return pd.DataFrame(table.columns, places, dtype=object).map(str.strip).replace("", None)


def is_trial_list(path: Path) -> bool:
    """Say whether a file begins with the heads of a table of trials, or with two lines that are trials."""
    with open(files.require_regular(path, path.name), "rb") as file:
        lines = [file.readline(4096).decode(errors="replace").lower() for _ in range(2)]
    heads, trials = re.split(r"[,;\s]+", lines[0]), [re.split(r"[\s*]+", line.strip()) for line in lines]
    if {"test", "segmentid"} & {*heads} and any(head.startswith(("enrol", "modelid")) for head in heads):
        return True
    return any(all(len(one) > 2 and label_of(one[end]) is not None for one in trials) for end in (0, -1))


def side_by_side(first: Path, second: Path) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Read and join references and predictions: a row a reference, columns of the predictions, and notes.

    Columns of the predictions that the references have, too, are called ``NAME (predicted)``.
    InputError: if no column of either names the same files, or a name stands twice.
    """
    names, tables = (first.name, second.name), (read(first), read(second))
    references, predictions = tables
    matching = _matching(references, predictions)
    if matching is None:
        examples = [f"{name}: {_example(frame)}" for name, frame in zip(names, tables, strict=True)]
        what = "no column of either table names the same files"
        remedy = f"Give both a column with the names of files ({'; '.join(examples)})"
        raise input_error(names[1], what, remedy)
    *joining, form = matching
    keys = []
    for name, frame, column in zip(names, tables, joining, strict=True):
        key = frame[column].map(form, na_action="ignore")
        twice = key[key.notna() & key.duplicated(keep=False)]
        if len(twice):
            places = ", ".join(map(str, twice.index[twice.eq(twice.iloc[0])][:3]))
            what = f"{quoted(twice.iloc[0])} stands more than once ({frame.index.name}s {places})"
            raise input_error(f"{name}, column {column}", what, "Keep one row a recording")
        keys.append(key)
    right = predictions.rename(columns={name: f"{name}{PREDICTED}" for name in references})
    right = right[keys[1].notna()].set_index(keys[1].dropna())
    both = keys[0].isin(right.index)  # the model never got the others, which is no error
    sides = references[both], right.reindex(keys[0][both])
    joined = pd.concat([side.reset_index(drop=True) for side in sides], axis=1)
    notes = [f"rows are joined by {joining[0]} of {names[0]} and {joining[1]} of {names[1]}"]
    for one, other in ((0, 1), (1, 0)):
        if without := len(right if one else references) - len(joined):
            text = f"{without:,} of {len(tables[one]):,} rows of {names[one]} have no row in {names[other]}"
            notes.append(f"{text}: left out")
    return joined, list(right), notes


def _matching(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, str, Callable[[str], str]] | None:
    """Find columns that name the same files: among those with usual names, else among all that name rows."""
    for candidates in (_named, _naming):
        for form in FORMS:
            values = [
                {name: set(frame[name].dropna().map(form)) for name in candidates(frame)}
                for frame in (one, other)
            ]
            pairs = {(a, b): len(values[0][a] & values[1][b]) for a in values[0] for b in values[1]}
            best = max(pairs, key=pairs.__getitem__, default=None)
            if best and 2 * pairs[best] > min(len(one), len(other)):
                return *best, form
    return None


def _naming(frame: pd.DataFrame) -> list[str]:
    """List columns of different values that are no sentences: transcripts of a good model match too."""
    return [
        name
        for name in frame
        if frame[name].dropna().is_unique and not frame[name].str.contains(" ", regex=False, na=False).any()
    ]


def _named(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if str(name).lower() in NAMES]


def _example(frame: pd.DataFrame) -> str:
    name = next(iter(_named(frame)), frame.columns[0])
    values = frame[name].dropna()
    return f"column {quoted(name)}" + (f", such as {quoted(values.iloc[0])}" if len(values) else "")


def recognise(
    frame: pd.DataFrame, predicted: Sequence[str], named: Mapping[str, Any]
) -> dict[str, str | tuple[str, ...] | None]:
    """Find out by their names which columns hold ``truth, prediction, speaker, groups``, but those ``named``.

    - ``predicted``: the columns of the table of predictions.
    - Raises InputError: if labels or predictions are in no column that is known.
    """
    of_references = [name for name in frame if name not in predicted]
    both = [name for name in of_references if f"{name}{PREDICTED}" in predicted and name.lower() not in NAMES]
    usual, label = [name for name in both if name.lower() in LABELS], first_of(of_references, LABELS)
    if not usual and first_of(predicted, PREDICTIONS):  # what is in both tables describes recordings
        usual = [label]
    both = [name for name in both if role_of(name) not in DESCRIBED]
    truth = named.get("truth") or next(filter(None, (*usual, *both, label)), "")
    columns = {"truth": truth, "prediction": named.get("prediction") or _prediction(predicted, truth)}
    for role, of in (("truth", of_references), ("prediction", predicted)):
        if not columns[role]:
            remedy = f"Name it with --{role}. There are: {', '.join(map(str, of))}"
            raise input_error("the tables", f"no column is known to hold the {role}", remedy)
    speaker = named.get("speaker") or first_of(of_references, _spellings("speaker")) or None
    return columns | {"speaker": speaker, "groups": named.get("groups") or usual_groups(frame[of_references])}


def usual_groups(frame: pd.DataFrame) -> tuple[str, ...]:
    """Name the columns of sex, accent and language that have two groups or more."""
    known = [first_of(list(frame), _spellings(role)) for role in GROUPS]
    return tuple(name for name in known if name and without_nobody(frame[name])[0].nunique() > 1)


def role_of(name: str) -> str:
    """Give our name of a column, such as ``sex`` for ``gender``; its own if it has none."""
    return next((role for role in SYNONYMS if name.lower() in _spellings(role)), name)


def _spellings(*roles: str) -> list[str]:
    return [name for role in roles for name in (role, *SYNONYMS.get(role, ()))]


_NUMBERS = [name for name, task in BUILTIN.items() if task.is_regression]
LABELS = (*_spellings("transcript", *_NUMBERS), *CLASSES, *RATINGS)


def _prediction(columns: Sequence[str], truth: str) -> str:
    """Find the column of predictions: called like that of labels, by a usual name, or the only one."""
    plain = {str(name).removesuffix(PREDICTED): name for name in columns}
    usual = first_of(plain, (truth.lower(), *PREDICTIONS, *LABELS))
    others = [name for name in plain if name.lower() not in NAMES]
    return plain[usual or others[0]] if usual or len(others) == 1 else ""
