"""``format: trials``: a list of trials and nothing else; its files are those that the list names.

A list does not say who speaks. The first folder of the names does, if that fits all labels; otherwise
recordings that the list calls the same speaker belong together.
"""

from __future__ import annotations

import dataclasses

from soundcheck.suite import schema
from soundcheck.suite.corpus_format import TRIAL_LAYOUTS, CorpusFormat, CorpusKeys, File, Folder
from soundcheck.suite.entries import CorpusEntry


class TrialKeys(CorpusKeys):
    """Keys of a list of trials."""

    path: File = ""
    root: Folder = ""
    audio: schema.Boolean = True
    enrolments: File = ""
    layout: schema.choice(*TRIAL_LAYOUTS) = ""
    synthetic: schema.Boolean = False


class TrialFormat(CorpusFormat):
    """Lists of trials."""

    keyword = "trials"
    reader = "soundcheck.corpora.trials.speakers:read_trial_corpus"
    keys = TrialKeys

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Say that the corpus is its own list of trials."""
        return dataclasses.replace(entry, trials=entry.path, shown_trials=entry.shown_path)
