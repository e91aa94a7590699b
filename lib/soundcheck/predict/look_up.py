"""Collects the answers of models that do not listen: tables, references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.models.base import LookUpModel
from soundcheck.predict.inputs import Wanted, asked_changes, shown_segment
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Columns

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.families import Perturbation


def look_up(
    model: LookUpModel, corpora: Sequence[Corpus], changes: Mapping[str, Perturbation], wanted: Wanted | None
) -> tuple[PredictionReport, dict[str, Columns]]:
    """Collect the answers of a model that does not listen."""
    tables: dict[str, Columns] = {}
    failures = []
    changed = list(changes) if model.changes_audio else []
    names = {change: changes[change].name if change else "" for change in ["", *changed]}
    notices = tuple(model.notices(corpora))
    for corpus in corpora:
        keys, shown, asked = _asked(model, corpus, changed, wanted)
        clean = model.look_up(corpus, "")  # of a change that nobody asks for as well
        found = [
            model.look_up(corpus, name) if name and some else clean
            for name, some in zip(names, asked.any(axis=0), strict=True)
        ]
        # Row after row: for each segment clean first, then its changes in their order
        number, which = np.nonzero(asked)
        change = np.array(list(names), dtype=object)[which]
        problems = np.stack([np.array(one[1], dtype=object) for one in found])
        answers = {task: np.stack([one[0][task] for one in found])[which, number] for task in clean[0]}
        drawn: Sequence[str] = ()
        if changed:
            drawn = np.stack([model.drawn(corpus, name) for name in names])[which, number].tolist()
        table = Columns(keys[number], change, problems[which, number], answers, drawn)
        tables[corpus.name] = table
        failures += [
            (corpus.name, shown(number[row]), names[change[row]], table.error[row])
            for row in np.flatnonzero(~table.answered)
        ]
    count = sum(len(table) for table in tables.values())
    report = PredictionReport(
        model.name,
        model.fingerprint,
        computed=count - len(failures),
        unusable=len(failures),
        failures=failures,
        notices=notices,
    )
    return report, tables


def _asked(
    model: LookUpModel, corpus: Corpus, changed: Sequence[str], wanted: Wanted | None
) -> tuple[np.ndarray, Callable[[int], str], np.ndarray]:
    """Give the keys of what a model answers for, how people call it, and which changes are wanted.

    The last is bool ``(inputs, 1 + changes)``, clean first.
    """
    own = model.asked(corpus)
    if own is None:
        table = corpus.segments
        places = [table[name].tolist() for name in ("file", "start", "end")]
        clean = np.ones((len(table), 1), dtype=bool)
        masks = np.hstack([clean, asked_changes(corpus, changed, wanted).T])
        return table["key"].to_numpy(), lambda row: shown_segment(*(cells[row] for cells in places)), masks
    masks = np.array([[change in item.changes for change in ["", *changed]] for item in own], dtype=bool)
    keys = np.array([item.key for item in own], dtype=object)
    return keys, lambda row: own[row].shown, masks.reshape(len(own), 1 + len(changed))
