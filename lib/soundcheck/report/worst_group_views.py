"""What the page about groups that nobody named shows: what was found and looked at, segments to hear."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.worst_groups import GroupSearch
from soundcheck.report import examples, notices, views
from soundcheck.report.formats import Cell, p_value, significant, value_cell
from soundcheck.report.html import Html, element, join
from soundcheck.report.names import place
from soundcheck.report.study_figures import recorded
from soundcheck.report.style import show
from soundcheck.results.states import FAIL, INCONCLUSIVE
from soundcheck.statistics.worst_groups import PLANNED_POWER, Subgroup

MOST_DRAWN = 12  # groups of a figure
MOST_FOLDED = 8  # groups that are shown below one
MOST_HEARD = 3  # groups whose sounds are played
_SPREAD = "half of the speakers"  # in the recorded simulation
_NO_PROOF = "That is no proof that all are alike; see below what these data could have shown."


def named_groups(evaluation: Evaluation, searches: Sequence[GroupSearch]) -> Html:
    """Draw how much worse the model is for each named group, above a table of the groups."""
    parts, alike = [], []
    for search in searches:
        named = search.search.named
        if not named:
            alike.append(f"{place(search.subset)} (of {_groups(search)})")
            continue
        first = f"{significant(named[0].value)}, of the others {significant(named[0].others)}"
        text = f"{place(search.subset)}: {search.unit} of {named[0].name} is {first}"
        names = ", ".join(one.name for one in named)
        alt = f"How much higher the {search.unit} of {names} is than that of the others"
        parts += [show(evaluation.media, _figure(search), alt, finding=text), _table(search)]
    if alike:
        text = f"No group is shown to be worse: {'; '.join(alike)}. {_NO_PROOF}"
        parts.append(element("p", text, limit=None))
    return join(parts)


def _figure(search: GroupSearch) -> Figure:
    margin = search.search.matters
    rows = [
        {"name": f"{one.name} ({len(one.segments):,})", "value": one.gap, "low": one.low, "high": one.high}
        | {"words": f"{significant(one.value)}, others {significant(one.others)}"}
        | {"reference": 0.0, "margin": margin, "state": FAIL if one.low >= margin else INCONCLUSIVE}
        for one in search.search.named[:MOST_DRAWN]
    ]
    unit = f"{search.unit}: the group minus the others; grey: within the margin"
    return views.forest(pd.DataFrame(rows), unit=unit)


def _table(search: GroupSearch) -> Html:
    rows, level = [], f"{100 * search.search.level:.4g}".rstrip(".")
    heads = ["group", search.unit, "of the others", f"difference ({level} %)", "segments"]
    for one in search.search.named:
        rows += [_row(one, ""), *(_row(each, "– ") for each in one.folded[:MOST_FOLDED])]
        if len(one.folded) > MOST_FOLDED:
            rows.append((f"– {len(one.folded) - MOST_FOLDED} more", *[""] * 6))
    heads += ["speakers or blocks", "adjusted p"]
    return views.listed(rows, heads, caption=place(search.subset), sortable=False)


def _row(one: Subgroup, mark: str) -> tuple[object, ...]:
    values = value_cell(one.value), value_cell(one.others), value_cell(one.gap, one.low, one.high)
    p = Cell(p_value(one.adjusted), one.adjusted, "sc-number")
    return f"{mark}{one.name}", *values, len(one.segments), one.blocks, p


def segments(evaluation: Evaluation, searches: Iterable[GroupSearch]) -> Html:
    """Play the worst segments of each named group, beside typical ones of all others."""
    count, scenes = int(evaluation.option("heard")), []
    for search in searches:
        subset, everything = search.subset, np.arange(len(search.subset))
        statistic = search.measure(subset, subset.predictions)
        errors = statistic.compute(statistic.block_sums(everything, len(everything)))[:, 0]
        decisions = np.where(errors, "rejected", "accepted")
        said = decisions.__getitem__ if subset.task.is_embedding else None
        for one in search.search.named[:MOST_HEARD]:
            inside = np.isin(everything, one.segments)
            chosen = examples.choose(errors, subset.segments, inside, one.name, worst=count, played=count)
            most = {"typical": count, "played": count}
            chosen += examples.choose(errors, subset.segments, ~inside, examples.OTHERS, **most)
            about = f"{place(subset)}: {one.name}"
            scenes.append(examples.Scene(about, subset, chosen, one.gap, one.name, said=said))
    return examples.show(evaluation, scenes, every=True) if scenes else Html()


def looked_at(searches: Iterable[GroupSearch]) -> Html:
    """Show which columns were looked at, which were not and why, and how many groups that makes."""
    rows, notes = [], []
    for search in searches:
        where = search.subset.corpus, search.subset.task.name
        for name, words in search.columns.items():
            known = pd.Series(words, dtype=object).dropna().str.removeprefix(f"{name}: ")
            values = sorted(known.unique())
            which = shorten(", ".join(values), 120)
            rows.append((*where, name, len(values), which, len(words) - len(known)))
        rows += [(*where, name, "", f"left out: {why}", "") for name, why in search.passed_over.items()]
        size = f"{_groups(search)} of {search.search.segments:,} segments"
        notes.append(f"{place(search.subset)}: {size} looked at.")
    columns = ["corpus", "task", "column", "values", "which", "segments without"]
    frame = pd.DataFrame(rows, columns=columns)
    same = [name for name in columns if name != "task"]
    frame = frame.groupby(same, sort=False)["task"].agg(", ".join).reset_index()
    return views.table(frame, columns) + notices.notes(notes)


def could_be_shown(searches: Iterable[GroupSearch]) -> Html:
    """Say what these data could have shown, and what the recorded simulation found with so many speakers."""
    simulated, _ = recorded("worst_groups")
    simulated = simulated[simulated["planted"].eq(_SPREAD)].set_index("speakers")["found"].sort_index()
    planned, compared = [], {}
    for search in searches:
        blocks = len(np.unique(search.subset.blocks))
        near = simulated[: max(blocks, simulated.index[0])]
        planned.append((place(search.subset), search.search.planned_gap()))
        compared[search.subset.corpus, blocks] = (near.index[-1], near.iloc[-1])
    about = {"planned": planned, "compared": compared.items(), "power": PLANNED_POWER, "counted": counted}
    return templates.html("could_be_shown", **about)


def _groups(search: GroupSearch) -> str:
    return counted(len(search.search.candidates), "group")
