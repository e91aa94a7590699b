"""Who speaks, told from trials alone: for corpora without speakers, and those that are a list of trials."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.sparse is loaded when first used

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.corpora.raw_table import RawTable
from soundcheck.corpora.trials.trial_files import read_enrolments, read_trials
from soundcheck.suite.entries import CorpusEntry


class ContradictionError(ValueError):
    """Labels of trials that contradict each other; ``trial`` is the number of one of them."""

    def __init__(self, text: str, trial: int) -> None:
        super().__init__(text)
        self.trial = trial


def infer_speakers(
    enrol: Sequence[str],
    test: Sequence[str],
    target: Sequence[bool],
    together: Sequence[tuple[str, str]] = (),
) -> tuple[dict[str, str], str]:
    """Tell from trials alone who speaks: name -> speaker, and how they were found, a sentence for a notice.

    If the names have folders, the first one in which they differ is the speaker, as long as that fits all
    labels: the same folder in target trials, two in all others. Otherwise a speaker is what target trials
    connect, named like the first of it in the alphabet. Such speakers may be too many: nothing says that two
    recordings without target trial are of one person.

    - ``target``: whether one person speaks; ``together``: further pairs of names of one person each.
    - Raises ContradictionError: if a trial says two speakers, and target trials connect its sides.
    """
    enrol, test = [*enrol, *(one for one, _ in together)], [*test, *(other for _, other in together)]
    target = np.array([*target, *[True] * len(together)], dtype=bool)
    codes, names = pd.factorize(np.array([*enrol, *test], dtype=object))
    first, second = codes[: len(target)], codes[len(target) :]
    if folders := _folders(names.tolist()):
        numbers = pd.factorize(np.array(folders, dtype=object))[0]
        if np.array_equal(numbers[first] == numbers[second], target):
            how = "speakers are taken from the folders of the files, which fit all labels"
            return dict(zip(names, folders, strict=True)), f"{how}: {counted(len(set(folders)), 'speaker')}"
    edges = np.ones(int(target.sum()), dtype=np.int8), (first[target], second[target])
    graph = scipy.sparse.coo_array(edges, shape=(len(names), len(names)))
    count, group = scipy.sparse.csgraph.connected_components(graph, directed=False)
    against = np.flatnonzero(~target & (group[first] == group[second]))
    if len(against):
        trial = int(against[0])
        one, other = quoted(names[first[trial]]), quoted(names[second[trial]])
        text = f"a trial says that {one} and {other} are two speakers, other trials that they are one"
        if one == other:
            text = f"a trial compares {one} with itself and says two speakers"
        raise ContradictionError(text, trial)
    named = pd.Series(names).groupby(group).min()
    how = "speakers are inferred from the labels, files that target trials connect are one speaker"
    doubt = "if some are the same person, intervals are too narrow"
    speakers = dict(zip(names, named[group], strict=True))
    return speakers, f"{how}: {counted(count, 'speaker')}; {doubt}"


def _folders(names: Sequence[str]) -> list[str]:
    """Give the first folder of each name in which they differ; empty if not all have one."""
    paths = [name.split("/")[:-1] for name in names]
    common = len(os.path.commonprefix([min(paths, default=[]), max(paths, default=[])]))
    return [path[common] for path in paths] if all(len(path) > common for path in paths) else []


def read_trial_corpus(entry: CorpusEntry, _: object = None) -> RawTable:
    """List the files of a trial list with their speakers.

    Raises InputError: if the list or the enrolments cannot be read, or contradict themselves.
    """
    trials = read_trials(entry.path, entry.shown_path, entry.layout)
    enrolments = read_enrolments(entry.enrolments, entry.shown_enrolments) if entry.enrolments else {}
    # An enrolled speaker stands for the first utterance; the others are of the same speaker.
    first = trials.frame["enrol"].map(lambda name: enrolments.get(name, [name])[0])
    test = trials.frame["test"]
    together = [(names[0], name) for names in enrolments.values() for name in names[1:]]
    try:
        speakers, how = infer_speakers(first, test, trials.frame["target"], together)
    except ContradictionError as error:
        remedy = "Correct the label, or give a CSV corpus with a column speaker and the list as `trials:`"
        raise input_error(trials.where(test.index[error.trial]), str(error), remedy) from error
    mentions = pd.concat([first, test]).sort_index(kind="stable").drop_duplicates()  # line by line
    where = {name: trials.where(line) for line, name in mentions.items()}
    for name in (name for names in enrolments.values() for name in names):
        where[name] = f"{entry.shown_enrolments}, utterance {name}"
    table = pd.DataFrame({"file": list(where), "speaker": [speakers[name] for name in where]}, dtype=object)
    root = entry.root or entry.path.parent
    return RawTable(table, list(where.values()), root, entry.shown_path, notices=(how,))
