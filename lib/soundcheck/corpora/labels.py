"""What labels mean: numbers on a scale, classes of a task, sexes, and words that say that nobody knows.

- Labels of regression tasks are scaled to 0..1, NaN = unlabelled.
- A class that the task does not have counts as unlabelled and is listed: it never becomes an extra class. Its
  text stays in a column that begins with :data:`UNKNOWN`, until :func:`unlabelled` has counted the segments
  that are evaluated.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from soundcheck.common.messages import Caveat, Problems, counted, did_you_mean, flow, quoted, some
from soundcheck.common.tasks import (
    BUILTIN,
    NOTHING,
    Task,
    another_scale,
    as_values,
    meanings,
    outside,
    range_advice,
    scale_sentence,
    scaled,
    usual_scales,
)
from soundcheck.common.text_table import parse_column, parse_number
from soundcheck.corpora.raw_table import Excluded, RawTable
from soundcheck.suite.entries import CorpusEntry

SEX = dict.fromkeys(  # lower case
    "female f woman women w girl weiblich frau femme femenino feminino mujer 女".split(), "female"
) | dict.fromkeys("male m man men boy männlich mann homme masculino hombre 男".split(), "male")
UNKNOWN = "unknown "  # begins the name of a column with labels that are not classes
LABEL = "label"  # stage of labels that are listed; their segments stay
NAMED = 5  # examples that a notice names
EXAMPLES = 3  # cells that a message names
UNREACHED = 0.1  # of the width of a range, between its end and the nearest label
ENOUGH = 20  # labels, to say that an end is not reached
MOST_CLASSES = 50  # that a message lists

WHO = ("speaker", "sex", "accent", "language")  # columns where words may say that nobody knows
NOBODY = (*NOTHING, *"-- ?? n.a. unk <unk> undefined unspecified unidentified missing undisclosed".split())
NOBODY += ("anonymous", "not specified", "not given", "not available", "prefer not to say", "no information")
NAMES = (("speaker", "na"), ("language", "nan"))  # somebody may be called NA, and nan is Min Nan Chinese


class Reading:
    """A raw table that is read: the segments that may be used, and what is said about it."""

    table: pd.DataFrame  # with ``place``, the row in the raw table; of durations NaN is not known
    elsewhere: pd.DataFrame  # rows of splits that are not evaluated

    def __init__(self, raw: RawTable, entry: CorpusEntry) -> None:
        self.raw = raw
        self.entry = dataclasses.replace(entry, ranges={**raw.scales, **entry.ranges})
        self.remedies: dict[str, str] = {}  # by task what to do about labels that are none of its classes
        self.left_out, self.notices = [*raw.left_out], [*raw.notices]
        self.problems = Problems()
        self.caveats: list[Caveat] = []

    def problem(self, row: int | None, columns: str, what: str, remedy: str) -> None:
        """Note what is wrong in a row, or in all of them; ``columns`` such as ``"column sex"``."""
        place = self.raw.source if row is None else self.raw.place(row, columns.removeprefix("column "))
        self.problems.add(f"{place}, {columns}", what, remedy)

    def leave_out(self, item: str, reason: str, stage: str = LABEL) -> None:
        """List what is not evaluated."""
        self.left_out.append(Excluded(item, reason, stage))


def present(column: pd.Series, where: pd.Series) -> pd.Series:
    """Keep texts of a column, ``None`` elsewhere."""
    return column.astype(object).where(where, None)


# Numbers ----------------------------------------------------------------------------------------------------


def read_numbers(
    reading: Reading, name: str, remedy: str, parse: Callable[[str], float] = parse_number
) -> np.ndarray:
    """Read a column of numbers; empty = NaN."""
    values, wrong = parse_column(reading.raw.table[name].tolist(), parse)
    for row, what in wrong:
        reading.problem(row, f"column {name}", what, remedy)
    return values


def read_ratings(reading: Reading, task: Task, several: bool) -> np.ndarray:
    """Read labels of a regression task and scale them to 0..1; ``several`` tasks have scales of their own."""
    raw, entry, name = reading.raw, reading.entry, task.name
    low, high = bounds = entry.ranges.get(name, (task.low, task.high))
    key, column = f"under corpora.{entry.name}", raw.table[name]
    remedy = f'Give a number with a point; what is no label: `values: {{{name}: {{TEXT: ""}}}}` {key}'
    if none := sorted(text for text in column.unique() if text and text.strip().lower() in NOTHING):
        remedy = f"If it means that there is no label: `{as_values(name, dict.fromkeys(none, ''))}` {key}"
    values = read_numbers(reading, name, remedy)
    ratings = values[~np.isnan(values)]
    beyond = np.flatnonzero(outside(values, bounds))
    reading.notices += filter(None, [scale_sentence(name, *bounds)])
    reach = f"lie from {ratings.min():g} to {ratings.max():g}" if len(ratings) else ""
    if len(beyond):
        cells = [f"{quoted(column.iloc[row])} in {raw.place(row, name)}" for row in beyond[:EXAMPLES]]
        count = f"all {len(ratings)}" if len(beyond) == len(ratings) else f"{len(beyond)} of {len(ratings)}"
        what = f"labels not in {low:g} to {high:g}: {count} ({', '.join(cells)}); all {reach}"
        lowest = "the lowest and highest possible label, not those that occur"
        remedy = f"Declare {range_advice(usual_scales(ratings), name if several else '')} {key}: {lowest}"
        if not another_scale(ratings, bounds):
            none = as_values(name, {column.iloc[beyond[0]]: ""})
            remedy += f"; or correct the labels, or say which are none, `{none}`"
        reading.problem(None, f"column {name}", what, remedy)
    elif len(ratings) >= ENOUGH:
        margin = UNREACHED * abs(high - low)
        if missed := [f"{end:g}" for end in bounds if np.abs(ratings - end).min() > margin]:
            ask = "is the range that of the scale, and not only of these labels?"
            what = f"labels {reach}, never near {' or '.join(missed)} of their range"
            reading.notices.append(f"{name}: {what}; {ask}")
    return scaled(values, low, high)


def as_numbers(column: pd.Series) -> pd.Series | None:
    """Read a column of words as numbers, float64, NaN = missing; ``None`` if a word is none."""
    if is_numeric_dtype(column):
        return column.astype(np.float64)
    try:
        numbers = column.dropna().map(lambda text: parse_number(str(text).strip()))
    except ValueError:
        return None
    return numbers.astype(np.float64).reindex(column.index)


# Classes ----------------------------------------------------------------------------------------------------


def read_classes(column: pd.Series, task: Task, reading: Reading) -> tuple[pd.Series, pd.Series]:
    """Keep the classes of the task; list the others, and give them beside."""
    counts = column.value_counts()
    for text, count in sorted(counts.drop(["", *task.classes], errors="ignore").items()):
        reason = f"not a class of {task.name}, {count} segments count as unlabelled. "
        reason += did_you_mean(text, task.classes)
        reading.leave_out(f"label {quoted(text)}", reason)
    known = column.isin(task.classes)
    return present(column, known), present(column, ~known & (column != ""))


def class_remedy(task: Task, table: pd.DataFrame, entry: CorpusEntry, tasks: Mapping[str, Task]) -> str:
    """Say what to do about labels of a corpus that are no classes of their task.

    Other corpora know other emotions than the four of the built-in task: the message has what is to be
    written into suite.yml so that all of them are tested.
    """
    labels = sorted(set(table[task.name]) - {""})
    meant = {label: "" for label in labels if label.strip().lower() in NOTHING and label not in task.classes}
    meant |= meanings(labels, task.classes)
    for other in tasks.values():
        same = other.name != task.name and other.classes and other.name in table.columns
        if same and set(labels) <= set(other.classes) and table[other.name].equals(table[task.name]):
            return f"The task {other.name} has all of them"
    mapping = f"Say what they mean under corpora.{entry.name}: `{as_values(task.name, meant)}`"
    if meant and {*labels} <= {*task.classes, *meant}:
        return mapping
    first = f"{mapping}. " if meant else ""
    if task.name not in BUILTIN:
        return f"{first}Add them to `classes` of tasks.{task.name} in the suite, or correct them"
    classes = [*labels[:MOST_CLASSES], *["..."] * (len(labels) > MOST_CLASSES)]
    declared = flow({f"own_{task.name}": {"type": "classification", "classes": classes}})
    columns = flow({f"own_{task.name}": entry.columns.get(task.name, task.name)})
    what = f"To test all {len(labels)}, declare a task of your own, which models answer under its name"
    return f"{first}{what}: `tasks: {declared}`, and under corpora.{entry.name} `columns: {columns}`"


def single_classes(table: pd.DataFrame, tasks: Sequence[Task], reading: Reading) -> list[Caveat]:
    """Say of which tasks all labels are of a single class.

    - ``table``: segments that are evaluated, with the columns that begin with :data:`UNKNOWN`.
    - ``tasks``: that models have.
    - Raises InputError: if more than half of the labels are no classes, and no other task has them.
    """
    caveats = []
    for task in tasks:
        if not task.classes or task.name not in table.columns:
            continue
        known, unknown = table[task.name].dropna(), table[UNKNOWN + task.name].dropna()
        of_another = any({*unknown} <= {*other.classes} for other in tasks)  # as in a task of one's own
        if known.nunique() > 1 or (known.empty and of_another):
            continue
        total, only = len(known) + len(unknown), "".join(map(quoted, known.unique()))
        what = f"all {total} labels of {task.name} are {only}"
        if len(unknown):
            what = f"{total} labels are not classes of {task.name}"
            what = f"{len(unknown)} of {what}, and all others are {only}" if only else f"all {what}"
        remedy = reading.remedies[task.name] if len(unknown) else ""
        if len(unknown) > len(known):
            reading.problem(None, f"column {task.name}", what, remedy)
        text = ". ".join(filter(None, [f"{what}, so no average over classes can be judged", remedy]))
        caveats.append(Caveat(text, corpus=reading.entry.name, task=task.name))
    reading.problems.raise_if_any()
    return caveats


def unlabelled(table: pd.DataFrame, remedies: Mapping[str, str]) -> tuple[str, ...]:
    """Say how many segments have a label that means nothing to any test, and which; see single_classes."""
    sentences = []
    for column in (name for name in table.columns if name.startswith(UNKNOWN)):
        task, labels = column.removeprefix(UNKNOWN), table[column].dropna()
        if labels.empty:
            continue
        counts = labels.value_counts().sort_index().sort_values(ascending=False, kind="stable")
        named = some([f"{quoted(text, 40)} ({count})" for text, count in counts.items()], NAMED)
        what = f"labels that are not classes of {task}"
        what = "a sex that is neither female nor male" if task == "sex" else what
        advice = f". {remedies[task]}" if remedies.get(task) else ""
        sentences.append(f"{len(labels)} of {len(table)} segments have {what}: {named}{advice}")
    return tuple(sentences)


# People -----------------------------------------------------------------------------------------------------


def read_sexes(column: pd.Series, reading: Reading) -> tuple[pd.Series, pd.Series]:
    """Map the usual words to female and male; list the others, which belong to neither group."""
    plain = {text: text.strip().lower().rstrip(".") for text in column.dropna().unique()}
    unclear = "m" if "h" in plain.values() else ""  # mujer beside hombre, unless h is homme
    words = {text: SEX.get(word) if word != unclear else None for text, word in plain.items()}
    if read := [f"{quoted(text)} counts as {sex}" for text, sex in words.items() if sex not in (None, text)]:
        reading.notices.append(f"column sex: {', '.join(sorted(read))}")
    sexes = column.map(words)
    for text, count in sorted(column[sexes.isna()].value_counts().items()):
        reason = f"neither female nor male, {count} segments take no part in comparisons of sexes"
        reading.leave_out(f"sex {quoted(text)}", reason)
    return present(sexes, sexes.notna()), present(column, sexes.isna() & column.notna())


def without_nobody(column: pd.Series, unknown: Sequence[str] | None = None) -> tuple[pd.Series, pd.Series]:
    """Take words for nobody out of a column of words; gives these words beside, all else ``None``.

    The column is called like one of :data:`WHO`; ``unknown`` are words of the suite in their place.

    >>> known, words = without_nobody(pd.Series(["s1", " UNKNOWN", "NA"], name="speaker", dtype=object))
    >>> known.tolist(), words.tolist()
    (['s1', None, 'NA'], [None, ' UNKNOWN', None])
    """
    usual = [word for word in NOBODY if (column.name, word) not in NAMES]
    words = {word.strip().lower() for word in (usual if unknown is None else unknown)}
    nobody = column.isin([text for text in column.dropna().unique() if text.strip().lower() in words])
    return column.where(~nobody, None), column.where(nobody, None)


def note_unknown_words(column: pd.Series, reading: Reading) -> None:
    """Count and list the words of a column that stand for nobody."""
    name, (_, words) = column.name, without_nobody(column[column != ""], reading.entry.unknown)
    counts = sorted(words.value_counts().items())
    if counts:
        named = ", ".join(f"{quoted(word)} ({counted(count, 'segment')})" for word, count in counts)
        reading.notices.append(f"column {name}: unknown are {named}; `unknown:` names other words")
    for word, count in counts if name != "speaker" else ():  # without a speaker, segments are listed
        reason = f"unknown, {counted(count, 'segment')} in no group of {name}"
        reading.leave_out(f"{name} {quoted(word)}", reason)


def note_placeholders(column: pd.Series, name: str, reading: Reading) -> None:
    """Say that the most frequent text of a column is one that often means that nothing is known."""
    counts = column.value_counts()
    if counts.empty or counts.iloc[0] < 2 or counts.index[0].strip().lower() not in NOTHING:
        return
    count = f"{counts.iloc[0]} of {len(column)} rows have {quoted(counts.index[0])}"
    mapped = f"`{as_values(name, {counts.index[0]: ''})}` under corpora.{reading.entry.name}"
    notice = f"{count}, which counts as it is written; if it means that nothing is known: {mapped}"
    reading.notices.append(f"column {name}: {notice}")


def speakers_of_both_sexes(table: pd.DataFrame, entry: CorpusEntry) -> list[Caveat]:
    """Doubt names that stand for people of both sexes; blocks that part them make up for labels alone."""
    if "speaker" not in table.columns or "sex" not in table.columns:
        return []
    blocks = list(dict.fromkeys([*entry.blocks, "speaker"]))
    sexes = table.groupby("speaker")["sex"].nunique()
    both = sexes.index[sexes > 1]
    if both.empty:
        return []
    apart = (table.groupby(blocks)["sex"].nunique() <= 1).all()
    named = some([*map(quoted, both)], NAMED)
    who = f"{len(both)} of {counted(table['speaker'].nunique(), 'speaker')} are of both sexes"
    text = f"{who}, so one name may stand for two people ({named}). Trials of one speaker may be of two"
    remedy = ". Name a column that tells people apart, `columns: {speaker: ...}`"
    if not apart:
        text += ", and intervals and p-values count too few people"
        remedy += ", or say `blocks: [part, speaker]`, where `part` is a column of the data"
    return [Caveat(text + remedy, corpus=entry.name, task="embedding" if apart else "")]


# Languages --------------------------------------------------------------------------------------------------

_MACRO = {"cmn": "zho", "yue": "zho"}  # spoken Chinese by its own code


@functools.cache
def _code(name: str) -> str:
    """Give the three letters of ISO 639-3, of ``de``, ``deu``, ``German`` or ``de-AT``; others stay."""
    from audformat.utils import map_language  # late: few corpora need it, and it takes a while to load

    text = name.strip().replace("_", "-")
    for candidate in (text, text.split("-")[0], text.split("-")[0].lower(), text.title()):
        try:
            code = map_language(candidate)
        except ValueError:
            continue
        return _MACRO.get(code, code)
    return text


def match_languages(names: Sequence[object], wanted: Sequence[str]) -> np.ndarray:
    """Say which of the wanted languages each name means, ``None`` = none of them.

    Both are codes of ISO 639-1 or 639-3, with or without region, or English names; names may be missing.

    >>> match_languages(["deu", "zh-CN", "Danish", None], ["de", "zh"]).tolist()
    ['de', 'zh', None, None]
    """
    codes = {_code(name): name for name in wanted}
    meant = [None if pd.isna(name) else codes.get(_code(str(name))) for name in names]
    return np.array([*meant, None], dtype=object)[:-1]
