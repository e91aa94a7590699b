"""What a format of cards is: which file it makes of the facts of one model, and how it updates that file.

Formats are the classes in the modules of :mod:`soundcheck.publish.cards.formats`, and those that installed
packages register as entry points of the group ``soundcheck.card_formats``. Modules with formats should import
what is heavy or optional inside of methods: all of them are imported when cards are written.

Conventions
-----------
- Every number comes from the facts, with its interval and its counts; what people wrote comes from the
  context. What they did not write is listed as missing, never made up.
- Texts from data are escaped for the format that they go into, see :mod:`soundcheck.publish.markdown`.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, ClassVar

from soundcheck.common.registry import Registry

if TYPE_CHECKING:
    from soundcheck.publish.cards.context import CardContext
    from soundcheck.publish.facts import ModelFacts


class CardFormat(abc.ABC):
    """A format of cards; :meth:`filename` and :meth:`text` are all that one needs."""

    keyword: ClassVar[str] = ""  # what stands behind --format
    title: ClassVar[str] = ""  # what people call it, for messages

    def obstacle(self, facts: ModelFacts, context: CardContext) -> str:
        """Say why there is no such card of this model, without full stop; empty if there is; here always."""
        return ""

    @abc.abstractmethod
    def filename(self, facts: ModelFacts) -> str:
        """Name the file, relative to the folder of the cards; folders in it are made."""

    @abc.abstractmethod
    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the whole card; its line ends are line feeds."""

    def updated(self, existing: str, shown: str, facts: ModelFacts, context: CardContext) -> str:
        """Write the card into a file that is there, called ``shown`` in messages; here it is replaced.

        ``existing`` has its line ends as they are; an ``InputError`` says that it cannot be updated.
        """
        return self.text(facts, context)


CARD_FORMATS = Registry(CardFormat, "soundcheck.publish.cards.formats", "soundcheck.card_formats")
