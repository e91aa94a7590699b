"""Labels that a model has for classes, and the classes of a task that they mean.

A model may call anger ``ang`` or ``Angry``; suites say so with ``labels: {ang: anger}``. A label that means
no class of the task is left out with ``labels: {other: }``: then the best of the others is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.yaml_reader import Plain

__all__ = ["NONE", "Labels", "best_classes", "classes_of", "meant"]

NONE = ""  # in the place of a class: what the label means is no class


def _class(value: object) -> object:
    """Let a label stand for nothing."""
    nothing = isinstance(value, Plain) and value.value is None
    return NONE if nothing else str(value) if isinstance(value, str) else value


Labels = dict[schema.Text, schema.parsed(str, _class)]  # the type of the key ``labels`` of a suite


def meant(label: str, classes: Sequence[str], said: Mapping[str, str]) -> str | None:
    """Tell which class a label means.

    Parameters
    ----------
    label
        As the model writes it.
    classes
        Those of the task.
    said
        What the suite says about labels: label -> class or :data:`NONE`.

    Returns
    -------
    str or None
        The class; :data:`NONE` if it is none of the task's, ``None`` if nobody knows. Upper and lower case
        count only where classes differ in nothing else.

    Examples
    --------
    >>> meant("Anger", ["anger", "joy"], {}), meant("hap", ["anger", "joy"], {"hap": "joy"})
    ('anger', 'joy')
    """
    name = said.get(label, label)
    if name == NONE or name in classes:
        return name
    alike = [one for one in classes if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def classes_of(labels: Sequence[str], task: Task, said: Mapping[str, str], where: str) -> list[str]:
    """Find the class that each label means, :data:`NONE` for those that mean none.

    Raises
    ------
    InputError
        Naming all labels that nobody knows, or if none is left; and if the suite speaks of one that the model
        does not have.
    """
    problems = Problems()
    found = [meant(label, task.classes, said) for label in labels]
    for label, name in zip(labels, found, strict=True):
        if name is None:
            written = said.get(label, label)
            what = f"the label {quoted(label)} of the model is no class of {task.name}"
            if written != label:
                what = f"the label {quoted(label)} is to mean {quoted(written)}, no class of {task.name}"
            hint = f"Say what it means, labels: {{{label}: ...}}, or nothing to leave it out"
            problems.add(where, what, f"{hint}. {did_you_mean(written, task.classes)}")
    problems.raise_if_any()
    if all(name == NONE for name in found):
        problems.add(where, f"none of the model's labels means a class of {task.name}", "Correct labels")
    problems.raise_if_any()
    return [str(name) for name in found]


def best_classes(scores: np.ndarray, classes: Sequence[str]) -> list[str | float]:
    """Give the class with the highest score.

    Parameters
    ----------
    scores
        ``(signals, labels)``, the higher the likelier.
    classes
        Class of each label; :data:`NONE` = its score does not count.

    Returns
    -------
    list
        One class a signal, of equal scores the first one; NaN, which is no answer, where scores are none.

    Examples
    --------
    >>> best_classes(np.array([[0.2, 0.1, 0.7], [0.1, np.nan, 0.0]]), ["anger", "joy", ""])
    ['anger', nan]
    """
    places = [place for place, name in enumerate(classes) if name != NONE]
    counted = np.asarray(scores)[:, places]
    chosen = counted.argmax(axis=1)
    usable = ~np.isnan(counted).any(axis=1) & np.isfinite(counted.max(axis=1))
    return [
        classes[places[place]] if fine else float("nan")
        for place, fine in zip(chosen.tolist(), usable.tolist(), strict=True)
    ]
