"""Who speaks, told from trials alone: for corpora that name no speakers."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.sparse is loaded when first used

from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted


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
    """Tell from trials alone who speaks.

    If the names have folders, the first one in which they differ is the speaker, as long as that fits all
    labels: the same folder in target trials, two in all others. Otherwise a speaker is what target trials
    connect, named like the first of it in the alphabet. Such speakers may be too many: nothing says that two
    recordings without target trial are of one person.

    - ``enrol, test``: names of both sides, ``(T,)``.
    - ``target``: whether one person speaks, ``(T,)``.
    - ``together``: further pairs of names of one person each.
    - Returns ``dict``: Name -> speaker.
    - Returns ``str``: How they were found, a sentence for a notice.
    - Raises ContradictionError: if a trial says two speakers, and target trials connect its sides.
    """
    enrol, test = [*enrol, *(one for one, _ in together)], [*test, *(other for _, other in together)]
    target = np.array([*target, *[True] * len(together)], dtype=bool)
    codes, names = pd.factorize(np.array([*enrol, *test], dtype=object))
    first, second = codes[: len(target)], codes[len(target) :]
    folders = _folders(names.tolist())
    if folders:
        own = pd.factorize(np.array(folders, dtype=object))[0]
        if np.array_equal(own[first] == own[second], target):
            how = "speakers are taken from the folders of the files, which fit all labels"
            return dict(zip(names, folders, strict=True)), f"{how}: {counted(len(set(folders)), 'speaker')}"
    shape = (len(names), len(names))
    ones = np.ones(int(target.sum()), dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (first[target], second[target])), shape=shape)
    count, group = scipy.sparse.csgraph.connected_components(graph, directed=False)
    against = np.flatnonzero(~target & (group[first] == group[second]))
    if len(against):
        trial = int(against[0])
        one, other = quoted(names[first[trial]]), quoted(names[second[trial]])
        text = f"a trial says that {one} and {other} are two speakers, other trials that they are one"
        if one == other:
            text = f"a trial compares {one} with itself and says two speakers"
        raise ContradictionError(text, trial)
    called: dict[int, str] = {}
    for code in sorted(range(len(names)), key=names.tolist().__getitem__):
        called.setdefault(int(group[code]), names[code])
    speakers = {name: called[own] for name, own in zip(names, group.tolist(), strict=True)}
    how = "speakers are inferred from the labels, files that target trials connect are one speaker"
    doubt = "if some are the same person, intervals are too narrow"
    return speakers, f"{how}: {counted(count, 'speaker')}; {doubt}"


def _folders(names: Sequence[str]) -> list[str]:
    """Give the first folder of each name in which they differ; empty if not all have one."""
    paths = [name.split("/")[:-1] for name in names]
    common = len(os.path.commonprefix([min(paths, default=[]), max(paths, default=[])]))
    return [path[common] for path in paths] if all(len(path) > common for path in paths) else []
