"""What a run says of one model, for cards and sheets: sentences, addresses, verdict lines, Markdown.

Names in the lines come from data: whoever shows them escapes them for the place, :func:`as_markdown` for
Markdown of GitHub's flavour. There HTML and formulas are obeyed by those who show it, so that texts from data
keep nothing of either. They end up on one line and never begin one. Templates of cards escape by
:func:`inline` whatever they print; what the filters here give is finished.
"""

import html
import re
from collections.abc import Sequence

from soundcheck.common import templates
from soundcheck.common.messages import counted, shorten, terminal, xml_text
from soundcheck.common.templates import Html
from soundcheck.report import failures, key_figures
from soundcheck.results.facts import ModelFacts, headline
from soundcheck.results.record import KeyFigure, result_page
from soundcheck.results.states import aspects

INCONCLUSIVE = "What could not be concluded"
MOST_FIGURES = 4  # numbers that the first line names
MOST_CHARACTERS = 90  # of a name
_NO_CHANCE = "without a chance level to compare with"
_SENTENCE = 320  # characters
# What calls somebody, or becomes a link.
_CALLING = re.compile(r"(?<=[@#!$%~])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
LIMIT = 300  # characters of a text from data that a card shows
_SPECIAL = re.compile(r"[\\`*\[\]{}~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = {"|": "&#124;", "$": "&#36;", "://": "&#58;//", "www.": "www&#46;", "@": "&#64;"}
_LIVE = re.compile(r"\||\$|://|www\.|@", re.IGNORECASE)  # cells, formulas, addresses that would become links


def sentence(facts: ModelFacts, row: object) -> str:
    """Write what a row says, with its interval; rows are those of ``itertuples``."""
    text = failures.sentence(row, facts.record.block_of(row.corpus))
    return "; ".join(filter(None, (text, failures.both_rules(row).partition(";")[0])))


def page(facts: ModelFacts, family: str = "") -> str:
    """Name the page of the book about the model, or about it and a family, relative to the book."""
    name = result_page(facts.model.name, family) if family else facts.model.page
    return f"{name}.html"


def verdict_lines(facts: ModelFacts) -> list[tuple[str, str]]:
    """Say in three lines what a run found about a model, and in one each what makes that doubtful.

    A line is its head, such as ``"How good"``, and plain text, which is not escaped.
    """
    lines = [("How good", _good(facts)), ("What fails", _fails(facts)), (INCONCLUSIVE, _inconclusive(facts))]
    return [*lines, *(("Caveat", plain(str(caveat), None)) for caveat in facts.caveats)]


def as_markdown(lines: Sequence[tuple[str, str]], title: str) -> str:
    r"""Write lines as a Markdown list, whatever names are in them: no markup, no mention, no address.

    >>> print(as_markdown([("What fails", "<b> *x*")], "m"), end="")
    **m**
    <BLANKLINE>
    - **What fails:** &lt;b&gt; \*x\*
    """
    items = [f"- **{_harmless(head)}:** {_harmless(text)}\n" for head, text in lines]
    return "".join([f"**{_harmless(title)}**\n\n", *items])


def plain(text: str, limit: int | None = MOST_CHARACTERS) -> str:
    """Show a text from data on one line, cut where it is too long, control characters made visible."""
    text = " ".join(terminal(text.replace("\n", " ")).split())
    return text if limit is None else shorten(text, limit)


def _harmless(text: str) -> str:
    """Escape a text for a comment, where ``@name`` would call somebody however it is escaped."""
    return inline(_CALLING.sub("\u2060", text), None)


def _good(facts: ModelFacts) -> str:
    name = plain(facts.model.name)
    if facts.random:
        return f"{name} is a random reference: it guesses, and is there to be compared with."
    figures = [figure for figure in facts.figures if figure.standing] or facts.figures
    if not figures:
        known = facts.record.figures is not None
        why = "no corpus has labels for its tasks" if known else "the run did not compute it"
        return f"of {name} that cannot be said: {why}."
    several = len({figure.corpus for figure in figures}) > 1
    by_chance: dict[str, list[str]] = {}
    for figure in figures[:MOST_FIGURES]:
        words = key_figures.against_chance(figure) or _NO_CHANCE
        by_chance.setdefault(words, []).append(_figure(figure, several))
    text = "; ".join(f"{words}: {', '.join(numbers)}" for words, numbers in by_chance.items())
    text += f", {len(figures) - MOST_FIGURES} more" if len(figures) > MOST_FIGURES else ""
    part = "All" if all(corpus.synthetic for corpus in facts.corpora) else "Some"
    synthetic = f" {part} of the speech is synthetic, made by a machine." if facts.synthetic else ""
    return f"{name} is {text}.{synthetic}"


def _figure(figure: KeyFigure, several: bool) -> str:
    text = key_figures.sentence(figure, corpus=several)
    if figure.guessing is not None and text.endswith(")"):
        text = f"{text[:-1]}; chance {key_figures.value(figure, figure.guessing)})"
    return plain(text, 200)


def _fails(facts: ModelFacts) -> str:
    text, about = headline(facts.counted), aspects(facts.findings)
    accepted = int(facts.failing["accepted"].ne("").sum())
    text += f" ({accepted} accepted)" if accepted else ""
    for aspect in about.unique():  # one bias hides no other
        largest = next(facts.findings[about.eq(aspect)].itertuples())
        text += f"; the largest about {aspect}: {plain(sentence(facts, largest), _SENTENCE)}"
    text += f". {facts.counts}."
    if len(facts.uncounted):
        tasks = ", ".join(map(plain, facts.uncounted["task"].unique()))
        text += f" Not counted, no better than chance at {tasks}: {counted(len(facts.uncounted), 'test')}."
    return text


def _inconclusive(facts: ModelFacts) -> str:
    rows, few, parts = facts.inconclusive, facts.few, []
    if len(rows):
        parts.append(f"{counted(len(rows), 'test')} {'is' if len(rows) == 1 else 'are'} inconclusive")
        size = rows["bound"].abs() / rows["matters"]
        if size.notna().any():  # the largest in units of its margin
            row = next(rows.loc[[size.idxmax()]].itertuples())
            bound, where = failures.points(row, abs(row.bound)), plain(failures.subject(row))
            parts[-1] += f": a difference of up to {bound} is not excluded ({where})"
    if len(few):
        largest = plain(sentence(facts, next(few.itertuples())), _SENTENCE)
        parts.append(f"{counted(len(few), 'difference')} with too few speakers to generalise: {largest}")
    if len(facts.not_evaluated):
        parts.append(f"{counted(len(facts.not_evaluated), 'test')} not evaluated")
    parts += [f"the tests of {plain(name)} failed to run" for name in facts.failed]
    return "; ".join(parts or ["nothing"]) + "."


def inline(value: object, limit: int | None = LIMIT) -> str:
    r"""Make a value safe as Markdown text on one line, in a paragraph, an item, a heading or a cell.

    It is cut after ``limit`` characters; ``None`` keeps all of it.

    >>> print(inline("a_b *c* | <b>\n---"))
    a_b \*c\* &#124; &lt;b&gt; ---
    >>> inline("# 1")
    '\\# 1'
    """
    text = " ".join(xml_text(value).split())
    if limit is not None:
        text = shorten(text, limit)
    text = _SPECIAL.sub(lambda match: f"\\{match.group()}", text)
    text = html.escape(text, quote=False)
    text = _LIVE.sub(lambda match: _ENTITIES.get(match[0]) or f"{match[0][:-1]}&#46;", text)
    if re.match(r"[-+=#:]", text):
        return f"\\{text}"
    return re.sub(r"^(\d{1,9})([.)])(?= |$)", r"\1\\\2", text)  # the beginning of a numbered list


def paragraphs(text: str) -> Html:
    """Make a text of several lines safe; blank lines part paragraphs, lines stay lines."""
    parts = re.split(r"\n\s*\n", text.strip())
    return Html("\n\n".join("  \n".join(inline(line, None) for line in part.splitlines()) for part in parts))


def linked(text: object, address: str) -> Html:
    """Link a text to an address that is known to be harmless; without one the text alone."""
    return Html(f"[{inline(text)}]({address})" if address else inline(text))


def code(text: str) -> Html:
    """Show a digest or a name of hexadecimal digits; ``none`` if it is empty."""
    harmless = re.sub(r"[^A-Za-z0-9.:-]", "", text)
    return Html(f"`{harmless}`" if harmless else "none")


templates.FILTERS |= {"code": code, "linked": linked, "paragraphs": paragraphs}
