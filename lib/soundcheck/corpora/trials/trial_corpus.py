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


def read_trial_corpus(entry: CorpusEntry) -> RawTable:
    """List the files of a trial list with their speakers.

    Parameters
    ----------
    entry
        The suite's entry; ``path`` is the list, ``root`` the folder of the files.

    Raises
    ------
    InputError
        If the list or the enrolments cannot be read, or contradict themselves.
    """
    listed = read_trials(entry.path, entry.shown_path)
    enrolments = read_enrolments(entry.enrolments, entry.shown_enrolments) if entry.enrolments else {}
    # An enrolled speaker stands for the first of her utterances; the others are hers, too.
    first = [enrolments.get(name, [name])[0] for name in listed.enrol]
    own = [(names[0], name) for names in enrolments.values() for name in names[1:]]
    both = [*zip(first, listed.test, strict=True), *own]
    target = [*listed.target.tolist(), *[True] * len(own)]
    try:
        speakers, how = infer_speakers(*zip(*both, strict=True), target)
    except ContradictionError as error:
        remedy = "Correct the label, or give a CSV corpus with a column speaker and the list as `trials:`"
        where = listed.where(error.trial) if error.trial < len(listed) else entry.shown_enrolments
        raise input_error(where, str(error), remedy) from error
    names = list(dict.fromkeys(name for pair in both for name in pair))
    places = dict.fromkeys(name for utterances in enrolments.values() for name in utterances)
    where = {name: f"{entry.shown_enrolments}, utterance {name}" for name in places}
    for number, pair in enumerate(zip(listed.enrol, listed.test, strict=True)):
        for name in pair:
            where.setdefault(name, listed.where(number))
    table = pd.DataFrame({"file": names, "speaker": [speakers[name] for name in names]}, dtype=object)
    root = entry.root or entry.path.parent
    return RawTable(table, [where[name] for name in names], root, entry.shown_path, notices=(how,))
