"""A corpus of a suite and its format: keys in suite.yml, how corpora are read, how speech is grouped.

Formats are the classes in the modules of :mod:`soundcheck.corpora.formats`, and those that installed packages
register as entry points of the group ``soundcheck.formats``. Modules with formats should import what is heavy
inside of methods: every suite that is read imports them.

The keys ``groups:`` and ``adjust:`` of a suite and of its corpora name the columns that speech is grouped by:
their values, named ranges of numbers, products of two::

    groups: [device, {accent: {against: us}}, {age: {young: [0, 29], old: [60, 120], against: young}}]
    adjust: [signal_to_noise]

- Both ends belong to a range; a border that two ranges share belongs to the lower one.
- What is measured on the sound is a column, too, and is a number: its groups are ranges.
- A group column stands in the segment table under its name; the numbers that were cut stand beside it, under
  :func:`number_of` the name.
"""

from __future__ import annotations

import dataclasses
import functools
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

from soundcheck.common.messages import did_you_mean, nearest, quoted
from soundcheck.common.resources import Registry
from soundcheck.common.tasks import Task
from soundcheck.suite import schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from soundcheck.suite.families import Family

# Groups -----------------------------------------------------------------------------------------------------

BOTH = " × "  # between two columns, and between their values
OTHERS = "others"  # all other groups, which a group is compared with unless the suite names a reference group
MEASURED_COLUMNS = (
    *("bandwidth", "clipping", "duration", "level", "pitch", "signal_to_noise", "silence", "speaking_rate"),
    *("speech_share", "predicted_quality"),  # by networks that are installed apart
)
UNUSABLE = {  # column -> why its values are no groups
    **dict.fromkeys(("start", "end"), "it is a time"),
    **dict.fromkeys(("key", "audio", "place"), "the name is taken"),
    "file": "each file would be a group",
    "item": "each item would be a group",
    "transcript": "each text would be a group",
    "speaker": "each speaker would be a group, and of one speaker nobody knows how much speakers differ",
}
MOST_ADJUSTED = 2
AGAINST = "against"  # a key among the ranges of a column, so that no range is called so
_PRODUCT = re.compile(r"\s+[x×]\s+")
_LIST = "Write a list such as [device, sex × accent], or column: {name: [low, high]} below it"


def number_of(name: str) -> str:
    """Name the column of the segment table with the numbers that were cut into the groups of a column."""
    return f"{name} (number)"


def numbers_of(table: pd.DataFrame, name: str) -> np.ndarray:
    """Give a column of numbers of a segment table, also where a suite cuts it into groups, float64."""
    numbers = number_of(name)
    return table[numbers if numbers in table else name].to_numpy(dtype="float64")


def with_suite_groups(family: Family, names: Iterable[str]) -> Family:
    """Let a family compare the groups of a suite, too, if its option ``groups_of_suite`` says so.

    - ``family``: from the threshold file; its option ``groups`` lists columns.
    """
    if not family.options.get("groups_of_suite"):
        return family
    columns = list(dict.fromkeys([*family.options["groups"], *names]))
    return dataclasses.replace(family, options=family.options | {"groups": columns})


@dataclasses.dataclass(frozen=True)
class NumberRange:
    """Numbers that make a group.

    - ``low, high``: both belong to it, but for a border that a lower range has.
    """

    name: str
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class GroupColumn:
    """A column whose values are groups."""

    name: str  # as shown: ``"age"``, ``"sex × accent"``
    columns: tuple[str, ...]  # the columns of the segment table that it is made of, one or two
    # column -> ranges that its numbers are cut into, from low to high; others hold words
    ranges: dict[str, tuple[NumberRange, ...]] = dataclasses.field(default_factory=dict)


def read_groups(
    reader: schema.EntryReader, path: tuple, value: object, known: tuple[GroupColumn, ...] = ()
) -> tuple[tuple[GroupColumn, ...], dict[str, str]]:
    """Read a list of columns, products and ranges, or a mapping of them; with the reference groups named.

    - ``path, value``: place in the document, and what stands there; ``None`` = nothing.
    - ``known``: of a corpus: the groups of the suite, whose ranges hold unless it gives others.
    """
    items = [((*path, place), item) for place, item in enumerate(value)] if isinstance(value, list) else []
    if isinstance(value, dict) and value:
        items = [(path, value)]
    if not items and value is not None:
        reader.note(path, f"{schema.display(value)} names no columns", _LIST)
    entries = []  # place, columns as written, what the suite says of them
    for place, item in items:
        of_item = item.items() if isinstance(item, dict) else [(item, "")]
        entries += [((*place, name) if isinstance(item, dict) else place, name, cut) for name, cut in of_item]
    ranges = {column: cut for group in known for column, cut in group.ranges.items()}
    against: dict[str, str] = {}
    named: list[tuple[tuple, tuple[str, ...]]] = []
    for place, name, cut in entries:
        columns = _columns(reader, place, name)
        if isinstance(cut, dict) and AGAINST in cut:
            against[BOTH.join(columns)] = _reference(reader, (*place, AGAINST), cut[AGAINST], columns)
            cut = {key: item for key, item in cut.items() if key != AGAINST} or ""
            if not cut and name == "pitch" and name not in ranges:
                continue  # a family makes low, medium and high voices
        named += [(place, columns)] if columns else []
        if cut != "" and len(columns) == 1:
            ranges[columns[0]] = _ranges(reader, place, cut)
        elif cut != "":
            remedy = "Give the ranges to its columns, each by itself"
            reader.note(place, "a product has no ranges of its own", remedy)
    groups: dict[frozenset[str], GroupColumn] = {}
    for place, columns in named:
        if frozenset(columns) in groups:
            reader.note(place, f"{quoted(BOTH.join(columns))} is named twice", "Name it once")
        for column in columns:
            _check_column(reader, place, column, column in ranges)
        cuts = {column: ranges[column] for column in columns if column in ranges}
        groups[frozenset(columns)] = GroupColumn(BOTH.join(columns), columns, cuts)
    return tuple(groups.values()), against


def read_adjust(reader: schema.EntryReader, value: object, path: tuple = ()) -> tuple[str, ...]:
    """Read the columns by which differences are adjusted, in a suite or below the path of a corpus."""
    path = (*path, "adjust")
    columns = reader.check(path, value, schema.Names) or ()
    if len(columns) > MOST_ADJUSTED:
        what = f"{len(columns)} columns are more than the {MOST_ADJUSTED} that can be adjusted for at once"
        reader.note(path, what, "Name those that matter most")
    reader.check_repeated(path, columns)
    for column in [column for column in columns if column in UNUSABLE]:
        reader.note(path, f"nothing can be adjusted by {column}", "Name another column")
    return columns


def _columns(reader: schema.EntryReader, path: tuple, item: object) -> tuple[str, ...]:
    """Read a column, or a product: ``sex × accent`` or ``[sex, accent]``."""
    parts = _PRODUCT.split(item) if isinstance(item, str) else item
    columns = reader.check(path, parts, schema.Texts) or ()
    if len(columns) > 2 or len(set(columns)) < len(columns):
        what = f"{quoted(BOTH.join(columns))} is no product of two different columns"
        reader.note(path, what, "Name two columns, or one")
        return ()
    return columns


def _reference(reader: schema.EntryReader, path: tuple, value: object, columns: Sequence[str]) -> str:
    """Read the group that others are compared with: a word, or of a product two."""
    word = reader.check(path, value, schema.Text) or ""
    return BOTH.join(_PRODUCT.split(word)) if len(columns) > 1 else word


def _check_column(reader: schema.EntryReader, path: tuple, column: str, has_ranges: bool) -> None:
    """Note a column whose values cannot be groups."""
    task, reason = reader.tasks.get(column), UNUSABLE.get(column, "")
    if task is not None and not task.classes:
        reason = "it is what models predict; tests of bins look at parts of the scale"
    if reason:
        reader.note(path, f"{column} cannot be a group: {reason}", "Name another column")
    elif column in MEASURED_COLUMNS and not has_ranges:
        remedy = f"Write {{{column}: {{low: [0, 10], high: [10, 100]}}}} with bounds of your own"
        reader.note(path, f"{column} is measured: a number, and no ranges are given", remedy)


def _ranges(reader: schema.EntryReader, path: tuple, value: object) -> tuple[NumberRange, ...]:
    """Read the ranges of a column of numbers."""
    known = reader.check(path, value, dict[str, schema.Range])
    if known is None:
        return ()
    reader.check_names(path, list(known))
    if len(known) < 2:
        what = "one range makes one group" if known else "no range is given"
        reader.note(path, what, "Write two ranges or more")
    ranges = sorted((NumberRange(name, *bounds) for name, bounds in known.items()), key=lambda r: r.low)
    for before, after in pairwise(ranges):
        if after.low < before.high:
            both = " and ".join(f"{r.name} [{r.low:g}, {r.high:g}]" for r in (before, after))
            reader.note(path, f"the ranges {both} overlap", "End one where the other begins")
    return tuple(ranges)


# Corpora ----------------------------------------------------------------------------------------------------

RESERVED_COLUMNS = (  # of segment tables
    *("file", "start", "end", "speaker", "sex", "language", "accent", "sentiment"),
    *("transcript", "transcript_written", "condition", "item", "split", "channel"),
)
TRIAL_LAYOUTS = ("voxceleb", "kaldi", "nist", "table")


@dataclasses.dataclass(frozen=True)
class Place:
    """Marks a key that names a file or a folder: relative to suite.yml, and it must exist."""

    folder: bool | None  # None = either


File = Annotated[schema.Text | None, Place(folder=False)]
Folder = Annotated[schema.Text | None, Place(folder=True)]
FileOrFolder = Annotated[schema.Text | None, Place(folder=None)]


@functools.cache
def places(keys: type[schema.Section]) -> dict[str, Place]:
    """List the keys that name files or folders."""
    types = get_type_hints(keys, include_extras=True)
    marked = ((key, mark) for key, kind in types.items() for mark in getattr(kind, "__metadata__", ()))
    return {key: mark for key, mark in marked if isinstance(mark, Place)}


class CorpusKeys(schema.Section):
    """Keys of every corpus."""

    apart = ("format", "groups", "adjust", "benchmark")
    title: schema.Title = ""
    description: schema.Prose = ""
    families: schema.Texts = ()  # names of the families that look at it; empty = all that it fits
    # condition that recordings under others are compared with; empty = the most frequent one
    base_condition: schema.Text = ""


class TrialKeys(CorpusKeys):
    """Keys of lists of trials, and of corpora that may bring one."""

    path: File = None
    root: Folder = None
    # folder that is cut from the beginning of the names of files, before they are relative to ``root``
    cut: schema.Text = ""
    # whether there is anything to hear; without, names of files are names and nothing else
    audio: schema.Boolean = True
    enrolments: File = None
    layout: schema.choice(*TRIAL_LAYOUTS) = ""  # of the list of trials; empty = its first line tells
    synthetic: schema.Boolean = False  # whether pages say that the speech is synthetic


class TableKeys(TrialKeys):
    """Keys of corpora that are tables of segments; what they say is done by ``corpora/segments.py``."""

    apart = (*CorpusKeys.apart, "range")
    columns: dict[str, schema.Text] = {}  # our name of a column -> theirs
    # our name of a column -> what stands there -> what it counts as; ``""`` = missing
    values: dict[str, dict[str, schema.TextOrNothing]] = {}
    # words in place of a speaker, sex, accent or language that mean nobody; ``None`` = the usual ones
    unknown: schema.Texts | None = None
    # values of the column ``split`` to keep; ``("all",)`` = every row; ``None`` = the format's default
    split: schema.Names | None = None
    # columns whose values are resampled together: each combination that occurs is a block
    blocks: schema.Names = ("speaker",)
    trials: File = None


class FolderKeys(TableKeys):
    """Keys of corpora that are a folder."""

    path: Folder = None


class FileOrFolderKeys(TableKeys):
    """Keys of corpora that are a folder, or a part of it as a file."""

    path: FileOrFolder = None


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """The published benchmark that a corpus is, so that a hub can list results under it."""

    id: schema.HubId  # name of its data set on the hub
    task_id: schema.Text
    revision: schema.Text = ""  # version of the data set; "" = not said
    task: schema.Text = ""  # the task of the suite that it is about; "" = the only one of the corpus


class CorpusEntry(TableKeys, kw_only=False):
    """A corpus as the suite describes it: its keys, and what was found out about them.

    - ``path, root, trials, enrolments``: absolute, ``None`` = none; as the user wrote them they are
      ``shown_path`` and so on.
    """

    name: str  # its key in the suite
    format: str  # keyword of its format, such as ``"csv"``; see :class:`CorpusFormat`
    _: dataclasses.KW_ONLY
    path: Path | None = None  # manifest (csv) or database folder (audformat)
    shown_path: str = ""
    root: Path | None = None  # folder that the files are relative to; ``None`` = that of ``path``
    shown_root: str = ""
    trials: Path | None = None  # list of trials
    shown_trials: str = ""
    enrolments: Path | None = None  # list of the utterances that each speaker is enrolled with
    shown_enrolments: str = ""
    tables: tuple[str, ...] = ()  # audformat: tables to read; empty = all that fit
    # task -> lowest and highest possible label; the task's own range where there is none
    ranges: dict[str, tuple[float, float]] = {}
    options: dict[str, Any] = {}  # what only its format knows
    # name of the corpus whose words are probed by this one, which no suite names; empty for all others
    probes_of: str = ""
    listener: str = ""  # name of the only model that is tested on it; empty = all
    groups: tuple[GroupColumn, ...] = ()  # columns whose groups are compared: its own, or those of the suite
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, likewise
    # column -> the group that its other groups are compared with, ``"others"`` = all other groups, as the
    # corpus says or else the suite
    against: dict[str, str] = {}
    benchmark: Benchmark | None = None  # the published benchmark that it is; ``None`` = none

    @property
    def grouped(self) -> list[str]:
        """Columns of the data whose values, or products of them, are groups."""
        return list(dict.fromkeys(column for group in self.groups for column in group.columns))

    @property
    def number_ranges(self) -> dict[str, tuple[NumberRange, ...]]:
        """Ranges that columns of numbers are cut into."""
        return {name: ranges for group in self.groups for name, ranges in group.ranges.items()}

    @property
    def further_columns(self) -> list[str]:
        """Columns of the data that it needs beside reserved ones and tasks: blocks, groups, adjustments."""
        return list(dict.fromkeys([*self.blocks, *self.grouped, *self.adjust]))

    def is_for(self, family: str) -> bool:
        """Say whether a family looks at the corpus."""
        return not self.families or family in self.families


class CorpusFormat:
    """A format of corpora."""

    keyword: ClassVar[str] = ""  # what stands behind ``format:`` in suite.yml
    # what a corpus of this format may say. Keys with the name of an attribute of
    # :class:`CorpusEntry` become that, all others are more in its ``options``. A
    # key ``path`` must be given; other files and folders may be left out.
    keys: ClassVar[type[CorpusKeys]] = CorpusKeys
    # place of the function that :meth:`read` calls, ``"module:function"``; imported when it is called
    reader: ClassVar[str] = ""
    # fixed words of the format: our column -> its word -> ours. ``values:`` of a suite comes first.
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    @classmethod
    def problems(cls, keys: CorpusKeys) -> Iterator[tuple[str, str, str]]:
        """Say what is wrong although each key by itself is fine: key, what, and remedy; here nothing."""
        yield from ()

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Add what the format says about its corpora; here nothing."""
        return entry

    @classmethod
    def make(cls, entry: CorpusEntry, cache: Path, *, jobs: int, progress: bool) -> CorpusEntry:
        """Make or fetch the corpus before it is read; here nothing.

        - ``cache``: folder that keeps what is made.
        - ``jobs, progress``: processes; whether to show progress bars.
        - Returns the entry, with the places of what was made.
        """
        return entry

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> Any:
        """Read the table of segments; audio is looked at later. A format has its own, or a :attr:`reader`.

        - ``entry``: the suite's entry, as :meth:`make` returned it.
        - ``tasks``: tasks of the suite by name.
        - Returns text under our column names; it is checked afterwards.
        - Raises InputError: if it cannot be read; holds all problems.
        """
        return pkgutil.resolve_name(cls.reader)(entry, tasks)


class TableFormat(CorpusFormat):
    """A format of tables of segments, which may bring trials of their recordings."""

    keys: ClassVar[type[CorpusKeys]] = TableKeys

    @classmethod
    def problems(cls, keys: TableKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse enrolments without trials."""
        if keys.enrolments and not keys.trials:
            yield "enrolments", "there is no list of trials that the enrolments are for", "Add trials: file"
        if keys.layout and not keys.trials:
            yield "layout", "there is no list of trials", "Add trials: file"


CORPUS_FORMATS = Registry(CorpusFormat, "soundcheck.corpora.formats", "soundcheck.formats")


def read_corpus(
    reader: schema.EntryReader, name: str, value: object, shared: Mapping[str, object]
) -> CorpusEntry | None:
    """Read a corpus; ``shared`` are groups and adjustments of the suite."""
    path = ("corpora", name)
    form = _read_format(reader, (*path, "format"), value)
    chosen = form or CorpusFormat
    keys = reader.read_keys(path, value, chosen, CORPUS_FORMATS, "format", needed=("format",))
    if keys is None or form is None:
        return None
    # By its own word a class of another package may be registered under a second one.
    more = {**shared, "name": name, "format": str(value["format"]), "title": keys.title or name}
    more["ranges"] = reader.read_ranges((*path, "range"), value.get("range"), reader.tasks.values())
    more["benchmark"] = mark = reader.check((*path, "benchmark"), value.get("benchmark"), Benchmark)
    if mark and mark.task and mark.task not in reader.tasks:
        what = f"unknown task {quoted(mark.task)}"
        reader.note((*path, "benchmark", "task"), what, did_you_mean(mark.task, reader.tasks))
    if "groups" in value:
        place = (*path, "groups")
        more["groups"], against = read_groups(reader, place, value["groups"], shared["groups"])
        more["against"] = shared["against"] | against
    if "adjust" in value:
        more["adjust"] = read_adjust(reader, value["adjust"], path)
    for key, place in places(type(keys)).items():
        text = getattr(keys, key) or ""
        needed = text or key == "path"
        more[key] = reader.read_path((*path, key), text, folder=place.folder) if needed else None
        more |= {f"shown_{key}": text} if hasattr(CorpusEntry, f"shown_{key}") else {}
    entry = schema.entry(CorpusEntry, keys, **more)
    _check_columns(reader, path, entry)
    reader.known_names((*path, "families"), keys.families, reader.families, "family")
    for key, item in sorted(vars(keys).items()):
        if isinstance(item, tuple) and key != "families":
            reader.check_repeated((*path, key), item)
    for key, what, remedy in form.problems(keys):
        reader.note((*path, key), what, remedy)
    return form.complete(entry)


def _check_columns(reader: schema.EntryReader, path: tuple, entry: CorpusEntry) -> None:
    """Note columns that a corpus renames or translates and that nothing needs."""
    known = [*RESERVED_COLUMNS, *reader.tasks, *entry.further_columns]
    durations = [] if entry.audio else ["duration"]  # sounds tell how long they are
    for key, also, order in (("columns", durations, "ours: theirs"), ("values", [], "ours")):
        allowed = [*known, *also]
        for column in [column for column in getattr(entry, key) if column not in allowed]:
            remedy = did_you_mean(column, allowed)
            if not nearest(column, allowed):
                remedy = f"To compare groups by it, add `groups: [{column}]`. {remedy}"
            reader.note((*path, key, column), f"unknown column; {order}", remedy)


def _read_format(reader: schema.EntryReader, path: tuple, value: object) -> type[CorpusFormat] | None:
    """Find the format of a corpus; that it is missing is noted with the other keys."""
    if not isinstance(value, dict) or "format" not in value:
        return None
    name = value["format"]
    if isinstance(name, str) and name in CORPUS_FORMATS:
        return CORPUS_FORMATS[name]
    remedy = f"{did_you_mean(str(name), CORPUS_FORMATS)}. Other packages may bring more"
    reader.note(path, f"{schema.display(name)} is not known here", remedy)
    return None
