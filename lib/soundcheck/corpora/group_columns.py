"""Adds the columns by which a suite groups speech: words as they are, numbers in ranges, products of two.

- A group column stands under its name, text, ``None`` where a segment is in no group. Numbers that were cut
  into ranges stand beside it, see :func:`soundcheck.suite.groups.number_of`.
- A segment without a value, or outside of all ranges, is in no group; their number is reported.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.corpora.labels import WHO, as_numbers, without_nobody
from soundcheck.corpora.load import Corpus
from soundcheck.suite.entries import CorpusEntry, Suite
from soundcheck.suite.families import Family
from soundcheck.suite.groups import BOTH, MEASURED_COLUMNS, OTHERS, NumberRange, number_of

VOICES = ("low", "medium", "high")  # groups of speakers by pitch, which a family makes
MOST_GROUPS = 50  # of a column; more are names or numbers
MOST_NUMBERS = 10  # different numbers that may be groups of their own


def measured_columns(entry: CorpusEntry, families: Iterable[Family], names: Iterable[str] = ()) -> list[str]:
    """List what has to be measured on a corpus: for its groups, adjustments and families, and ``names``."""
    columns = {*entry.further_columns} & {*MEASURED_COLUMNS} | {*names}
    return sorted(columns.union(*(family.measured for family in families if entry.is_for(family.name))))


def check_groups(suite: Suite, corpora: Sequence[Corpus]) -> None:
    """Refuse columns that are missing, or hold too many different words or numbers, all at once.

    What the suite names for all corpora must be there in one of them, what it names for one in that one.
    """
    problems = Problems()
    concerned: dict[tuple[str, str], list[Corpus]] = {}  # key and column -> corpora that it is named for
    for corpus in corpora:
        grouped = corpus.entry.grouped
        for key, names in (("groups", grouped), ("adjust", corpus.entry.adjust)):
            shared = getattr(corpus.entry, key) == getattr(suite, key)
            for name in names:
                where = key if shared else f"corpora.{corpus.name}.{key}"
                concerned.setdefault((where, name), []).append(corpus)
        for name in grouped:
            if name in corpus.segments and not is_numeric_dtype(corpus.segments[name]):
                _check_words(corpus, name, problems)
    for (where, name), some in concerned.items():
        if name not in MEASURED_COLUMNS and not any(name in corpus.segments for corpus in some):
            who = "no corpus has" if len(some) > 1 else f"the corpus {quoted(some[0].name)} has not"
            offered = sorted({*itertools.chain(*(corpus.offered for corpus in some)), *MEASURED_COLUMNS})
            problems.add(where, f"{who} the column {quoted(name)}", did_you_mean(name, offered))
    for column in dict.fromkeys(column for corpus in corpora for column in corpus.entry.against):
        _check_reference(suite, corpora, column, problems)
    problems.raise_if_any()


def _check_words(corpus: Corpus, name: str, problems: Problems) -> None:
    """Note a column whose values are too many to be groups."""
    words = pd.Series(corpus.segments[name].dropna().unique())
    numbers = as_numbers(words)
    where = f"corpora.{corpus.name}, column {name}"
    if numbers is not None and len(words) > MOST_NUMBERS:
        middle, low, high = (f"{float(f(numbers)):g}" for f in (np.median, np.min, np.max))
        what = f"it holds {len(words)} different numbers, {low} to {high}, and no ranges are given"
        example = f"{{{name}: {{low: [{low}, {middle}], high: [{middle}, {high}]}}}}"
        problems.add(where, what, f"Name ranges under groups: {example}")
    elif len(words) > MOST_GROUPS:
        what = f"it holds {len(words)} different values, more than the {MOST_GROUPS} that can be groups"
        problems.add(where, what, "Is this a name or a number? Name a column with fewer values")


def _check_reference(suite: Suite, corpora: Sequence[Corpus], column: str, problems: Problems) -> None:
    """Note where groups of a column cannot be compared with the reference group that is named for them."""
    groups_of = {corpus.name: _groups_of(corpus, column) for corpus in corpora}
    single = all(len(groups) < 2 for groups in groups_of.values())
    for corpus in corpora:
        named, groups = corpus.entry.against.get(column, OTHERS), groups_of[corpus.name]
        shared = named == suite.against.get(column)
        where = f"{'groups' if shared else f'corpora.{corpus.name}.groups'}, {column}, against"
        having = [name for name, groups in groups_of.items() if named in groups]
        reference = pd.Series([named], name=column, dtype=object)
        what = ""
        if named == OTHERS:
            if OTHERS in groups and column in corpus.entry.against:
                what = f"{OTHERS} means all other groups, and the corpus {corpus.name} has a group called so"
                remedy = "Give the group another name with `values:`"
        elif single and named in groups:
            what, remedy = f"{quoted(named)} is the only group", "Remove against"
        elif column in WHO and without_nobody(reference, corpus.entry.unknown)[0].isna().all():
            what = f"{quoted(named)} means that nobody knows the {column}"
            remedy = f"Name a group: {', '.join(groups)}"
        elif groups and not having:
            who = "no corpus has the" if shared else f"the corpus {corpus.name} has no"
            what = f"{who} group {quoted(named)}"
            every = dict.fromkeys(itertools.chain(*groups_of.values()))
            remedy = did_you_mean(named, every if shared else groups)
        elif len(groups) > 1 and named not in groups:
            what = f"the corpus {corpus.name} has no group {quoted(named)}; it is in {', '.join(having)}"
            other = f"`groups: [{{{column}: {{against: {OTHERS}}}}}]`"
            remedy = f"Give {corpus.name} a reference of its own, such as {other}"
        if what:
            problems.add(where, what, remedy)


def _groups_of(corpus: Corpus, column: str) -> list[str]:
    """List the groups of a column or product of a corpus, which is not yet measured."""
    ranges, sides = corpus.entry.number_ranges, []
    for name in column.split(BOTH):
        if name in ranges:
            sides.append([number_range.name for number_range in ranges[name]])
        elif name == "pitch":
            sides.append(list(VOICES))
        else:
            known = corpus.segments[name].dropna() if name in corpus.segments else []
            sides.append(sorted({str(value) for value in known}))
    return [BOTH.join(pair) for pair in itertools.product(*sides)]


def add_groups(corpus: Corpus) -> Corpus:
    """Add the group columns of a corpus, and list by what differences are adjusted."""
    table, notices = corpus.segments.copy(), list(corpus.notices)
    words: dict[str, pd.Series] = {}
    ranges = corpus.entry.number_ranges
    for name in corpus.entry.grouped:
        if name not in table:
            notices.append(f"no column {name}, so nothing is compared by it")
        elif name in ranges:
            words[name] = pd.Series(cut(table[name], ranges[name]), index=table.index, dtype=object)
            used = set(words[name].dropna())
            empty = [f"{r.name} ({r.low:g} to {r.high:g})" for r in ranges[name] if r.name not in used]
            if empty:
                notices.append(f"no segment is in these ranges of {name}: {', '.join(empty)}")
        else:
            words[name] = table[name].astype(object)
    for name in (*ranges, *corpus.entry.adjust):
        numbers = as_numbers(table[name]) if name in table else None
        # a few different numbers may be groups of their own
        if numbers is not None and (is_numeric_dtype(table[name]) or table[name].nunique() > MOST_NUMBERS):
            table[number_of(name)] = numbers
    groups = [group for group in corpus.entry.groups if all(name in words for name in group.columns)]
    for group in groups:
        table[group.name] = product([words[name] for name in group.columns])
        missing = int(table[group.name].isna().sum())
        if missing == len(table):
            notices.append(f"no segment has a value of {group.name}, so nothing is compared by it")
        elif missing:
            what = f"{group.name}, or none in its ranges" if group.ranges else group.name
            of_all = f"{missing} of {counted(len(table), 'segment')}"
            notices.append(f"{of_all} have no {what}: not in comparisons by it")
    adjust = [number_of(name) if number_of(name) in table else name for name in corpus.entry.adjust]
    return dataclasses.replace(
        corpus,
        segments=table,
        notices=tuple(dict.fromkeys(notices)),
        groups=tuple(group.name for group in groups),
        adjust=tuple(name for name in adjust if name in table),
    )


def cut(numbers: pd.Series, ranges: Sequence[NumberRange]) -> np.ndarray:
    """Give the range that each number is in, object ``(N,)``; ``None`` outside of all.

    >>> ages = pd.Series([30.0, 31.0, 99.0, np.nan])
    >>> cut(ages, [NumberRange("young", 0, 30), NumberRange("old", 30, 80)]).tolist()
    ['young', 'old', None, None]
    """
    values = numbers.to_numpy(dtype=np.float64)
    names = np.full(len(values), None, dtype=object)
    for group in reversed(ranges):  # the lower one of two that share a border comes last and has it
        names[(values >= group.low) & (values <= group.high)] = group.name
    return names


def product(columns: Sequence[pd.Series]) -> pd.Series:
    """Put the values of one or two columns together; ``None`` where one is missing."""
    if len(columns) == 1:
        return columns[0]
    first, second = columns
    joined = first.astype(str).astype(object) + BOTH + second.astype(str).astype(object)
    return joined.where(first.notna() & second.notna(), None).astype(object)
