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
import dataclasses
import datetime
import re
from typing import ClassVar
from urllib.parse import quote

from soundcheck.common.day import today
from soundcheck.common.errors import input_error
from soundcheck.common.registry import Registry
from soundcheck.results.facts import ModelFacts
from soundcheck.suite.card import Card

_ADDRESS = re.compile(r"https?://([\w.~-]+|\[[\da-f:.]+\])(:\d+)?(/[\w.~:/%\[\]@!$&*+,;=-]*)?", re.ASCII)


@dataclasses.dataclass(frozen=True)
class CardContext:
    """What a card says beside the facts."""

    card: Card  # the model's own ``card:``, else that of the suite
    book_url: str  # of the published book, without a slash at its end; "" if it is not published
    date: datetime.date  # of the card

    @classmethod
    def of(cls, facts: ModelFacts, book_url: str = "", date: datetime.date | None = None) -> CardContext:
        """Make the context of a model's cards, of today; ``book_url`` as people write it."""
        return cls(facts.card, read_book_url(book_url), date or today())

    def link(self, page: str) -> str:
        """Give the address of a page of the book; ``""`` if the book is not published."""
        return f"{self.book_url}/{quote(page)}" if self.book_url else ""


def read_book_url(text: str) -> str:
    """Check the address of a book, which may end with ``index.html``; one with a password is refused, too."""
    if text and not _ADDRESS.fullmatch(text):
        what = "this is not the address of a folder of web pages, without user, password and parameters"
        raise input_error("--book-url", what, "Write an address such as https://example.org/book")
    return re.sub(r"/+(index\.html)?$", "", text)


class CardFormat(abc.ABC):
    """A format of cards; :meth:`filename` and :meth:`text` are all that one needs."""

    keyword: ClassVar[str] = ""  # what stands behind --format
    file: ClassVar[str] = ""  # name of the file, if it is the same for all models

    def obstacle(self, facts: ModelFacts, context: CardContext) -> str:
        """Say why there is no such card of this model, without full stop; empty if there is; here always."""
        return ""

    def filename(self, facts: ModelFacts) -> str:
        """Name the file, relative to the folder of the cards; folders in it are made."""
        return self.file

    @abc.abstractmethod
    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the whole card; its line ends are line feeds."""

    def updated(self, existing: str, name: str, facts: ModelFacts, context: CardContext) -> str:
        """Write the card into a file that is there, called ``shown`` in messages; here it is replaced.

        ``existing`` has its line ends as they are; an ``InputError`` says that it cannot be updated.
        """
        return self.text(facts, context)


CARD_FORMATS = Registry(CardFormat, "soundcheck.publish.cards.formats", "soundcheck.card_formats")
