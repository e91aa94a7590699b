"""What the page about groups that nobody named shows: what was found and looked at, segments to hear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.worst_groups import Found
from soundcheck.report import examples, figures, notices, views
from soundcheck.report.formats import Cell, number, p_value, significant, value_cell
from soundcheck.report.html import Html, element, join
from soundcheck.report.study_figures import recorded
from soundcheck.results.states import FAIL, INCONCLUSIVE
from soundcheck.statistics.worst_groups import PLANNED_POWER, Subgroup

MOST_DRAWN = 12  # groups of a figure
MOST_FOLDED = 8  # groups that are shown below one
MOST_HEARD = 3  # groups whose sounds are played
_SPREAD = "half of the speakers"  # in the recorded simulation
_NO_PROOF = "That is no proof that all are alike; see below what these data could have shown."


def named_groups(evaluation: Evaluation, searches: Sequence[Found]) -> Html:
    """Draw how much worse the model is for each named group, above a table of the groups."""
    shown = []
    for found in searches:
        if named := found.search.named:
            text = (
                f"{_title(found)}: {found.unit} of {named[0].name} is {significant(named[0].value)}, "
                f"of the others {significant(named[0].others)}"
            )
            names = ", ".join(one.name for one in named)
            alt = f"How much higher the {found.unit} of {names} is than that of the others"
            shown.append(figures.show(evaluation.media, _figure(found), alt, finding=text))
            shown.append(_table(found))
    alike = [f"{_title(found)} (of {_groups(found)})" for found in searches if not found.search.named]
    if alike:
        text = f"No group is shown to be worse: {'; '.join(alike)}. {_NO_PROOF}"
        shown.append(element("p", text, limit=None))
    return join(shown)


def _figure(found: Found) -> Figure:
    rows = [
        {
            "name": f"{one.name} ({len(one.segments):,})",
            **{"value": one.gap, "low": one.low, "high": one.high},
            **{"reference": 0.0, "margin": found.search.matters},
            "state": FAIL if one.low >= found.search.matters else INCONCLUSIVE,
            "words": f"{significant(one.value)}, others {significant(one.others)}",
        }
        for one in found.search.named[:MOST_DRAWN]
    ]
    unit = f"{found.unit}: the group minus the others; grey: within the margin"
    return views.forest(pd.DataFrame(rows), unit=unit)


def _table(found: Found) -> Html:
    rows = []
    for one in found.search.named:
        rows += [_row(one, ""), *(_row(each, "– ") for each in one.folded[:MOST_FOLDED])]
        if len(one.folded) > MOST_FOLDED:
            rows.append({"group": f"– {len(one.folded) - MOST_FOLDED} more"})
    level = f"{100 * found.search.level:.4g}".rstrip(".")
    columns: dict[str, views.Column] = {"group": "group", found.unit: "value", "of the others": "others"}
    columns |= {f"difference ({level} %)": "gap", "segments": "segments"}
    columns |= {"speakers or blocks": "blocks", "adjusted p": "p"}
    return views.table(pd.DataFrame(rows).fillna(""), columns, caption=_title(found), sortable=False)


def _row(one: Subgroup, mark: str) -> dict[str, object]:
    return {
        "group": f"{mark}{one.name}",
        "value": Cell(number(one.value), one.value, "sc-number"),
        "others": Cell(number(one.others), one.others, "sc-number"),
        "gap": value_cell(one.gap, one.low, one.high),
        "segments": len(one.segments),
        "blocks": one.blocks,
        "p": Cell(p_value(one.adjusted).removeprefix("p = ").removeprefix("p "), one.adjusted, "sc-number"),
    }


def segments(evaluation: Evaluation, searches: Iterable[Found]) -> Html:
    """Play the worst segments of each named group, beside typical ones of all others."""
    count, scenes = int(evaluation.option("heard")), []
    for found in searches:
        subset, everything = found.subset, np.arange(len(found.subset))
        statistic = found.measure(subset, subset.predictions)
        errors = statistic.compute(statistic.block_sums(everything, len(everything)))[:, 0]

        def said(n: int, errors: np.ndarray = errors) -> str:
            return "rejected" if errors[n] else "accepted"

        for one in found.search.named[:MOST_HEARD]:
            inside = np.isin(everything, one.segments)
            chosen = examples.choose(errors, subset.segments, inside, one.name, worst=count, played=count)
            chosen += examples.choose(
                errors, subset.segments, ~inside, examples.OTHERS, typical=count, played=count
            )
            about = f"{_title(found)}: {one.name}"
            own = said if subset.task.is_embedding else None
            scenes.append(examples.Scene(about, subset, chosen, one.gap, one.name, said=own))
    return examples.show(evaluation, scenes, every=True) if scenes else Html()


def looked_at(searches: Iterable[Found]) -> Html:
    """Show which columns were looked at, which were not and why, and how many groups that makes."""
    rows, notes = [], []
    for found in searches:
        place = found.subset.corpus, found.subset.task.name
        for name, words in found.columns.items():
            known = pd.Series(words, dtype=object).dropna().str.removeprefix(f"{name}: ")
            values = sorted(known.unique())
            which = shorten(", ".join(values), 120)
            rows.append((*place, name, len(values), which, len(words) - len(known)))
        rows += [(*place, name, "", f"left out: {why}", "") for name, why in found.passed_over.items()]
        notes.append(f"{_title(found)}: {_groups(found)} of {found.search.segments:,} segments looked at.")
    columns = ["corpus", "task", "column", "values", "which", "segments without"]
    frame = pd.DataFrame(rows, columns=columns)
    same = [name for name in columns if name != "task"]
    frame = frame.groupby(same, sort=False)["task"].agg(", ".join).reset_index()
    return views.table(frame, {name: name for name in columns}) + notices.notes(notes)


def could_be_shown(searches: Iterable[Found]) -> Html:
    """Say what these data could have shown, and what the recorded simulation found with so many speakers."""
    simulated, _ = recorded("worst_groups")
    simulated = simulated[simulated["planted"].eq(_SPREAD)].set_index("speakers")["found"].sort_index()
    planned, compared = [], {}
    for found in searches:
        blocks = len(np.unique(found.subset.blocks))
        near = simulated[: max(blocks, simulated.index[0])]
        planned.append((_title(found), found.search.planned_gap()))
        compared[found.subset.corpus, blocks] = (near.index[-1], near.iloc[-1])
    return templates.html(
        "could_be_shown", planned=planned, compared=compared.items(), power=PLANNED_POWER, counted=counted
    )


def _title(found: Found) -> str:
    return f"{found.subset.corpus}, {found.subset.task.name}"


def _groups(found: Found) -> str:
    return counted(len(found.search.candidates), "group")
