"""What a format of cards is: which file it makes of the facts of one model, and how it updates that file.

All cards are made before the first is written, so bad input changes nothing.

Formats are the classes in the modules of :mod:`soundcheck.publish.cards.formats`, and those that installed
packages register as entry points of the group ``soundcheck.card_formats``. Modules with formats should import
what is heavy or optional inside of methods: all of them are imported when cards are written.

Conventions
-----------
- Every number comes from the facts, with its interval and its counts; what people wrote comes from the
  context. What they did not write is listed as missing, never made up.
- Texts from data are escaped for the format that they go into, see :mod:`soundcheck.publish.facts`.
"""

import abc
import dataclasses
import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from soundcheck.common import files
from soundcheck.common.day import today
from soundcheck.common.messages import did_you_mean, input_error, quoted
from soundcheck.common.resources import Registry
from soundcheck.results.facts import ModelFacts
from soundcheck.suite.entries import Card

_ADDRESS = re.compile(r"https?://([\w.~-]+|\[[\da-f:.]+\])(:\d+)?(/[\w.~:/%\[\]@!$&*+,;=-]*)?", re.ASCII)


@dataclasses.dataclass(frozen=True)
class CardContext:
    """What a card says beside the facts."""

    card: Card  # the model's own ``card:``, else that of the suite
    book_url: str  # of the published book, without a slash at its end; "" if it is not published
    date: datetime.date  # of the card

    @classmethod
    def of(cls, facts: ModelFacts, book_url: str = "", date: datetime.date | None = None) -> "CardContext":
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


MAXIMUM_BYTES = 10 * 1024**2  # of a file that is updated
CARD_FORMATS = Registry(CardFormat, "soundcheck.publish.cards.formats", "soundcheck.card_formats")


def write_cards(
    results: Path,
    model: str | None = None,
    formats: Sequence[str] = (),
    out: Path | None = None,
    book_url: str = "",
) -> str:
    """Write the cards of a model, by default in all formats that apply; gives what came out, a line each.

    ``results`` is the output folder of a run or ``results.csv`` in it, ``out`` by default ``cards/MODEL``
    beside it. Raises an ``InputError`` if the results cannot be used, a format is unknown or does not apply,
    or a file that is there cannot be updated; nothing is written then.
    """
    for keyword in formats:
        if keyword not in CARD_FORMATS:
            remedy = did_you_mean(keyword, CARD_FORMATS)
            raise input_error(f"--format {quoted(keyword)}", "there is no such format of cards", remedy)
    facts = ModelFacts.read(results, model)
    if facts.record.suite.get("quick"):
        what = "the results are those of a quick run, which no card is made of"
        raise input_error(str(results), what, "Run the suite without --quick")
    context = CardContext.of(facts, book_url)
    folder = out or facts.run.path.parent / "cards" / facts.model.slug
    made: dict[Path, str] = {}
    lines: list[str] = []
    for keyword in dict.fromkeys(formats) or CARD_FORMATS:
        form = CARD_FORMATS[keyword]()
        obstacle = form.obstacle(facts, context)
        if obstacle and formats:
            raise input_error(f"--format {keyword}", obstacle, "Leave the format out")
        if obstacle:
            lines.append(f"No {keyword}: {obstacle}.")
            continue
        name = form.filename(facts)
        files.inside(folder, name)  # refuses links that lead elsewhere
        made[folder / name] = _content(form, folder / name, name, facts, context)
    files.write_all(made)
    if missing := ", ".join(context.card.missing):
        lines.append(f"The cards list as missing: {missing}. Say it in card: of the suite.")
    return "\n".join([*(f"Wrote {path}" for path in made), *lines])


def _content(form: CardFormat, path: Path, name: str, facts: ModelFacts, context: CardContext) -> str:
    if not path.exists():
        return form.text(facts, context)
    files.require_regular(path, name, MAXIMUM_BYTES)
    try:
        existing = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what, remedy = f"byte {error.start} is not UTF-8", "Save the file as UTF-8, or choose another --out"
        raise input_error(f"{name} line {line}", what, remedy) from error
    return form.updated(existing, name, facts, context)
