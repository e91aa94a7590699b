"""What pages about speakers show: their true and predicted averages, and the order in which these put them.

Speakers are numbered, not named: what is shown is how far a model can be trusted with any of them.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap
from soundcheck.report import figures, page
from soundcheck.report.html import Html
from soundcheck.report.names import place
from soundcheck.report.views import listed

Found = Sequence[tuple[Subset, SpeakerValues]]  # from evaluation.correctness.subsets_with_speakers


def averages(evaluation: Evaluation, subsets: Found, tests: Mapping[bool, str]) -> None:
    """Draw true and predicted average of each speaker; ``tests`` are by whether a task is of values."""
    for subset, name, truth, prediction in _each(subsets):
        test, unit = tests[subset.task.is_regression], "share of segments" if name else "average"
        title, finding = f"{place(subset)} {name}".strip(), page.finding(evaluation, test, subset, name)
        axes_of = (f"true {unit} of a speaker", f"predicted {unit}")
        figure = figures.truth_and_prediction(truth, prediction, title, axes_of)
        page.show(evaluation, figure, f"True and predicted value of each speaker: {title}", finding)


def ranks(evaluation: Evaluation, subsets: Found) -> None:
    """Draw the rank of each speaker by prediction against the rank by truth."""
    for subset, name, truth, prediction in _each(subsets):
        title, finding = (
            f"{place(subset)} {name}".strip(),
            page.finding(evaluation, "Spearmans Rho", subset, name),
        )
        ranks_of = (pd.Series(values).rank(pct=True).to_numpy() for values in (truth, prediction))
        axes_of = ("rank of a speaker by truth (1: highest)", "rank by prediction")
        figure = figures.truth_and_prediction(*ranks_of, title, axes_of)
        page.show(evaluation, figure, f"Rank by prediction against rank by truth: {title}", finding)


def quarters(subsets: Found) -> Html:
    """Say how much of the predicted highest and lowest quarter belongs there."""
    rows = []
    for subset, name, truth, prediction in _each(subsets):
        ends = quartile_overlap(truth, prediction)
        shares = [ends[one] for one in ("top", "bottom", "confusion")]
        rows.append((subset.corpus, subset.task.name, name, len(truth), *shares))
    heads = ["corpus", "task", "class", "speakers", "top right", "bottom right", "in the opposite one"]
    return listed(rows, heads)


def _each(subsets: Found) -> Iterator[tuple[Subset, str, np.ndarray, np.ndarray]]:
    for subset, averages in subsets:
        for n, name in enumerate(averages.labels):
            yield subset, name, averages.truth[:, n], averages.prediction[:, n]
