"""A corpus ready to be evaluated: segments, perhaps trials, and what a reader must know of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd

from soundcheck.common.caveats import Caveat
from soundcheck.corpora.segments import Excluded
from soundcheck.corpora.sound_formats import SoundFormat
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.suite.entries import CorpusEntry


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A corpus ready to be evaluated.

    Parameters
    ----------
    name
        Name in the suite.
    entry
        What the suite says about it.
    root
        Folder that files are relative to; never shown.
    segments
        RangeIndex, sorted by file, start, end. Columns: ``file``, ``start``, ``end`` (seconds, NaN = bound of
        the file), ``duration`` (seconds), ``audio`` (digest of the sound), ``key`` (unique text), reserved
        text columns that the source has (``None`` = missing), one column a labelled task; ``category`` holds
        what stands in the column emotion, classes of the task or not.
    left_out, notices
        What is not evaluated, and what a reader of results must know.
    synthetic
        Whether the speech is synthetic.
    description
        Text for the corpus page.
    trials
        Trials between its segments, if it brings a list of them.
    unlabelled
        How many segments have labels that mean nothing to any test, in sentences.
    groups
        Columns of the segment table whose values are groups that the suite names.
    adjust
        Columns by which differences between groups are adjusted, words or numbers.
    offered
        Names of all columns of the source.
    formats
        How the sounds of its segments are stored, the most frequent format first; empty without audio.
    elsewhere
        Rows of the table that belong to splits which are not evaluated, without ``duration`` and ``audio``:
        nobody has opened their files.
    caveats
        What makes numbers of this corpus doubtful.
    """

    name: str
    entry: CorpusEntry
    root: Path
    segments: pd.DataFrame
    left_out: tuple[Excluded, ...]
    notices: tuple[str, ...]
    synthetic: bool
    description: str
    trials: TrialTable | None = None
    unlabelled: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    adjust: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    formats: tuple[SoundFormat, ...] = ()
    elsewhere: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)
    caveats: tuple[Caveat, ...] = ()
