"""Writes the cards of one model: all are made before the first is written, so bad input changes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.publish.cards.card_format import CARD_FORMATS, CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.facts import ModelFacts, read_facts

MAXIMUM_BYTES = 10 * 1024**2  # of a file that is updated


@dataclasses.dataclass(frozen=True)
class Cards:
    """What was written.

    Parameters
    ----------
    written
        Files, in the order of the formats.
    passed_over
        Keyword of a format -> why there is no such card.
    missing
        What nobody wrote about the model, in words.
    """

    written: tuple[Path, ...]
    passed_over: dict[str, str]
    missing: tuple[str, ...]

    @property
    def summary(self) -> str:
        """Say it, a line each."""
        lines = [f"Wrote {path}" for path in self.written]
        lines += [f"No {keyword}: {reason}." for keyword, reason in self.passed_over.items()]
        if self.missing:
            lines.append(
                f"The cards list as missing: {', '.join(self.missing)}. Say it in card: of the suite."
            )
        return "\n".join(lines)


def write_cards(
    results: Path,
    model: str | None = None,
    formats: Sequence[str] = (),
    out: Path | None = None,
    book_url: str = "",
) -> Cards:
    """Write the cards of a model.

    Parameters
    ----------
    results
        The output folder of a run, or ``results.csv`` in it.
    model
        Its name; ``None`` if there is only one beside the random references.
    formats
        Keywords; default: all that apply.
    out
        Folder to write to; default: ``cards/MODEL`` beside the results.
    book_url
        Address of the published book.

    Raises
    ------
    InputError
        If the results cannot be used, a format is unknown or does not apply, or a file that is there cannot
        be updated; nothing is written then.
    """
    unknown = [keyword for keyword in formats if keyword not in CARD_FORMATS]
    if unknown:
        remedy = did_you_mean(unknown[0], CARD_FORMATS)
        raise input_error(f"--format {quoted(unknown[0])}", "there is no such format of cards", remedy)
    facts = read_facts(results, model)
    context = CardContext.of(facts, book_url)
    folder = out or facts.run.path.parent / "cards" / facts.model.slug
    made: dict[Path, str] = {}
    passed_over: dict[str, str] = {}
    for keyword in dict.fromkeys(formats) or CARD_FORMATS:
        form = CARD_FORMATS[keyword]()
        obstacle = form.obstacle(facts, context)
        if obstacle and formats:
            raise input_error(f"--format {keyword}", obstacle, "Leave the format out")
        if obstacle:
            passed_over[keyword] = obstacle
        else:
            path, content = _made(form, folder, facts, context)
            if path in made:
                raise input_error("--format", f"two formats write {path.name}", "Name one of them")
            made[path] = content
    files.write_all(made)
    return Cards(tuple(made), passed_over, context.missing)


def _made(form: CardFormat, folder: Path, facts: ModelFacts, context: CardContext) -> tuple[Path, str]:
    """Make the content of a file, of what is there if something is."""
    name = form.filename(facts)
    files.inside(folder, name)  # refuses links that lead elsewhere
    path = folder / name
    if not path.exists():
        text = form.text(facts, context)
    else:
        files.require_regular(path, name, MAXIMUM_BYTES)
        text = form.updated(_read(path, name), name, facts, context)
    return path, text


def _read(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is not UTF-8"
        raise input_error(
            f"{name} line {line}", what, "Save the file as UTF-8, or choose another --out"
        ) from error
