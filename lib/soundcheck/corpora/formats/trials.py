"""``format: trials``: a list of trials and nothing else; its files are those that the list names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import TRIAL_LAYOUTS, CorpusFormat, CorpusKeys, File, Folder
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class TrialKeys(CorpusKeys):
    """Keys of a list of trials."""

    path: File = ""
    root: Folder = ""
    audio: schema.Boolean = True
    enrolments: File = ""
    layout: schema.choice(*TRIAL_LAYOUTS) = ""
    synthetic: schema.Boolean = False


class TrialFormat(CorpusFormat):
    """Lists of trials; see :mod:`soundcheck.corpora.trials.trial_corpus`."""

    keyword = "trials"
    keys = TrialKeys

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Say that the corpus is its own list of trials."""
        return dataclasses.replace(entry, trials=entry.path, shown_trials=entry.shown_path)

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """List the files of the trials with their speakers."""
        from soundcheck.corpora.trials.trial_corpus import read_trial_corpus

        return read_trial_corpus(entry)
