"""What the run tells the notebooks about models: written by the runner, read by ``load``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from soundcheck.common.media import Description
from soundcheck.common.tasks import Task
from soundcheck.suite.entries import LEFT_OUT
from soundcheck.suite.measures import Margin
from soundcheck.suite.own_rules import OwnTest


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusDescription:
    """A corpus and where the predictions of one model for it are."""

    name: str  # name in the suite, and its title for people
    title: str
    synthetic: bool = False  # whether the speech is synthetic
    root: Path  # folder of the corpus, for listening; never shown
    # columns whose values are resampled together; the file where there are no such columns
    blocks: tuple[str, ...]
    base_condition: str = ""  # condition that others are compared with; empty = the most frequent one
    probes_of: str = ""  # name of the corpus whose words this one probes; empty for all others
    segments: Path  # parquet files: the segment table and the predictions
    predictions: Path
    trials: Path | None = None  # parquet file of the trials of a family; ``None`` if it compares none
    audio: bool = True  # whether there is anything to hear
    groups: tuple[str, ...] = ()  # columns of the segment table whose values are groups that the suite names
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, words or numbers
    # task -> ends of the scale of its labels, where the suite says that it is another one than the task's
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    # column -> the group that its other groups are compared with; ``"others"``, also where it is not
    # named, = all other groups
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    # how an input that the model was asked and gave no answer for counts: ``"error"`` or ``"left out"``
    missing: str = LEFT_OUT


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelDescription(Description):
    """What all notebooks about models are given."""

    tasks: tuple[Task, ...]  # tasks of the model, or of both, that are looked at
    seed: int
    replicates: int
    interval: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationDescription(ModelDescription):
    """One model and one family, for :class:`soundcheck.evaluation.Evaluation`."""

    model: str  # their names
    family: str
    suite_root: Path  # folder of the suite, which may hold threshold files of its own families
    sounds: Path  # file that lists the noises and impulse responses
    # corpora that the family looks at, with the predictions of the model
    corpora: tuple[CorpusDescription, ...]
    # other models that predict the same -> the corpora with their predictions, if the family compares
    # them
    others: dict[str, tuple[CorpusDescription, ...]] = dataclasses.field(default_factory=dict)
    thresholds: str
    margin: Margin
    balance_samples: int
    seconds: float  # time limit of a cell
    predicts_changes: bool = False  # whether the model can be asked about changed signals
    sweeps: bool = False
    normaliser: str
    transformed_segments: int | None = None
    segments_per_change: int | None = None
    levels: int | None = None
    transformations: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    # test -> what the suite changes about it
    tests: dict[str, OwnTest] = dataclasses.field(default_factory=dict)
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    guesses: bool = False  # whether the model answers at random and hears nothing
    # codes of the languages that the model knows, if the suite says so and the family needs it
    languages: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonDescription(ModelDescription):
    """Two models, for :class:`soundcheck.evaluation.Comparison`."""

    comparison: str  # its name in the suite
    baseline: str  # names of the models; of two runs with the run that they are from
    candidate: str
    titles: dict[str, str]  # family -> its title
    # each corpus twice, with the predictions of the baseline and of the candidate
    corpora: tuple[tuple[CorpusDescription, CorpusDescription], ...]
    # files with the rows of the baseline and of the candidate, a pair a family
    pairs: tuple[tuple[Path, Path], ...]
    normaliser: str
    # the same on the segments that both answered, of families that one of them answered more for
    common: tuple[tuple[Path, Path], ...] = ()
    # whether replicates on the same blocks were drawn with the same weights: not those of other seeds
    same_draws: bool = True
    unlike: tuple[str, ...] = ()  # tasks that were measured in other ways, and are not compared
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
