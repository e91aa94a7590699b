"""What pages about averages of speakers and about files in time show: figures, tables, orders.

Speakers are numbered, not named: what is shown is how far a model can be trusted with any of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import CLEAN, Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import mean_error
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap
from soundcheck.metrics.temporal import FileChanges, Neighbours
from soundcheck.report import figures, page, severity_views, views
from soundcheck.report.formats import measure, place
from soundcheck.report.html import Html
from soundcheck.report.style import label
from soundcheck.suite.families import PerturbationSeries

SubsetsWithSpeakers = Sequence[
    tuple[Subset, SpeakerValues]
]  # from evaluation.correctness.subsets_with_speakers
InTime = tuple[Subset, Neighbours, FileChanges]


def averages(evaluation: Evaluation, subsets: SubsetsWithSpeakers, tests: Mapping[bool, str]) -> None:
    """Draw true and predicted average of each speaker; ``tests`` are by whether a task is of values."""
    for subset, name, *both in _each(subsets):
        unit = "share of segments" if name else "average"
        finding = page.finding(evaluation, tests[subset.task.is_regression], subset, name)
        title, axes_of = f"{place(subset)} {name}".strip(), (f"true {unit} of a speaker", f"predicted {unit}")
        display(figures.agreement(evaluation.media, *both, (), title, axes_of, finding))


def ranks(evaluation: Evaluation, subsets: SubsetsWithSpeakers) -> None:
    """Draw the rank of each speaker by prediction against the rank by truth."""
    axes_of = ("rank of a speaker by truth (1: highest)", "rank by prediction")
    for subset, name, *both in _each(subsets):
        title, finding = f"{place(subset)} {name}", page.finding(evaluation, "Spearmans Rho", subset, name)
        ranked = (pd.Series(values).rank(pct=True).to_numpy() for values in both)
        display(figures.agreement(evaluation.media, *ranked, (), title, axes_of, finding))


def quarters(subsets: SubsetsWithSpeakers) -> Html:
    """Say how much of the predicted highest and lowest quarter belongs there."""
    rows = []
    for subset, name, truth, prediction in _each(subsets):
        ends = quartile_overlap(truth, prediction)
        shares = [ends[one] for one in ("top", "bottom", "confusion")]
        rows.append((subset.corpus, subset.task.name, name, len(truth), *shares))
    heads = ["corpus", "task", "class", "speakers", "top right", "bottom right", "in the opposite one"]
    return views.listed(rows, heads)


def _each(subsets: SubsetsWithSpeakers) -> Iterator[tuple[Subset, str, np.ndarray, np.ndarray]]:
    for subset, averages in subsets:
        for n, name in enumerate(averages.labels):
            yield subset, name, averages.truth[:, n], averages.prediction[:, n]


def files_table(files: Sequence[tuple[Subset, Neighbours]]) -> Html:
    """Say how many files and segments take part, and how far apart in time neighbours are."""
    rows = []
    for subset, pairs in files:
        segments, start, inside = subset.segments, _starts(subset), pairs.file >= 0
        gaps = pd.Series(start[pairs.after] - (start + segments["duration"].to_numpy())[pairs.before])
        left_out = segments["file"][~inside]
        about = (subset.corpus, subset.task.name, len(pairs), int(inside.sum()), gaps.median(), gaps.max())
        rows.append((*about, left_out.nunique(), len(left_out)))
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
    axes_of = ("true change of each file, of the largest", "predicted change")
    for subset, _, changes in files:
        both = (np.array(values) / changes.largest for values in (changes.truth, changes.prediction))
        display(figures.agreement(evaluation.media, *both, (), place(subset), axes_of))


def course_figure(files: Sequence[InTime]) -> Figure:
    """Draw truth and predictions over time, of each corpus and task the file that is predicted worst."""
    parts = []
    for subset, pairs, changes in files:
        worst = np.abs(changes.prediction - changes.truth).argmax()
        rows, classes = np.flatnonzero(changes.file == worst), subset.task.classes
        rows = rows[np.argsort(pairs.place[rows])]
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


def _starts(subset: Subset) -> np.ndarray:
    return subset.segments["start"].fillna(0.0).to_numpy(dtype=float)
