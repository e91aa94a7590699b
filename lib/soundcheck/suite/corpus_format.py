"""What a format of corpora is: its keys in suite.yml, and how its corpora are read.

Formats are the classes in the modules of :mod:`soundcheck.corpora.formats`, and those that installed packages
register as entry points of the group ``soundcheck.formats``. Modules with formats should import what is heavy
inside of methods: every suite that is read imports them.
"""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from soundcheck.common.registry import Registry
from soundcheck.common.tasks import Task
from soundcheck.suite import schema

if TYPE_CHECKING:
    from soundcheck.suite.entries import CorpusEntry

RESERVED_COLUMNS = (  # of segment tables
    *("file", "start", "end", "speaker", "sex", "language", "accent", "sentiment"),
    *("transcript", "transcript_written", "condition", "item", "split", "channel"),
)
TRIAL_LAYOUTS = ("voxceleb", "kaldi", "nist", "table")


@dataclasses.dataclass(frozen=True)
class Place:
    """Marks a key that names a file or a folder: relative to suite.yml, and it must exist."""

    folder: bool | None  # None = either


File = Annotated[schema.Text, Place(folder=False)]
Folder = Annotated[schema.Text, Place(folder=True)]
FileOrFolder = Annotated[schema.Text, Place(folder=None)]


def places(keys: type[schema.Section]) -> dict[str, Place]:
    """List the keys that name files or folders."""
    marked = ((key, mark) for key, field in keys.model_fields.items() for mark in field.metadata)
    return {key: mark for key, mark in marked if isinstance(mark, Place)}


class CorpusKeys(schema.Section):
    """Keys of every corpus."""

    format: Any
    title: schema.Title = ""
    description: schema.Prose = ""
    families: schema.Texts = []
    base_condition: schema.Text = ""
    groups: Any = None  # read by soundcheck.suite.groups
    adjust: Any = None
    benchmark: Any = None  # read by soundcheck.suite.card


class TableKeys(CorpusKeys):
    """Keys of corpora that are tables of segments; what they say is done by ``corpora/table_keys.py``."""

    path: File = ""
    root: Folder = ""
    cut: schema.Text = ""
    audio: schema.Boolean = True
    columns: dict[str, schema.Text] = {}
    values: dict[str, dict[str, schema.TextOrNothing]] = {}
    unknown: schema.Texts | None = None
    split: schema.Names | None = None
    blocks: schema.Names = ["speaker"]
    range: Any = None  # the tasks of the suite tell what is allowed
    synthetic: schema.Boolean = False
    trials: File = ""
    enrolments: File = ""
    layout: schema.choice(*TRIAL_LAYOUTS) = ""


class CorpusFormat:
    """A format of corpora."""

    keyword: ClassVar[str] = ""  # what stands behind ``format:`` in suite.yml
    # what a corpus of this format may say. Keys with the name of an attribute of
    # :class:`soundcheck.suite.entries.CorpusEntry` become that, all others are found in its ``options``. A
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
