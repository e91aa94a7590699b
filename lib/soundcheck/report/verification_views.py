"""What pages about speaker verification show: both errors against each other, scores, conditions, trials.

Rates are shares from 0 to 1; FAR is the false acceptance rate, FRR the false rejection rate. Missing scores
and rates are left out.
"""

import gzip
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure
from scipy.special import ndtri

from soundcheck.common import templates
from soundcheck.common.messages import quoted
from soundcheck.corpora.trials.trial_files import score_text
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.trial_conditions import Split, carried_errors, carry_over, errors_of
from soundcheck.evaluation.trials import KINDS, threshold_in_use
from soundcheck.metrics.trials import Trials
from soundcheck.report import page, views
from soundcheck.report.formats import label as named
from soundcheck.report.formats import number
from soundcheck.report.html import Html, element, notes
from soundcheck.report.key_figures import written
from soundcheck.report.style import DASHES, GREY, PALETTE, label, legend_name, look, new
from soundcheck.report.views import estimate_table
from soundcheck.results.rows import Estimate
from soundcheck.results.table import estimate_frame
from soundcheck.suite.families import info_of

MOST_CURVES = 8  # of a figure; beyond, the first ones
MOST_LINKED = 100_000  # trials whose scores a book takes along
POINTS = 400  # of a curve
BINS = 60  # of a histogram
BANDS_END = 0.7  # false acceptance rate up to which curves have bands
TICKS = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
LEAST = 1e-6  # rates that are smaller lie beyond any axis

_MARKS = {"equal": ("o", "equal errors"), "minimum": ("v", "lowest cost")}


def det_figure(curves: Mapping[str, Mapping[str, object]]) -> Figure:
    """Draw detection error trade-offs, on axes on which normally distributed scores give straight lines.

    Martin et al. (1997), The DET curve in assessment of detection task performance. ``curves`` are names ->
    what :func:`soundcheck.evaluation.trials.det_curves` gives; the first 8 are drawn.
    """
    drawn = dict(list(curves.items())[:MOST_CURVES])
    limits = _limits(drawn)
    with look():
        figure, (axes,) = new(6.6, 6.4)
        for n, (name, entry) in enumerate(drawn.items()):
            line = {"color": PALETTE[n], "linestyle": DASHES[n], "linewidth": 1.6}
            axes.plot(*_along(entry), label=f"{legend_name(name)}, EER {_equal(entry)}", **line)
            if "rates" in entry:
                ends = [_deviates(entry[end]) for end in ("rates", "low", "high")]
                axes.fill_between(*ends, color=PALETTE[n], alpha=0.18, lw=0, label="95 % interval")
            for kind, (marker, meaning) in _MARKS.items():
                at = ndtri(np.clip(np.broadcast_to(entry[kind], 2), *limits))
                mark = {"color": PALETTE[n], "markeredgecolor": "white", "markersize": 7, "zorder": 4}
                axes.plot(*at[:, np.newaxis], marker, label=meaning, clip_on=False, **mark)
        axes.axline((0, 0), slope=1, color=GREY, linestyle=":", linewidth=1)
        axes.set(xlim=ndtri(limits), ylim=ndtri(limits), aspect="equal")
        axes.set(xlabel="false acceptance rate", ylabel="false rejection rate")
        ticks = [rate for rate in TICKS if limits[0] <= rate <= limits[1]]
        for set_ticks in (axes.set_xticks, axes.set_yticks):
            set_ticks(ndtri(ticks), [f"{100 * rate:g} %" for rate in ticks])
        if len(drawn) < len(curves):
            axes.set_title(f"the first {len(drawn)} of {len(curves)}", loc="right", fontsize=9)
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        if handles:
            figure.legend(handles.values(), handles, loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _equal(curve: Mapping[str, object]) -> str:
    return written("equal error rate", curve["equal"])


def _deviates(rates: Sequence[float]) -> np.ndarray:
    return ndtri(np.clip(np.asarray(rates, dtype=np.float64), LEAST, 1 - LEAST))


def _limits(curves: Mapping[str, Mapping[str, object]]) -> tuple[float, float]:
    """Choose where both axes begin and end: with what the marks need."""
    marks = np.concatenate([[], *(np.ravel(entry[kind]) for entry in curves.values() for kind in _MARKS)])
    marks = marks[(marks > 0) & (marks < 0.9)]
    highest = marks.max(initial=0.0)
    low = max(TICKS[0], min(0.01, marks.min(initial=1.0) / 2))
    return low, min(0.98 if highest > BANDS_END else BANDS_END, max(0.4, 1.2 * highest))


def _along(entry: Mapping[str, object]) -> tuple[np.ndarray, np.ndarray]:
    """Place points evenly along a curve, whose rates lie on lines between those that are known."""
    both = np.array([entry["far"], entry["frr"]], dtype=np.float64)
    steps = np.abs(np.diff(ndtri(np.clip(both, 1e-4, 1 - 1e-4)))).sum(axis=0)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    places = np.linspace(along[-1], 0, POINTS)
    return tuple(_deviates(np.interp(places, along, rates)) for rates in both)


def show_curves(evaluation: Evaluation, curves: Mapping[str, Mapping[str, object]], what: str) -> None:
    """Show detection error trade-offs below their equal error rates."""
    if curves:
        rates = "; ".join(f"{name} {_equal(curve)}" for name, curve in curves.items())
        alt = f"Detection error trade-off, {what}"
        page.show(evaluation, det_figure(curves), alt, f"Equal error rate: {rates}")


def score_histograms(scores: Sequence[float], target: Sequence[bool], marks: Mapping[str, float]) -> Figure:
    """Draw the densities of the scores of targets and of non-targets, with thresholds as lines.

    What lies beyond the lowest and highest thousandth is drawn at the edge: few do not hide the others.
    """
    import seaborn

    scores, target = np.asarray(scores, dtype=np.float64), np.asarray(target, dtype=bool)
    known = np.isfinite(scores)
    marks = {name: value for name, value in marks.items() if np.isfinite(value)}
    ends = [*(np.quantile(scores[known], [0.001, 0.999]) if known.any() else [0.0, 1.0]), *marks.values()]
    reach = 0.02 * np.ptp(ends) or 0.5
    edges = np.linspace(min(ends) - reach, max(ends) + reach, BINS + 1)
    with look():
        figure, (axes,) = new(7.5, 3.9)
        bars = {"bins": list(edges), "stat": "density", "element": "step", "alpha": 0.25, "linewidth": 1.5}
        sides = {"target": scores[known & target], "non-target": scores[known & ~target]}
        for n, (name, each) in enumerate(sides.items()):
            bars |= {"color": PALETTE[n], "linestyle": DASHES[n]}
            text = f"{name} trials ({len(each):,})"
            seaborn.histplot(x=np.clip(each, edges[0], edges[-1]), ax=axes, label=text, **bars)
        for n, (name, value) in enumerate(marks.items()):
            mark = {"color": "black", "linewidth": 1, "linestyle": DASHES[n % len(DASHES)]}
            axes.axvline(value, label=f"threshold, {label(name)}: {value:.4g}", **mark)
        axes.set(xlim=(edges[0], edges[-1]), xlabel="score", ylabel="density")
        if known.any():
            figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def conditions(
    evaluation: Evaluation, subset: Subset, ways: Mapping[object, Trials], across: str, note: str
) -> None:
    """Show the equal error rate along conditions, and a table of both errors; without any, the note."""
    display(notes([note]))
    if ways:
        estimates = estimate_frame(errors_of(evaluation, subset, ways, across))
        rates = estimates[estimates["measure"].eq("equal_error_rate")].assign(way=[str(way) for way in ways])
        figure = views.lines(rates, "way", xlabel=across, ylabel="equal error rate")
        page.show(evaluation, figure, f"Equal error rate by {across}, {subset.corpus}")
        display(_by_condition(estimates, across, subset.corpus))


def carried_over(evaluation: Evaluation, split: Split) -> None:
    """Show what thresholds and calibration of other speakers cost, or why there are none."""
    corpus, what = split.tested.corpus, "tested half"
    if split.reason:
        display(notes([f"{corpus}: nothing is carried over, {split.reason}"]))
        return
    carried = carry_over(evaluation, split, split.tested.predictions)
    used = ", ".join(f"{name} {number(value, 4)}" for name, value in carried.thresholds.items())
    display(notes([split.about, f"Thresholds: {used}. Calibration: {carried.calibration}."]))
    estimates = carried_errors(evaluation, split, carried)
    frame = estimate_frame(estimates)
    display(_by_condition(frame[frame["condition"].ne(what)], what, corpus))
    display(measures([estimate for estimate in estimates if estimate.condition == what], corpus))


def _by_condition(frame: pd.DataFrame, across: str, caption: str) -> Html:
    """Show estimates, a row a condition, which begins with what differs, and a column a measure."""
    ways = frame["condition"].str.removeprefix(across).str.lstrip(":, ")
    frame = frame.assign(way=ways, title=frame["measure"].map(_title))
    return estimate_table(frame, {"way": across}, "title", counts="trials", caption=caption)


def measures(estimates: Sequence[Estimate], caption: str) -> Html:
    """Show estimates, a row a measure and condition."""
    frame = estimate_frame(estimates)
    titles = frame["measure"].map(_title) + frame["condition"].map(lambda name: f", {name}" if name else "")
    frame = frame.assign(what=titles, head="value, 95 % interval")
    return estimate_table(frame, {"what": ""}, "head", counts="trials", caption=caption)


def _title(measure: str) -> str:
    return named(measure.replace(info_of(measure).name, info_of(measure).title).replace("(cost ", "("))


def trial_table(evaluation: Evaluation, subsets: Iterable[Subset]) -> Html:
    """Say what is compared: how many trials of each kind, of how many speakers and recordings."""
    rows = []
    for subset in subsets:
        trials = subset.segments.assign(scored=np.isfinite(subset.predictions.clean))
        about = {"corpus": subset.corpus, "trials from": evaluation.view(subset).trials.origin}
        for kind, of in trials.groupby(pd.Categorical(trials["kind"], KINDS), observed=True):
            speakers = pd.concat([of["enrol_speaker"], of["test_speaker"]]).nunique()
            row = {"of": kind, "trials": len(of), "with a score": of["scored"].sum(), "speakers": speakers}
            rows.append(
                about | row | {"enrolled": of["enrolment"].nunique(), "tested": of["segment"].nunique()}
            )
    return views.table(rows, sortable=False)


def threshold_line(evaluation: Evaluation, corpus: str, marks: Mapping[str, float]) -> Html:
    """Say where the thresholds lie, which one is in use, and what errors cost."""
    thresholds = ", ".join(f"{name} {number(value, 4)}" for name, value in marks.items())
    costs = [
        f"{named(name)} {cost['p_target']:g}, {cost['c_miss']:g}, {cost['c_false_alarm']:g}"
        for name, cost in {"main": evaluation.cost, **evaluation.costs}.items()
    ]
    used = evaluation.option("threshold")
    about = {"corpus": corpus, "thresholds": thresholds, "costs": "; ".join(costs), "used": used}
    return templates.html("decisions", fixed=isinstance(used, int | float), **about)


def score_file(evaluation: Evaluation, subset: Subset) -> Html:
    """Offer scores and decisions of all trials, one a line in the order of the list, as packed text."""
    scores = subset.predictions.clean
    scored = np.isfinite(scores)
    where = f"{subset.corpus}: {int(scored.sum()):,} scores"
    if scored.sum() > MOST_LINKED:
        return element("p", f"{where}; the folder scores of the output has them.")
    names = (subset.segments.loc[scored, side].tolist() for side in ("enrol", "test"))
    threshold = threshold_in_use(evaluation.family, evaluation.model, scores, subset.truth)
    text, suffix = score_text(*names, scores[scored], threshold)
    address = evaluation.media.add(gzip.compress(text, mtime=0), ".gz")  # a third of the size
    link = element("a", f"scores of {quoted(subset.corpus)}", href=address, download=f"scores{suffix}.gz")
    return element("p", f"{where}: ", link, ", packed with gzip")
