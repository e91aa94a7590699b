"""What happens from segment to segment of a file: tables, figures, neighbours that are furthest off."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import CLEAN, Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import mean_error
from soundcheck.metrics.temporal import FileChanges, Neighbours
from soundcheck.report import figures, page, severity_views, views
from soundcheck.report.html import Html
from soundcheck.report.names import measure, place
from soundcheck.report.style import label
from soundcheck.suite.families import PerturbationSeries

InTime = tuple[Subset, Neighbours, FileChanges]


def files_table(files: Sequence[tuple[Subset, Neighbours]]) -> Html:
    """Say how many files and segments take part, and how far apart in time neighbours are."""
    rows = []
    for subset, pairs in files:
        segments, start, inside = subset.segments, _starts(subset), pairs.file >= 0
        gaps = pd.Series(start[pairs.after] - (start + segments["duration"].to_numpy())[pairs.before])
        left_out = segments["file"][~inside]
        of = (subset.corpus, subset.task.name, len(pairs), int(inside.sum()), gaps.median(), gaps.max())
        rows.append((*of, left_out.nunique(), len(left_out)))
    names = ["corpus", "task", "files", "segments", "seconds between neighbours, median", "longest"]
    return views.listed(rows, [*names, "files left out", "their segments"], none="")


def trivial_table(
    subsets: Sequence[tuple[Subset, Mapping[str, Callable[[Subset, Predictions], Statistic]]]],
) -> Html:
    """Compare the model with a random one, and one that always predicts the same; measures are by test."""
    rows = []
    for subset, measures in subsets:
        usual = np.mean(subset.truth) if subset.task.is_regression else pd.Series(subset.truth).mode()[0]
        always = Predictions(pd.Series([usual] * len(subset)).to_numpy())
        given = {"model": subset.predictions, "random": subset.reference, "always the same": always}
        for test, of in measures.items():
            about = {"corpus": subset.corpus, "task": subset.task.name, "test": measure(test)}
            rows.append(about | {name: value(of(subset, one)) for name, one in given.items()})
    return views.table(rows, none="")


def change_figures(evaluation: Evaluation, files: Sequence[InTime]) -> None:
    """Draw the predicted against the true change of each file, a figure a corpus and task."""
    for subset, _, changes in files:
        title = place(subset)
        axes_of = ("true change, of the largest", "predicted change")
        both = (np.array(values) / changes.largest for values in (changes.truth, changes.prediction))
        figure = figures.truth_and_prediction(*both, title, axes_of)
        page.show(evaluation, figure, f"Predicted against true change of each file: {title}")


def course_figure(files: Sequence[InTime]) -> Figure:
    """Draw truth and predictions over time, of each corpus and task the file that is predicted worst."""
    parts = []
    for subset, pairs, changes in files:
        rows, classes = _worst_rows(pairs, changes), subset.task.classes
        for name, values in (("truth", subset.truth), ("prediction", subset.predictions.clean)):
            numbers = class_numbers(values[rows], classes) if classes else values[rows]
            about = {"who": name, "panel": place(subset)}
            parts.append(pd.DataFrame({"seconds": _starts(subset)[rows], "value": numbers}).assign(**about))
    figure = views.lines(pd.concat(parts), "seconds", hue="who", panels="panel", xlabel="seconds")
    for axes, (subset, *_) in zip(figure.axes, files, strict=False):
        classes = subset.task.classes
        axes.set_ylim(*((-0.4, len(classes) - 0.6) if classes else (-0.03, 1.03)))
        if classes:
            axes.set_yticks(range(len(classes)), [label(name, 10) for name in classes])
    return figure


def growth_curves(
    evaluation: Evaluation, grown: Sequence[tuple[PerturbationSeries, Subset, Neighbours]]
) -> None:
    """Draw how far predictions of values move at each level of a change that grows within each file."""
    curves = []
    for series, subset, _ in grown:
        if subset.task.is_regression:
            levels = [name for name in (CLEAN, *series.steps) if subset.mask("step", name).any()]
            steps = {name: subset.take(np.flatnonzero(subset.mask("step", name))) for name in levels}
            about = {"name": "movement", "series": series.name}
            curve = evaluation.curve(steps, lambda _, p: mean_error(p.clean, p.changed), **about)
            curves.append((series, curve))
    severity_views.step_curves(evaluation, curves, "movement of predictions")


def _worst_rows(pairs: Neighbours, changes: FileChanges) -> np.ndarray:
    """Give the segments of the file whose change is predicted worst, in the order of time."""
    worst = np.abs(changes.prediction - changes.truth).argmax()
    rows = np.flatnonzero(changes.file == worst)
    return rows[np.argsort(pairs.place[rows])]


def _starts(subset: Subset) -> np.ndarray:
    return subset.segments["start"].fillna(0.0).to_numpy(dtype=float)
