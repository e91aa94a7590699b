"""What happens from segment to segment of a file: tables, figures, neighbours that are furthest off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import CLEAN, Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import mean_error
from soundcheck.metrics.temporal import FileChanges, Neighbours
from soundcheck.report import page, sentences, sweep_figures, tables
from soundcheck.report.chosen_segments import Chosen
from soundcheck.report.html import Html, element
from soundcheck.report.names import measure
from soundcheck.report.segment_lists import Behind, place_of
from soundcheck.report.style import BLUE, GREY, RED, grid, label, look
from soundcheck.suite.families import PerturbationSeries

PANELS = 4  # abreast


def files_table(found: Sequence[tuple[Subset, Neighbours]]) -> Html:
    """Say how many files and segments take part, and how far apart in time neighbours are."""
    if not found:
        return element("p", "There is no file with enough labelled segments.")
    rows = []
    for subset, pairs in found:
        table = subset.segments
        start = _starts(subset)
        end = start + table["duration"].to_numpy(dtype=float)
        gaps = (start[pairs.after] - end[pairs.before])[np.isfinite(end[pairs.before])]
        usual, longest = (np.median(gaps), gaps.max()) if len(gaps) else (np.nan, np.nan)
        inside = int((pairs.file >= 0).sum())
        rows.append([subset.corpus, subset.task.name, len(pairs), inside, usual, longest])
        rows[-1] += [table["file"][pairs.file < 0].nunique(), len(table) - inside]
    columns = ["corpus", "task", "files", "segments", "seconds between neighbours, median", "longest"]
    return tables.table(rows, [*columns, "files left out", "their segments"])


def trivial_table(
    subsets: Sequence[tuple[Subset, Mapping[str, Callable[[Subset, Predictions], Statistic]]]],
) -> Html:
    """Compare the model with one that guesses at random, and one that always gives the same answer.

    Parameters
    ----------
    subsets
        Each with its measures by the name of the test.
    """
    if not subsets:
        return Html()
    rows = []
    for subset, measures in subsets:
        if subset.task.is_regression:
            always = np.full(len(subset), np.mean(subset.truth))
        else:
            always = np.full(len(subset), pd.Series(subset.truth).mode()[0], dtype=object)
        for test, of in measures.items():
            answers = (subset.predictions, subset.reference, Predictions(always))
            numbers = [value(of(subset, given)) for given in answers]
            rows.append([subset.corpus, subset.task.name, measure(test), *numbers])
    return tables.table(rows, ["corpus", "task", "test", "model", "guessing", "always the same"])


def change_figure(found: Mapping[str, FileChanges], title: str = "") -> Figure:
    """Draw the predicted against the true change of each file, a panel each.

    Parameters
    ----------
    found
        Name of the panel -> changes.
    title
        What is shown.
    """
    with look():
        figure, panels = grid(len(found), PANELS, 2.6, 2.7, (0.4, 0.3))
        for axes, (name, own) in zip(panels, found.items(), strict=False):
            most = 1.05 * max([0.05, *own.truth, *own.prediction])
            axes.plot([0, most], [0, most], color=GREY, linestyle="--", linewidth=1)
            axes.plot(own.truth, own.prediction, linestyle="none", marker="o", markersize=4, color=BLUE)
            axes.set(xlim=(-0.03 * most, most), ylim=(-0.03 * most, most), xlabel="true change")
            axes.set_title(f"{label(name, 18)} ({len(own)} files)", loc="left", fontsize=9)
        for axes in panels[::PANELS]:
            axes.set_ylabel("predicted change")
        figure.suptitle(label(title, 60), x=0.01, ha="left", fontsize=10)
    return figure


def course_figure(found: Sequence[tuple[Subset, Neighbours, FileChanges]], title: str = "") -> Figure:
    """Draw truth and predictions in the order of time, of each task the file that is predicted worst.

    Parameters
    ----------
    found
        Subsets with their files, one or more each; a panel each.
    title
        What is shown.
    """
    with look():
        figure, panels = grid(len(found), PANELS, 2.6, 2.4, (0.4, 0.6))
        for axes, (subset, pairs, own) in zip(panels, found, strict=False):
            rows, classes = _worst_rows(pairs, own), subset.task.classes
            seconds = _starts(subset)[rows]
            for values, name, color, mark, line in (
                (subset.truth, "truth", GREY, "o", "-"),
                (subset.predictions.clean, "prediction", RED, "s", "--"),
            ):
                shown = class_numbers(values[rows], classes) if classes else values[rows]
                axes.plot(seconds, shown, color=color, marker=mark, linestyle=line, label=name, markersize=4)
            if classes:
                axes.set_ylim(-0.4, len(classes) - 0.6)
                axes.set_yticks(range(len(classes)), [label(name, 10) for name in classes])
            else:
                axes.set_ylim(-0.03, 1.03)
            axes.set_xlabel("seconds")
            axes.set_title(label(subset.task.name, 24), loc="left", fontsize=9)
        figure.suptitle(label(title, 40), x=0.01, ha="left", fontsize=10)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, fontsize=8)
    return figure


def furthest(subset: Subset, pairs: Neighbours, found: FileChanges) -> Behind:
    """Choose the file whose change is predicted worst, to hear the two neighbours that are furthest off."""
    rows = _worst_rows(pairs, found)
    number = found.file[rows[0]]
    values = [subset.truth[rows], subset.predictions.clean[rows]]
    if subset.task.is_regression:
        steps = [np.abs(np.diff(own)) for own in values]
    else:
        steps = [own[1:] != own[:-1] for own in values]
    gap = np.nan_to_num(np.abs(steps[1].astype(float) - steps[0].astype(float)))
    at = int(gap.argmax())
    start = _starts(subset)
    chosen = [Chosen(int(row), f"at {start[row]:.1f} s") for row in rows]
    told = (
        f"{found.names[number]}: labels change by {found.truth[number]:.2f} from segment to segment, "
        f"predictions by {found.prediction[number]:.2f}"
    )
    heard = {told: {one.why: 1 for one in chosen[at : at + 2]}}
    return Behind(
        place_of(subset), subset, {told: chosen}, float(_off(found)[number] / found.largest), heard=heard
    )


def growth_figure(evaluation: Evaluation, series: PerturbationSeries, subsets: Sequence[Subset]) -> None:
    """Show how far predictions move at each level of a change that grows within each file.

    Parameters
    ----------
    evaluation
        For its bootstrap and its verdicts.
    series
        The change.
    subsets
        Of values, from :func:`soundcheck.evaluation.temporal.growing`.
    """
    frames = []
    for subset in subsets:
        levels = [name for name in (CLEAN, *series.steps) if subset.mask("step", name).any()]
        steps = {name: subset.take(np.flatnonzero(subset.mask("step", name))) for name in levels}
        name = {"name": "movement", "series": series.name}
        frames.append(evaluation.curve(steps, lambda _, p: mean_error(p.clean, p.changed), **name))
    if not frames:
        return
    figure = sweep_figures.curves(pd.concat(frames), series.axis, "predictions move by", (-0.1, 0.1))
    rows = evaluation.frame()
    rows = rows[rows["test"].eq(f"Drift Under {series.name}") & rows["value"].notna()]
    finding = ""
    if len(rows):
        worst = rows.loc[rows["value"].abs().idxmax()]
        value = sentences.value(rows, worst["test"], worst["corpus"], worst["task"])
        finding = f"{value}, of {label(worst['task'])}: the largest"
    page.show(evaluation, figure, f"{series.name}: how far predictions move", finding)
    display(sweep_figures.curve_table(pd.concat(frames), series.axis, evaluation.block_names))


def _off(found: FileChanges) -> np.ndarray:
    return np.abs(found.prediction - found.truth)


def _worst_rows(pairs: Neighbours, found: FileChanges) -> np.ndarray:
    """Give the segments of the file whose change is predicted worst, in the order of time."""
    rows = np.flatnonzero(found.file == int(_off(found).argmax()))
    return rows[np.argsort(pairs.place[rows])]


def _starts(subset: Subset) -> np.ndarray:
    return subset.segments["start"].fillna(0.0).to_numpy(dtype=float)
