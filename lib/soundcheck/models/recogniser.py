"""What models have in common that answer transcripts and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.model_kind import ModelKind

TASK = BUILTIN["transcript"].name


class Recogniser(ModelKind):
    """A kind of model that recognises words."""

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Answer transcripts."""
        return (TASK,)

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse other tasks."""
        if all(task.name == TASK for task in tasks):
            return []
        return [(f"a recogniser answers a {TASK}", f"Write tasks: [{TASK}], or leave the key out")]
