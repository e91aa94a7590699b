"""What the outputs of a head mean: classes or tasks of a suite, by the names that its folder gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from soundcheck.common.errors import Problems, did_you_mean, nearest
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task

__all__ = ["classes_of", "numbers_of"]

NAMED = 10  # labels that a message names


def classes_of(
    labels: Sequence[str], meant: Mapping[str, str | None], task: Task, where: str, problems: Problems
) -> list[str | None]:
    """Say which class each output of a head is; ``None`` = none, it is never the answer.

    Parameters
    ----------
    labels
        Names of the outputs, in their order.
    meant
        Label -> class, as the suite says; ``None`` = none.
    task
        A classification task. A label that is called as a class, in upper or lower case, need not be said.
    where, problems
        How messages call the model, and where what is wrong is noted.

    Examples
    --------
    >>> emotion = Task("emotion", "classification", ("anger", "neutral"))
    >>> classes_of(["ang", "Neutral", "oth"], {"ang": "anger", "oth": None}, emotion, "", Problems())
    ['anger', 'neutral', None]
    """
    _check_meant(labels, meant, task.classes, "class", where, problems)
    found = [_called(label, labels, meant, task.classes) for label in labels]
    unknown = [
        label for label, name in zip(labels, found, strict=True) if name is None and label not in meant
    ]
    if unknown:
        guesses = ", ".join(f"{label}: {nearest(label, task.classes)}" for label in unknown[:NAMED])
        more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
        what = f"labels that are no classes of {task.name}: {', '.join(map(quoted, unknown[:NAMED]))}{more}"
        remedy = (
            f"Say what they mean, such as labels: {{{guesses}}}, with nothing behind a label that is never to "
            f"be the answer. Classes: {', '.join(task.classes)}"
        )
        problems.add(where, what, remedy)
    elif not any(found):
        problems.add(where, f"no output of the model is a class of {task.name}", "Correct labels:")
    return found


def numbers_of(
    names: Sequence[str],
    meant: Mapping[str, str | None],
    tasks: Sequence[str],
    where: str,
    problems: Problems,
) -> list[int]:
    """Find the output of each regression task.

    Parameters
    ----------
    names
        Names of the outputs, in their order.
    meant
        Name -> task, as the suite says.
    tasks
        Names of the tasks.
    where, problems
        How messages call the model, and where what is wrong is noted.

    Returns
    -------
    list
        Number of the output of each task; -1 if there is a problem.

    Examples
    --------
    >>> numbers_of(["Arousal", "valence"], {}, ["valence", "arousal"], "", Problems())
    [1, 0]
    """
    _check_meant(names, meant, tasks, "task", where, problems)
    found = [_called(name, names, meant, tasks) for name in names]
    for task in tasks:
        if found.count(task) != 1:
            many = "several outputs are" if task in found else "no output is"
            shown = ", ".join(map(quoted, names)) or "without names"
            what = f"{many} called {quoted(task)}; the outputs: {shown}"
            remedy = f"Name all {len(names)} in their order, such as outputs: [{', '.join(tasks)}]"
            problems.add(where, what, remedy)
    return [found.index(task) if found.count(task) == 1 else -1 for task in tasks]


def _check_meant(
    labels: Sequence[str],
    meant: Mapping[str, str | None],
    known: Sequence[str],
    what: str,
    where: str,
    problems: Problems,
) -> None:
    for label, name in meant.items():
        if label not in labels:
            problems.add(where, f"labels: the model has no {quoted(label)}", did_you_mean(label, labels))
        if name is not None and name not in known:
            problems.add(
                where, f"labels: {quoted(name)} is no {what} of the model", did_you_mean(name, known)
            )


def _called(
    label: str, labels: Sequence[str], meant: Mapping[str, str | None], known: Sequence[str]
) -> str | None:
    """Find what a label means; upper and lower case are alike where that leaves one meaning."""
    if label in meant:
        return meant[label]
    if label in known:
        return label
    alike = [name for name in known if name.casefold() == label.casefold()]
    rivals = [other for other in labels if other.casefold() == label.casefold()]
    return alike[0] if len(alike) == len(rivals) == 1 else None
