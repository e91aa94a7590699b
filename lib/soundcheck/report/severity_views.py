"""What pages about changes from mild to severe show: curves, levels at which limits are reached, groups.

A *rate* is named by the page: the word error rate, the equal error rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.robustness import DOUBLE, Limit
from soundcheck.metrics.disagreement import Setting
from soundcheck.report import page
from soundcheck.report.html import Html, element, folded
from soundcheck.report.recognition_tables import POINTS, percent_cell
from soundcheck.report.style import label
from soundcheck.report.sweep_figures import small_curves
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.statistics.crossing import Crossing
from soundcheck.suite.families import PerturbationSeries

AS_IT_IS = "as it is"
MOST_HEARD = 4
HALF = 0.5


def curve_figure(evaluation: Evaluation, frame: pd.DataFrame, rate: str, half: str) -> None:
    """Draw a rate under each change from mild to severe.

    Parameters
    ----------
    evaluation
        For the family's transformations, and the media store.
    frame
        From :func:`soundcheck.evaluation.robustness.curve_frame`, of one corpus.
    rate
        What the rate is called.
    half
        What a rate of one half means.
    """
    clean = frame.iloc[0]
    lines = {"twice the rate as it is": DOUBLE * clean["rate"], half: HALF}
    drawn = frame.rename(columns={"rate": "value", "rate_low": "low", "rate_high": "high"})
    axes = {name: series.axis for name, series in evaluation.family.transformations.items()}
    figure = small_curves(drawn, lines, axes, rate)
    alt = f"{rate.capitalize()} under each change, from mild to severe, {clean['corpus']}"
    page.show(evaluation, figure, alt, _finding(frame, rate))


def _worst(frame: pd.DataFrame, column: str = "change") -> pd.DataFrame:
    """Keep of each transformation the level that raises the rate most, if it does; the worst first."""
    rises = frame[frame[column] > 0]
    worst = rises.loc[rises.groupby("transformation", sort=False)["change"].idxmax()]
    return worst.sort_values("change", ascending=False, kind="stable")


def _finding(frame: pd.DataFrame, rate: str) -> str:
    """Say under which changes the rate rises at any level, with an interval above 0."""
    every = frame.loc[frame["transformation"] != "", "transformation"].nunique()
    worst = _worst(frame, "change_low")
    if worst.empty:
        return f"The rise of the {rate} has no interval above 0 under {counted(every, 'change')}"
    named = [
        f"{label(row.transformation)} {label(row.level)} (by {number(100 * row.change, 1)} points)"
        for row in worst.head(3).itertuples()
    ]
    count = f"{len(worst)} of {counted(every, 'change')}, with intervals above 0"
    return f"The {rate} rises under {count}; most under {', '.join(named)}"


def worst_settings(frame: pd.DataFrame, most: int = MOST_HEARD) -> list[Setting]:
    """List the changes that raise the rate most, at the level where each does; ``frame`` is of one corpus."""
    worst = _worst(frame).head(most)
    return list(zip(worst["transformation"], worst["level"], strict=True))


def curve_table(frame: pd.DataFrame, columns: Mapping[str, tuple[str, str]], rests_on: Sequence[str]) -> Html:
    """Give the numbers of the curves behind a line that opens them.

    Parameters
    ----------
    frame
        From :func:`soundcheck.evaluation.robustness.curve_frame`.
    columns
        Measure -> its title and unit; the rate first. Without a unit it is no share.
    rests_on
        What is counted, a preposition, and what it is in: ``("segments", "in", "blocks")``.
    """
    rows = []
    for row in frame.to_dict("records"):
        cells = [_span(row, name, unit) for name, (_, unit) in columns.items()]
        counts = f"{row['segments']:,} {rests_on[1]} {row['blocks']} {rests_on[2]}"
        names = [row["corpus"], row["transformation"] or AS_IT_IS, Cell(row["level"])]
        rows.append([*names, *cells, percent_cell(row["reference"]), counts])
    titles = [title for title, _ in columns.values()]
    head = ["corpus", "change of the sound", "level", *titles, "random model", rests_on[0]]
    shown = table(rows, head, caption=f"{titles[0].capitalize()} at each level")
    return folded(f"All levels in numbers: {counted(len(rows), 'row')}", [shown])


def _span(row: Mapping[str, float], name: str, unit: str) -> Cell | Html:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if unit:
        return percent_cell(value, low, high, unit)
    span = "" if np.isnan(low) else f"{number(low, 3)} to {number(high, 3)}".replace(" ", "\xa0")
    return Cell(two_lines(number(value, 3), span), float(value), "sc-number")


def level_table(
    limits: Sequence[Limit], transformations: Mapping[str, PerturbationSeries], rate: str
) -> Html:
    """Show at which level of each change a rate doubles, and at which it reaches one half."""
    rows = []
    half = any(limit.half is not None for limit in limits)
    for limit in limits:
        cells = [_reached(crossing, limit.levels) for crossing in (limit.doubled, limit.half) if crossing]
        if limit.remark:
            cells[0] = Cell(two_lines(cells[0].content, limit.remark))
        axis = transformations[limit.transformation].axis
        clean = percent_cell(limit.clean)
        rows.append([limit.corpus, limit.transformation, axis, clean, *cells])
    columns = ["corpus", "change of the sound", "measured in", "rate as it is", "rate doubles at"]
    columns += [f"rate reaches {100 * HALF:.0f}\xa0% at"] if half else []
    return table(rows, columns, caption=f"Levels at which the {rate} reaches a limit, with 95 % intervals")


def _reached(crossing: Crossing, levels: Sequence[str]) -> Cell:
    if np.isnan(crossing.place):
        return Cell("")
    value = level_name(crossing.place, levels)
    if np.isnan(crossing.low):
        return Cell(two_lines(value, "no interval: too few speakers"))
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


def group_table(frames: Sequence[pd.DataFrame], rate: str, rests_on: Sequence[str]) -> Html:
    """Show how much each group loses on average, and where it loses most against the others of its column.

    Parameters
    ----------
    frames
        From :func:`soundcheck.evaluation.robustness.group_changes`, one a corpus.
    rate
        What the rate is called.
    rests_on
        See :func:`curve_table`.
    """
    rows = []
    columns_of = [found for frame in frames for found in frame.groupby(["corpus", "column"], sort=False)]
    for (corpus, column), own in columns_of:
        changes = own.pivot(index="group", columns="transformation", values="value")
        excess = changes - changes.mean()
        for row in own[own["transformation"] == ""].sort_values("value", ascending=False).itertuples():
            others = excess.loc[row.group].drop("").dropna()
            most = others.idxmax() if len(others) else ""
            most_under = "none"
            if most and others[most] > 0:
                most_under = f"{most}, by {number(100 * others[most], 1)} points"
            span = percent_cell(row.value, row.low, row.high, POINTS)
            rows.append([corpus, column, row.group, span, most_under, row.segments, row.blocks])
    if not rows:
        return element("p", "No groups are compared.")
    columns = ["corpus", "column", "group", "mean change", "above the mean of the groups most under"]
    columns += [rests_on[0], rests_on[-1]]
    return table(rows, columns, caption=f"Who loses most: mean change of the {rate} over all levels")
