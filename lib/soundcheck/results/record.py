"""The record of a run, ``run.json``: what was tested, with which versions, seeds and data.

Everything that pages say about models and corpora comes from here. It holds no absolute paths, no user, host
or time, so that the same suite on the same data gives the same record, but for one thing: of which days the
answers are that were kept, and how many were asked anew.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from soundcheck.common import files
from soundcheck.common.messages import Caveat, input_error, some
from soundcheck.common.store import JsonFile
from soundcheck.common.tasks import KINDS
from soundcheck.corpora.labels import LABEL
from soundcheck.corpora.raw_table import Excluded
from soundcheck.statistics.bootstrap import block_name
from soundcheck.suite.corpus_format import Benchmark
from soundcheck.suite.entries import Card
from soundcheck.suite.families import AcceptedFailure, OwnTest

PROVENANCE = "provenance.json"
_FILES = 5  # that a fingerprint names
_Name = Annotated[str, StringConstraints(pattern="")]  # can be encoded: without lone surrogates


@dataclasses.dataclass(frozen=True, kw_only=True)
class FamilyRecord:
    """A family that was tested; see :class:`soundcheck.suite.families.Family`."""

    name: str
    title: str
    category: str
    question: str
    digest: str
    headline: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class FailedInput:
    """A segment that a model gave no answer for; ``change`` is empty for the clean signal."""

    corpus: str
    item: str
    change: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """A model: what the suite says about it, and what became of its inputs.

    Undocumented fields: see :class:`soundcheck.suite.entries.ModelEntry` and
    :class:`soundcheck.predict.report.PredictionReport`.
    """

    name: str
    slug: str  # its name as part of file names
    kind: str
    target: str  # of absolute paths only the last name
    tasks: tuple[str, ...]
    description: str
    license: str
    fingerprint: str
    inputs: int
    failed: int
    unusable: int
    notes: tuple[str, ...]  # what is not as it should be, in sentences
    failures: tuple[FailedInput, ...]
    repeated: int
    repeated_different: int
    out_of_range: int
    unknown_classes: dict[str, int]
    answers_of: str = ""
    digests: dict[str, str] = dataclasses.field(default_factory=dict)  # corpus -> of the prediction table
    asked: int = 0
    days: dict[str, int] = dataclasses.field(default_factory=dict)
    # opened file -> digest of its content
    seen_files: dict[str, str] = dataclasses.field(default_factory=dict)
    code: str = ""
    confirmed: int = 0  # inputs asked again before their kept answers were used
    confirmed_different: int = 0
    card: Card = Card()

    @property
    def page(self) -> str:
        """Name of its page in the book, without extension, as links and files have it."""
        return f"models/{self.slug}"

    @property
    def sheet(self) -> str:
        """Name of its one-page summary."""
        return f"sheets/{self.slug}"

    @property
    def fingerprint_of(self) -> str:
        """What the fingerprint covers."""
        names = [name for name, digest in self.seen_files.items() if digest]
        return f"code, options and content of {some(names, _FILES)}" if names else "code and options"

    @property
    def origin(self) -> str:
        """Say how many answers are kept, from which days, and how many are new; empty if nobody listens."""
        cached = sum(self.days.values())
        if not cached:
            return f"{self.asked:,} computed now, none from the cache" if self.asked else ""
        return f"{cached:,} from the cache of {_when(self.days)}, {self.asked:,} computed now"

    def answered(self, today: datetime.date) -> dict[str, int]:
        """Count the answers of each day, as ISO 8601; those that this run did not find are of today."""
        if not (self.asked or self.days):
            return {}  # nobody listens
        new = self.inputs - self.failed - self.unusable - sum(self.days.values())
        return self.days | ({str(today): new + self.days.get(str(today), 0)} if new > 0 else {})

    def given(self, today: datetime.date) -> str:
        """Say when the answers were given; the next run that finds all of them says the same."""
        days = self.answered(today)
        return f"{sum(days.values()):,} given on {_when(days)}" if days else ""


def _when(days: Mapping[str, int]) -> str:
    return " to ".join(dict.fromkeys((min(days), max(days))))


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusRecord:
    """A corpus; undocumented fields: see :class:`soundcheck.corpora.load.Corpus`."""

    name: str
    slug: str  # its name as part of file names
    format: str
    title: str
    description: str
    synthetic: bool
    segments: int
    speakers: int  # 0 if they are not known
    seconds: float  # of all segments together
    left_out: tuple[Excluded, ...]
    notices: tuple[str, ...]
    digest: str  # of all sounds
    unlabelled: tuple[str, ...] = ()
    benchmark: Benchmark | None = None  # the published one that it is, if the suite says so

    @property
    def page(self) -> str:
        """Name of its page in the book."""
        return f"corpora/{self.slug}"

    @property
    def unused(self) -> list[Excluded]:
        """What is left out altogether; segments of labels that are only listed stay."""
        return [item for item in self.left_out if item.stage != LABEL]


@dataclasses.dataclass(frozen=True)
class ExcludedSound:
    """A sound that is not used, and why."""

    item: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoundsRecord:
    """All sounds of a kind; see :class:`soundcheck.augment.sounds.SoundSet`."""

    kind: str
    source: str
    synthetic: bool
    sounds: int
    seconds: float
    left_out: tuple[ExcludedSound, ...]
    digest: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeyFigure:
    """One number that says how good a model is at a task, on a corpus that has labels for it."""

    model: _Name
    corpus: _Name
    task: _Name
    # "concordance", "unweighted average recall", "word error rate", "character error rate" (of scripts
    # without blanks between words), "mixed error rate" (of both), "equal error rate", "false acceptance rate"
    # or "false rejection rate"
    measure: _Name
    value: float | None
    low: float | None  # its 95 % interval for new speakers
    high: float | None
    segments: int  # trials if the task is verification
    blocks: int
    guessing: float | None  # what guessing scores on these segments; None of rates that a threshold can trade
    standing: str  # see results.states; empty of rates that do not decide it
    threshold: float | None = None  # score above which a trial is accepted, of rates that depend on it
    reason: str = ""  # why there is no value or no interval
    block: str = "speaker"  # what a block is: "speaker", "file" or "block"
    low_sample: float | None = None  # its 95 % interval for these speakers
    high_sample: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Executed:
    """How a notebook ended."""

    status: str  # "ok", "failed" or "timeout"
    error: str
    _NAMED: ClassVar[str] = "{name}"
    _PAGE: ClassVar[str] = "{name}"

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end."""
        return self.status != "ok"

    @property
    def display_name(self) -> str:
        """What it is called in messages and on pages."""
        return self._NAMED.format(**vars(self))

    @property
    def page(self) -> str:
        """Name of its page in the book."""
        return self._PAGE.format(**vars(self))


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotebookRecord(Executed):
    """The notebook of a model and family."""

    model: str
    family: str
    _NAMED: ClassVar[str] = "{family} of {model}"

    @property
    def page(self) -> str:
        """Name of its page in the book."""
        return result_page(self.model, self.family)


def result_page(model: str, family: str) -> str:
    """Name the page of a model and family."""
    return f"results/{files.slug(model)}/{files.slug(family)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonRecord(Executed):
    """The notebook of a comparison, and what it found."""

    name: str
    slug: str
    baseline: str
    candidate: str
    outcomes: dict[str, int]  # tests by what came of them for new speakers
    outcomes_sample: dict[str, int] = dataclasses.field(default_factory=dict)  # for these
    headlines: tuple[str, ...] = ()  # sentences
    _NAMED: ClassVar[str] = "comparison {name}"
    _PAGE: ClassVar[str] = "comparisons/{slug}"

    @property
    def sheet(self) -> str:
        """Name of its one-page summary."""
        return f"sheets/comparisons/{self.slug}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyRecord(Executed):
    """A notebook that depends on no model and no corpus."""

    name: str


class _Task(TypedDict):
    kind: Literal[KINDS]
    classes: Sequence[str]
    low: float
    high: float


class _Model(TypedDict, total=False):
    tasks: Sequence[str]


class _Corpus(TypedDict, total=False):
    blocks: str | Sequence[str]
    split: str | Sequence[str] | None
    base_condition: str


class _Suite(TypedDict, total=False):
    """What is read of the suite in a record; versions may add to it."""

    title: str
    source: str  # name of the file
    digest: str
    normaliser: str
    alternatives: bool
    synonyms: Sequence[tuple[str, str]]
    tasks: dict[str, _Task]
    models: dict[str, _Model]
    corpora: dict[str, _Corpus]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MadeOf(JsonFile):
    """What the record of a run and the provenance of its book have in common."""

    title: str
    run: str  # its name: the first 12 digits of ``results``
    results: str  # digest of results.csv
    seed: int
    replicates: int
    interval: str
    versions: dict[str, str]  # package -> its version
    library: str = ""  # digest of the code of Soundcheck
    verdicts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)  # model -> state -> tests
    voices: str = "all"  # what the command line said comes first


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRecord(MadeOf):
    """The record of a run; for fields of the suite see :class:`soundcheck.suite.entries.Suite`."""

    __pydantic_config__ = {"extra": "ignore"}  # a later version may have added something

    version: str  # of Soundcheck
    suite: dict[str, Any]  # the whole suite in plain values
    order: tuple[str, ...]  # names of the models in the order of the suite
    families: tuple[FamilyRecord, ...]
    models: tuple[ModelRecord, ...]
    corpora: tuple[CorpusRecord, ...]
    sounds: tuple[SoundsRecord, ...]
    notebooks: tuple[NotebookRecord, ...]
    comparisons: tuple[ComparisonRecord, ...]
    studies: tuple[StudyRecord, ...]
    figures: tuple[KeyFigure, ...] | None = None  # None in records that older versions wrote
    accepted: tuple[AcceptedFailure, ...] = ()
    matters_worse: float = 0.01
    # Stage of the run -> how long it took; no page shows it, so that the same suite gives the same book.
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    book: bool = False  # whether html is the book of this run; it is not before the run has built it
    card: Card = Card()  # what the suite says about all of its models
    book_digest: str = ""  # SHA-256 of html/manifest.sha256, which names all files of the book with theirs
    caveats: tuple[Caveat, ...] = ()  # what makes numbers doubtful, shown wherever they are
    own_tests: dict[str, dict[str, OwnTest]] = dataclasses.field(default_factory=dict)  # family -> test

    def caveats_of(
        self, models: Collection[str], corpora: Collection[str], tasks: Collection[str]
    ) -> list[Caveat]:
        """Give the caveats of numbers of these models, corpora and tasks."""
        return [caveat for caveat in self.caveats if caveat.concerns(models, corpora, tasks)]

    def block_of(self, corpus: str) -> str:
        """Name what is resampled of a corpus, in the singular: ``speaker``, ``file`` or ``block``."""
        if self is NO_RECORD:
            return "block"
        columns = self.suite.get("corpora", {}).get(corpus, {}).get("blocks", "speaker")
        columns = (columns,) if isinstance(columns, str) else columns
        has_speakers = all(about.speakers for about in self.corpora if about.name == corpus)
        return block_name(columns, [name for name in columns if has_speakers or name != "speaker"])

    @property
    def references(self) -> set[str]:
        """Names of the random references."""
        return {model.name for model in self.models if model.kind == "random"}

    @property
    def failed(self) -> list[NotebookRecord | ComparisonRecord | StudyRecord]:
        """All notebooks that did not come to their end."""
        return [ended for ended in (*self.notebooks, *self.comparisons, *self.studies) if ended.failed]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a record, or refuse it with an ``InputError``."""
        try:
            record = super().read(path)
            if "shown" in record.suite:  # as versions before called it
                record.suite["source"] = record.suite.pop("shown")
            TypeAdapter(_Suite).validate_python(record.suite)
            return record
        except (OSError, ValueError) as error:
            reason: object = error
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
            what = f"the record of the run cannot be read ({reason})"
            raise input_error(path.name, what, "Run the suite again") from error


NO_RECORD = RunRecord(  # of a table alone
    **dict.fromkeys(("title", "run", "results", "interval", "version"), ""),
    **dict.fromkeys(("order", "families", "models", "corpora", "sounds"), ()),
    **dict.fromkeys(("notebooks", "comparisons", "studies"), ()),
    **dict.fromkeys(("versions", "suite"), MappingProxyType({})),
    **dict.fromkeys(("seed", "replicates"), 0),
)


@dataclasses.dataclass(frozen=True)
class Input:
    """A corpus, a model, sounds of a kind or a family of tests."""

    name: str
    digest: str  # of all its sounds, of its weights and code, or of its thresholds
    kind: str = ""  # format of the corpus, kind of the model
    size: int = 0  # segments, inputs of a model, sounds


@dataclasses.dataclass(frozen=True, kw_only=True)
class Provenance(MadeOf):
    """What a book was made of, ``provenance.json`` beside its pages: what their reader needs to check them.

    It is the part of the record that does not change from run to run.
    """

    suite: str  # its digest
    corpora: tuple[Input, ...]
    models: tuple[Input, ...]
    sounds: tuple[Input, ...]
    families: tuple[Input, ...]
    comparisons: tuple[tuple[str, str, dict[str, int]], ...]  # baseline, candidate, tests by outcome

    @classmethod
    def of(cls, record: RunRecord) -> Self:
        """Take it out of the record of a run."""
        return cls(
            **{field.name: getattr(record, field.name) for field in dataclasses.fields(MadeOf)},
            suite=record.suite["digest"],
            corpora=tuple(Input(one.name, one.digest, one.format, one.segments) for one in record.corpora),
            models=tuple(Input(one.name, one.fingerprint, one.kind, one.inputs) for one in record.models),
            sounds=tuple(Input(one.kind, one.digest, size=one.sounds) for one in record.sounds),
            families=tuple(Input(family.name, family.digest) for family in record.families),
            comparisons=tuple((pair.baseline, pair.candidate, pair.outcomes) for pair in record.comparisons),
        )
