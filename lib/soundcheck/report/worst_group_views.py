"""What the page about groups that nobody named shows: what was looked at, what was found, how it sounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.worst_groups import Found
from soundcheck.metrics.additive import Statistic
from soundcheck.report import states, style, tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import row
from soundcheck.report.segment_player import segment_player
from soundcheck.report.study_figures import recorded
from soundcheck.report.verdict_tables import p_value
from soundcheck.results.states import FAIL, INCONCLUSIVE
from soundcheck.statistics.worst_groups import PLANNED_POWER, Named

MOST_DRAWN = 12  # groups of a figure
MOST_FOLDED = 8  # groups that are shown below one
MOST_HEARD = 3  # groups whose sounds are played
_SPREAD = "half of the speakers"  # in the recorded simulation


def title(found: Found) -> str:
    """Name what was searched."""
    return f"{found.subset.corpus}, {found.subset.task.name}"


def looked_at(searches: Sequence[Found]) -> Html:
    """Show which columns were looked at, which were not and why, and how many groups that makes."""
    rows: dict[tuple, list[str]] = {}  # tasks that a line is about
    for found in searches:
        own, task = found.subset.corpus, found.subset.task.name
        for name, words in found.columns.items():
            known = pd.Series(words, dtype=object).dropna()
            values = sorted(word.removeprefix(f"{name}: ") for word in known.unique())
            listed = shorten(", ".join(values), 120)
            rows.setdefault((own, name, len(values), listed, len(words) - len(known)), []).append(task)
        for name, why in found.passed_over.items():
            rows.setdefault((own, name, "", f"passed over: {why}", ""), []).append(task)
    shown = [[corpus, ", ".join(tasks), *line] for (corpus, *line), tasks in rows.items()]
    columns = ["corpus", "task", "column", "values", "which", "segments without"]
    looked_at = [
        f"{title(found)}: {_groups(found)} of {found.search.segments:,} segments looked at."
        for found in searches
    ]
    return tables.table(shown, columns) + tables.notes(looked_at)


def named_groups(found: Found, unit: str) -> Html:
    """Show the groups for which the model is worse, those that mostly repeat one of them below it.

    Parameters
    ----------
    found
        What was found.
    unit
        What says how bad the answers are.
    """
    named = found.search.named
    if not named:
        no_proof = "That is no proof that all are alike; see below what these data could have shown."
        return element("p", f"{title(found)}: of {_groups(found)} none is named. {no_proof}", limit=None)
    rows = []
    for one in named:
        rows.append(_line(one, ""))
        rows += [_line(each, "– ") for each in one.folded[:MOST_FOLDED]]
        if len(one.folded) > MOST_FOLDED:
            rows.append([f"– {len(one.folded) - MOST_FOLDED} more", *[""] * 6])
    percent = f"{100 * found.search.level:.4g}".rstrip(".")
    columns = [
        "group",
        unit,
        "of the others",
        f"difference and {percent} % interval",
        "segments",
        "speakers or blocks",
    ]
    return tables.table(rows, [*columns, "adjusted p"], caption=title(found), sortable=False)


def _line(one: Named, mark: str) -> list[object]:
    gap = tables.two_lines(
        tables.number(one.candidate.gap), f"{tables.number(one.low)} to {tables.number(one.high)}"
    )
    return [
        f"{mark}{one.name}",
        tables.Cell(tables.number(one.value), one.value, "sc-number"),
        tables.Cell(tables.number(one.others), one.others, "sc-number"),
        tables.Cell(gap, one.candidate.gap, "sc-number"),
        len(one.candidate.segments),
        one.candidate.blocks,
        tables.Cell(p_value(one.adjusted).removeprefix("p = ").removeprefix("p "), one.adjusted, "sc-number"),
    ]


def could_be_shown(searches: Sequence[Found]) -> Html:
    """Say what these data could have shown, and what the recorded simulation found with so many speakers."""
    planned, compared = [], {}
    for found in searches:
        gap, blocks = found.search.planned_gap(), len(np.unique(found.subset.blocks))
        told = (
            "no group of about an eighth of these segments has enough speakers on either side, so nothing "
            "can be said of groups of that size"
        )
        if not np.isnan(gap):
            told = (
                f"a group of an eighth of these segments would be named in {100 * PLANNED_POWER:.0f} of 100 "
                f"cases if it were worse by {tables.number(gap, 2)} (a planning figure, from the "
                "spread of groups of about that size, half of which vary more)"
            )
        planned.append(element("li", f"{title(found)}: {told}.", limit=None))
        compared[found.subset.corpus, blocks] = element("p", _compared(found, blocks), limit=None)
    return element("ul", *planned) + join(compared.values()) if planned else Html()


def _compared(found: Found, blocks: int) -> str:
    """Say what a simulation with no more blocks found."""
    table, _ = recorded("worst_groups")
    near = table[table["planted"].eq(_SPREAD) & table["speakers"].le(max(blocks, table["speakers"].min()))]
    speakers, share = near.loc[near["speakers"].idxmax(), ["speakers", "found"]]
    return (
        f"To compare: the segments of {found.subset.corpus} are of {counted(blocks, 'block')}, which are "
        f"speakers where these are known; of 100 simulated corpora of {speakers:.0f} speakers, "
        f"{100 * share:.0f} showed an eighth of the speech, spread over half of the speakers, that was "
        "worse by 25 points. Finding nothing is no proof."
    )


def _groups(found: Found) -> str:
    return counted(len(found.search.candidates), "group")


def named_figure(found: Found, unit: str) -> Figure:
    """Draw the difference of each named group with its interval, beside the margin.

    Parameters
    ----------
    found
        What was found, at least one group.
    unit
        What says how bad the answers are.
    """
    named, matters = found.search.named[:MOST_DRAWN], found.search.matters
    names = [
        f"{style.label(one.name, 60)} ({len(one.candidate.segments)} segments, {one.candidate.blocks} blocks)"
        for one in named
    ]
    with style.look():
        figure, (axes,) = style.new(4.5 + 0.075 * max(map(len, names)), 1.5 + 0.35 * len(named))
        axes.axvspan(0, matters, color=style.GREEN, alpha=0.13, lw=0)
        axes.axvline(0, color=style.GREY, linewidth=1)
        for place, one in enumerate(named):
            state = states.STATE[FAIL if one.low >= matters else INCONCLUSIVE]
            axes.hlines(place, one.low, one.high, color=state.colour, linewidth=2)
            face = state.colour if state.filled else "white"
            axes.plot(
                one.candidate.gap, place, state.marker, color=state.colour, markerfacecolor=face, markersize=7
            )
            axes.annotate(
                f"+{one.candidate.gap:.2g}", (one.candidate.gap, place), (0, 7), textcoords="offset points",
                ha="center", fontsize=9,
            )  # fmt: skip
        axes.set_yticks(range(len(names)), names, fontsize=9)
        axes.set_ylim(len(names) - 0.4, -0.9)
        axes.set_xlim(left=min(0.0, *(one.low for one in named)) - 0.01)
        above = {"transform": axes.get_xaxis_transform(), "fontsize": 8, "va": "bottom"}
        axes.text(0, 1.0, "as the others ", color=style.GREY, ha="right", **above)
        axes.text(0, 1.0, " within the margin", color=style.GREEN, ha="left", **above)
        axes.set_xlabel(f"{unit}: the group minus the others  →  worse")
        axes.set_title(style.label(title(found), 60), loc="left", fontweight="bold", pad=16)
    return figure


def heard(evaluation: Evaluation, found: Found, statistic: Statistic, unit: str) -> Html:
    """Play the worst segments of each named group, beside ordinary ones of all others.

    Parameters
    ----------
    evaluation
        For the media store and the option ``heard``, how many of each.
    found
        What was found.
    statistic
        How bad the answer for each segment is.
    unit
        What says so.
    """
    count, subset = int(evaluation.option("heard")), found.subset
    alone = np.arange(len(subset))
    errors = statistic.compute(statistic.block_sums(alone, len(alone)))[:, 0]
    shown = []
    for one in found.search.named[:MOST_HEARD]:
        inside = np.isin(alone, one.candidate.segments)
        worst = _first(subset, -errors, inside, count)
        typical = _first(subset, np.abs(errors - one.others), ~inside, count)
        players = [_played(evaluation, subset, n, errors[n], unit, "the group", "changed") for n in worst]
        players += [
            _played(evaluation, subset, n, errors[n], unit, "the others", "original") for n in typical
        ]
        shown.append(element("h3", f"{title(found)}: {one.name}", limit=None))
        shown.append(row(players, title="The worst of the group, and ordinary ones of the others"))
    return join(shown)


def _first(subset: Subset, order: np.ndarray, inside: np.ndarray, count: int) -> list[int]:
    """Give the rows with the smallest numbers, each block and each segment once as far as possible."""
    rows = np.flatnonzero(inside & np.isfinite(order))
    keys = subset.segments["key"].to_numpy()
    rows = np.array(sorted(rows, key=lambda n: (order[n], keys[n])), dtype=int)
    _, first = np.unique(subset.blocks[rows], return_index=True)
    return rows[np.sort(first)][:count].tolist()


def _played(
    evaluation: Evaluation, subset: Subset, n: int, error: float, unit: str, side: str, color: str
) -> Html:
    segment, said = subset.segments.iloc[n], subset.predictions.clean[n]
    words = [f"{side}: {unit} {tables.number(error, 2)}"]
    if subset.truth is not None:
        words.append(f"label {_written(subset.truth[n])}, prediction {_written(said)}")
    caption = "; ".join(words)
    return segment_player(evaluation.media, evaluation.view(subset), segment, caption, color)


def _written(value: object) -> str:
    return f"“{shorten(value, 80)}”" if isinstance(value, str) else f"{value:.3f}"
