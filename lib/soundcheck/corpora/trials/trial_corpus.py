"""Reads a corpus that is nothing but a list of trials: its files are those that the list names.

A list does not say who speaks. The first folder of the names does, if that fits all labels; otherwise
recordings that the list calls the same speaker belong together.
"""

from __future__ import annotations

import pandas as pd

from soundcheck.common.errors import input_error
from soundcheck.corpora.segments import RawTable
from soundcheck.corpora.trials.infer_speakers import ContradictionError, infer_speakers
from soundcheck.corpora.trials.trial_files import read_enrolments, read_trials
from soundcheck.suite.entries import CorpusEntry


def read_trial_corpus(entry: CorpusEntry, _: object = None) -> RawTable:
    """List the files of a trial list with their speakers.

    - ``entry``: the suite's entry; ``path`` is the list, ``root`` the folder of the files.
    - Raises InputError: if the list or the enrolments cannot be read, or contradict themselves.
    """
    listed = read_trials(entry.path, entry.shown_path, entry.layout)
    enrolments = read_enrolments(entry.enrolments, entry.shown_enrolments) if entry.enrolments else {}
    # An enrolled speaker stands for the first utterance; the others are of the same speaker.
    first = listed.frame["enrol"].map(lambda name: enrolments.get(name, [name])[0])
    test = listed.frame["test"]
    own = [(names[0], name) for names in enrolments.values() for name in names[1:]]
    try:
        speakers, how = infer_speakers(first, test, listed.frame["target"], own)
    except ContradictionError as error:
        remedy = "Correct the label, or give a CSV corpus with a column speaker and the list as `trials:`"
        raise input_error(listed.where(test.index[error.trial]), str(error), remedy) from error
    enrolled = [name for names in enrolments.values() for name in names]
    mentions = pd.concat([first, test]).sort_index(kind="stable").drop_duplicates()  # line by line
    where = {name: listed.where(line) for line, name in mentions.items()}
    where |= {name: f"{entry.shown_enrolments}, utterance {name}" for name in enrolled}
    table = pd.DataFrame({"file": list(where), "speaker": [speakers[name] for name in where]}, dtype=object)
    root = entry.root or entry.path.parent
    return RawTable(table, list(where.values()), root, entry.shown_path, notices=(how,))
