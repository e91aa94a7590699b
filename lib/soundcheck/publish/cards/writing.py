"""Writes the cards of one model: all are made before the first is written, so bad input changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.publish.cards.card_format import CARD_FORMATS, CardContext, CardFormat
from soundcheck.results.facts import ModelFacts

MAXIMUM_BYTES = 10 * 1024**2  # of a file that is updated


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
