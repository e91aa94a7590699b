"""What pages about changes of the sound show: quality and rates before and under changes, levels, groups.

A *rate* is named by the page: the word error rate, the equal error rate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display

from soundcheck.common.messages import counted
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.evaluation.evaluation import CLEAN, Evaluation
from soundcheck.evaluation.robustness import DOUBLE, HALF, Swept, labelled, proportion_unchanged, quality_name
from soundcheck.evaluation.robustness import quality as quality_of
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.metrics.differential import Setting
from soundcheck.metrics.regression import mean_error
from soundcheck.metrics.temporal import Neighbours
from soundcheck.report import label_views, page, views
from soundcheck.report.examples import AS_IT_IS
from soundcheck.report.formats import POINTS, Cell, number, place, stacked, value_cell, values
from soundcheck.report.html import Html, element, folded
from soundcheck.report.method_views import spectra
from soundcheck.report.players import signal_of
from soundcheck.report.style import label
from soundcheck.statistics.bootstrap import Crossing
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.suite.families import UNCHANGED, PerturbationSeries, info_of

MOST_PLAYED = 4
MOST_READ = 20  # pairs of recordings
_TEST = "Percentage Unchanged Predictions "


def quality(evaluation: Evaluation) -> None:
    """Draw the quality under each change, with that of the same segments before it as a grey mark."""
    estimates = evaluation.estimated()
    before = estimates["condition"].str.startswith("before ")
    clean = estimates[before].assign(condition=estimates["condition"].str.removeprefix("before "))
    same = ["corpus", "task", "measure", "condition"]
    clean = clean[[*same, "value"]].rename(columns={"value": "reference"})
    rows = estimates[~before].merge(clean, on=same).dropna(subset=["value", "reference"])
    rows["about"] = rows["task"] + ": " + rows["measure"].map(lambda name: info_of(name).title)
    rows["words"] = [_arrow(row.reference, row.value) for row in rows.itertuples()]
    for corpus, changes in rows.groupby("corpus", sort=False):
        worst = changes.loc[(changes["value"] - changes["reference"]).idxmin()]
        finding = f"Largest loss: {worst['about']} {worst['words']} under {worst['condition']}"
        alt = f"Quality before and under each change, {corpus}"
        unit = "under the change; grey mark: before it"
        figure = views.forest(changes, name="condition", panels="about", unit=unit)
        page.show(evaluation, figure, alt, finding)


def _arrow(before: float, after: float) -> str:
    return f"{number(before, 2)} → {number(after, 2)}"


def unchanged(evaluation: Evaluation) -> None:
    """Draw the share of predictions that stay under each change, with its threshold as a grey mark."""
    frame = evaluation.frame()
    rows = frame[frame["test"].str.startswith(_TEST) & frame["value"].notna()]
    rows = rows.drop(columns="state")  # is decided when all families are together
    changes = rows["label"].where(rows["label"].ne(""), rows["test"].str.removeprefix(_TEST))
    rows = rows.assign(condition=changes, about=rows["task"], reference=rows["threshold"])
    rows["words"] = [number(value, 2) for value in rows["value"]]
    for corpus, shares in rows.groupby("corpus", sort=False):
        finding = f"{shares['passed'].eq(False).sum()} of {counted(len(shares), 'share')} below the threshold"
        unit = "share of unchanged predictions; grey mark: threshold"
        figure = views.forest(shares, name="condition", panels="about", unit=unit)
        alt = f"Share of unchanged predictions under each change, {corpus}"
        page.show(evaluation, figure, alt, finding)


def quality_curves(evaluation: Evaluation, swept: Iterable[Swept]) -> None:
    """Draw the quality of labelled corpora and tasks at each step of series of changes."""
    curves(evaluation, labelled(swept), quality_of, "quality of the predictions", quality_name)


def unchanged_curves(evaluation: Evaluation, swept: Iterable[Swept]) -> None:
    """Draw the share of unchanged predictions at each step of series of changes."""
    what = "share of unchanged predictions"
    curves(evaluation, swept, proportion_unchanged, what, lambda _: UNCHANGED)


def curves(
    evaluation: Evaluation,
    swept: Iterable[Swept],
    measure: Measure,
    what: str,
    name: Callable[[Subset], str] = lambda _: "",
    *,
    share: bool = False,
) -> None:
    """Draw a measure at each step of series of changes, with a table of its values; nothing is judged.

    ``name`` gives its name among the estimates, if it is one; ``share`` says that values lie from 0 to 1.
    """
    computed, scale = [], Scale(0, 1) if share else FREE
    for series, everywhere in swept:
        for steps in everywhere:
            of = name(next(iter(steps.values())))
            computed.append((series, evaluation.curve(steps, measure, scale, of, series.name)))
    step_curves(evaluation, computed, what)


def step_curves(
    evaluation: Evaluation, curves: Sequence[tuple[PerturbationSeries, pd.DataFrame]], what: str
) -> None:
    """Draw curves, a panel a series and corpus, and give their numbers behind a line that opens them."""
    parts = [curve.assign(change=series.name, axis=series.axis) for series, curve in curves]
    if not parts:
        return
    frame = pd.concat(parts, ignore_index=True)
    _draw(evaluation, frame, what)
    blocks = evaluation.block_names
    columns = {name: name for name in ("corpus", "change", "task", "step")}
    columns |= {"value": values(), "random model": "reference"}
    columns["segments"] = lambda row: f"{row.segments} in {counted(row.blocks, blocks[row.corpus])}"
    numbers = views.table(frame, columns, caption=f"{what.capitalize()} at each step")
    display(folded("All steps in numbers", [numbers]))


def _draw(evaluation: Evaluation, frame: pd.DataFrame, what: str, threshold: float | None = None) -> None:
    """Draw values at each step of changes, the change that moves one furthest from its first step first."""
    first = frame.groupby(["corpus", "change", "task"], sort=False)["value"].transform("first")
    frame = frame.assign(before=first, moved=(frame["value"] - first).abs())
    largest = frame.groupby("change")["moved"].transform("max")
    frame = frame.loc[largest.sort_values(ascending=False, kind="stable").index]
    finding = "No step changes anything"
    if frame["moved"].max() > 0:
        row = frame.loc[frame["moved"].idxmax()]
        arrow = _arrow(row["before"], row["value"])
        finding = f"Largest change: {row['task']} {arrow} under {row['change']} {label(row['step'])}"
    frame["panel"] = frame["corpus"] + ", " + frame["change"] + ": " + frame["axis"]
    about = {"xlabel": "mild → severe", "ylabel": what, "threshold": threshold}
    figure = views.lines(frame, "step", hue="task", panels="panel", **about)
    alt = f"{what.capitalize()} from mild to severe: {', '.join(frame['change'].unique())}"
    page.show(evaluation, figure, alt, finding)


def growth_curves(
    evaluation: Evaluation, grown: Sequence[tuple[PerturbationSeries, Subset, Neighbours]]
) -> None:
    """Draw how far predictions of values move at each level of a change that grows within each file."""
    curves = []
    for series, subset, _ in grown:
        if subset.task.is_regression:
            levels = [name for name in (CLEAN, *series.steps) if subset.mask("step", name).any()]
            steps = {name: subset.take(subset.mask("step", name)) for name in levels}
            about = {"name": "movement", "series": series.name}
            curve = evaluation.curve(steps, lambda _, p: mean_error(p.clean, p.changed), **about)
            curves.append((series, curve))
    step_curves(evaluation, curves, "movement of predictions")


def movements(evaluation: Evaluation, subsets: Iterable[Subset]) -> None:
    """Show how the predictions of each subset move under its change, behind a line a change."""
    parts: dict[str, list[Html]] = {}
    for subset in subsets:
        both = subset.predictions.clean, subset.predictions.changed
        title = f"{place(subset)}: {subset.change}"
        figure = label_views.agreement(evaluation.media, *both, subset.task.classes, title, subset.sides)
        parts.setdefault(subset.change, []).append(figure)
    for change, each in parts.items():
        display(folded(f"{change}: {counted(len(each), 'figure')}", each))


def worst_changes(evaluation: Evaluation, subsets: Iterable[Subset]) -> list[Subset]:
    """Give of each task of numbers the subset with the smallest share of unchanged predictions."""
    shares = evaluation.frame().set_index(["corpus", "task", "test"])["value"]
    ranked = sorted(
        (subset for subset in subsets if subset.task.is_regression),
        key=lambda subset: shares[subset.corpus, subset.task.name, _TEST + subset.change],
    )
    return list({subset.task.name: subset for subset in reversed(ranked)}.values())


def spectra_of_pairs(evaluation: Evaluation, subsets: Iterable[Subset]) -> None:
    """Draw what some pairs of recordings sound like, a figure a corpus and pair of conditions."""
    pairs = {(subset.corpus, subset.change): subset for subset in subsets if evaluation.view(subset).audio}
    for (corpus, change), subset in pairs.items():
        figure = spectra(recordings(subset, MOST_READ), SAMPLING_RATE)
        page.show(evaluation, figure, f"Magnitude spectra: {corpus}, {change}")


def recordings(subset: Subset, most: int) -> dict[str, np.ndarray]:
    """Give condition -> recordings of the same pairs one after the other, float32 ``(samples,)``.

    Of many pairs ``most`` are read, evenly spread over the subset.
    """
    rows = np.unique(np.linspace(0, len(subset) - 1, min(most, len(subset))).round().astype(int))
    sides = zip(subset.sides, (subset.segments, subset.partner), strict=True)
    return {
        name: np.concatenate([signal_of(subset.root, segments.iloc[n]) for n in rows])
        for name, segments in sides
    }


def curve_figure(evaluation: Evaluation, frame: pd.DataFrame, rate: str) -> None:
    """Draw a rate of one corpus from the sound as it is to each level of each change.

    ``frame`` is from :meth:`soundcheck.evaluation.robustness.Sweep.curves`.
    """
    axes = {name: series.axis for name, series in evaluation.family.transformations.items()}
    names = {"transformation": "change", "level": "step", "rate": "value"}
    frame = frame.drop(columns="change").rename(columns=names | {"rate_low": "low", "rate_high": "high"})
    start, rest = frame.iloc[:1].assign(step="clean"), frame.iloc[1:]
    parts = [
        pd.concat([start, curve]).assign(change=name, axis=axes[name], task=rate)
        for name, curve in rest.groupby("change", sort=False)
    ]
    drawn = pd.concat(parts, ignore_index=True)
    _draw(evaluation, drawn, rate, DOUBLE * start["value"].iloc[0])


def worst_settings(frame: pd.DataFrame, most: int = MOST_PLAYED) -> list[Setting]:
    """List the changes that raise the rate most, at the level where each does; ``frame`` is of one corpus."""
    rises = frame[frame["change"] > 0].sort_values("change", ascending=False, kind="stable")
    worst = rises.drop_duplicates("transformation").head(most)
    return list(zip(worst["transformation"], worst["level"], strict=True))


def curve_table(frame: pd.DataFrame, columns: Mapping[str, tuple[str, str]], counts: Sequence[str]) -> Html:
    """Give the numbers of the curves of a corpus behind a line that opens them.

    ``columns`` are measures -> title and unit, which is empty unless it is a share; the rate first.
    ``counts`` say what is counted, a preposition, and what it is in: ``("segments", "in", "speakers")``.
    """
    titles = {
        "corpus": "corpus",
        "change of the sound": lambda row: row.transformation or AS_IT_IS,
        "level": "level",
        **{title: values(name, unit) for name, (title, unit) in columns.items()},
        "random model": values("reference", "%"),
        counts[0]: lambda row: f"{row.segments:,} {counts[1]} {row.blocks} {counts[2]}",
    }
    return folded(f"All levels in numbers: {counted(len(frame), 'row')}", [views.table(frame, titles)])


def level_table(
    limits: Sequence[Mapping[str, object]], transformations: Mapping[str, PerturbationSeries], rate: str
) -> Html:
    """Show at which level of each change a rate doubles, and at which it reaches one half.

    ``limits`` are from :meth:`soundcheck.evaluation.robustness.Sweep.limits`.
    """
    columns = {
        "corpus": "corpus",
        "change of the sound": "transformation",
        "measured in": lambda row: transformations[row.transformation].axis,
        "rate as it is": lambda row: value_cell(row.clean, unit="%"),
        "rate doubles at": lambda row: _reached(row.doubled, row.levels, row.remark),
    }
    if any(limit["half"] is not None for limit in limits):
        columns[f"rate reaches {100 * HALF:.0f}\xa0% at"] = lambda row: _reached(row.half, row.levels)
    caption = f"Levels at which the {rate} reaches a limit, with 95 % intervals"
    return views.table(limits, columns, caption=caption)


def _reached(crossing: Crossing, levels: Sequence[str], remark: str = "") -> Cell:
    value, low, high = (level_name(at, levels) for at in (crossing.place, crossing.low, crossing.high))
    below = f"{low} to {f'beyond {label(levels[-1])}' if np.isinf(crossing.high) else high}"
    if np.isnan(crossing.place) or np.isnan(crossing.low):
        below = "no interval: too few speakers" if value else ""
    elif np.isinf(crossing.low) and crossing.low == crossing.high:
        below = "in its whole interval"
    return Cell(stacked(stacked(value, below), remark))


def level_name(at: float, levels: Sequence[str]) -> str:
    """Name a place between levels: interpolated between numbers, else the level by which it is reached.

    >>> [level_name(at, ["10", "5", "0"]) for at in (1.5, -np.inf, np.inf)]
    ['2.5', 'milder than 10', 'not reached up to 0']
    >>> level_name(0.3, ["fine", "poor"])
    'by poor'
    """
    if np.isnan(at):
        return ""
    if at < 0:
        return f"milder than {label(levels[0])}"
    if np.isinf(at):
        return f"not reached up to {label(levels[-1])}"
    try:
        numbers = [float(level) for level in levels]
    except ValueError:
        return f"by {label(levels[int(np.ceil(at))])}"
    return f"{float(np.interp(at, range(len(numbers)), numbers)):.3g}".replace("-", "−")


def group_table(frames: Sequence[pd.DataFrame], rate: str, counts: Sequence[str]) -> Html:
    """Show by how many points the rate of each group rises, on average and under each change.

    ``frames`` are from :meth:`soundcheck.evaluation.robustness.Sweep.group_changes`; for ``counts`` see
    :func:`curve_table`.
    """
    frame = pd.concat([pd.DataFrame(columns=["transformation"]), *frames])
    if frame.empty:
        return element("p", "No groups are compared.")
    names = ["corpus", "column", "group"]
    frame["cell"] = [values(unit=POINTS)(row) for row in frame.itertuples()]
    frame["change"] = frame["transformation"].replace("", "mean")
    means = frame[frame["transformation"].eq("")].sort_values("value", ascending=False, kind="stable")
    sizes = means.set_index(names)[["segments", "blocks"]].astype(int)
    sizes = sizes.set_axis([counts[0], counts[-1]], axis=1)
    cells = frame.set_index([*names, "change"])["cell"].unstack(sort=False)
    rows = cells.loc[sizes.index].join(sizes).reset_index()
    return views.table(rows, caption=f"Rise of the {rate} by group, over all levels")
