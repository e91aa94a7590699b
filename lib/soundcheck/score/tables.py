"""Puts a table of references and a table of predictions side by side, and finds out which column is what.

Conventions
-----------
- CSV (commas, semicolons or tabs), tab-separated texts with quotes as letters, Parquet or JSON Lines.
- Rows belong together if a column of either table names the same files: with folders, without them, or
  without the ending; the first that fits most rows counts. Rows without a partner are counted.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_table import read_json_table
from soundcheck.common.tasks import BUILTIN
from soundcheck.common.text_table import TextTable, read_tab_table, read_text_table
from soundcheck.corpora import labels
from soundcheck.start.column_names import CLASSES, FILE_NAMES, RATINGS, SYNONYMS

NAMES = (*FILE_NAMES, "utterance", "utt", "utt_id", "id", "segment", "segment_id", "key", "name")
PREDICTIONS = ("prediction", "predicted", "hypothesis", "hyp", "pred", "pred_text", "output", "answer")
PREDICTED = " (predicted)"  # ends the name of a column that both tables have
GROUPS = ("sex", "accent", "language")  # that are compared if no column is named
_TRIAL = re.compile(
    r"(([01]|target|nontarget)\s+[^\s,;]+\s+[^\s,;]+|[^\s,;]+\s+[^\s,;]+\s+([01]|target|nontarget))$"
)
JSON_ENDINGS = (".jsonl", ".json", ".ndjson")
FORMS: Sequence[Callable[[str], str]] = (  # of names of files, the strictest first
    str,
    lambda name: re.split(r"[\\/]", name)[-1],
    lambda name: re.sub(r"\.\w{1,5}$", "", re.split(r"[\\/]", name)[-1]),
)


@dataclasses.dataclass(frozen=True)
class Columns:
    """Which column is what; empty and ``None`` = to be found out."""

    truth: str = ""
    prediction: str = ""
    speaker: str = ""
    groups: tuple[str, ...] = ()


def read(path: Path) -> pd.DataFrame:
    """Read a table; cells are texts, ``None`` where they are empty.

    Raises InputError: if it is missing or no table; with its line if a row is wrong.
    """
    files.require_regular(path, path.name)
    frame = pd.DataFrame(_table(path).columns, dtype=object)
    return frame.map(str.strip).replace("", None)


def _table(path: Path) -> TextTable:
    if path.suffix.lower() in JSON_ENDINGS:
        return read_json_table(path, path.name)
    if path.suffix.lower() == ".tsv":  # a quote is a letter, as in tables of Common Voice
        return read_tab_table(path, path.name)
    return read_text_table(path, path.name)


def is_trial_list(path: Path) -> bool:
    """Say whether the first line of a file is a trial of two recordings with its label."""
    with open(files.require_regular(path, path.name), "rb") as file:
        return bool(_TRIAL.match(file.readline(4096).decode(errors="replace").strip()))


def side_by_side(
    references: pd.DataFrame,
    predictions: pd.DataFrame,
    names: tuple[str, str] = ("references", "predictions"),
) -> tuple[pd.DataFrame, list[str]]:
    """Join a table of predictions to one of references; gives the rows and what has to be said.

    Columns of the predictions that the references have, too, are called ``NAME (predicted)``.
    Raises InputError: if no column of either names the same files, or a name stands twice.
    """
    pair = _matching(references, predictions)
    if pair is None:
        tables = dict(zip(names, (references, predictions), strict=True))
        examples = [f"{name}: {_example(frame)}" for name, frame in tables.items()]
        what = "no column of either table names the same files"
        raise input_error(
            names[1], what, f"Give both a column with the names of files ({'; '.join(examples)})"
        )
    ours, theirs, form = pair
    keys = [
        frame[column].map(form, na_action="ignore")
        for frame, column in ((references, ours), (predictions, theirs))
    ]
    for name, column, own in zip(names, (ours, theirs), keys, strict=True):
        twice = own[own.notna() & own.duplicated(keep=False)]
        if len(twice):
            first = twice.iloc[0]
            lines = ", ".join(str(row + 2) for row in twice.index[twice.eq(first)][:3])
            what = f"{quoted(first)} stands more than once (rows {lines})"
            raise input_error(f"{name}, column {column}", what, "Keep one row a recording")
    renamed = {name: _predicted(name) for name in predictions if name in references}
    right = predictions.rename(columns=renamed).assign(_key=keys[1]).dropna(subset="_key")
    joined = references.assign(_key=keys[0]).merge(right, "left", on="_key", indicator=True)
    without = int(joined["_merge"].ne("both").sum())
    notes = [f"rows are joined by {ours} of {names[0]} and {theirs} of {names[1]}"]
    if without:
        notes.append(f"{without} of {len(joined)} rows of {names[0]} have no row in {names[1]}")
    if unused := int((~keys[1].dropna().isin(keys[0])).sum()):
        notes.append(f"{unused} of {len(predictions)} rows of {names[1]} have no row in {names[0]}: left out")
    return joined.drop(columns=["_key", "_merge"]), notes


def _matching(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, str, Callable[[str], str]] | None:
    """Find columns that name the same files: among those with usual names, else among all that name rows."""
    for candidates in (_named, _naming):
        for form in FORMS:
            known = {name: set(one[name].dropna().map(form)) for name in candidates(one)}
            given = {name: set(other[name].dropna().map(form)) for name in candidates(other)}
            pairs = {(a, b): len(known[a] & given[b]) for a in known for b in given}
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
    return (
        f"column {quoted(name)}, such as {quoted(values.iloc[0])}"
        if len(values)
        else f"column {quoted(name)}"
    )


def found(frame: pd.DataFrame, predictions: Sequence[str], wanted: Columns) -> Columns:
    """Find out which column is what, as ``soundcheck init`` does.

    - ``predictions``: columns of ``frame`` that came from the table of predictions.
    - Raises InputError: if labels or predictions are in no column that is known.
    """
    own = [name for name in frame if name not in predictions]
    both = [name for name in own if _predicted(name) in predictions and name.lower() not in NAMES]
    usual = _first(own, [*_spellings("transcript"), *_tasks(), *CLASSES, *RATINGS])
    truth = wanted.truth or next(iter(both), usual)
    if not truth:
        remedy = f"Name it with --truth. There are: {', '.join(map(str, own))}"
        raise input_error("references", "no column is known to hold what is true", remedy)
    prediction = wanted.prediction or _prediction(predictions, truth)
    if not prediction:
        remedy = f"Name it with --prediction. There are: {', '.join(map(str, predictions))}"
        raise input_error("predictions", "no column is known to hold what is predicted", remedy)
    known = {role: name for role in ("speaker", *GROUPS) if (name := _first(own, _spellings(role)))}
    groups = wanted.groups or tuple(
        known[role] for role in GROUPS if role in known and _is_grouping(frame[known[role]])
    )
    return Columns(truth, prediction, wanted.speaker or known.get("speaker", ""), groups)


def role_of(name: str) -> str:
    """Give our name of a column, such as ``sex`` for ``gender``; its own if it has none."""
    return next((role for role in SYNONYMS if name.lower() in _spellings(role)), name)


def _predicted(name: str) -> str:
    return f"{name}{PREDICTED}"


def _tasks() -> list[str]:
    return [spelling for name, task in BUILTIN.items() if task.is_regression for spelling in _spellings(name)]


def _spellings(role: str) -> list[str]:
    return [role, *SYNONYMS.get(role, ())]


def _first(columns: Sequence[str], names: Sequence[str]) -> str:
    lower = {str(name).strip().lower(): name for name in reversed(columns)}
    return next((lower[name] for name in names if name in lower), "")


def _prediction(columns: Sequence[str], truth: str) -> str:
    """Find the column of predictions: called like that of labels, by a usual name, or the only one."""
    plain = {name: str(name).removesuffix(PREDICTED) for name in columns}
    for names in ([truth.lower()], PREDICTIONS, _spellings("transcript"), [*CLASSES, *RATINGS]):
        for name in columns:
            if plain[name].lower() in names:
                return name
    others = [name for name in columns if plain[name].lower() not in NAMES]
    return others[0] if len(others) == 1 else ""


def _is_grouping(column: pd.Series) -> bool:
    return labels.without_nobody(column)[0].nunique() > 1


def check_named(frame: pd.DataFrame, columns: Columns) -> None:
    """Refuse names that are no columns."""
    for option, name in (
        ("--truth", columns.truth),
        ("--prediction", columns.prediction),
        ("--speaker", columns.speaker),
        *(("--group", name) for name in columns.groups),
    ):
        if name and name not in frame:
            what = f"there is no column {quoted(name)}"
            raise input_error(option, what, did_you_mean(name, list(map(str, frame))))
