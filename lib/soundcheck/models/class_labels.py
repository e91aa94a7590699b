"""Labels that a model has for classes, and the classes of a task that they mean.

A model may call anger ``ang`` or ``Angry``; suites say so with ``labels: {ang: anger}``. A label that means
no class of the task is left out with ``labels: {other: }``: then the best of the others is the prediction.

With ``probabilities: softmax`` or ``probabilities: given`` scores are given as probabilities of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task, meanings
from soundcheck.common.wording import flow
from soundcheck.models.answers import probability_problem
from soundcheck.suite import schema
from soundcheck.suite.yaml_reader import Plain

NONE = ""  # in the place of a class: what the label means is no class
SOFTMAX, GIVEN = "softmax", "given"


def _class(value: object) -> object:
    """Let a label stand for nothing."""
    nothing = isinstance(value, Plain) and value.value is None
    return NONE if nothing else str(value) if isinstance(value, str) else value


Labels = dict[schema.Text, schema.parsed(str, _class)]  # the type of the key ``labels`` of a suite
Probabilities = schema.choice(SOFTMAX, GIVEN)  # the type of the key ``probabilities``


def meant(label: str, classes: Sequence[str], mapping: Mapping[str, str]) -> str | None:
    """Tell which class a label of the model means; ``None`` if nobody knows.

    ``mapping``: label -> class or :data:`NONE`, as the suite says. Upper and lower case count only where
    classes differ in nothing else.

    >>> meant("Anger", ["anger", "joy"], {}), meant("hap", ["anger", "joy"], {"hap": "joy"})
    ('anger', 'joy')
    """
    name = mapping.get(label, label)
    if name == NONE or name in classes:
        return name
    alike = [one for one in classes if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def classes_of(labels: Sequence[str], task: Task, mapping: Mapping[str, str], where: str) -> list[str]:
    """Find the class that each label means, :data:`NONE` for those that mean none.

    Raises InputError naming all labels that nobody knows, or if none is left.
    """
    problems = Problems()
    probable = meanings([label for label in labels if label not in mapping], task.classes)
    classes = [meant(label, task.classes, mapping) for label in labels]
    for label, name in zip(labels, classes, strict=True):
        if name is None:
            written = mapping.get(label, label)
            what = f"the label {quoted(label)} of the model is no class of {task.name}"
            if written != label:
                what = f"the label {quoted(label)} is to mean {quoted(written)}, no class of {task.name}"
            proposed = flow(probable) if label in probable else f"{{{label}: ...}}"
            hint = f"Say what it means, labels: {proposed}, or nothing to leave it out"
            problems.add(where, what, f"{hint}. {did_you_mean(written, task.classes)}")
    if all(name == NONE for name in classes):
        problems.add(where, f"none of the model's labels means a class of {task.name}", "Correct labels")
    problems.raise_if_any()
    return [str(name) for name in classes]


def class_answers(scores: np.ndarray, classes: Sequence[str], how: str | None = None) -> list:
    """Read the scores of classes, ``(signals, labels)``; one prediction a signal, NaN where scores are none.

    ``classes`` are those of the labels; :data:`NONE` is left out. ``how`` scores become probabilities:
    ``None``: not, the class with the highest is the prediction, of equal ones the first. ``"softmax"``: they
    are logits. ``"given"``: they are probabilities; a row that adds up to something else than 1 stays as it
    is, for the check of predictions to refuse. Probabilities are those of the classes that are not left out,
    given that it is one of them; those of labels that mean the same add up.

    >>> class_answers(np.array([[0.2, 0.1, 0.7], [0.1, np.nan, 0.0]]), ["anger", "joy", ""])
    ['anger', nan]
    >>> class_answers(np.array([[0.0, 0.0, 9.0]]), ["anger", "joy", ""], "softmax")
    [{'anger': 0.5, 'joy': 0.5}]
    >>> class_answers(np.array([[0.4, 0.1, 0.5]]), ["anger", "joy", ""], "given")
    [{'anger': 0.8, 'joy': 0.2}]
    """
    places = [place for place, name in enumerate(classes) if name != NONE]
    names = [classes[place] for place in places]
    outputs: list[str | dict[str, float] | float] = []
    for row in np.asarray(scores, dtype=np.float64):
        selected = row[places]
        if np.isnan(selected).any() or not np.isfinite(selected.max()):
            outputs.append(float("nan"))
        elif how is None:
            outputs.append(names[int(selected.argmax())])
        else:
            selected = np.exp(selected - selected.max()) if how == SOFTMAX else selected
            if how == SOFTMAX or not probability_problem(row.tolist()):
                selected = selected / selected.sum() if selected.sum() > 0 else np.full(len(selected), np.nan)
            shares = dict.fromkeys(names, 0.0)
            for name, share in zip(names, selected.tolist(), strict=True):
                shares[name] += share
            outputs.append(float("nan") if np.isnan(selected).any() else shares)
    return outputs
