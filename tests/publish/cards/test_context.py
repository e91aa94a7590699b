"""The day and the address of a book: checked before anything is written."""

import datetime

import pytest

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.card_format import CardContext, read_book_url
from soundcheck.suite.card import Card


@pytest.mark.parametrize("text", ["https://e.org/b", "https://e.org/b/", "https://e.org/b/index.html"])
def test_addresses(text):
    context = CardContext(Card(), read_book_url(text), datetime.date(2026, 11, 1))
    assert context.link("models/m.html") == "https://e.org/b/models/m.html"


@pytest.mark.parametrize(
    "text",
    [
        *("javascript:alert(1)", "file:///home/me/book", "book", "https://", "//e.org", "https://[::1"),
        *("https://me:secret@e.org/", "https://e.org/?token=1", "https://e.org/#a", "https://e.org/a b"),
        *("https://e.org/a)[x](b", "https://e.org/<b>", "https://e.org/\nx"),
    ],
)
def test_what_is_no_address_of_a_book(text):
    with pytest.raises(InputError, match="--book-url"):
        read_book_url(text)
