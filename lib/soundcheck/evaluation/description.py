"""What the run tells the notebooks about models: written by the runner, read by ``load``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from soundcheck.common.description import Description
from soundcheck.common.tasks import Task
from soundcheck.suite.entries import LEFT_OUT
from soundcheck.suite.margins import Margin
from soundcheck.suite.own_rules import OwnTest


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusDescription:
    """A corpus and where the predictions of one model for it are.

    Parameters
    ----------
    name, title, synthetic, blocks, base_condition, probes_of, root, audio, groups, adjust, ranges
        See :class:`soundcheck.evaluation.corpus_view.CorpusView`.
    against, missing
        See :class:`soundcheck.evaluation.corpus_view.CorpusView`.
    segments, predictions
        Parquet files: the segment table and the predictions.
    trials
        Parquet file of the trials of a family; ``None`` if it compares none.
    """

    name: str
    title: str
    synthetic: bool
    blocks: tuple[str, ...]
    base_condition: str
    probes_of: str
    root: Path
    audio: bool
    segments: Path
    predictions: Path
    trials: Path | None
    groups: tuple[str, ...] = ()
    adjust: tuple[str, ...] = ()
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    missing: str = LEFT_OUT


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelDescription(Description):
    """What all notebooks about models are told.

    Parameters
    ----------
    tasks
        Tasks of the model, or of both, that are looked at.
    seed, replicates, interval
        See :class:`soundcheck.suite.entries.Suite`.
    """

    tasks: tuple[Task, ...]
    seed: int
    replicates: int
    interval: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationDescription(ModelDescription):
    """One model and one family, for :class:`soundcheck.evaluation.Evaluation`.

    Parameters
    ----------
    model, family
        Their names.
    suite_root
        Folder of the suite, which may hold threshold files of its own families.
    sounds
        File that lists the noises and impulse responses.
    corpora
        Corpora that the family looks at, with the predictions of the model.
    others
        Other models that predict the same -> the corpora with their predictions, if the family compares them.
    thresholds, margin, balance_samples, sweeps, normaliser, alternatives, synonyms, entities
        See :class:`soundcheck.suite.entries.Suite`.
    transformed_segments, segments_per_change, levels, transformations
        See :class:`soundcheck.suite.entries.Suite`.
    seconds
        Time limit of a cell.
    predicts_changes
        Whether the model can be asked about changed signals.
    tests
        Test -> what the suite changes about it.
    guesses
        Whether the model answers at random and hears nothing.
    languages
        Codes of the languages that the model knows, if the suite says so and the family needs it.
    """

    model: str
    family: str
    suite_root: Path
    sounds: Path
    corpora: tuple[CorpusDescription, ...]
    others: dict[str, tuple[CorpusDescription, ...]]
    thresholds: str
    margin: Margin
    balance_samples: int
    seconds: float
    predicts_changes: bool
    sweeps: bool
    normaliser: str
    transformed_segments: int | None
    segments_per_change: int | None = None
    levels: int | None = None
    transformations: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    tests: dict[str, OwnTest] = dataclasses.field(default_factory=dict)
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    guesses: bool = False
    languages: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonDescription(ModelDescription):
    """Two models, for :class:`soundcheck.evaluation.Comparison`.

    Parameters
    ----------
    comparison
        Its name in the suite.
    baseline, candidate
        Names of the models; of two runs with the run that they are from.
    titles
        Family -> its title.
    corpora
        Each corpus twice, with the predictions of the baseline and of the candidate.
    pairs
        Files with the rows of the baseline and of the candidate, a pair a family.
    common
        The same on the segments that both answered, of families that one of them answered more for.
    same_draws
        Whether replicates on the same blocks were drawn with the same weights: not those of other seeds.
    unlike
        Tasks that are not compared, because the models were measured in other ways.
    normaliser, alternatives, synonyms
        See :class:`soundcheck.suite.entries.Suite`.
    """

    comparison: str
    baseline: str
    candidate: str
    titles: dict[str, str]
    corpora: tuple[tuple[CorpusDescription, CorpusDescription], ...]
    pairs: tuple[tuple[Path, Path], ...]
    normaliser: str
    common: tuple[tuple[Path, Path], ...] = ()
    same_draws: bool = True
    unlike: tuple[str, ...] = ()
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
