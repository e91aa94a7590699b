"""What pages about groups of speakers show: how they were balanced, how far each is from all, predictions.

Conventions
-----------
Groups come as pairs of a subset and the names of the groups that are compared in it, as
:func:`soundcheck.evaluation.groups.balanced` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import least_per_bin, least_predictions
from soundcheck.evaluation.subset import Subset
from soundcheck.report import figures, group_figures, sentences, tables
from soundcheck.report.estimate_tables import estimate_table
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.style import label


def balance_table(evaluation: Evaluation, compared: Sequence[tuple[Subset, list[str]]]) -> Html:
    """Show how large balanced groups are, beside the size that the suite wants."""
    rows = [
        (
            *(subset.corpus, subset.task.name, subset.group_size[1]),
            *(evaluation.balance_samples, least_per_bin(evaluation, subset)),
            least_predictions(evaluation, subset) or "any",
        )
        for subset, _ in compared
    ]
    columns = ["corpus", "task", "segments a group", "segments wanted", "fewest labels in a bin"]
    return tables.table(rows, [*columns, "fewest predictions for precision"])


def own_values(evaluation: Evaluation, column: str = "") -> Html:
    """Draw the value of each group, a figure a corpus, task and column, with a table of the values.

    Parameters
    ----------
    evaluation
        Has the rows so far.
    column
        The one to draw; all without.
    """
    frame = group_figures.group_values(evaluation.estimated(), evaluation.frame())
    frame = frame[frame["value"].notna() & (frame["column"].eq(column) if column else True)]
    shown = []
    for (corpus, task, name), own in frame.groupby(["corpus", "task", "column"], sort=False):
        alt = f"{task} by {name}, {corpus}. {group_figures.described(own)}"
        figure, finding = group_figures.own_values(own), group_figures.finding(own)
        shown += [
            element("h3", f"{task} by {name}, {corpus}"),
            figures.show(evaluation.media, figure, alt, finding=finding),
        ]
        shown.append(estimate_table(own, {"group": "group"}))
    return join(shown) if shown else element("p", "No group has a value of its own.")


def differences(evaluation: Evaluation, alts: Mapping[str, str]) -> Html:
    """Draw how far each group is from the others, a figure a test that has values.

    Parameters
    ----------
    evaluation
        Has the rows so far.
    alts
        Test -> what its figure shows, for readers who do not see it.
    """
    frame = evaluation.frame()
    found = {test: frame[frame["test"].eq(test) & frame["value"].notna()] for test in alts}
    return join(
        figures.show(
            evaluation.media,
            figures.group_difference(rows),
            f"{alts[test]}; {figures.described(rows)}",
            finding=sentences.differences(rows, evaluation.block_names),
        )
        for test, rows in found.items()
        if len(rows)
    )


def agreements(evaluation: Evaluation, compared: Sequence[tuple[Subset, list[str]]], column: str) -> Html:
    """Draw truth and prediction of each group, behind a line for each corpus and task."""
    folds = []
    for subset, groups in compared:
        shown = []
        for group in groups:
            title = f"{subset.corpus}, {subset.task.name}: {group}"
            own = subset.take(np.flatnonzero(subset.mask(column, group)))
            alt = f"Predictions against labels: {title}"
            shown.append(figures.show(evaluation.media, figures.agreement(own, title), alt))
        named = ", ".join(label(group) for group in groups)
        inside = f"{subset.corpus}, {subset.task.name}: {counted(len(shown), 'figure')}, {named}"
        folds.append(folded(inside, shown))
    return join(folds)


def predictions(evaluation: Evaluation, subset: Subset, column: str, groups: Sequence[str], alt: str) -> Html:
    """Draw what is predicted for each group over the average of the groups that are compared.

    Parameters
    ----------
    evaluation
        Takes the picture.
    subset
        Rows of the groups, also of those that are shown only.
    column
        Column of the segment table that holds the group.
    groups
        Groups that are compared; they come first.
    alt
        What is shown, for readers who do not see it.
    """
    title = f"{subset.corpus}, {subset.task.name}"
    names = subset.segments[column]
    figure = figures.groups_against_all(
        subset.predictions.clean,
        names,
        [*groups, *sorted(set(names) - set(groups))],
        () if subset.task.is_regression else subset.task.classes,
        title,
        compared=groups,
    )
    frame = evaluation.frame()
    here = frame["corpus"].eq(subset.corpus) & frame["task"].eq(subset.task.name)
    finding = sentences.differences(frame[here], evaluation.block_names)
    return figures.show(evaluation.media, figure, f"{alt}: {title}", finding=finding)


def contexts(
    evaluation: Evaluation,
    subset: Subset,
    column: str,
    groups: Sequence[str],
    context: str,
    values: Sequence[str],
) -> Html:
    """Draw what is predicted for each group in each context over the average of all groups, a figure a group.

    Parameters
    ----------
    evaluation
        Takes the pictures.
    subset
        Rows of the groups.
    column, groups
        Column of the segment table that holds the group, and the groups that are compared.
    context, values
        Column of the context, and the contexts to show.
    """
    classes = () if subset.task.is_regression else subset.task.classes
    names, inside = subset.segments[column], subset.segments[context]
    shown = []
    for group in groups:
        title = f"{subset.corpus}, {subset.task.name}: {group}"
        figure = figures.contexts_against_all(
            subset.predictions.clean, names, groups, group, inside, values, classes, title
        )
        alt = f"Predictions for each {context} in one {column} and in all: {title}"
        shown.append(figures.show(evaluation.media, figure, alt))
    inside = f"{subset.corpus}, {subset.task.name}: {counted(len(shown), 'figure')}, one a {column}"
    return folded(inside, shown)
