"""Figures of the page for a meeting: states by aspect, numbers against chance, the largest differences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.verdict_lines import plain
from soundcheck.report import comparisons, failures, key_figures
from soundcheck.report.states import JUDGED, STATE
from soundcheck.report.style import BLUE, GREEN, GREY, label, look, new, svg
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.record import KeyFigure
from soundcheck.results.summary import ASPECTS, aspects, tally

MOST_FIGURES = 8  # numbers in a figure
MOST_GROUPS = 8
MOST_TESTS = 12  # of a comparison
_WIDTH, _LINE = 4.6, 0.26  # inches


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure: what it is called, what it shows for readers who do not see it, and the SVG."""

    title: str
    alt: str
    svg: bytes
    wide: bool = False


def model_pictures(facts: ModelFacts) -> list[Picture]:
    """Draw what there is to draw of a model; what would be empty is left out."""
    drawn = (_strengths(facts), _numbers(facts), _groups(facts))
    return [picture for picture in drawn if picture is not None]


def comparison_pictures(frame: pd.DataFrame, facts: ModelFacts) -> list[Picture]:
    """Draw where a candidate differs most, and how good it is."""
    pictures = [picture for picture in (_strengths(facts), _numbers(facts)) if picture is not None]
    told = frame[frame["low"].notna() & frame["p_value"].notna()]
    rank = told["outcome"].map({WORSE: 0, BETTER: 1}).fillna(2)
    order = told.assign(rank=rank).sort_values(["rank", "p_value"], kind="stable").index[:MOST_TESTS]
    if not len(order):
        return pictures
    figure = comparisons.improvements(told.loc[order])
    alt = "Difference between candidate and baseline on each test, right is better: " + "; ".join(
        f"{plain(failures.subject(row))} {row.outcome}" for row in told.loc[order].itertuples()
    )
    title = f"The {len(order)} surest of {len(told)} differences, with 95 % intervals"
    return [Picture(title, alt, svg(figure), wide=True), *pictures]


def _strengths(facts: ModelFacts) -> Picture | None:
    """Draw how many tests of each aspect are in which state."""
    about = aspects(facts.counted)
    found_of = {aspect: tally(facts.counted[about.eq(aspect)]) for aspect in ASPECTS}
    found_of = {aspect: found for aspect, found in found_of.items() if found.judged}
    if not found_of:
        return None
    with look():
        figure, (axes,) = new(_WIDTH, 0.55 + 1.2 * _LINE * len(found_of))
        for place, found in enumerate(found_of.values()):
            left = 0.0
            for name in JUDGED:
                share = found[name] / found.judged
                state = STATE[name]
                look_of = {"color": state.colour, "hatch": state.hatch, "edgecolor": "white"}
                axes.barh(place, share, left=left, height=0.66, linewidth=0.5, **look_of)
                if share > 0.07:
                    words = {"ha": "center", "va": "center", "fontsize": 8}
                    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
                    axes.text(left + share / 2, place, f"{found[name]}", bbox=back, **words)
                left += share
        _named(axes, [f"{aspect} ({found.judged})" for aspect, found in found_of.items()])
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"], fontsize=8)
        axes.grid(False)
    said = "; ".join(
        f"{aspect}: " + ", ".join(f"{found[name]} {name}" for name in JUDGED if found[name])
        for aspect, found in found_of.items()
    )
    return Picture(f"Tests by aspect: {', '.join(JUDGED)}", said, svg(figure))


def _numbers(facts: ModelFacts) -> Picture | None:
    """Draw the numbers that say how good a model is, with intervals, against chance."""
    figures = [one for one in facts.figures if one.value is not None][:MOST_FIGURES]
    if not figures:
        return None
    rates = [one for one in figures if one.measure in key_figures.RATES]
    panels = [part for part in ([one for one in figures if one not in rates], rates) if part]
    several = len({one.corpus for one in figures}) > 1
    heights = [0.5 + _LINE * len(part) for part in panels]
    with look():
        figure, all_axes = new(_WIDTH, sum(heights) + 0.1, len(panels), height_ratios=heights)
        for axes, part in zip(all_axes, panels, strict=True):
            factor = 100 if part[0] in rates else 1
            for place, one in enumerate(part):
                _interval(axes, place, factor, one)
            _named(axes, [_name(one, several) for one in part])
            if factor == 1:
                axes.set_xlim(right=1)
            else:
                axes.set_xlim(left=0)
            axes.set_xlabel("less is better, %" if factor == 100 else "more is better", fontsize=8)
            axes.tick_params(axis="x", labelsize=8)
    alt = "; ".join(plain(key_figures.sentence(one, corpus=several), 200) for one in figures)
    return Picture("How good, with 95 % intervals; the grey diamond is chance", alt, svg(figure))


def _interval(axes: Axes, place: int, factor: float, one: KeyFigure) -> None:
    if one.low is not None and one.high is not None:
        axes.hlines(place, factor * one.low, factor * one.high, color=BLUE, linewidth=2)
    axes.plot(factor * one.value, place, linestyle="none", marker="o", color=BLUE, markersize=5.5)
    if one.guessing is not None:
        face = {"markerfacecolor": "none", "markersize": 5.5}
        axes.plot(factor * one.guessing, place, linestyle="none", marker="D", color=GREY, **face)


def _name(one: KeyFigure, several: bool) -> str:
    parts = [] if one.measure in key_figures.RATES else [label(one.task, 20)]
    return " · ".join([*parts, one.measure, *([label(one.corpus, 16)] if several else [])])


def _groups(facts: ModelFacts) -> Picture | None:
    """Draw the differences that are farthest beyond their margin, in widths of their intervals."""
    rows = facts.counted
    rows = rows[rows["gap"].notna() & rows["gap_low"].notna() & rows["matters"].notna()]
    rows = rows[rows["group"].ne("")]
    if rows.empty:
        return None
    rows = failures.by_excess(rows).head(MOST_GROUPS)
    names = [label(failures.subject(row), 58) for row in rows.itertuples()]
    with look():
        width = _WIDTH + 0.045 * max(map(len, names))
        figure, (axes,) = new(width, 0.6 + _LINE * len(rows))
        places = np.arange(len(rows))
        margin = rows["matters"].to_numpy(float)
        axes.barh(places, 2 * margin, height=1, left=-margin, color=GREEN, alpha=0.13, linewidth=0)
        axes.axvline(0, color=GREY, linewidth=1)
        for place, row in zip(places, rows.itertuples(), strict=True):
            state = STATE[row.state]
            axes.hlines(place, row.gap_low, row.gap_high, color=state.colour, linewidth=2)
            face = state.colour if state.filled else "white"
            mark = {"marker": state.marker, "color": state.colour, "markerfacecolor": face, "markersize": 6}
            axes.plot(row.gap, place, linestyle="none", **mark)
        _named(axes, names)
        axes.set_xlabel("group below its reference  ←  difference  →  group above its reference", fontsize=8)
        axes.tick_params(axis="x", labelsize=8)
    alt = "; ".join(
        f"{plain(failures.subject(row))}: {key_figures.significant(row.gap)} ({row.state})"
        for row in rows.itertuples()
    )
    title = "Largest differences of groups, with 95 % intervals; green: the margin"
    return Picture(title, alt, svg(figure), wide=True)


def _named(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
