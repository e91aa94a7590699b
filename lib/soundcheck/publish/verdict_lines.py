"""The verdict on a model in three lines of plain text: how good it is, what holds, what is open.

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
from soundcheck.report.unsettled import unsettled
from soundcheck.results import aspects, conclusion, tally
from soundcheck.results.record import KeyFigure
from soundcheck.results.standing import HOLLOW, PROVEN, UNPROVEN
from soundcheck.results.summary import CORRECTNESS

MOST_FIGURES = 4  # numbers that the first line names
MOST_CHARACTERS = 90  # of a name
_RANDOM = "random"
_STANDING = {
    PROVEN: "better than guessing",
    HOLLOW: "not better than guessing",
    UNPROVEN: "cannot be told from guessing",
}
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
        Plain text: ``"How good: …"``, ``"What holds: …"``, ``"What is open: …"``, and ``"Caveat: …"`` for
        each; not escaped.
    """
    lines = [f"How good: {_good(facts)}", f"What holds: {_holds(facts)}", f"What is open: {_open(facts)}"]
    return [*lines, *(f"Caveat: {plain(str(caveat), None)}" for caveat in facts.caveats)]


def comparison_lines(frame: pd.DataFrame, facts: ModelFacts) -> list[str]:
    """Say in three lines what a comparison found, how good the candidate is, and what holds of it.

    Parameters
    ----------
    frame
        Contrasts of the comparison.
    facts
        Facts of the candidate.
    """
    return [
        f"The difference: {plain(conclusion(frame), 600)}",
        *(line for line in verdict_lines(facts) if not line.startswith("What is open:")),
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
    >>> print(as_markdown(["What holds: <b> *x*"]), end="")
    - **What holds:** &lt;b&gt; \*x\*
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
    told, shown = [], 0
    worse, without = key_figures.WORSE_THAN_CHANCE, "no guessing to compare with"
    for words in (*_STANDING.values(), worse, without):
        own = [one for one in figures if words == _compared_with_guessing(one, worse, without)]
        named = own[: max(0, MOST_FIGURES - shown)]
        shown += len(named)
        if own:
            more = [f"{len(own) - len(named)} more"] if len(own) > len(named) else []
            told.append(f"{words}: {', '.join([*(_figure(one, several) for one in named), *more])}")
    said = f"{name} is {'; '.join(told)}." if figures[0].standing else f"{name}: {'; '.join(told)}."
    return f"{said} Some of the speech is synthetic, made by a machine." if facts.synthetic else said


def _compared_with_guessing(figure: KeyFigure, worse: str, without: str) -> str:
    return worse if key_figures.worse_than_chance(figure) else _STANDING.get(figure.standing, without)


def _figure(figure: KeyFigure, several: bool) -> str:
    text = key_figures.sentence(figure, corpus=several)
    if figure.guessing is not None and figure.value is not None and text.endswith(")"):
        text = f"{text[:-1]}; guessing {key_figures.value(figure, figure.guessing)})"
    return plain(text, 200)


def _holds(facts: ModelFacts) -> str:
    found = tally(facts.counted)
    if not found.judged:
        return "no test could be judged." + _uncounted(facts)
    tests = counted(found.judged, "test")
    clear = f"{found.clear_pass} {'is a clear pass' if found.clear_pass == 1 else 'are clear passes'}."
    if not found.holds:
        return f"no failure among {tests}; {clear}{_uncounted(facts)}"
    some = "failure holds" if found.holds == 1 else "failures hold"
    excused = int(facts.holding["accepted"].ne("").sum())
    accepted = f" ({excused} accepted)" if excused else ""
    about = aspects(facts.holding)
    gravest = {
        aspect: facts.holding[about.eq(aspect)] for aspect in about.unique()
    }  # one bias hides no other
    told = []
    for aspect, rows in gravest.items():
        which = f"of {len(rows)} about {aspect}, " if len(gravest) > 1 else ""
        told.append(f"{which}the gravest: {plain(facts.sentence(next(rows.itertuples())), 320)}")
    return (
        f"{found.holds} {some} among {tests}{accepted}, {'; '.join(told)}. Of all, {clear}{_uncounted(facts)}"
    )


def _uncounted(facts: ModelFacts) -> str:
    """Say how many tests are left out because nothing that only guesses can fail them."""
    left = facts.rows[facts.rows["standing"].eq(HOLLOW) & facts.rows["passed"].notna()]
    if left.empty:
        return ""
    tasks = ", ".join(plain(task) for task in dict.fromkeys(left["task"]))
    which = " and ".join(dict.fromkeys(aspects(left)[aspects(left).ne(CORRECTNESS)]))
    return f" {counted(len(left), 'test')} of {which} at {tasks} not counted: it only guesses there."


def _open(facts: ModelFacts) -> str:
    rows, judged = facts.undecided, tally(facts.counted).judged
    told = []
    if len(rows):
        are = "is" if len(rows) == 1 else "are"
        told.append(f"{len(rows)} of {counted(judged, 'test')} {are} open, the data do not settle them")
        bounded = [one for one in unsettled(facts.record, rows) if one.where and one.hides is not None]
        if bounded:
            worst = max(bounded, key=lambda one: one.hides)
            most = key_figures.significant(worst.hides)
            told[-1] += f": a difference of up to {most} may hide ({plain(worst.where)})"
    elif judged:
        told.append("nothing: each test is a clear pass or a failure that holds")
    if len(facts.skipped):
        told.append(f"{counted(len(facts.skipped), 'test')} could not be judged at all")
    if facts.failed:
        which = "its notebook" if len(facts.failed) == 1 else "their notebooks"
        told.append(f"{', '.join(map(plain, facts.failed))}: {which} failed to run")
    return "; ".join(told or ["nothing was judged"]) + "."
