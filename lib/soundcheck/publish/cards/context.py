"""What a card says beside the facts of a run: what people wrote, where the book lies, and the day."""

from __future__ import annotations

import dataclasses
import datetime
import re
from urllib.parse import quote

from soundcheck.common.day import today
from soundcheck.common.errors import input_error
from soundcheck.publish.facts import ModelFacts
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
