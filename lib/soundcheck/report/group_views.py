"""What pages about groups of speakers show: own values, error profiles, sizes, labels and predictions.

Conventions
-----------
- Marks and words of figures are about the interval of the difference to the reference: states, which are
  corrected for the number of tests, are known only when all families are together. The line is the interval
  of the group's own value.
- Sentences are made from rows of the results and of the estimates; none infers anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import Groups
from soundcheck.evaluation.measure_sets import TAKEN_FOR, least_per_bin, least_predictions
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.regression import BINS, bin_numbers
from soundcheck.report import failures, figures, states, views
from soundcheck.report.estimate_tables import is_rate, written
from soundcheck.report.formats import Cell, number
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.names import label, sentence
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, mirrors
from soundcheck.suite.measures import HIGHER, LOWER, MeasureInfo, info_of, measure_of

BALANCED = " (balanced)"  # after the measure of groups that were drawn to be alike
MOST_LINES = 14  # of a figure that is shown at once; other measures are folded
_PLACE = ["corpus", "task", "measure", "label", "part"]
_COMPARED = ["others_value", "gap", "matters", "evidence", "mirrors", "excess"]
_WORDS = {
    PASS: "within the margin",
    FAIL: "{side}, beyond the margin",
    INCONCLUSIVE: "interval on both sides",
    REPORTED: "no margin",
    NOT_EVALUATED: "not compared",
}


def group_values(estimates: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Put the own values of groups, from the estimates, beside the results of what they are compared with.

    Of clean signals, without single bins, and of classes only the share of predictions. ``others_value`` and
    what follows is empty where nothing was compared.
    """
    own = estimates[estimates["part"].str.contains(": ", regex=False) & estimates["condition"].eq("")]
    own = own.assign(measure=own["measure"].str.removesuffix(BALANCED))
    own = own.drop_duplicates(_PLACE, keep="last")
    shares = own["measure"].eq("predicted_share") & own["label"].eq(own["label"].map(label))
    own = own[own["label"].eq("") | shares]
    compared = rows[rows["against"].ne("")]
    names = [measure_of(*pair).name for pair in zip(compared["test"], compared["family"], strict=True)]
    measure = pd.Series(names, index=compared.index, dtype="str")
    found = compared.assign(measure=measure, mirrors=mirrors(compared), excess=failures.excess(compared))
    found["evidence"] = found["evidence"].where(found["mirrors"].eq(""), "")  # two groups are one test
    found = found.rename(columns={"group": "part"})[[*_PLACE, *_COMPARED]].drop_duplicates(_PLACE)
    parts = own["part"].str.split(": ", n=1)
    own = own.assign(column=parts.str[0], group=parts.str[1].map(label))
    return own.merge(found, on=_PLACE, how="left").fillna({"evidence": "", "mirrors": ""})


def own_values(evaluation: Evaluation, column: str = "") -> Html:
    """Draw the value of each group beside that of its reference, a figure a corpus and column.

    Measures whose differences are furthest beyond their margins come first; ``column`` is the one to draw.
    """
    frame = group_values(evaluation.estimated(), evaluation.frame())
    frame = frame[frame["value"].notna() & (frame["column"].eq(column) if column else True)]
    shown = []
    places = list(frame.groupby(["corpus", "column"], sort=False))
    for (corpus, name), own in places:
        if len(places) > 1:
            shown.append(element("h3", f"by {name}, {corpus}"))
        first, *others = _figures_of(drawn(own))
        shown.append(_figure(evaluation, first))
        if others:
            measures = counted(sum(one["panel"].nunique() for one in others), "other measure")
            shown.append(folded(measures, [_figure(evaluation, one) for one in others]))
    return join(shown) if shown else element("p", "No group has a value of its own.")


def drawn(frame: pd.DataFrame) -> pd.DataFrame:
    """Prepare rows of one corpus and column for :func:`soundcheck.report.views.forest`, the worst first."""
    panels = []
    for (measure, task, _), rows in frame.groupby(["measure", "task", "label"], sort=False):
        info = info_of(measure)
        rows = rows.sort_values(["value", "group"], ascending=[info.better != LOWER, True], kind="stable")
        state = [states.of_evidence(evidence) for evidence in rows["evidence"]]
        pair = rows["mirrors"].ne("")  # the reference of the other group of a pair
        found = rows.assign(
            panel=_title(info, task, rows["label"].iloc[0]),
            name=[f"{group} ({count:,})" for group, count in zip(rows["group"], rows["segments"], strict=True)],
            state=[one.name for one in state],
            reference=rows["others_value"].where(~pair, rows["value"]),
            margin=rows["matters"],
            said=[written(row) for row in rows.itertuples()],
        )
        words = [_words(row, info) for row in found.itertuples()]
        found["state"] = found["state"].where(~pair, REPORTED)
        found["words"] = [
            "the reference" if other else f"{one.sign} {text}"
            for other, one, text in zip(pair, state, words, strict=True)
        ]
        panels.append((-found["excess"].max(), found))
    return pd.concat([found for _, found in sorted(panels, key=lambda one: _last_if_missing(one[0]))])


def finding(frame: pd.DataFrame) -> str:
    """Name the groups with the worst and the best value of the first measure."""
    rows = frame[frame["panel"].eq(frame["panel"].iloc[0])]
    ends = ("worst", "best") if info_of(rows["measure"].iloc[0]).better else ("lowest", "highest")
    both = zip(ends, rows.iloc[[0, -1][: len(rows)]].itertuples(), strict=False)
    panel = rows["panel"].iloc[0].partition(" (")[0]
    return f"{sentence(panel)}: {'; '.join(f'{end} {row.group}, {row.said}' for end, row in both)}"


def described(frame: pd.DataFrame) -> str:
    """Say in words what a figure of values shows, for readers who do not see it."""
    each = [
        f"{panel}: {', '.join(f'{row.group} {row.said} ({row.words[2:] or row.words})' for row in rows.itertuples())}"
        for panel, rows in frame.groupby("panel", sort=False)
    ]
    return ". ".join(each)


def error_profile(evaluation: Evaluation, found: Iterable[Groups]) -> Html:
    """Show what the segments of groups that are worse off are wrongly taken for; nothing of fair models."""
    rows = evaluation.frame()
    rows = rows[rows["gap"].abs().gt(rows["matters"]) & (rows["gap_low"] * rows["gap_high"]).gt(0)]
    shown = []
    for one in found:
        subset, parts = one.subset, {f"{one.column}: {name}": mask for name, mask in one.masks.items()}
        here = rows["corpus"].eq(subset.corpus) & rows["task"].eq(subset.task.name)
        if not subset.task.classes or subset.truth is None or not rows[here]["group"].isin(parts).any():
            continue
        frame = evaluation.estimates(subset, TAKEN_FOR, parts)
        frame = frame.assign(name=frame["part"].map(label))
        spread = frame.groupby("label")["value"].transform("max") - frame.groupby("label")["value"].transform("min")
        frame = frame.assign(spread=spread).sort_values(["spread", "label"], ascending=[False, True], kind="stable")
        frame["panel"] = "wrongly taken for " + frame["label"]
        first = frame[frame["label"].eq(frame["label"].iloc[0])].sort_values("value", ascending=False)
        each = [f"{written(row)} of {row.name}" for row in first.iloc[[0, -1]].itertuples(index=False)]
        told = f"{sentence(first['panel'].iloc[0])}: {', '.join(each)}"
        figure = views.forest(frame, panels="panel", unit="share of the segments of the group")
        alt = f"{subset.corpus}, {subset.task.name}: shares of wrong predictions by group"
        shown.append(figures.show(evaluation.media, figure, alt, finding=told))
    return join(shown)
