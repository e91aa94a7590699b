"""A corpus ready to be evaluated: segments, perhaps trials, and what a reader must know of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd

from soundcheck.common.errors import Caveat
from soundcheck.corpora.inspection import SoundFormat
from soundcheck.corpora.raw_table import Excluded
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.suite.entries import CorpusEntry


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A corpus ready to be evaluated."""

    name: str
    entry: CorpusEntry  # what the suite says about it
    root: Path  # folder that files are relative to; never shown
    # RangeIndex, sorted by file, start, end. Columns: ``file``, ``start``, ``end`` (seconds, NaN = bound of
    # the file), ``duration`` (seconds), ``audio`` (digest of the sound), ``key`` (unique text), reserved text
    # columns that the source has (``None`` = missing), one column a labelled task; ``category`` holds what
    # stands in the column emotion, classes of the task or not.
    segments: pd.DataFrame
    left_out: tuple[Excluded, ...]  # what is not evaluated
    notices: tuple[str, ...]  # what a reader of results must know
    synthetic: bool  # whether the speech is synthetic
    description: str  # text for the corpus page
    trials: TrialTable | None = None  # trials between its segments, if it brings a list of them
    # how many segments have labels that mean nothing to any test, in sentences
    unlabelled: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # columns of the segment table whose values are groups that the suite names
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, words or numbers
    offered: tuple[str, ...] = ()  # names of all columns of the source
    # how the sounds of its segments are stored, the most frequent format first; empty without audio
    formats: tuple[SoundFormat, ...] = ()
    # rows of the table that belong to splits which are not evaluated, without ``duration`` and ``audio``:
    # nobody has opened their files
    elsewhere: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)
    caveats: tuple[Caveat, ...] = ()  # what makes numbers of this corpus doubtful
