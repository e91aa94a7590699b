"""What the page about confidence shows: reliability, risk against coverage, intervals, the surest errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.axes import Axes

from soundcheck.evaluation.certainty import has_probabilities, judged_by, probabilities_of
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics import brier, prediction_intervals
from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import Statistic
from soundcheck.report import page
from soundcheck.report.estimate_tables import estimate_table, measured
from soundcheck.report.formats import estimate
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import row
from soundcheck.report.segment_player import segment_player
from soundcheck.report.style import BLUE, GREY, RED, label, look, new
from soundcheck.report.sweep_figures import curve_table, curves
from soundcheck.report.tables import number
from soundcheck.results.estimates import ALL, CHANCE
from soundcheck.statistics.evidence import Scale

NOTHING = "who hears nothing"  # what the reference is called
MOST_HEARD = 3
SETTLED = 0.05  # share of segments from which on a curve of risk is worth its axis
_SHARE = Scale(0.0, 1.0)
BIASED = ("calibration_error_as_computed", "reliability", "resolution", "within bins")  # by chance


def reliability_figure(evaluation: Evaluation, subset: Subset, noun: str = "segments") -> None:
    """Draw how often answers of each confidence are right, and how many are wrong of the surest ones.

    Parameters
    ----------
    evaluation
        For its bootstrap; nothing is judged.
    subset
        With a table of confidences in the place of predictions.
    noun
        What the rows are.
    """
    confidence, correct = judged_by(subset.predictions.clean)
    bins = evaluation.family.options["bins"]
    missing = metrics.overconfidence(confidence, correct).point().reasons[0]
    if missing:
        display(element("p", f"{subset.corpus}, {subset.task.name}: {missing}, so there is no diagram."))
        return
    with look():
        figure, (left, right) = new(9, 4.2, 1, 2)
        _draw_reliability(left, evaluation, subset, bins)
        _draw_risk(right, confidence, correct)
        left.set_title(label(f"{subset.corpus}, {subset.task.name}", 40), loc="left")
    about = "" if noun == "segments" else f", {noun}"
    alt = f"Reliability diagram, and risk against coverage: {subset.corpus}, {subset.task.name}{about}"
    rows = evaluation.frame()
    name = "Transcript Overconfidence" if noun == "transcripts" else "Overconfidence"
    rows = rows[rows["test"].eq(name) & rows["corpus"].eq(subset.corpus) & rows["task"].eq(subset.task.name)]
    page.show(evaluation, figure, alt, _finding(rows, confidence, correct, noun))


def _draw_reliability(axes: Axes, evaluation: Evaluation, subset: Subset, bins: int) -> None:
    confidence, correct = judged_by(subset.predictions.clean)
    found = evaluation.resample(metrics.reliability(confidence, correct, bins), subset.blocks)
    low, high = found.interval(evaluation.interval, scale=_SHARE)
    known = ~np.isnan(confidence + correct)
    place = metrics.equal_mass_bins(np.where(known, confidence, np.nan), bins)
    means = np.array([confidence[place == number].mean() for number in range(len(found.labels))])
    axes.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1)
    axes.vlines(means, low, high, color=BLUE, linewidth=1.5, alpha=0.6)
    axes.plot(means, found.value, "o-", color=BLUE, linewidth=1, markersize=5)
    axes.text(0.03, 0.95, "too modest", color=GREY, va="top", fontsize=9)
    axes.text(0.97, 0.05, "too sure", color=GREY, ha="right", fontsize=9)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of right answers")


def _draw_risk(axes: Axes, confidence: np.ndarray, correct: np.ndarray) -> None:
    coverage, risk = _risk(confidence, correct)
    if len(coverage):
        axes.plot(coverage, risk, color=BLUE, linewidth=1.6)
        axes.axhline(risk[-1], color=RED, linestyle=":", linewidth=1.2)
        axes.text(0.02, risk[-1] + 0.015, "whatever is left out", color=RED, fontsize=9)
        axes.set_ylim(0, min(1.0, max(0.1, 1.25 * risk[coverage >= min(SETTLED, coverage[-1])].max())))
    axes.set(xlim=(0, 1), xlabel="share that is kept, the surest first", ylabel="wrong among them")


def _risk(confidence: np.ndarray, correct: np.ndarray, most: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Give coverage and risk at the ends of equal confidences, at most so many points."""
    known = ~np.isnan(confidence + correct)
    order = np.argsort(-confidence[known], kind="stable")
    sure, wrong = confidence[known][order], np.cumsum(1 - correct[known][order])
    ends = np.flatnonzero(np.diff(sure, append=np.inf))
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, most).round().astype(int))] if len(ends) else ends
    return (ends + 1) / max(1, len(sure)), wrong[ends] / (ends + 1)


def _finding(rows: pd.DataFrame, confidence: np.ndarray, correct: np.ndarray, noun: str = "segments") -> str:
    """Say how sure the model is, and how often it is right; which is more only where the interval has it.

    ``rows`` are those of the results that judge overconfidence, at most one.
    """
    known = ~np.isnan(confidence + correct)
    if not known.any():
        return ""
    sure, right = confidence[known].mean(), correct[known].mean()
    says = (
        f"On average the model is {number(100 * sure, 1)} % sure and right in {number(100 * right, 1)} % of "
        f"{noun}"
    )
    for found in rows.itertuples():
        says += f"; overconfidence {estimate(found.value, found.low, found.high)}"
        says += ": surer than it is right" if found.low > 0 else ""
        says += ": less sure than it is right" if found.high < 0 else ""
    return says


def class_table(
    evaluation: Evaluation, subsets: Sequence[Subset], more: Mapping[str, Callable] = MappingProxyType({})
) -> Html:
    """Show what the verdicts about classes are made of, for the model and for who hears nothing.

    ``more`` are further measures of a table of confidences, by name.
    """
    if not subsets:
        return element("p", "The model does not say how sure it is of classes or words.")
    frames = [_both(evaluation, one, _class_measures(evaluation, one) | dict(more)) for one in subsets]
    judged = evaluation.estimated()
    judged = judged[judged["measure"].eq("expected_calibration_error") & judged["part"].eq(ALL)]
    whose = judged["condition"].map({"": "model", CHANCE: NOTHING})
    frame = pd.concat([*frames, judged.assign(whose=whose)[whose.notna()]])
    frame = frame.assign(what=[measured(row) for row in frame.itertuples()])
    names = {"corpus": "corpus", "task": "task", "what": "measure"}
    caption = "What the verdicts rest on, with 95 % intervals"
    return estimate_table(frame, names, "whose", counts=False, caption=caption)


def _both(evaluation: Evaluation, subset: Subset, measures: Mapping[str, Callable]) -> pd.DataFrame:
    """Estimate measures of a table for the model, and for who hears nothing."""
    own = {name: lambda s, p, one=one: one(p.clean) for name, one in measures.items()}
    nothing = {name: lambda s, p, one=one: one(s.reference.clean) for name, one in measures.items()}
    model = evaluation.estimates(subset, own, biased=BIASED)
    chance = evaluation.estimates(subset, nothing, condition=CHANCE, biased=BIASED)
    return pd.concat([model.assign(whose="model"), chance.assign(whose=NOTHING)])


def _class_measures(evaluation: Evaluation, subset: Subset) -> dict[str, Callable]:
    bins, blocks, classes = evaluation.family.options["bins"], subset.blocks, subset.task.classes
    found: dict[str, Callable] = {
        "calibration_error_as_computed": lambda t: metrics.calibration_error(*judged_by(t), bins),
        "share_of_right_answers": lambda t: metrics.mean_of_known(_right_if_sure(t)),
        "mean_confidence": lambda t: metrics.mean_of_known(judged_by(t)[0]),
        "area_under_risk": lambda t: metrics.area_under_risk(*judged_by(t), blocks),
    }
    if has_probabilities(subset):
        found |= {
            "brier_score": lambda t: brier.brier_score(subset.truth, probabilities_of(t), classes),
            "brier_parts": lambda t: brier.brier_parts(subset.truth, probabilities_of(t), classes, bins),
        }
    return found


def _right_if_sure(table: np.ndarray) -> np.ndarray:
    """Say what is right of the answers that come with a confidence, NaN elsewhere."""
    confidence, correct = judged_by(table)
    return np.where(np.isnan(confidence), np.nan, correct)


def interval_table(evaluation: Evaluation, subsets: Sequence[Subset]) -> Html:
    """Show how often intervals contain the true value, and how wide they are."""
    if not subsets:
        return element("p", "The model gives no intervals for values.")
    frames = []
    for subset in subsets:
        measures = {
            "coverage": lambda t, s=subset: prediction_intervals.interval_coverage(s.truth, *t.T),
            "width": lambda t: metrics.mean_of_known(t[:, 1] - t[:, 0]),
        }
        frames.append(_both(evaluation, subset, measures))
    frame = pd.concat(frames).sort_values("measure", kind="stable")
    frame = frame.assign(whose=frame["measure"] + frame["whose"].map({"model": "", NOTHING: f", {NOTHING}"}))
    caption = "Intervals for values, on a scale from 0 to 1"
    names = {"corpus": "corpus", "task": "task"}
    return estimate_table(frame, names, "whose", counts=False, caption=caption)


def sweep_figures(
    evaluation: Evaluation,
    swept: Sequence[tuple[str, str, dict[str, Subset]]],
    bold: Callable[[Subset, np.ndarray], Statistic],
) -> None:
    """Draw how bold a model is under each change from mild to severe, classes apart from values.

    Parameters
    ----------
    evaluation
        For its bootstrap; nothing is judged.
    swept
        From :func:`soundcheck.evaluation.certainty.stated_sweeps`.
    bold
        Gives overconfidence of classes and coverage of intervals.
    """
    for name, axis in dict.fromkeys((name, axis) for name, axis, _ in swept):
        for of_values, what in ((False, "overconfidence"), (True, "coverage minus what is promised")):
            frames = [
                evaluation.curve(
                    steps,
                    lambda s, p: bold(s, p.changed),
                    name="interval_coverage_error" if of_values else "overconfidence",
                    series=name,
                )
                for other, _, steps in swept
                if other == name and next(iter(steps.values())).task.is_regression == of_values
            ]
            if frames:
                frame = pd.concat(frames)
                told = _moved(frame, name, what)
                page.show(
                    evaluation,
                    curves(frame, axis, what, (-0.2, 0.2), NOTHING),
                    f"{name}: {what} at each step",
                    told,
                )
                display(curve_table(frame, axis, evaluation.block_names))


def _moved(frame: pd.DataFrame, name: str, what: str) -> str:
    """Say where a value begins, and where it ends under the most severe step."""
    several, ends = frame["corpus"].nunique() > 1, []
    for (corpus, task), line in frame.groupby(["corpus", "task"], sort=False):
        whose = f"{label(task, 20)} in {label(corpus, 20)}" if several else label(task, 20)
        first, last = (number(line["value"].iloc[end], 3) for end in (0, -1))
        ends.append(f"of {whose} from {first} to {last}")
    return f"{what.capitalize()} under {label(name)}: {'; '.join(ends)}"


def surest_errors(evaluation: Evaluation, subset: Subset) -> Html:
    """Play the segments that the model is surest of and wrong about."""
    confidence, correct = judged_by(subset.predictions.clean)
    wrong = np.flatnonzero((correct == 0) & ~np.isnan(confidence))
    if not len(wrong):
        return element("p", f"{subset.corpus}, {subset.task.name}: no answer is wrong.")
    view = evaluation.view(subset)
    answers = dict(zip(view.segments["key"], view.predicted(subset.task), strict=True))
    players = []
    for place in wrong[np.argsort(-confidence[wrong], kind="stable")][:MOST_HEARD]:
        segment = subset.segments.iloc[place]
        told = (
            f"{number(100 * confidence[place], 1)} % sure that it is {answers[segment['key']]}; "
            f"it is {subset.truth[place]}"
        )
        players.append(segment_player(evaluation.media, view, segment, told))
    return join([element("p", f"{subset.corpus}, {subset.task.name}"), row(players)])


def surest_wrong_words(evaluation: Evaluation, subset: Subset) -> Html:
    """Play the segments with the words that the recogniser is surest of and wrong about."""
    confidence, correct = judged_by(subset.predictions.clean)
    wrong = np.flatnonzero((correct == 0) & ~np.isnan(confidence))
    if not len(wrong):
        return element("p", f"{subset.corpus}: no word is wrong.")
    view, players = evaluation.view(subset), []
    for place in wrong[np.argsort(-confidence[wrong], kind="stable")][:MOST_HEARD]:
        step = subset.truth[place]
        said = f"said was “{step.reference}”" if step.reference else "no word was said there"
        told = f"{number(100 * confidence[place], 1)} % sure of the word “{step.hypothesis}”; {said}"
        players.append(segment_player(evaluation.media, view, subset.segments.iloc[place], told))
    return join([element("p", subset.corpus), row(players)])
