"""Labels beside predictions: of segments, averages of speakers, files in time; what classes are taken for.

Values of figures are drawn on 0..1, those outside at the edge; missing values are left out; without any value
the axes are empty. Speakers are numbered, not named: what is shown is how far a model can be trusted with any
of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soundcheck.common import files, templates
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap
from soundcheck.metrics.temporal import FileChanges, Neighbours
from soundcheck.report import page, style, views
from soundcheck.report.examples import choose
from soundcheck.report.formats import measure, place, sentence
from soundcheck.report.html import Html
from soundcheck.report.listening import Example, Scene
from soundcheck.report.players import segment_name
from soundcheck.report.style import BLUE, GREEN, GREY, RED, label, look, new

SIDES = ("truth", "prediction")
MOST_CLASSES = 15  # of a confusion matrix
MOST_GROUPS = 40  # of a figure
READ, PLAYED = 4, 2  # segments of a cell, most frequent confusions of which one is played
SubsetsWithSpeakers = Sequence[tuple[Subset, SpeakerValues]]  # from measure_sets.subsets_with_speakers
InTime = tuple[Subset, Neighbours, FileChanges]


def truth_and_prediction(
    truth: np.ndarray, prediction: np.ndarray, title: str = "", axes_of: tuple[str, str] = SIDES
) -> Figure:
    """Draw predicted against true values, with the least-squares line and that of perfect agreement."""
    both = np.array([truth, prediction], dtype=float)
    truth, prediction = both[:, np.isfinite(both).all(axis=0)]
    with look():
        figure, (axes,) = new(4.2, 4.1)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        axes.scatter(truth, prediction, s=10, alpha=0.5, linewidths=0, color=BLUE)
        if len(truth) > 1 and np.ptp(truth) > 0:
            ends = np.array([truth.min(), truth.max()])
            axes.plot(ends, np.polyval(np.polyfit(truth, prediction, 1), ends), color=RED, linewidth=2)
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel=label(axes_of[0]), ylabel=label(axes_of[1]))
        outside = int(((np.minimum(truth, prediction) < -0.1) | (np.maximum(truth, prediction) > 1.1)).sum())
        axes.set_title(label(title, 40) + (f" ({outside} outside)" if outside else ""), loc="left")
        axes.set_aspect("equal")
    return figure


def distribution(subset: Subset, title: str = "") -> Figure:
    """Draw the distributions of labels and predictions: densities of values, shares of classes."""
    import audplot

    both, classes = [subset.truth, subset.predictions.clean], subset.task.classes
    with look():
        figure, (axes,) = new(max(5.0, 1.1 * len(classes) + 2), 3.4)
        if classes:
            _shares(axes, dict(zip(("truth", "prediction"), both, strict=True)), classes)
        else:
            known = np.isfinite(np.array(both, dtype=float)).all(axis=0)
            if known.any():
                audplot.distribution(*(np.clip(values[known], 0, 1) for values in both), ax=axes)
            axes.set(xlim=(0, 1), xlabel="value", yticklabels=[])
            axes.set_ylabel(f"density of {known.sum():,} segments")
        axes.set_title(label(title, 50), loc="left")
    return figure


def _shares(axes: Axes, sides: Mapping[str, Sequence[str]], classes: Sequence[str]) -> None:
    """Draw the shares of classes, a colour a side."""
    counts = {
        name: pd.Series(values, dtype=object).value_counts(normalize=True) for name, values in sides.items()
    }
    frame = 100 * pd.DataFrame(counts).reindex(list(classes)).fillna(0.0)
    frame = frame.rename(columns=style.legend_name)
    frame.plot.bar(ax=axes, color=list(style.PALETTE), width=0.8)
    axes.set_xticklabels([label(name, 12) for name in frame.index], rotation=35, ha="right")
    axes.set(xlabel="", ylabel="% of segments")
    axes.legend(fontsize=9, ncols=1 + len(sides) // 12)


def by_group(
    values: np.ndarray,
    groups: Sequence[str],
    order: Sequence[str],
    classes: Sequence[str] = (),
    title: str = "",
    expected: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Draw the predictions of each group: numbers as boxes, over the range that is ``expected``, or shares.

    Of more than 40 groups the first ones are shown.
    """
    import seaborn

    groups, names = np.asarray(groups, dtype=object), list(order)[:MOST_GROUPS]
    title = label(title, 60) + (f", first {MOST_GROUPS} of {len(order)}" if len(order) > MOST_GROUPS else "")
    counts = {name: f"{label(name)} ({int((groups == name).sum()):,})" for name in names}
    with look():
        if len(classes):
            figure, (axes,) = new(7.0 + 0.2 * len(names), 3.6)
            _shares(axes, {counts[name]: values[groups == name] for name in names}, classes)
        else:
            figure, (axes,) = new(6.4, 1.2 + 0.42 * max(1, len(names)))
            for place, name in enumerate(names):
                low, high = np.clip((expected or {}).get(name, (0, 0)), 0, 1)
                axes.barh(place, high - low, left=low, height=0.86, color=GREEN, alpha=0.2, lw=0)
            known = np.isin(groups, names) & np.isfinite(values)
            if known.any():
                boxes = {"x": values[known], "y": [names.index(name) for name in groups[known]]}
                look_of = {"width": 0.5, "color": BLUE, "fliersize": 2.5, "boxprops": {"alpha": 0.75}}
                seaborn.boxplot(**boxes, order=range(len(names)), orient="h", ax=axes, **look_of)
            axes.set_yticks(range(len(names)), counts.values())
            axes.set(xlim=(0, 1), ylim=(max(1, len(names)) - 0.4, -0.6), ylabel="")
            shaded = "; shaded: where it is expected" if expected else ""
            axes.set_xlabel(f"prediction (box: middle half{shaded})")
        axes.set_title(title, loc="left", fontsize=10)
    return figure


def agreement(
    media: MediaStore,
    first: np.ndarray,
    second: np.ndarray,
    classes: Sequence[str],
    title: str,
    axes_of: tuple[str, str] = SIDES,
    finding: str = "",
) -> Html:
    """Show labels and predictions, or predictions before and after, against each other."""
    if classes:
        return confusions(first, second, classes, title, axes_of, finding=finding)
    figure = truth_and_prediction(first, second, title, axes_of)
    return style.show(media, figure, sentence(f"{axes_of[1]} against {axes_of[0]}: {title}"), finding)


def confusions(
    truth: np.ndarray,
    prediction: np.ndarray,
    classes: Sequence[str],
    title: str,
    axes_of: tuple[str, str] = ("label", "prediction"),
    names_of: Callable[[int, int], Sequence[str]] | None = None,
    finding: str = "",
) -> Html:
    """Show what each class was taken for, and how often; cells are coloured by share.

    ``names_of`` names the first segments of a cell (row, column), which then leads to them; ``finding`` says
    what is seen and is the heading of the table.
    """
    counts = confusion_counts(truth, prediction, classes)
    largest = np.sort(np.argsort(-counts.sum(axis=0) - counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
    anchor = f"confusion-{files.digest(title)[:8]}"
    cells = {
        (r, c): {
            "count": int(counts[r, c]),
            "share": counts[r, c] / max(1, counts[r].sum()),
            "known": counts[r].any(),
            "css": "sc-heat-right" if r == c else "sc-heat-wrong",
            "anchor": f"{anchor}-{r}-{c}",
            "title": f"{classes[r]} taken for {classes[c]}" if r != c else f"{classes[r]}, recognised",
        }
        for r in largest
        for c in largest
    }
    listed = [cell for cell in cells if counts[cell]] if names_of else []
    for cell in listed:
        names = names_of(*cell)
        cells[cell] |= {"segments": names, "more": int(counts[cell]) - len(names)}
    fewer = f"The {len(largest)} of {len(classes)} classes with the most segments are shown."
    uncounted = counted(len(truth) - int(counts.sum()), "segment")
    missing = f"{uncounted} without a {axes_of[1]} or with another {axes_of[0]}: not counted."
    notes = {fewer: len(largest) < len(classes), missing: counts.sum() < len(truth)}
    return templates.html(
        "confusions",
        names=[classes[c] for c in largest],
        rows=[{"name": classes[r], "cells": [cells[r, c] for c in largest]} for r in largest],
        listed=[cells[cell] for cell in listed],
        finding=finding,
        axes=axes_of,
        title=title,
        notes=[note for note, needed in notes.items() if needed],
    )


def class_confusions(subset: Subset, finding: str = "") -> Html:
    """Show where the segments of each class went, with the segments of each cell."""

    def names(row: int, column: int) -> list[str]:
        chosen = [example.row for example in _in_cell(subset, row, column, READ)]
        chosen = subset.segments.iloc[chosen].to_dict("records")
        speakers = [f" ({segment['speaker']})" if segment.get("speaker") else "" for segment in chosen]
        return [name + speaker for name, speaker in zip(map(segment_name, chosen), speakers, strict=True)]

    both = subset.truth, subset.predictions.clean, subset.task.classes
    return confusions(*both, place(subset), names_of=names, finding=finding)


def most_confused(subset: Subset) -> Scene:
    """Choose a segment of each of the most frequent confusions."""
    counts = confusion_counts(subset.truth, subset.predictions.clean, subset.task.classes)
    np.fill_diagonal(counts, 0)
    cells = [divmod(int(n), len(counts)) for n in np.argsort(-counts, axis=None, kind="stable")[:PLAYED]]
    chosen = [example for cell in cells if counts[cell] for example in _in_cell(subset, *cell, 1)]
    return Scene(f"{place(subset)}: the most frequent confusions", subset, chosen)


def confusion_counts(truth: np.ndarray, prediction: np.ndarray, classes: Sequence[str]) -> np.ndarray:
    """Count how often each class (row) was taken for each class (column), int ``(K, K)``."""
    counts = pd.DataFrame({"truth": truth, "prediction": prediction}, dtype=object).value_counts()
    table, classes = counts.unstack(fill_value=0), list(classes)
    return table.reindex(index=classes, columns=classes, fill_value=0).to_numpy(int, copy=True)


def _in_cell(subset: Subset, row: int, column: int, count: int) -> list[Example]:
    """Choose segments of a cell by their keys, each speaker once before another one of the same comes."""
    classes, scores = subset.task.classes, np.zeros(len(subset))
    mask = (subset.truth == classes[row]) & (subset.predictions.clean == classes[column])
    return choose(scores, subset.segments, mask, worst=count, called="")


def averages(evaluation: Evaluation, subsets: SubsetsWithSpeakers, tests: Mapping[bool, str]) -> None:
    """Draw true and predicted average of each speaker; ``tests`` are by whether a task is of values."""
    for subset, name, *both in _each(subsets):
        unit = "share of segments" if name else "average"
        finding = page.finding(evaluation, tests[subset.task.is_regression], subset, name)
        title, axes_of = f"{place(subset)} {name}".strip(), (f"true {unit} of a speaker", f"predicted {unit}")
        display(agreement(evaluation.media, *both, (), title, axes_of, finding))


def ranks(evaluation: Evaluation, subsets: SubsetsWithSpeakers) -> None:
    """Draw the rank of each speaker by prediction against the rank by truth."""
    axes_of = ("rank of a speaker by truth (1: highest)", "rank by prediction")
    for subset, name, *both in _each(subsets):
        title, finding = f"{place(subset)} {name}", page.finding(evaluation, "Spearmans Rho", subset, name)
        ranked = (pd.Series(values).rank(pct=True).to_numpy() for values in both)
        display(agreement(evaluation.media, *ranked, (), title, axes_of, finding))


def quarters(subsets: SubsetsWithSpeakers) -> Html:
    """Say how much of the predicted highest and lowest quarter belongs there."""
    rows = []
    for subset, name, truth, prediction in _each(subsets):
        shares = quartile_overlap(truth, prediction).values()
        rows.append((subset.corpus, subset.task.name, name, int(np.isfinite(prediction).sum()), *shares))
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
            rows.append(about | {name: value(of(subset, predictions)) for name, predictions in given.items()})
    return views.table(rows, none="")


def change_figures(evaluation: Evaluation, files: Sequence[InTime]) -> None:
    """Draw the predicted against the true change of each file, a figure a corpus and task."""
    axes_of = ("true change of each file, of the largest", "predicted change")
    for subset, _, changes in files:
        both = (np.array(values) / changes.largest for values in (changes.truth, changes.prediction))
        display(agreement(evaluation.media, *both, (), place(subset), axes_of))


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


def _starts(subset: Subset) -> np.ndarray:
    return subset.segments["start"].fillna(0.0).to_numpy(dtype=float)
