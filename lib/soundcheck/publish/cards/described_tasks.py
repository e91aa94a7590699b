"""The tasks of a suite, as its record describes them, and what other programs call them."""

from __future__ import annotations

from soundcheck.common.tasks import BUILTIN, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.results.record import RunRecord


def described_tasks(record: RunRecord) -> dict[str, Task]:
    """Read the tasks that a suite declares, beside those that every suite has."""
    found = dict(BUILTIN)
    for name, about in record.suite.get("tasks", {}).items():
        found[name] = Task(
            name, about["kind"], tuple(about["classes"]), float(about["low"]), float(about["high"])
        )
    return found


def shared_name(task: Task) -> str:
    """Give the name that the field has for a task.

    Examples
    --------
    >>> shared_name(BUILTIN["transcript"]), shared_name(BUILTIN["emotion"])
    ('automatic-speech-recognition', 'audio-classification: emotion')
    """
    if task.kind == TRANSCRIPTION:
        return "automatic-speech-recognition"
    if task.kind == EMBEDDING:
        return "speaker-verification"
    kind = "audio-regression" if task.kind == REGRESSION else "audio-classification"
    return f"{kind}: {task.name}"


def answer(task: Task) -> str:
    """Say what a model answers.

    Examples
    --------
    >>> answer(BUILTIN["arousal"]), answer(BUILTIN["transcript"])
    ('arousal: number from 0 to 1', 'text')
    """
    if task.kind == TRANSCRIPTION:
        return "text"
    if task.kind == EMBEDDING:
        return "vector whose direction stands for the speaker"
    if task.kind == REGRESSION:
        return f"{task.name}: number from {task.low:g} to {task.high:g}"
    return f"{task.name}: one of {', '.join(task.classes)}"
