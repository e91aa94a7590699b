"""What families share that change the sound from mild to severe: levels, rates, where limits are reached.

Conventions
-----------
- A *setting* is a change with a level. Changes are in the order of the threshold file, levels from mild to
  severe.
- A *rate* is a measure of errors, lower is better; how it is computed, each family knows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.augment.registry import missing
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.disagreement import Setting
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.crossing import Crossing
from soundcheck.statistics.evidence import FREE, Scale

DOUBLE = 2.0
UNKNOWN = Crossing(np.nan, np.nan, np.nan)
NAME = ("corpus", "transformation", "level")


def possible(evaluation: Evaluation) -> dict[str, list[Setting]]:
    """List the settings of each transformation that this machine and the sound material can make.

    Others are noted, and transformations without any are left out.
    """
    found = {}
    for name, series in evaluation.family.transformations.items():
        for step, perturbation in series.steps.items():
            if lack := missing(perturbation, evaluation.sounds):
                evaluation.note(f"{name}, {step}: {lack}")
            else:
                found.setdefault(name, []).append((name, step))
    return found


def mildest(everything: dict[str, list[Setting]]) -> list[Setting]:
    """Give the mildest setting of each transformation; it is the one that is judged."""
    return [settings[0] for settings in everything.values()]


def spans(
    evaluation: Evaluation,
    subset: Subset,
    measured: Mapping[str, Statistic | Weighted],
    scales: Mapping[str, Scale] = MappingProxyType({}),
) -> dict[str, float]:
    """Compute single values with intervals: ``x``, ``x_low`` and ``x_high``; ``segments`` and ``blocks``.

    Where values of a measure may lie, ``scales`` says; free without it.
    """
    row: dict[str, float] = {}
    for name, statistic in measured.items():
        found = evaluation.resample(statistic, subset.blocks)
        low, high = found.interval(evaluation.interval, scale=scales.get(name, FREE))
        row |= {name: found.value[0], f"{name}_low": low[0], f"{name}_high": high[0]}
        row |= {"segments": int(found.segments[0]), "blocks": int(found.blocks[0])}
    return row


def curve_frame(rows: Sequence[Mapping[str, object]], measured: Sequence[str]) -> pd.DataFrame:
    """Put rows of :data:`NAME` and :func:`spans` together; what a row does not have is NaN."""
    ends = [f"{name}{end}" for name in measured for end in ("", "_low", "_high")]
    columns = [*NAME, *ends, "segments", "blocks", "reference"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(ends, np.float64))


@dataclasses.dataclass(frozen=True)
class Limit:
    """Where a rate reaches a limit under one transformation."""

    corpus: str  # of which speech and change
    transformation: str
    levels: tuple[str, ...]  # names of the levels, from mild to severe
    clean: float  # rate of the speech as it is
    doubled: Crossing  # where twice that rate is reached, as a place of levels
    remark: str = ""  # what is to be known of doubling this rate
    half: Crossing | None = None  # where the rate reaches one half; ``None`` if that means nothing


def group_changes(
    evaluation: Evaluation,
    subset: Subset,
    groups: Mapping[str, Sequence[str]],
    everything: Mapping[str, list[Setting]],
    mean_change: Callable[[Sequence[Setting]], Callable[[np.ndarray], Statistic | Weighted]],
) -> pd.DataFrame:
    """Compute the mean change of each group over the levels of each transformation, and over all of them."""
    every = {"": [one for settings in everything.values() for one in settings]} | dict(everything)
    of = {name: mean_change(settings) for name, settings in every.items()}
    rows = [
        {"corpus": subset.corpus, "column": column, "group": group, "transformation": name}
        | spans(evaluation, subset, {"value": own(subset.mask(column, group))})
        for column, names in groups.items()
        for group in names
        for name, own in of.items()
    ]
    columns = ["corpus", "column", "group", "transformation", "value", "value_low", "value_high"]
    frame = pd.DataFrame(rows, columns=[*columns, "segments", "blocks"])
    return frame.rename(columns={"value_low": "low", "value_high": "high"})
