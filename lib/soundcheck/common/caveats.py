"""What makes numbers doubtful or void: said wherever they stand, not only where it was noticed."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Caveat:
    """Something that a reader must know before believing a number.

    Parameters
    ----------
    text
        What it is and what follows from it, then what to do: sentences without the last full stop.
    model, corpus, task
        Whose numbers are meant; empty = all.
    """

    text: str
    model: str = ""
    corpus: str = ""
    task: str = ""

    @property
    def subject(self) -> str:
        """Whose numbers are meant, in words; empty if all are."""
        return ", ".join(name for name in (self.model, self.corpus, self.task) if name)

    def concerns(self, model: str, corpus: str, task: str = "") -> bool:
        """Say whether numbers of a model, a corpus and a task are meant; ``""`` = any task."""
        return (
            self.model in ("", model)
            and self.corpus in ("", corpus)
            and (not task or self.task in ("", task))
        )
