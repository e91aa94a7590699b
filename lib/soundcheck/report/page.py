"""What the notebooks of several families show: verdicts, intervals, curves, movements, speakers.

Every function displays at once what it makes, so that a notebook needs one line for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from soundcheck.common.wording import counted
from soundcheck.evaluation.comparison import Comparison
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.robustness import Swept
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.report import (
    figures,
    sentences,
    sweep_figures,
    tables,
)
from soundcheck.report.html import Html, folded, join
from soundcheck.report.names import remark
from soundcheck.report.verdict_tables import verdict_table
from soundcheck.statistics.evidence import FREE, Scale

MOST_OPEN = 8  # figures of a kind on a page; more are behind lines that open them


def opening(evaluation: Evaluation | Comparison) -> None:
    """Say if the data are synthetic and how scales are shown; the first thing on a page."""
    display(tables.synthetic_notice(evaluation.synthetic))
    if evaluation.scales:
        display(tables.notes(evaluation.scales))


def verdicts(evaluation: Evaluation) -> None:
    """Show all verdicts so far, and what is to be known of the data they rest on."""
    display(verdict_table(evaluation.frame(), None, evaluation.block_names))
    display(tables.notes([remark(note) for note in evaluation.notes]))


def show(evaluation: Evaluation | Comparison, figure: Figure, alt: str, finding: str = "") -> None:
    """Show a figure below its finding; ``alt`` says what it shows, for readers who do not see it."""
    display(figures.show(evaluation.media, figure, alt, finding=finding))


def intervals(evaluation: Evaluation) -> None:
    """Draw all values with their intervals and thresholds."""
    frame = evaluation.frame()
    alt = f"Values with 95 % intervals and thresholds; {figures.described(frame)}"
    show(evaluation, figures.intervals(frame), alt)


def movements(evaluation: Evaluation, subsets: Iterable[Subset]) -> None:
    """Draw how the predictions of each subset move under its change; of many, a line a change opens them."""
    drawn: dict[str, list[tuple[str, Html]]] = {}
    frame = evaluation.frame()
    for subset in subsets:
        alt = f"How predictions move: {subset.corpus}, {subset.task.name} under {subset.change}"
        finding = sentences.unchanged(frame, subset)
        shown = figures.show(evaluation.media, figures.movement(subset), alt, finding=finding)
        drawn.setdefault(subset.change, []).append((subset.task.name, shown))
    many = sum(map(len, drawn.values())) > MOST_OPEN
    for change, own in drawn.items():
        inside = (
            f"{change}: {counted(len(own), 'figure')}, {', '.join(dict.fromkeys(name for name, _ in own))}"
        )
        parts = [shown for _, shown in own]
        display(folded(inside, parts) if many else join(parts))


def curves(
    evaluation: Evaluation,
    swept: Iterable[Swept],
    measure: Measure,
    unit: str,
    what: str = "",
    *,
    share: bool = False,
    name: Callable[[Subset], str] = lambda _: "",
) -> None:
    """Draw a measure at each step of series of changes, with a table of its values.

    Parameters
    ----------
    evaluation
        For its bootstrap; nothing is judged.
    swept
        From :func:`soundcheck.evaluation.robustness.swept` or
        :func:`soundcheck.evaluation.robustness.labelled`; a series without any subset is passed over.
    measure
        As for :meth:`soundcheck.evaluation.evaluation.Evaluation.judge`, with a single value.
    unit
        What the measure is, for the axis.
    what
        The same in words, for those who do not see the figure; default: ``unit``.
    share
        Whether it is a share, from 0 to 1.
    name
        Name of the measure among the estimates, of a subset; empty if it is none of them.
    """
    scale = Scale(0, 1) if share else FREE
    for series, everywhere in swept:
        if everywhere:
            frame = pd.concat(
                [
                    evaluation.curve(steps, measure, scale, name(next(iter(steps.values()))), series.name)
                    for steps in everywhere
                ]
            )
            figure = figures.curves(frame, series.axis, unit)
            title = f"{series.name}: {what or unit}"
            show(evaluation, figure, title, sentences.levels(frame, title, series.axis))
            display(sweep_figures.curve_table(frame, series.axis, evaluation.block_names))


def speakers(subsets: Sequence[tuple[Subset, SpeakerValues]]) -> None:
    """Say how many speakers take part; from :func:`soundcheck.evaluation.speakers.subsets_with_speakers`."""
    rows = [
        (s.corpus, s.task.name, len(found), s.segments["speaker"].nunique(), found.counts.sum())
        for s, found in subsets
    ]
    display(tables.table(rows, ["corpus", "task", "speakers that take part", "of", "segments"]))
