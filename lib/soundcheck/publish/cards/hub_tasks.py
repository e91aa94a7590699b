"""What other programs call the tasks of a suite."""

from __future__ import annotations

from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.results.record import RunRecord

_TYPES = {
    TRANSCRIPTION: "automatic-speech-recognition",
    CLASSIFICATION: "audio-classification",
    REGRESSION: "audio-regression",
    EMBEDDING: "speaker-verification",
}


def described_tasks(record: RunRecord) -> dict[str, Task]:
    """Read the tasks that a suite declares, beside those that every suite has."""
    declared = {
        name: Task(name, about["kind"], tuple(about["classes"]), float(about["low"]), float(about["high"]))
        for name, about in record.suite.get("tasks", {}).items()
    }
    return BUILTIN | declared


def task_type(record: RunRecord, task: str) -> str:
    """Name the kind of a task as hubs do."""
    found = described_tasks(record).get(task)
    return _TYPES[found.kind] if found else "other"


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
