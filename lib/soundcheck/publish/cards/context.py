"""What a card says beside the facts of a run: what people wrote, where the book lies, and the day."""

from __future__ import annotations

import dataclasses
import datetime
import re
import urllib.parse

from soundcheck.common.day import today
from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.publish.facts import ModelFacts
from soundcheck.suite.card import Card


@dataclasses.dataclass(frozen=True)
class CardContext:
    """What a card says beside the facts.

    Parameters
    ----------
    card
        What people wrote about the model: its own ``card:``, else that of the suite.
    book_url
        Address of the published book, without a slash at its end; ``""`` if it is not published.
    date
        The day of the card.
    """

    card: Card
    book_url: str
    date: datetime.date

    @classmethod
    def of(cls, facts: ModelFacts, book_url: str = "", date: datetime.date | None = None) -> CardContext:
        """Make the context of a model's cards.

        Parameters
        ----------
        facts
            The model.
        book_url
            As people write it, see :func:`read_book_url`.
        date
            Default: :func:`today`.
        """
        return cls(facts.card, read_book_url(book_url), date or today())

    @property
    def missing(self) -> tuple[str, ...]:
        """What people did not write, in words."""
        return self.card.missing

    def link(self, page: str) -> str:
        """Give the address of a page of the book, such as ``facts.page("fairness_sex")``; ``""`` if none."""
        return f"{self.book_url}/{page}" if self.book_url else ""


def read_book_url(text: str) -> str:
    """Check the address of a book.

    Parameters
    ----------
    text
        As people write it: with or without ``index.html`` and slash; empty = none.

    Raises
    ------
    InputError
        If it is no address of a web page, or holds a password.
    """
    if not text:
        return ""
    where, remedy = "--book-url", "Write an address such as https://example.org/book"
    try:
        parts = urllib.parse.urlsplit(text)
        host = parts.hostname
    except ValueError:
        parts, host = None, None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise input_error(where, f"{quoted(text)} is not the address of a web page", remedy)
    if parts.username or parts.password:
        raise input_error(where, "the address holds a user or password", "Leave them out: others read cards")
    if parts.query or parts.fragment or not re.fullmatch(r"[A-Za-z0-9._~:/%\[\]@!$&*+,;=-]+", text):
        raise input_error(where, f"{quoted(text)} is not the address of a folder", remedy)
    return re.sub(r"/+(index\.html)?$", "", text)
