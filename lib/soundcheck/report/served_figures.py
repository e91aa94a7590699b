"""Figures of how well groups are served: each group a line, everybody a vertical one, in words who is worse.

Conventions
-----------
- Marks are those of :mod:`soundcheck.report.states`: what a row's own interval settles is filled, the rest is
  hollow, failures are crosses. The words on the right say the same, so that no legend is needed.
- Values are those of the groups themselves; what is judged, and what the words are about, is the gap to the
  others.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soundcheck.report import states
from soundcheck.report.style import GREY, label, look, new
from soundcheck.report.tables import label as bin_label
from soundcheck.report.tables import number

MOST_GROUPS = 24  # of a panel; beyond, those that are worst
MOST_PANELS = 8
HIGHER, LOWER = "higher", "lower"  # values that are better
_WORDS = {
    "clear pass": "{sign} no difference that matters",
    "open pass": "{sign} open, no failure",
    "open fail": "{sign} perhaps {side}",
    "fail that holds": "{sign} clearly {side}",
    "shown": "{sign} no threshold",
}


@dataclasses.dataclass(frozen=True)
class Shown:
    """How a measure is drawn.

    Parameters
    ----------
    what
        What it is, in words for the axis.
    better
        Which values are better: ``"higher"``, ``"lower"`` or, of predictions without labels, ``""``.
    range
        Lowest and highest value.
    """

    what: str
    better: str
    range: tuple[float, float] = (-np.inf, np.inf)

    @property
    def axis(self) -> str:
        """The axis in words: which way is worse."""
        left, right = {HIGHER: ("worse", "better"), LOWER: ("better", "worse")}.get(
            self.better, ("lower", "higher")
        )
        return f"{left}  ←  {self.what}  →  {right}"

    def side(self, gap: float) -> str:
        """Say in a word which way a group differs from the others."""
        if not self.better:
            return "higher" if gap > 0 else "lower"
        return "better" if (gap > 0) == (self.better == HIGHER) else "worse"


def with_verdicts(values: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Put the verdicts beside values of groups.

    Parameters
    ----------
    values
        From :func:`soundcheck.evaluation.suite_groups.group_values`.
    verdicts
        Rows of the results table.

    Returns
    -------
    pandas.DataFrame
        ``values`` with ``gap, passed, evidence``; empty where there is no verdict.
    """
    keys = ["corpus", "task", "test", "group", "label"]
    named = values.assign(group=values["column"] + ": " + values["group"])
    found = named[keys].merge(verdicts[[*keys, "gap", "passed", "evidence"]], on=keys, how="left")
    return values.assign(
        gap=pd.to_numeric(found["gap"]).to_numpy(),
        passed=[None if pd.isna(one) else bool(one) for one in found["passed"]],
        evidence=found["evidence"].fillna("").to_numpy(),
    )


def served_groups(frame: pd.DataFrame, shown: dict[str, Shown]) -> Figure:
    """Draw the value of each group with its interval, and everybody as a line; a panel a measure.

    Parameters
    ----------
    frame
        Rows of one corpus, task and column from :func:`with_verdicts`; the worst groups come first.
    shown
        Measures that are drawn, in their order.
    """
    panels = _panels(frame, shown)
    heights = [0.9 + 0.27 * len(rows) for _, rows in panels] or [1.0]
    names = max((len(_name(row)) for row in frame.itertuples()), default=0)
    with look():
        size = 6.0 + 0.07 * names, sum(heights) + 0.2
        figure, all_axes = new(*size, len(heights), height_ratios=heights)
        for axes, (measure, rows) in zip(all_axes, panels, strict=False):
            _panel(axes, rows, measure)
    return figure


def described_groups(frame: pd.DataFrame, shown: dict[str, Shown]) -> str:
    """Say in words what :func:`served_groups` shows, for readers who do not see it."""
    parts = []
    for measure, rows in _panels(frame, shown):
        told = [f"{row.group} {number(row.value)} ({_words(row, measure)})" for row in rows.itertuples()]
        told.append(f"everybody {number(rows['everybody'].iloc[0])}")
        parts.append(f"{_title(measure, rows)}: {', '.join(told)}")
    return ". ".join(parts)


def clear_groups(frame: pd.DataFrame, shown: dict[str, Shown]) -> str:
    """Say in a sentence which groups clearly differ from the others, as far as their intervals show."""
    panels = _panels(frame, shown)
    parts = []
    for measure, rows in panels:
        clear = [(row, _words(row, measure).partition("clearly ")[2]) for row in rows.itertuples()]
        told = [f"{label(row.group)} {number(row.value)} ({side})" for row, side in clear if side]
        if told:
            parts.append(f"{_title(measure, rows)}: {', '.join(told)}")
    if parts:
        return f"Clearly different from the others: {'; '.join(parts)}"
    return "No group can be told to differ from the others by what matters" if panels else ""


def _panels(frame: pd.DataFrame, shown: dict[str, Shown]) -> list[tuple[Shown, pd.DataFrame]]:
    known = frame[frame["value"].notna() & frame["test"].isin(list(shown))]
    found = []
    for test, measure in shown.items():
        for _, rows in known[known["test"].eq(test)].groupby("label", sort=False):
            rising = [measure.better != LOWER, True]
            ranked = rows.sort_values(["value", "group"], ascending=rising, kind="stable")
            ranked.attrs["of"] = len(ranked)
            found.append((measure, ranked.head(MOST_GROUPS)))
    return found[:MOST_PANELS]


def _panel(axes: Axes, rows: pd.DataFrame, measure: Shown) -> None:
    everybody = rows["everybody"].iloc[0]
    if np.isfinite(everybody):
        axes.axvline(everybody, color=GREY, linewidth=1.2, linestyle="--")
        at_top = {"transform": axes.get_xaxis_transform(), "va": "bottom", "ha": "center"}
        axes.text(everybody, 1.0, "everybody", **at_top, fontsize=8, color=GREY)
    for place, row in enumerate(rows.itertuples()):
        state = states.of_evidence(row.passed, row.evidence)
        colour = states.STATE["clear pass"].colour if state.name == "open pass" else state.colour
        axes.hlines(place, row.low, row.high, color=colour, linewidth=2)
        face = colour if state.filled or state.label not in _WORDS else "white"
        mark = {"marker": state.marker, "color": colour, "markerfacecolor": face, "markersize": 7}
        axes.plot(row.value, place, **mark, markeredgewidth=1.4)
        words = _words(row, measure)
        axes.text(1.02, place, words, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows.itertuples()], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    cut = f"\nthe worst {len(rows)} of {rows.attrs['of']} groups" if rows.attrs["of"] > len(rows) else ""
    axes.set_xlabel(measure.axis + cut)
    axes.set_title(_title(measure, rows) if rows["label"].iloc[0] else "", loc="left", fontsize=9)


def _title(measure: Shown, rows: pd.DataFrame) -> str:
    text = bin_label(rows["label"].iloc[0])
    return f"{measure.what}, {label(text)}" if text else measure.what


def _name(row: object) -> str:
    return f"{label(row.group)} ({row.size})"


def _words(row: object, measure: Shown) -> str:
    state = states.of_evidence(row.passed, row.evidence)
    side = "" if pd.isna(row.gap) else measure.side(row.gap)
    return _WORDS.get(state.label, "not judged").format(sign=state.sign, side=side)
