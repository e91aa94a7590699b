"""The verdict on a model in three lines of plain text: how good it is, what fails, what is inconclusive.

The lines are computed from the facts of the run, so they agree with the book. Names in them come from data:
whoever shows them escapes them for the place, :func:`as_markdown` for Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from soundcheck.common.escaping import shorten, terminal
from soundcheck.common.wording import counted
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import inline
from soundcheck.report import key_figures
from soundcheck.report.inconclusive import not_excluded
from soundcheck.results.conclusion import conclusion
from soundcheck.results.record import KeyFigure
from soundcheck.results.summary import aspects, headline, tally

INCONCLUSIVE = "What could not be concluded:"
MOST_FIGURES = 4  # numbers that the first line names
MOST_CHARACTERS = 90  # of a name
_RANDOM = "random"
_LIVE = re.compile(r"(?<=[@#!$%~])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)  # mentions, addresses


def verdict_lines(facts: ModelFacts) -> list[str]:
    """Say in three lines what a run found about a model, and what makes that doubtful.

    Parameters
    ----------
    facts
        From :func:`soundcheck.publish.facts.read_facts`.

    Returns
    -------
    list of str
        Plain text: ``"How good: …"``, ``"What fails: …"``, ``"What could not be concluded: …"``, and
        ``"Caveat: …"`` for each; not escaped.
    """
    lines = [
        f"How good: {_good(facts)}",
        f"What fails: {_fails(facts)}",
        f"{INCONCLUSIVE} {_inconclusive(facts)}",
    ]
    return [*lines, *(f"Caveat: {plain(str(caveat), None)}" for caveat in facts.caveats)]


def comparison_lines(frame: pd.DataFrame, facts: ModelFacts) -> list[str]:
    """Say in three lines what a comparison found, how good the candidate is, and which of its tests fail.

    Parameters
    ----------
    frame
        Contrasts of the comparison.
    facts
        Facts of the candidate.
    """
    return [
        f"The difference: {plain(conclusion(frame), 600)}",
        *(line for line in verdict_lines(facts) if not line.startswith(INCONCLUSIVE)),
    ]


def as_markdown(lines: Sequence[str], title: str = "") -> str:
    r"""Write lines as a Markdown list, whatever names are in them: no markup, no mention, no address.

    Parameters
    ----------
    lines
        From :func:`verdict_lines`.
    title
        What stands above.

    Examples
    --------
    >>> print(as_markdown(["What fails: <b> *x*"]), end="")
    - **What fails:** &lt;b&gt; \*x\*
    """
    shown = [f"**{_markdown(title)}**\n\n"] if title else []
    for line in lines:
        head, colon, rest = line.partition(":")
        shown.append(f"- **{_markdown(head)}{colon}** {_markdown(rest.strip())}\n")
    return "".join(shown)


def plain(text: str, limit: int | None = MOST_CHARACTERS) -> str:
    """Show a text from data on one line, cut where it is too long, control characters made visible."""
    text = " ".join(terminal(text.replace("\n", " ")).split())
    return text if limit is None else shorten(text, limit)


def _markdown(text: str) -> str:
    """Escape a text for a comment, where ``@name`` would call somebody however it is escaped."""
    return inline(_LIVE.sub("\u2060", text), None)


def _good(facts: ModelFacts) -> str:
    name = plain(facts.model.name)
    if facts.model.kind == _RANDOM:
        return f"{name} is a random reference: it guesses, and is there to be compared with."
    figures = [one for one in facts.figures if one.standing] or facts.figures
    if not figures:
        known = facts.record.figures is not None
        why = "no corpus has labels for its tasks" if known else "the run did not compute it"
        return f"of {name} that cannot be said: {why}."
    several = len({one.corpus for one in figures}) > 1
    parts, shown = [], 0
    compared = {one: _compared_with_chance(one) for one in figures}
    for words in dict.fromkeys((*key_figures.EXPLAINED.values(), *compared.values())):
        own = [one for one in figures if compared[one] == words]
        named = own[: max(0, MOST_FIGURES - shown)]
        shown += len(named)
        if own:
            more = [f"{len(own) - len(named)} more"] if len(own) > len(named) else []
            parts.append(f"{words}: {', '.join([*(_figure(one, several) for one in named), *more])}")
    said = f"{name} is {'; '.join(parts)}." if figures[0].standing else f"{name}: {'; '.join(parts)}."
    return f"{said} Some of the speech is synthetic, made by a machine." if facts.synthetic else said


def _compared_with_chance(figure: KeyFigure) -> str:
    if key_figures.worse_than_chance(figure):
        return key_figures.WORSE_THAN_CHANCE
    return key_figures.EXPLAINED.get(figure.standing, "no chance level to compare with")


def _figure(figure: KeyFigure, several: bool) -> str:
    text = key_figures.sentence(figure, corpus=several)
    if figure.guessing is not None and figure.value is not None and text.endswith(")"):
        text = f"{text[:-1]}; chance {key_figures.value(figure, figure.guessing)})"
    return plain(text, 200)


def _fails(facts: ModelFacts) -> str:
    rows = facts.counted
    said = headline(rows)
    about = aspects(facts.failing)
    excused = int(facts.failing["accepted"].ne("").sum())
    said += f" ({excused} accepted)" if excused else ""
    for aspect in about.unique():  # one bias hides no other
        own = facts.failing[about.eq(aspect)]
        which = f"of {len(own)} about {aspect}, " if about.nunique() > 1 else ""
        largest = plain(facts.sentence(next(own.itertuples())), 320)
        said += f"; {which}the largest: {largest}"
    return f"{said}. {tally(rows)}.{_uncounted(facts)}"


def _uncounted(facts: ModelFacts) -> str:
    """Say how many tests are left out because the model is no better than chance there."""
    left = facts.uncounted
    if left.empty:
        return ""
    tasks = ", ".join(plain(task) for task in dict.fromkeys(left["task"]))
    return f" Not counted, no better than chance at {tasks}: {counted(len(left), 'test')}."


def _inconclusive(facts: ModelFacts) -> str:
    rows, few = facts.inconclusive, facts.few
    parts = []
    if len(rows):
        parts.append(f"{counted(len(rows), 'test')} {'is' if len(rows) == 1 else 'are'} inconclusive")
        bound, where = not_excluded(rows)
        most = key_figures.significant(bound)
        parts[-1] += f": a difference of up to {most} is not excluded ({plain(where)})" if where else ""
    if len(few):
        largest = plain(facts.sentence(next(few.itertuples())), 320)
        parts.append(f"{counted(len(few), 'difference')} with too few speakers to generalise: {largest}")
    if len(facts.not_evaluated):
        parts.append(f"{counted(len(facts.not_evaluated), 'test')} not evaluated")
    if facts.failed:
        which = "its notebook" if len(facts.failed) == 1 else "their notebooks"
        parts.append(f"{', '.join(map(plain, facts.failed))}: {which} failed to run")
    return "; ".join(parts or ["nothing"]) + "."
