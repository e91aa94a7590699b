"""Writes the numbers that say how good models are, beside those of chance, for pages and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from soundcheck.common.caveats import Caveat
from soundcheck.common.wording import counted
from soundcheck.report.formats import significant
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import Cell, table, two_lines
from soundcheck.results.record import KeyFigure, ModelRecord
from soundcheck.results.standing import HOLLOW, PROVEN, UNPROVEN, standing
from soundcheck.statistics.bootstrap import FEW_BLOCKS

RATES = (
    "word error rate",
    "character error rate",
    "mixed error rate",
    "equal error rate",
    "false acceptance rate",
    "false rejection rate",
)
WORSE_THAN_CHANCE = "worse than chance"
_REVERSED = {  # measure -> what turns it around, and the key that mends it
    "concordance": "Is the scale reversed? Then write its ends that way, such as `range: [1, 0]`",
    "unweighted average recall": "Are its classes in another order? Compare its answers with the labels",
    "equal error rate": "Are the scores distances? Then declare `distances: true`",
}
_PER_CENT = "\xa0%"
EXPLAINED = {
    PROVEN: "better than chance",
    HOLLOW: "no better than chance",
    UNPROVEN: "not known to be better than chance",
}


def value(figure: KeyFigure, number: float | None = None) -> str:
    """Write the value of a figure, rates in per cent; another number of the same kind if it is given."""
    number = figure.value if number is None else number
    if number is None:
        return ""
    if figure.measure in RATES:
        return f"{significant(100 * number, 3)}{_PER_CENT}"
    return significant(number)


def interval(figure: KeyFigure) -> str:
    """Write the bounds of a figure for new speakers, ``0.57 to 0.66``; empty if there are none."""
    return _bounds(figure, figure.low, figure.high)


def sample_interval(figure: KeyFigure) -> str:
    """Write the bounds of a figure for these speakers, as :func:`interval`."""
    return _bounds(figure, figure.low_sample, figure.high_sample)


def _bounds(figure: KeyFigure, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{value(figure, low).partition(_PER_CENT)[0]} to {value(figure, high)}"


def sentence(figure: KeyFigure, *, corpus: bool = False) -> str:
    """Write a figure in one line: ``concordance of arousal 0.61 (95 % 0.57 to 0.66, 26 speakers)``.

    Where speakers are few, with its interval for these speakers.

    Parameters
    ----------
    figure
        The figure.
    corpus
        Whether to name its corpus.
    """
    of = "" if figure.measure in RATES else f" of {figure.task}"
    where = f" on {figure.corpus}" if corpus else ""
    if figure.value is None:
        return f"{figure.measure}{of}{where}: none, {figure.reason}"
    span, here = interval(figure), sample_interval(figure)
    company = [f"95 % {span}" if span else "no interval for new speakers"]
    company += [f"for these speakers {here}"] if here and (figure.blocks < FEW_BLOCKS or not span) else []
    company.append(counted(figure.blocks, figure.block))
    return f"{figure.measure}{of}{where} {value(figure)} ({', '.join(company)})"


def worse_than_chance(figure: KeyFigure) -> bool:
    """Say whether the whole interval of a figure is on the wrong side of chance."""
    if figure.measure not in _REVERSED or None in (figure.low, figure.high, figure.guessing):
        return False
    return figure.low > figure.guessing if figure.measure in RATES else figure.high < figure.guessing


def reversed_caveats(figures: Sequence[KeyFigure], models: Sequence[ModelRecord]) -> list[Caveat]:
    """Suspect the direction of the answers where a model is worse than chance."""
    kinds = {model.name: model.kind for model in models}
    return [
        Caveat(
            f"{sentence(figure)} is {WORSE_THAN_CHANCE}. {_REVERSED[figure.measure]}",
            figure.model,
            figure.corpus,
            figure.task,
        )
        for figure in figures
        if worse_than_chance(figure) and kinds[figure.model] != "random"
    ]


def figure_table(figures: Sequence[KeyFigure]) -> Html:
    """Show figures with their company, and whether they are better than chance."""
    rows = []
    for figure in figures:
        lines = filter(None, (interval(figure) or figure.reason, sample_interval(figure)))
        span = join(element("span", line, class_="sc-line") for line in lines)
        shown = two_lines(value(figure) or "–", span)
        means = WORSE_THAN_CHANCE if worse_than_chance(figure) else EXPLAINED.get(figure.standing, "")
        if figure.threshold is not None:
            means = f"at the threshold in use, {significant(figure.threshold, 3)}"
        rows.append(
            [
                figure.task,
                figure.corpus,
                figure.measure,
                Cell(shown, figure.value, "sc-number"),
                Cell("" if figure.guessing is None else value(figure, figure.guessing), None, "sc-number"),
                figure.segments,
                f"{counted(figure.blocks, figure.block)}",
                means,
            ]
        )
    columns = ["task", "corpus", "measure", "value, 95 % interval, and for these speakers", "chance"]
    return table(rows, [*columns, "segments or trials", "rests on", "that is"], sortable=False)


def standing_notes(figures: Sequence[KeyFigure] | None, model: str, tasks: Sequence[str]) -> list[str]:
    """Say at which tasks a model is not better than chance, or not known to be, and by which number.

    Parameters
    ----------
    figures
        Numbers of all models; ``None`` if nobody computed them.
    model, tasks
        Whom to look at.

    Returns
    -------
    list of str
        One text a task: ``"no better than chance at valence: concordance of valence 0.02 (95 % …)"``.
    """
    notes = []
    for task in tasks if figures is not None else ():
        found = standing(figures, model, task)
        if found.name != PROVEN:
            why = sentence(found.figure) if found.figure else "no corpus has labels for it"
            worse = found.figure is not None and worse_than_chance(found.figure)
            notes.append(f"{WORSE_THAN_CHANCE if worse else EXPLAINED[found.name]} at {task}: {why}")
    return notes
