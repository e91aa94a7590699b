"""What people say about a model or a corpus that no test can find out, for cards that leave the book.

Conventions
-----------
- Nothing here changes an answer, a result or a digest of one. One exception: the languages that a recogniser
  knows decide whether it is judged by what it writes into speech in another language.
- What nobody wrote is empty, and cards list it as missing; nothing is guessed.
"""

from __future__ import annotations

import dataclasses

FIELDS = {  # field -> what people call it; a card lists those that are missing in this order
    "intended_use": "intended use",
    "license": "licence",
    "owner": "owner",
    "training_data": "training data",
    "limitations": "limitations",
    "languages": "languages",
    "version": "version",
    "contact": "contact",
    "id": "id on a hub",
    "base_model": "base model",
}
_OF_SOME = ("id", "base_model")  # a model may well have none


@dataclasses.dataclass(frozen=True)
class Card:
    """What people say about a model: ``card:`` of a suite, of a model, or both."""

    intended_use: str = ""  # what the model is for, and what it is not for
    license: str = ""  # licence of the model, an identifier such as ``"apache-2.0"`` where there is one
    owner: str = ""  # who answers for the model
    training_data: str = ""  # what it was trained on
    limitations: str = ""  # what is known not to work, beside what the tests found
    languages: tuple[str, ...] = ()  # codes of the languages that it is for, such as ``"en"``
    version: str = ""
    contact: str = ""
    id: str = ""  # its name on a hub, ``"owner/name"``
    base_model: str = ""  # what it was made from, best its name on a hub

    def over(self, other: Card) -> Card:
        """Fill what is empty here with what another one says."""
        return dataclasses.replace(other, **{name: value for name, value in vars(self).items() if value})

    @property
    def missing(self) -> tuple[str, ...]:
        """What nobody wrote, in words; not every model has an id on a hub or a base model."""
        return tuple(
            words for name, words in FIELDS.items() if name not in _OF_SOME and not getattr(self, name)
        )


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """The published benchmark that a corpus is, so that a hub can list results under it."""

    id: str  # name of its data set on the hub
    task_id: str
    revision: str = ""  # version of the data set; ``""`` = not said
    task: str = ""  # the task of the suite that it is about; ``""`` = the only one of the corpus
