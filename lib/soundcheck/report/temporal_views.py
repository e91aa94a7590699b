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
from soundcheck.report import severity_views, views
from soundcheck.report.examples import Example, Scene
from soundcheck.report.html import Html
from soundcheck.report.names import measure
from soundcheck.report.style import BLUE, GREY, grid, label, look
from soundcheck.suite.families import PerturbationSeries

PANELS = 4  # abreast

InTime = tuple[Subset, Neighbours, FileChanges]


def files_table(found: Sequence[tuple[Subset, Neighbours]]) -> Html:
    """Say how many files and segments take part, and how far apart in time neighbours are."""
    rows = []
    for subset, pairs in found:
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


def change_figure(found: Sequence[InTime]) -> Figure:
    """Draw the predicted against the true change of each file, a panel a corpus and task."""
    with look():
        figure, panels = grid(len(found), PANELS, 2.6, 2.7)
        for axes, (subset, _, own) in zip(panels, found, strict=False):
            most = 1.05 * max([0.05, *own.truth, *own.prediction])
            axes.plot([0, most], [0, most], color=GREY, linestyle="--", linewidth=1)
            axes.plot(own.truth, own.prediction, linestyle="none", marker="o", markersize=4, color=BLUE)
            axes.set(xlim=(-0.03 * most, most), ylim=(-0.03 * most, most))
            axes.set(xlabel="true change", ylabel="predicted change")
            name = f"{label(subset.corpus, 24)}\n{label(subset.task.name, 18)}, {len(own)} files"
            axes.set_title(name, loc="left", fontsize=9)
    return figure


def course_figure(found: Sequence[InTime]) -> Figure:
    """Draw truth and predictions over time, of each corpus and task the file that is predicted worst."""
    parts = []
    for subset, pairs, own in found:
        rows, classes = _worst_rows(pairs, own), subset.task.classes
        for name, values in (("truth", subset.truth), ("prediction", subset.predictions.clean)):
            shown = class_numbers(values[rows], classes) if classes else values[rows]
            about = {"who": name, "panel": f"{subset.corpus}, {subset.task.name}"}
            parts.append(pd.DataFrame({"seconds": _starts(subset)[rows], "value": shown}).assign(**about))
    figure = views.lines(pd.concat(parts), "seconds", hue="who", panels="panel", xlabel="seconds")
    for axes, (subset, *_) in zip(figure.axes, found, strict=False):
        classes = subset.task.classes
        axes.set_ylim(*((-0.4, len(classes) - 0.6) if classes else (-0.03, 1.03)))
        if classes:
            axes.set_yticks(range(len(classes)), [label(name, 10) for name in classes])
    return figure


def furthest(subset: Subset, pairs: Neighbours, found: FileChanges) -> Scene:
    """Choose the file whose change is predicted worst, to hear the two neighbours that are furthest off."""
    rows = _worst_rows(pairs, found)
    number = found.file[rows[0]]
    values = [subset.truth[rows], subset.predictions.clean[rows]]
    of_values = subset.task.is_regression
    steps = [np.abs(np.diff(own)) if of_values else own[1:] != own[:-1] for own in values]
    at = int(np.nan_to_num(np.abs(steps[1].astype(float) - steps[0].astype(float))).argmax())
    start = _starts(subset)
    chosen = [
        Example(int(row), f"at {start[row]:.1f} s", played=place in (at, at + 1))
        for place, row in enumerate(rows)
    ]
    change = f"labels change by {found.truth[number]:.2f} from segment to segment"
    title = f"{found.names[number]}: {change}, predictions by {found.prediction[number]:.2f}"
    return Scene(title, subset, chosen, float(_off(found)[number] / found.largest))


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
            found = evaluation.curve(steps, lambda _, p: mean_error(p.clean, p.changed), **about)
            curves.append((series, found))
    severity_views.step_curves(evaluation, curves, "movement of predictions")


def _off(found: FileChanges) -> np.ndarray:
    return np.abs(found.prediction - found.truth)


def _worst_rows(pairs: Neighbours, found: FileChanges) -> np.ndarray:
    """Give the segments of the file whose change is predicted worst, in the order of time."""
    rows = np.flatnonzero(found.file == int(_off(found).argmax()))
    return rows[np.argsort(pairs.place[rows])]


def _starts(subset: Subset) -> np.ndarray:
    return subset.segments["start"].fillna(0.0).to_numpy(dtype=float)
