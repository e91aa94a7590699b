"""The record of a run, ``run.json``: what was tested, with which versions, seeds and data.

Everything that pages say about models and corpora comes from here. It holds no absolute paths, no user, host
or time, so that the same suite on the same data gives the same record, but for one thing: of which days the
answers are that were kept, and how many were asked anew.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter, ValidationError

from soundcheck.common.caveats import Caveat
from soundcheck.common.errors import input_error
from soundcheck.common.json_file import JsonFile
from soundcheck.common.tasks import KINDS
from soundcheck.common.wording import some
from soundcheck.corpora.segments import LABEL, Excluded
from soundcheck.suite.card import Benchmark, Card
from soundcheck.suite.own_rules import AcceptedFailure, OwnTest

_FILES = 5  # that a fingerprint names


@dataclasses.dataclass(frozen=True, kw_only=True)
class FamilyRecord:
    """A family that was tested; see :class:`soundcheck.suite.families.Family`."""

    name: str
    title: str
    category: str
    question: str
    digest: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class FailedInput:
    """A segment that a model gave no answer for; ``change`` is empty for the clean signal."""

    corpus: str
    item: str
    change: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """A model: what the suite says about it, and what became of its inputs.

    Parameters
    ----------
    name, kind, target, tasks, description, license
        See :class:`soundcheck.suite.entries.ModelEntry`; of absolute paths only the last name.
    slug
        Its name as part of file names.
    fingerprint, code, inputs, failed, unusable, failures
        See :class:`soundcheck.predict.report.PredictionReport`.
    repeated, repeated_different, out_of_range, unknown_classes, answers_of
        See :class:`soundcheck.predict.report.PredictionReport`.
    notes
        What is not as it should be, in sentences.
    digests
        Corpus -> digest of the prediction table.
    asked, days, seen_files
        See :class:`soundcheck.predict.report.PredictionReport`.
    confirmed, confirmed_different
        Inputs that were asked again before their kept answers were used, and how many gave another answer.
    card
        What the suite says about this model for cards.
    """

    name: str
    slug: str
    kind: str
    target: str
    tasks: tuple[str, ...]
    description: str
    license: str
    fingerprint: str
    inputs: int
    failed: int
    unusable: int
    notes: tuple[str, ...]
    failures: tuple[FailedInput, ...]
    repeated: int
    repeated_different: int
    out_of_range: int
    unknown_classes: dict[str, int]
    answers_of: str = ""
    digests: dict[str, str] = dataclasses.field(default_factory=dict)
    asked: int = 0
    days: dict[str, int] = dataclasses.field(default_factory=dict)
    seen_files: dict[str, str] | tuple[str, ...] = ()  # names alone in records of older versions
    code: str = ""
    confirmed: int = 0
    confirmed_different: int = 0
    card: Card = Card()

    @property
    def opened(self) -> dict[str, str]:
        """Files that it opened -> digest of their content; older versions kept no digests."""
        return self.seen_files if isinstance(self.seen_files, dict) else dict.fromkeys(self.seen_files, "")

    @property
    def fingerprint_of(self) -> str:
        """Say what the fingerprint covers."""
        opened = [name for name, digest in self.opened.items() if digest]
        return f"code, options and content of {some(opened, _FILES)}" if opened else "code and options"

    @property
    def origin(self) -> str:
        """Say how many answers are kept, from which days, and how many are new; empty if nobody listens."""
        kept = sum(self.days.values())
        if not kept:
            return f"{self.asked:,} asked now, none kept from an earlier run" if self.asked else ""
        return f"{kept:,} kept from {_when(self.days)}, {self.asked:,} asked now"

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
    if len(days) == 1:
        return min(days)
    named = [f"{day} ({count:,})" for day, count in sorted(days.items())]
    return " and ".join(named) if len(days) < 3 else f"{min(days)} to {max(days)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusRecord:
    """A corpus.

    Parameters
    ----------
    name, format, title, description, synthetic, left_out, notices, unlabelled
        See :class:`soundcheck.corpora.corpus.Corpus`.
    slug
        Its name as part of file names.
    segments, speakers
        How many there are; 0 speakers if they are not known.
    seconds
        Length of all segments together.
    digest
        Of all sounds.
    benchmark
        The published benchmark that it is, if the suite says so.
    """

    name: str
    slug: str
    format: str
    title: str
    description: str
    synthetic: bool
    segments: int
    speakers: int
    seconds: float
    left_out: tuple[Excluded, ...]
    notices: tuple[str, ...]
    digest: str
    unlabelled: tuple[str, ...] = ()
    benchmark: Benchmark | None = None

    @property
    def unused(self) -> list[Excluded]:
        """What is left out altogether; segments of labels that are only listed stay."""
        return [item for item in self.left_out if item.stage != LABEL]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExcludedSound:
    """A sound that is not used, and why."""

    item: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoundsRecord:
    """All sounds of a kind; see :class:`soundcheck.sounds.sound.SoundSet`."""

    kind: str
    source: str
    synthetic: bool
    sounds: int
    seconds: float
    left_out: tuple[ExcludedSound, ...]
    digest: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeyFigure:
    """One number that says how good a model is at a task, on a corpus that has labels for it.

    Parameters
    ----------
    model, corpus, task
        What was measured on what.
    measure
        Its name: ``"concordance"``, ``"unweighted average recall"``, ``"word error rate"``,
        ``"character error rate"`` (of scripts without blanks between words), ``"mixed error rate"`` (of
        both), ``"equal error rate"``, ``"false acceptance rate"`` or ``"false rejection rate"``.
    value, low, high
        The value with its 95 % interval for new speakers; ``None`` where there is none.
    low_sample, high_sample
        Its 95 % interval for these speakers.
    segments, blocks
        What it rests on; trials in the place of segments if the task is verification.
    guessing
        What guessing scores on the same segments; ``None`` of rates that any threshold can trade.
    standing
        Whether the interval is better than guessing, see :mod:`soundcheck.results.standing`; ``""`` of rates
        that do not decide it.
    threshold
        Score above which a trial is accepted, of the rates that depend on it.
    reason
        Why there is no value or no interval; else ``""``.
    block
        What a block is, in the singular: ``"speaker"``, ``"file"`` or ``"block"``.
    """

    model: str
    corpus: str
    task: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    segments: int
    blocks: int
    guessing: float | None
    standing: str
    threshold: float | None = None
    reason: str = ""
    block: str = "speaker"
    low_sample: float | None = None
    high_sample: float | None = None


class Executed:
    """What all executed notebooks have: ``status`` is ``ok``, ``failed`` or ``timeout``."""

    status: str
    error: str

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end."""
        return self.status != "ok"


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotebookRecord(Executed):
    """How the notebook of a model and family ended."""

    model: str
    family: str
    status: str
    error: str

    @property
    def display_name(self) -> str:
        """What it is called in messages and on pages."""
        return f"{self.family} of {self.model}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonRecord(Executed):
    """How the notebook of a comparison ended; ``outcomes`` counts its tests by what came of them.

    ``outcomes`` are for new speakers, ``outcomes_sample`` for these; ``headlines`` are sentences.
    """

    name: str
    slug: str
    baseline: str
    candidate: str
    status: str
    error: str
    outcomes: dict[str, int]
    outcomes_sample: dict[str, int] = dataclasses.field(default_factory=dict)
    headlines: tuple[str, ...] = ()

    @property
    def display_name(self) -> str:
        """What it is called in messages and on pages."""
        return f"comparison {self.name}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyRecord(Executed):
    """How a notebook ended that depends on no model and no corpus."""

    name: str
    status: str
    error: str

    @property
    def display_name(self) -> str:
        """What it is called in messages and on pages."""
        return self.name


@dataclasses.dataclass(frozen=True, kw_only=True)
class _TaskOfSuite:
    kind: Literal[KINDS]
    classes: tuple[str, ...]
    low: float
    high: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class _ModelOfSuite:
    tasks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class _CorpusOfSuite:
    blocks: str | tuple[str, ...] = "speaker"
    split: str | None = None
    base_condition: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Suite:
    """What is read of the suite in a record; versions may add to it."""

    title: str = ""
    shown: str = ""
    digest: str = ""
    normaliser: str = ""
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
    tasks: dict[str, _TaskOfSuite] = dataclasses.field(default_factory=dict)
    models: dict[str, _ModelOfSuite] = dataclasses.field(default_factory=dict)
    corpora: dict[str, _CorpusOfSuite] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRecord(JsonFile):
    """The record of a run.

    Parameters
    ----------
    version
        Version of Soundcheck.
    title, seed, replicates, interval
        See :class:`soundcheck.suite.entries.Suite`.
    run
        Name of the run: the first 12 digits of ``results``.
    results
        Digest of ``results.csv``.
    suite
        The whole suite in plain values, see :meth:`soundcheck.suite.entries.Suite.describe`.
    order
        Names of the models in the order of the suite.
    families, models, corpora, sounds
        What was tested, and with which sounds.
    notebooks, comparisons, studies
        How the notebooks ended.
    versions
        Name of a package -> its version.
    figures
        How good the models are at their tasks; ``None`` in records that older versions wrote.
    accepted, matters_worse, voices
        See :class:`soundcheck.suite.entries.Suite`; of ``voices`` what the command line said comes first.
    seconds
        Stage of the run -> how long it took; no page shows it, so that the same suite gives the same book.
    book
        Whether ``html`` is the book of this run: it is when the run has built it, and not before.
    card
        What the suite says about all of its models for cards.
    book_digest
        SHA-256 digest of ``html/manifest.sha256``, which names all files of the book with theirs; ``""``
        without a book of this run.
    library
        Digest of the code of Soundcheck; ``""`` in records that older versions wrote.
    verdicts
        Model -> state of a test -> number of tests, see :class:`soundcheck.results.summary.Tally`; empty in
        records that older versions wrote.
    caveats
        What makes numbers doubtful: it stands wherever they do.
    own_tests
        Family -> test -> what the suite changes about it, hard bars among them.
    """

    version: str
    title: str
    run: str
    results: str
    seed: int
    replicates: int
    interval: str
    suite: dict[str, Any]
    order: tuple[str, ...]
    families: tuple[FamilyRecord, ...]
    models: tuple[ModelRecord, ...]
    corpora: tuple[CorpusRecord, ...]
    sounds: tuple[SoundsRecord, ...]
    notebooks: tuple[NotebookRecord, ...]
    comparisons: tuple[ComparisonRecord, ...]
    studies: tuple[StudyRecord, ...]
    versions: dict[str, str]
    figures: tuple[KeyFigure, ...] | None = None
    accepted: tuple[AcceptedFailure, ...] = ()
    matters_worse: float = 0.01
    voices: str = "all"
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    book: bool = False
    card: Card = Card()
    book_digest: str = ""
    library: str = ""
    verdicts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    caveats: tuple[Caveat, ...] = ()
    own_tests: dict[str, dict[str, OwnTest]] = dataclasses.field(default_factory=dict)

    def caveats_of(
        self, models: Collection[str], corpora: Collection[str], tasks: Collection[str]
    ) -> list[Caveat]:
        """Give the caveats of numbers of these models, corpora and tasks."""
        return [caveat for caveat in self.caveats if caveat.concerns(models, corpora, tasks)]

    def block_of(self, corpus: str) -> str:
        """Name what is resampled of a corpus, in the singular: ``speaker``, ``file`` or ``block``."""
        if self.suite.get("corpora", {}).get(corpus, {}).get("blocks", "speaker") != "speaker":
            return "block"
        without = any(each.name == corpus and not each.speakers for each in self.corpora)
        return "file" if without else "speaker"

    @property
    def failed(self) -> list[NotebookRecord | ComparisonRecord | StudyRecord]:
        """All notebooks that did not come to their end."""
        return [one for one in (*self.notebooks, *self.comparisons, *self.studies) if one.failed]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a record.

        Raises
        ------
        InputError
            If the file cannot be read or holds anything else.
        """
        try:
            record = super().read(path)
            TypeAdapter(_Suite).validate_python(record.suite)
            return record
        except (OSError, ValueError) as error:
            reason: object = error
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
            what = f"the record of the run cannot be read ({reason})"
            raise input_error(path.name, what, "Run the suite again") from error
