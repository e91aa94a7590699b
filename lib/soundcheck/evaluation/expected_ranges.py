"""The ranges in which values of speech with a named emotion are expected, from the options of a family."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict, stack
from soundcheck.metrics.distribution import proportion_in_range

Ends = tuple[float, float]


def names(evaluation: Evaluation) -> pd.DataFrame:
    """Give the name of the range of each category (row) and task (column), empty where none is expected."""
    return pd.DataFrame(evaluation.family.options["expected"]).T.fillna("")


def expected(evaluation: Evaluation, subset: Subset) -> dict[str, Ends]:
    """Give the range of each category that a subset has: lowest and highest expected value."""
    return {category: _ends(evaluation)[name] for category, name in _named(evaluation, subset).items()}


def measures(evaluation: Evaluation, subset: Subset) -> dict[str, Measure]:
    """Give a test a range: the share of the segments of each category that lie within."""
    found = {}
    for name, ends in _ends(evaluation).items():
        categories = [category for category, own in _named(evaluation, subset).items() if own == name]
        if categories:
            found[f"Samples In Expected {name.title()} Range"] = _share_within(ends, categories)
    return found


def _named(evaluation: Evaluation, subset: Subset) -> Mapping[str, str]:
    own = names(evaluation).get(subset.task.name, pd.Series(dtype=object))
    return {
        category: name for category, name in own.items() if name and subset.mask("category", category).any()
    }


def _ends(evaluation: Evaluation) -> dict[str, Ends]:
    ranges = evaluation.family.options["ranges"]
    return {
        name: (ends.get("from", -float("inf")), ends.get("to", float("inf"))) for name, ends in ranges.items()
    }


def _share_within(ends: Ends, categories: list[str]) -> Measure:
    def share(subset: Subset, predictions: Predictions) -> Statistic:
        within = proportion_in_range(predictions.clean, *ends)
        return stack({one: restrict(within, subset.mask("category", one)) for one in categories})

    return share
