"""What makes numbers doubtful or void: said wherever they stand, not only where it was noticed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection


@dataclasses.dataclass(frozen=True)
class Caveat:
    """Something that a reader must know before believing a number.

    - ``model, corpus, task``: whose numbers are meant; empty = all.
    """

    text: str  # what it is and what follows from it, then what to do: sentences without the last full stop
    model: str = ""
    corpus: str = ""
    task: str = ""

    def __str__(self) -> str:
        subject = ", ".join(name for name in (self.model, self.corpus, self.task) if name)
        return f"{subject}: {self.text}" if subject else self.text

    def concerns(self, models: Collection[str], corpora: Collection[str], tasks: Collection[str]) -> bool:
        """Say whether numbers of any of these models, corpora and tasks are meant."""
        pairs = ((self.model, models), (self.corpus, corpora), (self.task, tasks))
        return all(not name or name in names for name, names in pairs)
