"""Figures of how good a model is for each group: the group's own value, beside that of its reference.

Marks and words are about the interval of the difference to the reference; the line is the interval of the
group's own value.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soundcheck.report import states
from soundcheck.report.names import label as written
from soundcheck.report.names import sentence
from soundcheck.report.sentences import estimate, is_rate
from soundcheck.report.style import GREY, label, look, new
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, mirrors
from soundcheck.suite.measures import HIGHER, LOWER, MeasureInfo, info_of, measure_of

MOST_GROUPS = 24  # of a panel; beyond, those that are worst
MOST_PANELS = 8
BALANCED = " (balanced)"  # after the measure of groups that were drawn to be alike
_PLACE = ["corpus", "task", "measure", "label", "part"]
_WORDS = {
    PASS: "within the margin",
    FAIL: "{side}, beyond the margin",
    INCONCLUSIVE: "interval on both sides",
    REPORTED: "no margin",
    NOT_EVALUATED: "not compared",
}


def group_values(estimates: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Put the own values of groups beside what they are compared with.

    Parameters
    ----------
    estimates, rows
        Rows of the table of estimates, and of the results table.

    Returns
    -------
    pandas.DataFrame
        Estimates of groups for signals as they are, with ``column`` and ``group``, and ``others_value, gap,
        evidence, mirrors`` of the results, empty where nothing was compared. Single bins are left out, and of
        classes all but the share of answers that name them.
    """
    own = estimates[estimates["part"].str.contains(": ", regex=False) & estimates["condition"].eq("")]
    own = own.assign(measure=own["measure"].str.removesuffix(BALANCED))
    own = own.drop_duplicates(_PLACE, keep="last")
    shares = own["measure"].eq("predicted_share") & own["label"].eq(own["label"].map(written))
    own = own[own["label"].eq("") | shares]
    compared = rows[rows["against"].ne("")]
    names = [measure_of(*pair).name for pair in zip(compared["test"], compared["family"], strict=True)]
    measure = pd.Series(names, index=compared.index, dtype="str")
    found = compared.assign(measure=measure, mirrors=mirrors(compared)).rename(columns={"group": "part"})
    found["evidence"] = found["evidence"].where(found["mirrors"].eq(""), "")  # two groups are one test
    found = found[[*_PLACE, "others_value", "gap", "evidence", "mirrors"]].drop_duplicates(_PLACE)
    parts = own["part"].str.split(": ", n=1)
    own = own.assign(column=parts.str[0], group=parts.str[1].map(written))
    return own.merge(found, on=_PLACE, how="left").fillna({"evidence": "", "mirrors": ""})


def own_values(frame: pd.DataFrame) -> Figure:
    """Draw the value of each group with its interval, and that of its reference as a tick.

    Parameters
    ----------
    frame
        Rows of one corpus, task and column from :func:`group_values`; the worst groups come first.
    """
    panels = _panels(frame)
    heights = [0.9 + 0.27 * len(rows) for _, rows in panels] or [1.0]
    names = max((len(_name(row)) for row in frame.itertuples()), default=0)
    with look():
        size = 6.0 + 0.07 * names, sum(heights) + 0.2
        figure, all_axes = new(*size, len(heights), height_ratios=heights)
        for axes, (info, rows) in zip(all_axes, panels, strict=False):
            _panel(axes, rows, info)
    return figure


def described(frame: pd.DataFrame) -> str:
    """Say in words what :func:`own_values` shows, for readers who do not see it."""
    parts = []
    for info, rows in _panels(frame):
        each = [
            f"{row.group} {_estimate(row, info)}" + ("" if row.mirrors else f" ({_words(row, info)})")
            for row in rows.itertuples()
        ]
        parts.append(f"{_title(info, rows)}: {', '.join(each)}")
    return ". ".join(parts)


def finding(frame: pd.DataFrame) -> str:
    """Name the groups with the worst and the best value of the first measure."""
    panels = _panels(frame)
    if not panels:
        return ""
    info, rows = panels[0]
    ends = ("worst", "best") if info.better else ("lowest", "highest")
    each = [
        f"{end} {label(row.group, 40)}, {_estimate(row, info)}"
        for end, row in zip(ends, rows.iloc[[0, -1][: len(rows)]].itertuples(), strict=False)
    ]
    return f"{sentence(_title(info, rows))}: {'; '.join(each)}"


def _panels(frame: pd.DataFrame) -> list[tuple[MeasureInfo, pd.DataFrame]]:
    found = []
    for (measure, _), rows in frame[frame["value"].notna()].groupby(["measure", "label"], sort=False):
        info = info_of(measure)
        ranked = rows.sort_values(["value", "group"], ascending=[info.better != LOWER, True], kind="stable")
        ranked.attrs["of"] = len(ranked)
        found.append((info, ranked.head(MOST_GROUPS)))
    return found[:MOST_PANELS]


def _panel(axes: Axes, rows: pd.DataFrame, info: MeasureInfo) -> None:
    for place, row in enumerate(rows.itertuples()):
        state = states.of_evidence(row.evidence)
        axes.vlines(row.others_value, place - 0.35, place + 0.35, color=GREY, linewidth=1.5)
        axes.hlines(place, row.low, row.high, color=state.colour, linewidth=2)
        if pd.isna(row.low):  # too few speakers
            axes.hlines(
                place, row.low_sample, row.high_sample, color=state.colour, linewidth=1, linestyle=":"
            )
        face = state.colour if state.filled else "white"
        mark = {"marker": state.marker, "color": state.colour, "markerfacecolor": face, "markersize": 7}
        axes.plot(row.value, place, **mark, markeredgewidth=1.4)
        if row.mirrors:
            continue
        at_right = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8.5}
        axes.text(1.02, place, f"{state.sign} {_words(row, info)}", **at_right)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows.itertuples()], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    left, right = {HIGHER: ("worse", "better"), LOWER: ("better", "worse")}.get(
        info.better, ("lower", "higher")
    )
    cut = f"\nthe worst {len(rows)} of {rows.attrs['of']} groups" if rows.attrs["of"] > len(rows) else ""
    reference = "\n(grey: what the group is compared with)" if rows["others_value"].notna().any() else ""
    axes.set_xlabel(f"{left}  ←  {_title(info, rows)}  →  {right}{reference}{cut}")


def _title(info: MeasureInfo, rows: pd.DataFrame) -> str:
    return ", ".join(filter(None, (info.title, label(rows["label"].iloc[0], 40))))


def _name(row: object) -> str:
    return f"{label(row.group, 40)} ({row.segments:,})"


def _estimate(row: object, info: MeasureInfo) -> str:
    return estimate(row.value, row.low, row.high, percent=is_rate(info))


def _words(row: object, info: MeasureInfo) -> str:
    if not info.better:
        side = "higher" if row.gap > 0 else "lower"
    else:
        side = "better" if (row.gap > 0) == (info.better == HIGHER) else "worse"
    return _WORDS[states.of_evidence(row.evidence).name].format(side=side)
