"""The views that all families share: tables, intervals of parts, and values along a scale.

Rows come from the tables of results, estimates and comparisons; nothing is computed here.
"""

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soundcheck.common import templates
from soundcheck.common.messages import counted
from soundcheck.report import style
from soundcheck.report.formats import STATE, Cell, estimate, number, value_cell
from soundcheck.report.formats import label as named
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.style import BLUE, DASHES, GREY, MARKS, ORANGE, PALETTE, label, legend_name, look
from soundcheck.results.states import REPORTED
from soundcheck.suite.families import info_of

Rows = pd.DataFrame | Sequence[Mapping[str, object]]
Column = str | Callable[[SimpleNamespace], object]
MOST_PANELS = 40
MOST_STEPS = 8  # names along an axis that are not numbers stay level up to here
MOST_MARKED = 60  # points of a line that have marks


def table(
    rows: Rows,
    columns: Mapping[str, Column] | Sequence[str] | None = None,
    *,
    caption: str = "",
    first: int | None = None,
    sortable: bool = True,
    filters: Mapping[str, str] | None = None,
    stacked: bool = False,
    beside: str | None = None,
    none: str | None = None,
) -> Html:
    """Show rows as a table; texts are escaped and numbers stand at the right.

    ``columns`` are headers -> name of a column, or a function of a row that gives text, a number, HTML or a
    :class:`~soundcheck.report.formats.Cell`; or names of columns, by default all. Columns without any content
    are left out, rows after the ``first`` folded. ``filters`` are headers -> what the list is called by which
    a reader chooses a value; ``stacked``: a telephone shows the cells of a row below each other; ``beside``
    is a file with all rows, of which these are the first; ``none`` is said, or nothing shown if it is ``""``,
    where there is no row.
    """
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, dtype=object)
    if none is not None and frame.empty:
        return element("p", none) if none else Html()
    if not isinstance(columns, Mapping):
        columns = {name: name for name in (frame.columns if columns is None else columns)}
    rows = [SimpleNamespace(**row) for row in frame.to_dict("records")]
    lines = [
        [_cell(column, row, name if stacked else None) for name, column in columns.items()] for row in rows
    ]
    heads, used = [], []
    for place, name in enumerate(columns):
        filled = [line[place].attributes.get("class_") for line in lines if line[place].content != ""]
        if filled or not lines:
            right = "sc-number" if set(filled) == {"sc-number"} else None
            about = {"scope": "col", "data_filter": (filters or {}).get(name), "class_": right}
            heads.append(SimpleNamespace(content=name, attributes=about))
            used.append(place)
    lines = [[line[place] for place in used] for line in lines]
    kinds = {"sc-sortable": sortable and (len(rows) > 1 or beside), "sc-stacked": stacked}
    about = {"class_": " ".join(["sc-table", *filter(kinds.get, kinds)]), "data_rows": beside}

    def drawn(lines: list, caption: str) -> Html:
        return templates.html("table", heads=heads, lines=lines, caption=caption, about=about)

    if first is None or len(lines) <= first:
        return drawn(lines, caption)
    rest = folded(f"{counted(len(lines) - first, 'more row')}", [drawn(lines[first:], "")])
    return join([drawn(lines[:first], caption), rest])


def listed(rows: Iterable[Sequence[object]], columns: Sequence[str], **options: object) -> Html:
    """Show rows of cells in the order of the columns; options are those of :func:`table`."""
    return table(pd.DataFrame(list(rows), columns=list(columns), dtype=object), **options)


def _cell(column: Column, row: SimpleNamespace, name: str | None) -> SimpleNamespace:
    """Give content and attributes of a cell; with its header where that may be out of sight."""
    value = getattr(row, column) if isinstance(column, str) else column(row)
    about: dict[str, object] = {"data_label": name}
    if isinstance(value, Cell):
        about |= {"id": value.anchor, "class_": value.class_, "data_sort": value.sort}
        return SimpleNamespace(content=value.content, attributes=about | {"data_facet": value.facet})
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return SimpleNamespace(content="", attributes=about)
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        about |= {"class_": "sc-number", "data_sort": value}
        whole = isinstance(value, numbers.Integral)
        return SimpleNamespace(content=f"{value:,}" if whole else number(float(value)), attributes=about)
    return SimpleNamespace(content=value if isinstance(value, Html) else str(value), attributes=about)


def measured(row: object) -> str:
    """Name what a row is a value of: the measure, and a class or bin if it has one."""
    return ", ".join(filter(None, (info_of(row.measure).title, named(row.label))))


def written(row: object) -> str:
    """Write a value with its interval for a sentence."""
    return estimate(row.value, row.low, row.high, percent=info_of(row.measure).rate)


def estimate_cell(row: object) -> Cell:
    """Show a value with its interval, or why there is none."""
    if pd.isna(row.value):
        return Cell(element("small", row.excluded, class_="sc-line"))
    unit, ends, below = "%" if info_of(row.measure).rate else "", (row.low, row.high), ""
    if pd.isna(row.low):
        ends = row.low_sample, row.high_sample
        below = "; ".join(filter(None, ("" if pd.isna(ends[0]) else "for these speakers", row.excluded)))
    return value_cell(row.value, *ends, unit, below)


def estimate_table(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    across: str = "",
    counts: str = "segments",
    caption: str = "",
) -> Html:
    """Show estimates, a line for each combination of the columns in ``names``, which has their heads.

    The values of the column ``across`` are the other heads; without, what is measured. ``counts`` says what
    is counted; empty, nothing is.
    """
    if frame.empty:
        return Html()
    heads = frame[across] if across else [measured(row) for row in frame.itertuples()]
    frame = frame.assign(head=heads, cell=[estimate_cell(row) for row in frame.itertuples()])
    lines = frame.groupby([*names, "head"], sort=False)["cell"].last().unstack(sort=False)
    if counts:
        sizes = frame.groupby(list(names), sort=False)[["segments", "speakers"]].max()
        sizes["speakers"] = sizes["speakers"].map(lambda number: number or "")
        lines = lines.join(sizes.rename(columns={"segments": counts}))
    lines = lines.rename_axis(list(names.values())).reset_index()
    return table(lines, caption=caption, sortable=False)


def forest(
    frame: pd.DataFrame, *, name: str = "name", panels: str | None = None, unit: str = "", cut: int = 24
) -> Figure:
    """Draw values with their intervals, a line a row, which the column ``name`` names.

    ``frame`` has ``value, low, high`` and, each if it is there: ``low_sample, high_sample`` (dotted where
    there is no other interval), ``state`` (its colour and mark), ``reference`` (a grey tick), ``margin`` (a
    grey band around the reference) and ``words``, which stand at the right. The figure is divided by the
    values of the column ``panels``; ``unit`` says what values are. Of a panel ``cut`` lines are drawn.
    """
    parts, fewer = _panels(frame[frame["value"].notna()], panels)
    heights = [0.9 + 0.27 * min(cut, len(rows)) for _, rows in parts]
    letters = max((len(label(text, 40)) for text in frame[name]), default=0)
    with look():
        size = 5.6 + 0.07 * letters, sum(heights) + 0.2
        figure, all_axes = style.new(*size, len(parts), height_ratios=heights)
        for axes, (title, rows) in zip(all_axes, parts, strict=True):
            _draw_rows(axes, rows.head(cut), name)
            left_out = f"the first {cut} of {len(rows)}" if len(rows) > cut else ""
            axes.set_xlabel("\n".join(filter(None, (label(unit, 80), left_out))))
            axes.set_title(label(title, 80), loc="left", fontsize=10)
        if fewer:
            figure.suptitle(fewer, x=0.01, ha="left", fontsize=9)
    return figure


def _panels(frame: pd.DataFrame, column: str | None) -> tuple[list[tuple[str, pd.DataFrame]], str]:
    """Divide rows by a column, in the order of first appearance; say what is left out. One panel at least."""
    parts = [("", frame)]
    if column is not None and len(frame):
        parts = [(str(title), rows) for title, rows in frame.groupby(column, sort=False)]
    fewer = f"the first {MOST_PANELS} of {len(parts)} panels" if len(parts) > MOST_PANELS else ""
    return parts[:MOST_PANELS], fewer


def _draw_rows(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    for place, row in enumerate(rows.to_dict("records")):
        state = STATE[row.get("state") or REPORTED] if "state" in row else None
        color = BLUE if state is None else state.colour
        reference, margin = row.get("reference", np.nan), row.get("margin", np.nan)
        if not pd.isna(margin):
            axes.barh(place, 2 * margin, 0.8, reference - margin, color=GREY, alpha=0.18, lw=0)
        axes.vlines(reference, place - 0.4, place + 0.4, color=GREY, linewidth=1.5)
        axes.hlines(place, row["low"], row["high"], color=color, linewidth=2)
        if pd.isna(row["low"]) and "low_sample" in row:  # too few speakers for the other interval
            axes.hlines(place, row["low_sample"], row["high_sample"], color=color, linestyle=":")
        face = color if state is None or state.filled else "white"
        mark = {"marker": "o" if state is None else state.marker, "markersize": 7, "markeredgewidth": 1.4}
        axes.plot(row["value"], place, color=color, markerfacecolor=face, **mark)
        if words := row.get("words", ""):
            right = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8.5}
            axes.text(1.02, place, label(words, 80), **right)
    axes.set_yticks(range(len(rows)), [label(text, 40) for text in rows[name]], fontsize=9)
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)


def lines(
    frame: pd.DataFrame,
    x: str,
    *,
    y: str = "value",
    hue: str | None = None,
    panels: str | None = None,
    xlabel: str = "",
    ylabel: str = "",
    threshold: float | None = None,
) -> Figure:
    """Draw values along a scale, with the band of their intervals and, dashed, a threshold.

    ``frame`` has a row a point in the order of the scale, with the columns ``x`` and ``y`` and, if they are
    there, ``low`` and ``high``. Numbers in ``x`` stand where they are, names at equal distances. Values
    of ``hue`` have lines of their own, by colour and mark; the figure is divided by the values of ``panels``.
    """
    parts, fewer = _panels(frame[frame[y].notna()], panels)
    names = list(dict.fromkeys(frame[hue])) if hue else [""]
    numeric = pd.api.types.is_numeric_dtype(frame[x])
    with look():
        figure, all_axes = style.grid(len(parts), 2, 4.6, 3.0, (1.2, 0.6))
        for axes, (title, rows) in zip(all_axes, parts, strict=False):
            steps = list(dict.fromkeys(rows[x]))
            for n, name in enumerate(names):
                line_rows = rows[rows[hue].eq(name)] if hue else rows
                at = line_rows[x] if numeric else line_rows[x].map(steps.index)
                mark = MARKS[n % len(MARKS)] if len(line_rows) < MOST_MARKED else None
                line = {"color": PALETTE[n % len(PALETTE)], "marker": mark}
                line["linestyle"] = "-" if mark else DASHES[n % len(DASHES)]
                axes.plot(at, line_rows[y], label=legend_name(name), **line)
                if "low" in line_rows and line_rows["low"].notna().any():
                    axes.fill_between(
                        at, line_rows["low"], line_rows["high"], color=line["color"], alpha=0.15, lw=0
                    )
            if not numeric:
                slope = {"rotation": 35, "ha": "right"} if len(steps) > MOST_STEPS else {}
                axes.set_xticks(range(len(steps)), [label(step, 20) for step in steps], **slope)
            if threshold is not None:
                axes.axhline(threshold, color=ORANGE, linestyle="--", linewidth=1.2)
            axes.set(xlabel=label(xlabel, 60), ylabel=label(ylabel, 60))
            axes.set_title(label(title, 60), loc="left", fontsize=10)
        if len(names) > 1:
            all_axes[0].legend(fontsize=9)
        if fewer:
            figure.suptitle(fewer, x=0.01, ha="left", fontsize=9)
    return figure
