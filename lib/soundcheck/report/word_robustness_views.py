"""What the page about word errors under stress shows: curves, levels at which limits are reached, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.word_robustness import DOUBLE, HALF, Limit
from soundcheck.metrics.disagreement import Setting
from soundcheck.report import changed_recognition, page
from soundcheck.report.html import Html, element, folded
from soundcheck.report.recognition_tables import POINTS, percent_cell
from soundcheck.report.style import label
from soundcheck.report.sweep_figures import small_curves
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.statistics.crossing import Crossing
from soundcheck.suite.families import PerturbationSeries

__all__ = ["curve_figure", "curve_table", "group_table", "level_table", "listen"]

AS_IT_IS = "as it is"
MOST_HEARD = 4


def curve_figure(evaluation: Recognition, frame: pd.DataFrame) -> None:
    """Draw the rate under each change from mild to severe; ``frame`` is of one corpus."""
    clean = frame.iloc[0]
    lines = {"twice the rate as it is": DOUBLE * clean["rate"], "every second word": HALF}
    drawn = frame.rename(columns={"rate": "value", "rate_low": "low", "rate_high": "high"})
    axes = {name: series.axis for name, series in evaluation.family.transformations.items()}
    figure = small_curves(drawn, lines, axes, "word error rate")
    alt = f"Word error rate under each change, from mild to severe, {clean['corpus']}"
    page.show(evaluation, figure, alt, _finding(frame))


def _finding(frame: pd.DataFrame) -> str:
    """Say under which changes the rate clearly rises at any level."""
    rises = frame[frame["change_low"] > 0]
    every = frame.loc[frame["transformation"] != "", "transformation"].nunique()
    worst = rises.loc[rises.groupby("transformation", sort=False)["change"].idxmax()]
    worst = worst.sort_values("change", ascending=False, kind="stable")
    if worst.empty:
        return f"Under none of {counted(every, 'change')} the word error rate can be told to rise"
    named = [
        f"{label(row.transformation)} {label(row.level)} (by {number(100 * row.change, 1)} points)"
        for row in worst.head(3).itertuples()
    ]
    told = f"The word error rate clearly rises under {len(worst)} of {counted(every, 'change')}"
    return f"{told}, most under {', '.join(named)}"


def curve_table(frame: pd.DataFrame) -> Html:
    """Give the numbers of the curves behind a line that opens them: rates, changes in points and relative."""
    rows = []
    for row in frame.to_dict("records"):
        cells = [
            percent_cell(row[name], row[f"{name}_low"], row[f"{name}_high"], unit)
            for name, unit in (("rate", "%"), ("change", POINTS), ("relative", "%"))
        ]
        counts = f"{row['segments']} in {row['blocks']} blocks"
        names = [row["corpus"], row["transformation"] or AS_IT_IS, Cell(row["level"])]
        rows.append([*names, *cells, percent_cell(row["reference"]), counts])
    columns = ["corpus", "change of the sound", "level", "word error rate", "change", "relative change"]
    shown = table(rows, [*columns, "random model", "segments"], caption="Word error rate at each level")
    return folded(f"All levels in numbers: {counted(len(rows), 'row')}", [shown])


def level_table(limits: Sequence[Limit], transformations: Mapping[str, PerturbationSeries]) -> Html:
    """Show at which level of each change the rate doubles, and at which it reaches one half."""
    rows = []
    for limit in limits:
        cells = [_reached(crossing, limit.levels) for crossing in (limit.doubled, limit.half)]
        if limit.remark:
            cells[0] = Cell(two_lines(cells[0].content, limit.remark))
        axis = transformations[limit.transformation].axis
        clean = percent_cell(limit.clean)
        rows.append([limit.corpus, limit.transformation, axis, clean, *cells])
    columns = ["corpus", "change of the sound", "measured in", "rate as it is", "rate doubles at"]
    columns.append(f"rate reaches {100 * HALF:.0f}\xa0% at")
    return table(
        rows, columns, caption="Levels at which the word error rate reaches a limit, with 95 % intervals"
    )


def _reached(crossing: Crossing, levels: Sequence[str]) -> Cell:
    if np.isnan(crossing.place):
        return Cell("")
    value = level_name(crossing.place, levels)
    if np.isnan(crossing.low):
        return Cell(two_lines(value, "no interval: too few blocks"))
    if np.isinf(crossing.low) and crossing.low == crossing.high:
        return Cell(two_lines(value, "in its whole interval"))
    low, high = level_name(crossing.low, levels), level_name(crossing.high, levels)
    if np.isinf(crossing.high):
        high = f"beyond {label(levels[-1])}"
    return Cell(two_lines(value, f"{low} to {high}"))


def level_name(place: float, levels: Sequence[str]) -> str:
    """Name a place between levels: interpolated between numbers, else the level by which it is reached.

    Examples
    --------
    >>> [level_name(place, ["10", "5", "0"]) for place in (1.5, -np.inf, np.inf)]
    ['2.5', 'milder than 10', 'not reached up to 0']
    >>> level_name(0.3, ["fine", "poor"])
    'by poor'
    """
    if np.isnan(place):
        return ""
    if place < 0:
        return f"milder than {label(levels[0])}"
    if np.isinf(place):
        return f"not reached up to {label(levels[-1])}"
    try:
        numbers = [float(level) for level in levels]
    except ValueError:
        return f"by {label(levels[int(np.ceil(place))])}"
    return f"{float(np.interp(place, range(len(numbers)), numbers)):.3g}".replace("-", "−")


def group_table(frames: Sequence[pd.DataFrame]) -> Html:
    """Show how much each group loses on average, and where it loses most against the others of its column.

    Parameters
    ----------
    frames
        From :func:`soundcheck.evaluation.word_robustness.group_changes`, one a corpus.
    """
    rows = []
    columns_of = [found for frame in frames for found in frame.groupby(["corpus", "column"], sort=False)]
    for (corpus, column), own in columns_of:
        changes = own.pivot(index="group", columns="transformation", values="value")
        excess = changes - changes.mean()
        for row in own[own["transformation"] == ""].sort_values("value", ascending=False).itertuples():
            others = excess.loc[row.group].drop("").dropna()
            most = others.idxmax() if len(others) else ""
            told = f"{most}, by {number(100 * others[most], 1)} points" if most else ""
            span = percent_cell(row.value, row.low, row.high, POINTS)
            rows.append([corpus, column, row.group, span, told, row.segments, row.blocks])
    if not rows:
        return element("p", "No groups are compared.")
    columns = ["corpus", "column", "group", "mean change", "above the mean of the groups most under"]
    columns += ["segments", "blocks"]
    return table(rows, columns, caption="Who loses most: mean change of the word error rate over all levels")


def listen(evaluation: Recognition, subset: Subset, frame: pd.DataFrame) -> Html:
    """Play the changes that raise the rate most, at the level where each does."""
    own = frame[frame["corpus"].eq(subset.corpus) & frame["change"].gt(0)]
    if own.empty:
        return element("p", f"{subset.corpus}: under no change more words are wrong.")
    worst = own.loc[own.groupby("transformation", sort=False)["change"].idxmax()]
    worst = worst.sort_values("change", ascending=False, kind="stable").head(MOST_HEARD)
    settings: list[Setting] = list(zip(worst["transformation"], worst["level"], strict=True))
    return changed_recognition.most_harmed(evaluation, subset, settings)
