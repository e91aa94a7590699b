"""What pages about confidence show: reliability, risk against coverage, measures, most confident errors."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display

from soundcheck.evaluation import certainty
from soundcheck.evaluation.certainty import has_probabilities, judged_by, probabilities_of
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.confidence import normalised_cross_entropy
from soundcheck.report import examples, listening, page, severity_views, views
from soundcheck.report.formats import number, place
from soundcheck.report.html import Html, element
from soundcheck.report.style import GREY, RED
from soundcheck.report.views import estimate_table, measured
from soundcheck.results.rows import ALL, CHANCE
from soundcheck.statistics.evidence import Scale
from soundcheck.suite.families import PerturbationSeries

MOST_PLAYED = 3
MOST_POINTS = 200
STEADY = 0.05  # share of segments from which on the curve of risk decides how high its axis is
WHOSE = {"": "model", CHANCE: "without the sound"}
_SHARE = Scale(0.0, 1.0)


def reliability_figure(evaluation: Evaluation, subset: Subset, noun: str = "segments") -> None:
    """Draw how often predictions of each confidence are right, and the errors among the most confident.

    ``subset`` has a table of confidences in the place of predictions; ``noun`` is what its rows are.
    """
    confidence, correct = judged_by(subset.predictions.clean)
    where = place(subset)
    if reason := metrics.overconfidence(confidence, correct).point().reasons[0]:
        display(element("p", f"{where}: {reason}, so there is no diagram."))
        return
    coverage, risk = risk_at_coverage(confidence, correct)
    reliable = _reliability(evaluation, subset).assign(panel=f"{where}: reliability")
    risky = pd.DataFrame({"x": coverage, "value": risk, "panel": f"{where}: risk"})
    drawn = pd.concat([reliable, risky])
    figure = views.lines(drawn, "x", panels="panel")
    left, right = figure.axes
    left.axline((0, 0), slope=1, linestyle="--", color=GREY, linewidth=1)
    left.text(0.03, 0.95, "underconfident", color=GREY, va="top", fontsize=9)
    left.text(0.97, 0.05, "overconfident", color=GREY, ha="right", fontsize=9)
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of right predictions")
    right.axhline(risk[-1], color=RED, linestyle=":", linewidth=1.2)
    right.text(0.02, risk[-1] + 0.015, "a confidence that says nothing", color=RED, fontsize=9)
    highest = 1.25 * risk[coverage >= min(STEADY, coverage[-1])].max()
    right.set(xlim=(0, 1), ylim=(0, min(1.0, max(0.1, highest))))
    right.set(xlabel="share kept, the most confident first", ylabel="share of errors among them")
    test = "Transcript Overconfidence" if noun == "transcripts" else "Overconfidence"
    alt = f"Reliability diagram, and risk against coverage: {where}, {noun}"
    page.show(evaluation, figure, alt, page.finding(evaluation, test, subset))


def _reliability(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Give the mean confidence of each bin, and how often its predictions are right, with intervals."""
    bins = evaluation.family.options["bins"]
    confidence, correct = judged_by(subset.predictions.clean)
    resampled = evaluation.resample(metrics.reliability(confidence, correct, bins), subset.blocks)
    low, high = resampled.interval(evaluation.interval, scale=_SHARE)
    bin_of = metrics.equal_mass_bins(np.where(np.isnan(correct), np.nan, confidence), bins)
    means = [confidence[bin_of == n].mean() for n in range(len(resampled.labels))]
    return pd.DataFrame({"x": means, "value": resampled.value, "low": low, "high": high})


def risk_at_coverage(confidence: np.ndarray, correct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give coverage and risk at the ends of equal confidences, at most 200 points."""
    known = ~np.isnan(confidence + correct)
    order = np.argsort(-confidence[known], kind="stable")
    ranked, wrong = confidence[known][order], np.cumsum(1 - correct[known][order])
    ends = np.flatnonzero(np.diff(ranked, append=np.inf))
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, MOST_POINTS).round().astype(int))]
    return (ends + 1) / len(ranked), wrong[ends] / (ends + 1)


def measures_table(evaluation: Evaluation, subsets: Sequence[Subset]) -> Html:
    """Show what verdicts are made of, for the model and a reference that ignores the sound."""
    if not subsets:
        return element("p", "The model gives no confidences and no intervals.")
    frames = []
    for subset in subsets:
        measures = _measures(evaluation, subset)
        named = {name: lambda s, p, score=score: score(p.clean) for name, score in measures.items()}
        usual = {name: lambda s, p, score=score: score(s.reference.clean) for name, score in measures.items()}
        frames.append(evaluation.estimates(subset, named))
        frames.append(evaluation.estimates(subset, usual, condition=CHANCE))
    judged = evaluation.estimated()
    named = judged["measure"].eq("expected_calibration_error") & judged["part"].eq(ALL)
    frame = pd.concat([*frames, judged[named & judged["condition"].isin(WHOSE)]])
    frame["what"] = [measured(row) for row in frame.itertuples()]
    frame["whose"] = frame["condition"].map(WHOSE)
    names = {"corpus": "corpus", "task": "task", "what": "measure"}
    return estimate_table(frame, names, "whose", counts="", caption="Measures with 95 % intervals")


def _measures(evaluation: Evaluation, subset: Subset) -> dict[str, Callable]:
    bins, blocks, classes = evaluation.family.options["bins"], subset.blocks, subset.task.classes
    if subset.task.is_regression:
        return {
            "coverage": lambda t: metrics.interval_coverage(subset.truth, *t.T),
            "width": lambda t: metrics.mean_of_known(t[:, 1] - t[:, 0]),
        }

    def right_of_known(table: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(table[:, 0]), np.nan, table[:, 1])

    result: dict[str, Callable] = {
        "calibration_error_as_computed": lambda t: metrics.calibration_error(*judged_by(t), bins),
        "share_of_right_answers": lambda t: metrics.mean_of_known(right_of_known(t)),
        "mean_confidence": lambda t: metrics.mean_of_known(judged_by(t)[0]),
        "area_under_risk": lambda t: metrics.area_under_risk(*judged_by(t), blocks),
    }
    if subset.task.is_transcription:
        result["normalised_cross_entropy"] = lambda t: normalised_cross_entropy(*judged_by(t))
    elif has_probabilities(subset):
        result |= {
            "brier_score": lambda t: metrics.brier_score(subset.truth, probabilities_of(t), classes),
            "brier_parts": lambda t: metrics.brier_parts(subset.truth, probabilities_of(t), classes, bins),
        }
    return result


def level_curves(
    evaluation: Evaluation, swept: Iterable[tuple[PerturbationSeries, Mapping[str, Subset]]]
) -> None:
    """Draw overconfidence of classes and coverage of intervals from mild to severe changes."""
    curves: dict[bool, list] = {False: [], True: []}
    for series, steps in swept:
        first = next(iter(steps.values()))
        of_values, (_, measure) = first.task.is_regression, certainty.unbiased(evaluation, first)
        name = "interval_coverage_error" if of_values else "overconfidence"
        about = {"name": name, "series": series.name}
        curve = evaluation.curve(steps, certainty.under_change(measure), **about)
        curves[of_values].append((series, curve))
    severity_views.step_curves(evaluation, curves[False], "overconfidence")
    severity_views.step_curves(evaluation, curves[True], "coverage minus what is promised")


def surest_errors(evaluation: Evaluation, subset: Subset) -> Html:
    """Play the segments of the most confident wrong classes, or of the most confident wrong words."""
    confidence, correct = judged_by(subset.predictions.clean)
    wrong, view, predicted = np.where(correct == 0, confidence, np.nan), evaluation.view(subset), {}
    if not subset.task.is_transcription:
        predicted = dict(zip(view.segments["key"], view.predicted(subset.task), strict=True))

    def said(n: int) -> str:
        truth = subset.truth[n]
        if subset.task.is_transcription:
            right = f"“{truth.reference}” was said" if truth.reference else "no word was said there"
            text = f"“{truth.hypothesis}”; {right}"
        else:
            text = f"{predicted[subset.segments['key'].iloc[n]]}; it is {truth}"
        return f"{number(100 * confidence[n], 1)} % confident of {text}"

    chosen = examples.choose(wrong, subset.segments, worst=MOST_PLAYED, played=MOST_PLAYED)
    title = f"{place(subset)}: most confident errors"
    scene = listening.Scene(title, subset, chosen, said=said)
    return listening.show(evaluation, [scene], every=True)
